// A verified, read-only view of a plan file.
#ifndef TAKT_ENGINE_PLAN_PLAN_H_
#define TAKT_ENGINE_PLAN_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/data_type.h"
#include "engine/base/sha256.h"
#include "engine/base/status.h"
#include "engine/core/op.h"

namespace takt {

namespace schema {
struct Live;
struct Step;
struct Plan;
struct Tensor;
}  // namespace schema
enum class Numerics : uint8_t;
enum class Layout : uint8_t;

inline constexpr int kMaxArenas = 8;
inline constexpr int kMaxDevices = 8;

/// What an application accepts of a plan. `work` counts inner iterations of one invocation.
struct Limits {
  uint64_t work = uint64_t{1} << 40;
  uint32_t tensors = 32768;
  uint32_t steps = 16384;
};

/// What a signature is over, and the signature. The signed message is `domain`, `header` and `sha256`, one after the
/// other.
struct SignedPlan {
  std::span<const uint8_t, 8> key_id;   ///< Which public key; never all zeros.
  std::string_view domain;              ///< kSignatureDomain.
  std::span<const std::byte> header;    ///< The trailer up to its hash: magic, lengths.
  std::span<const uint8_t, 32> sha256;  ///< Of all bytes before the trailer, compared with them already.
  std::span<const uint8_t, 64> signature;
};
/// `accept` returns whether the signature is right and the key trusted. The caller owns `context`.
struct Verifier {
  bool (*accept)(void* context, const SignedPlan& plan) = nullptr;
  void* context = nullptr;
};

struct PlanOptions {
  /// Computes the SHA-256 that is compared with the trailer's: ours, or a device's own. nullptr: no comparison, and a
  /// program that never makes one does not link ours. Safety does not depend on it.
  void (*sha256)(std::span<const std::byte> bytes, uint8_t digest[32]) = &Sha256;
  /// Compare each constant with its CRC-32.
  bool check_constants_crc = false;
  /// Set: refuse a plan that is not signed or that this function does not accept; kInvalidArgument without `sha256`.
  Verifier verify;
  Limits limits;
};

enum class ArenaKind : uint8_t { kActivation = 0, kRuntime, kState, kDevice };

struct ArenaView {
  uint32_t bytes;
  uint32_t lower_bound;  ///< Largest sum of bytes live at one step.
  uint16_t alignment;
  ArenaKind kind;
  uint8_t memory;  ///< Index of target memories.
};

struct ConstantView {
  std::span<const std::byte> bytes;
  uint32_t crc32;
  Layout layout;
  uint8_t memory;
};

/// `dims` and `strides` belong to the plan; `strides` are in bytes, nullptr if dense row-major.
struct TensorView {
  const int32_t* dims;
  const int32_t* strides;
  uint32_t offset;  ///< From its base, in bytes.
  uint16_t base;    ///< Index of the arena, or of the constant if `constant`.
  DataType type;
  uint8_t rank;
  bool constant;

  uint32_t bytes() const;   ///< Of its elements, dense.
  uint32_t extent() const;  ///< From its first to past its last byte, strides included.
};

inline constexpr uint16_t kNoTensor = 0xFFFF;

/// Operands are indices of tensors.
struct StepView {
  Op op;
  Numerics numerics;
  const void* params;  ///< The op's params struct.
  std::span<const uint16_t> inputs;
  std::span<const uint16_t> outputs;
  uint16_t scratch;  ///< kNoTensor: none.

