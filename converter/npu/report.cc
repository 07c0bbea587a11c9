#include "converter/npu/report.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "converter/npu/step_profile.h"

namespace takt::npu {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kFemtojoulesANanojoule = 1e6;

Json StepJson(const StepProfile& step, size_t index, const Machine& m) {
  Json json = {{"index", index},
               {"name", step.name},
               {"op", step.op},
               {"on", step.host() ? "host" : "npu"},
               {"start_cycle", step.start},
               {"cycles", step.cycles},
               {"ms", static_cast<double>(step.cycles) * 1e3 / static_cast<double>(m.clock_hz)},
               {"bound_by", step.bound_by()}};
  if (step.host()) return json;
  json["job"] = step.job;
  json["macs"] = step.macs;
  json["utilisation"] = step.Utilisation(m);
  json["tile"] = step.tile;
  if (step.cascade >= 0) json["cascade"] = {{"index", step.cascade}, {"stripes", step.stripes}};
  json["energy_nj"] = static_cast<double>(step.Femtojoules(m)) / kFemtojoulesANanojoule;
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    json["memories"][m.memories[i].name] = {{"read_bytes", step.read_bytes[i]},
                                            {"written_bytes", step.written_bytes[i]}};
  }
  for (int p = 1; p < kPipes; ++p) json["busy"][PipeName(static_cast<Pipe>(p))] = step.busy[p] >> m.tick_shift;
  return json;
}

Json PipesJson(const Timing& t) {
  Json json;
  for (int p = 0; p < kPipes; ++p) {
    const PipeTime& time = t.pipes[p];
    Json pipe = {{"busy", time.busy}, {"contention", time.contention}, {"issue", time.issue}, {"drain", time.drain}};
    for (int q = 1; q < kPipes; ++q) pipe["wait"][PipeName(static_cast<Pipe>(q))] = time.events[q];
    json[PipeName(static_cast<Pipe>(p))] = pipe;
  }
  return json;
}

/// What the layers of a cascade keep of the tensors between them, and what would be written and read without it.
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
      json["saved_bytes"] = json.value("saved_bytes", uint64_t{0}) + 2 * l.out_elements();
    }
  }
  Json list = Json::array();
  for (auto& [index, json] : cascades) list.push_back(std::move(json));
  return list;
}

Json JobJson(const Compilation& c, size_t j, const Machine& m) {
  const Timing& t = c.jobs[j].timing;
  Json json = {{"cycles", t.Cycles(m)},
               {"macs", t.macs},
               {"commands", t.commands},
               {"stream_bytes", c.device.jobs[j].stream.size()},
               {"exposed_round_trips", t.round_trips.Sum() / kWholeTrip},
               {"energy_nj", static_cast<double>(t.Femtojoules(m)) / kFemtojoulesANanojoule},
               {"pipes_ticks", PipesJson(t)}};
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    json["memories"][m.memories[i].name] = {{"read_bytes", t.read_bytes[i]},
                                            {"written_bytes", t.written_bytes[i]},
                                            {"exposed_reads", t.round_trips.read[i] / kWholeTrip},
                                            {"exposed_writes", t.round_trips.written[i] / kWholeTrip}};
  }
  return json;
}

}  // namespace

std::string ValidationText(const MachineDescription& machine) {
  if (!machine.validated()) return "unvalidated: structure and peaks only";
  return absl::StrCat("validated against: ", absl::StrJoin(machine.validated_against, "; "));
}

Json ReportJson(const ir::Graph& graph, const Compilation& c, const MachineDescription& machine) {
  const Machine& m = machine.table;
  const uint64_t total = TotalCycles(c);
  uint64_t npu = 0;
  double energy = 0;
  for (const CompiledJob& job : c.jobs) {
    npu += job.timing.Cycles(m);
    energy += static_cast<double>(job.timing.Femtojoules(m)) / kFemtojoulesANanojoule;
  }
  Json json = {{"machine", m.name},
               {"clock_hz", m.clock_hz},
               {"validation", ValidationText(machine)},
               {"cycles", total},
               {"npu_cycles", npu},
               {"host_cycles", total - npu},
               {"ms", static_cast<double>(total) * 1e3 / static_cast<double>(m.clock_hz)},
               {"energy_nj", energy}};
  json["sources"] = machine.sources;
  json["steps"] = Json::array();
  for (const StepProfile& step : ProfileSteps(graph, c, m)) {
    json["steps"].push_back(StepJson(step, json["steps"].size(), m));
  }
  json["cascades"] = CascadesJson(graph, c);
  json["jobs"] = Json::array();
  for (size_t j = 0; j < c.jobs.size(); ++j) json["jobs"].push_back(JobJson(c, j, m));
  return json;
}

std::string ReportText(const ir::Graph& graph, const Compilation& c, const MachineDescription& machine) {
  const Json json = ReportJson(graph, c, machine);
  std::string text =
      absl::StrFormat("%s: %d cycles (%d on the NPU, %d on the host), %.3f ms, %.0f nJ on the NPU\n  %s\n",
                      json["machine"].get<std::string>(), json["cycles"].get<uint64_t>(),
                      json["npu_cycles"].get<uint64_t>(), json["host_cycles"].get<uint64_t>(), json["ms"].get<double>(),
                      json["energy_nj"].get<double>(), json["validation"].get<std::string>());
  absl::StrAppendFormat(&text, "  %4s %-18s %10s %-8s %6s %10s %9s  %s\n", "step", "op", "cycles", "bound by", "util",
                        "bytes", "nJ", "name");
  for (const Json& cascade : json["cascades"]) {
    absl::StrAppendFormat(&text, "  cascade of %d steps from %s: keeps %d bytes between them, %d are not moved\n",
                          cascade["steps"].size(), cascade["steps"][0].get<std::string>(),
                          cascade["kept_bytes"].get<uint64_t>(), cascade["saved_bytes"].get<uint64_t>());
  }
  const std::vector<StepProfile> steps = ProfileSteps(graph, c, machine.table);
  for (size_t i = 0; i < steps.size(); ++i) {
    const StepProfile& s = steps[i];
    absl::StrAppendFormat(&text, "  %4d %-18s %10d %-8s %5.1f%% %10d %9.0f  %s\n", i, s.op, s.cycles, s.bound_by(),
                          100 * s.Utilisation(machine.table), s.Bytes(),
                          static_cast<double>(s.Femtojoules(machine.table)) / kFemtojoulesANanojoule, s.name);
  }
  return text;
}

}  // namespace takt::npu
