// copy: none. pad: before, after, value (real). transpose: permutation. reshape: none (the output's dims say it).
// concatenation: axis. slice: begin, strides (the output's dims say how many).
#include <algorithm>
#include <cstring>

#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

std::string InferCopy(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  outputs = {{input.type, input.dims}};
  return "";
}

std::string InferPad(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const auto& before = node.Ints("before");
  const auto& after = node.Ints("after");
  if (before.size() != input.dims.size() || after.size() != input.dims.size() || before.size() > kMaxRank) {
    return "pads do not have one value for each of at most 6 dimensions of " + DimsText(input.dims);
  }
  std::vector<int32_t> dims = input.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (before[i] < 0 || after[i] < 0) return "pads must not be negative";
    dims[i] += static_cast<int32_t>(before[i] + after[i]);
  }
  outputs = {{input.type, dims}};
  return "";
}

std::string InferTranspose(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const auto& permutation = node.Ints("permutation");
  std::vector<int64_t> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  bool ok = sorted.size() == input.dims.size() && sorted.size() <= kMaxRank;
  for (size_t i = 0; ok && i < sorted.size(); ++i) ok = sorted[i] == static_cast<int64_t>(i);
  if (!ok) return "permutation does not name each dimension of " + DimsText(input.dims) + " once";
  std::vector<int32_t> dims;
  for (int64_t axis : permutation) dims.push_back(input.dims[static_cast<size_t>(axis)]);
  outputs = {{input.type, dims}};
  return "";
}

std::string InferReshape(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& output = graph.tensor(node.outputs[0]);
  if (input.element_count() != output.element_count()) {
    return "cannot reshape " + DimsText(input.dims) + " to " + DimsText(output.dims);
  }
  outputs = {{input.type, output.dims}};
  return "";
}

std::string InferConcatenation(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& first = graph.tensor(node.inputs[0]);
  const auto axis = static_cast<size_t>(node.Int("axis"));
  if (axis >= first.dims.size()) return "axis " + std::to_string(axis) + " is outside " + DimsText(first.dims);
  std::vector<int32_t> dims = first.dims;
  dims[axis] = 0;
  for (TensorId id : node.inputs) {
    std::vector<int32_t> part = graph.tensor(id).dims;
    if (graph.tensor(id).type != first.type || part.size() != dims.size()) return "parts differ in type or rank";
    dims[axis] += part[axis];
    part[axis] = first.dims[axis];
    if (part != first.dims) return "parts " + DimsText(part) + " and " + DimsText(first.dims) + " differ beside the axis";
  }
  outputs = {{first.type, dims}};
  return "";
}

std::string InferSlice(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& output = graph.tensor(node.outputs[0]);
  const auto& begin = node.Ints("begin");
  const auto& strides = node.Ints("strides");
  const size_t rank = input.dims.size();
  if (begin.size() != rank || strides.size() != rank || output.dims.size() != rank) return "begin, strides or output differ in rank";
  for (size_t i = 0; i < rank; ++i) {
    const int64_t last = begin[i] + (output.dims[i] - 1) * strides[i];
    if (strides[i] < 1 || begin[i] < 0 || output.dims[i] < 1 || last >= input.dims[i]) {
      return "dimension " + std::to_string(i) + " of the slice reaches outside " + DimsText(input.dims);
    }
  }
  outputs = {{input.type, output.dims}};
  return "";
}

void LowerCopy(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  step.Set(Op::kCopy, Numerics::kAny, schema::CopyParams(0), node.inputs, node.outputs);
}

void LowerPad(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const Tensor& output = step.tensor(node.outputs[0]);
  const double real = node.FloatOr("value", 0);
  uint64_t value = 0;
  if (output.type == DataType::kFloat32) {
    const auto f = static_cast<float>(real);
    std::memcpy(&value, &f, sizeof(f));
  } else {
    const int64_t stored = ScaleOf(output) > 0 ? SaturatedValue(real, output) : static_cast<int64_t>(real);
    std::memcpy(&value, &stored, BitWidth(output.type) / 8);
  }
  int32_t before[6] = {};
  int32_t after[6] = {};
  const auto& b = node.Ints("before");
  const auto& a = node.Ints("after");
  for (size_t i = 0; i < b.size(); ++i) before[i] = static_cast<int32_t>(b[i]), after[i] = static_cast<int32_t>(a[i]);
  const schema::PadParams params(flatbuffers::span<const int32_t, 6>(before), flatbuffers::span<const int32_t, 6>(after), value,
                                 static_cast<uint8_t>(b.size()));
  step.Set(Op::kPad, Numerics::kAny, params, node.inputs, node.outputs);
}

void LowerTranspose(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  uint8_t permutation[6] = {};
  const auto& p = node.Ints("permutation");
  for (size_t i = 0; i < p.size(); ++i) permutation[i] = static_cast<uint8_t>(p[i]);
  const schema::TransposeParams params(flatbuffers::span<const uint8_t, 6>(permutation), static_cast<uint8_t>(p.size()));
  step.Set(Op::kTranspose, Numerics::kAny, params, node.inputs, node.outputs);
}

