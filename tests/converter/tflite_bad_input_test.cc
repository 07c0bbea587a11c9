// One file with all kinds of bad input: every finding comes in one run, at its node and tensor, with rule and remedy.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "converter/backend/convert.h"
#include "converter/frontend/tflite_refusals.h"
#include "converter/ir/op_def.h"
#include "tests/converter/tflite_builder.h"

namespace takt::test {
namespace {

using Code = tflite::BuiltinOperator;
using Type = tflite::TensorType;

TfliteTensor Int8(const std::string& name, std::vector<int32_t> shape = {1, 4}) {
  return {.name = name, .shape = std::move(shape), .data = {}, .scales = {0.5f}, .zero_points = {3}, .signature = {}};
}

template <typename T>
TfliteTensor Constant(const std::string& name, Type type, const std::vector<T>& values) {
  TfliteTensor t = {.name = name, .type = type, .shape = {static_cast<int32_t>(values.size())}};
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  t.data.assign(bytes, bytes + values.size() * sizeof(T));
  return t;
}

/// A model in the making: operators that read its input or tensors of their own.
class BadModel {
 public:
  BadModel() {
    model_.tensors = {Int8("in")};
    model_.inputs = {0};
    model_.outputs = {0};
  }

  /// An operator on `inputs` (tensor 0 is the model's input) with an output; the index of the operator.
  size_t Add(Code code, std::vector<int32_t> inputs, TfliteTensor output) {
    model_.operators.push_back({code, std::move(inputs), {Tensor(std::move(output))}});
    return model_.operators.size() - 1;
  }
  int32_t Tensor(TfliteTensor t) {
    model_.tensors.push_back(std::move(t));
    return static_cast<int32_t>(model_.tensors.size() - 1);
  }
  /// An addition that reads tensor `name` after `damage`.
  void Damaged(const std::string& name, const std::function<void(TfliteTensor&)>& damage, const std::string& message) {
    TfliteTensor t = Int8(name);
    t.data = {1, 2, 3, 4};
    damage(t);
    const size_t op = Add(Code::ADD, {0, Tensor(std::move(t))}, Int8(name + "_out"));
    Expect(std::to_string(op) + "(ADD):" + name + ": error: " + message);
  }
  void Expect(std::string message) { expected_.push_back("bad:" + std::move(message)); }
  TfliteModel& model() { return model_; }

  void Run() {
    const Conversion made = ConvertTflite(WriteTflite(model_), "bad", {});
    EXPECT_TRUE(made.plan.empty());
    std::string messages;
    for (const Diagnostic& d : made.diagnostics.all()) messages += d.ToString() + "\n";
    for (const std::string& message : expected_)
      EXPECT_NE(messages.find(message), std::string::npos) << messages << "lacks " << message;
  }

