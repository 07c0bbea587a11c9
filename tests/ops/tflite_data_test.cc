// Data movement of TFLite that the importer makes of other ops: files of one operator, read, converted and run.
#include <gtest/gtest.h>

#include "tests/ops/tflite_case.h"

namespace takt::test {
namespace {

Options SpaceToDepth(int32_t block) {
  return [block](auto& fbb) { return tflite::CreateSpaceToDepthOptions(fbb, block).Union(); };
}
Options DepthToSpace(int32_t block) {
  return [block](auto& fbb) { return tflite::CreateDepthToSpaceOptions(fbb, block).Union(); };
}
Options Packed(int32_t count, int32_t axis) {
  return [=](auto& fbb) { return tflite::CreatePackOptions(fbb, count, axis).Union(); };
}
Options Unpacked(int32_t count, int32_t axis) {
  return [=](auto& fbb) { return tflite::CreateUnpackOptions(fbb, count, axis).Union(); };
}
Options Mirror(tflite::MirrorPadMode mode) {
  return [=](auto& fbb) { return tflite::CreateMirrorPadOptions(fbb, mode).Union(); };
}
Options Masks(int32_t begin, int32_t end, int32_t ellipsis, int32_t new_axis, int32_t shrink) {
  return
      [=](auto& fbb) { return tflite::CreateStridedSliceOptions(fbb, begin, end, ellipsis, new_axis, shrink).Union(); };
}

const std::vector<DataCase> kCases = {
    {"space_to_depth",
     Code::SPACE_TO_DEPTH,
     {X({1, 2, 4, 2})},
     {{{1, 1, 2, 8}, {1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8, 13, 14, 15, 16}}},
     Kind::SpaceToDepthOptions,
     SpaceToDepth(2)},
    {"depth_to_space",
     Code::DEPTH_TO_SPACE,
     {X({1, 1, 2, 8})},
     {{{1, 2, 4, 2}, {1, 2, 3, 4, 9, 10, 11, 12, 5, 6, 7, 8, 13, 14, 15, 16}}},
     Kind::DepthToSpaceOptions,
     DepthToSpace(2)},
    {"space_to_batch",
     Code::SPACE_TO_BATCH_ND,
     {X({1, 2, 4, 1}), Int32s({2, 2}), Int32s({0, 0, 0, 0})},
     {{{4, 1, 2, 1}, {1, 3, 2, 4, 5, 7, 6, 8}}}},
    {"space_to_batch with pads",
     Code::SPACE_TO_BATCH_ND,
     {X({1, 2, 2, 1}), Int32s({2, 2}), Int32s({0, 0, 2, 0})},
     {{{4, 1, 2, 1}, {0, 1, 0, 2, 0, 3, 0, 4}}}},
    {"space_to_batch of one dimension",
     Code::SPACE_TO_BATCH_ND,
     {X({2, 3, 2}), Int32s({2}), Int32s({1, 0})},
     {{{4, 2, 2}, {0, 0, 3, 4, 0, 0, 9, 10, 1, 2, 5, 6, 7, 8, 11, 12}}}},
    {"batch_to_space",
     Code::BATCH_TO_SPACE_ND,
     {X({4, 1, 2, 1}), Int32s({2, 2}), Int32s({0, 0, 0, 0})},
     {{{1, 2, 4, 1}, {1, 3, 2, 4, 5, 7, 6, 8}}}},
    {"batch_to_space with crops",
     Code::BATCH_TO_SPACE_ND,
     {X({4, 1, 2, 1}), Int32s({2, 2}), Int32s({0, 1, 1, 0})},
     {{{1, 1, 3, 1}, {3, 2, 4}}}},
    {"split", Code::SPLIT, {Scalar(-1), X({2, 4})}, {{{2, 2}, {1, 2, 5, 6}}, {{2, 2}, {3, 4, 7, 8}}}},
    {"split_v",
     Code::SPLIT_V,
     {X({2, 4}), Int32s({1, -1}), Scalar(1)},
     {{{2, 1}, {1, 5}}, {{2, 3}, {2, 3, 4, 6, 7, 8}}}},
    {"unpack",
     Code::UNPACK,
     {X({2, 3})},
     {{{2}, {1, 4}}, {{2}, {2, 5}}, {{2}, {3, 6}}},
     Kind::UnpackOptions,
     Unpacked(3, -1)},
    {"pack",
     Code::PACK,
     {X({2, 2}), X({2, 2})},
     {{{2, 2, 2}, {1, 1, 2, 2, 3, 3, 4, 4}}},
     Kind::PackOptions,
     Packed(2, -1)},
    {"reflect",
     Code::MIRROR_PAD,
     {X({2, 3}), Int32s({1, 0, 2, 1})},
     {{{3, 6}, {6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5}}},
     Kind::MirrorPadOptions,
     Mirror(tflite::MirrorPadMode::REFLECT)},
    {"symmetric",
     Code::MIRROR_PAD,
     {X({2, 3}), Int32s({1, 0, 2, 1})},
     {{{3, 6}, {2, 1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 5, 4, 4, 5, 6, 6}}},
     Kind::MirrorPadOptions,
     Mirror(tflite::MirrorPadMode::SYMMETRIC)},
    {"tile", Code::TILE, {X({1, 2}), Int32s({2, 2})}, {{{2, 4}, {1, 2, 1, 2, 1, 2, 1, 2}}}},
    {"tile once", Code::TILE, {X({1, 2}), Int32s({1, 1})}, {{{1, 2}, {1, 2}}}},
    {"broadcast_to",
     Code::BROADCAST_TO,
     {X({2, 1}), Int32s({2, 2, 3})},
     {{{2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}}}},
    {"reverse_v2", Code::REVERSE_V2, {X({2, 3}), Int32s({0, -1})}, {{{2, 3}, {6, 5, 4, 3, 2, 1}}}},
    {"zeros_like", Code::ZEROS_LIKE, {X({2, 2})}, {{{2, 2}, {0, 0, 0, 0}}}},
    {"backwards",
     Code::STRIDED_SLICE,
     {X({2, 5}), Int32s({0, -1}), Int32s({2, 0}), Int32s({1, -2})},
     {{{2, 2}, {5, 3, 10, 8}}},
     Kind::StridedSliceOptions,
     Masks(0, 0, 0, 0, 0)},
    {"backwards to the first cell",
     Code::STRIDED_SLICE,
     {X({2, 3}), Int32s({1, 0}), Int32s({2, 0}), Int32s({1, -1})},
     {{{3}, {6, 5, 4}}},
     Kind::StridedSliceOptions,
     Masks(2, 2, 0, 0, 1)},
    {"ellipsis and new axis",
     Code::STRIDED_SLICE,
     {X({2, 2, 3}), Int32s({0, 0, 1}), Int32s({0, 0, 2}), Int32s({1, 1, 1})},
     {{{1, 2, 2, 1}, {2, 5, 8, 11}}},
     Kind::StridedSliceOptions,
     Masks(0, 0, 2, 1, 0)},
};

TEST(TfliteData, FilesOfOneOperatorGiveTheirValues) {
  for (const DataCase& c : kCases) {
    for (const DataType type : {DataType::kFloat32, DataType::kInt8, DataType::kInt16, DataType::kInt32})
      RunData(c, type);
  }
}

TEST(TfliteData, ShapesBecomeConstants) {
  const std::vector<DataCase> cases = {
      {"shape", Code::SHAPE, {X({2, 5})}, {{{2}, {2, 5}}}},
      {"rank", Code::RANK, {X({2, 5, 1})}, {{{}, {3}}}},
      {"fill", Code::FILL, {Int32s({2, 2}), Scalar(7)}, {{{2, 2}, {7, 7, 7, 7}}}},
      {"range", Code::RANGE, {Scalar(3), Scalar(-4), Scalar(-3)}, {{{3}, {3, 0, -3}}}},
      {"broadcast_args", Code::BROADCAST_ARGS, {Int32s({3, 1}), Int32s({2, 1, 4})}, {{{3}, {2, 3, 4}}}},
  };
  for (const DataCase& c : cases) RunData(c, DataType::kInt32);
}

TEST(TfliteData, NamesWhatIsWrong) {
  struct Wrong {
    DataCase c;
    const char* message;
  };
  const std::vector<Wrong> wrong = {
      {{"", Code::SPLIT, {Scalar(0), X({3})}, {{{2}, {}}, {{1}, {}}}}, "they must be equal"},
      {{"", Code::SPLIT, {Scalar(1), X({4})}, {{{2}, {}}, {{2}, {}}}}, "has axis 1 of 1 dimensions"},
      {{"", Code::SPLIT, {Scalar(0), X({4})}, {{{2}, {}}, {{3}, {}}}}, "but the file records [3]"},
      {{"", Code::SPLIT_V, {X({4}), Int32s({3, 2}), Scalar(0)}, {{{3}, {}}, {{2}, {}}}},
       "has a part of 2 cells at cell 3"},
      {{"", Code::SPLIT_V, {X({4}), Int32s({1, 2}), Scalar(0)}, {{{1}, {}}, {{2}, {}}}}, "into parts of 3 in all"},
      {{"", Code::UNPACK, {X({3})}, {{{}, {}}}}, "unpacks 3 cells into 1"},
      {{"", Code::PACK, {X({3}), X({2})}, {{{2, 3}, {}}}}, "they must be equal"},
      {{"", Code::MIRROR_PAD, {X({3}), Int32s({3, 0})}, {{{6}, {}}}}, "a mirror of 3 cells has 2"},
      {{"", Code::TILE, {X({3}), Int32s({0})}, {{{3}, {}}}}, "makes no cells of dimension 0"},
      {{"", Code::BROADCAST_TO, {X({3}), Int32s({4})}, {{{4}, {}}}}, "cannot broadcast dimension 0"},
      {{"", Code::TILE, {X({3}), Int32s({INT32_MAX})}, {{{3}, {}}}}, "constant [3, 2147483647] of int32"},
      {{"", Code::BROADCAST_TO, {X({1}), Int32s({1 << 25})}, {{{1 << 25}, {}}}}, "constant [1, 33554432] of int32"},
      {{"", Code::FILL, {Int32s({1 << 16, 1 << 16, 1 << 16}), Scalar(7)}, {{{1}, {}}}},
       "constant [65536, 65536, 65536] of int32, over 1125899906842624 bytes"},
      {{"", Code::FILL, {Int32s({-1}), Scalar(7)}, {{{1}, {}}}}, "constant [-1] of int32, from a few numbers"},
      {{"", Code::ZEROS_LIKE, {X({1 << 25})}, {{{1 << 25}, {}}}}, "constant [33554432] of int32"},
      {{"", Code::SPACE_TO_BATCH_ND, {X({1, 3, 1}), Int32s({2}), Int32s({0, 0})}, {{{2, 1, 1}, {}}}}, "do not divide"},
      {{"", Code::BATCH_TO_SPACE_ND, {X({3, 1, 1}), Int32s({2}), Int32s({0, 0})}, {{{1, 2, 1}, {}}}}, "do not divide"},
      {{"", Code::RANGE, {Scalar(3), Scalar(4), Scalar(0)}, {{{1}, {}}}}, "has no values or more than 2^24"},
      {{"", Code::REVERSE_V2, {X({3}), Int32s({1})}, {{{3}, {}}}}, "has axis 1 of 1 dimensions"},
  };
  for (const Wrong& w : wrong) ExpectRefused(w.c, DataType::kInt32, w.message);
}

}  // namespace
}  // namespace takt::test
