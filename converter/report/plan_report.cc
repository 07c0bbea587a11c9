#include "converter/report/plan_report.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "converter/memory/planner.h"
#include "engine/base/data_type.h"
#include "engine/core/op.h"
#include "engine/core/scheduler.h"
#include "schema/plan_generated.h"

namespace takt::report {
namespace {

using Json = nlohmann::ordered_json;

std::vector<int32_t> Dims(const TensorView& tensor) {
  return {tensor.dims, tensor.dims + tensor.rank};
}

const char* TypeName(DataType type) {
  return schema::EnumNameDataType(static_cast<schema::DataType>(type));
}

const char* KindName(ArenaKind kind) {
  return schema::EnumNameArenaKind(static_cast<schema::ArenaKind>(kind));
}

uint64_t ConstantBytes(const Plan& plan) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < plan.constant_count(); ++i) bytes += plan.constant(i).bytes.size();
  return bytes;
}

Json StepJson(const Plan& plan, uint32_t index, uint64_t runs) {
  const StepView step = plan.step(index);
  Json json = {{"index", index},
               {"op", OpName(step.op)},
               {"numerics", schema::EnumNameNumerics(static_cast<schema::Numerics>(step.numerics))},
               {"inputs", std::vector<uint16_t>(step.inputs.begin(), step.inputs.end())},
               {"outputs", std::vector<uint16_t>(step.outputs.begin(), step.outputs.end())}};
  if (step.scratch != kNoTensor) json["scratch"] = step.scratch;
  if (!plan.costs().empty()) json["cost_ticks"] = plan.costs()[index];
  if (runs != 1) json["most_runs"] = runs;
  if (plan.has_debug()) {
    const StepOriginView origin = plan.step_origin(index);
    json["name"] = std::string(origin.name);
    json["source_nodes"] = std::vector<uint32_t>(origin.nodes.begin(), origin.nodes.end());
  }
  return json;
}

Json TensorJson(const Plan& plan, uint32_t index) {
  const TensorView tensor = plan.tensor(index);
  Json json = {{"index", index},
               {"type", TypeName(tensor.type)},
               {"dims", Dims(tensor)},
               {"bytes", tensor.bytes()},
               {"offset", tensor.offset}};
  if (tensor.constant) {
    json["constant"] = tensor.base;
  } else {
    json["arena"] = ArenaName(plan, tensor.base);
  }
  if (index < plan.arena_tensor_count()) {
    const LiveView live = plan.live(index);
    json["first_step"] = live.first;
    json["last_step"] = live.last;
  }
  if (plan.has_debug()) json["source_tensor"] = plan.tensor_origin(index).source;
  return json;
}

Json BindingJson(const Plan& plan, const BindingView& binding) {
  const TensorView tensor = plan.tensor(binding.tensor);
  return {{"name", std::string(binding.name)}, {"tensor", binding.tensor},
          {"type", TypeName(tensor.type)},     {"dims", Dims(tensor)},
          {"bytes", tensor.bytes()},           {"scale", binding.scale},
          {"zero_point", binding.zero_point}};
}

/// Largest first; of tensors that share memory, the largest only.
std::vector<uint16_t> LiveTensors(const Plan& plan, uint32_t arena, int32_t step) {
  std::map<uint16_t, uint16_t> largest;  // By root.
  for (uint32_t i = 0; i < plan.arena_tensor_count(); ++i) {
    const LiveView live = plan.live(i);
    if (plan.tensor(i).base != arena || live.first > step || live.last < step) continue;
    const auto tensor = static_cast<uint16_t>(i);
    const auto [it, fresh] = largest.try_emplace(live.root, tensor);
    if (!fresh && plan.tensor_bytes(tensor) > plan.tensor_bytes(it->second)) it->second = tensor;
  }
  std::vector<uint16_t> tensors;
  for (const auto& [root, tensor] : largest) tensors.push_back(tensor);
  std::stable_sort(tensors.begin(), tensors.end(),
                   [&](uint16_t a, uint16_t b) { return plan.tensor_bytes(a) > plan.tensor_bytes(b); });
  return tensors;
}

}  // namespace

