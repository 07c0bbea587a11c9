// Labels of samples, from files as people have them.
#ifndef TAKT_CONVERTER_CLI_DATA_LABELS_H_
#define TAKT_CONVERTER_CLI_DATA_LABELS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/cli/data/array.h"

namespace takt::cli {

/// One label an element; throws InputError for other than whole numbers.
std::vector<int64_t> LabelsOf(const std::string& path, const Array& array);

/// One label a sample: idx, .npy, or text with one a line (the last field of a CSV; a first line without a number is a
/// header). Throws InputError.
std::vector<int64_t> ReadLabels(const std::string& path);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_DATA_LABELS_H_
