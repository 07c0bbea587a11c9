// Any bytes as what the command line reads as data: .npy, .npz and idx arrays, plain or packed with gzip, labels,
// pictures, recordings, latency baselines, step costs.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>

#include "converter/backend/step_costs.h"
#include "converter/cli/data/idx.h"
#include "converter/cli/data/image.h"
#include "converter/cli/data/labels.h"
#include "converter/cli/data/npy.h"
#include "converter/cli/data/sound.h"
#include "converter/cli/files.h"
#include "converter/report/profile.h"

namespace {

using takt::cli::Array;

/// The path of a file in memory that has the bytes.
const std::string& FileOf(std::span<const uint8_t> bytes) {
  static const int fd = memfd_create("fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(fd);
  if (ftruncate(fd, 0) != 0 || pwrite(fd, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    std::abort();
  return path;
}

/// What is accepted holds what its shape says.
void Check(const Array& array) {
  size_t elements = 1;
  for (const size_t dim : array.dims) elements *= dim;
  if (elements * takt::BitWidth(array.type) != 8 * array.bytes.size()) std::abort();
}

/// What a reader refuses is an InputError.
template <typename F>
void Try(F read) {
  try {
    read();
  } catch (const takt::cli::InputError&) {
  }
}

void ReadArrays(const std::string& path, std::span<const uint8_t> bytes) {
  Try([&] {
    for (const auto& [name, array] : takt::cli::ReadNpz(path)) Check(array);
  });
  Try([&] { takt::cli::ReadLabels(path); });
  Try([&] {
    const std::vector<uint8_t> plain = takt::cli::ReadPlainOrGzip(path);
    if (takt::cli::IsNpy(plain)) Check(takt::cli::ReadNpy("fuzz", plain));
    if (takt::cli::IsIdx(plain)) Check(takt::cli::ReadIdx("fuzz", plain));
  });
  Try([&] { Check(takt::cli::ReadSound("fuzz", bytes, 1024)); });
  for (const int channels : {1, 3}) Try([&] { Check(takt::cli::ReadImage("fuzz", bytes, 4, 4, channels)); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ReadArrays(FileOf({data, size}), {data, size});
  const std::string text(reinterpret_cast<const char*>(data), size);
  std::string problem;
  if (const auto profile = takt::report::ParseProfile(text, problem)) (void)takt::report::ProfileText(*profile);
  if (const auto costs = takt::backend::ParseStepCosts(text, problem)) (void)takt::backend::StepCostsText(*costs);
  return 0;
}
