// max_pool_argmax2d: as max_pool2d. max_unpool2d: kernel, strides, pads, size (rows and columns of the output).
#include <cstring>

#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/window.h"

namespace takt::ir {
namespace {

std::string InferPool(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  if (input.type != DataType::kFloat32) return "takes float32";
  int32_t height = 0;
  int32_t width = 0;
  std::string error = WindowOutput(input, node, node.Ints("kernel"), height, width);
  if (!error.empty()) return error;
  const TensorType y = {input.type, {input.dims[0], height, width, input.dims[3]}};
  outputs = {y, y};
  return "";
}

std::string InferUnpool(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const Tensor& places = graph.tensor(node.inputs[1]);
  const auto& size = node.Ints("size");
  if (input.type != DataType::kFloat32 || places.type != DataType::kFloat32) return "takes float32";
  if (input.dims.size() != 4) return "input must have rank 4 (NHWC)";
  if (places.dims != input.dims)
    return "places of shape " + DimsText(places.dims) + " differ from the input's " + DimsText(input.dims);
  if (size.size() != 2) return "size has one value for rows and one for columns";
  outputs = {
      {input.type, {input.dims[0], static_cast<int32_t>(size[0]), static_cast<int32_t>(size[1]), input.dims[3]}}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto& kernel = node.Ints("kernel");
  const schema::Pool2dParams params(PlanWindow(node),
                                    StoredClamp(node.StringOr("activation", "none"), step.tensor(node.outputs[0])),
                                    static_cast<uint16_t>(kernel[0]), static_cast<uint16_t>(kernel[1]));
  step.Set(node.op, Numerics::kAny, params, node.inputs, node.outputs);
}

/// The options of MediaPipe's operators: int32 padding (1: same, 2: valid), width and height of the stride, then of the
/// window, fused activation.
struct CustomOptions {
  bool same = false;
  std::vector<int64_t> strides, kernel;
  tflite::ActivationFunctionType activation = tflite::ActivationFunctionType::NONE;
};
std::optional<CustomOptions> ReadOptions(frontend::TfliteNode& node) {
  int32_t given[6] = {};
  if (node.custom_options().size() < sizeof(given)) {
    node.Error("has options of fewer than 24 bytes");
    return std::nullopt;
  }
  std::memcpy(given, node.custom_options().data(), sizeof(given));
  constexpr int32_t kMost = 256;
  bool ok = given[0] == 1 || given[0] == 2;
  for (int i = 1; i < 5; ++i) ok = ok && given[i] >= 1 && given[i] <= kMost;
  if (!ok || node.tensor(node.input(0)).dims.size() != 4) {
    node.Error("has padding " + std::to_string(given[0]) +
               ", strides or windows outside of 1 to 256, or an input that "
               "is not NHWC; padding is 1 or 2");
    return std::nullopt;
  }
  return CustomOptions{
      given[0] == 1, {given[2], given[1]}, {given[4], given[3]}, static_cast<tflite::ActivationFunctionType>(given[5])};
}

void ImportPool(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 2)) return;
  const auto options = ReadOptions(node);
  if (!options) return;
  const auto pads = ExplicitPads(node.tensor(node.input(0)), options->same, options->kernel, options->strides, {1, 1});
  node.Add(Op::kMaxPoolArgmax2d, {node.input(0)},
           {{"kernel", options->kernel},
            {"strides", options->strides},
            {"pads", pads},
            {"activation", node.Activation(options->activation)}});
}

/// The output has a window's size for each cell of the input; pads as a pool of the output would have.
void ImportUnpool(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto options = ReadOptions(node);
  if (!options) return;
  const std::vector<int32_t>& in = node.tensor(node.input(0)).dims;
  std::vector<int64_t> size, pads(4);
  for (size_t i = 0; i < 2; ++i) {
    size.push_back(in[i + 1] * options->kernel[i]);
    const int64_t missing = (in[i + 1] - 1) * options->strides[i] + options->kernel[i] - size[i];
    pads[i] = missing > 0 ? missing / 2 : 0;
    pads[i + 2] = missing > 0 ? missing - pads[i] : 0;
  }
  node.Add(Op::kMaxUnpool2d, {node.input(0), node.input(1)},
           {{"kernel", options->kernel}, {"strides", options->strides}, {"pads", pads}, {"size", size}});
}

constexpr AttributeRule kPoolAttributes[] = {{"kernel", AttributeKind::kInts, true},
                                             {"strides", AttributeKind::kInts, true},
                                             {"pads", AttributeKind::kInts, true},
                                             {"activation", AttributeKind::kString, false}};
constexpr AttributeRule kUnpoolAttributes[] = {{"kernel", AttributeKind::kInts, true},
                                               {"strides", AttributeKind::kInts, true},
                                               {"pads", AttributeKind::kInts, true},
                                               {"size", AttributeKind::kInts, true}};
constexpr TfliteImport kPoolTflite[] = {{32, "MaxPoolingWithArgmax2D", ImportPool}};
constexpr TfliteImport kUnpoolTflite[] = {{32, "MaxUnpooling2D", ImportUnpool}};

}  // namespace

extern const OpDef kMaxPoolArgmax2dDef;
extern const OpDef kMaxUnpool2dDef;
const OpDef kMaxPoolArgmax2dDef = {Op::kMaxPoolArgmax2d, kPoolAttributes, InferPool, Lower, kPoolTflite};
const OpDef kMaxUnpool2dDef = {Op::kMaxUnpool2d, kUnpoolAttributes, InferUnpool, Lower, kUnpoolTflite};

}  // namespace takt::ir
