// resize_bilinear, resize_nearest: size (height, width), coordinates (asymmetric, align_corners, half_pixel).
#include <algorithm>
#include <iterator>

#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/onnx_resize.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

constexpr const char* kCoordinates[] = {"asymmetric", "align_corners", "half_pixel"};

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  const auto& size = node.Ints("size");
  const std::string coordinates = node.StringOr("coordinates", "");
  if (input.dims.size() != 4) return "the input has shape " + DimsText(input.dims) + "; it must have 4 dimensions";
  const auto fits = [](int64_t n) { return n >= 1 && n <= 65536; };
  if (size.size() != 2 || !fits(size[0]) || !fits(size[1]) || !fits(input.dims[1]) || !fits(input.dims[2]))
    return "height and width must be two values of 1 to 65536";
  if (std::find(std::begin(kCoordinates), std::end(kCoordinates), coordinates) == std::end(kCoordinates))
    return "coordinates are asymmetric, align_corners or half_pixel, not " + coordinates;
  outputs = {
      {input.type, {input.dims[0], static_cast<int32_t>(size[0]), static_cast<int32_t>(size[1]), input.dims[3]}}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  if (!SameQuantization(step.tensor(node.inputs[0]), step.tensor(node.outputs[0])))
    return step.Error("a resize keeps its input's quantization; give its output the same", node.outputs[0]);
  const auto* at = std::find(std::begin(kCoordinates), std::end(kCoordinates), node.StringOr("coordinates", ""));
  const schema::ResizeParams params(static_cast<schema::ResizeCoordinates>(at - std::begin(kCoordinates)));
  const bool rounds = node.op == Op::kResizeBilinear;
  step.Set(node.op, rounds ? StepNumerics(step, node.inputs[0]) : Numerics::kAny, params, node.inputs, node.outputs);
}

template <typename Options>
void Import(frontend::TfliteNode& node, Op op) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto* options = node.options<Options>();
  const bool corners = options != nullptr && options->align_corners();
  const bool half_pixel = options != nullptr && options->half_pixel_centers();
  if (corners && half_pixel) return node.Error("has both align_corners and half_pixel_centers; allowed is one of them");
  const auto& recorded = node.tensor(node.output(0)).dims;
  std::vector<int64_t> size;
  if (node.tensor(node.input(1)).is_constant()) {
    const auto given = node.ConstantInts(1);
    if (!given) return;
    size = *given;
  } else if (recorded.size() == 4) {  // The size is computed from static shapes.
    size = {recorded[1], recorded[2]};
  }
  node.Add(op, {node.input(0)},
           {{"size", size},
            {"coordinates", std::string(kCoordinates[corners      ? 1
                                                     : half_pixel ? 2
                                                                  : 0])}});
}

void ImportBilinear(frontend::TfliteNode& node) {
  Import<tflite::ResizeBilinearOptions>(node, Op::kResizeBilinear);
}
void ImportNearest(frontend::TfliteNode& node) {
  Import<tflite::ResizeNearestNeighborOptions>(node, Op::kResizeNearest);
}

constexpr AttributeRule kAttributes[] = {{"size", AttributeKind::kInts, true},
                                         {"coordinates", AttributeKind::kString, true}};
constexpr TfliteImport kBilinearTflite[] = {{23, "RESIZE_BILINEAR", ImportBilinear}};
constexpr TfliteImport kNearestTflite[] = {{97, "RESIZE_NEAREST_NEIGHBOR", ImportNearest}};

constexpr OnnxImport kNearestOnnx[] = {
    {"Upsample", 1, ImportOnnxUpsample}, {"Resize", 10, ImportOnnxResize10}, {"Resize", 11, ImportOnnxResize11}};

}  // namespace

extern const OpDef kResizeBilinearDef;
extern const OpDef kResizeNearestDef;
const OpDef kResizeBilinearDef = {Op::kResizeBilinear, kAttributes, Infer, Lower, kBilinearTflite};
const OpDef kResizeNearestDef = {Op::kResizeNearest, kAttributes,     Infer,       Lower,
                                 kNearestTflite,     NpuClass::kNone, kNearestOnnx};

}  // namespace takt::ir
