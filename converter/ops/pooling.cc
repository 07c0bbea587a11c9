// average_pool2d, max_pool2d: kernel, strides, pads, activation. Padding cells do not count.
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  int32_t height = 0;
  int32_t width = 0;
  const std::string error = WindowOutput(input, node, node.Ints("kernel"), height, width);
  if (!error.empty()) return error;
  outputs = {{input.type, {input.dims[0], height, width, input.dims[3]}}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor& output = step.tensor(node.outputs[0]);
  if (IsInteger(output.type) && !SameQuantization(step.tensor(node.inputs[0]), output)) {
    return step.Error("a pool's input and output have different quantization; requantize before or after it", node.outputs[0]);
  }
  const auto& kernel = node.Ints("kernel");
  const schema::Pool2dParams params(PlanWindow(node), StoredClamp(node.StringOr("activation", "none"), output),
                                    static_cast<uint16_t>(kernel[0]), static_cast<uint16_t>(kernel[1]));
  // Both numerics average alike (engine/NUMERICS.md).
  step.Set(node.op, Numerics::kAny, params, node.inputs, node.outputs);
}

void Import(frontend::TfliteNode& node, Op op) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto* options = node.options<tflite::Pool2DOptions>();
  if (options == nullptr) return node.Error("has no Pool2DOptions");
  const std::vector<int64_t> strides = {options->stride_h(), options->stride_w()};
  const std::vector<int64_t> kernel = {options->filter_height(), options->filter_width()};
  const std::vector<int64_t> pads = ExplicitPads(node.tensor(node.input(0)), options->padding() == tflite::Padding::SAME,
                                                 kernel, strides, {1, 1});
  node.Add(op, {node.input(0)},
           {{"kernel", kernel}, {"strides", strides}, {"pads", pads},
            {"activation", node.Activation(options->fused_activation_function())}});
}

void ImportAverage(frontend::TfliteNode& node) { Import(node, Op::kAveragePool2d); }
void ImportMax(frontend::TfliteNode& node) { Import(node, Op::kMaxPool2d); }

constexpr AttributeRule kAttributes[] = {{"kernel", AttributeKind::kInts, true},
                                         {"strides", AttributeKind::kInts, true},
                                         {"pads", AttributeKind::kInts, true},
                                         {"activation", AttributeKind::kString, false}};
constexpr TfliteImport kAverageTflite[] = {{1, "AVERAGE_POOL_2D", ImportAverage}};
constexpr TfliteImport kMaxTflite[] = {{17, "MAX_POOL_2D", ImportMax}};

}  // namespace

extern const OpDef kAveragePool2dDef;
extern const OpDef kMaxPool2dDef;
const OpDef kAveragePool2dDef = {Op::kAveragePool2d, kAttributes, Infer, Lower, kAverageTflite, NpuClass::kPool};
const OpDef kMaxPool2dDef = {Op::kMaxPool2d, kAttributes, Infer, Lower, kMaxTflite, NpuClass::kPool};

}  // namespace takt::ir
