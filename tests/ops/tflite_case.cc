#include "tests/ops/tflite_case.h"

#include <gtest/gtest.h>

#include <numeric>

#include "converter/backend/convert.h"
#include "converter/frontend/tflite_importer.h"
#include "tests/ops/op_test.h"
#include "tests/ops/plan_run.h"
#include "tests/support/messages.h"

namespace takt::test {
namespace {

tflite::TensorType FileType(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return tflite::TensorType::FLOAT32;
    case DataType::kInt8:
      return tflite::TensorType::INT8;
    case DataType::kInt16:
      return tflite::TensorType::INT16;
    case DataType::kInt64:
      return tflite::TensorType::INT64;
    case DataType::kBool:
      return tflite::TensorType::BOOL;
    default:
      return tflite::TensorType::INT32;
  }
}

DataType Or(DataType type, DataType fallback) {
  return type == DataType::kNone ? fallback : type;
}

}  // namespace

TfliteModel ModelOf(const DataCase& c, DataType type) {
  TfliteModel model;
  TfliteOperator op{c.code, {}, {}, c.kind, c.options};
  const auto add = [&](const Shape& shape, DataType own) {
    TfliteTensor& t = model.tensors.emplace_back();
    t.name = "t" + std::to_string(model.tensors.size());
    t.type = FileType(own);
    t.shape = shape;
    if (own == DataType::kInt8 || own == DataType::kInt16) t.scales = {1.0f}, t.zero_points = {0};
    return static_cast<int32_t>(model.tensors.size() - 1);
  };
  for (const Input& input : c.inputs) {
    op.inputs.push_back(add(input.shape, Or(input.type, type)));
    if (input.constant.empty())
      model.inputs.push_back(op.inputs.back());
    else
      model.tensors.back().data = Pack(Or(input.type, type), input.constant);
  }
  if (model.inputs.empty()) model.inputs.push_back(add({1}, type));  // A graph has one; nothing reads it.
  for (const Output& output : c.outputs) op.outputs.push_back(add(output.shape, Or(output.type, type)));
  model.outputs = op.outputs;
  model.operators = {op};
  return model;
}

void RunData(const DataCase& c, DataType type) {
  SCOPED_TRACE(std::string(c.name) + ", type " + std::to_string(static_cast<int>(type)));
  Diagnostics diagnostics;
  auto graph = frontend::ImportTflite(WriteTflite(ModelOf(c, type)), "m", diagnostics);
  ASSERT_TRUE(graph.has_value()) << Messages(diagnostics);
  Conversion made = ConvertGraph(std::move(*graph), {}, {});
  ASSERT_FALSE(made.plan.empty()) << Messages(made.diagnostics);
  std::vector<std::vector<uint8_t>> inputs;
  for (const Input& input : c.inputs) {
    if (!input.constant.empty()) continue;
    std::vector<double> values(Values(input.shape).v.size());
    std::iota(values.begin(), values.end(), 1.0);
    inputs.push_back(Pack(Or(input.type, type), values));
  }
  if (inputs.empty()) inputs.push_back(Pack(type, {1}));
  const auto outputs = RunOnPorts(made.plan, inputs);
  ASSERT_EQ(outputs.size(), c.outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i)
    EXPECT_EQ(Unpack(Or(c.outputs[i].type, type), outputs[i]), c.outputs[i].values) << "output " << i;
}

void ExpectRefused(const DataCase& c, DataType type, const std::string& message) {
  Diagnostics diagnostics;
  EXPECT_FALSE(frontend::ImportTflite(WriteTflite(ModelOf(c, type)), "m", diagnostics));
  EXPECT_NE(Messages(diagnostics).find(message), std::string::npos)
      << Messages(diagnostics) << "does not say: " << message;
}

}  // namespace takt::test
