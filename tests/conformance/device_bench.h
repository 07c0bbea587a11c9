// A device port as the conformance suite sees it.
#ifndef TAKT_TESTS_CONFORMANCE_DEVICE_BENCH_H_
#define TAKT_TESTS_CONFORMANCE_DEVICE_BENCH_H_

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "engine/hal/device.h"
#include "tests/support/exceptions.h"

namespace takt::test {

/// A device fresh from power-up, with a stream that makes base 1 of base 0, both of kBytes bytes.
class Bench {
 public:
  static constexpr size_t kBytes = 64;
  using Block = std::span<std::byte, kBytes>;

  Bench() = default;
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;
  virtual ~Bench() = default;

  virtual Device& device() = 0;
  virtual std::span<const std::byte> stream() { return {}; }
  /// What the stream makes of a byte.
  virtual std::byte Expected(std::byte input) const { return input; }
  /// That the device's jobs take time of; without one they take none.
  virtual Clock clock() { return {}; }
  /// The next job fails. False: the device never does.
  virtual bool FailNext() { return false; }

  /// Each id below kJobs is a job on memory of its own; base 0 is a constant.
  static constexpr uint16_t kJobs = kMaxJobsInFlight + 1;
  Job job(uint16_t id) {
    bases_[id][0] = input(id);
    bases_[id][1] = output(id);
    return {id, stream(), bases_[id], 1};
  }
  Block input(uint16_t id) { return Block(memory_[2 * id]); }
  Block output(uint16_t id) { return Block(memory_[2 * id + 1]); }

 private:
  alignas(64) std::byte memory_[2 * kJobs][kBytes] = {};
  std::span<std::byte> bases_[kJobs][2];
};

struct DevicePort {
  std::string name;
  std::function<std::unique_ptr<Bench>()> make;
  Exceptions exceptions;
};
/// What tests print of it.
inline std::ostream& operator<<(std::ostream& out, const DevicePort& port) {
  return out << port.name;
}

/// All devices: a new port is a row here.
const std::vector<DevicePort>& DevicePorts();

}  // namespace takt::test

#endif  // TAKT_TESTS_CONFORMANCE_DEVICE_BENCH_H_
