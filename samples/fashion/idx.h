// Images in the idx form of MNIST (uncompressed), or one raw image.
#ifndef TAKT_SAMPLES_FASHION_IDX_H_
#define TAKT_SAMPLES_FASHION_IDX_H_

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace fashion {

inline constexpr size_t kSide = 28;
inline constexpr size_t kPixels = kSide * kSide;

/// All of a file; empty if it cannot be read.
inline std::vector<uint8_t> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Pixels of all images of a file: idx, or raw if it has exactly one image's bytes. Empty on any other content.
inline std::vector<uint8_t> Images(const std::string& path) {
  std::vector<uint8_t> bytes = ReadFile(path);
  if (bytes.size() == kPixels) return bytes;
  if (bytes.size() < 16 || bytes[2] != 8 || bytes[3] != 3 || (bytes.size() - 16) % kPixels != 0) return {};
  bytes.erase(bytes.begin(), bytes.begin() + 16);
  return bytes;
}

}  // namespace fashion

#endif  // TAKT_SAMPLES_FASHION_IDX_H_
