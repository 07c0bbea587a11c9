#include "converter/cli/data/array.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/cli/files.h"

namespace takt::cli {
namespace {

template <typename T>
std::vector<double> Convert(const Array& array, size_t first, size_t count) {
  std::vector<T> values(count);
  if (count != 0) std::memcpy(values.data(), array.bytes.data() + first * sizeof(T), count * sizeof(T));
  return {values.begin(), values.end()};
}

}  // namespace

std::vector<double> Numbers(const std::string& path, const Array& array, size_t first, size_t count) {
  switch (array.type) {
    case DataType::kFloat32:
      return Convert<float>(array, first, count);
    case DataType::kInt8:
      return Convert<int8_t>(array, first, count);
    case DataType::kUint8:
    case DataType::kBool:
      return Convert<uint8_t>(array, first, count);
    case DataType::kInt16:
      return Convert<int16_t>(array, first, count);
    case DataType::kInt32:
      return Convert<int32_t>(array, first, count);
    case DataType::kInt64:
      return Convert<int64_t>(array, first, count);
    case DataType::kUint32:
      return Convert<uint32_t>(array, first, count);
    default:
      throw InputError(absl::StrCat(path, ": holds neither float32 nor integers; convert it with astype"));
  }
}

void CheckDims(const std::string& path, const Array& array) {
  const size_t width = BitWidth(array.type) / 8;
  size_t elements = 1;
  bool more = false;  // Than there are.
  for (const size_t dim : array.dims) {
    more = more || (dim != 0 && elements > array.bytes.size() / dim);
    elements *= dim;
  }
  if (more || elements * width != array.bytes.size()) {
    throw InputError(absl::StrCat(path, ": says it holds ", absl::StrJoin(array.dims, "x"), " elements, and has ",
                                  array.bytes.size(), " bytes of ", width, " each; it is cut off or no such file"));
  }
}

}  // namespace takt::cli
