#include "converter/npu/report.h"

#include <map>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "converter/npu/step_profile.h"

namespace takt::npu {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kFemtojoulesANanojoule = 1e6, kSquareMicrometresASquareMillimetre = 1e6;

/// A part of energy or area; nothing if the machine states no figure for it.
struct StatedPart {
  const char* name;
  std::optional<double> value;
};

StatedPart Part(const char* name, bool stated, uint64_t value) {
  return {name, stated ? std::optional(static_cast<double>(value)) : std::nullopt};
}

/// In femtojoules.
std::vector<StatedPart> PartsOf(const Energy& e, const Machine& m) {
  bool buffers = false, memories = false;
  for (const BufferSpec& b : m.buffers) buffers = buffers || b.femtojoule_per_byte != 0;
  for (uint32_t i = 0; i < m.memory_count; ++i) memories = memories || m.memories[i].femtojoule_per_byte != 0;
  return {Part("array", m.array.femtojoule_per_mac != 0, e.array),
          Part("vector", m.femtojoule_per_element != 0, e.vector), Part("buffers", buffers, e.buffers),
          Part("memories", memories, e.memories)};
}

/// In square micrometres.
std::vector<StatedPart> PartsOf(const Area& area, const Machine& m) {
  return {Part("array", m.array.square_micrometre_per_mac != 0, area.array),
          Part("buffers", m.square_micrometre_per_kib != 0, area.buffers)};
}

Json PartsJson(const std::vector<StatedPart>& parts, double unit) {
  Json json;
  for (const StatedPart& part : parts) json[part.name] = part.value ? Json(*part.value / unit) : Json(nullptr);
  return json;
}

std::string PartsText(const std::vector<StatedPart>& parts, double unit, int digits) {
  std::vector<std::string> texts;
  for (const StatedPart& part : parts) {
    texts.push_back(
        absl::StrCat(part.name, " ", part.value ? absl::StrFormat("%.*f", digits, *part.value / unit) : "not stated"));
  }
  return absl::StrJoin(texts, ", ");
}

/// What all jobs compute and move.
Activity TotalActivity(const Compilation& c) {
  Activity activity;
  for (const CompiledJob& job : c.jobs) activity.Merge(job.timing.activity);
  return activity;
}

void AddEnergy(const Activity& activity, const Machine& m, Json& json) {
  const Energy energy = EnergyOf(activity, m);
  json["energy_nj"] = static_cast<double>(energy.Sum()) / kFemtojoulesANanojoule;
  json["energy_parts_nj"] = PartsJson(PartsOf(energy, m), kFemtojoulesANanojoule);
}

Json StepJson(const StepProfile& step, size_t index, const Machine& m) {
  Json json = {{"index", index},
               {"name", step.name},
               {"op", step.op},
               {"on", step.host() ? "host" : "npu"},
               {"start_cycle", step.start},
               {"cycles", step.cycles},
               {"hidden_cycles", step.hidden},
               {"ms", static_cast<double>(step.cycles) * 1e3 / static_cast<double>(m.clock_hz)},
               {"bound_by", step.BoundText(m)}};
  if (step.host()) {
    json["reason"] = step.reason;
    return json;
  }
  json["job"] = step.job;
  json["macs"] = step.activity.macs;
  json["utilisation"] = step.Utilisation(m);
  json["tile"] = step.tile;
  if (step.cascade >= 0) json["cascade"] = {{"index", step.cascade}, {"stripes", step.stripes}};
  AddEnergy(step.activity, m, json);
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    json["memories"][m.memories[i].name] = {{"read_bytes", step.activity.read_bytes[i]},
                                            {"written_bytes", step.activity.written_bytes[i]}};
  }
  for (int p = 1; p < kPipes; ++p) {
    const char* pipe = PipeName(static_cast<Pipe>(p));
    json["busy"][pipe] = step.busy[p] >> m.tick_shift;
    for (int q = 1; q < kPipes; ++q)
      if (step.waiting[p][q] != 0)
        json["waiting"][pipe][PipeName(static_cast<Pipe>(q))] = step.waiting[p][q] >> m.tick_shift;
  }
  return json;
}

