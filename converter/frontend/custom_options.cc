#include "converter/frontend/custom_options.h"

#include <cstring>
#include <span>
#include <string>

#include "flatbuffers/flexbuffers.h"

namespace takt::frontend {
namespace {

std::string Named(const char* key) {
  return std::string("option '") + key + "'";
}

/// Null if it is missing.
flexbuffers::Reference Value(const std::vector<uint64_t>& aligned, size_t size, const char* key) {
  return flexbuffers::GetRoot(reinterpret_cast<const uint8_t*>(aligned.data()), size).AsMap()[key];
}

}  // namespace

CustomOptions::CustomOptions(TfliteNode& node) : node_(node) {
  const std::span<const uint8_t> bytes = node.custom_options();
  aligned_.resize(bytes.size() / sizeof(uint64_t) + 1);
  if (!bytes.empty()) std::memcpy(aligned_.data(), bytes.data(), bytes.size());
  const auto* copy = reinterpret_cast<const uint8_t*>(aligned_.data());
  if (bytes.size() < FLATBUFFERS_MAX_BUFFER_SIZE && flexbuffers::VerifyBuffer(copy, bytes.size()) &&
      flexbuffers::GetRoot(copy, bytes.size()).IsMap()) {
    size_ = bytes.size();
  }
}

bool CustomOptions::IsMap(const char* key) {
  if (size_ != 0) return true;
  node_.Error(Named(key) + " cannot be read: the custom options are no FlexBuffers map; the file is damaged");
  return false;
}

std::optional<int64_t> CustomOptions::Int(const char* key, int64_t low, int64_t high,
                                          std::optional<int64_t> otherwise) {
  if (!IsMap(key)) return std::nullopt;
  const flexbuffers::Reference value = Value(aligned_, size_, key);
  if (otherwise && value.IsNull()) return otherwise;
  if (!value.IsIntOrUint() && !value.IsBool()) {
    node_.Error(Named(key) + " is missing or no integer; the file is damaged");
    return std::nullopt;
  }
  const int64_t number = value.AsInt64();
  if (number >= low && number <= high) return number;
  node_.Error(Named(key) + " is " + std::to_string(number) + "; allowed are " + std::to_string(low) + " to " +
              std::to_string(high));
  return std::nullopt;
}

std::optional<std::vector<int64_t>> CustomOptions::Ints(const char* key, int64_t low, int64_t high) {
  if (!IsMap(key)) return std::nullopt;
  const flexbuffers::Reference list = Value(aligned_, size_, key);
  const flexbuffers::TypedVector values = list.AsTypedVector();
  std::vector<int64_t> numbers;
  for (size_t i = 0; list.IsTypedVector() && i < values.size(); ++i) {
    if (!values[i].IsIntOrUint() || values[i].AsInt64() < low || values[i].AsInt64() > high) break;
    numbers.push_back(values[i].AsInt64());
  }
  if (list.IsTypedVector() && numbers.size() == values.size()) return numbers;
  node_.Error(Named(key) + " is missing or no list of integers from " + std::to_string(low) + " to " +
              std::to_string(high) + "; the file is damaged");
  return std::nullopt;
}

std::optional<double> CustomOptions::Real(const char* key) {
  if (!IsMap(key)) return std::nullopt;
  const flexbuffers::Reference value = Value(aligned_, size_, key);
  if (value.IsNumeric()) return value.AsDouble();
  node_.Error(Named(key) + " is missing or no number; the file is damaged");
  return std::nullopt;
}

}  // namespace takt::frontend
