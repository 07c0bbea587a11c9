// A plan with memory of its own.
#ifndef TAKT_TESTS_SUPPORT_PLAN_RUNNER_H_
#define TAKT_TESTS_SUPPORT_PLAN_RUNNER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/core/interpreter.h"
#include "engine/plan/plan.h"
#include "ports/reference/kernels.h"

namespace takt::test {

using Bytes = std::vector<uint8_t>;

/// Zeroed bytes at a 64-byte multiple.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size) : blocks_((size + 63) / 64), size_(size) {}
  std::span<std::byte> span() { return std::as_writable_bytes(std::span(blocks_)).first(size_); }

 private:
  struct alignas(64) Block {
    std::byte bytes[64] = {};
  };
  std::vector<Block> blocks_;
  size_t size_;
};

/// Whatever fails throws std::runtime_error with the status in words, which fails the test.
class PlanRunner {
 public:
  /// `devices`, if the plan has any, outlive this object.
  explicit PlanRunner(const Bytes& plan, KernelTable kernels = reference::AllKernels(),
                      std::span<Device* const> devices = {}, uint16_t first_job = 0);

  /// Binds the open plan afresh; the constructor has done it once.
  Status Init();
  const Plan& plan() const { return plan_; }
  Interpreter& net() { return net_; }
  /// The bytes of the plan's arena `i`.
  std::span<std::byte> arena(uint32_t i) { return arenas_[i]; }

  /// Sets the inputs, runs, returns the outputs, all in graph order. State is kept from run to run.
  std::vector<Bytes> Run(const std::vector<Bytes>& inputs);

  /// Runs once, step by step; returns the value of each dense tensor that has a source (debug table), by that: right
  /// after the step that writes it, or, if none does (inputs, views), right before the first step that reads it.
  std::map<int32_t, Bytes> RunAndCapture(const std::vector<Bytes>& inputs);

 private:
  void SetInputs(const std::vector<Bytes>& inputs);

  AlignedBytes file_;
  KernelTable kernels_;
  std::span<Device* const> devices_;
  uint16_t first_job_;
  Plan plan_;
  std::vector<AlignedBytes> memory_;  ///< The plan's arenas, then the runtime arena.
  std::vector<std::span<std::byte>> arenas_;
  Interpreter net_;
};

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_PLAN_RUNNER_H_