/// A lower bound if a part is not stated.
std::string AreaText(const Machine& m) {
  const std::string parts = AreaParts(m);
  if (parts.empty()) return "area not stated";
  const Area area = AreaOf(m);
  return absl::StrFormat("area %.3f mm2: %s",
                         static_cast<double>(area.array + area.buffers) / kSquareMicrometresASquareMillimetre, parts);
}

/// A line of the table.
std::string StepText(const StepProfile& s, size_t index, const Machine& m) {
  std::string text =
      absl::StrFormat("  %4d %-18s %10d %-14s %5.1f%%", index, s.op, s.cycles, s.BoundText(m), 100 * s.Utilisation(m));
  for (uint32_t i = 0; i < m.memory_count; ++i)
    absl::StrAppendFormat(&text, " %10d", s.activity.read_bytes[i] + s.activity.written_bytes[i]);
  absl::StrAppendFormat(&text, " %9.0f  %s%s%s\n",
                        static_cast<double>(EnergyOf(s.activity, m).Sum()) / kFemtojoulesANanojoule, s.name,
                        s.reason.empty() ? "" : absl::StrCat(" (", s.reason, ")"),
                        s.hidden == 0 ? "" : absl::StrCat(" (", s.hidden, " cycles while the host runs steps)"));
  return text;
}

Json PipesJson(const Timing& t) {
  Json json;
  for (int p = 0; p < kPipes; ++p) {
    const PipeTime& time = t.pipes[p];
    Json pipe = {{"busy", time.busy}, {"contention", time.contention}, {"link", time.link},   {"ports", time.ports},
                 {"sync", time.sync}, {"issue", time.issue},           {"queue", time.queue}, {"drain", time.drain}};
    for (int q = 1; q < kPipes; ++q) pipe["wait"][PipeName(static_cast<Pipe>(q))] = time.events[q];
    json[PipeName(static_cast<Pipe>(p))] = pipe;
  }
  return json;
}

/// What the layers of a cascade keep of the tensors between them, and the feature memory that the rest would take.
Json CascadesJson(const ir::Graph& graph, const Compilation& c) {
  std::map<int, Json> cascades;
  for (const CompiledJob& job : c.jobs) {
    for (const CompiledLayer& compiled : job.layers) {
      const Layer& l = compiled.layer;
      if (compiled.cascade < 0 || compiled.part.rows.first != 0) continue;
      const auto made = cascades.try_emplace(compiled.cascade, Json{{"steps", Json::array()}}).first;
      Json& json = made->second;
      json["steps"].push_back(graph.nodes[static_cast<size_t>(compiled.node)].name);
      if (compiled.ring_rows == 0) continue;
      const uint64_t kept = uint64_t{compiled.ring_rows} * l.out_width * l.out_channels;
      json["kept_bytes"] = json.value("kept_bytes", uint64_t{0}) + kept;
      json["saved_bytes"] = json.value("saved_bytes", uint64_t{0}) + l.out_elements() - kept;
    }
  }
  Json list = Json::array();
  for (auto& [index, json] : cascades) list.push_back(std::move(json));
  return list;
}

Json JobJson(const Compilation& c, size_t j, const Machine& m) {
  const Timing& t = c.jobs[j].timing;
  Json json = {{"cycles", t.Cycles(m)},
               {"macs", t.activity.macs},
               {"commands", t.commands},
               {"stream_bytes", c.device.jobs[j].stream.size()},
               {"exposed_round_trips", t.round_trips.Sum() / kWholeTrip},
               {"pipes_ticks", PipesJson(t)}};
  AddEnergy(t.activity, m, json);
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    json["memories"][m.memories[i].name] = {{"read_bytes", t.activity.read_bytes[i]},
                                            {"written_bytes", t.activity.written_bytes[i]},
                                            {"exposed_reads", t.round_trips.read[i] / kWholeTrip},
                                            {"exposed_writes", t.round_trips.written[i] / kWholeTrip}};
  }
  return json;
}

}  // namespace

