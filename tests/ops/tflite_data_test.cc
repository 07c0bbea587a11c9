// Data movement of TFLite that the importer makes of other ops: files of one operator, read, converted and run.
#include <gtest/gtest.h>

#include <numeric>

#include "converter/backend/convert.h"
#include "converter/frontend/tflite_importer.h"
#include "tests/converter/tflite_builder.h"
#include "tests/ops/op_test.h"
#include "tests/ops/plan_run.h"

namespace takt::test {
namespace {

using Code = tflite::BuiltinOperator;
using Kind = tflite::BuiltinOptions;
using Shape = std::vector<int32_t>;

/// An input: the values 1, 2, .. of the case's type, or a constant of int32.
struct Input {
  Shape shape;
  std::vector<int32_t> constant = {};
};
Input X(Shape shape) {
  return {std::move(shape)};
}
Input Ints(std::vector<int32_t> values) {
  return {{static_cast<int32_t>(values.size())}, std::move(values)};
}
Input Scalar(int32_t value) {
  return {{}, {value}};
}
struct Output {
  Shape shape;
  std::vector<double> values;
};

struct DataCase {
  const char* name;
  Code code;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  Kind kind = Kind::NONE;
  Options options = nullptr;
};

TfliteModel ModelOf(const DataCase& c, tflite::TensorType type) {
  TfliteModel model;
  TfliteOperator op{c.code, {}, {}, c.kind, c.options};
  const auto add = [&](const Shape& shape) {
    TfliteTensor& t = model.tensors.emplace_back();
    t.name = "t" + std::to_string(model.tensors.size());
    t.type = type;
    t.shape = shape;
    if (type == tflite::TensorType::INT8) t.scales = {1.0f}, t.zero_points = {0};
    return static_cast<int32_t>(model.tensors.size() - 1);
  };
  for (const Input& input : c.inputs) {
    op.inputs.push_back(add(input.shape));
    if (input.constant.empty()) {
      model.inputs.push_back(op.inputs.back());
      continue;
    }
    TfliteTensor& t = model.tensors.back();
    t.type = tflite::TensorType::INT32;
    t.scales.clear();
    t.zero_points.clear();
    const auto* bytes = reinterpret_cast<const uint8_t*>(input.constant.data());
    t.data.assign(bytes, bytes + input.constant.size() * sizeof(int32_t));
  }
  if (model.inputs.empty()) model.inputs.push_back(add({1}));  // A graph has one; nothing reads it.
  for (const Output& output : c.outputs) op.outputs.push_back(add(output.shape));
  model.outputs = op.outputs;
  model.operators = {op};
  return model;
}

void RunData(const DataCase& c, tflite::TensorType file_type, DataType type) {
  SCOPED_TRACE(std::string(c.name) + ", type " + std::to_string(static_cast<int>(type)));
  Diagnostics diagnostics;
  auto graph = frontend::ImportTflite(WriteTflite(ModelOf(c, file_type)), "m", diagnostics);
  std::string messages;
  for (const Diagnostic& d : diagnostics.all()) messages += d.ToString() + "\n";
  ASSERT_TRUE(graph.has_value()) << messages;
  Conversion made = ConvertGraph(std::move(*graph), {}, {});
  for (const Diagnostic& d : made.diagnostics.all()) messages += d.ToString() + "\n";
  ASSERT_FALSE(made.plan.empty()) << messages;
  std::vector<std::vector<uint8_t>> inputs;
  for (const Input& input : c.inputs) {
    if (!input.constant.empty()) continue;
    std::vector<double> values(Values(input.shape).v.size());
    std::iota(values.begin(), values.end(), 1.0);
    inputs.push_back(Pack(type, values));
  }
  if (inputs.empty()) inputs.push_back(Pack(type, {1}));
  const auto outputs = RunOnPorts(made.plan, inputs);
  ASSERT_EQ(outputs.size(), c.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(Unpack(type, outputs[i]), c.outputs[i].values) << "output " << i;
}

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
     {X({1, 2, 4, 1}), Ints({2, 2}), Ints({0, 0, 0, 0})},
     {{{4, 1, 2, 1}, {1, 3, 2, 4, 5, 7, 6, 8}}}},
    {"space_to_batch with pads",
     Code::SPACE_TO_BATCH_ND,
     {X({1, 2, 2, 1}), Ints({2, 2}), Ints({0, 0, 2, 0})},
     {{{4, 1, 2, 1}, {0, 1, 0, 2, 0, 3, 0, 4}}}},
    {"space_to_batch of one dimension",
     Code::SPACE_TO_BATCH_ND,
     {X({2, 3, 2}), Ints({2}), Ints({1, 0})},
     {{{4, 2, 2}, {0, 0, 3, 4, 0, 0, 9, 10, 1, 2, 5, 6, 7, 8, 11, 12}}}},
    {"batch_to_space",
     Code::BATCH_TO_SPACE_ND,
     {X({4, 1, 2, 1}), Ints({2, 2}), Ints({0, 0, 0, 0})},
     {{{1, 2, 4, 1}, {1, 3, 2, 4, 5, 7, 6, 8}}}},
    {"batch_to_space with crops",
     Code::BATCH_TO_SPACE_ND,
     {X({4, 1, 2, 1}), Ints({2, 2}), Ints({0, 1, 1, 0})},
     {{{1, 1, 3, 1}, {3, 2, 4}}}},
    {"split", Code::SPLIT, {Scalar(-1), X({2, 4})}, {{{2, 2}, {1, 2, 5, 6}}, {{2, 2}, {3, 4, 7, 8}}}},
    {"split_v", Code::SPLIT_V, {X({2, 4}), Ints({1, -1}), Scalar(1)}, {{{2, 1}, {1, 5}}, {{2, 3}, {2, 3, 4, 6, 7, 8}}}},
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
     {X({2, 3}), Ints({1, 0, 2, 1})},
     {{{3, 6}, {6, 5, 4, 5, 6, 5, 3, 2, 1, 2, 3, 2, 6, 5, 4, 5, 6, 5}}},
     Kind::MirrorPadOptions,
     Mirror(tflite::MirrorPadMode::REFLECT)},
    {"symmetric",
     Code::MIRROR_PAD,
     {X({2, 3}), Ints({1, 0, 2, 1})},
     {{{3, 6}, {2, 1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 5, 4, 4, 5, 6, 6}}},
     Kind::MirrorPadOptions,
     Mirror(tflite::MirrorPadMode::SYMMETRIC)},
    {"tile", Code::TILE, {X({1, 2}), Ints({2, 2})}, {{{2, 4}, {1, 2, 1, 2, 1, 2, 1, 2}}}},
    {"tile once", Code::TILE, {X({1, 2}), Ints({1, 1})}, {{{1, 2}, {1, 2}}}},
    {"broadcast_to",
     Code::BROADCAST_TO,
     {X({2, 1}), Ints({2, 2, 3})},
     {{{2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2}}}},
    {"reverse_v2", Code::REVERSE_V2, {X({2, 3}), Ints({0, -1})}, {{{2, 3}, {6, 5, 4, 3, 2, 1}}}},
    {"zeros_like", Code::ZEROS_LIKE, {X({2, 2})}, {{{2, 2}, {0, 0, 0, 0}}}},
    {"backwards",
     Code::STRIDED_SLICE,
     {X({2, 5}), Ints({0, -1}), Ints({2, 0}), Ints({1, -2})},
     {{{2, 2}, {5, 3, 10, 8}}},
     Kind::StridedSliceOptions,
     Masks(0, 0, 0, 0, 0)},
    {"backwards to the first cell",
     Code::STRIDED_SLICE,
     {X({2, 3}), Ints({1, 0}), Ints({2, 0}), Ints({1, -1})},
     {{{3}, {6, 5, 4}}},
     Kind::StridedSliceOptions,
     Masks(2, 2, 0, 0, 1)},
    {"ellipsis and new axis",
     Code::STRIDED_SLICE,
     {X({2, 2, 3}), Ints({0, 0, 1}), Ints({0, 0, 2}), Ints({1, 1, 1})},
     {{{1, 2, 2, 1}, {2, 5, 8, 11}}},
     Kind::StridedSliceOptions,
     Masks(0, 0, 2, 1, 0)},
};

