#include "converter/cli/data/samples.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/cli/data/idx.h"
#include "converter/cli/data/image.h"
#include "converter/cli/data/labels.h"
#include "converter/cli/data/npy.h"
#include "converter/cli/data/sound.h"
#include "converter/cli/files.h"

namespace takt::cli {
namespace {

namespace fs = std::filesystem;

/// Where height, width and channels of an input lie; ONNX has channels first.
struct Picture {
  int height = 0, width = 0, channels = 0;
  bool channels_first = false;
};

std::optional<Picture> PictureOf(const std::vector<int32_t>& dims) {
  if (dims.size() != 4 || dims[0] != 1) return std::nullopt;
  if (dims[3] == 1 || dims[3] == 3) return Picture{dims[1], dims[2], dims[3], false};
  if (dims[1] == 1 || dims[1] == 3) return Picture{dims[2], dims[3], dims[1], true};
  return std::nullopt;
}

/// (v - mean) / std with the channel's figures, and pixels to [0, 1] before.
class Normalization {
 public:
  Normalization(const SampleOptions& options, const InputShape& input) : mean_(options.mean), std_(options.std) {
    const auto picture = PictureOf(input.dims);
    channels_ = picture ? static_cast<size_t>(picture->channels) : 1;
    if (picture && picture->channels_first)
      stride_ = static_cast<size_t>(picture->height) * static_cast<size_t>(picture->width);
    for (const auto* figures : {&mean_, &std_}) {
      if (figures->size() <= 1 || figures->size() == channels_) continue;
      throw InputError(absl::StrCat("--mean and --std: ", figures->size(), " figures given; input '", input.name,
                                    "' wants one, or one for each of ", channels_, " channels"));
    }
  }

  std::vector<float> operator()(const std::vector<double>& values, bool pixels) const {
    std::vector<float> result(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t channel = i / stride_ % channels_;
      const double value = pixels ? values[i] / 255 : values[i];
      result[i] = static_cast<float>((value - Figure(mean_, channel, 0)) / Figure(std_, channel, 1));
    }
    return result;
  }

 private:
  static double Figure(const std::vector<double>& figures, size_t channel, double otherwise) {
    if (figures.empty()) return otherwise;
    return figures[figures.size() == 1 ? 0 : channel];
  }

  std::vector<double> mean_, std_;
  size_t channels_ = 1, stride_ = 1;
};

size_t Elements(const InputShape& input) {
  size_t elements = 1;
  for (const int32_t dim : input.dims) elements *= static_cast<size_t>(dim);
  return elements;
}

/// Whole samples in an array.
size_t CountIn(const std::string& path, const Array& array, const InputShape& input) {
  const size_t elements = Elements(input);
  if (array.bytes.empty() || elements == 0 || array.elements() % elements != 0) {
    throw InputError(absl::StrCat(path, ": holds ", array.bytes.size() == 0 ? 0 : array.elements(),
                                  " values; a sample of input '", input.name, "' has ", elements,
                                  ", and a file holds whole samples"));
  }
  return array.elements() / elements;
}

std::vector<uint8_t> ChannelsFirst(const Array& image) {
  const size_t cells = image.dims[0] * image.dims[1], channels = image.dims[2];
  std::vector<uint8_t> planes(image.bytes.size());
  for (size_t i = 0; i < cells; ++i) {
    for (size_t c = 0; c < channels; ++c) planes[c * cells + i] = image.bytes[i * channels + c];
  }
  return planes;
}

Array ReadPicture(const std::string& path, const InputShape& input) {
  const auto picture = PictureOf(input.dims);
  if (!picture) {
    throw InputError(absl::StrCat(path, ": is a picture; input '", input.name,
                                  "' takes none (it is not [1, height, width, 1 or 3], nor with channels first)"));
  }
  Array image = ReadImage(path, ReadFile(path), picture->height, picture->width, picture->channels);
  if (picture->channels_first) image.bytes = ChannelsFirst(image);
  return image;
}

Array ReadArray(const std::string& path, const InputShape& input) {
  if (IsImageName(path)) return ReadPicture(path, input);
  if (IsSoundName(path)) return ReadSound(path, ReadFile(path), Elements(input));
  std::vector<uint8_t> bytes = ReadPlainOrGzip(path);
  if (IsNpy(bytes)) return ReadNpy(path, bytes);
  if (IsIdx(bytes) && fs::path(path).extension() != ".raw" && fs::path(path).extension() != ".bin")
    return ReadIdx(path, bytes);
  if (bytes.size() % sizeof(float) != 0)
    throw InputError(absl::StrCat(path, ": has ", bytes.size(), " bytes, which are no whole float32 values"));
  return {DataType::kFloat32, {bytes.size() / sizeof(float)}, std::move(bytes)};
}

/// Pictures are scaled to the input, recordings filled up with silence.
bool IsOneSample(const std::string& path) {
  return IsImageName(path) || IsSoundName(path);
}

bool IsSampleName(const fs::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".npy" || extension == ".raw" || extension == ".bin" || IsOneSample(path.string());
}

std::vector<fs::path> Sorted(const fs::path& folder) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) entries.push_back(entry.path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Paths of samples in a folder; with subfolders only, those are classes, in the order of their names.
std::vector<std::string> ListFiles(const std::string& folder, std::vector<int64_t>& labels) {
  std::vector<std::string> files;
  int64_t classes = 0;
  for (const fs::path& entry : Sorted(folder)) {
    if (fs::is_directory(entry)) {
      for (const fs::path& inner : Sorted(entry)) {
        if (!IsSampleName(inner)) continue;
        files.push_back(inner.string());
        labels.push_back(classes);
      }
      ++classes;
    } else if (IsSampleName(entry)) {
      files.push_back(entry.string());
    }
  }
  if (files.empty()) {
    throw InputError(absl::StrCat(folder, ": holds no sample: .npy, .raw, .bin, .png, .jpg, .bmp, .pgm, .ppm or .wav"));
  }
  if (!labels.empty() && labels.size() != files.size())
    throw InputError(absl::StrCat(folder, ": holds files beside folders of classes; move one of the kinds away"));
  return files;
}

}  // namespace

/// Samples of one input, one or more in each of several files; the file read last is kept, since it often holds many.
class Samples::Source {
 public:
  Source(std::vector<std::string> files, const InputShape& input, const SampleOptions& options)
      : files_(std::move(files)), input_(input), normalize_(options, input) {
    for (size_t file = 0; file < files_.size(); ++file)
      AddPlaces(file, IsOneSample(files_[file]) ? 1 : CountIn(files_[file], Array(file), input_));
  }
  /// Of one array, read already.
  Source(const std::string& path, cli::Array array, const InputShape& input, const SampleOptions& options)
      : files_{path}, input_(input), normalize_(options, input), array_(std::move(array)), loaded_(0) {
    AddPlaces(0, CountIn(path, array_, input_));
  }

