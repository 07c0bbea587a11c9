// NumPy's .npy files, and .npz archives of them, as far as tensors need them.
#ifndef TAKT_CONVERTER_CLI_DATA_NPY_H_
#define TAKT_CONVERTER_CLI_DATA_NPY_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "converter/cli/data/array.h"

namespace takt::cli {

bool IsNpy(std::span<const uint8_t> file);
/// Throws InputError unless it is little-endian and in C order.
Array ReadNpy(const std::string& path, std::span<const uint8_t> file);
/// The bytes of an array of `type`; throws InputError if it is of another.
std::vector<uint8_t> NpyData(const std::string& path, std::span<const uint8_t> file, DataType type);

/// Arrays by name. Throws InputError if the archive is damaged, or takes more than 4 GiB, or more than its bytes can
/// hold.
std::map<std::string, Array> ReadNpz(const std::string& path);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_DATA_NPY_H_
