#include "converter/report/plan_report.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "engine/base/data_type.h"
#include "engine/core/op.h"

namespace takt::report {
namespace {

using Json = nlohmann::ordered_json;

std::vector<int32_t> Dims(const schema::Plan& plan, uint16_t tensor) {
  const schema::Tensor& t = *plan.tensors()->Get(tensor);
  std::vector<int32_t> dims;
  for (uint32_t i = 0; i < t.rank(); ++i) dims.push_back(plan.dims()->Get(t.dims() + i));
  return dims;
}

std::string MemoryName(const schema::Plan& plan, uint32_t memory) {
  const auto* target = plan.target();
  if (target != nullptr && target->memories() != nullptr && memory < target->memories()->size()) {
    const auto* name = target->memories()->Get(memory)->name();
    if (name != nullptr) return name->str();
  }
  return absl::StrCat("memory ", memory);
}

uint64_t ConstantBytes(const schema::Plan& plan) {
  uint64_t bytes = 0;
  if (plan.constants() != nullptr) {
    for (const schema::Constant* constant : *plan.constants()) bytes += constant->bytes();
  }
  return bytes;
}

uint32_t StepCount(const schema::Plan& plan) { return plan.steps() == nullptr ? 0 : plan.steps()->size(); }
uint32_t ArenaCount(const schema::Plan& plan) { return plan.arenas() == nullptr ? 0 : plan.arenas()->size(); }
uint32_t ArenaTensorCount(const schema::Plan& plan) { return plan.lives() == nullptr ? 0 : plan.lives()->size(); }

Json StepJson(const schema::Plan& plan, uint32_t index) {
  const schema::Step& step = *plan.steps()->Get(index);
  Json inputs = Json::array(), outputs = Json::array();
  for (uint32_t i = 0; i < step.inputs(); ++i) inputs.push_back(plan.operands()->Get(step.first_operand() + i));
  for (uint32_t i = 0; i < step.outputs(); ++i) {
    outputs.push_back(plan.operands()->Get(step.first_operand() + step.inputs() + i));
  }
  Json json = {{"index", index},
               {"op", OpName(static_cast<Op>(step.params_type()))},
               {"numerics", schema::EnumNameNumerics(step.numerics())},
               {"inputs", inputs},
               {"outputs", outputs}};
  if (plan.costs() != nullptr && index < plan.costs()->size()) json["cost_ticks"] = plan.costs()->Get(index);
  if (plan.debug() != nullptr && plan.debug()->steps() != nullptr && index < plan.debug()->steps()->size()) {
    const auto* origin = plan.debug()->steps()->Get(index);
    if (origin->name() != nullptr) json["name"] = origin->name()->str();
    json["source_nodes"] = Json::array();
    if (origin->nodes() != nullptr) {
      for (uint32_t node : *origin->nodes()) json["source_nodes"].push_back(node);
    }
  }
  return json;
}

Json TensorJson(const schema::Plan& plan, uint16_t index) {
  const schema::Tensor& tensor = *plan.tensors()->Get(index);
  Json json = {{"index", index},
               {"type", schema::EnumNameDataType(tensor.type())},
               {"dims", Dims(plan, index)},
               {"bytes", TensorBytes(plan, index)},
               {"offset", tensor.offset()}};
  if (tensor.base() < ArenaCount(plan)) {
    json["arena"] = ArenaName(plan, tensor.base());
  } else {
    json["constant"] = tensor.base() - ArenaCount(plan);
  }
  if (index < ArenaTensorCount(plan)) {
    const schema::Live& live = *plan.lives()->Get(index);
    json["first_step"] = live.first();
    json["last_step"] = live.last();
  }
  if (plan.debug() != nullptr && plan.debug()->tensors() != nullptr && index < plan.debug()->tensors()->size()) {
    json["source_tensor"] = plan.debug()->tensors()->Get(index)->source();
  }
  return json;
}

Json BindingsJson(const schema::Plan& plan, const flatbuffers::Vector<flatbuffers::Offset<schema::Binding>>* bindings) {
  Json list = Json::array();
  if (bindings == nullptr) return list;
  for (const schema::Binding* binding : *bindings) {
    list.push_back({{"name", binding->name() == nullptr ? "" : binding->name()->str()},
                    {"tensor", binding->tensor()},
                    {"type", schema::EnumNameDataType(plan.tensors()->Get(binding->tensor())->type())},
                    {"dims", Dims(plan, binding->tensor())},
                    {"bytes", TensorBytes(plan, binding->tensor())},
                    {"scale", binding->scale()},
                    {"zero_point", binding->zero_point()}});
  }
  return list;
}

}  // namespace

std::string TensorText(const schema::Plan& plan, uint16_t tensor) {
  return absl::StrCat(schema::EnumNameDataType(plan.tensors()->Get(tensor)->type()), "[",
                      absl::StrJoin(Dims(plan, tensor), ","), "]");
}

uint64_t TensorBytes(const schema::Plan& plan, uint16_t tensor) {
  uint64_t bits = BitWidth(static_cast<DataType>(plan.tensors()->Get(tensor)->type()));
  for (int32_t dim : Dims(plan, tensor)) bits *= static_cast<uint64_t>(dim);
  return (bits + 7) / 8;
}

std::string ArenaName(const schema::Plan& plan, uint32_t arena) {
  const schema::ArenaKind kind = plan.arenas()->Get(arena)->kind();
  int before = 0;
  for (uint32_t i = 0; i < arena; ++i) before += plan.arenas()->Get(i)->kind() == kind ? 1 : 0;
  const std::string name = schema::EnumNameArenaKind(kind);
  return before == 0 ? name : absl::StrCat(name, ".", before);
}

std::string StepName(const schema::Plan& plan, uint32_t step) {
  std::string name = OpName(static_cast<Op>(plan.steps()->Get(step)->params_type()));
  if (plan.debug() != nullptr && plan.debug()->steps() != nullptr && step < plan.debug()->steps()->size()) {
    const auto* source = plan.debug()->steps()->Get(step)->name();
    if (source != nullptr && source->size() > 0) absl::StrAppend(&name, " ", source->str());
  }
  return name;
}

Peak FindPeak(const schema::Plan& plan, uint32_t arena) {
  Peak peak;
  for (uint32_t step = 0; step < StepCount(plan); ++step) {
    std::map<uint16_t, uint16_t> largest;  // By root.
    for (uint32_t i = 0; i < ArenaTensorCount(plan); ++i) {
      const schema::Live& live = *plan.lives()->Get(i);
      if (plan.tensors()->Get(i)->base() != arena || live.first() > step || live.last() < step) continue;
      const uint16_t tensor = static_cast<uint16_t>(i);
      const auto [it, added] = largest.emplace(live.root(), tensor);
      if (!added && TensorBytes(plan, tensor) > TensorBytes(plan, it->second)) it->second = tensor;
    }
    uint64_t bytes = 0;
    for (const auto& [root, tensor] : largest) bytes += TensorBytes(plan, tensor);
    if (bytes <= peak.bytes) continue;
    peak = {static_cast<int>(step), bytes, {}};
    for (const auto& [root, tensor] : largest) peak.tensors.push_back(tensor);
  }
  std::stable_sort(peak.tensors.begin(), peak.tensors.end(),
                   [&](uint16_t a, uint16_t b) { return TensorBytes(plan, a) > TensorBytes(plan, b); });
  return peak;
}

Json PlanJson(const schema::Plan& plan, uint64_t file_bytes) {
  Json json = {{"version", absl::StrCat(plan.major(), ".", plan.minor())},
               {"producer", plan.producer() == nullptr ? "" : plan.producer()->str()},
               {"target", plan.target() == nullptr || plan.target()->name() == nullptr ? "" : plan.target()->name()->str()},
               {"plan_bytes", file_bytes},
               {"constant_bytes", ConstantBytes(plan)}};
  json["arenas"] = Json::array();
  for (uint32_t i = 0; i < ArenaCount(plan); ++i) {
    const schema::Arena& arena = *plan.arenas()->Get(i);
    Json row = {{"name", ArenaName(plan, i)},
                {"kind", schema::EnumNameArenaKind(arena.kind())},
                {"memory", MemoryName(plan, arena.memory())},
                {"bytes", arena.bytes()},
                {"lower_bound", arena.lower_bound()},
                {"alignment", arena.alignment()}};
    const Peak peak = FindPeak(plan, i);
    if (peak.step >= 0) {
      row["peak_step"] = peak.step;
      row["peak_tensors"] = peak.tensors;
    }
    json["arenas"].push_back(row);
  }
  json["inputs"] = BindingsJson(plan, plan.inputs());
  json["outputs"] = BindingsJson(plan, plan.outputs());
  json["steps"] = Json::array();
  for (uint32_t i = 0; i < StepCount(plan); ++i) json["steps"].push_back(StepJson(plan, i));
  json["tensors"] = Json::array();
  for (uint32_t i = 0; plan.tensors() != nullptr && i < plan.tensors()->size(); ++i) {
    json["tensors"].push_back(TensorJson(plan, static_cast<uint16_t>(i)));
  }
  return json;
}

std::string SummaryText(const schema::Plan& plan, uint64_t file_bytes) {
  const uint64_t constants = ConstantBytes(plan);
  std::string text = absl::StrFormat("%d steps; plan %d bytes (%d of constants, %d beside them)\n", StepCount(plan),
                                     file_bytes, constants, file_bytes - std::min(constants, file_bytes));
  for (uint32_t i = 0; i < ArenaCount(plan); ++i) {
    const schema::Arena& arena = *plan.arenas()->Get(i);
    absl::StrAppendFormat(&text, "arena %-12s in %-8s %9d bytes", ArenaName(plan, i), MemoryName(plan, arena.memory()),
                          arena.bytes());
    if (arena.kind() == schema::ArenaKind::activation) {
      absl::StrAppendFormat(&text, "  lower bound %d, gap %d", arena.lower_bound(),
                            static_cast<int64_t>(arena.bytes()) - arena.lower_bound());
    }
    text += "\n";
  }
  return text;
}

std::string StepsText(const schema::Plan& plan) {
  std::string text;
  for (uint32_t i = 0; i < StepCount(plan); ++i) {
    const schema::Step& step = *plan.steps()->Get(i);
    absl::StrAppendFormat(&text, "%4d  %-18s", i, OpName(static_cast<Op>(step.params_type())));
    for (uint32_t k = 0; k < uint32_t{step.inputs()} + step.outputs(); ++k) {
      const uint16_t tensor = plan.operands()->Get(step.first_operand() + k);
      if (k == step.inputs()) text += " ->";
      if (k == 0 || k >= step.inputs() || tensor < ArenaTensorCount(plan)) {
        absl::StrAppend(&text, " t", tensor, ":", TensorText(plan, tensor));
      }
    }
    absl::StrAppend(&text, "  ", StepName(plan, i), "\n");
  }
  return text;
}

}  // namespace takt::report
