// detection_post_process: the fields of DetectionParams, by their names in the schema. non_max_suppression: those of
// its params, and max_outputs.
#include "converter/frontend/custom_options.h"
#include "converter/ir/constants.h"
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

std::string InferNonMaxSuppression(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor &boxes = graph.tensor(node.inputs[0]), &scores = graph.tensor(node.inputs[1]);
  if (boxes.type != DataType::kFloat32 || scores.type != DataType::kFloat32) return "takes float32";
  if (boxes.dims.size() != 2 || boxes.dims[1] != 4)
    return "boxes of shape " + DimsText(boxes.dims) + "; they have [boxes, 4]";
  if (scores.dims != std::vector<int32_t>{boxes.dims[0]})
    return "scores of shape " + DimsText(scores.dims) + "; there is one for each of " + std::to_string(boxes.dims[0]) +
           " boxes";
  const int64_t most = node.Int("max_outputs");
  if (most < 1 || most > 1 << 20) return "selects up to " + std::to_string(most) + " boxes; allowed are 1 to 2^20";
  const double overlap = node.FloatOr("iou_threshold", 0);
  if (!(overlap >= 0 && overlap <= 1)) return "iou_threshold must be within 0 and 1";
  if (!(node.FloatOr("sigma", 0) >= 0)) return "sigma must not be negative";
  const auto count = static_cast<int32_t>(most);
  outputs = {{DataType::kInt32, {count}}, {DataType::kFloat32, {count}}, {DataType::kInt32, {}}};
  return "";
}

void LowerNonMaxSuppression(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto real = [&node](const char* name) { return static_cast<float>(node.FloatOr(name, 0)); };
  const schema::NonMaxSuppressionParams params(real("iou_threshold"), real("score_threshold"), real("sigma"));
  step.Set(Op::kNonMaxSuppression, Numerics::kAny, params, node.inputs, node.outputs);
}

/// Version 5 also gives the scores, which its last input, sigma, makes fall.
template <int kVersion>
void ImportNonMaxSuppression(frontend::TfliteNode& node) {
  constexpr int kReals = kVersion == 5 ? 3 : 2, kOutputs = kVersion == 5 ? 3 : 2;
  if (!node.CheckArity(3 + kReals, 3 + kReals, kOutputs)) return;
  const auto most = node.ConstantInts(2);
  if (!most) return;
  if (most->size() != 1) return node.Error("input 2 must be one number: how many boxes it selects", node.input(2));
  std::map<std::string, Attribute> attributes = {{"max_outputs", (*most)[0]}};
  const char* names[] = {"iou_threshold", "score_threshold", "sigma"};
  for (int i = 0; i < kReals; ++i) {
    const Tensor& t = node.tensor(node.input(3 + i));
    const auto value = t.is_constant() ? RealValues(t) : std::nullopt;
    if (!value || value->size() != 1)
      return node.Error(std::string(names[i]) + " must be one constant number; make it one when exporting",
                        node.input(3 + i));
    attributes[names[i]] = static_cast<double>((*value)[0]);
  }
  const auto count = static_cast<int32_t>((*most)[0]);
  Tensor scores = Tensor();
  scores.type = DataType::kFloat32;
  scores.dims = {count};
  if (kVersion == 5 && node.tensor(node.output(1)).type != DataType::kFloat32)
    return node.Error("gives scores that are not float32; keep it in float32", node.output(1));
  if (!node.SetDims(0, {count}) || !node.SetDims(kOutputs - 1, {}) || (kVersion == 5 && !node.SetDims(1, {count})))
    return;
  node.AddTo(
      Op::kNonMaxSuppression, {node.ToFloat(node.input(0)), node.ToFloat(node.input(1))},
      {node.output(0), kVersion == 5 ? node.output(1) : node.NewTensor(scores, "/scores"), node.output(kOutputs - 1)},
      std::move(attributes));
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
constexpr AttributeRule kSuppressionAttributes[] = {{"max_outputs", AttributeKind::kInt, true},
                                                    {"iou_threshold", AttributeKind::kFloat, true},
                                                    {"score_threshold", AttributeKind::kFloat, true},
                                                    {"sigma", AttributeKind::kFloat, false}};
constexpr TfliteImport kSuppressionTflite[] = {{120, "NON_MAX_SUPPRESSION_V4", ImportNonMaxSuppression<4>},
                                               {121, "NON_MAX_SUPPRESSION_V5", ImportNonMaxSuppression<5>}};

}  // namespace

extern const OpDef kDetectionPostProcessDef;
const OpDef kDetectionPostProcessDef = {Op::kDetectionPostProcess, kAttributes, Infer, Lower, kTflite};
extern const OpDef kNonMaxSuppressionDef;
const OpDef kNonMaxSuppressionDef = {Op::kNonMaxSuppression, kSuppressionAttributes, InferNonMaxSuppression,
                                     LowerNonMaxSuppression, kSuppressionTflite};

}  // namespace takt::ir
