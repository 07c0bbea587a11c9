#include "converter/report/plan_report.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "converter/memory/planner.h"
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

uint64_t ConstantBytes(const schema::Plan& plan) {
  uint64_t bytes = 0;
  if (plan.constants() != nullptr) {
    for (const schema::Constant* constant : *plan.constants()) bytes += constant->bytes();
  }
  return bytes;
}

uint32_t StepCount(const schema::Plan& plan) {
  return plan.steps() == nullptr ? 0 : plan.steps()->size();
}
uint32_t ArenaCount(const schema::Plan& plan) {
  return plan.arenas() == nullptr ? 0 : plan.arenas()->size();
}
uint32_t ArenaTensorCount(const schema::Plan& plan) {
  return plan.lives() == nullptr ? 0 : plan.lives()->size();
}

Json StepJson(const schema::Plan& plan, uint32_t index) {
  const schema::Step& step = *plan.steps()->Get(index);
  Json inputs = Json::array(), outputs = Json::array();
  for (uint32_t i = 0; i < step.inputs(); ++i) inputs.push_back(plan.operands()->Get(step.first_operand() + i));
  for (uint32_t i = 0; i < step.outputs(); ++i) {
    outputs.push_back(plan.operands()->Get(step.first_operand() + step.inputs() + i));
  }
  const uint32_t scratch = step.first_operand() + step.inputs() + step.outputs();
  Json json = {{"index", index},
               {"op", OpName(static_cast<Op>(step.params_type()))},
               {"numerics", schema::EnumNameNumerics(step.numerics())},
               {"inputs", inputs},
               {"outputs", outputs}};
  if (step.scratch() != 0) json["scratch"] = plan.operands()->Get(scratch);
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

/// The source's name of a step, if the plan has a debug table.
std::string SourceName(const schema::Plan& plan, uint32_t step) {
  if (plan.debug() == nullptr || plan.debug()->steps() == nullptr || step >= plan.debug()->steps()->size()) return "";
  const auto* name = plan.debug()->steps()->Get(step)->name();
  return name == nullptr ? "" : name->str();
}

/// Largest first; of tensors that share memory, the largest only.
std::vector<uint16_t> LiveTensors(const schema::Plan& plan, uint32_t arena, int32_t step) {
  std::map<uint16_t, uint16_t> largest;  // By root.
  for (uint32_t i = 0; i < ArenaTensorCount(plan); ++i) {
    const schema::Live& live = *plan.lives()->Get(i);
    if (plan.tensors()->Get(i)->base() != arena || live.first() > step || live.last() < step) continue;
    const auto tensor = static_cast<uint16_t>(i);
    const auto [it, fresh] = largest.try_emplace(live.root(), tensor);
    if (!fresh && TensorBytes(plan, tensor) > TensorBytes(plan, it->second)) it->second = tensor;
  }
  std::vector<uint16_t> tensors;
  for (const auto& [root, tensor] : largest) tensors.push_back(tensor);
  std::stable_sort(tensors.begin(), tensors.end(),
                   [&](uint16_t a, uint16_t b) { return TensorBytes(plan, a) > TensorBytes(plan, b); });
  return tensors;
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
  const std::string source = SourceName(plan, step);
  return absl::StrCat(OpName(static_cast<Op>(plan.steps()->Get(step)->params_type())), source.empty() ? "" : " ",
                      source);
}

std::string MemoryName(const schema::Plan& plan, uint32_t memory) {
  const auto* memories = plan.target() == nullptr ? nullptr : plan.target()->memories();
  if (memories == nullptr || memory >= memories->size() || memories->Get(memory)->name() == nullptr)
    return absl::StrCat("memory ", memory);
  return memories->Get(memory)->name()->str();
}

Peak FindPeak(const schema::Plan& plan, uint32_t arena) {
  std::map<uint16_t, memory::Buffer> blocks;  // By root: the hull of its tensors, in bytes and steps.
  std::map<uint16_t, int64_t> starts;
  for (uint32_t i = 0; i < ArenaTensorCount(plan); ++i) {
    const schema::Tensor& tensor = *plan.tensors()->Get(i);
    const schema::Live& live = *plan.lives()->Get(i);
    if (tensor.base() != arena) continue;
    const int64_t begin = tensor.offset(),
                  end = begin + static_cast<int64_t>(TensorBytes(plan, static_cast<uint16_t>(i)));
    const auto [it, fresh] = blocks.try_emplace(live.root(), memory::Buffer{end - begin, live.first(), live.last()});
    int64_t& start = starts.try_emplace(live.root(), begin).first->second;
    memory::Buffer& block = it->second;
    block.bytes = std::max(start + block.bytes, end) - std::min(start, begin);
    start = std::min(start, begin);
    block.first = std::min<int32_t>(block.first, live.first());
    block.last = std::max<int32_t>(block.last, live.last());
  }
  std::vector<memory::Buffer> buffers;
  for (const auto& [root, block] : blocks) buffers.push_back(block);
  const memory::PeakLoad load = memory::FindPeakLoad(buffers, plan.arenas()->Get(arena)->alignment());
  if (load.bytes == 0) return {};
  return {load.step, load.bytes, LiveTensors(plan, arena, load.step)};
}

Json PlanJson(const schema::Plan& plan, uint64_t file_bytes, const Requirements& need) {
  Json json = {
      {"version", absl::StrCat(plan.major(), ".", plan.minor())},
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
  json["arenas"].push_back({{"name", "runtime"},
                            {"kind", schema::EnumNameArenaKind(schema::ArenaKind::runtime)},
                            {"memory", MemoryName(plan, 0)},
                            {"bytes", need.runtime.bytes},
                            {"lower_bound", need.runtime.bytes},  // All of it is live at every step.
                            {"alignment", need.runtime.alignment}});
  json["inputs"] = BindingsJson(plan, plan.inputs());
  json["outputs"] = OutputsJson(plan);
  json["steps"] = Json::array();
  for (uint32_t i = 0; i < StepCount(plan); ++i) json["steps"].push_back(StepJson(plan, i));
  json["tensors"] = Json::array();
  for (uint32_t i = 0; plan.tensors() != nullptr && i < plan.tensors()->size(); ++i) {
    json["tensors"].push_back(TensorJson(plan, static_cast<uint16_t>(i)));
  }
  return json;
}

Json OutputsJson(const schema::Plan& plan) {
  return BindingsJson(plan, plan.outputs());
}

std::string SummaryText(const schema::Plan& plan, uint64_t file_bytes, const Requirements& need) {
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
  absl::StrAppendFormat(&text, "arena %-12s in %-8s %9d bytes\n", "runtime", MemoryName(plan, 0), need.runtime.bytes);
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
    const std::string source = SourceName(plan, i);
    absl::StrAppend(&text, source.empty() ? "" : "  ", source, "\n");
  }
  return text;
}

}  // namespace takt::report
