#include "converter/report/model_report.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/core/op.h"
#include "schema/plan_generated.h"

namespace takt::report {
namespace {

std::string OutputText(const ir::Tensor& tensor) {
  std::string text = absl::StrCat(schema::EnumNameDataType(static_cast<schema::DataType>(tensor.type)), "[",
                                  absl::StrJoin(tensor.dims, ","), "]");
  if (tensor.quantization.has_value() && tensor.quantization->scales.size() == 1) {
    absl::StrAppendFormat(&text, " scale %g", tensor.quantization->scales[0]);
    if (!tensor.quantization->zero_points.empty()) {
      absl::StrAppend(&text, " zero point ", tensor.quantization->zero_points[0]);
    }
  }
  return text;
}

}  // namespace

ModelReport ReportModel(const std::vector<std::string>& operators, const ir::Graph* imported,
                        const Diagnostics& diagnostics) {
  ModelReport report;
  std::map<int, ModelOp> ops;
  for (size_t i = 0; i < operators.size(); ++i) {
    const int index = static_cast<int>(i);
    ops[index].node = index;
    ops[index].name = operators[i];
  }
  for (size_t i = 0; imported != nullptr && i < imported->nodes.size(); ++i) {
    const ir::Node& node = imported->nodes[i];
    const int index = node.sources.empty() ? -1 : node.sources.front();
    ModelOp& op = ops[index];
    op.node = index;
    absl::StrAppend(&op.becomes, op.becomes.empty() ? "" : "+", OpName(node.op));
    op.outputs.clear();  // Those of its last node are the operator's.
    for (ir::TensorId output : node.outputs) {
      if (output != ir::kNoTensor) op.outputs.push_back(OutputText(imported->tensor(output)));
    }
  }
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    const bool error = diagnostic.severity == Severity::kError;
    if (error) report.converts = false;
    if (diagnostic.where.node < 0) {
      report.messages.push_back(diagnostic.ToString());
      continue;
    }
    ModelOp& op = ops[diagnostic.where.node];
    op.node = diagnostic.where.node;
    if (op.name.empty()) op.name = diagnostic.where.node_name;
    if (error) op.converts = false;
    op.messages.push_back(diagnostic.ToString());
  }
  for (auto& [index, op] : ops) report.ops.push_back(std::move(op));
  return report;
}

nlohmann::ordered_json ModelJson(const ModelReport& report) {
  nlohmann::ordered_json json = {{"converts", report.converts}, {"messages", report.messages}};
  json["ops"] = nlohmann::ordered_json::array();
  for (const ModelOp& op : report.ops) {
    json["ops"].push_back({{"node", op.node},
                           {"name", op.name},
                           {"becomes", op.becomes},
                           {"outputs", op.outputs},
                           {"converts", op.converts},
                           {"messages", op.messages}});
  }
  return json;
}

std::string ModelText(const ModelReport& report) {
  std::string text = report.converts ? "converts\n" : "does not convert\n";
  for (const ModelOp& op : report.ops) {
    absl::StrAppendFormat(&text, "%4d  %-4s %-22s %-22s %s\n", op.node, op.converts ? "yes" : "NO", op.name, op.becomes,
                          absl::StrJoin(op.outputs, ", "));
    for (const std::string& message : op.messages) absl::StrAppend(&text, "           ", message, "\n");
  }
  for (const std::string& message : report.messages) absl::StrAppend(&text, message, "\n");
  return text;
}

}  // namespace takt::report
