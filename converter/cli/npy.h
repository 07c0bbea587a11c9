// NumPy's .npy files, as far as tensors need them.
#ifndef TAKT_CONVERTER_CLI_NPY_H_
#define TAKT_CONVERTER_CLI_NPY_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/base/data_type.h"

namespace takt::cli {

bool IsNpy(std::span<const uint8_t> file);
/// The array's bytes; throws InputError unless it is little-endian, in C order and of `type`.
std::vector<uint8_t> NpyData(const std::string& path, std::span<const uint8_t> file, DataType type);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_NPY_H_
