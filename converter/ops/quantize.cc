// quantize, dequantize: none. requantize: activation.
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/onnx_quantized.h"
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

constexpr AttributeRule kAttributes[] = {{"activation", AttributeKind::kString, false}};
constexpr TfliteImport kQuantizeTflite[] = {{114, "QUANTIZE", ImportQuantize}};
constexpr TfliteImport kDequantizeTflite[] = {{6, "DEQUANTIZE", ImportDequantize}};
constexpr OnnxImport kQuantizeOnnx[] = {{"QuantizeLinear", 10, ImportOnnxQuantize},
                                        {"QLinearConv", 10, ImportOnnxQLinearConv},
                                        {"QLinearMatMul", 10, ImportOnnxQLinearMatMul},
                                        {"ConvInteger", 10, ImportOnnxConvInteger},
                                        {"MatMulInteger", 10, ImportOnnxMatMulInteger}};
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
