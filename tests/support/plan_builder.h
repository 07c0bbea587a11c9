// Small plans for tests, with any rule broken on purpose.
#ifndef TAKT_TESTS_SUPPORT_PLAN_BUILDER_H_
#define TAKT_TESTS_SUPPORT_PLAN_BUILDER_H_

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "schema/plan_generated.h"

namespace takt::test {

/// 64-aligned bytes of a plan.
class PlanBytes {
 public:
  explicit PlanBytes(std::span<const uint8_t> bytes);
  std::span<uint8_t> bytes();
  std::span<const uint8_t> view() const { return const_cast<PlanBytes*>(this)->bytes(); }

 private:
  std::vector<uint8_t> store_;
  size_t size_;
};

struct StepSpec {
  schema::Params tag = schema::Params::Copy;
  uint16_t first_operand = 0;
  uint8_t inputs = 1, outputs = 1, scratch = 0;
  schema::Numerics numerics = schema::Numerics::any;
  std::vector<uint8_t> params = {0};  ///< Bytes of the params struct.
  size_t alignment = 1;
};

/// A step with these params.
template <typename P>
StepSpec Step(schema::Params tag, const P& params, uint16_t first_operand, uint8_t inputs = 1, uint8_t outputs = 1) {
  StepSpec s{.tag = tag, .first_operand = first_operand, .inputs = inputs, .outputs = outputs};
  s.params.resize(sizeof(P));
  std::memcpy(s.params.data(), &params, sizeof(P));
  s.alignment = alignof(P);
  return s;
}

struct BindingSpec {
  const char* name;
  uint16_t tensor;
  bool consumable = false;
};

struct JobSpec {
  uint16_t device = 0, stream = 0;
  std::vector<uint16_t> bases;
  std::vector<schema::JobRange> ranges;
};

/// A plan in parts, free to edit.
struct PlanSpec {
  uint16_t major = 1;
  std::vector<schema::Arena> arenas;
  std::vector<schema::Constant> constants;
  std::vector<int32_t> dims, strides;
  std::vector<schema::Tensor> tensors;
  std::vector<schema::Live> lives;
  std::vector<uint16_t> operands;
  std::vector<StepSpec> steps;
  size_t missing_params = 0;  ///< Steps at the end whose params are left out.
  std::vector<JobSpec> jobs;
  std::vector<schema::State> states;
  std::vector<BindingSpec> inputs, outputs;
  std::vector<uint64_t> costs;
  schema::Limits limits;
  int devices = 0;
  int named_steps = 0, named_tensors = 0;  ///< Entries of the debug table; 0: no vector.
  std::vector<uint8_t> segment;

  /// Appends a constant of these bytes to the segment, with its CRC; returns its index.
  uint16_t AddConstant(std::span<const uint8_t> bytes);
  /// The file, with padding, segment, trailer and hash.
  PlanBytes Pack() const;
};

/// The trailer's hash again, after an edit of the file.
void Rehash(std::span<uint8_t> file);

/// x int8[16] -> copies -> y, `steps` steps long, in one 16-aligned arena; tensors 0 .. steps at offsets 16 * i.
PlanSpec CopyChain(int steps);

/// One of everything that steps can be: a job in flight beside a step, a loop, a state with its shadow, and names.
///
///   0 copy x a | 1 submit a -> b | 2 copy x d | 3 wait | 4 loop c 2 | 5 copy d f | 6 copy f e | 7 copy b y | 8 copy e
///   h | 9 copy h s
///
/// Tensors by first use: x c s a b d e f y h, then the stream (a constant). Each is int8[16] at offset 16 * index, c
/// bool[1].
PlanSpec OneOfEverything();

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_PLAN_BUILDER_H_
