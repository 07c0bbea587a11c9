#include "converter/npu/report.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace takt::npu {
namespace {

constexpr const char* kKinds[] = {"conv", "depthwise", "pool", "add"};

/// What one layer did: the window in which its commands ran, and how long each pipe was held.
struct LayerTime {
  Ticks first = UINT64_MAX, last = 0;
  Ticks busy[kPipes] = {};
};

struct Collector {
  const CompiledJob& job;
  std::vector<LayerTime> layers;

  void Add(const Span& span) {
    size_t i = layers.size() - 1;
    while (i > 0 && job.layers[i].first_command > span.position) --i;
    LayerTime& layer = layers[i];
    layer.first = std::min(layer.first, span.start);
    layer.last = std::max(layer.last, span.free);
    layer.busy[static_cast<int>(span.command.pipe)] += span.free - span.start;
  }
};

/// Evaluates job `j` again with a sink.
template <typename F>
Status Replay(const Compilation& c, size_t j, const Machine& machine, F& on_span) {
  Stream stream;
  TAKT_TRY(OpenStream(std::as_bytes(std::span(c.device.jobs[j].stream)), stream));
  Timing timing;
  return Evaluate(stream, machine, timing, {[](void* f, const Span& s) { (*static_cast<F*>(f))(s); }, &on_span});
}

std::vector<LayerTime> LayerTimes(const Compilation& c, size_t j, const Machine& machine) {
  Collector collector{c.jobs[j], std::vector<LayerTime>(c.jobs[j].layers.size())};
  auto add = [&](const Span& span) { collector.Add(span); };
  (void)Replay(c, j, machine, add);
  return std::move(collector.layers);
}

nlohmann::ordered_json LayerJson(const ir::Graph& graph, const CompiledLayer& l, const LayerTime& time,
                                 const Machine& m) {
  const uint64_t cycles = time.last > time.first ? CeilDiv(time.last - time.first, uint64_t{1} << m.tick_shift) : 0;
  const auto bound = static_cast<int>(std::max_element(time.busy, time.busy + kPipes) - time.busy);
  const Array& a = m.array;
  const double peak = static_cast<double>(a.width) * a.height * a.depth * a.reduction * a.cores;
  const double utilisation =
      cycles == 0 ? 0 : static_cast<double>(l.layer.macs()) / (peak * static_cast<double>(cycles));
  nlohmann::ordered_json json = {
      {"name", graph.nodes[static_cast<size_t>(l.node)].name},
      {"kind", kKinds[static_cast<int>(l.layer.kind)]},
      {"start_cycle", time.first == UINT64_MAX ? 0 : time.first >> m.tick_shift},
      {"cycles", cycles},
      {"bound_by", PipeName(static_cast<Pipe>(bound))},
      {"macs", l.layer.macs()},
      {"utilisation", utilisation},
      {"tile", {l.tiling.out_height, l.tiling.out_width, l.tiling.out_channels, l.tiling.in_channels}}};
  for (int p = 1; p < kPipes; ++p) json["busy"][PipeName(static_cast<Pipe>(p))] = time.busy[p] >> m.tick_shift;
  return json;
}

nlohmann::ordered_json PipesJson(const Timing& t) {
  nlohmann::ordered_json json;
  for (int p = 0; p < kPipes; ++p) {
    const PipeTime& time = t.pipes[p];
    nlohmann::ordered_json pipe = {
        {"busy", time.busy}, {"contention", time.contention}, {"issue", time.issue}, {"drain", time.drain}};
    for (int q = 1; q < kPipes; ++q) pipe["wait"][PipeName(static_cast<Pipe>(q))] = time.events[q];
    json[PipeName(static_cast<Pipe>(p))] = pipe;
  }
  return json;
}

nlohmann::ordered_json JobJson(const ir::Graph& graph, const Compilation& c, size_t j, const Machine& m) {
  const Timing& t = c.jobs[j].timing;
  nlohmann::ordered_json json = {{"cycles", t.Cycles(m)},
                                 {"macs", t.macs},
                                 {"commands", t.commands},
                                 {"stream_bytes", c.device.jobs[j].stream.size()},
                                 {"exposed_round_trips", t.round_trips},
                                 {"energy_nj", t.Femtojoules(m) / 1000000},
                                 {"pipes_ticks", PipesJson(t)}};
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    json["memories"][m.memories[i].name] = {{"read_bytes", t.read_bytes[i]}, {"written_bytes", t.written_bytes[i]}};
  }
  const std::vector<LayerTime> times = LayerTimes(c, j, m);
  for (size_t i = 0; i < times.size(); ++i)
    json["layers"].push_back(LayerJson(graph, c.jobs[j].layers[i], times[i], m));
  return json;
}