  size_t count() const { return places_.size(); }
  std::vector<float> Load(size_t index) {
    const auto [file, inside] = places_[index];
    const cli::Array& array = Array(file);
    const size_t elements = Elements(input_);
    return normalize_(Numbers(files_[file], array, inside * elements, elements), array.type == DataType::kUint8);
  }

 private:
  const cli::Array& Array(size_t file) {
    if (file != loaded_) array_ = ReadArray(files_[file], input_), loaded_ = file;
    return array_;
  }
  void AddPlaces(size_t file, size_t count) {
    for (size_t inside = 0; inside < count; ++inside) places_.push_back({file, inside});
  }

  std::vector<std::string> files_;
  InputShape input_;
  Normalization normalize_;
  std::vector<std::pair<size_t, size_t>> places_;  ///< File, and which of its samples.
  cli::Array array_;
  size_t loaded_ = SIZE_MAX;  ///< The file that array_ holds.
};

CLI::Option* AddSampleOptions(CLI::App& verb, SampleOptions& options, const std::string& flag,
                              const std::string& purpose) {
  auto* data =
      verb.add_option(flag, options.path,
                      purpose +
                          ": a folder of .npy, raw float32 (.raw, .bin), pictures or WAV, perhaps in a "
                          "folder a class; or one .npz, .npy or idx file, perhaps compressed with gzip. Several "
                          "inputs: a folder or array each, named after them");
  verb.add_option("--samples", options.most, "Use the first N samples only")->check(CLI::PositiveNumber)->needs(data);
  verb.add_option("--mean", options.mean, "Taken from each value; one, or one a channel. Pixels are in [0, 1]")
      ->delimiter(',')
      ->needs(data);
  verb.add_option("--std", options.std, "What each value is then divided by; one, or one a channel")
      ->delimiter(',')
      ->check(CLI::PositiveNumber)
      ->needs(data);
  return data;
}

Samples::Samples(Samples&&) noexcept = default;
Samples::~Samples() = default;

void Samples::OpenArchive(const SampleOptions& options, const std::vector<InputShape>& inputs) {
  std::map<std::string, Array> arrays = ReadNpz(options.path);
  for (const InputShape& input : inputs) {
    const auto found = arrays.find(inputs.size() == 1 && arrays.count("x") != 0 ? "x" : input.name);
    if (found == arrays.end())
      throw InputError(absl::StrCat(options.path, ": has no array called '", input.name, "', as the input is"));
    sources_.push_back(std::make_unique<Source>(options.path, std::move(found->second), input, options));
  }
  for (const char* name : {"labels", "y"}) {
    const auto found = arrays.find(name);
    if (found == arrays.end() || !labels_.empty()) continue;
    labels_ = LabelsOf(options.path, found->second);
  }
}

Samples::Samples(const SampleOptions& options, const std::vector<InputShape>& inputs) {
  if (fs::path(options.path).extension() == ".npz") {
    OpenArchive(options, inputs);
  } else {
    for (const InputShape& input : inputs) {
      const std::string own = inputs.size() == 1 ? options.path : (fs::path(options.path) / input.name).string();
      std::vector<int64_t> labels;
      const std::vector<std::string> files = fs::is_directory(own) ? ListFiles(own, labels) : std::vector{own};
      sources_.push_back(std::make_unique<Source>(files, input, options));
      if (&input == &inputs.front()) labels_ = std::move(labels);
    }
  }
  count_ = sources_.empty() ? 0 : sources_[0]->count();
  for (size_t i = 1; i < sources_.size(); ++i) {
    if (sources_[i]->count() == count_) continue;
    throw InputError(absl::StrCat(options.path, ": has ", sources_[i]->count(), " samples of input '", inputs[i].name,
                                  "', and ", count_, " of the first input"));
  }
  count_ = std::min(count_, options.most.value_or(count_));
}

std::vector<std::vector<float>> Samples::Load(size_t index) {
  std::vector<std::vector<float>> values;
  for (const auto& source : sources_) values.push_back(source->Load(index));
  return values;
}

}  // namespace takt::cli