std::string TensorText(const TensorView& tensor) {
  return absl::StrCat(TypeName(tensor.type), "[", absl::StrJoin(Dims(tensor), ","), "]");
}

std::string ArenaName(const Plan& plan, uint32_t arena) {
  const ArenaKind kind = plan.arena(arena).kind;
  int before = 0;
  for (uint32_t i = 0; i < arena; ++i) before += plan.arena(i).kind == kind ? 1 : 0;
  return before == 0 ? KindName(kind) : absl::StrCat(KindName(kind), ".", before);
}

std::string StepName(const Plan& plan, uint32_t step) {
  const std::string source(plan.step_origin(step).name);
  return absl::StrCat(OpName(plan.step(step).op), source.empty() ? "" : " ", source);
}

std::string MemoryName(const Plan& plan, uint32_t memory) {
  if (memory >= plan.memory_count() || plan.memory(memory).name.empty()) return absl::StrCat("memory ", memory);
  return std::string(plan.memory(memory).name);
}

Peak FindPeak(const Plan& plan, uint32_t arena) {
  std::map<uint16_t, memory::Buffer> blocks;  // By root: the hull of its tensors, in bytes and steps.
  std::map<uint16_t, int64_t> starts;
  for (uint32_t i = 0; i < plan.arena_tensor_count(); ++i) {
    const TensorView tensor = plan.tensor(i);
    const LiveView live = plan.live(i);
    if (tensor.base != arena) continue;
    const int64_t begin = tensor.offset, end = begin + int64_t{tensor.bytes()};
    const auto [it, fresh] = blocks.try_emplace(live.root, memory::Buffer{end - begin, live.first, live.last});
    int64_t& start = starts.try_emplace(live.root, begin).first->second;
    memory::Buffer& block = it->second;
    block.bytes = std::max(start + block.bytes, end) - std::min(start, begin);
    start = std::min(start, begin);
    block.first = std::min<int32_t>(block.first, live.first);
    block.last = std::max<int32_t>(block.last, live.last);
  }
  std::vector<memory::Buffer> buffers;
  for (const auto& [root, block] : blocks) buffers.push_back(block);
  const memory::PeakLoad load = memory::FindPeakLoad(buffers, plan.arena(arena).alignment);
  if (load.bytes == 0) return {};
  return {load.step, load.bytes, LiveTensors(plan, arena, load.step)};
}

std::vector<uint64_t> MostRuns(const Plan& plan) {
  std::vector<uint64_t> runs(plan.step_count(), 1);
  for (uint32_t i = 0; i < plan.step_count(); ++i) {
    const StepView step = plan.step(i);
    if (step.op != Op::kLoop) continue;
    const auto* loop = static_cast<const schema::LoopParams*>(step.params);
    for (uint32_t k = i + 1; k <= i + loop->body(); ++k) runs[k] *= loop->max_trips();
  }
  return runs;
}

