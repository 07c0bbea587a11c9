#include "tests/bench/bench_models.h"

#include <algorithm>
#include <filesystem>

namespace takt::bench {
namespace {

namespace fs = std::filesystem;

std::vector<BenchModel> Load() {
  std::vector<fs::path> paths = {fs::path(TAKT_SAMPLES_DIR) / "fashion" / "fashion.tflite"};
  const fs::path shared = test::SharedDir() / "models";
  if (fs::is_directory(shared)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(shared)) {
      if (entry.path().extension() == ".tflite") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin() + 1, paths.end());
  std::vector<BenchModel> models;
  for (const fs::path& path : paths) {
    BenchModel model{path.stem().string(), test::ReadFile(path), {}};
    model.converted = ConvertTflite(model.file, model.name, {});
    if (model.converted.diagnostics.ok()) models.push_back(std::move(model));
  }
  return models;
}

}  // namespace

const std::vector<BenchModel>& BenchModels() {
  static const std::vector<BenchModel> models = Load();
  return models;
}

}  // namespace takt::bench
