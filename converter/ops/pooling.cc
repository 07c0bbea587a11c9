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
  const auto& kernel = node.Ints("kernel");
  const schema::Pool2dParams params(PlanWindow(node), StoredClamp(node.StringOr("activation", "none"), output),
                                    static_cast<uint16_t>(kernel[0]), static_cast<uint16_t>(kernel[1]));
  // Both numerics average alike (engine/NUMERICS.md).
  step.Set(node.op, Numerics::kAny, params, node.inputs, node.outputs);
}

std::map<std::string, Attribute> PoolAttributes(frontend::TfliteNode& node, const tflite::Pool2DOptions& options) {
  const std::vector<int64_t> strides = {options.stride_h(), options.stride_w()};
  const std::vector<int64_t> kernel = {options.filter_height(), options.filter_width()};
  const std::vector<int64_t> pads =
      ExplicitPads(node.tensor(node.input(0)), options.padding() == tflite::Padding::SAME, kernel, strides, {1, 1});
  return {{"kernel", kernel},
          {"strides", strides},
          {"pads", pads},
          {"activation", node.Activation(options.fused_activation_function())}};
}

void Import(frontend::TfliteNode& node, Op op) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto* options = node.options<tflite::Pool2DOptions>();
  if (options == nullptr) return node.Error("has no Pool2DOptions");
  node.Add(op, {node.input(0)}, PoolAttributes(node, *options));
}

void ImportAverage(frontend::TfliteNode& node) {
  Import(node, Op::kAveragePool2d);
}
/// The square root of the mean of squares.
void ImportL2(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto* options = node.options<tflite::Pool2DOptions>();
  if (options == nullptr) return node.Error("has no Pool2DOptions");
  node.Note("becomes 4 steps: square, average pool, square root, clamp");
  const TensorId squares = node.Emit(Op::kUnary, {node.input(0)}, {{"function", std::string("square")}});
  auto attributes = PoolAttributes(node, *options);
  const std::string activation = std::get<std::string>(attributes["activation"]);
  attributes.erase("activation");
  const TensorId mean = node.Emit(Op::kAveragePool2d, {squares}, std::move(attributes));
  double min = 0;
  double max = 0;
  ActivationRange(activation, min, max);
  node.Add(Op::kClamp, {node.Emit(Op::kUnary, {mean}, {{"function", std::string("sqrt")}})},
           {{"min", min}, {"max", max}});
}
void ImportMax(frontend::TfliteNode& node) {
  Import(node, Op::kMaxPool2d);
}

void ImportOnnxPool(frontend::OnnxNode& node, Op op) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const size_t rank = node.dims(node.input(0)).size();
  auto window = ReadOnnxWindow(node, node.Ints("kernel_shape", {}));
  if (!window) return;
  if (window->dilations != std::vector<int64_t>{1, 1}) return node.Error("dilations of a pool must be 1");
  TensorId x = node.ToNhwc(node.input(0));
  if (op == Op::kAveragePool2d && node.Int("count_include_pad", 0) != 0) {
    auto& p = window->pads;
    x = node.Emit(
        Op::kPad, {x},
        {{"before", std::vector<int64_t>{0, p[0], p[1], 0}}, {"after", std::vector<int64_t>{0, p[2], p[3], 0}}});
    p.assign(4, 0);
  }
  const TensorId y =
      node.Emit(op, {x}, {{"kernel", window->kernel}, {"strides", window->strides}, {"pads", window->pads}});
  node.SetOutput(0, node.FromNhwc(y, rank));
}

void ImportOnnxAverage(frontend::OnnxNode& node) {
  ImportOnnxPool(node, Op::kAveragePool2d);
}
void ImportOnnxMax(frontend::OnnxNode& node) {
  ImportOnnxPool(node, Op::kMaxPool2d);
}

void ImportOnnxGlobalMax(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const TensorId x = node.ToNhwc(node.input(0));
  if (node.failed()) return;
  const std::vector<int64_t> kernel = {node.dims(x)[1], node.dims(x)[2]};
  const TensorId y =
      node.Emit(Op::kMaxPool2d, {x},
                {{"kernel", kernel}, {"strides", std::vector<int64_t>{1, 1}}, {"pads", std::vector<int64_t>(4, 0)}});
  node.SetOutput(0, node.FromNhwc(y, node.dims(node.input(0)).size()));
}

constexpr AttributeRule kAttributes[] = {{"kernel", AttributeKind::kInts, true},
                                         {"strides", AttributeKind::kInts, true},
                                         {"pads", AttributeKind::kInts, true},
                                         {"activation", AttributeKind::kString, false}};
constexpr TfliteImport kAverageTflite[] = {{1, "AVERAGE_POOL_2D", ImportAverage}, {12, "L2_POOL_2D", ImportL2}};
constexpr TfliteImport kMaxTflite[] = {{17, "MAX_POOL_2D", ImportMax}};
constexpr OnnxImport kAverageOnnx[] = {{"AveragePool", 1, ImportOnnxAverage}};
constexpr OnnxImport kMaxOnnx[] = {{"MaxPool", 1, ImportOnnxMax}, {"GlobalMaxPool", 1, ImportOnnxGlobalMax}};

}  // namespace

extern const OpDef kAveragePool2dDef;
extern const OpDef kMaxPool2dDef;
const OpDef kAveragePool2dDef = {Op::kAveragePool2d, kAttributes,     Infer,        Lower,
                                 kAverageTflite,     NpuClass::kPool, kAverageOnnx, nullptr,
                                 QuantRule::kShared};
const OpDef kMaxPool2dDef = {Op::kMaxPool2d, kAttributes,       Infer, Lower, kMaxTflite, NpuClass::kPool, kMaxOnnx,
                             nullptr,        QuantRule::kShared};

}  // namespace takt::ir
