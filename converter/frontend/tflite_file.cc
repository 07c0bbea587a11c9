#include "converter/frontend/tflite_file.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace takt::frontend {
namespace {

constexpr uint32_t kMaxTables = 1000000;
constexpr uint32_t kMaxDepth = 64;
constexpr uint32_t kSchemaVersion = 3;

std::string Text(const flatbuffers::String* text) {
  return text == nullptr ? "" : text->str();
}

using Names = flatbuffers::Vector<flatbuffers::Offset<tflite::TensorMap>>;

/// False if a name belongs to no tensor of `ids`.
bool AddNames(const Names* names, const flatbuffers::Vector<int32_t>* ids, TfliteEntry& entry) {
  if (names == nullptr) return true;
  for (const tflite::TensorMap* map : *names) {
    const auto id = static_cast<int32_t>(map->tensor_index());
    if (ids == nullptr || std::find(ids->begin(), ids->end(), id) == ids->end()) return false;
    if (const std::string name = Text(map->name()); !name.empty()) entry.names[id] = name;
  }
  return true;
}

}  // namespace

std::optional<TfliteFile> TfliteFile::Open(std::span<const uint8_t> bytes, const std::string& name,
                                           Diagnostics& diagnostics) {
  const auto error = [&](std::string message) { diagnostics.Error({name, -1, "", ""}, std::move(message)); };
  if (bytes.size() < 16 || bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE ||
      !tflite::ModelBufferHasIdentifier(bytes.data())) {
    error("is not a TFLite file: identifier TFL3 is missing at byte 4");
    return std::nullopt;
  }
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), kMaxDepth, kMaxTables);
  if (!tflite::VerifyModelBuffer(verifier)) {
    error("is a damaged TFLite file: an offset or length in it is out of range");
    return std::nullopt;
  }
  const TfliteFile file(bytes, name);
  const size_t before = diagnostics.error_count();
  if (file.model().version() != kSchemaVersion)
    error(absl::StrCat("has schema version ", file.model().version(), "; allowed is 3"));
  if (file.subgraph(0) == nullptr) error("has no subgraph");
  for (int64_t i = 0; file.subgraph(i) != nullptr; ++i)
    if (file.subgraph(i)->tensors() == nullptr) error(absl::StrCat("has no tensors in subgraph ", i));
  return diagnostics.error_count() == before ? std::optional(file) : std::nullopt;
}

const tflite::SubGraph* TfliteFile::subgraph(int64_t index) const {
  const auto* all = model().subgraphs();
  if (all == nullptr || index < 0 || index >= static_cast<int64_t>(all->size())) return nullptr;
  return all->Get(static_cast<uint32_t>(index));
}

std::optional<TfliteEntry> FindEntry(const TfliteFile& file, const std::string& key, Diagnostics& diagnostics) {
  const auto error = [&](std::string message) { diagnostics.Error({file.name(), -1, "", ""}, std::move(message)); };
  std::vector<std::string> keys;
  const tflite::SignatureDef* found = nullptr;
  if (const auto* signatures = file.model().signature_defs(); signatures != nullptr) {
    for (const tflite::SignatureDef* signature : *signatures) {
      keys.push_back(Text(signature->signature_key()));
      const bool wanted = key.empty() ? signature->subgraph_index() == 0 : keys.back() == key;
      if (found == nullptr && wanted) found = signature;
    }
  }
  TfliteEntry entry;
  if (found == nullptr) {
    if (key.empty()) return entry;
    error(absl::StrCat("has no signature '", key, "'; there are: ", absl::StrJoin(keys, ", ")));
    return std::nullopt;
  }
  entry.subgraph = static_cast<int>(found->subgraph_index());
  const tflite::SubGraph* subgraph = file.subgraph(found->subgraph_index());
  if (subgraph != nullptr && AddNames(found->inputs(), subgraph->inputs(), entry) &&
      AddNames(found->outputs(), subgraph->outputs(), entry))
    return entry;
  error(absl::StrCat("has a signature '", Text(found->signature_key()),
                     "' that names a subgraph, input or output that does not exist; the file is damaged"));
  return std::nullopt;
}

}  // namespace takt::frontend
