// The models that converter tests run on: the committed one, and the shared ones where they exist.
#ifndef TAKT_TESTS_CONVERTER_MODEL_FILES_H_
#define TAKT_TESTS_CONVERTER_MODEL_FILES_H_

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace takt::test {

inline const std::string kFashion = TAKT_SOURCE_DIR "/samples/fashion/fashion.tflite";

/// Paths of all .tflite files, sorted; at least one.
inline std::vector<std::string> ModelFiles() {
  std::vector<std::string> files = {kFashion};
  if (const std::string models = TAKT_SHARED_DIR "/models"; std::filesystem::is_directory(models)) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(models)) {
      if (entry.path().extension() == ".tflite") files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin() + 1, files.end());
  return files;
}

/// kFashion, and those of the shared models `names` that exist.
inline std::vector<std::string> ModelFiles(std::initializer_list<const char*> names) {
  std::vector<std::string> files = {kFashion};
  for (const char* name : names) {
    const std::string path = std::string(TAKT_SHARED_DIR "/models/") + name + ".tflite";
    if (std::filesystem::exists(path)) files.push_back(path);
  }
  return files;
}

inline std::vector<uint8_t> ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace takt::test

#endif  // TAKT_TESTS_CONVERTER_MODEL_FILES_H_