TEST(TfliteData, FilesOfOneOperatorGiveTheirValues) {
  for (const DataCase& c : kCases) {
    RunData(c, tflite::TensorType::FLOAT32, DataType::kFloat32);
    RunData(c, tflite::TensorType::INT8, DataType::kInt8);
    RunData(c, tflite::TensorType::INT32, DataType::kInt32);
  }
}

TEST(TfliteData, ShapesBecomeConstants) {
  const std::vector<DataCase> cases = {
      {"shape", Code::SHAPE, {X({2, 5})}, {{{2}, {2, 5}}}},
      {"rank", Code::RANK, {X({2, 5, 1})}, {{{}, {3}}}},
      {"fill", Code::FILL, {Ints({2, 2}), Scalar(7)}, {{{2, 2}, {7, 7, 7, 7}}}},
      {"range", Code::RANGE, {Scalar(3), Scalar(-4), Scalar(-3)}, {{{3}, {3, 0, -3}}}},
      {"broadcast_args", Code::BROADCAST_ARGS, {Ints({3, 1}), Ints({2, 1, 4})}, {{{3}, {2, 3, 4}}}},
  };
  for (DataCase c : cases) RunData(c, tflite::TensorType::INT32, DataType::kInt32);
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
      {{"", Code::SPLIT_V, {X({4}), Ints({3, 2}), Scalar(0)}, {{{3}, {}}, {{2}, {}}}},
       "has a part of 2 cells at cell 3"},
      {{"", Code::SPLIT_V, {X({4}), Ints({1, 2}), Scalar(0)}, {{{1}, {}}, {{2}, {}}}}, "into parts of 3 in all"},
      {{"", Code::UNPACK, {X({3})}, {{{}, {}}}}, "unpacks 3 cells into 1"},
      {{"", Code::PACK, {X({3}), X({2})}, {{{2, 3}, {}}}}, "they must be equal"},
      {{"", Code::MIRROR_PAD, {X({3}), Ints({3, 0})}, {{{6}, {}}}}, "a mirror of 3 cells has 2"},
      {{"", Code::TILE, {X({3}), Ints({0})}, {{{3}, {}}}}, "makes 0 cells of dimension 0"},
      {{"", Code::BROADCAST_TO, {X({3}), Ints({4})}, {{{4}, {}}}}, "cannot broadcast dimension 0"},
      {{"", Code::SPACE_TO_BATCH_ND, {X({1, 3, 1}), Ints({2}), Ints({0, 0})}, {{{2, 1, 1}, {}}}}, "do not divide"},
      {{"", Code::BATCH_TO_SPACE_ND, {X({3, 1, 1}), Ints({2}), Ints({0, 0})}, {{{1, 2, 1}, {}}}}, "do not divide"},
      {{"", Code::RANGE, {Scalar(3), Scalar(4), Scalar(0)}, {{{1}, {}}}}, "has no values or more than 2^24"},
      {{"", Code::REVERSE_V2, {X({3}), Ints({1})}, {{{3}, {}}}}, "has axis 1 of 1 dimensions"},
  };
  for (const Wrong& w : wrong) {
    Diagnostics diagnostics;
    EXPECT_FALSE(frontend::ImportTflite(WriteTflite(ModelOf(w.c, tflite::TensorType::INT32)), "m", diagnostics));
    std::string messages;
    for (const Diagnostic& d : diagnostics.all()) messages += d.ToString() + "\n";
    EXPECT_NE(messages.find(w.message), std::string::npos) << messages << "does not say: " << w.message;
  }
}

}  // namespace
}  // namespace takt::test
