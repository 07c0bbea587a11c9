// Any bytes as what the command line reads as data: .npy arrays, latency baselines.
#include "converter/cli/files.h"
#include "converter/cli/npy.h"
#include "converter/report/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  try {
    if (takt::cli::IsNpy(bytes)) (void)takt::cli::NpyData("fuzz", bytes, takt::DataType::kFloat32);
  } catch (const takt::cli::InputError&) {
  }
  std::string problem;
  if (const auto profile = takt::report::ParseProfile({reinterpret_cast<const char*>(data), size}, problem))
    (void)takt::report::ProfileText(*profile);
  return 0;
}
