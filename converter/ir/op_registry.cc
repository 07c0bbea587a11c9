#include <cstdlib>

#include "converter/ir/op_def.h"

namespace takt::ir {

#define TAKT_OP(Name, name, file, min_inputs, max_inputs, outputs, traits) extern const OpDef k##Name##Def;
#define TAKT_GRAPH_OP(Name, name, file, min_inputs, max_inputs, outputs) extern const OpDef k##Name##Def;
#include "schema/op_table.inc"
#undef TAKT_OP
#undef TAKT_GRAPH_OP

namespace {
const OpDef* const kDefs[] = {
#define TAKT_OP(Name, name, file, min_inputs, max_inputs, outputs, traits) &k##Name##Def,
#define TAKT_GRAPH_OP(Name, name, file, min_inputs, max_inputs, outputs) &k##Name##Def,
#include "schema/op_table.inc"
#undef TAKT_OP
#undef TAKT_GRAPH_OP
};
}  // namespace

const OpDef& FindOpDef(Op op) {
  for (const OpDef* def : kDefs) {
    if (def->op == op) return *def;
  }
  std::abort();  // Not an op of the table: callers check what comes from files.
}

std::span<const OpDef* const> AllOpDefs() {
  return kDefs;
}

bool CommuteElementwise(std::span<const int64_t>, Node&) {
  return true;
}

void PermuteValues(std::span<const int64_t> permutation, const std::string& key, Node& node) {
  const std::vector<int64_t> values = node.Ints(key);
  std::vector<int64_t> moved = values;
  for (size_t i = 0; i < permutation.size(); ++i) moved[static_cast<size_t>(permutation[i])] = values[i];
  node.attributes[key] = moved;
}

}  // namespace takt::ir
