// A plan beside the float model that it was made from, layer by layer.
#ifndef TAKT_CONVERTER_CLI_LAYERS_H_
#define TAKT_CONVERTER_CLI_LAYERS_H_

#include <string>

#include "converter/cli/data/samples.h"
#include "converter/cli/model.h"
#include "converter/report/accuracy_report.h"

namespace takt::cli {

struct LayerOptions {
  ModelOptions model;  ///< The float model, or a float plan of it.
  std::string plan;
  SampleOptions samples;
  std::string port = "reference";
  double least_db = 10;
};

/// Runs both on all samples, the plan twice: as it is, and each step on the float model's values. Throws InputError.
report::AccuracyReport CompareLayers(const LayerOptions& options);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_LAYERS_H_
