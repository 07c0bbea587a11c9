#include "converter/cli/calibration.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/cli/files.h"
#include "converter/ir/constants.h"

namespace takt::cli {
namespace {

std::vector<InputShape> InputShapes(const ir::Graph& graph) {
  std::vector<InputShape> shapes;
  for (ir::TensorId id : graph.inputs) {
    const ir::Tensor& input = graph.tensor(id);
    if (input.type != DataType::kFloat32)
      throw InputError(absl::StrCat("input '", input.name, "' is not float32; only float models are quantized"));
    shapes.push_back({input.name, input.dims});
  }
  return shapes;
}

const std::map<std::string, quant::Observer> kObservers = {{"minmax", quant::Observer::kMinMax},
                                                           {"average", quant::Observer::kMovingAverage},
                                                           {"percentile", quant::Observer::kPercentile},
                                                           {"entropy", quant::Observer::kEntropy},
                                                           {"mse", quant::Observer::kMse}};

}  // namespace

void AddCalibrationOptions(CLI::App& verb, CalibrationOptions& options) {
  auto* data = AddSampleOptions(verb, options.samples, "--calibrate", "Quantizes a float model to int8, by samples");
  verb.add_option("--observer", options.quant.observer,
                  "How ranges follow from the samples: minmax, average, percentile, entropy, mse")
      ->transform(CLI::CheckedTransformer(kObservers))
      ->needs(data);
  verb.add_option("--percentile", options.quant.share, "Share of values that the percentile observer keeps at each end")
      ->check(CLI::Range(0.5, 1.0))
      ->needs(data);
  verb.add_option("--io", options.io, "Type of the quantized plan's inputs and outputs")
      ->check(CLI::IsMember({"float", "int8"}))
      ->needs(data);
  verb.add_flag("!--no-bias-correction", options.quant.correct_bias, "Leaves biases as they are")->needs(data);
}

std::optional<Calibration> MakeCalibration(const CalibrationOptions& options) {
  if (options.samples.path.empty()) return std::nullopt;
  Calibration calibration;
  calibration.options = options.quant;
  calibration.options.float_io = options.io == "float";
  calibration.open = [options = options.samples](const ir::Graph& graph, Diagnostics& diagnostics) {
    std::optional<quant::Samples> samples;
    try {
      auto reader = std::make_shared<Samples>(options, InputShapes(graph));
      samples = {reader->count(), [reader](size_t index) {
                   std::vector<ir::Bytes> bytes;
                   for (const std::vector<float>& values : reader->Load(index)) bytes.push_back(ir::ToBytes(values));
                   return bytes;
                 }};
    } catch (const InputError& error) {
      diagnostics.Error({graph.name, -1, "", ""}, error.what());
    }
    return samples;
  };
  return calibration;
}

std::string AccuracyText(const quant::Report& report, size_t most) {
  if (report.tensors.empty()) return "";
  std::vector<quant::TensorAccuracy> tensors = report.tensors;
  std::stable_sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.sqnr_db < b.sqnr_db; });
  tensors.resize(std::min(tensors.size(), most));
  std::string text = absl::StrFormat("int8 against float, the least accurate of %d tensors\n", report.tensors.size());
  for (const auto& t : tensors) {
    absl::StrAppendFormat(&text, "%8.1f dB  cosine %.5f  max error %-10.4g %s\n", t.sqnr_db, t.cosine, t.max_error,
                          t.tensor);
  }
  return text;
}

}  // namespace takt::cli