void ImportReshape(frontend::TfliteNode& node) {
  if (node.CheckArity(1, 2, 1)) node.Add(Op::kReshape, {node.input(0)});
}

void ImportPad(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 3, 1)) return;
  const auto pads = node.ConstantInts(1);
  if (!pads) return;
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  for (size_t i = 0; i + 1 < pads->size(); i += 2) before.push_back((*pads)[i]), after.push_back((*pads)[i + 1]);
  double value = 0;
  if (node.has_input(2)) {
    const Tensor& t = node.tensor(node.input(2));
    if (!t.is_constant() || t.data->empty()) return node.Error("the pad value must be constant", node.input(2));
    if (t.type == DataType::kFloat32) {
      float f = 0;
      std::memcpy(&f, t.data->data(), sizeof(f));
      value = static_cast<double>(f);
    } else if (t.type == DataType::kInt8) {
      value = static_cast<double>(ScaleOf(t)) * (static_cast<int8_t>((*t.data)[0]) - ZeroPointOf(t));
    } else {
      return node.Error("the pad value must be float32 or int8", node.input(2));
    }
  }
  node.Add(Op::kPad, {node.input(0)}, {{"before", before}, {"after", after}, {"value", value}});
}

void ImportTranspose(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  if (const auto permutation = node.ConstantInts(1)) node.Add(Op::kTranspose, {node.input(0)}, {{"permutation", *permutation}});
}

void ImportConcatenation(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 64, 1)) return;
  const auto* options = node.options<tflite::ConcatenationOptions>();
  int64_t axis = options ? options->axis() : 0;
  if (axis < 0) axis += static_cast<int64_t>(node.tensor(node.input(0)).dims.size());
  std::vector<TensorId> parts;
  for (int i = 0; i < node.input_count(); ++i) {
    if (IsInteger(node.tensor(node.output(0)).type) && !SameQuantization(node.tensor(node.input(i)), node.tensor(node.output(0)))) {
      return node.Error("parts of a concatenation must have the output's quantization", node.input(i));
    }
    parts.push_back(node.input(i));
  }
  node.Add(Op::kConcatenation, parts, {{"axis", axis}});
}

void ImportSlice(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, 1)) return;
  const auto begin = node.ConstantInts(1);
  if (begin) node.Add(Op::kSlice, {node.input(0)}, {{"begin", *begin}, {"strides", std::vector<int64_t>(begin->size(), 1)}});
}

constexpr AttributeRule kPadAttributes[] = {{"before", AttributeKind::kInts, true},
                                            {"after", AttributeKind::kInts, true},
                                            {"value", AttributeKind::kFloat, false}};
constexpr AttributeRule kTransposeAttributes[] = {{"permutation", AttributeKind::kInts, true}};
constexpr AttributeRule kConcatenationAttributes[] = {{"axis", AttributeKind::kInt, true}};
constexpr AttributeRule kSliceAttributes[] = {{"begin", AttributeKind::kInts, true}, {"strides", AttributeKind::kInts, true}};
constexpr TfliteImport kReshapeTflite[] = {
    {22, "RESHAPE", ImportReshape}, {43, "SQUEEZE", ImportReshape}, {70, "EXPAND_DIMS", ImportReshape}};
constexpr TfliteImport kPadTflite[] = {{34, "PAD", ImportPad}, {60, "PADV2", ImportPad}};
constexpr TfliteImport kTransposeTflite[] = {{39, "TRANSPOSE", ImportTranspose}};
constexpr TfliteImport kConcatenationTflite[] = {{2, "CONCATENATION", ImportConcatenation}};
constexpr TfliteImport kSliceTflite[] = {{65, "SLICE", ImportSlice}};

}  // namespace

extern const OpDef kCopyDef;
extern const OpDef kPadDef;
extern const OpDef kTransposeDef;
extern const OpDef kReshapeDef;
extern const OpDef kConcatenationDef;
extern const OpDef kSliceDef;
const OpDef kCopyDef = {Op::kCopy, {}, InferCopy, LowerCopy, {}, NpuClass::kMove};
const OpDef kPadDef = {Op::kPad, kPadAttributes, InferPad, LowerPad, kPadTflite, NpuClass::kMove};
const OpDef kTransposeDef = {Op::kTranspose, kTransposeAttributes, InferTranspose, LowerTranspose, kTransposeTflite,
                             NpuClass::kMove};
const OpDef kReshapeDef = {Op::kReshape, {}, InferReshape, nullptr, kReshapeTflite};
const OpDef kConcatenationDef = {Op::kConcatenation, kConcatenationAttributes, InferConcatenation, nullptr, kConcatenationTflite};
const OpDef kSliceDef = {Op::kSlice, kSliceAttributes, InferSlice, nullptr, kSliceTflite};

}  // namespace takt::ir
