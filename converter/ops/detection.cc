// detection_post_process: the fields of DetectionParams, by their names in the schema.
#include <flatbuffers/flexbuffers.h>

#include "converter/frontend/tflite_node.h"
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

/// The operator's options: a FlexBuffer's map.
std::optional<std::map<std::string, Attribute>> ReadOptions(frontend::TfliteNode& node) {
  const Bytes bytes(node.custom_options().begin(), node.custom_options().end());  // Aligned, as the format wants it.
  const bool readable = bytes.size() >= 3 && flexbuffers::VerifyBuffer(bytes.data(), bytes.size());
  if (!readable || !flexbuffers::GetRoot(bytes.data(), bytes.size()).IsMap()) {
    node.Error("has options that are no FlexBuffer of named values; the file is damaged");
    return std::nullopt;
  }
  const auto map = flexbuffers::GetRoot(bytes.data(), bytes.size()).AsMap();
  const auto whole = [&map](const char* name, int64_t fallback) {
    return map[name].IsNull() ? fallback : map[name].AsInt64();
  };
  const auto real = [&map](const char* name) { return map[name].AsDouble(); };
  constexpr int64_t kPerClass = 100;
  return std::map<std::string, Attribute>{{"y_scale", real("y_scale")},
                                          {"x_scale", real("x_scale")},
                                          {"h_scale", real("h_scale")},
                                          {"w_scale", real("w_scale")},
                                          {"score_threshold", real("nms_score_threshold")},
                                          {"iou_threshold", real("nms_iou_threshold")},
                                          {"max_detections", whole("max_detections", 0)},
                                          {"max_classes", whole("max_classes_per_detection", 0)},
                                          {"per_class", whole("detections_per_class", kPerClass)},
                                          {"classes", whole("num_classes", 0)},
                                          {"regular", int64_t{map["use_regular_nms"].AsBool()}}};
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
