// What the importer makes of odd files, and how it names each thing that is wrong.
#include "converter/frontend/tflite_importer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "converter/ir/text.h"
#include "tests/converter/tflite_builder.h"

namespace takt {
namespace {

using test::TfliteModel;
using test::TfliteTensor;
using tflite::BuiltinOperator;
using tflite::TensorType;

TfliteTensor Int8(const std::string& name, std::vector<int32_t> shape) {
  TfliteTensor t;
  t.name = name;
  t.shape = std::move(shape);
  t.scales = {0.5f};
  t.zero_points = {3};
  return t;
}

TfliteTensor Float(const std::string& name, std::vector<int32_t> shape) {
  TfliteTensor t = Int8(name, std::move(shape));
  t.type = TensorType::FLOAT32;
  t.scales.clear();
  t.zero_points.clear();
  return t;
}

/// in -> RELU -> mid -> RELU6 -> out
TfliteModel Chain() {
  TfliteModel model;
  model.tensors = {Int8("in", {1, 4}), Int8("mid", {1, 4}), Int8("out", {1, 4})};
  model.operators = {{BuiltinOperator::RELU, {0}, {1}}, {BuiltinOperator::RELU6, {1}, {2}}};
  model.inputs = {0};
  model.outputs = {2};
  return model;
}

struct Imported {
  std::optional<ir::Graph> graph;
  std::string messages;
};

Imported Import(const TfliteModel& model, const frontend::ImportOptions& options = {}) {
  Diagnostics diagnostics;
  Imported result;
  result.graph = frontend::ImportTflite(test::WriteTflite(model), "m", diagnostics, options);
  for (const Diagnostic& d : diagnostics.all()) result.messages += d.ToString() + "\n";
  EXPECT_EQ(result.graph.has_value(), diagnostics.ok());
  return result;
}

void ExpectError(const TfliteModel& model, const std::string& error) {
  const Imported result = Import(model);
  EXPECT_FALSE(result.graph.has_value());
  EXPECT_NE(result.messages.find(error), std::string::npos) << result.messages;
}

TEST(TfliteImporter, ReadsAChain) {
  const Imported result = Import(Chain());
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  EXPECT_EQ(result.messages, "");
  EXPECT_EQ(result.graph->nodes.size(), 2u);
}

TEST(TfliteImporter, SortsOperators) {
  TfliteModel model = Chain();
  std::swap(model.operators[0], model.operators[1]);
  const Imported result = Import(model);
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  EXPECT_EQ(result.graph->nodes[0].sources, std::vector<int32_t>{1});
  EXPECT_EQ(result.graph->nodes[1].sources, std::vector<int32_t>{0});
}

TEST(TfliteImporter, NamesTheNodesOfACycle) {
  TfliteModel model = Chain();
  model.tensors.push_back(Int8("back", {1, 4}));
  model.operators.push_back({BuiltinOperator::RELU, {1}, {3}});
  model.operators[0].inputs = {3};
  ExpectError(model,
              "m: error: has operators that wait for each other: 0(RELU), 1(RELU6), 2(RELU); a graph has no cycles");
}

TEST(TfliteImporter, EachTensorHasOneOrigin) {
  TfliteModel model = Chain();
  model.operators[1].outputs = {1};
  ExpectError(model, "m:1(RELU6):mid: error: is written here, but");
  model = Chain();
  model.tensors[0].data = {1, 2, 3, 4};
  ExpectError(model, "m:in: error: is a graph input twice, or also a constant");
  model = Chain();
  model.inputs = {0, 0};
  ExpectError(model, "m:in: error: is a graph input twice");
  model = Chain();
  model.operators.erase(model.operators.begin());
  ExpectError(model, "m:0(RELU6):mid: error: is read, but nothing writes it and it has no data");
}

TEST(TfliteImporter, OutputsThatNoStepWritesBecomeCopies) {
  TfliteModel model = Chain();
  model.tensors.push_back(Int8("constant", {2}));
  model.tensors[3].data = {7, 8};
  model.outputs = {2, 2, 0, 3};
  const Imported result = Import(model);
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  ASSERT_EQ(result.graph->nodes.size(), 5u);
  for (size_t i = 2; i < 5; ++i) EXPECT_EQ(result.graph->nodes[i].op, Op::kCopy);
  for (const char* name : {"m:out: note", "m:in: note", "m:constant: note"}) {
    EXPECT_NE(result.messages.find(name), std::string::npos) << result.messages;
  }
}

TEST(TfliteImporter, GraphWithoutOperators) {
  TfliteModel model = Chain();
  model.operators.clear();
  model.outputs = {0};
  const Imported result = Import(model);
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  EXPECT_EQ(result.graph->nodes.size(), 1u);
}

TEST(TfliteImporter, Uint8BecomesInt8Inside) {
  TfliteModel model = Chain();
  for (TfliteTensor& t : model.tensors) {
    t.type = TensorType::UINT8;
    t.zero_points = {131};
  }
  model.tensors.push_back(model.tensors[0]);
  model.tensors[3].name = "constant";
  model.tensors[3].data = {0, 128, 255, 131};
  model.operators[1] = {BuiltinOperator::ADD, {1, 3}, {2}};
  const Imported result = Import(model);
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  const ir::Graph& graph = *result.graph;
  EXPECT_EQ(graph.tensor(graph.inputs[0]).type, DataType::kUint8);
  EXPECT_EQ(graph.tensor(graph.inputs[0]).name, "in");
  EXPECT_EQ(graph.tensor(graph.inputs[0]).quantization->zero_points[0], 131);
  EXPECT_EQ(graph.tensor(graph.outputs[0]).type, DataType::kUint8);
  EXPECT_EQ(graph.tensor(graph.outputs[0]).name, "out");
  EXPECT_EQ(graph.tensor(1).type, DataType::kInt8);
  EXPECT_EQ(graph.tensor(1).quantization->zero_points[0], 3);
  EXPECT_EQ(*graph.tensor(3).data, (ir::Bytes{0x80, 0, 127, 3}));
  ASSERT_EQ(graph.nodes.size(), 4u);
  EXPECT_EQ(graph.nodes.front().op, Op::kRequantize);
  EXPECT_EQ(graph.nodes.back().op, Op::kRequantize);
}

TEST(TfliteImporter, Float16ConstantsBehindDequantizeBecomeFloat32) {
  TfliteModel model = Chain();
  model.tensors = {Float("in", {4}), Float("half", {4}), Float("wide", {4}), Float("out", {4})};
  model.tensors[1].type = TensorType::FLOAT16;
  model.tensors[1].data = {0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x7b};  // 1, -2, 2^-24, 65504
  model.operators = {{BuiltinOperator::DEQUANTIZE, {1}, {2}}, {BuiltinOperator::ADD, {0, 2}, {3}}};
  model.outputs = {3};
  const Imported result = Import(model);
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  EXPECT_EQ(result.graph->nodes.size(), 1u);
  const float want[] = {1, -2, 0x1p-24f, 65504};
  EXPECT_EQ(std::memcmp(result.graph->tensor(2).data->data(), want, sizeof(want)), 0);
}

TfliteModel FullyConnected() {
  TfliteModel model;
  model.tensors = {Float("in", {1, 2}), Int8("w", {2, 2}), Float("out", {1, 2})};
  model.tensors[1].data = {1, 2, 3, 0xff};
  model.tensors[1].scales = {0.5f, 2.0f};
  model.tensors[1].zero_points = {0, 0};
  model.operators = {
      {BuiltinOperator::FULLY_CONNECTED, {0, 1, -1}, {2}, tflite::BuiltinOptions::FullyConnectedOptions, [](auto& fbb) {
         return tflite::CreateFullyConnectedOptions(fbb).Union();
       }}};
  model.inputs = {0};
  model.outputs = {2};
  return model;
}

TEST(TfliteImporter, HybridWeightsBecomeFloatWithANote) {
  const Imported result = Import(FullyConnected());
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  EXPECT_NE(result.messages.find("m:0(FULLY_CONNECTED):w: note: has int8 weights for float32 activations"),
            std::string::npos);
  const ir::Tensor& weights = result.graph->tensor(result.graph->nodes[0].inputs[1]);
  const float want[] = {0.5f, 1.0f, 6.0f, -2.0f};
  ASSERT_EQ(weights.type, DataType::kFloat32);
  EXPECT_EQ(std::memcmp(weights.data->data(), want, sizeof(want)), 0);
}

struct Slice {
  std::vector<int32_t> begin, end, strides;
  int32_t begin_mask, end_mask, ellipsis_mask, shrink_mask;
  std::vector<int32_t> shape;  ///< Of the result.
};

TfliteModel StridedSlice(const Slice& slice) {
  const auto ints = [](const char* name, const std::vector<int32_t>& values) {
    TfliteTensor t = Float(name, {static_cast<int32_t>(values.size())});
    t.type = TensorType::INT32;
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    t.data.assign(bytes, bytes + values.size() * sizeof(int32_t));
    return t;
  };
  TfliteModel model;
  model.tensors = {Int8("in", {4, 6}), ints("begin", slice.begin), ints("end", slice.end),
                   ints("strides", slice.strides), Int8("out", slice.shape)};
  model.operators = {{BuiltinOperator::STRIDED_SLICE,
                      {0, 1, 2, 3},
                      {4},
                      tflite::BuiltinOptions::StridedSliceOptions,
                      [slice](auto& fbb) {
                        return tflite::CreateStridedSliceOptions(fbb, slice.begin_mask, slice.end_mask,
                                                                 slice.ellipsis_mask, 0, slice.shrink_mask)
                            .Union();
                      }}};
  model.inputs = {0};
  model.outputs = {4};
  return model;
}

TEST(TfliteImporter, StridedSlicesBecomeSlices) {
  Imported result = Import(StridedSlice({{1, -5}, {-1, 6}, {1, 2}, 0, 0, 0, 0, {2, 3}}));
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  EXPECT_EQ(result.graph->nodes[0].Ints("begin"), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(result.graph->nodes[0].Ints("strides"), (std::vector<int64_t>{1, 2}));
  result = Import(StridedSlice({{3, 1}, {0, 2}, {1, 4}, 1, 3, 0, 0, {4, 2}}));  // Masks: from 0 to the ends.
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  EXPECT_EQ(result.graph->nodes[0].Ints("begin"), (std::vector<int64_t>{0, 1}));
  result = Import(StridedSlice({{-1, 0}, {0, 6}, {1, 1}, 0, 0, 0, 1, {6}}));  // Row 3.
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  EXPECT_EQ(result.graph->nodes[0].Ints("begin"), (std::vector<int64_t>{3, 0}));
  EXPECT_EQ(result.graph->nodes[1].op, Op::kReshape);
  ExpectError(StridedSlice({{3, 0}, {0, 6}, {0, 1}, 0, 0, 0, 0, {3, 6}}),
              "m:0(STRIDED_SLICE): error: is empty in dimension 0");
  ExpectError(StridedSlice({{3, 0}, {3, 6}, {1, 1}, 0, 0, 0, 0, {1, 6}}), "is empty in dimension 0");
  ExpectError(StridedSlice({{0, 0}, {4, 6}, {1, 1}, 0, 0, 0, 0, {4, 5}}), "but the file records [4, 5]");
}

TEST(TfliteImporter, OpenDimensionsGiveOneNote) {
  TfliteModel model = Chain();
  for (TfliteTensor& t : model.tensors) t.signature = {-1, 4};
  Imported result = Import(model);
  ASSERT_TRUE(result.graph.has_value());
  EXPECT_EQ(std::count(result.messages.begin(), result.messages.end(), '\n'), 1) << result.messages;
  result = Import(model, {{{"in", {3, 4}}}});
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  EXPECT_EQ(result.graph->tensor(result.graph->outputs[0]).dims, (std::vector<int32_t>{3, 4}));
  result = Import(model, {{{"in", {1, 5}}}});
  EXPECT_NE(result.messages.find("m:0(RELU):in: error: is given a shape that differs"), std::string::npos)
      << result.messages;
  result = Import(model, {{{"inn", {1, 4}}}});
  EXPECT_NE(result.messages.find("m:inn: error: is given a shape but is no graph input"), std::string::npos)
      << result.messages;
}

TEST(TfliteImporter, ShapesBehindAGivenOneFollow) {
  TfliteModel model;
  model.tensors = {Float("in", {1, 4}),     Float("square", {1, 2, 2}), Float("raised", {1, 1, 2, 2}),
                   Float("out", {1, 2, 2}), Float("shape", {3}),        Float("axis", {1})};
  model.tensors[0].signature = {-1, 4};
  for (const size_t i : {4, 5}) model.tensors[i].type = TensorType::INT32;
  model.tensors[4].data = {0xFF, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0, 2, 0, 0, 0};
  model.tensors[5].data = {1, 0, 0, 0};
  model.operators = {{BuiltinOperator::RESHAPE, {0, 4}, {1}},
                     {BuiltinOperator::EXPAND_DIMS, {1, 5}, {2}},
                     {BuiltinOperator::SQUEEZE, {2}, {3}}};
  model.inputs = {0};
  model.outputs = {3};
  for (const int32_t batch : {1, 3}) {
    const Imported result = Import(model, {{{"in", {batch, 4}}}});
    ASSERT_TRUE(result.graph.has_value()) << result.messages;
    EXPECT_EQ(result.graph->tensor(result.graph->outputs[0]).dims, (std::vector<int32_t>{batch, 2, 2}));
  }
}

TEST(TfliteImporter, NamesUnsupportedConstructs) {
  TfliteModel model = Chain();
  model.tensors[1].variable = true;
  ExpectError(model, "m:0(RELU):mid: error: is written here, but");
  model = Chain();
  model.tensors.push_back(Int8("state", {1, 4}));
  model.tensors[3].variable = true;
  model.operators[1].inputs = {3};
  ExpectError(model, "m:state: error: is a variable that no operator updates");
  model = Chain();
  model.operators[0].code = BuiltinOperator::LSH_PROJECTION;
  ExpectError(model, "m:0(LSH_PROJECTION): error: is not supported: it works on strings");
  model = Chain();
  model.tensors[1].type = TensorType::STRING;
  ExpectError(model, "m:0(RELU):mid: error: has type STRING; supported are");
  model = Chain();
  model.tensors[1].shape = {1, 0};
  ExpectError(model, "m:1(RELU6):mid: error: has no elements, but its reader gives some");
}

TEST(TfliteImporter, TensorsWithoutElementsLeaveNoTrace) {
  TfliteModel model = Chain();
  model.tensors.push_back(Int8("nothing", {0, 4}));
  model.tensors.push_back(Int8("joined", {1, 4}));
  model.tensors.push_back(Int8("nothing_either", {0, 4}));
  model.operators.push_back({BuiltinOperator::RELU, {3}, {5}});
  model.operators.push_back({BuiltinOperator::CONCATENATION, {5, 2}, {4}});
  model.outputs = {4};
  Imported result = Import(model);
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  ASSERT_EQ(result.graph->nodes.size(), 3u);
  EXPECT_EQ(result.graph->nodes[2].inputs, std::vector<ir::TensorId>{2});

  model = Chain();  // A scalar's shape has no elements.
  model.tensors[2].shape = {1, 1};
  model.tensors[0].shape = model.tensors[1].shape = {1, 1};
  model.tensors.push_back(Int8("shape", {0}));
  model.tensors[3].type = TensorType::INT32;
  model.tensors.push_back(Int8("scalar", {}));
  model.operators.push_back({BuiltinOperator::RESHAPE, {2, 3}, {4}});
  model.outputs = {4};
  result = Import(model);
  EXPECT_TRUE(result.graph.has_value()) << result.messages;

  model = Chain();
  model.tensors[0].shape = {0, 4};
  ExpectError(model, "m:in: error: is a graph input without elements; leave it out");
  model = Chain();
  model.tensors.push_back(Int8("nothing", {0}));
  model.outputs = {2, 3};
  ExpectError(model, "m:nothing: error: is a graph output without elements; leave it out");
}

TEST(TfliteImporter, ArithmeticOnShapesIsFolded) {
  const auto ints = [](const std::string& name, std::vector<int32_t> shape, std::vector<int32_t> values = {}) {
    TfliteTensor t = Float(name, std::move(shape));
    t.type = TensorType::INT32;
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    t.data.assign(bytes, bytes + values.size() * sizeof(int32_t));
    return t;
  };
  TfliteModel model;  // Reshapes x [2, 3, 4] to [its first dimension, 12], and fills as many rows.
  model.tensors = {Float("x", {2, 3, 4}), ints("shape", {3}),      ints("begin", {1}, {0}), ints("end", {1}, {1}),
                   ints("one", {1}, {1}), ints("rows", {}),        ints("rest", {}, {12}),  ints("pair", {2}),
                   Float("y", {2, 12}),   Float("zeros", {2, 12}), Float("zero", {}),       Float("sum", {2, 12})};
  model.tensors[10].data = {0, 0, 0, 0};
  model.operators = {{BuiltinOperator::SHAPE, {0}, {1}},
                     {BuiltinOperator::STRIDED_SLICE,
                      {1, 2, 3, 4},
                      {5},
                      tflite::BuiltinOptions::StridedSliceOptions,
                      [](auto& fbb) { return tflite::CreateStridedSliceOptions(fbb, 0, 0, 0, 0, 1).Union(); }},
                     {BuiltinOperator::PACK,
                      {5, 6},
                      {7},
                      tflite::BuiltinOptions::PackOptions,
                      [](auto& fbb) { return tflite::CreatePackOptions(fbb, 2, 0).Union(); }},
                     {BuiltinOperator::RESHAPE, {0, 7}, {8}},
                     {BuiltinOperator::FILL, {7, 10}, {9}},
                     {BuiltinOperator::ADD, {8, 9}, {11}}};
  model.inputs = {0};
  model.outputs = {11};
  const Imported result = Import(model);
  ASSERT_TRUE(result.graph.has_value()) << result.messages;
  EXPECT_EQ(result.graph->nodes.size(), 2u) << "a reshape and an add";
}

TEST(TfliteImporter, UnusedTensorsMayBeAnything) {
  TfliteModel model = Chain();
  model.tensors.push_back(Int8("unused", {0, -1}));
  model.tensors[3].type = TensorType::STRING;
  EXPECT_TRUE(Import(model).graph.has_value());
}

TEST(TfliteImporter, ReportsAllThatIsWrongInOneRun) {
  TfliteModel model = Chain();
  model.tensors[0].scales = {0};
  model.tensors[1].scales = {NAN};
  model.tensors[2].scales = {INFINITY};
  for (auto [name, edit] : std::vector<std::pair<std::string, std::function<void(TfliteTensor&)>>>{{"negative",
                                                                                                    [](auto& t) {
                                                                                                      t.scales = {-1};
                                                                                                    }},
                                                                                                   {"zero_point",
                                                                                                    [](auto& t) {
                                                                                                      t.zero_points = {
                                                                                                          128};
                                                                                                    }},
                                                                                                   {"huge_zero_point",
                                                                                                    [](auto& t) {
                                                                                                      t.zero_points = {
                                                                                                          int64_t{1}
                                                                                                          << 40};
                                                                                                    }},
                                                                                                   {"pairs",
                                                                                                    [](auto& t) {
                                                                                                      t.zero_points = {
                                                                                                          1, 2};
                                                                                                      t.scales = {1, 1,
                                                                                                                  1};
                                                                                                    }},
                                                                                                   {"axis",
                                                                                                    [](auto& t) {
                                                                                                      t.scales = {1, 1,
                                                                                                                  1, 1};
                                                                                                      t.axis = 2;
                                                                                                    }},
                                                                                                   {"channels",
                                                                                                    [](auto& t) {
                                                                                                      t.scales = {1, 1,
                                                                                                                  1};
                                                                                                      t.axis = 1;
                                                                                                    }},
                                                                                                   {"bytes",
                                                                                                    [](auto& t) {
                                                                                                      t.data = {1, 2,
                                                                                                                3};
                                                                                                    }}}) {
    TfliteTensor t = Int8(name, {1, 4});
    edit(t);
    const auto id = static_cast<int32_t>(model.tensors.size());
    model.tensors.push_back(t);
    model.tensors.push_back(Int8(name + "_out", {1, 4}));
    model.operators.push_back({BuiltinOperator::ADD, {0, id}, {id + 1}});
  }
  model.operators.push_back({BuiltinOperator::ADD, {0, 77}, {88}});
  const Imported result = Import(model);
  for (const char* error :
       {"m:0(RELU):in: error: has scale 0; scales are finite and positive", "m:0(RELU):mid: error: has scale nan",
        "m:1(RELU6):out: error: has scale inf", "m:2(ADD):negative: error: has scale -1",
        "m:3(ADD):zero_point: error: has zero point 128, which its type does not hold",
        "m:4(ADD):huge_zero_point: error: has zero point 1099511627776",
        "m:5(ADD):pairs: error: has 3 scales and 2 zero points", "m:6(ADD):axis: error: has 4 scales along dimension 2",
        "m:7(ADD):channels: error: has 3 scales along dimension 1",
        "m:8(ADD):bytes: error: has 3 bytes of data; its shape needs 4",
        "m:9(ADD): error: reads tensor 77, which does not exist", "m:9(ADD): error: writes tensor 88"}) {
    EXPECT_NE(result.messages.find(error), std::string::npos) << error << "\n" << result.messages;
  }
}

TEST(TfliteImporter, ShapesOfAllOperatorsAreCheckedInOneRun) {
  TfliteModel model = Chain();
  model.tensors[1].shape = {1, 5};
  const Imported result = Import(model);
  EXPECT_NE(result.messages.find("m:0(RELU):mid: error: is int8[1,5]; clamp gives int8[1,4]"), std::string::npos)
      << result.messages;
  EXPECT_NE(result.messages.find("m:1(RELU6):out: error: is int8[1,4]; clamp gives int8[1,5]"), std::string::npos)
      << result.messages;
}

TEST(TfliteImporter, Int4WeightsAreUnpacked) {
  TfliteModel model;
  model.tensors = {Int8("x", {1, 3}), Int8("w", {1, 3}), Int8("y", {1, 1})};
  model.tensors[1].type = TensorType::INT4;
  model.tensors[1].data = {0x8F, 0x07};
  model.tensors[1].zero_points = {0};
  model.operators = {{BuiltinOperator::FULLY_CONNECTED, {0, 1}, {2}}};
  model.inputs = {0};
  model.outputs = {2};
  const Imported result = Import(model);
  ASSERT_TRUE(result.graph) << result.messages;
  const ir::Tensor& weights = result.graph->tensor(result.graph->nodes[0].inputs[1]);
  EXPECT_EQ(weights.type, DataType::kInt8);
  EXPECT_EQ(*weights.data, (ir::Bytes{0xFF, 0xF8, 7}));
}

}  // namespace
}  // namespace takt
