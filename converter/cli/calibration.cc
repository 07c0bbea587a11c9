#include "converter/cli/calibration.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "converter/cli/files.h"
#include "converter/cli/terminal.h"
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
const std::map<std::string, quant::Precision> kPrecisions = {{"int8", quant::Precision::kInt8},
                                                             {"int16x8", quant::Precision::kInt16}};
const std::map<std::string, DataType> kIoTypes = {
    {"float", DataType::kFloat32}, {"int8", DataType::kInt8}, {"int16", DataType::kInt16}};

/// "0.5" or "30dB".
std::optional<quant::MaxLoss> ReadMaxDrop(absl::string_view text) {
  if (text.empty()) return std::nullopt;
  quant::MaxLoss loss;
  absl::string_view number = text;
  if (absl::ConsumeSuffix(&number, "dB")) loss.unit = quant::MaxLoss::kDb;
  if (!absl::SimpleAtod(number, &loss.value) || !(loss.value >= 0) || !(loss.value <= 1000))
    throw InputError(absl::StrCat("--max-drop ", text, ": write points as 0.5, or dB as 30dB"));
  return loss;
}

}  // namespace

void AddCalibrationOptions(CLI::App& verb, CalibrationOptions& options) {
  auto* data = AddSampleOptions(verb, options.samples, "--calibrate", "Quantizes a float model, by samples");
  verb.add_option("--observer", options.quant.observer,
                  "How ranges follow from the samples: minmax, average, percentile, entropy, mse")
      ->transform(CLI::CheckedTransformer(kObservers))
      ->needs(data);
  verb.add_option("--percentile", options.quant.share, "Share of values that the percentile observer keeps at each end")
      ->check(CLI::Range(0.5, 1.0))
      ->needs(data);
  verb.add_option("--quantize", options.quant.precision,
                  "int8, or int16x8: int16 activations and int8 weights, slower and finer")
      ->transform(CLI::CheckedTransformer(kPrecisions))
      ->needs(data);
  verb.add_option(
          "--max-drop", options.max_drop,
          "Largest loss, in points of top-1 answers that change (0.5) or as the outputs' least SQNR (30dB); the "
          "fewest layers that it takes become int16x8 or float")
      ->needs(data);
  verb.add_option("--io", options.io, "Type of the quantized plan's inputs and outputs")
      ->check(CLI::IsMember({"float", "int8", "int16"}))
      ->needs(data);
  verb.add_flag("--fold-normalization", options.fold_normalization,
                "The plan applies --mean and --std itself, and takes pixels in [0, 1]; with --io int8 as 255 v - 128")
      ->needs(data);
  verb.add_flag("--pair-weights", options.quant.pair_weights,
                "Keeps pairs of weights within 128, as kernels that add products in 16 bits want; names what it costs")
      ->needs(data);
  verb.add_flag("--equalize", options.quant.equalize,
                "Tries cross-layer equalization, and keeps it where the outputs gain")
      ->needs(data);
  verb.add_flag("!--no-bias-correction", options.quant.correct_bias, "Leaves biases as they are")->needs(data);
}

std::optional<Calibration> MakeCalibration(const CalibrationOptions& options) {
  if (options.samples.path.empty()) return std::nullopt;
  Calibration calibration;
  calibration.options = options.quant;
  calibration.options.io = kIoTypes.at(options.io);
  calibration.options.max_loss = ReadMaxDrop(options.max_drop);
  SampleOptions sample_options = options.samples;
  if (options.fold_normalization) {
    calibration.options.normalization = quant::Normalization{sample_options.mean, sample_options.std};
    sample_options.mean.clear();
    sample_options.std.clear();
  }
  const auto line = std::make_shared<ProgressLine>();
  calibration.options.progress = [line](const std::string& stage) { line->Show("quantization: " + stage); };
  calibration.open = [options = sample_options](const ir::Graph& graph, Diagnostics& diagnostics) {
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
  std::string text =
      absl::StrFormat("quantized against float, the least accurate of %d tensors\n", report.tensors.size());
  for (const auto& t : tensors) {
    absl::StrAppendFormat(&text, "%8.1f dB  cosine %.5f  max error %-10.4g %s\n", t.sqnr_db, t.cosine, t.max_error,
                          t.tensor);
  }
  for (size_t i = 0; i < std::min(report.damages.size(), most); ++i) {
    const quant::Damage& d = report.damages[i];
    if (i == 0)
      absl::StrAppendFormat(&text, "outputs with one layer quantized, the worst of %d\n", report.damages.size());
    absl::StrAppendFormat(&text, "%8.1f dB  now %-7s %s\n", d.sqnr_db, PrecisionName(d.precision), d.tensor);
  }
  return text;
}

std::string PrecisionName(quant::Precision precision) {
  for (const auto& [name, value] : kPrecisions) {
    if (value == precision) return name;
  }
  return "float";
}

}  // namespace takt::cli
