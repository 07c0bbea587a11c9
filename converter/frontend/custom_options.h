// Options of a custom TFLite operator: a FlexBuffers map.
#ifndef TAKT_CONVERTER_FRONTEND_CUSTOM_OPTIONS_H_
#define TAKT_CONVERTER_FRONTEND_CUSTOM_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/frontend/tflite_node.h"

namespace takt::frontend {

/// Any bytes are safe. What is wrong is reported at `node`, which outlives this object, once for each option asked for.
class CustomOptions {
 public:
  explicit CustomOptions(TfliteNode& node);

  /// The integer or boolean `key`, or `otherwise` where it is missing; nothing if it is no such or outside of [low,
  /// high].
  std::optional<int64_t> Int(const char* key, int64_t low, int64_t high,
                             std::optional<int64_t> otherwise = std::nullopt);
  /// The list of integers `key`, each within [low, high]; nothing if it is missing or no such.
  std::optional<std::vector<int64_t>> Ints(const char* key, int64_t low, int64_t high);
  /// The number `key`; nothing if it is missing or none.
  std::optional<double> Real(const char* key);

 private:
  bool IsMap(const char* key);

  TfliteNode& node_;
  std::vector<uint64_t> aligned_;
  size_t size_ = 0;  ///< 0: the bytes are no map.
};

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_CUSTOM_OPTIONS_H_
