#include "converter/frontend/tflite_subgraphs.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace takt::frontend {
namespace {

constexpr size_t kMaxDepth = 16;
constexpr int kMaxImports = 4096;

}  // namespace

std::string TfliteSubgraphs::Refusal(int64_t subgraph) const {
  if (file.subgraph(subgraph) == nullptr)
    return absl::StrCat("names subgraph ", subgraph, ", which does not exist; the file is damaged");
  if (std::find(open.begin(), open.end(), subgraph) != open.end())
    return absl::StrCat("calls subgraph ", subgraph, " within itself; a plan has no recursion");
  if (open.size() >= kMaxDepth || count >= kMaxImports)
    return "calls subgraphs nested too deep, or too many of them; flatten the model";
  return "";
}

std::vector<bool> TfliteSubgraphs::PassedThrough(int subgraph) const {
  const tflite::SubGraph* body = file.subgraph(subgraph);
  std::vector<bool> passed;
  if (body == nullptr || body->inputs() == nullptr || body->outputs() == nullptr) return passed;
  if (body->inputs()->size() != body->outputs()->size()) return passed;
  for (uint32_t i = 0; i < body->inputs()->size(); ++i)
    passed.push_back(body->inputs()->Get(i) == body->outputs()->Get(i));
  return passed;
}

std::string SupportedOperators() {
  std::set<std::string> names;
  for (const ir::OpDef* def : ir::AllOpDefs()) {
    for (const ir::TfliteImport& import : def->tflite) names.insert(import.name);
  }
  return absl::StrJoin(names, ", ");
}

/// Custom operators go by their name.
const ir::TfliteImport* FindImport(int builtin, const flatbuffers::String* custom) {
  const bool is_custom = builtin == static_cast<int>(tflite::BuiltinOperator::CUSTOM);
  if (is_custom && custom == nullptr) return nullptr;
  for (const ir::OpDef* def : ir::AllOpDefs()) {
    for (const ir::TfliteImport& import : def->tflite) {
      if (import.builtin == builtin && (!is_custom || custom->str() == import.name)) return &import;
    }
  }
  return nullptr;
}

}  // namespace takt::frontend
