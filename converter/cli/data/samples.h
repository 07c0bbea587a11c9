// Samples of a model's inputs and their labels, from files as people have them.
#ifndef TAKT_CONVERTER_CLI_DATA_SAMPLES_H_
#define TAKT_CONVERTER_CLI_DATA_SAMPLES_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "converter/cli/verbs.h"

namespace takt::cli {

struct SampleOptions {
  std::string path;  ///< A folder or file; empty: no samples.
  std::optional<size_t> most;
  std::vector<double> mean, std;  ///< One, or one a channel, of values in [0, 1] for pixels.
};
/// The option `flag` that names the path, and --samples, --mean, --std.
CLI::Option* AddSampleOptions(CLI::App& verb, SampleOptions& options, const std::string& flag,
                              const std::string& purpose);

/// What of an input matters to a sample.
struct InputShape {
  std::string name;
  std::vector<int32_t> dims;
};

/// Float values of every input, loaded one sample at a time. Files that hold uint8 hold pixels: a value is
/// (v / 255 - mean) / std; of other types (v - mean) / std. Recordings are in [-1, 1].
class Samples {
 public:
  /// Lists the samples; throws InputError.
  Samples(const SampleOptions& options, const std::vector<InputShape>& inputs);
  ~Samples();
  Samples(Samples&&) noexcept;

  size_t count() const { return count_; }
  /// Values of every input of sample `index`; throws InputError.
  std::vector<std::vector<float>> Load(size_t index);
  /// Labels that the data itself has: an .npz array called labels or y, or pictures in one folder a class. Else empty.
  const std::vector<int64_t>& labels() const { return labels_; }

 private:
  class Source;
  void OpenArchive(const SampleOptions& options, const std::vector<InputShape>& inputs);

  std::vector<std::unique_ptr<Source>> sources_;  ///< One for each input.
  std::vector<int64_t> labels_;
  size_t count_ = 0;
};

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_DATA_SAMPLES_H_
