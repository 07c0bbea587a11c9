// A model file and how it is to be converted: the options that verbs share, and the conversion.
#ifndef TAKT_CONVERTER_CLI_MODEL_H_
#define TAKT_CONVERTER_CLI_MODEL_H_

#include <optional>
#include <string>
#include <vector>

#include "converter/backend/convert.h"
#include "converter/cli/calibration.h"
#include "converter/cli/npu_options.h"
#include "converter/cli/verbs.h"

namespace takt::cli {

struct ModelOptions {
  std::string file, input_layout = "nchw", costs;
  std::vector<std::string> shapes;
  std::vector<std::string> constants;
  CalibrationOptions calibration;
  NpuOptions npu;
  ConvertOptions convert;
  std::vector<const CLI::Option*> conversion;  ///< What AddModelOptions added.
};

/// --numerics.
void AddNumericsOption(CLI::App& verb, Numerics& numerics);
/// --shape, --signature, --max-trips, --input-layout: what the import of a model may want.
void AddImportOptions(CLI::App& verb, ModelOptions& options);
/// Every option but the file: numerics, shapes, calibration, target and machine.
void AddModelOptions(CLI::App& verb, ModelOptions& options);

struct ConvertedModel {
  Conversion made;
  std::optional<npu::MachineDescription> machine;  ///< Of targets that are NPUs.
};
/// The bytes of `options.file`, a model or a plan. Throws UsageError if an option is given that says how to convert a
/// plan, which was converted already; InputError.
std::vector<uint8_t> ReadModelOrPlan(const ModelOptions& options);
/// Errors of the model are in `made.diagnostics`; those of files and options are thrown as InputError.
ConvertedModel ConvertModel(ModelOptions options);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_MODEL_H_
