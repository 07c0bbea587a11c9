// A TFLite file before its operators are read.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_FILE_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_FILE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "converter/base/diagnostics.h"
#include "schema/tflite_generated.h"

namespace takt::frontend {

/// Bytes that FlatBuffers' verifier has accepted, with at least one subgraph, and tensors in each.
class TfliteFile {
 public:
  /// `bytes` start at an aligned address and outlive the file. Reports what is wrong and gives nothing.
  static std::optional<TfliteFile> Open(std::span<const uint8_t> bytes, const std::string& name,
                                        Diagnostics& diagnostics);

  std::span<const uint8_t> bytes() const { return bytes_; }
  const std::string& name() const { return name_; }
  const tflite::Model& model() const { return *tflite::GetModel(bytes_.data()); }
  /// nullptr if there is none of that index.
  const tflite::SubGraph* subgraph(int64_t index) const;

 private:
  TfliteFile(std::span<const uint8_t> bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  std::span<const uint8_t> bytes_;
  std::string name_;
};

/// Where a model begins: a subgraph, and names of its inputs and outputs by tensor.
struct TfliteEntry {
  int subgraph = 0;
  std::map<int32_t, std::string> names;
};

/// The entry that a signature of the file describes; for an empty key the first subgraph, with the names of its first
/// signature. Reports an unknown key, or one that names what does not exist.
std::optional<TfliteEntry> FindEntry(const TfliteFile& file, const std::string& key, Diagnostics& diagnostics);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_FILE_H_
