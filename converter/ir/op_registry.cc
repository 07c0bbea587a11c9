#include <algorithm>
#include <cstdlib>

#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"

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

namespace {

/// Rules add and multiply attributes in 64 bits.
std::string CheckIntegers(const Node& node) {
  const auto fits = [](int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; };
  for (const auto& [key, value] : node.attributes) {
    const auto* one = std::get_if<int64_t>(&value);
    const auto* several = std::get_if<std::vector<int64_t>>(&value);
    if ((one != nullptr && !fits(*one)) || (several != nullptr && !std::ranges::all_of(*several, fits)))
      return "has attribute " + key + " beyond 32 bits";
  }
  return "";
}

}  // namespace

std::string InferTypes(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  std::string reason = CheckIntegers(node);
  if (reason.empty()) reason = FindOpDef(node.op).infer(graph, node, outputs);
  for (size_t i = 0; reason.empty() && i < outputs.size(); ++i) reason = WhyTooLarge(outputs[i].dims);
  return reason;
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
