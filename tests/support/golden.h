// Models and outputs of another implementation in the shared folder, and how a result is compared with them.
#ifndef TAKT_TESTS_SUPPORT_GOLDEN_H_
#define TAKT_TESTS_SUPPORT_GOLDEN_H_

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "engine/base/data_type.h"

namespace takt::test {

using Bytes = std::vector<uint8_t>;

/// The environment's TAKT_SHARED_DIR, else the build's.
std::filesystem::path SharedDir();
/// Throws std::runtime_error that names the file.
Bytes ReadFile(const std::filesystem::path& path);

struct GoldenCase {
  std::string label;
  std::vector<std::string> inputs;   ///< File names, in graph order.
  std::vector<std::string> outputs;  ///< As inputs; of a stateful model: of the first, second and third invocation.
};

struct GoldenModel {
  std::string name;  ///< Folder below golden/: "kws_ref_model", "seanet/add0".
  std::filesystem::path folder;
  std::filesystem::path file;  ///< The .tflite.
  std::vector<GoldenCase> cases;

  std::vector<Bytes> Inputs(const GoldenCase& golden) const { return Read(golden.inputs); }
  std::vector<Bytes> Outputs(const GoldenCase& golden) const { return Read(golden.outputs); }
  /// Values by tensor of the model: golden_layers/<name>/<label>/t<tensor>.bin; empty if there are none.
  std::map<int32_t, Bytes> Layers(const GoldenCase& golden) const;

 private:
  std::vector<Bytes> Read(const std::vector<std::string>& names) const;
};

/// "kws_ref_model": what tests print of it.
std::ostream& operator<<(std::ostream& out, const GoldenModel& model);

/// Every model with an index.json below golden/, by name; none if there is no shared folder.
std::vector<GoldenModel> FindGoldenModels();

/// How far `got` is from `want`; `worst`: largest |difference|, in stored units (integers), or relative to
/// max(|want|, rms of want) (float32). Both have `count` elements; sizes that differ throw std::runtime_error.
struct Deviation {
  uint64_t count = 0;
  uint64_t differing = 0;
  double worst = 0;
  uint64_t worst_index = 0;
};
Deviation Compare(DataType type, const Bytes& got, const Bytes& want);

/// Integers want every byte; float32 |difference| <= 1e-5 * max(|want|, rms) (engine/NUMERICS.md).
inline double ExactTolerance(DataType type) {
  return type == DataType::kFloat32 ? 1e-5 : 0;
}

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_GOLDEN_H_
