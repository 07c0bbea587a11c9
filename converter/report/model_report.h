// A TFLite model op by op: what it is, and whether it converts.
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
  std::string name;                  ///< "conv2d"; the model's own name if it does not convert.
  std::vector<std::string> outputs;  ///< "int8[1,49,10,8] scale 0.1 zero point -128"
  bool converts = true;
  std::vector<std::string> messages;
};

struct ModelReport {
  std::vector<ModelOp> ops;
  std::vector<std::string> messages;  ///< Those that name no op.
  bool converts = true;
};

/// `imported`: the graph before any pass; `diagnostics`: those of the whole conversion.
ModelReport ReportModel(const ir::Graph& imported, const Diagnostics& diagnostics);
nlohmann::ordered_json ModelJson(const ModelReport& report);
std::string ModelText(const ModelReport& report);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_MODEL_REPORT_H_
