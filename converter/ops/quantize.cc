// quantize, dequantize: none. requantize: activation.
#include <utility>

#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const DataType in = graph.tensor(node.inputs[0]).type;
  const DataType out = graph.tensor(node.outputs[0]).type;
  const auto stored = [](DataType type) { return IsInteger(type) || type == DataType::kInt32; };
  const bool right = node.op == Op::kQuantize     ? in == DataType::kFloat32 && IsInteger(out)
                     : node.op == Op::kDequantize ? stored(in) && out == DataType::kFloat32
                                                  : stored(in) && stored(out);
  if (!right) return "input and output types do not fit the op";
  outputs = {{out, graph.tensor(node.inputs[0]).dims}};
  return "";
}

void LowerQuantize(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor& output = step.tensor(node.outputs[0]);
  step.Set(Op::kQuantize, step.numerics(), schema::QuantizeParams(ScaleOf(output), ZeroPointOf(output)), node.inputs,
           node.outputs);
}

void LowerDequantize(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor& input = step.tensor(node.inputs[0]);
  step.Set(Op::kDequantize, Numerics::kAny, schema::DequantizeParams(ScaleOf(input), ZeroPointOf(input)), node.inputs,
           node.outputs);
}

void LowerRequantize(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor& input = step.tensor(node.inputs[0]);
  const Tensor& output = step.tensor(node.outputs[0]);
  float scale = 0;
  FixedMultiplier fixed;
  const Numerics numerics = output.type == DataType::kInt32 ? Numerics::kAny : step.numerics();
  if (numerics == Numerics::kFp32Rne)
    scale = CheckedScale(ScaleOf(input) / ScaleOf(output), step);
  else
    fixed = QuantizeMultiplier(static_cast<double>(ScaleOf(input)) / static_cast<double>(ScaleOf(output)));
  const schema::RequantizeParams params(StoredClamp(node.StringOr("activation", "none"), output), scale,
                                        fixed.multiplier, fixed.shift, static_cast<int16_t>(ZeroPointOf(input)),
                                        static_cast<int16_t>(ZeroPointOf(output)));
  step.Set(Op::kRequantize, numerics, params, node.inputs, node.outputs);
}

void ImportQuantize(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const bool from_float = node.tensor(node.input(0)).type == DataType::kFloat32;
  node.Add(from_float ? Op::kQuantize : Op::kRequantize, {node.input(0)});
}

void ImportDequantize(frontend::TfliteNode& node) {
  if (node.CheckArity(1, 1, 1)) node.Add(Op::kDequantize, {node.input(0)});
}

/// Scales and zero points (inputs 1 and 2) of a quantized tensor with `dims`, for int8 storage: uint8 is stored less
/// 128.
std::optional<Quantization> OnnxQuantization(frontend::OnnxNode& node, const std::vector<int32_t>& dims,
                                             DataType& stored) {
  if (!node.is_constant(node.input(1)) || node.tensor(node.input(1)).type != DataType::kFloat32) {
    node.Error("its scale must be a float32 constant", node.input(1));
    return std::nullopt;
  }
  Quantization q;
  q.scales = Elements<float>(node.tensor(node.input(1)));
  q.zero_points.assign(q.scales.size(), 0);
  stored = DataType::kUint8;
  if (node.has_input(2)) {
    const auto zero_points = node.ConstantInts(2);
    if (!zero_points) return std::nullopt;
    if (zero_points->size() != q.scales.size()) {
      node.Error("has " + std::to_string(q.scales.size()) + " scales and " + std::to_string(zero_points->size()) +
                 " zero points");
      return std::nullopt;
    }
    q.zero_points.assign(zero_points->begin(), zero_points->end());
    stored = node.tensor(node.input(2)).type;
  }
  if (stored == DataType::kUint8) {
    for (int32_t& zero_point : q.zero_points) zero_point -= 128;
  }
  if (q.per_channel()) {
    const auto axis = node.Axis(node.Int("axis", 1), dims.size());
    if (!axis) return std::nullopt;
    q.axis = static_cast<int>(*axis);
    if (static_cast<size_t>(dims[*axis]) != q.scales.size()) {
      node.Error("has " + std::to_string(q.scales.size()) + " scales for a dimension of " +
                 std::to_string(dims[*axis]));
      return std::nullopt;
    }
  }
  return q;
}