 private:
  TfliteModel model_;
  std::vector<std::string> expected_;
};

TEST(TfliteBadInput, AllKindsAreFoundInOneRun) {
  BadModel bad;
  bad.Add(Code::LSH_PROJECTION, {0}, Int8("projected"));
  bad.Expect("0(LSH_PROJECTION): error: is not supported: it works on strings or hashes; look them up before");
  bad.Add(Code::CUSTOM, {0}, Int8("unknown"));
  bad.Expect("1(CUSTOM): error: is not supported; the note at the end lists the operators that are");
  bad.Damaged(
      "text", [](auto& t) { t.type = Type::STRING; }, "has type STRING; supported are");
  bad.Damaged(
      "open",
      [](auto& t) {
        t.shape = {-1, 4}, t.data = {};
      },
      "has dimension -1; dimensions are not negative");
  bad.Damaged(
      "seven", [](auto& t) { t.shape = {1, 1, 1, 1, 1, 1, 4}; }, "has rank 7; allowed are up to 6");
  bad.Damaged(
      "vast",
      [](auto& t) {
        t.shape = {1 << 16, 1 << 16};
      },
      "tensor [65536, 65536] has more than 2^30 elements; it may have at most that");
  bad.Damaged(
      "short", [](auto& t) { t.data.pop_back(); }, "has 3 bytes of data; its shape needs 4");
  bad.Damaged(
      "lost", [](auto& t) { t.buffer = 99; }, "names buffer 99, which is missing; the file is damaged");
  bad.Damaged(
      "nobody", [](auto& t) { t.data = {}; }, "is read, but nothing writes it and it has no data");
  bad.Damaged(
      "zero", [](auto& t) { t.scales = {0}; }, "has scale 0; scales are finite and positive");
  bad.Damaged(
      "nan", [](auto& t) { t.scales = {NAN}; }, "has scale nan; scales are finite and positive");
  bad.Damaged(
      "far", [](auto& t) { t.zero_points = {128}; }, "has zero point 128, which its type does not hold");
  bad.Damaged(
      "pairs",
      [](auto& t) {
        t.scales = {1, 1, 1, 1}, t.zero_points = {0, 0}, t.axis = 1;
      },
      "has 4 scales and 2 zero points; they come in pairs");
  bad.Damaged(
      "channels",
      [](auto& t) {
        t.scales = {1, 1, 1}, t.axis = 1;
      },
      "has 3 scales along dimension 1, which has another size or does not exist");
  bad.Damaged(
      "axis",
      [](auto& t) {
        t.scales = {1, 1, 1, 1}, t.axis = 2;
      },
      "has 4 scales along dimension 2");
  const auto shape = bad.Add(Code::RELU, {0}, Int8("reshaped", {1, 5}));
  bad.Expect(std::to_string(shape) + "(RELU):reshaped: error: is int8[1,5]; clamp gives int8[1,4]");
  const auto axis = bad.Add(Code::ARG_MAX, {0, bad.Tensor(Constant<int32_t>("seventh", Type::INT32, {7}))},
                            {.name = "best", .type = Type::INT32, .shape = {1}});
  bad.Expect(std::to_string(axis) + "(ARG_MAX): error: has axis 7 of 2 dimensions; an axis names one of them");
  const int64_t huge = int64_t{1} << 40;
  const auto pads = bad.Add(Code::PAD, {0, bad.Tensor(Constant<int64_t>("pads", Type::INT64, {0, huge, 0, 0}))},
                            Int8("padded", {1, 4}));
  bad.model().tensors[static_cast<size_t>(bad.model().operators[pads].inputs[1])].shape = {2, 2};
  bad.Expect(std::to_string(pads) + "(PAD):pads: error: input 1 has value 1099511627776; allowed are those of int32");
  const auto absent = bad.Add(Code::ADD, {0, -1}, Int8("half"));
  bad.Expect(std::to_string(absent) + "(ADD): error: input 1 is absent; the operator needs it");
  const auto wrong = bad.Add(Code::ADD, {0, 999}, Int8("beyond"));
  bad.Expect(std::to_string(wrong) + "(ADD): error: reads tensor 999, which does not exist; the file is damaged");
  const int32_t back = bad.Tensor(Int8("back"));
  const auto first = bad.Add(Code::RELU, {back}, Int8("forth"));
  bad.model().operators.push_back({Code::RELU, bad.model().operators[first].outputs, {back}});
  const std::string cycle = std::to_string(first) + "(RELU), " + std::to_string(first + 1) + "(RELU)";
  bad.Expect(" error: has operators that wait for each other: " + cycle + "; a graph has no cycles");
  bad.Run();
}

TEST(TfliteBadInput, EveryBuiltinOperatorIsReadOrRefusedForAReason) {
  std::set<std::string> read;
  for (const ir::OpDef* def : ir::AllOpDefs())
    for (const ir::TfliteImport& import : def->tflite) read.insert(import.name);
  for (const Code code : tflite::EnumValuesBuiltinOperator()) {
    const std::string name = tflite::EnumNameBuiltinOperator(code);
    if (code == Code::CUSTOM) continue;
    EXPECT_NE(read.count(name) != 0, !frontend::RefusalOf(static_cast<int>(code)).empty()) << name;
  }
}

/// One error for what is wrong: operators behind it can't know what they would have read.
/// A million offsets are four megabytes, and one table.
TEST(TfliteBadInput, MoreTablesThanAModelHasAreRefused) {
  flatbuffers::FlatBufferBuilder fbb;
  const auto tensor = tflite::CreateTensor(fbb);
  const std::vector<flatbuffers::Offset<tflite::Tensor>> tensors(1000001, tensor);
  const std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs = {tflite::CreateSubGraphDirect(fbb, &tensors)};
  tflite::FinishModelBuffer(fbb, tflite::CreateModelDirect(fbb, 3, nullptr, &graphs));
  const Conversion made = ConvertTflite({fbb.GetBufferPointer(), fbb.GetSize()}, "bad", {});
  ASSERT_EQ(made.diagnostics.all().size(), 1u);
  EXPECT_NE(made.diagnostics.all()[0].ToString().find("is a damaged TFLite file"), std::string::npos);
}

/// Calls of calls: main -> 1 -> 2 -> ..
TEST(TfliteBadInput, SubgraphsNestedTooDeepAreRefused) {
  TfliteModel model;
  const auto call = [](int32_t graph) {
    return TfliteOperator{Code::IF, {0, 1}, {2}, tflite::BuiltinOptions::IfOptions, [=](auto& fbb) {
                            return tflite::CreateIfOptions(fbb, graph, graph).Union();
                          }};
  };
  TfliteSubgraph graph;
  graph.tensors = {{.name = "flag", .type = Type::BOOL}, Int8("x"), Int8("y")};
  graph.inputs = {0, 1};
  graph.outputs = {2};
  model.tensors = graph.tensors, model.inputs = graph.inputs, model.outputs = graph.outputs;
  model.operators = {call(1)};
  for (int32_t i = 1; i <= 20; ++i) {
    graph.operators = {call(i % 20 + 1)};
    if (i == 20) graph.operators = {{Code::RELU, {1}, {2}}};
    model.others.push_back(graph);
  }
  const Conversion made = ConvertTflite(WriteTflite(model), "bad", {});
  std::string messages;
  for (const Diagnostic& d : made.diagnostics.all()) messages += d.ToString();
  EXPECT_NE(messages.find("calls subgraphs nested too deep, or too many of them; flatten the model"), std::string::npos)
      << messages;
}

TEST(TfliteBadInput, WhatFollowsFromAnErrorIsNotReported) {
  TfliteModel model;
  const TfliteTensor shape = {.name = "shape", .type = Type::INT32, .shape = {2, 2}};
  model.tensors = {Int8("x"), shape, shape, Int8("y", {1, 6}), Int8("z", {1, 6})};
  model.tensors[2].name = "more";
  model.operators = {{Code::CUSTOM, {0}, {1}},
                     {Code::ADD, {1, 1}, {2}},
                     {Code::PAD, {0, 2}, {3}},
                     {Code::RELU, {3}, {4}, tflite::BuiltinOptions::NONE}};
  model.operators[0].custom = "Unknown";
  model.inputs = {0};
  model.outputs = {4};
  const Conversion made = ConvertTflite(WriteTflite(model), "m", {});
  std::vector<std::string> errors;
  for (const Diagnostic& d : made.diagnostics.all())
    if (d.severity == Severity::kError) errors.push_back(d.ToString());
  ASSERT_EQ(errors.size(), 1u) << errors.back();
  EXPECT_NE(errors[0].find("m:0(CUSTOM Unknown): error: is not supported"), std::string::npos) << errors[0];
}

TEST(TfliteBadInput, OpenDimensionsThatDoNotWorkAreAskedFor) {
  TfliteModel model;
  model.tensors = {Int8("x", {1, 1}), Constant<int32_t>("begin", Type::INT32, {0, 2}),
                   Constant<int32_t>("size", Type::INT32, {1, 2}), Int8("y", {1, 2})};
  model.tensors[0].signature = {-1, -1};
  model.operators = {{Code::SLICE, {0, 1, 2}, {3}}};
  model.inputs = {0};
  model.outputs = {3};
  std::string text;
  const Conversion made = ConvertTflite(WriteTflite(model), "m", {});
  for (const Diagnostic& d : made.diagnostics.all()) text += d.ToString() + "\n";
  EXPECT_NE(text.find("m:x: error: leaves dimensions open (-1x-1), and the recorded [1, 1] do not work; give them: "
                      "--shape x=DIMS"),
            std::string::npos)
      << text;
}

TEST(TfliteBadInput, PadsBeyondEveryTensorAreRefused) {
  BadModel bad;
  const int32_t most = std::numeric_limits<int32_t>::max();
  const int32_t pads = bad.Tensor(Constant<int32_t>("pads", Type::INT32, {0, 0, most, most}));
  bad.model().tensors.back().shape = {2, 2};
  bad.Add(Code::PAD, {0, pads}, Int8("padded", {1, 2}));
  bad.Expect("0(PAD): error: tensor [1, 2147483647] has more than 2^30 elements");
  bad.Run();
}

/// Blocks divide a dimension of 0, whatever their size.
TEST(TfliteBadInput, BlocksOfTensorsWithoutElementsAreNotMultipliedBeyond32Bits) {
  const auto add = [](BadModel& bad, Code code, tflite::BuiltinOptions type, const Options& options,
                      const std::vector<int32_t>& shape) {
    bad.Add(code, {bad.Tensor(Int8("x", shape))}, Int8("y", {1, 1, 1, 1}));
    bad.model().inputs.push_back(bad.model().operators.back().inputs[0]);
    bad.model().operators.back().options_type = type;
    bad.model().operators.back().options = options;
  };
  BadModel bad;
  add(bad, Code::DEPTH_TO_SPACE, tflite::BuiltinOptions::DepthToSpaceOptions,
      [](auto& fbb) { return tflite::CreateDepthToSpaceOptions(fbb, 4098).Union(); }, {1, 80740354, 1, 0});
  add(bad, Code::SPACE_TO_DEPTH, tflite::BuiltinOptions::SpaceToDepthOptions,
      [](auto& fbb) { return tflite::CreateSpaceToDepthOptions(fbb, 65536).Union(); }, {1, 0, 0, 1});
  bad.Expect("0(DEPTH_TO_SPACE):y: error: tensor [1, 2147483647, 4098, 0] has more than 2^30 elements");
  bad.Expect("1(SPACE_TO_DEPTH):y: error: tensor [1, 0, 0, 2147483647] has more than 2^30 elements");
  bad.Run();
}

}  // namespace
}  // namespace takt::test
