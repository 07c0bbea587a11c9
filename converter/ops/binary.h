// What element-wise ops of several operands share.
#ifndef TAKT_CONVERTER_OPS_BINARY_H_
#define TAKT_CONVERTER_OPS_BINARY_H_

#include <string>
#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/ir/graph.h"
#include "converter/ir/op_def.h"
#include "schema/plan_generated.h"

namespace takt::ir {

/// The step of a function on float32, int32 or int64.
void LowerPlainBinary(backend::StepBuilder& step, schema::BinaryFunction function);
/// int32 or int64: their arithmetic is modulo 2^n, without quantization.
inline bool IsPlainInteger(DataType type) {
  return type == DataType::kInt32 || type == DataType::kInt64;
}

/// The enumerator called `name` among `values`, or nullptr.
template <typename Enum, size_t N>
const Enum* EnumValue(const Enum (&values)[N], const char* (*name_of)(Enum), const std::string& name) {
  for (const Enum& value : values)
    if (name == name_of(value)) return &value;
  return nullptr;
}

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_BINARY_H_
