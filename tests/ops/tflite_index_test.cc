// TFLite operators with indices, and those that the importer makes of selections, scatters and constants.
#include <gtest/gtest.h>

#include "tests/ops/tflite_case.h"

namespace takt::test {
namespace {

using enum DataType;

Options OneHot(int32_t axis) {
  return [axis](auto& fbb) { return tflite::CreateOneHotOptions(fbb, axis).Union(); };
}
Options Reverse(int32_t axis, int32_t batch) {
  return [=](auto& fbb) { return tflite::CreateReverseSequenceOptions(fbb, axis, batch).Union(); };
}
Options Boundaries(std::vector<float> values) {
  return [values](auto& fbb) { return tflite::CreateBucketizeOptionsDirect(fbb, &values).Union(); };
}
Input Indices(Shape shape, std::vector<double> values) {
  return Int32s(std::move(shape), std::move(values));
}

const std::vector<DataCase> kCases = {
    {"top_k", Code::TOPK_V2, {X({2, 3}), Scalar(2)}, {{{2, 2}, {3, 2, 6, 5}}, {{2, 2}, {2, 1, 2, 1}, kInt32}}},
    {"gather_nd", Code::GATHER_ND, {X({2, 2, 2}), Indices({2, 2}, {1, 0, 0, 1})}, {{{2, 2}, {5, 6, 3, 4}}}},
    {"gather_nd of elements",
     Code::GATHER_ND,
     {X({2, 3}), Indices({1, 3, 2}, {1, 2, 0, 0, 0, 1})},
     {{{1, 3}, {6, 1, 2}}}},
    {"scatter_nd sums",
     Code::SCATTER_ND,
     {Indices({3, 1}, {1, 3, 1}), X({3, 2}), Int32s({4, 2})},
     {{{4, 2}, {0, 0, 6, 8, 0, 0, 3, 4}}}},
    {"sparse_to_dense",
     Code::SPARSE_TO_DENSE,
     {Indices({2, 2}, {0, 1, 1, 0}), Int32s({2, 2}), X({2}), Same({}, {9})},
     {{{2, 2}, {9, 1, 2, 9}}}},
    {"sparse_to_dense of a vector and one value",
     Code::SPARSE_TO_DENSE,
     {Indices({2}, {0, 3}), Int32s({4}), Same({}, {5}), Same({}, {0})},
     {{{4}, {5, 0, 0, 5}}}},
    {"reverse_sequence",
     Code::REVERSE_SEQUENCE,
     {X({2, 4}), Int32s({3, 1})},
     {{{2, 4}, {3, 2, 1, 4, 5, 6, 7, 8}}},
     Kind::ReverseSequenceOptions,
     Reverse(1, 0)},
    {"update_slice",
     Code::DYNAMIC_UPDATE_SLICE,
     {X({3, 3}), X({1, 2}), Int32s({1, 5})},
     {{{3, 3}, {1, 2, 3, 4, 1, 2, 7, 8, 9}}}},
    {"embedding_lookup", Code::EMBEDDING_LOOKUP, {Int32s({2, 0}), X({3, 2})}, {{{2, 2}, {5, 6, 1, 2}}}},
    {"one_hot",
     Code::ONE_HOT,
     {Indices({3}, {2, 0, 7}), Scalar(3), Same({}, {4}), Same({}, {1})},
     {{{3, 3}, {1, 1, 4, 4, 1, 1, 1, 1, 1}}},
     Kind::OneHotOptions,
     OneHot(-1)},
    {"one_hot along the first axis",
     Code::ONE_HOT,
     {Indices({2}, {1, 0}), Scalar(3), Same({1}, {1}), Same({1}, {0})},
     {{{3, 2}, {0, 1, 1, 0, 0, 0}}},
     Kind::OneHotOptions,
     OneHot(0)},
    {"matrix_diag", Code::MATRIX_DIAG, {X({2, 2})}, {{{2, 2, 2}, {1, 0, 0, 2, 3, 0, 0, 4}}}},
    {"matrix_set_diag", Code::MATRIX_SET_DIAG, {X({2, 3}), Same({2}, {8, 9})}, {{{2, 3}, {8, 2, 3, 4, 9, 6}}}},
    {"matrix_set_diag of more rows",
     Code::MATRIX_SET_DIAG,
     {X({1, 3, 2}), Same({1, 2}, {8, 9})},
     {{{1, 3, 2}, {8, 2, 3, 9, 5, 6}}}},
    {"bucketize",
     Code::BUCKETIZE,
     {X({2, 2})},
     {{{2, 2}, {0, 2, 2, 3}, kInt32}},
     Kind::BucketizeOptions,
     Boundaries({1.5f, 2, 3.5f})},
};

TEST(TfliteIndex, FilesOfOneOperatorGiveTheirValues) {
  for (const DataCase& c : kCases)
    for (const DataType type : {kFloat32, kInt8, kInt16, kInt32, kInt64}) RunData(c, type);
}

TEST(TfliteIndex, Segments) {
  const std::vector<DataCase> cases = {
      {"segment_sum", Code::SEGMENT_SUM, {X({3, 2}), Int32s({0, 2, 2})}, {{{3, 2}, {1, 2, 0, 0, 8, 10}}}},
      {"sum", Code::UNSORTED_SEGMENT_SUM, {X({4}), Int32s({1, -1, 0, 1}), Scalar(3)}, {{{3}, {3, 5, 0}}}},
      {"product", Code::UNSORTED_SEGMENT_PROD, {X({4}), Int32s({1, -1, 0, 1}), Scalar(3)}, {{{3}, {3, 4, 1}}}},
      {"maximum", Code::UNSORTED_SEGMENT_MAX, {X({4}), Int32s({1, 1, 0, 1}), Scalar(2)}, {{{2}, {3, 4}}}},
      {"minimum", Code::UNSORTED_SEGMENT_MIN, {X({4}), Int32s({1, 1, 0, 1}), Scalar(2)}, {{{2}, {3, 1}}}},
  };
  for (const DataCase& c : cases)
    for (const DataType type : {kFloat32, kInt32, kInt64}) RunData(c, type);
}

TEST(TfliteIndex, ConstantsAreFolded) {
  const std::vector<DataCase> cases = {
      {"unique", Code::UNIQUE, {Same({4}, {3, 5, 3, 1})}, {{{3}, {3, 5, 1}}, {{4}, {0, 1, 0, 2}, kInt32}}},
      {"where", Code::WHERE, {{{2, 2}, {0, 1, 1, 0}, kBool}}, {{{2, 2}, {0, 1, 1, 0}, kInt64}}},
  };
  for (const DataCase& c : cases) RunData(c, kInt32);
}

/// Boxes of one size; the first two overlap by a third, the last is far off. Scores are 1, 2, 3, 4.
DataCase Suppression(Code code, double most, double overlap, std::vector<Output> outputs) {
  const auto real = [](double value) { return Input{{}, {value}, kFloat32}; };
  DataCase c = {
      "",
      code,
      {Same({4, 4}, {0, 0, 2, 2, 0, 1, 2, 3, 2, 3, 0, 1, 7, 7, 9, 9}), X({4}), Scalar(most), real(overlap), real(1.5)},
      std::move(outputs)};
  if (code == Code::NON_MAX_SUPPRESSION_V5) c.inputs.push_back(real(0));
  return c;
}

TEST(TfliteIndex, Suppression) {
  const auto none = Suppression(Code::NON_MAX_SUPPRESSION_V4, 0, 0.5, {{{1}, {}, kInt32}, {{}, {}, kInt32}});
  RunData(Suppression(Code::NON_MAX_SUPPRESSION_V4, 5, 0.5, {{{5}, {3, 2, 0, 0, 0}, kInt32}, {{}, {2}, kInt32}}),
          kFloat32);
  RunData(Suppression(Code::NON_MAX_SUPPRESSION_V5, 3, 1,
                      {{{3}, {3, 2, 0}, kInt32}, {{3}, {4, 3, 0}, kFloat32}, {{}, {2}, kInt32}}),
          kFloat32);
  ExpectRefused(none, kFloat32, "gives an output of shape [0]");
}

TEST(TfliteIndex, NamesWhatIsWrong) {
  struct Wrong {
    DataCase c;
    const char* message;
  };
  const std::vector<Wrong> wrong = {
      {{"", Code::TOPK_V2, {X({3}), Scalar(4)}, {{{4}, {}}, {{4}, {}}}}, "k is 4; allowed is 1 to 3"},
      {{"", Code::TOPK_V2, {X({3}), X({})}, {{{1}, {}}, {{1}, {}}}}, "constant"},
      {{"", Code::GATHER_ND, {X({3}), Indices({1, 2}, {0, 0})}, {{{1}, {}}}}, "indices of 2 values"},
      {{"", Code::SCATTER_ND, {Indices({2, 1}, {0, 1}), X({3}), Int32s({4})}, {{{4}, {}}}}, "updates of shape [3]"},
      {{"", Code::SCATTER_ND, {Indices({2, 1}, {0, 1}), X({2}), Int32s({0})}, {{{4}, {}}}}, "a shape without elements"},
      {{"", Code::SPARSE_TO_DENSE, {Int32s({1}), Int32s({4}), X({1}), X({})}, {{{4}, {}}}},
       "needs one constant default"},
      {{"",
        Code::REVERSE_SEQUENCE,
        {X({2, 4}), Int32s({1, 2, 3})},
        {{{2, 4}, {}}},
        Kind::ReverseSequenceOptions,
        Reverse(1, 0)},
       "lengths of shape [3]"},
      {{"",
        Code::REVERSE_SEQUENCE,
        {X({2, 4}), Int32s({1, 2})},
        {{{2, 4}, {}}},
        Kind::ReverseSequenceOptions,
        Reverse(2, 0)},
       "has axis 2 of 2 dimensions"},
      {{"", Code::DYNAMIC_UPDATE_SLICE, {X({3}), X({4}), Int32s({0})}, {{{3}, {}}}}, "does not fit in [3]"},
      {{"", Code::ONE_HOT, {X({3}), Scalar(0), Scalar(1), Scalar(0)}, {{{3, 1}, {}}}, Kind::OneHotOptions, OneHot(-1)},
       "takes one depth"},
      {{"", Code::MATRIX_DIAG, {X({1 << 13})}, {{{1 << 13, 1 << 13}, {}}}},
       "would make a constant [8192, 8192] of boolean, 67108864 bytes, from a few numbers; it may have at most 2^24"},
      {{"", Code::MATRIX_SET_DIAG, {X({1, 1 << 25}), X({1, 1})}, {{{1, 1 << 25}, {}}}}, "sets a diagonal of shape"},
      {{"", Code::MATRIX_SET_DIAG, {X({1, 1 << 25}), X({1})}, {{{1, 1 << 25}, {}}}}, "constant [1, 33554432] of bool"},
      {{"",
        Code::ONE_HOT,
        {X({3}), Scalar(1 << 25), Scalar(1), Scalar(0)},
        {{{3, 1 << 25}, {}}},
        Kind::OneHotOptions,
        OneHot(-1)},
       "constant [33554432] of int32, 134217728 bytes"},
      {{"", Code::SCATTER_ND, {Indices({1, 1}, {0}), X({1}), Int32s({1 << 25})}, {{{1 << 25}, {}}}},
       "constant [33554432] of int32, 134217728 bytes, from a few numbers"},
      {{"", Code::SPARSE_TO_DENSE, {{{1 << 25}, {}, kInt32}, Int32s({4}), Scalar(1), Scalar(0)}, {{{4}, {}}}},
       "constant [33554432] of int32"},
      {{"", Code::MATRIX_SET_DIAG, {X({2, 3}), X({3})}, {{{2, 3}, {}}}}, "sets a diagonal of shape [3]"},
      {{"", Code::SEGMENT_SUM, {X({2}), Int32s({1, 0})}, {{{2}, {}}}}, "takes a rising segment number"},
      {{"", Code::UNIQUE, {X({4})}, {{{4}, {}}, {{4}, {}}}}, "depends on data"},
      {{"", Code::WHERE, {{{4}, {}, kBool}}, {{{4, 1}, {}, kInt64}}}, "depends on data"},
      {{"", Code::BUCKETIZE, {X({2})}, {{{2}, {}}}}, "has no boundaries"},
      {{"", Code::DENSIFY, {X({2})}, {{{2}, {}}}}, "only constants are sparse"},
  };
  for (const Wrong& w : wrong) ExpectRefused(w.c, kInt32, w.message);
}

}  // namespace
}  // namespace takt::test
