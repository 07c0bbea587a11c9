#include "converter/cli/data/sound.h"

#include <sndfile.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"

namespace takt::cli {
namespace {

/// A file in memory, as libsndfile reads one.
struct Memory {
  std::span<const uint8_t> bytes;
  sf_count_t at = 0;

  sf_count_t size() const { return static_cast<sf_count_t>(bytes.size()); }
  static Memory& Of(void* self) { return *static_cast<Memory*>(self); }
};

sf_count_t Size(void* self) {
  return Memory::Of(self).size();
}
sf_count_t Tell(void* self) {
  return Memory::Of(self).at;
}
sf_count_t Seek(sf_count_t offset, int whence, void* self) {
  Memory& memory = Memory::Of(self);
  const sf_count_t from = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? memory.at : memory.size();
  if (offset < -from || offset > memory.size() - from) return -1;
  return memory.at = from + offset;
}
sf_count_t Read(void* to, sf_count_t count, void* self) {
  Memory& memory = Memory::Of(self);
  count = std::min(count, memory.size() - memory.at);
  if (count > 0) std::memcpy(to, memory.bytes.data() + memory.at, static_cast<size_t>(count));
  memory.at += count;
  return count;
}

}  // namespace

bool IsSoundName(const std::string& path) {
  return absl::AsciiStrToLower(std::filesystem::path(path).extension().string()) == ".wav";
}

Array ReadSound(const std::string& path, std::span<const uint8_t> file, size_t values) {
  Memory memory{file};
  SF_VIRTUAL_IO io = {Size, Seek, Read, nullptr, Tell};
  SF_INFO info = {};
  const std::unique_ptr<SNDFILE, int (*)(SNDFILE*)> sound(sf_open_virtual(&io, SFM_READ, &info, &memory), &sf_close);
  const int form = info.format & SF_FORMAT_TYPEMASK;
  if (sound == nullptr || (form != SF_FORMAT_WAV && form != SF_FORMAT_WAVEX)) {
    throw InputError(absl::StrCat(path, ": can't be read as a WAV file (",
                                  sound == nullptr ? sf_strerror(nullptr) : "it is of another form", ")"));
  }
  if (info.channels != 1)
    throw InputError(
        absl::StrCat(path, ": has ", info.channels, " channels; mix them to one: sox ", path, " -c 1 mono.wav"));
  if (info.frames < 1 || static_cast<uint64_t>(info.frames) > values)
    throw InputError(absl::StrCat(path, ": has ", info.frames, " values; a sample of the input has ", values,
                                  ", and a recording holds some, and no more"));
  std::vector<float> heard(values);
  if (sf_read_float(sound.get(), heard.data(), info.frames) != info.frames)
    throw InputError(absl::StrCat(path, ": is cut off; fetch it again"));
  Array array{DataType::kFloat32, {values}, std::vector<uint8_t>(values * sizeof(float))};
  std::memcpy(array.bytes.data(), heard.data(), array.bytes.size());
  return array;
}

}  // namespace takt::cli
