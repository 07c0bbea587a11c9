// Small plans for tests, with any rule broken on purpose.
#ifndef TAKT_TESTS_SUPPORT_PLAN_BUILDER_H_
#define TAKT_TESTS_SUPPORT_PLAN_BUILDER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "schema/plan_generated.h"

namespace takt::test {

/// 64-aligned bytes of a plan.
class PlanBytes {
 public:
  explicit PlanBytes(const std::vector<uint8_t>& bytes);
  std::span<uint8_t> bytes();
  std::span<const uint8_t> view() const { return const_cast<PlanBytes*>(this)->bytes(); }

 private:
  std::vector<uint8_t> store_;
  size_t size_;
};

struct StepSpec {
  schema::Params tag = schema::Params::Copy;
  uint16_t count = 0;      ///< SkipIf's count or Loop's body.
  uint32_t max_trips = 0;  ///< Of Loop.
  uint16_t first_operand = 0;
  uint8_t inputs = 1, outputs = 1, scratch = 0;
};

struct BindingSpec {
  const char* name;
  uint16_t tensor;
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
  std::vector<schema::State> states;
  std::vector<BindingSpec> inputs, outputs;
  std::vector<uint8_t> segment;

  /// The file, with padding, segment, trailer and hash.
  PlanBytes Pack() const;
};

/// x int8[16] -> copies -> y, `steps` steps long, in one 16-aligned arena; tensors 0 .. steps at offsets 16 * i.
PlanSpec CopyChain(int steps);

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_PLAN_BUILDER_H_
