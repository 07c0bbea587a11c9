// average_pool2d, max_pool2d: kernel, strides, pads, activation. Padding cells do not count.
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  int32_t height = 0;
  int32_t width = 0;
  std::string error = WindowOutput(input, node, node.Ints("kernel"), height, width);
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
  const TensorId squares = node.Emit(Op::kUnary, {node.ToFloat(node.input(0))}, {{"function", std::string("square")}});
  auto attributes = PoolAttributes(node, *options);
  const std::string activation = std::get<std::string>(attributes["activation"]);
  attributes.erase("activation");
  const TensorId mean = node.Emit(Op::kAveragePool2d, {squares}, std::move(attributes));
  double min = 0;
  double max = 0;
  ActivationRange(activation, min, max);
  node.AddFloat(Op::kClamp, {node.Emit(Op::kUnary, {mean}, {{"function", std::string("sqrt")}})},
                {{"min", min}, {"max", max}});
}
void ImportMax(frontend::TfliteNode& node) {
  Import(node, Op::kMaxPool2d);
}

/// x NHWC.
TensorId EmitOnnxPool(frontend::OnnxNode& node, Op op, TensorId x, const OnnxWindow& plane) {
  return node.Emit(op, {x}, {{"kernel", plane.kernel}, {"strides", plane.strides}, {"pads", plane.pads()}});
}

/// x NDHWC. A pool over height and width, then one over depth: the cells of a window that count form a box, so this
/// is exact for averages too.
TensorId EmitOnnxPool3d(frontend::OnnxNode& node, Op op, TensorId x, const OnnxWindow& window) {
  if (node.failed()) return kNoTensor;
  const std::vector<int32_t> d = node.dims(x);
  const TensorId planes = EmitOnnxPool(node, op, node.Reshape(x, {d[0] * d[1], d[2], d[3], d[4]}), window.Plane(1));
  if (node.failed()) return kNoTensor;
  const std::vector<int32_t> p = node.dims(planes);
  OnnxWindow depth = window.Plane(0);
  depth.kernel[1] = depth.strides[1] = 1;
  depth.before[1] = depth.after[1] = depth.beyond[1] = 0;
  const TensorId y = EmitOnnxPool(node, op, node.Reshape(planes, {d[0], d[1], p[1] * p[2], p[3]}), depth);
  return node.failed() ? kNoTensor : node.Reshape(y, {d[0], node.dims(y)[1], p[1], p[2], p[3]});
}

TensorId EmitOnnxPool(frontend::OnnxNode& node, Op op, const OnnxWindow& window) {
  const OnnxExpression e(node);
  const size_t rank = node.dims(node.input(0)).size();
  const DataType type = node.tensor(node.input(0)).type;
  const bool plain = IsInteger(type) && !node.tensor(node.input(0)).quantization;  // Stored values fit in float32.
  const TensorId x = node.ToNhwc(plain ? e.Cast(node.input(0), DataType::kFloat32) : node.input(0));
  const TensorId y = rank == 5 ? EmitOnnxPool3d(node, op, x, window) : EmitOnnxPool(node, op, x, window.Plane());
  return e.Cast(node.FromNhwc(y, rank), type);
}

/// With count_include_pad the padding is cells of 0 that count; those beyond it never do.
void ImportOnnxAverage(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  auto window = ReadOnnxWindow(node, node.Ints("kernel_shape", {}));
  if (!window) return;
  if (window->dilated()) return node.Error("dilations of an average must be 1");
  if (node.Int("count_include_pad", 0) != 0) {
    std::vector<int64_t> before = {0, 0}, after = {0, 0};
    before.insert(before.end(), window->before.begin(), window->before.end());
    after.insert(after.end(), window->after.begin(), window->after.end());
    node.set_input(0, node.Emit(Op::kPad, {node.input(0)}, {{"before", before}, {"after", after}}));
    window->before.assign(window->rank(), 0);
    window->after.assign(window->rank(), 0);
  }
  if (!node.failed()) node.SetOutput(0, EmitOnnxPool(node, Op::kAveragePool2d, *window));
}