std::string Validation(const MachineDescription& machine) {
  if (!machine.validated()) return "unvalidated: structure and peaks only";
  return absl::StrCat("validated against: ", absl::StrJoin(machine.validated_against, "; "));
}

}  // namespace

nlohmann::ordered_json ReportJson(const ir::Graph& graph, const Compilation& c, const MachineDescription& machine) {
  const Machine& m = machine.table;
  uint64_t total = 0, npu = 0;
  for (const uint64_t cost : c.device.costs) total += cost;
  for (const CompiledJob& job : c.jobs) npu += job.timing.Cycles(m);
  nlohmann::ordered_json json = {{"machine", m.name},
                                 {"clock_hz", m.clock_hz},
                                 {"validation", Validation(machine)},
                                 {"cycles", total},
                                 {"npu_cycles", npu},
                                 {"host_cycles", total - npu},
                                 {"ms", static_cast<double>(total) * 1e3 / static_cast<double>(m.clock_hz)}};
  json["sources"] = machine.sources;
  json["jobs"] = nlohmann::ordered_json::array();
  for (size_t j = 0; j < c.jobs.size(); ++j) json["jobs"].push_back(JobJson(graph, c, j, m));
  return json;
}

std::string ReportText(const ir::Graph& graph, const Compilation& c, const MachineDescription& machine) {
  const nlohmann::ordered_json json = ReportJson(graph, c, machine);
  std::string text = absl::StrFormat("%s: %d cycles (%d on the NPU, %d on the host), %.3f ms\n  %s\n",
                                     json["machine"].get<std::string>(), json["cycles"].get<uint64_t>(),
                                     json["npu_cycles"].get<uint64_t>(), json["host_cycles"].get<uint64_t>(),
                                     json["ms"].get<double>(), json["validation"].get<std::string>());
  for (const auto& job : json["jobs"]) {
    absl::StrAppendFormat(&text, "  job: %d cycles, %d commands, %d exposed round trips, %d nJ\n",
                          job["cycles"].get<uint64_t>(), job["commands"].get<uint64_t>(),
                          job["exposed_round_trips"].get<uint64_t>(), job["energy_nj"].get<uint64_t>());
    for (const auto& layer : job["layers"]) {
      absl::StrAppendFormat(&text, "    %-10s %9d cycles  bound by %-8s %5.1f %%  tile %s  %s\n",
                            layer["kind"].get<std::string>(), layer["cycles"].get<uint64_t>(),
                            layer["bound_by"].get<std::string>(), 100 * layer["utilisation"].get<double>(),
                            layer["tile"].dump(), layer["name"].get<std::string>());
    }
  }
  return text;
}

std::string TimelineJson(const Compilation& c, const Machine& machine) {
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (int p = 1; p < kPipes; ++p) {
    events.push_back({{"ph", "M"},
                      {"pid", 0},
                      {"tid", p},
                      {"name", "thread_name"},
                      {"args", {{"name", PipeName(static_cast<Pipe>(p))}}}});
  }
  const double scale = static_cast<double>(uint64_t{1} << machine.tick_shift);
  Ticks offset = 0;
  for (size_t j = 0; j < c.jobs.size(); ++j) {
    auto add = [&](const Span& s) {
      events.push_back(
          {{"ph", "X"},
           {"pid", 0},
           {"tid", static_cast<int>(s.command.pipe)},
           {"name", FindMicroOp(static_cast<uint8_t>(s.command.op))->name},
           {"ts", static_cast<double>(offset + s.start) / scale},
           {"dur", static_cast<double>(s.free - s.start) / scale},
           {"args", {{"job", j}, {"command", s.position}, {"done", static_cast<double>(offset + s.done) / scale}}}});
    };
    (void)Replay(c, j, machine, add);
    offset += c.jobs[j].timing.total;
  }
  return nlohmann::ordered_json{{"displayTimeUnit", "ms"}, {"traceEvents", events}}.dump();
}

}  // namespace takt::npu
