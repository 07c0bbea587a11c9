// Options of `takt convert` that quantize a float model, by samples.
#ifndef TAKT_CONVERTER_CLI_CALIBRATION_H_
#define TAKT_CONVERTER_CLI_CALIBRATION_H_

#include <optional>
#include <string>

#include "converter/backend/convert.h"
#include "converter/cli/data/samples.h"
#include "converter/cli/verbs.h"

namespace takt::cli {

struct CalibrationOptions {
  SampleOptions samples;  ///< None: no quantization.
  quant::Options quant;
  std::string io = "float", max_drop;
  bool fold_normalization = false;
};

void AddCalibrationOptions(CLI::App& verb, CalibrationOptions& options);
/// Nothing without samples. Throws InputError if it can't be read.
std::optional<Calibration> MakeCalibration(const CalibrationOptions& options);
/// int8, int16x8 or float.
std::string PrecisionName(quant::Precision precision);
/// Every quantized tensor, the worst first, and the layers that do most damage; "" without any.
std::string AccuracyText(const quant::Report& report, size_t most);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_CALIBRATION_H_
