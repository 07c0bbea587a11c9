#include "converter/cli/sample_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"

namespace takt::cli {
namespace {

template <typename T>
std::vector<uint8_t> Store(float scale, int32_t zero_point, std::span<const float> values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const double level = std::nearbyint(static_cast<double>(values[i] / scale)) + zero_point;
    const auto stored =
        static_cast<T>(std::clamp<double>(level, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    std::memcpy(&bytes[i * sizeof(T)], &stored, sizeof(T));
  }
  return bytes;
}

}  // namespace

std::vector<InputShape> InputShapes(const Interpreter& net) {
  std::vector<InputShape> shapes;
  for (uint32_t i = 0; i < net.plan().input_count(); ++i) {
    const TensorInfo input = net.input(i);
    shapes.push_back({std::string(input.name), {input.dims.begin(), input.dims.end()}});
  }
  return shapes;
}

std::vector<uint8_t> StoredBytes(DataType type, float scale, int32_t zero_point, std::span<const float> values) {
  if (type == DataType::kFloat32) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    return {bytes, bytes + values.size_bytes()};
  }
  if (scale <= 0) return {};
  if (type == DataType::kInt8) return Store<int8_t>(scale, zero_point, values);
  if (type == DataType::kUint8) return Store<uint8_t>(scale, zero_point, values);
  if (type == DataType::kInt16) return Store<int16_t>(scale, zero_point, values);
  return {};
}

std::vector<std::vector<uint8_t>> StoredInputs(const std::string& plan, const Interpreter& net,
                                               const std::vector<std::vector<float>>& values) {
  std::vector<std::vector<uint8_t>> inputs;
  for (uint32_t i = 0; i < values.size(); ++i) {
    const TensorInfo input = net.input(i);
    inputs.push_back(StoredBytes(input.type, input.scale, input.zero_point, values[i]));
    if (!inputs.back().empty()) continue;
    throw InputError(absl::StrCat(plan, ": input '", std::string(input.name),
                                  "' is neither float32 nor quantized; its samples can't be stored"));
  }
  return inputs;
}

}  // namespace takt::cli