Json PlanJson(const Plan& plan, const Requirements& need) {
  Json json = {{"version", absl::StrCat(plan.major(), ".", plan.minor())},
               {"producer", std::string(plan.producer())},
               {"target", std::string(plan.target_name())},
               {"plan_bytes", plan.bytes().size()},
               {"constant_bytes", ConstantBytes(plan)}};
  if (!plan.costs().empty()) json["longest_step_ticks"] = LongestStep(plan);
  json["arenas"] = Json::array();
  for (uint32_t i = 0; i < plan.arena_count(); ++i) {
    const ArenaView arena = plan.arena(i);
    Json row = {
        {"name", ArenaName(plan, i)}, {"kind", KindName(arena.kind)},     {"memory", MemoryName(plan, arena.memory)},
        {"bytes", arena.bytes},       {"lower_bound", arena.lower_bound}, {"alignment", arena.alignment}};
    const Peak peak = FindPeak(plan, i);
    if (peak.step >= 0) {
      row["peak_step"] = peak.step;
      row["peak_tensors"] = peak.tensors;
    }
    json["arenas"].push_back(row);
  }
  json["arenas"].push_back({{"name", "runtime"},
                            {"kind", KindName(ArenaKind::kRuntime)},
                            {"memory", MemoryName(plan, 0)},
                            {"bytes", need.runtime.bytes},
                            {"lower_bound", need.runtime.bytes},  // All of it is live at every step.
                            {"alignment", need.runtime.alignment}});
  json["inputs"] = Json::array();
  for (uint32_t i = 0; i < plan.input_count(); ++i) json["inputs"].push_back(BindingJson(plan, plan.input(i)));
  json["outputs"] = OutputsJson(plan);
  json["steps"] = Json::array();
  const std::vector<uint64_t> runs = MostRuns(plan);
  for (uint32_t i = 0; i < plan.step_count(); ++i) json["steps"].push_back(StepJson(plan, i, runs[i]));
  json["tensors"] = Json::array();
  for (uint32_t i = 0; i < plan.tensor_count(); ++i) json["tensors"].push_back(TensorJson(plan, i));
  return json;
}

Json OutputsJson(const Plan& plan) {
  Json list = Json::array();
  for (uint32_t i = 0; i < plan.output_count(); ++i) list.push_back(BindingJson(plan, plan.output(i)));
  return list;
}

std::string SummaryText(const Plan& plan, const Requirements& need) {
  const uint64_t constants = ConstantBytes(plan), file_bytes = plan.bytes().size();
  std::string text = absl::StrFormat("%d steps; plan %d bytes (%d of constants, %d beside them)\n", plan.step_count(),
                                     file_bytes, constants, file_bytes - std::min(constants, file_bytes));
  if (const uint64_t longest = LongestStep(plan); longest != 0 && plan.clock_hz() != 0) {
    absl::StrAppendFormat(&text, "longest step %d ticks, %.3f ms\n", longest,
                          1e3 * static_cast<double>(longest) / static_cast<double>(plan.clock_hz()));
  }
  for (uint32_t i = 0; i < plan.arena_count(); ++i) {
    const ArenaView arena = plan.arena(i);
    absl::StrAppendFormat(&text, "arena %-12s in %-8s %9d bytes", ArenaName(plan, i), MemoryName(plan, arena.memory),
                          arena.bytes);
    if (arena.kind == ArenaKind::kActivation) {
      absl::StrAppendFormat(&text, "  lower bound %d, gap %d", arena.lower_bound,
                            int64_t{arena.bytes} - arena.lower_bound);
    }
    text += "\n";
  }
  absl::StrAppendFormat(&text, "arena %-12s in %-8s %9d bytes\n", "runtime", MemoryName(plan, 0), need.runtime.bytes);
  return text;
}

std::string StepsText(const Plan& plan) {
  std::string text;
  for (uint32_t i = 0; i < plan.step_count(); ++i) {
    const StepView step = plan.step(i);
    absl::StrAppendFormat(&text, "%4d  %-18s", i, OpName(step.op));
    const auto add = [&](uint16_t t) { absl::StrAppend(&text, " t", t, ":", TensorText(plan.tensor(t))); };
    for (const uint16_t& t : step.inputs) {
      if (&t == step.inputs.data() || !plan.tensor(t).constant) add(t);
    }
    if (!step.outputs.empty()) text += " ->";
    for (const uint16_t t : step.outputs) add(t);
    const std::string_view source = plan.step_origin(i).name;
    absl::StrAppend(&text, source.empty() ? "" : "  ", std::string(source), "\n");
  }
  return text;
}

}  // namespace takt::report
