// Devices that this build of the CLI can run plans on.
#ifndef TAKT_CONVERTER_CLI_DEVICES_H_
#define TAKT_CONVERTER_CLI_DEVICES_H_

#include <memory>
#include <string>
#include <vector>

#include "engine/hal/device.h"
#include "engine/plan/plan.h"

namespace takt::cli {

/// A device with the memory that it works in.
class OwnedDevice {
 public:
  virtual ~OwnedDevice() = default;
  virtual Device& device() = 0;
};

/// The devices of a plan, in its order; throws InputError, which names `path`, if this build lacks one.
std::vector<std::unique_ptr<OwnedDevice>> OpenDevices(const std::string& path, const Plan& plan);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_DEVICES_H_
