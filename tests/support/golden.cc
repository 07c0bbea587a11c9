#include "tests/support/golden.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>

namespace takt::test {
namespace {

namespace fs = std::filesystem;

GoldenModel ReadModel(const fs::path& root, const fs::path& folder) {
  const nlohmann::json index = nlohmann::json::parse(std::ifstream(folder / "index.json"));
  GoldenModel model{
      fs::relative(folder, root / "golden").generic_string(), folder, root / index.at("model").get<std::string>(), {}};
  for (const auto& golden : index.at("cases")) {
    model.cases.push_back({golden.at("label"), golden.at("inputs"), golden.at("outputs")});
  }
  return model;
}

template <typename T>
std::vector<double> Values(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return {values.begin(), values.end()};
}

/// Integers of 64 bits are exact up to 2^53.
std::vector<double> Values(DataType type, const Bytes& bytes) {
  switch (type) {
    case DataType::kFloat32:
      return Values<float>(bytes);
    case DataType::kInt8:
      return Values<int8_t>(bytes);
    case DataType::kInt16:
      return Values<int16_t>(bytes);
    case DataType::kInt32:
      return Values<int32_t>(bytes);
    case DataType::kInt64:
      return Values<int64_t>(bytes);
    case DataType::kBool:
    case DataType::kUint8:
      return Values<uint8_t>(bytes);
    default:
      throw std::runtime_error("no golden has this type");
  }
}

}  // namespace

fs::path SharedDir() {
  const char* set = std::getenv("TAKT_SHARED_DIR");
  return set != nullptr ? set : TAKT_SHARED_DIR;
}

Bytes ReadFile(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("can't read " + path.string());
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<Bytes> GoldenModel::Read(const std::vector<std::string>& names) const {
  std::vector<Bytes> files;
  for (const std::string& file_name : names) files.push_back(ReadFile(folder / file_name));
  return files;
}

std::map<int32_t, Bytes> GoldenModel::Layers(const GoldenCase& golden) const {
  std::map<int32_t, Bytes> layers;
  const fs::path layer_folder = SharedDir() / "golden_layers" / name / golden.label;
  if (!fs::is_directory(layer_folder)) return layers;
  for (const fs::directory_entry& entry : fs::directory_iterator(layer_folder)) {
    layers[std::stoi(entry.path().stem().string().substr(1))] = ReadFile(entry.path());
  }
  return layers;
}

std::ostream& operator<<(std::ostream& out, const GoldenModel& model) {
  return out << model.name;
}

std::vector<GoldenModel> FindGoldenModels() {
  std::vector<GoldenModel> models;
  const fs::path root = SharedDir();
  if (!fs::is_directory(root / "golden")) return models;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "golden")) {
    if (entry.path().filename() == "index.json") models.push_back(ReadModel(root, entry.path().parent_path()));
  }
  std::sort(models.begin(), models.end(), [](const GoldenModel& a, const GoldenModel& b) { return a.name < b.name; });
  return models;
}

Deviation Compare(DataType type, const Bytes& got, const Bytes& want) {
  if (got.size() != want.size()) {
    throw std::runtime_error(std::to_string(got.size()) + " bytes; the golden has " + std::to_string(want.size()));
  }
  const std::vector<double> a = Values(type, got);
  const std::vector<double> b = Values(type, want);
  double squares = 0;
  for (const double value : b) squares += value * value;
  const double rms = b.empty() ? 0 : std::sqrt(squares / static_cast<double>(b.size()));
  Deviation deviation{.count = a.size()};
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    ++deviation.differing;
    const double unit = type == DataType::kFloat32 ? std::max(std::fabs(b[i]), rms) : 1;
    const double distance = std::fabs(a[i] - b[i]) / unit;
    if (distance <= deviation.worst) continue;  // NaN is farther than anything.
    deviation.worst = std::isnan(distance) ? INFINITY : distance;
    deviation.worst_index = i;
  }
  return deviation;
}

}  // namespace takt::test
