// The contract between the interpreter and kernels.
//
// A kernel is a constant row: the key of the steps it runs, the op's check, and the function. The interpreter binds
// each step at Init to the first row with its key, calls `check` once with every operand bound, then `run` at each
// invocation. After `check` a kernel reads only inside its operands without checking again, except for indices that
// come from data.
#ifndef TAKT_ENGINE_CORE_KERNEL_H_
#define TAKT_ENGINE_CORE_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/data_type.h"
#include "engine/base/status.h"
#include "engine/core/op.h"

namespace takt {

/// Arithmetic of a step (engine/NUMERICS.md). Values equal schema::Numerics.
enum class Numerics : uint8_t { kAny = 0, kFp32Rne, kTflite };

/// Memory layout of constants. Values equal schema::Layout.
enum class Layout : uint8_t { kNeutral = 0 };

inline constexpr int kMaxRank = 6;
inline constexpr int kMaxOperands = 32;

/// An operand bound to memory. Dims and strides belong to the plan; strides are in bytes, nullptr if dense row-major.
/// No member has an initial value, so that an array of them costs nothing.
struct TensorRef {
  void* data;
  const int32_t* dims;
  const int32_t* strides;
  DataType type;
  uint8_t rank;
  bool constant;  ///< In the plan's data segment: its bytes never change.

  template <typename T>
  T* as() const {
    return static_cast<T*>(data);
  }

  /// Number of elements; the plan's validator has proven that it fits.
  uint32_t size() const {
    uint32_t n = 1;
    for (int i = 0; i < rank; ++i) n *= static_cast<uint32_t>(dims[i]);
    return n;
  }
};

/// One step, ready to run. Everything outlives the call only.
struct KernelCall {
  const void* step_params = nullptr;
  std::span<const TensorRef> inputs;
  std::span<const TensorRef> outputs;
  std::span<std::byte> scratch;
  std::span<std::byte> persistent;

  /// The params struct of the step's op, from schema/plan_generated.h.
  template <typename T>
  const T& params() const {
    return *static_cast<const T*>(step_params);
  }
};

/// Which steps a kernel runs. `types`: of input 0, input 1 (kNone if the step has no second input), output 0;
/// `layout`: of input 1's constant (kNeutral if it is none).
struct KernelKey {
  Op op = Op::kNone;
  Numerics numerics = Numerics::kAny;
  Layout layout = Layout::kNeutral;
  DataType types[3] = {};

  friend constexpr bool operator==(const KernelKey&, const KernelKey&) = default;
};

/// Bytes that a kernel needs beside its operands: `scratch` during the step, `persistent` from Init on. It may read,
/// and ignore, `over_read` bytes behind each input, at most 64.
struct KernelNeed {
  uint32_t scratch = 0;
  uint32_t persistent = 0;
  uint32_t over_read = 0;
};

/// A row of a port's table; static storage, never copied.
struct Kernel {
  KernelKey key;
  /// The op's rule (engine/ops): operands and params are right, constants in range; adds the step's inner iterations to
  /// `work`. Reads the data of constants only. Shared by every port's row of the op.
  Status (*check)(const KernelCall& call, uint64_t& work);
  /// Computes the outputs. No heap, no allocation, no state but `persistent`.
  void (*run)(const KernelCall& call);
  /// A pure function of params, dims and types; nullptr: needs nothing.
  KernelNeed (*need)(const KernelCall& call) = nullptr;
  /// Fills `persistent` at Init (packed weights, back-end objects); nullptr: nothing to do.
  Status (*prepare)(const KernelCall& call) = nullptr;
};

/// Rows in order of preference, owned by the caller. A plan's exact list comes from `takt convert --emit-kernels`;
/// a port's whole list from its header.
using KernelTable = std::span<const Kernel* const>;

}  // namespace takt

#endif  // TAKT_ENGINE_CORE_KERNEL_H_
