#include "converter/cli/data/npy.h"

#include <zip.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "converter/cli/files.h"

namespace takt::cli {
namespace {

constexpr char kMagic[] = "\x93NUMPY";
constexpr uint64_t kMostBytes = uint64_t{1} << 32;
constexpr uint64_t kMostRatio = 1032;  // Deflate packs no better.

/// NumPy's codes, without the byte order.
constexpr std::pair<const char*, DataType> kCodes[] = {
    {"f4", DataType::kFloat32}, {"f2", DataType::kFloat16}, {"i1", DataType::kInt8},  {"u1", DataType::kUint8},
    {"i2", DataType::kInt16},   {"i4", DataType::kInt32},   {"i8", DataType::kInt64}, {"u4", DataType::kUint32},
    {"u8", DataType::kUint64},  {"b1", DataType::kBool},
};

const char* NpyCode(DataType type) {
  for (const auto& [code, known] : kCodes) {
    if (known == type) return code;
  }
  return "?";
}

/// What follows `key` in the header's dictionary, without spaces and quotes around it, up to one of `ends`.
std::string_view Value(std::string_view header, std::string_view key, const char* ends = ",'\"") {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  const size_t begin = header.find_first_not_of(" :'\"(", at + key.size());
  if (begin == std::string_view::npos) return {};
  return header.substr(begin, header.find_first_of(ends, begin) - begin);
}

/// The header's dictionary; `start` becomes the place of the data.
std::string_view Header(const std::string& path, std::span<const uint8_t> file, size_t& start) {
  size_t length = file[8] | size_t{file[9]} << 8;
  start = 10;
  if (file[6] >= 2) {
    length |= size_t{file[10]} << 16 | size_t{file[11]} << 24;
    start = 12;
  }
  if (length > file.size() - start) throw InputError(absl::StrCat(path, ": .npy header is cut off; save it again"));
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + start, length);
  start += length;
  return header;
}

std::vector<size_t> Dims(const std::string& path, std::string_view header) {
  std::vector<size_t> dims;
  for (const absl::string_view part :
       absl::StrSplit(absl::string_view(Value(header, "'shape'", ")").data(), Value(header, "'shape'", ")").size()),
                      ',', absl::SkipWhitespace())) {
    uint64_t dim = 0;
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(part), &dim)) {
      throw InputError(absl::StrCat(path, ": .npy header has a shape that is no list of numbers; save it again"));
    }
    dims.push_back(dim);
  }
  return dims;
}

/// `room`: the bytes that the members may still take.
Array ReadMember(const std::string& path, zip_t* archive, zip_uint64_t index, uint64_t& room, std::string& name) {
  zip_stat_t stat;
  const auto fail = [&](const char* why) { return InputError(absl::StrCat(path, ": ", why, "; save it again")); };
  if (zip_stat_index(archive, index, 0, &stat) != 0) throw fail(zip_strerror(archive));
  name = stat.name;
  if (stat.size > room)
    throw fail("its members say that they have more than 4 GiB, or more than the archive's bytes can hold");
  room -= stat.size;
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(zip_fopen_index(archive, index, 0), &zip_fclose);
  if (file == nullptr) throw fail(zip_strerror(archive));
  std::vector<uint8_t> bytes(stat.size);
  if (zip_fread(file.get(), bytes.data(), bytes.size()) != static_cast<zip_int64_t>(bytes.size()))
    throw fail(zip_file_strerror(file.get()));
  if (!IsNpy(bytes)) throw fail("holds files that are not .npy");
  return ReadNpy(absl::StrCat(path, ":", name), bytes);
}

}  // namespace

bool IsNpy(std::span<const uint8_t> file) {
  return file.size() >= 12 && std::memcmp(file.data(), kMagic, 6) == 0;
}

Array ReadNpy(const std::string& path, std::span<const uint8_t> file) {
  size_t start = 0;
  const std::string_view header = Header(path, file, start);
  const std::string_view descr = Value(header, "'descr'");
  Array array;
  for (const auto& [code, type] : kCodes) {
    if (descr.size() == 3 && descr.substr(1) == code && descr[0] != '>') array.type = type;
  }
  if (array.type == DataType::kNone) {
    throw InputError(absl::StrCat(path, ": .npy holds '", std::string(descr),
                                  "', which is no little-endian number of at most 64 bits; convert it with astype"));
  }
  if (Value(header, "'fortran_order'") != "False") {
    throw InputError(absl::StrCat(path, ": .npy is in Fortran order; save numpy.ascontiguousarray(x)"));
  }
  array.dims = Dims(path, header);
  array.bytes.assign(file.begin() + static_cast<std::ptrdiff_t>(start), file.end());
  CheckDims(path, array);
  return array;
}

std::vector<uint8_t> NpyData(const std::string& path, std::span<const uint8_t> file, DataType type) {
  Array array = ReadNpy(path, file);
  if (array.type != type) {
    throw InputError(absl::StrCat(path, ": .npy holds '", NpyCode(array.type), "', the input wants '", NpyCode(type),
                                  "'; convert it with astype"));
  }
  return std::move(array.bytes);
}

std::map<std::string, Array> ReadNpz(const std::string& path) {
  int error = 0;
  const std::unique_ptr<zip_t, void (*)(zip_t*)> archive(zip_open(path.c_str(), ZIP_RDONLY, &error), &zip_discard);
  if (archive == nullptr)
    throw InputError(absl::StrCat(path, ": is no zip archive, or damaged; save it with numpy.savez"));
  std::error_code ignored;
  const uint64_t bytes = std::filesystem::file_size(path, ignored);
  uint64_t room = bytes > kMostBytes / kMostRatio ? kMostBytes : bytes * kMostRatio;
  std::map<std::string, Array> arrays;
  const zip_int64_t count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    std::string name;
    Array array = ReadMember(path, archive.get(), static_cast<zip_uint64_t>(i), room, name);
    arrays.emplace(std::string(absl::StripSuffix(name, ".npy")), std::move(array));
  }
  return arrays;
}

}  // namespace takt::cli
