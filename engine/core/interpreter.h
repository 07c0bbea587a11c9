// Runs a plan, in memory that the caller owns.
#ifndef TAKT_ENGINE_CORE_INTERPRETER_H_
#define TAKT_ENGINE_CORE_INTERPRETER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include "engine/base/data_type.h"
#include "engine/base/status.h"
#include "engine/core/kernel.h"
#include "engine/core/trace.h"
#include "engine/hal/device.h"
#include "engine/hal/platform.h"
#include "engine/plan/plan.h"

namespace takt {

/// The interpreter's record of one step, at the start of the runtime arena; the same bytes on every target.
struct StepRecord {
  uint32_t row;  ///< Of the kernel table.
  uint32_t scratch_offset, scratch_bytes;
  uint32_t persistent_offset, persistent_bytes;
  uint32_t reserved[3];
};
static_assert(sizeof(StepRecord) == 32 && alignof(StepRecord) == 4);

inline constexpr uint32_t kRuntimeAlignment = 64;
inline constexpr uint32_t kBufferAlignment = 16;  ///< Of buffers that inputs and outputs are bound to.
inline constexpr int kMaxBindings = 16;
inline constexpr int kMaxLoopDepth = 4;
inline constexpr uint64_t kNoDeadline = UINT64_MAX;

struct ArenaNeed {
  uint32_t bytes = 0;
  uint32_t alignment = 1;
};

/// Bytes and alignment of every arena of the plan, in its order, then of the runtime arena.
struct Requirements {
  ArenaNeed arenas[kMaxArenas];
  uint32_t arena_count = 0;
  ArenaNeed runtime;
  uint32_t slack =
      0;  ///< Bytes that kernels may read behind an operand; inside the arenas' bytes, and asked of bound buffers.
};

/// The key of the rows that can run a kernel step.
KernelKey KeyOf(const Plan& plan, const StepView& step);

/// A pure function of the plan and the kernels. kNoKernel (step; detail: op) if a step has no row.
Status ComputeRequirements(const Plan& plan, KernelTable kernels, Requirements& need);

/// Everything referred to must outlive the interpreter's use of it. The plan's bytes, the arenas and the runtime arena
/// share no memory.
struct InitOptions {
  std::span<const std::span<std::byte>> arenas;  ///< In the plan's order. An arena of 0 bytes may be empty.
  std::span<std::byte> runtime;                  ///< 64-aligned; Requirements::runtime.bytes.
  KernelTable kernels;                           ///< First row with a step's key wins.
  std::span<Device* const> devices;              ///< In the plan's order.
  uint16_t first_job = 0;  ///< What devices call the plan's first job. Of plans on one device, each begins where
                           ///< another one's plan.job_count() end; all are below Device::kMaxJobs.
  Platform platform;       ///< Its clock is wanted by deadlines and traces.
  Trace* trace = nullptr;  ///< nullptr: off.
};

/// A graph input or output. `bytes` may be written (inputs) or read (outputs) between invocations.
struct TensorInfo {
  std::span<std::byte> bytes;
  std::string_view name;
  std::span<const int32_t> dims;
  DataType type = DataType::kNone;
  float scale = 0;
  int32_t zero_point = 0;

