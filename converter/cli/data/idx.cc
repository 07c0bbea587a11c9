#include "converter/cli/data/idx.h"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"

namespace takt::cli {
namespace {

constexpr std::pair<uint8_t, DataType> kCodes[] = {{0x08, DataType::kUint8},
                                                   {0x09, DataType::kInt8},
                                                   {0x0B, DataType::kInt16},
                                                   {0x0C, DataType::kInt32},
                                                   {0x0D, DataType::kFloat32}};

DataType TypeOf(uint8_t code) {
  for (const auto& [known, type] : kCodes) {
    if (known == code) return type;
  }
  return DataType::kNone;
}

}  // namespace

bool IsIdx(std::span<const uint8_t> file) {
  return file.size() >= 8 && file[0] == 0 && file[1] == 0 && TypeOf(file[2]) != DataType::kNone && file[3] >= 1 &&
         file[3] <= 8;
}

Array ReadIdx(const std::string& path, std::span<const uint8_t> file) {
  Array array;
  array.type = TypeOf(file[2]);
  const size_t rank = file[3];
  if (file.size() < 4 + 4 * rank) throw InputError(absl::StrCat(path, ": idx header is cut off; fetch it again"));
  for (size_t i = 0; i < rank; ++i) {
    const uint8_t* p = &file[4 + 4 * i];
    array.dims.push_back(size_t{p[0]} << 24 | size_t{p[1]} << 16 | size_t{p[2]} << 8 | p[3]);
  }
  array.bytes.assign(file.begin() + static_cast<std::ptrdiff_t>(4 + 4 * rank), file.end());
  CheckDims(path, array);
  const auto width = static_cast<std::ptrdiff_t>(BitWidth(array.type) / 8);
  for (auto at = array.bytes.begin(); at != array.bytes.end(); at += width) std::reverse(at, at + width);
  return array;
}

std::vector<uint8_t> ReadPlainOrGzip(const std::string& path, size_t most) {
  std::vector<uint8_t> bytes = ReadFile(path);
  if (bytes.size() < 2 || bytes[0] != 0x1F || bytes[1] != 0x8B) return bytes;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), &gzclose);
  bytes.clear();
  constexpr unsigned kChunk = 1 << 20;
  for (int got = kChunk; got == kChunk;) {
    const size_t at = bytes.size();
    bytes.resize(at + kChunk);
    got = file != nullptr ? gzread(file.get(), bytes.data() + at, kChunk) : -1;
    if (got < 0) throw InputError(absl::StrCat(path, ": is damaged; compress it again with gzip"));
    bytes.resize(at + static_cast<size_t>(got));
    if (bytes.size() > most)
      throw InputError(absl::StrCat(path, ": takes more than ", most, " bytes when unpacked; split it"));
  }
  int error = Z_OK;
  gzerror(file.get(), &error);
  if (error != Z_OK) throw InputError(absl::StrCat(path, ": is cut off; compress it again with gzip"));
  return bytes;
}

}  // namespace takt::cli