std::string EnergyParts(const Activity& activity, const Machine& m) {
  return PartsText(PartsOf(EnergyOf(activity, m), m), kFemtojoulesANanojoule, 0);
}

std::string AreaParts(const Machine& m) {
  const Area area = AreaOf(m);
  return area.array + area.buffers == 0 ? "" : PartsText(PartsOf(area, m), kSquareMicrometresASquareMillimetre, 3);
}

std::string ValidationText(const MachineDescription& machine) {
  if (!machine.validated()) return "unvalidated: structure and peaks only";
  return absl::StrCat("validated against: ", absl::StrJoin(machine.validated_against, "; "));
}

Json ReportJson(const ir::Graph& graph, const Compilation& c, const MachineDescription& machine) {
  const Machine& m = machine.table;
  const std::vector<StepProfile> steps = ProfileSteps(graph, c, m);
  const uint64_t total = TotalCycles(c);
  uint64_t npu = 0, hidden = 0;
  for (const CompiledJob& job : c.jobs) npu += job.timing.Cycles(m);
  for (const StepProfile& step : steps) hidden += step.hidden;
  Json json = {{"machine", m.name},
               {"clock_hz", m.clock_hz},
               {"validation", ValidationText(machine)},
               {"cycles", total},
               {"npu_cycles", npu},
               {"host_cycles", total + hidden - npu},
               {"hidden_cycles", hidden},
               {"ms", static_cast<double>(total) * 1e3 / static_cast<double>(m.clock_hz)}};
  AddEnergy(TotalActivity(c), m, json);
  json["area_um2"] = PartsJson(PartsOf(AreaOf(m), m), 1);
  json["sources"] = machine.sources;
  json["steps"] = Json::array();
  for (const StepProfile& step : steps) {
    json["steps"].push_back(StepJson(step, json["steps"].size(), m));
  }
  json["cascades"] = CascadesJson(graph, c);
  json["jobs"] = Json::array();
  for (size_t j = 0; j < c.jobs.size(); ++j) json["jobs"].push_back(JobJson(c, j, m));
  return json;
}

std::string ReportText(const ir::Graph& graph, const Compilation& c, const MachineDescription& machine) {
  const Machine& m = machine.table;
  const Json json = ReportJson(graph, c, machine);
  const auto hidden = json["hidden_cycles"].get<uint64_t>();
  const std::string both = hidden == 0 ? "" : absl::StrCat(", ", hidden, " on both at once");
  std::string text = absl::StrFormat(
      "%s: %d cycles (%d on the NPU, %d on the host%s), %.3f ms, %.0f nJ on the NPU\n  %s\n  "
      "energy %.0f nJ: %s; %s\n",
      json["machine"].get<std::string>(), json["cycles"].get<uint64_t>(), json["npu_cycles"].get<uint64_t>(),
      json["host_cycles"].get<uint64_t>(), both, json["ms"].get<double>(), json["energy_nj"].get<double>(),
      json["validation"].get<std::string>(), json["energy_nj"].get<double>(), EnergyParts(TotalActivity(c), m),
      AreaText(m));
  absl::StrAppendFormat(&text, "  %4s %-18s %10s %-14s %6s", "step", "op", "cycles", "bound by", "util");
  for (uint32_t i = 0; i < m.memory_count; ++i) absl::StrAppendFormat(&text, " %10s", m.memories[i].name);
  absl::StrAppendFormat(&text, " %9s  %s\n", "nJ", "name (memories: bytes)");
  for (const Json& cascade : json["cascades"]) {
    absl::StrAppendFormat(&text,
                          "  cascade of %d steps from %s: keeps %d bytes between them, which saves %d of memory\n",
                          cascade["steps"].size(), cascade["steps"][0].get<std::string>(),
                          cascade["kept_bytes"].get<uint64_t>(), cascade["saved_bytes"].get<uint64_t>());
  }
  const std::vector<StepProfile> steps = ProfileSteps(graph, c, m);
  for (size_t i = 0; i < steps.size(); ++i) text += StepText(steps[i], i, m);
  return text;
}

}  // namespace takt::npu
