#include "converter/cli/devices.h"

#include <algorithm>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"
#include "converter/cli/session.h"
#include "converter/npu/compiler.h"
#include "ports/npu_emu/npu_emu.h"

namespace takt::cli {
namespace {

using Opened = std::unique_ptr<OwnedDevice>;

class EmulatedNpu final : public OwnedDevice {
 public:
  EmulatedNpu(const std::string& path, const Plan& plan) {
    npu::Machine machine;
    Require(path, npu::ReadMachine(plan.machine(), machine));
    workspace_ = AlignedBytes(npu::NpuEmu::WorkspaceBytes(machine));
    Require(path, npu_.Init(plan.machine(), workspace_.span(), clock_));
  }
  Device& device() override { return npu_; }

 private:
  AlignedBytes workspace_;
  npu::VirtualClock clock_;
  npu::NpuEmu npu_;
};

struct Row {
  const char* name;  ///< As plans have it.
  Opened (*open)(const std::string& path, const Plan& plan);
};
template <typename T>
Opened Open(const std::string& path, const Plan& plan) {
  return std::make_unique<T>(path, plan);
}
constexpr Row kDevices[] = {
    {npu::kDeviceName, Open<EmulatedNpu>},
};

std::string Names() {
  std::string names;
  for (const Row& row : kDevices) absl::StrAppend(&names, names.empty() ? "" : ", ", row.name);
  return names;
}

}  // namespace

std::vector<Opened> OpenDevices(const std::string& path, const Plan& plan) {
  std::vector<Opened> devices;
  for (uint32_t i = 0; i < plan.device_count(); ++i) {
    const std::string name(plan.device_name(i));
    const auto row =
        std::find_if(std::begin(kDevices), std::end(kDevices), [&](const Row& r) { return r.name == name; });
    if (row == std::end(kDevices)) {
      throw InputError(absl::StrCat(path, ": wants device '", name, "', which this build lacks; it has: ", Names()));
    }
    devices.push_back(row->open(path, plan));
  }
  return devices;
}

}  // namespace takt::cli