void ImportOnnxQuantize(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 3) || !node.CheckOutputs(1)) return;
  Tensor output;
  auto q = OnnxQuantization(node, node.dims(node.input(0)), output.type);
  if (!q) return;
  if (q->per_channel()) return node.Error("quantizes activations per channel; per tensor is supported");
  if (output.type == DataType::kUint8) output.type = DataType::kInt8;
  output.quantization = std::move(q);
  node.SetOutput(0, node.EmitTyped(Op::kQuantize, {node.input(0)}, std::move(output)));
}

Tensor Real() {
  Tensor tensor;
  tensor.type = DataType::kFloat32;
  return tensor;
}

/// A constant of int32 (a bias) becomes float at once; other operands carry their quantization into the graph.
void ImportOnnxDequantize(frontend::OnnxNode& node) {
  if (!node.CheckInputs(2, 3) || !node.CheckOutputs(1)) return;
  const Tensor input = node.tensor(node.input(0));
  DataType stored{};
  auto q = OnnxQuantization(node, input.dims, stored);
  if (!q) return;
  if (!input.is_constant()) {
    if (!input.quantization || *input.quantization != *q) {
      return node.Error(
          "reads a tensor that was quantized with another scale or zero point, or a graph input; bind floats to the "
          "model and keep QuantizeLinear in it",
          node.input(0));
    }
    return node.SetOutput(0, node.EmitTyped(Op::kDequantize, {node.input(0)}, Real()));
  }
  if (input.type == DataType::kInt32) {
    std::vector<float> values;
    for (int32_t value : Elements<int32_t>(input)) {
      const size_t c = q->per_channel() ? values.size() % q->scales.size() : 0;
      values.push_back(static_cast<float>(value - q->zero_points[c]) * q->scales[c]);
    }
    return node.SetOutput(0, node.FloatConstant(input.dims, values));
  }
  Tensor constant = input;
  constant.quantization = std::move(q);
  if (input.type == DataType::kUint8) {
    Bytes bytes = *input.data;
    for (uint8_t& byte : bytes) byte ^= 0x80;
    constant.type = DataType::kInt8;
    constant.data = std::make_shared<const Bytes>(std::move(bytes));
  }
  if (constant.type != DataType::kInt8) return node.Error("its constant must be int8, uint8 or int32", node.input(0));
  node.SetOutput(0, node.EmitTyped(Op::kDequantize, {node.Constant(std::move(constant))}, Real()));
}

constexpr AttributeRule kAttributes[] = {{"activation", AttributeKind::kString, false}};
constexpr TfliteImport kQuantizeTflite[] = {{114, "QUANTIZE", ImportQuantize}};
constexpr TfliteImport kDequantizeTflite[] = {{6, "DEQUANTIZE", ImportDequantize}};
constexpr OnnxImport kQuantizeOnnx[] = {{"QuantizeLinear", 10, ImportOnnxQuantize}};
constexpr OnnxImport kDequantizeOnnx[] = {{"DequantizeLinear", 10, ImportOnnxDequantize}};

}  // namespace

extern const OpDef kQuantizeDef;
extern const OpDef kDequantizeDef;
extern const OpDef kRequantizeDef;
const OpDef kQuantizeDef = {
    Op::kQuantize,     {}, Infer, LowerQuantize, kQuantizeTflite, NpuClass::kElementwise, kQuantizeOnnx,
    CommuteElementwise};
const OpDef kDequantizeDef = {
    Op::kDequantize,   {}, Infer, LowerDequantize, kDequantizeTflite, NpuClass::kElementwise, kDequantizeOnnx,
    CommuteElementwise};
const OpDef kRequantizeDef = {Op::kRequantize,   kAttributes, Infer, LowerRequantize, {}, NpuClass::kElementwise, {},
                              CommuteElementwise};

}  // namespace takt::ir