  /// Its elements; empty if T is not the C++ type of `type`, so that a wrong guess is no reinterpretation.
  template <typename T>
  std::span<T> as() const {
    if (kDataTypeOf<std::remove_const_t<T>> != type) return {};
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

enum class Progress : uint8_t { kDone = 0, kMore, kWaiting, kFailed };

/// Fixed size, not copyable. One thread at a time, except Cancel.
class Interpreter {
 public:
  Interpreter() = default;
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  /// Binds every step, checks every operand, zeroes state. `plan` must be open and outlive this object. May be called
  /// again. kArenaTooSmall (detail: bytes needed), kMisaligned, kNoKernel (step; detail: op), kLimitExceeded,
  /// kInvalidArgument (kInitOverlap, kInitDevice).
  Status Init(const Plan& plan, const InitOptions& options);

  /// Runs all steps. kLimitExceeded (kInvokeTrips; detail: trips) if a loop wants more trips than the plan gives it;
  /// kDeviceFault, at kInvokeDeadline if a job outlasts the platform's watchdog (detail: job), which then is stopped.
  Status Invoke() { return Invoke(kNoDeadline); }
  /// Starts no step at or after `deadline` (ticks of the clock) and ends the jobs in flight then, at once if the device
  /// can cancel, else at their end: kDeadlineExceeded (detail: ticks late). The commit of shadowed states, once begun,
  /// is completed.
  Status Invoke(uint64_t deadline);

  /// Puts the cursor at the first step; a run that was under way is dropped. kInvalidState (kInvokePoisoned; detail:
  /// state) if a run was dropped, cancelled or late after its first step and the plan updates that state in place:
  /// ResetState.
  Status Begin();
  /// Runs at most `budget` steps; the commit of shadowed states counts as one. kWaiting: a device is busy, with this
  /// plan's job or another plan's; call again.
  /// kFailed: see status().
  Progress Step(uint32_t budget);
  /// Prepares the plan's jobs again, after Reset of a device; states stay as they are. A run under way fails with
  /// kInvalidState (kDeviceState) if the Reset ended a job of it, else it goes on. kInvalidState if a job is in flight.
  Status PrepareJobs();
  /// Ends the run under way before its next step, or else the next run before its first: the request stays until a run
  /// has returned kCancelled, or Init or ClearCancel. From any thread or interrupt; async-signal-safe.
  void Cancel() { cancel_.store(true, std::memory_order_relaxed); }
  void ClearCancel() { cancel_.store(false, std::memory_order_relaxed); }

  Status status() const { return status_; }
  uint32_t cursor() const { return cursor_; }
  bool initialized() const { return plan_ != nullptr; }
  const Plan& plan() const { return *plan_; }  ///< After Init, as the next four.
  /// The part that the plan asks for of what Init was given as its arena `i`.
  std::span<std::byte> arena(uint32_t i) const { return {arenas_[i], plan_->arena(i).bytes + size_t{slack_}}; }
  std::span<std::byte> runtime() const { return runtime_; }
  std::span<Device* const> devices() const { return devices_; }
  JobRange jobs() const { return jobs_; }  ///< As the devices call them.
  /// Row of the kernel table that runs `step`; nullptr for control steps.
  const Kernel* binding(uint32_t step) const;

  /// Indices below the plan's counts; names that are unknown give an empty TensorInfo.
  TensorInfo input(uint32_t i) const;
  TensorInfo output(uint32_t i) const;
  TensorInfo input(std::string_view name) const;
  TensorInfo output(std::string_view name) const;
  /// Memory of any dense tensor; between steps it holds what the last step that wrote there left.
  std::span<std::byte> tensor(uint32_t i) const;

  /// Uses the caller's buffer for an input or output from the next Begin on; an empty span: the arena again. The buffer
  /// has the tensor's bytes and Requirements::slack behind them, is 16-aligned, and shares no memory with arenas, plan
  /// or other bound buffers. Takt writes an input only if the plan declares it consumable. kInvalidArgument,
  /// kMisaligned; kUnsupported if the plan shares or overwrites that memory or has jobs, whose addresses are fixed at
  /// Init.
  Status RebindInput(uint32_t i, std::span<std::byte> buffer);
  Status RebindOutput(uint32_t i, std::span<std::byte> buffer);
  /// Gives each state its initial value, between runs. To save all state, copy the bytes of the state arena between
  /// runs; to restore it, copy them back.
  Status ResetState();

 private:
  struct Rebound {
    std::byte* data = nullptr;
    uint32_t offset = 0;
    uint32_t bytes = 0;
    uint16_t root = 0;
  };
  struct LoopFrame {
    uint32_t start = 0, end = 0, trips = 0;
  };
  struct Bound {
    TensorRef refs[kMaxOperands];
    KernelCall call;
  };

  Status BindRuntime(std::span<std::byte> runtime, uint32_t bytes);
  Status BindArenas(const Plan& plan, std::span<const std::span<std::byte>> arenas);
  Status BindSteps(uint32_t scratch_offset);
  Status InitStep(uint32_t step, uint64_t& work);
  Status BindDevices();
  void BindOperands(uint32_t step, Bound& bound) const;
  std::byte* Address(uint32_t tensor, const TensorView& view) const;
  TensorInfo Info(const BindingView& binding) const;
  Status Rebind(const BindingView& binding, bool output, uint32_t slot, std::span<std::byte> buffer);
  bool Condition(const StepView& step) const;
  bool Written(uint32_t tensor) const;
  bool OverlapsBound(std::span<const std::byte> buffer, const Rebound* own) const;
  void Drop();
  uint64_t GivesUpAt() const;
  Progress RunStep();
  Progress AwaitRoom(uint16_t job);
  Progress RunDevice(const StepView& step);
  Progress AdvanceLoops();
  Status RunJob(uint16_t job, uint64_t* work);
  void MaintainCaches(uint16_t job, bool after) const;
  void Barrier() const {
    if (platform_.barrier != nullptr) platform_.barrier(platform_.context);
  }
  Progress Fail(Status status);

  const Plan* plan_ = nullptr;
  std::byte* arenas_[kMaxArenas] = {};
  std::span<std::byte> runtime_;
  StepRecord* records_ = nullptr;
  KernelTable kernels_;
  std::span<Device* const> devices_;
  JobRange jobs_;
  Platform platform_;
  Trace* trace_ = nullptr;
  uint32_t slack_ = 0;
  Rebound rebound_[2 * kMaxBindings];
  bool any_rebound_ = false;
  LoopFrame loops_[kMaxLoopDepth];
  uint32_t loop_depth_ = 0;
  uint32_t cursor_ = 0;
  uint32_t commit_ = 0;  ///< From this step on, a run goes to its end.
  uint32_t jobs_in_flight_ = 0;
  uint16_t poison_ = kNoTensor;  ///< State that a dropped run left half updated.
  bool running_ = false;
  bool awaits_room_ = false;  ///< Since before `give_up_`, of a device that others keep busy.
  WaitLimit wait_;            ///< Of Invoke; without `cancel`, steps poll.
  uint64_t patience_ = 0;     ///< Ticks after which a job in flight is taken for hung.
  uint64_t give_up_ = 0;      ///< When the jobs in flight are.
  Status status_;
  std::atomic<bool> cancel_{false};
};

}  // namespace takt

#endif  // TAKT_ENGINE_CORE_INTERPRETER_H_
