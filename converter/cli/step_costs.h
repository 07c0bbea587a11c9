// Costs of a CPU target's steps: bench --write-costs makes them, convert --costs uses them.
#ifndef TAKT_CONVERTER_CLI_STEP_COSTS_H_
#define TAKT_CONVERTER_CLI_STEP_COSTS_H_

#include <string>
#include <vector>

#include "converter/backend/step_costs.h"
#include "converter/cli/measure.h"
#include "converter/cli/model.h"

namespace takt::cli {

/// The file of --costs, made for `target`; throws InputError.
backend::StepCosts LoadStepCosts(const std::string& path, const std::string& target);

/// Runs models, whole and cut into short steps, and plans on this host and writes to `path` what each kernel's steps
/// cost: of each step the median over the measured invocations, of all FitCost. Throws InputError.
void Calibrate(const std::vector<std::string>& files, const ModelOptions& model, const MeasureOptions& measure,
               const std::string& path);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_STEP_COSTS_H_
