// Opcodes and what the op table says of each.
#ifndef TAKT_ENGINE_CORE_OP_H_
#define TAKT_ENGINE_CORE_OP_H_

#include <cstddef>
#include <cstdint>

namespace takt {

/// Tags 1-4 are control steps; ops follow in the order of schema/op_table.inc. Equal to schema::Params
/// (schema_check.cc). From kFirstGraphOp on: ops of the converter's graph that no plan contains.
enum class Op : uint16_t {
  kNone = 0,
  kSubmit,
  kWait,
  kSkipIf,
  kLoop,
#define TAKT_OP(Name, name, file, min_inputs, max_inputs, outputs, traits) k##Name,
#define TAKT_GRAPH_OP(Name, name, file, min_inputs, max_inputs, outputs)
#include "schema/op_table.inc"
#undef TAKT_OP
#undef TAKT_GRAPH_OP
  kPlanOpEnd,
  kGraphOpBase = 255,
#define TAKT_OP(Name, name, file, min_inputs, max_inputs, outputs, traits)
#define TAKT_GRAPH_OP(Name, name, file, min_inputs, max_inputs, outputs) k##Name,
#include "schema/op_table.inc"
#undef TAKT_OP
#undef TAKT_GRAPH_OP
  kGraphOpEnd,
};
inline constexpr Op kFirstKernelOp = static_cast<Op>(5);
static_assert(static_cast<int>(Op::kPlanOpEnd) <= 255, "a plan's opcode is one byte");

/// What a plan may do with an op's operands.
enum OpTraits : uint8_t {
  kNone = 0,
  kInPlace = 1,       ///< The output may be the memory of an input of the same bytes.
  kInPlaceLast = 2,   ///< As kInPlace, for the last input only.
  kStrided = 4,       ///< Operands may be strided views.
  kStateInPlace = 8,  ///< Output k >= 1, the next value of a state, may be the memory of input k + 3, its value.
};

/// Whether output `output` of an op with `inputs` inputs may be the memory of input `input`.
constexpr bool MayShareMemory(uint8_t traits, size_t input, size_t inputs, size_t output) {
  if (output > 0) return (traits & kStateInPlace) != 0 && input == output + 3;
  return (traits & kInPlace) != 0 || ((traits & kInPlaceLast) != 0 && input + 1 == inputs);
}

/// One row of the table.
struct OpInfo {
  uint8_t min_inputs;
  uint8_t max_inputs;
  uint8_t outputs;
  uint8_t traits;
};

/// The row of a kernel op, or nullptr for any other value.
const OpInfo* FindOpInfo(Op op);

/// "conv2d"; for every Op, "?" otherwise. In op_names.cc: linked only if used.
const char* OpName(Op op);

}  // namespace takt

#endif  // TAKT_ENGINE_CORE_OP_H_
