#include "converter/frontend/operator_list.h"

#include <onnx/onnx_pb.h>

#include <algorithm>

#include "schema/tflite_generated.h"

namespace takt::frontend {
namespace {

std::string NameOf(const tflite::Model& model, const tflite::Operator& op) {
  const auto* codes = model.operator_codes();
  if (codes == nullptr || op.opcode_index() >= codes->size()) return "?";
  const tflite::OperatorCode& code = *codes->Get(op.opcode_index());
  const int builtin = std::max<int>(code.deprecated_builtin_code(), static_cast<int>(code.builtin_code()));
  std::string name = tflite::EnumNameBuiltinOperator(static_cast<tflite::BuiltinOperator>(builtin));
  if (name.empty()) name = "operator " + std::to_string(builtin);
  if (name == "CUSTOM" && code.custom_code() != nullptr) name += " " + code.custom_code()->str();
  return name;
}

}  // namespace

std::vector<std::string> TfliteOperatorList(std::span<const uint8_t> bytes) {
  std::vector<std::string> names;
  const std::vector<uint8_t> aligned(bytes.begin(), bytes.end());
  flatbuffers::Verifier verifier(aligned.data(), aligned.size());
  if (aligned.size() < 16 || !tflite::ModelBufferHasIdentifier(aligned.data()) || !tflite::VerifyModelBuffer(verifier))
    return names;
  const tflite::Model& model = *tflite::GetModel(aligned.data());
  const auto* graphs = model.subgraphs();
  if (graphs == nullptr || graphs->size() == 0 || graphs->Get(0)->operators() == nullptr) return names;
  for (const tflite::Operator* op : *graphs->Get(0)->operators()) names.push_back(NameOf(model, *op));
  return names;
}

std::vector<std::string> OnnxOperatorList(std::span<const uint8_t> bytes) {
  std::vector<std::string> names;
  onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return names;
  for (const onnx::NodeProto& node : model.graph().node()) names.push_back(node.op_type());
  return names;
}

}  // namespace takt::frontend
