// MNIST's idx files, plain or compressed with gzip.
#ifndef TAKT_CONVERTER_CLI_DATA_IDX_H_
#define TAKT_CONVERTER_CLI_DATA_IDX_H_

#include <span>
#include <string>

#include "converter/cli/data/array.h"

namespace takt::cli {

/// Whether a file, decompressed, starts as an idx file does.
bool IsIdx(std::span<const uint8_t> file);
/// Throws InputError if it is cut off or of a type without a tensor's type.
Array ReadIdx(const std::string& path, std::span<const uint8_t> file);

/// The bytes of a file, decompressed if gzip made it (at most `most`); throws InputError.
std::vector<uint8_t> ReadPlainOrGzip(const std::string& path, size_t most = size_t{1} << 32);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_DATA_IDX_H_
