// Pictures as arrays.
#ifndef TAKT_CONVERTER_CLI_DATA_IMAGE_H_
#define TAKT_CONVERTER_CLI_DATA_IMAGE_H_

#include <span>
#include <string>

#include "converter/cli/data/array.h"

namespace takt::cli {

/// Whether a file of that name is read as a picture: PNG, JPEG, BMP, PGM, PPM.
bool IsImageName(const std::string& path);
/// uint8 [height, width, channels], scaled from the picture's size; 1 channel (luma) or 3 (RGB). Throws InputError.
Array ReadImage(const std::string& path, std::span<const uint8_t> file, int height, int width, int channels);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_DATA_IMAGE_H_