  /// Inputs, then outputs, then the scratch if any.
  std::span<const uint16_t> operands() const {
    return {inputs.data(), inputs.size() + outputs.size() + (scratch != kNoTensor)};
  }
  uint16_t device() const;  ///< Of a Submit or Wait.
  uint16_t job() const;     ///< Of a Submit or Wait.
};

struct LiveView {
  uint16_t first, last;  ///< Steps, inclusive.
  uint16_t root;         ///< Tensors of one root may overlap.
};

/// Quantization is that of the stored values; scale 0: none.
struct BindingView {
  std::string_view name;
  uint16_t tensor;
  bool consumable;
  float scale;
  int32_t zero_point;
};

struct StateView {
  uint16_t tensor;
  uint16_t shadow;   ///< kNoTensor: in place.
  uint16_t initial;  ///< A constant; kNoTensor: zeros.
};

struct JobRangeView {
  uint32_t offset, bytes;
  uint8_t base;
  bool write;
};
struct JobView {
  uint16_t device;
  uint16_t stream;  ///< Index of a constant.
  std::span<const uint16_t> bases;
  uint32_t range_count;
  bool retryable;
};

struct MemoryView {
  std::string_view name;
  uint64_t bytes;  ///< 0: no limit known.
};

struct StepOriginView {
  std::span<const uint32_t> nodes;  ///< Of the source model.
  std::string_view name;
};
struct TensorOriginView {
  int32_t source;  ///< Tensor of the source model; -1: none.
  float scale;
  int32_t zero_point;
};

/// Points into the bytes given to Open, which must outlive it. Copyable; may be shared between threads once open.
/// Accessors want a plan that is open and indices below the counts.
class Plan {
 public:
  /// Checks all of `bytes`, whoever wrote them; they must be 16-aligned. On failure the view is closed and the status
  /// says which rule was broken, where. Bounded work, no allocation.
  Status Open(std::span<const std::byte> bytes, const PlanOptions& options = {});
  Status Open(std::span<const uint8_t> bytes, const PlanOptions& options = {}) {
    return Open(std::as_bytes(bytes), options);
  }
  bool is_open() const { return root_ != nullptr; }

  uint16_t major() const;
  uint16_t minor() const;
  uint32_t step_count() const;
  uint32_t tensor_count() const;
  uint32_t arena_tensor_count() const;  ///< They come first.
  uint32_t arena_count() const;
  uint32_t constant_count() const;
  uint32_t input_count() const;
  uint32_t output_count() const;
  uint32_t state_count() const;
  uint32_t job_count() const;
  /// First of the last steps, which copy shadows to their states; step_count() if there is none.
  uint32_t commit_step() const;

  StepView step(uint32_t i) const;
  TensorView tensor(uint32_t i) const;
  uint32_t tensor_bytes(uint32_t i) const { return tensor(i).bytes(); }
  uint32_t tensor_extent(uint32_t i) const { return tensor(i).extent(); }
  ArenaView arena(uint32_t i) const;
  ConstantView constant(uint32_t i) const;
  LiveView live(uint32_t arena_tensor) const;
  BindingView input(uint32_t i) const;
  BindingView output(uint32_t i) const;
  StateView state(uint32_t i) const;
  JobView job(uint32_t i) const;
  JobRangeView job_range(uint32_t job, uint32_t i) const;

  /// Index of the input or output called `name`.
  std::optional<uint32_t> FindInput(std::string_view name) const;
  std::optional<uint32_t> FindOutput(std::string_view name) const;

  /// Ticks of clock_hz for each step; empty if the target has no calibration.
  std::span<const uint64_t> costs() const;
  Limits limits() const;  ///< What the plan itself states.
  bool weights_reach_minimum() const;
  std::string_view producer() const;
  std::span<const uint8_t> source_sha256() const;
  std::string_view target_name() const;
  uint64_t clock_hz() const;
  std::span<const uint8_t> machine() const;
  uint32_t memory_count() const;
  MemoryView memory(uint32_t i) const;
  uint32_t device_count() const;
  std::string_view device_name(uint32_t i) const;
  bool has_debug() const;
  StepOriginView step_origin(uint32_t step) const;        ///< Empty if the table was stripped.
  TensorOriginView tensor_origin(uint32_t tensor) const;  ///< source -1 if the table was stripped.

  std::span<const std::byte> bytes() const { return bytes_; }
  std::span<const std::byte> metadata() const { return bytes_.first(metadata_bytes_); }
  std::span<const std::byte> segment() const { return segment_; }
  /// The application's limits, kept for Init.
  const Limits& accepted() const { return accepted_; }

 private:
  friend class PlanValidator;
  void LookUp();

  const schema::Plan* root_ = nullptr;
  std::span<const std::byte> bytes_;
  std::span<const std::byte> segment_;
  uint32_t metadata_bytes_ = 0;
  Limits accepted_;
  // Of root_, looked up once: every view reads them.
  const schema::Tensor* tensors_ = nullptr;
  const schema::Live* lives_ = nullptr;
  const int32_t* dims_ = nullptr;
  const int32_t* strides_ = nullptr;
  const uint16_t* operands_ = nullptr;
  const schema::Step* steps_ = nullptr;
  uint32_t step_count_ = 0, tensor_count_ = 0, arena_tensor_count_ = 0, arena_count_ = 0;
};

}  // namespace takt

#endif  // TAKT_ENGINE_PLAN_PLAN_H_
