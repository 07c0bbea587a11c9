// What a data file holds, whatever its form.
#ifndef TAKT_CONVERTER_CLI_DATA_ARRAY_H_
#define TAKT_CONVERTER_CLI_DATA_ARRAY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/data_type.h"

namespace takt::cli {

/// Row-major, little-endian.
struct Array {
  DataType type = DataType::kNone;
  std::vector<size_t> dims;
  std::vector<uint8_t> bytes;

  size_t elements() const { return bytes.size() / (BitWidth(type) / 8); }
};

/// Elements as numbers, [first, first + count); throws InputError, which names `path`, for types that are no numbers.
std::vector<double> Numbers(const std::string& path, const Array& array, size_t first, size_t count);

/// The number of elements that `dims` say; throws InputError if the product is not `bytes` of them.
void CheckDims(const std::string& path, const Array& array);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_DATA_ARRAY_H_
