#include "converter/cli/npy.h"

#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"

namespace takt::cli {
namespace {

constexpr char kMagic[] = "\x93NUMPY";

/// NumPy's code, without the byte order.
const char* NpyCode(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return "f4";
    case DataType::kFloat16:
      return "f2";
    case DataType::kInt8:
      return "i1";
    case DataType::kUint8:
      return "u1";
    case DataType::kInt16:
      return "i2";
    case DataType::kInt32:
      return "i4";
    case DataType::kInt64:
      return "i8";
    case DataType::kUint32:
      return "u4";
    case DataType::kUint64:
      return "u8";
    case DataType::kBool:
      return "b1";
    default:
      return "?";
  }
}

/// What follows `key` in the header's dictionary, without spaces and quotes around it.
std::string_view Value(std::string_view header, std::string_view key) {
  const size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  const size_t begin = header.find_first_not_of(" :'\"", at + key.size());
  if (begin == std::string_view::npos) return {};
  return header.substr(begin, header.find_first_of(",'\"", begin) - begin);
}

}  // namespace

bool IsNpy(std::span<const uint8_t> file) {
  return file.size() >= 12 && std::memcmp(file.data(), kMagic, 6) == 0;
}

std::vector<uint8_t> NpyData(const std::string& path, std::span<const uint8_t> file, DataType type) {
  size_t length = file[8] | size_t{file[9]} << 8, start = 10;
  if (file[6] >= 2) {
    length |= size_t{file[10]} << 16 | size_t{file[11]} << 24;
    start = 12;
  }
  if (length > file.size() - start) throw InputError(absl::StrCat(path, ": .npy header is cut off; save it again"));
  const std::string_view header(reinterpret_cast<const char*>(file.data()) + start, length);
  const std::string_view descr = Value(header, "'descr'");
  if (descr.size() < 3 || descr.substr(1) != NpyCode(type) || descr[0] == '>') {
    throw InputError(absl::StrCat(path, ": .npy holds '", std::string(descr), "', the input wants '<", NpyCode(type),
                                  "'; convert it with astype"));
  }
  if (Value(header, "'fortran_order'") != "False") {
    throw InputError(absl::StrCat(path, ": .npy is in Fortran order; save numpy.ascontiguousarray(x)"));
  }
  const auto data = file.subspan(start + length);
  return {data.begin(), data.end()};
}

}  // namespace takt::cli
