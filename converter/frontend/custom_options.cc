#include "converter/frontend/custom_options.h"

#include <cstring>
#include <span>
#include <string>

#include "flatbuffers/flexbuffers.h"

namespace takt::frontend {

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

std::optional<int64_t> CustomOptions::Int(const char* key, int64_t low, int64_t high) {
  const std::string option = std::string("option '") + key + "'";
  if (size_ == 0) {
    node_.Error(option + " cannot be read: the custom options are no FlexBuffers map; the file is damaged");
    return std::nullopt;
  }
  const auto* bytes = reinterpret_cast<const uint8_t*>(aligned_.data());
  const flexbuffers::Reference value = flexbuffers::GetRoot(bytes, size_).AsMap()[key];
  if (!value.IsIntOrUint() && !value.IsBool()) {
    node_.Error(option + " is missing or no integer; the file is damaged");
    return std::nullopt;
  }
  const int64_t number = value.AsInt64();
  if (number >= low && number <= high) return number;
  node_.Error(option + " is " + std::to_string(number) + "; allowed are " + std::to_string(low) + " to " +
              std::to_string(high));
  return std::nullopt;
}

}  // namespace takt::frontend