/// A pool with dilations: along each dimension the cells of each window are gathered, and their maximum taken. For a
/// cell of the padding stands another cell of its window.
TensorId EmitOnnxDilatedMax(frontend::OnnxNode& node, const OnnxWindow& window) {
  const OnnxExpression e(node);
  TensorId x = node.input(0);
  for (size_t i = 0; i < window.rank() && !node.failed(); ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const int64_t size = node.dims(x)[i + 2], k = window.kernel[i], d = window.dilations[i];
    const int64_t room = size + window.before[i] + window.after[i] + window.beyond[i] - (k - 1) * d - 1;
    const int64_t out = room < 0 ? 0 : room / window.strides[i] + 1;
    if (!MayMake(node, DataType::kInt64, {out, k}, x)) return kNoTensor;
    std::vector<int64_t> cells;
    for (int64_t o = 0; o < out; ++o) {
      std::optional<int64_t> valid;
      for (int64_t c = 0; c < k; ++c) {
        const int64_t at = o * window.strides[i] - window.before[i] + c * d;
        if (!valid && at >= 0 && at < size) valid = at;
      }
      for (int64_t c = 0; c < k; ++c) {
        const int64_t at = o * window.strides[i] - window.before[i] + c * d;
        if (!valid) return node.Error("has a window that lies wholly in the padding"), kNoTensor;
        cells.push_back(at >= 0 && at < size ? at : *valid);
      }
    }
    if (out < 1) return node.Error("has a window that is larger than the padded input"), kNoTensor;
    const TensorId index = e.Indices(cells, {static_cast<int32_t>(out), static_cast<int32_t>(k)});
    const TensorId gathered = node.Emit(Op::kGather, {x, index}, {{"axis", axis}});
    std::vector<int32_t> dims = node.dims(x);
    dims[i + 2] = static_cast<int32_t>(out);
    x = node.Reshape(e.Reduce("maximum", gathered, {axis + 1}), dims);
  }
  return x;
}

void ImportOnnxMax(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const auto window = ReadOnnxWindow(node, node.Ints("kernel_shape", {}));
  if (!window) return;
  node.SetOutput(0,
                 window->dilated() ? EmitOnnxDilatedMax(node, *window) : EmitOnnxPool(node, Op::kMaxPool2d, *window));
}

void ImportOnnxGlobalMax(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  const size_t rank = node.dims(node.input(0)).size();
  std::vector<int64_t> axes;
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  if (rank != 4) return node.SetOutput(0, OnnxExpression(node).Reduce("maximum", node.input(0), axes));
  OnnxWindow window;
  window.kernel = {node.dims(node.input(0))[2], node.dims(node.input(0))[3]};
  window.strides = window.dilations = {1, 1};
  window.before = window.after = window.beyond = {0, 0};
  node.SetOutput(0, EmitOnnxPool(node, Op::kMaxPool2d, window));
}

/// (sum of |x|^p)^(1/p) over each window: an average times the number of cells, where padding counts as 0.
void ImportOnnxLp(frontend::OnnxNode& node) {
  if (!node.CheckInputs(1, 1) || !node.CheckOutputs(1)) return;
  auto window = ReadOnnxWindow(node, node.Ints("kernel_shape", {}));
  if (!window) return;
  const OnnxExpression e(node);
  const auto p = static_cast<double>(node.Int("p", 2));
  double cells = 1;
  for (int64_t k : window->kernel) cells *= static_cast<double>(k);
  std::vector<int64_t> before = {0, 0}, after = {0, 0};
  for (size_t i = 0; i < window->rank(); ++i) {
    before.push_back(window->before[i]);
    after.push_back(window->after[i] + window->beyond[i]);
    window->before[i] = window->after[i] = window->beyond[i] = 0;
  }
  const TensorId x = e.Unary("abs", node.input(0));
  const TensorId powers = e.Binary("power", x, e.Scalar(x, p));
  node.set_input(0, node.Emit(Op::kPad, {powers}, {{"before", before}, {"after", after}}));
  if (node.failed()) return;
  const TensorId mean = EmitOnnxPool(node, Op::kAveragePool2d, *window);
  node.SetOutput(0, e.Binary("power", e.Multiply(mean, e.Scalar(mean, cells)), e.Scalar(mean, 1 / p)));
}

constexpr AttributeRule kAttributes[] = {{"kernel", AttributeKind::kInts, true},
                                         {"strides", AttributeKind::kInts, true},
                                         {"pads", AttributeKind::kInts, true},
                                         {"activation", AttributeKind::kString, false}};
constexpr TfliteImport kAverageTflite[] = {{1, "AVERAGE_POOL_2D", ImportAverage}, {12, "L2_POOL_2D", ImportL2}};
constexpr TfliteImport kMaxTflite[] = {{17, "MAX_POOL_2D", ImportMax}};
constexpr OnnxImport kAverageOnnx[] = {{"AveragePool", 1, ImportOnnxAverage}, {"LpPool", 2, ImportOnnxLp}};
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
