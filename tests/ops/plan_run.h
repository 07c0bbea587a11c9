// A plan on every port, in memory with red zones.
#ifndef TAKT_TESTS_OPS_PLAN_RUN_H_
#define TAKT_TESTS_OPS_PLAN_RUN_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/base/data_type.h"

namespace takt::test {

/// Bytes at a 64-byte multiple between two zones of 64 bytes that must not change.
class ZonedBytes {
 public:
  explicit ZonedBytes(size_t size);
  explicit ZonedBytes(const std::vector<uint8_t>& bytes);
  std::span<std::byte> span() { return {begin(), size_}; }
  bool Intact() const;

 private:
  static constexpr size_t kZone = 64;
  static constexpr std::byte kMark{0xA5};
  std::byte* begin() { return store_.data() + kZone + skip_; }
  std::vector<std::byte> store_;
  size_t skip_ = 0;
  size_t size_;
};

/// Elements of a type, and back. Little-endian.
std::vector<uint8_t> Pack(DataType type, const std::vector<double>& values);
std::vector<double> Unpack(DataType type, const std::vector<uint8_t>& bytes);

/// The outputs' bytes. Runs on each port that has all kernels (the reference port must), twice: in arenas, and on bound
/// buffers with the arenas' bytes different; a difference, a broken zone or a failure is a test failure. A port's list
/// of exceptions knows the case by `name`.
std::vector<std::vector<uint8_t>> RunOnPorts(const std::vector<uint8_t>& plan,
                                             const std::vector<std::vector<uint8_t>>& inputs,
                                             const std::string& name = "");

/// The outputs' bytes of a plan for an emulated NPU, whose host steps run on the reference port.
std::vector<std::vector<uint8_t>> RunOnNpu(const std::vector<uint8_t>& plan,
                                           const std::vector<std::vector<uint8_t>>& inputs);

}  // namespace takt::test

#endif  // TAKT_TESTS_OPS_PLAN_RUN_H_
