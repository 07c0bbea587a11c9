#include "converter/cli/calibration.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/cli/files.h"
#include "converter/cli/npy.h"

namespace takt::cli {
namespace {

namespace fs = std::filesystem;

/// The `index`-th sample of a graph input.
struct SamplePlace {
  std::string path;
  size_t offset = 0;
};

std::vector<uint8_t> FloatData(const std::string& path) {
  std::vector<uint8_t> bytes = ReadFile(path);
  return IsNpy(bytes) ? NpyData(path, bytes, DataType::kFloat32) : bytes;
}

/// Where each sample lies; a file holds one or more, one after the other.
std::vector<SamplePlace> ListSamples(const fs::path& folder, const ir::Tensor& input) {
  std::vector<std::string> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".npy" || extension == ".raw" || extension == ".bin") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  const auto size = static_cast<size_t>(input.byte_size());
  std::vector<SamplePlace> places;
  for (const std::string& path : paths) {
    const size_t bytes = FloatData(path).size();
    if (bytes == 0 || bytes % size != 0) {
      throw InputError(absl::StrCat(path, ": has ", bytes, " bytes of float32; a sample of input '", input.name,
                                    "' has ", size, ", and a file holds whole samples"));
    }
    for (size_t offset = 0; offset < bytes; offset += size) places.push_back({path, offset});
  }
  if (places.empty())
    throw InputError(absl::StrCat(folder.string(), ": holds no .npy, .raw or .bin file with samples"));
  return places;
}

/// Reads samples one by one; the file read last is kept, since a file often holds many.
class Reader {
 public:
  Reader(const std::string& folder, const ir::Graph& graph) {
    for (ir::TensorId id : graph.inputs) {
      const ir::Tensor& input = graph.tensor(id);
      if (input.type != DataType::kFloat32)
        throw InputError(absl::StrCat("input '", input.name, "' is not float32; only float models are quantized"));
      const fs::path own = graph.inputs.size() == 1 ? fs::path(folder) : fs::path(folder) / input.name;
      if (!fs::is_directory(own)) {
        throw InputError(
            absl::StrCat(own.string(), ": is no folder; samples of input '", input.name, "' are expected there"));
      }
      inputs_.push_back({static_cast<size_t>(input.byte_size()), ListSamples(own, input), "", {}});
      if (inputs_.back().places.size() != inputs_.front().places.size()) {
        throw InputError(absl::StrCat(own.string(), ": holds ", inputs_.back().places.size(),
                                      " samples, the first input has ", inputs_.front().places.size()));
      }
    }
  }

  size_t count() const { return inputs_.empty() ? 0 : inputs_[0].places.size(); }

  std::vector<ir::Bytes> Load(size_t index) {
    std::vector<ir::Bytes> sample;
    for (Input& input : inputs_) {
      const SamplePlace& place = input.places[index];
      if (input.path != place.path) input.data = FloatData(place.path), input.path = place.path;
      const auto begin = input.data.begin() + static_cast<std::ptrdiff_t>(place.offset);
      sample.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(input.bytes));
    }
    return sample;
  }

 private:
  struct Input {
    size_t bytes;
    std::vector<SamplePlace> places;
    std::string path;
    std::vector<uint8_t> data;
  };
  std::vector<Input> inputs_;
};

const std::map<std::string, quant::Observer> kObservers = {{"minmax", quant::Observer::kMinMax},
                                                           {"average", quant::Observer::kMovingAverage},
                                                           {"percentile", quant::Observer::kPercentile},
                                                           {"entropy", quant::Observer::kEntropy},
                                                           {"mse", quant::Observer::kMse}};

}  // namespace

void AddCalibrationOptions(CLI::App& verb, CalibrationOptions& options) {
  auto* folder =
      verb.add_option("--calibrate", options.folder,
                      "Folder with samples (float32 .npy, .raw or .bin; several inputs: a folder each, named after "
                      "them): quantizes a float model to int8");
  verb.add_option("--observer", options.quant.observer,
                  "How ranges follow from the samples: minmax, average, percentile, entropy, mse")
      ->transform(CLI::CheckedTransformer(kObservers))
      ->needs(folder);
  verb.add_option("--percentile", options.quant.share, "Share of values that the percentile observer keeps at each end")
      ->check(CLI::Range(0.5, 1.0))
      ->needs(folder);
  verb.add_option("--io", options.io, "Type of the quantized plan's inputs and outputs")
      ->check(CLI::IsMember({"float", "int8"}))
      ->needs(folder);
  verb.add_flag("!--no-bias-correction", options.quant.correct_bias, "Leaves biases as they are")->needs(folder);
}

std::optional<Calibration> MakeCalibration(const CalibrationOptions& options) {
  if (options.folder.empty()) return std::nullopt;
  Calibration calibration;
  calibration.options = options.quant;
  calibration.options.float_io = options.io == "float";
  calibration.open = [folder = options.folder](const ir::Graph& graph, Diagnostics& diagnostics) {
    std::optional<quant::Samples> samples;
    try {
      auto reader = std::make_shared<Reader>(folder, graph);
      samples = {reader->count(), [reader](size_t index) { return reader->Load(index); }};
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
