// Any bytes as what the command line reads as data: .npy and idx arrays, pictures, latency baselines, step costs.
#include "converter/backend/step_costs.h"
#include "converter/cli/data/idx.h"
#include "converter/cli/data/image.h"
#include "converter/cli/data/npy.h"
#include "converter/cli/files.h"
#include "converter/report/profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::span<const uint8_t> bytes(data, size);
  try {
    if (takt::cli::IsNpy(bytes)) {
      (void)takt::cli::ReadNpy("fuzz", bytes);
    } else if (takt::cli::IsIdx(bytes)) {
      (void)takt::cli::ReadIdx("fuzz", bytes);
    } else {
      (void)takt::cli::ReadImage("fuzz", bytes, 4, 4, 3);
    }
  } catch (const takt::cli::InputError&) {
  }
  std::string problem;
  if (const auto profile = takt::report::ParseProfile({reinterpret_cast<const char*>(data), size}, problem))
    (void)takt::report::ProfileText(*profile);
  if (const auto costs = takt::backend::ParseStepCosts({reinterpret_cast<const char*>(data), size}, problem))
    (void)takt::backend::StepCostsText(*costs);
  return 0;
}
