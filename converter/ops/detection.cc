// detection_post_process: the fields of DetectionParams, by their names in the schema.
#include "converter/frontend/custom_options.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor &boxes = graph.tensor(node.inputs[0]), &scores = graph.tensor(node.inputs[1]);
  const Tensor& anchors = graph.tensor(node.inputs[2]);
  const int64_t classes = node.Int("classes"), most = node.Int("max_detections"), each = node.Int("max_classes");
  for (const Tensor* t : {&boxes, &scores, &anchors})
    if (t->type != DataType::kFloat32) return "takes float32";
  if (boxes.dims.size() != 3 || boxes.dims[0] != 1 || boxes.dims[2] < 4)
    return "box encodings of shape " + DimsText(boxes.dims) + "; they have [1, boxes, 4 or more]";
  if (scores.dims.size() != 3 || scores.dims[0] != 1 || scores.dims[1] != boxes.dims[1] ||
      scores.dims[2] - classes < 0 || scores.dims[2] - classes > 1)
    return "scores of shape " + DimsText(scores.dims) + "; they have [1, " + std::to_string(boxes.dims[1]) + ", " +
           std::to_string(classes) + " classes, and perhaps the background]";
  if (anchors.dims != std::vector<int32_t>{boxes.dims[1], 4})
    return "anchors of shape " + DimsText(anchors.dims) + "; they have 4 values for each box";
  constexpr int64_t kMost = 1 << 20;
  if (most < 1 || each < 1 || most > kMost || each > kMost || most * each > kMost)
    return "detects up to " + std::to_string(most) + " boxes of " + std::to_string(each) +
           " classes; allowed are 1 to 2^20 in all";
  const auto count = static_cast<int32_t>(most * each);
  const DataType type = DataType::kFloat32;
  outputs = {{type, {1, count, 4}}, {type, {1, count}}, {type, {1, count}}, {type, {1}}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto real = [&node](const char* name) { return static_cast<float>(node.FloatOr(name, 0)); };
  const auto whole = [&node](const char* name) { return static_cast<int32_t>(node.Int(name)); };
  const schema::DetectionParams params(real("y_scale"), real("x_scale"), real("h_scale"), real("w_scale"),
                                       real("score_threshold"), real("iou_threshold"), whole("max_detections"),
                                       whole("max_classes"), whole("per_class"), whole("classes"),
                                       node.Int("regular") != 0);
  step.Set(Op::kDetectionPostProcess, Numerics::kAny, params, node.inputs, node.outputs);
}

std::optional<std::map<std::string, Attribute>> ReadOptions(frontend::TfliteNode& node) {
  constexpr std::pair<const char*, const char*> kReals[] = {{"y_scale", "y_scale"},
                                                            {"x_scale", "x_scale"},
                                                            {"h_scale", "h_scale"},
                                                            {"w_scale", "w_scale"},
                                                            {"score_threshold", "nms_score_threshold"},
                                                            {"iou_threshold", "nms_iou_threshold"}};
  struct Integer {
    const char *attribute, *option;
    std::optional<int64_t> otherwise;
  };
  const Integer integers[] = {{"max_detections", "max_detections", std::nullopt},
                              {"max_classes", "max_classes_per_detection", std::nullopt},
                              {"per_class", "detections_per_class", 100},
                              {"classes", "num_classes", std::nullopt},
                              {"regular", "use_regular_nms", 0}};
  frontend::CustomOptions options(node);
  std::map<std::string, Attribute> attributes;
  for (const auto& [attribute, option] : kReals) {
    const auto value = options.Real(option);
    if (!value) return std::nullopt;
    attributes[attribute] = *value;
  }
  for (const Integer& i : integers) {
    const auto value = options.Int(i.option, 0, INT32_MAX, i.otherwise);
    if (!value) return std::nullopt;
    attributes[i.attribute] = *value;
  }
  return attributes;
}

void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, 4)) return;
  auto attributes = ReadOptions(node);
  if (!attributes) return;
  std::vector<TensorId> inputs;
  for (int i = 0; i < 3; ++i) inputs.push_back(node.ToFloat(node.input(i)));
  node.Add(Op::kDetectionPostProcess, inputs, std::move(*attributes));
}

constexpr AttributeRule kAttributes[] = {{"y_scale", AttributeKind::kFloat, true},
                                         {"x_scale", AttributeKind::kFloat, true},
                                         {"h_scale", AttributeKind::kFloat, true},
                                         {"w_scale", AttributeKind::kFloat, true},
                                         {"score_threshold", AttributeKind::kFloat, true},
                                         {"iou_threshold", AttributeKind::kFloat, true},
                                         {"max_detections", AttributeKind::kInt, true},
                                         {"max_classes", AttributeKind::kInt, true},
                                         {"per_class", AttributeKind::kInt, true},
                                         {"classes", AttributeKind::kInt, true},
                                         {"regular", AttributeKind::kInt, true}};
constexpr TfliteImport kTflite[] = {{32, "TFLite_Detection_PostProcess", Import}};

}  // namespace

extern const OpDef kDetectionPostProcessDef;
const OpDef kDetectionPostProcessDef = {Op::kDetectionPostProcess, kAttributes, Infer, Lower, kTflite};

}  // namespace takt::ir
