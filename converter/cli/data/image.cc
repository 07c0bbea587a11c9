#include "converter/cli/data/image.h"

#include <stb/stb_image.h>
#include <stb/stb_image_resize.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"

namespace takt::cli {

bool IsImageName(const std::string& path) {
  const std::string extension = absl::AsciiStrToLower(std::filesystem::path(path).extension().string());
  for (const char* known : {".png", ".jpg", ".jpeg", ".bmp", ".pgm", ".ppm"}) {
    if (extension == known) return true;
  }
  return false;
}

namespace {

constexpr int64_t kMostPixels = int64_t{1} << 26;

/// Pixels that a byte of a file can stand for: of BMP and PNM at least a bit is stored for each, JPEG has a bit or more
/// for a block of 64, and PNG packs bits with deflate, 1032 bytes in one at best.
int64_t PixelsPerByte(std::span<const uint8_t> file) {
  const uint8_t first = file.empty() ? 0 : file[0];
  return first == 'P' || first == 'B' ? 8 : first == 0xFF ? 512 : 8256;
}

/// Before any pixel is decoded. Rows of a BMP are stored from the top if its height is negative.
void CheckSize(const std::string& path, std::span<const uint8_t> file, int w, int h) {
  const int64_t pixels = int64_t{w} * std::abs(int64_t{h});
  if (pixels > kMostPixels)
    throw InputError(
        absl::StrCat(path, ": has ", w, "x", h, " pixels; more than 64 million are not read, scale it down"));
  if (pixels / PixelsPerByte(file) > static_cast<int64_t>(file.size()))
    throw InputError(absl::StrCat(path, ": says it has ", w, "x", h, " pixels, which its ", file.size(),
                                  " bytes cannot hold; it is cut off"));
}

uint32_t BigEndian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

/// stb makes room for what a chunk of a PNG claims to have before it reads that.
void CheckChunks(const std::string& path, std::span<const uint8_t> file) {
  constexpr size_t kSignature = 8, kHead = 8, kChecksum = 4;
  if (file.empty() || file[0] != 0x89) return;
  for (size_t at = kSignature; at + kHead + kChecksum <= file.size();) {
    const size_t bytes = BigEndian(&file[at]), left = file.size() - at - kHead - kChecksum;
    if (bytes > left)
      throw InputError(absl::StrCat(path, ": says at byte ", at, " that ", bytes, " follow, of which it has ", left,
                                    "; it is cut off"));
    if (std::equal(&file[at + 4], &file[at + kHead], "IEND")) return;
    at += kHead + bytes + kChecksum;
  }
}

}  // namespace

Array ReadImage(const std::string& path, std::span<const uint8_t> file, int height, int width, int channels) {
  int w = 0, h = 0, stored = 0;
  CheckChunks(path, file);
  const auto size = static_cast<int>(std::min<size_t>(file.size(), INT_MAX));
  if (stbi_info_from_memory(file.data(), size, &w, &h, &stored) != 0) CheckSize(path, file, w, h);
  if (!file.empty() && file[0] == 'P' && stbi_is_16_bit_from_memory(file.data(), size) != 0)
    throw InputError(absl::StrCat(path, ": has more than 255 levels, which stb misreads of PGM and PPM; save 8 bits"));
  const std::unique_ptr<stbi_uc, void (*)(void*)> pixels(
      stbi_load_from_memory(file.data(), size, &w, &h, &stored, channels), &stbi_image_free);
  if (pixels == nullptr || w < 1 || h < 1) {
    throw InputError(absl::StrCat(path, ": can't be read as a picture (",
                                  pixels == nullptr ? stbi_failure_reason() : "it has no pixels",
                                  "); PNG, JPEG, BMP, PGM and PPM can"));
  }
  Array image{
      DataType::kUint8, {static_cast<size_t>(height), static_cast<size_t>(width), static_cast<size_t>(channels)}, {}};
  image.bytes.resize(image.dims[0] * image.dims[1] * image.dims[2]);
  if (w == width && h == height) {
    std::copy_n(pixels.get(), image.bytes.size(), image.bytes.data());
  } else if (stbir_resize_uint8(pixels.get(), w, h, 0, image.bytes.data(), width, height, 0, channels) == 0) {
    throw InputError(absl::StrCat(path, ": can't be scaled to ", width, "x", height));
  }
  return image;
}

}  // namespace takt::cli
