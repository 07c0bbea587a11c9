// A model op by op: what it becomes, and whether it converts.
#ifndef TAKT_CONVERTER_REPORT_MODEL_REPORT_H_
#define TAKT_CONVERTER_REPORT_MODEL_REPORT_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"

namespace takt::report {

struct ModelOp {
  int node = -1;                     ///< Index in the model.
  std::string name;                  ///< As the model has it: "CONV_2D".
  std::string becomes;               ///< "pad+conv2d"; empty if it leaves no node, or none was made.
  std::vector<std::string> outputs;  ///< "int8[1,49,10,8] scale 0.1 zero point -128"
  bool converts = true;
  std::vector<std::string> messages;
};

struct ModelReport {
  std::vector<ModelOp> ops;
  std::vector<std::string> messages;  ///< Those that name no op.
  bool converts = true;
};

/// `operators`: the model's, by index; `imported`: the graph before any pass, or nullptr; `diagnostics`: those of the
/// whole conversion.
ModelReport ReportModel(const std::vector<std::string>& operators, const ir::Graph* imported,
                        const Diagnostics& diagnostics);
nlohmann::ordered_json ModelJson(const ModelReport& report);
std::string ModelText(const ModelReport& report);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_MODEL_REPORT_H_
