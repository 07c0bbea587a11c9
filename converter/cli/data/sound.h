// Recordings as arrays.
#ifndef TAKT_CONVERTER_CLI_DATA_SOUND_H_
#define TAKT_CONVERTER_CLI_DATA_SOUND_H_

#include <span>
#include <string>

#include "converter/cli/data/array.h"

namespace takt::cli {

/// Whether a file of that name is read as a recording: WAV.
bool IsSoundName(const std::string& path);
/// float32 [values], full scale is 1: a recording of one channel, with silence behind it where it is shorter than
/// `values`. Throws InputError, also if it is longer.
Array ReadSound(const std::string& path, std::span<const uint8_t> file, size_t values);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_DATA_SOUND_H_
