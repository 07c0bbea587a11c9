// signal_window: shift. fft_auto_scale: none. energy: begin, end. overlap_add: step; inputs frames and the state,
// outputs y and the next state.
#include "converter/frontend/custom_options.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/signal_states.h"

namespace takt::ir {
namespace {

using frontend::CustomOptions;
using frontend::TfliteNode;

std::string InferWindow(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& x = graph.tensor(node.inputs[0]);
  const Tensor& window = graph.tensor(node.inputs[1]);
  if (x.type != DataType::kInt16 || window.type != DataType::kInt16) return "operands must be int16";
  if (x.dims.empty() || window.dims.size() != 1 || window.dims[0] < 1 || x.dims.back() % window.dims[0] != 0)
    return "the last dimension of " + DimsText(x.dims) + " is no multiple of window " + DimsText(window.dims);
  outputs = {{x.type, x.dims}};
  return "";
}

void LowerWindow(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const schema::SignalWindowParams params(static_cast<uint8_t>(node.Int("shift")));
  step.Set(node.op, Numerics::kAny, params, node.inputs, node.outputs);
}

void ImportWindow(TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  if (const auto shift = CustomOptions(node).Int("shift", 0, 31))
    node.Add(Op::kSignalWindow, {node.input(0), node.input(1)}, {{"shift", *shift}});
}

std::string InferAutoScale(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& x = graph.tensor(node.inputs[0]);
  if (x.type != DataType::kInt16) return "its operand must be int16";
  outputs = {{x.type, x.dims}, {DataType::kInt32, graph.tensor(node.outputs[1]).dims}};
  return "";
}

void LowerAutoScale(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  step.Set(node.op, Numerics::kAny, schema::FftAutoScaleParams(), node.inputs, node.outputs);
}

void ImportAutoScale(TfliteNode& node) {
  if (node.CheckArity(1, 1, 2)) node.Add(Op::kFftAutoScale, {node.input(0)});
}

std::string InferEnergy(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& x = graph.tensor(node.inputs[0]);
  const int64_t begin = node.Int("begin"), end = node.Int("end");
  if (x.type != DataType::kInt16 || x.dims.size() != 1) return "its operand must be one row of int16";
  const int32_t count = x.dims[0] / 2;
  if (begin < 0 || begin > end || end > count)
    return "range [" + std::to_string(begin) + ", " + std::to_string(end) + ") is not one of the " +
           std::to_string(count) + " complex numbers";
  if (count == 0) return "its operand must hold complex numbers";
  outputs = {{DataType::kUint32, {count}}};
  return "";
}

void LowerEnergy(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const schema::EnergyParams params(static_cast<uint32_t>(node.Int("begin")), static_cast<uint32_t>(node.Int("end")));
  step.Set(node.op, Numerics::kAny, params, node.inputs, node.outputs);
}

void ImportEnergy(TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  CustomOptions options(node);
  const auto begin = options.Int("start_index", 0, INT32_MAX), end = options.Int("end_index", 0, INT32_MAX);
  if (begin && end) node.Add(Op::kEnergy, {node.input(0)}, {{"begin", *begin}, {"end", *end}});
}

std::string InferOverlapAdd(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& x = graph.tensor(node.inputs[0]);
  const Tensor& state = graph.tensor(node.inputs[1]);
  const int64_t step = node.Int("step");
  if (x.type != DataType::kInt16 && x.type != DataType::kFloat32) return "its operand must be int16 or float32";
  if (x.dims.size() < 2) return "operand " + DimsText(x.dims) + " is not [.., frames, frame size]";
  if (step < 1 || step > x.dims.back())
    return "step " + std::to_string(step) + " is outside [1, " + std::to_string(x.dims.back()) + "]";
  std::vector<int32_t> dims(x.dims.begin(), x.dims.end() - 1);
  dims.back() = x.dims.back();
  if (state.type != x.type || state.dims != dims) return "its state is not one frame for each of its signals";
  dims.back() = Dim(x.dims[x.dims.size() - 2] * step);
  outputs = {{x.type, dims}, {state.type, state.dims}};
  return "";
}

void LowerOverlapAdd(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const schema::OverlapAddParams params(static_cast<uint32_t>(node.Int("step")));
  step.Set(node.op, Numerics::kAny, params, node.inputs, node.outputs);
}

void ImportOverlapAdd(TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto step = CustomOptions(node).Int("frame_step", 1, INT32_MAX);
  Tensor state = node.tensor(node.input(0));
  if (!step || state.dims.size() < 2)
    return node.Error("takes frames [.., frames, frame size] and a step", node.input(0));
  state.dims.erase(state.dims.end() - 2);
  const State kept = NewState(node, state);
  node.AddTo(Op::kOverlapAdd, {node.input(0), kept.tensor}, {node.output(0), kept.next}, {{"step", *step}});
}

constexpr AttributeRule kWindowAttributes[] = {{"shift", AttributeKind::kInt, true}};
constexpr AttributeRule kEnergyAttributes[] = {{"begin", AttributeKind::kInt, true},
                                               {"end", AttributeKind::kInt, true}};
constexpr AttributeRule kOverlapAttributes[] = {{"step", AttributeKind::kInt, true}};
constexpr TfliteImport kWindow[] = {{32, "SignalWindow", ImportWindow}};
constexpr TfliteImport kAutoScale[] = {{32, "SignalFftAutoScale", ImportAutoScale}};
constexpr TfliteImport kEnergy[] = {{32, "SignalEnergy", ImportEnergy}};
constexpr TfliteImport kOverlapAdd[] = {{32, "SignalOverlapAdd", ImportOverlapAdd},
                                        {32, "SignalDelay", ImportDelay},
                                        {32, "SignalFramer", ImportFramer},
                                        {32, "SignalStacker", ImportStacker}};

}  // namespace

extern const OpDef kSignalWindowDef, kFftAutoScaleDef, kEnergyDef, kOverlapAddDef;
const OpDef kSignalWindowDef = {Op::kSignalWindow, kWindowAttributes, InferWindow, LowerWindow, kWindow};
const OpDef kFftAutoScaleDef = {Op::kFftAutoScale, {}, InferAutoScale, LowerAutoScale, kAutoScale};
const OpDef kEnergyDef = {Op::kEnergy, kEnergyAttributes, InferEnergy, LowerEnergy, kEnergy};
const OpDef kOverlapAddDef = {Op::kOverlapAdd, kOverlapAttributes, InferOverlapAdd, LowerOverlapAdd, kOverlapAdd};

}  // namespace takt::ir
