#include "converter/report/html_report.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "converter/npu/feature_lives.h"
#include "converter/npu/report.h"
#include "converter/report/charts.h"
#include "converter/report/html.h"
#include "converter/report/memory_map.h"
#include "converter/report/plan_report.h"

namespace takt::report {
namespace {

using npu::kPipes;
using npu::StepProfile;
using Steps = std::vector<StepProfile>;

double Milliseconds(uint64_t cycles, const npu::Machine& m) {
  return static_cast<double>(cycles) * 1e3 / static_cast<double>(m.clock_hz);
}

/// What all steps take together; its utilisation is that of the whole time.
StepProfile Total(const Steps& steps) {
  StepProfile total;
  total.job = 0;
  for (const StepProfile& s : steps) {
    total.cycles += s.exposed(), total.hidden += s.hidden;
    total.activity.Merge(s.activity);
  }
  return total;
}

std::string Fact(const std::string& name, const std::string& value, const std::string& detail) {
  return absl::StrCat("<div><dt>", name, "</dt><dd>", value, "<small>", detail, "</small></dd></div>\n");
}

std::string Facts(const npu::Machine& m, const Steps& steps) {
  const StepProfile total = Total(steps);
  uint64_t host = 0;
  for (const StepProfile& s : steps) host += s.host() ? s.cycles : 0;
  std::string html = "<dl class=\"facts\">\n";
  html += Fact("Time", absl::StrFormat("%.4g ms", Milliseconds(total.cycles, m)),
               absl::StrFormat("at %g MHz", static_cast<double>(m.clock_hz) / 1e6));
  html += Fact("Cycles", Grouped(total.cycles),
               absl::StrCat(Grouped(total.cycles + total.hidden - host), " on the NPU, ", Grouped(host), " on the host",
                            total.hidden == 0 ? "" : absl::StrCat(", ", Grouped(total.hidden), " on both at once")));
  html +=
      Fact("Utilisation", absl::StrFormat("%.1f %%", 100 * total.Utilisation(m)),
           absl::StrCat(Grouped(total.activity.macs), " MACs, ", Grouped(npu::PeakMacs(m.array)), " a cycle at most"));
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    html += Fact(absl::StrCat("Traffic of ", m.memories[i].name),
                 ByteText(total.activity.read_bytes[i] + total.activity.written_bytes[i]),
                 absl::StrCat(ByteText(total.activity.read_bytes[i]), " read, ",
                              ByteText(total.activity.written_bytes[i]), " written"));
  }
  html += Fact("Energy", absl::StrFormat("%.4g µJ", static_cast<double>(npu::EnergyOf(total.activity, m).Sum()) / 1e9),
               "nJ: " + npu::EnergyParts(total.activity, m));
  const npu::Area area = npu::AreaOf(m);
  const std::string parts = npu::AreaParts(m);
  html += Fact("Area", absl::StrFormat("%.3g mm²", static_cast<double>(area.array + area.buffers) / 1e6),
               parts.empty() ? "not stated" : "mm²: " + parts);
  return html + "</dl>\n";
}

std::string Header(const std::string& name) {
  return absl::StrCat("<th>", name, "</th>");
}

std::string HeatCell(double share) {
  return absl::StrFormat("<td style=\"background:rgba(var(--heat),%.2f)\">%.1f %%</td>", 0.75 * share, 100 * share);
}

/// Causes that some machines do not have are left out there.
struct Cause {
  const char* name;
  npu::Ticks npu::PipeTime::*ticks;
  bool always;
};
constexpr Cause kCauses[] = {
    {"busy", &npu::PipeTime::busy, true},       {"contention", &npu::PipeTime::contention, true},
    {"link", &npu::PipeTime::link, false},      {"bank ports", &npu::PipeTime::ports, false},
    {"set, wait", &npu::PipeTime::sync, false}, {"issue", &npu::PipeTime::issue, true},
    {"queue", &npu::PipeTime::queue, false},    {"drain", &npu::PipeTime::drain, true}};

/// Shares of the jobs' time; each row sums to all of it.
std::string PipeTable(const npu::Compilation& c) {
  npu::PipeTime sums[kPipes];
  std::set<const char*> shown;
  for (const npu::CompiledJob& job : c.jobs) {
    for (int p = 1; p < kPipes; ++p) {
      const npu::PipeTime& pipe = job.timing.pipes[p];
      for (const Cause& cause : kCauses) {
        sums[p].*cause.ticks += pipe.*cause.ticks;
        if (cause.always || pipe.*cause.ticks != 0) shown.insert(cause.name);
      }
      for (int q = 1; q < kPipes; ++q) sums[p].events[q] += pipe.events[q];
    }
  }
  std::string html = "<div class=\"wide\"><table><thead><tr><th class=\"text\">pipe</th>";
  for (const Cause& cause : kCauses) absl::StrAppend(&html, shown.count(cause.name) ? Header(cause.name) : "");
  for (int q = 1; q < kPipes; ++q) html += Header(absl::StrCat("waits for ", npu::PipeName(static_cast<npu::Pipe>(q))));
  html += "</tr></thead>\n";
  for (int p = 1; p < kPipes; ++p) {
    const double all = std::max(1.0, static_cast<double>(sums[p].Sum()));
    const auto cell = [&](npu::Ticks part) { return HeatCell(static_cast<double>(part) / all); };
    absl::StrAppend(&html, "<tr><td class=\"text\">", npu::PipeName(static_cast<npu::Pipe>(p)), "</td>");
    for (const Cause& cause : kCauses)
      absl::StrAppend(&html, shown.count(cause.name) ? cell(sums[p].*cause.ticks) : "");
    for (int q = 1; q < kPipes; ++q) html += p == q ? "<td></td>" : cell(sums[p].events[q]);
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

/// A cell for each memory, then energy.
std::string TrafficCells(const npu::Machine& m, const StepProfile& s) {
  std::string html;
  for (uint32_t k = 0; k < m.memory_count; ++k)
    absl::StrAppend(&html, "<td>", Grouped(s.activity.read_bytes[k] + s.activity.written_bytes[k]), "</td>");
  return absl::StrCat(html, "<td>", Grouped((npu::EnergyOf(s.activity, m).Sum() + 500'000) / 1'000'000), "</td>");
}

std::string StepRow(const npu::Machine& m, const Steps& steps, size_t i, uint64_t total, bool tiles) {
  const StepProfile& s = steps[i];
  const double share = 100 * static_cast<double>(s.cycles) / static_cast<double>(std::max<uint64_t>(1, total));
  std::string html = absl::StrFormat("<tr><td>%d</td><td class=\"text\">%s</td><td class=\"text\">%s</td>", i, s.op,
                                     EscapeHtml(s.name));
  absl::StrAppendFormat(
      &html, "<td style=\"background:linear-gradient(90deg,var(--bar) %.1f%%,transparent 0)\">%s</td><td>%.1f</td>",
      share, Grouped(s.cycles), share);
  absl::StrAppendFormat(&html, "<td>%.4f</td><td class=\"text\">%s</td>", Milliseconds(s.cycles, m), s.bound_by());
  absl::StrAppend(&html, s.activity.macs == 0 ? "<td></td>" : absl::StrFormat("<td>%.1f</td>", 100 * s.Utilisation(m)),
                  TrafficCells(m, s));
  if (tiles) absl::StrAppend(&html, "<td class=\"text\">", s.tile, "</td>");
  return html + "</tr>\n";
}

std::string StepTable(const npu::Machine& m, const Steps& steps) {
  const StepProfile total = Total(steps);
  const bool tiles = std::ranges::any_of(steps, [](const StepProfile& s) { return !s.tile.empty(); });
  std::string html =
      "<div class=\"wide\"><table><thead><tr><th>step</th><th class=\"text\">op</th><th class=\"text\">name</th>"
      "<th>cycles</th><th>%</th><th>ms</th><th class=\"text\">bound by</th><th>utilisation, %</th>";
  for (uint32_t i = 0; i < m.memory_count; ++i) absl::StrAppend(&html, "<th>", m.memories[i].name, ", bytes</th>");
  absl::StrAppend(&html, "<th>nJ</th>", tiles ? "<th class=\"text\">tile</th>" : "", "</tr></thead>\n<tbody>");
  for (size_t i = 0; i < steps.size(); ++i) html += StepRow(m, steps, i, total.cycles, tiles);
  absl::StrAppendFormat(&html,
                        "</tbody>\n<tfoot><tr><td></td><td class=\"text\">all</td><td></td><td>%s</td><td>100</td>"
                        "<td>%.4f</td><td></td><td>%.1f</td>%s%s</tr></tfoot></table></div>\n",
                        Grouped(total.cycles), Milliseconds(total.cycles, m), 100 * total.Utilisation(m),
                        TrafficCells(m, total), tiles ? "<td></td>" : "");
  return html;
}

std::string Cascades(const ir::Graph& graph, const npu::Compilation& c, const npu::MachineDescription& machine) {
  const auto cascades = npu::ReportJson(graph, c, machine)["cascades"];
  if (cascades.empty()) return "";
  std::string html =
      "<h2>Cascades</h2>\n<p class=\"note\">Layers that run stripe by stripe and keep just the rows in use "
      "between them.</p>\n<ul>\n";
  for (const auto& cascade : cascades) {
    absl::StrAppendFormat(&html, "<li>%d layers: %s kept between them, which saves %s of memory</li>\n",
                          cascade["steps"].size(), ByteText(cascade["kept_bytes"].get<uint64_t>()),
                          ByteText(cascade["saved_bytes"].get<uint64_t>()));
  }
  return html + "</ul>\n";
}

/// On the timeline's axis, with what each layer of the jobs keeps there.
std::string MemoryMap(const Plan& plan, const npu::Compilation& c, const npu::Machine& m, const Steps& steps) {
  MapTime time{CycleAxis(npu::TotalCycles(c), m.clock_hz), {0}};
  std::vector<uint16_t> jobs;
  for (uint32_t s = 0; s < plan.step_count(); ++s) {
    time.starts.push_back(time.starts.back() + static_cast<double>(c.device.costs[s]));
    if (plan.step(s).op == Op::kSubmit) jobs.push_back(plan.step(s).job());
  }
  std::vector<MapBox> boxes;
  for (const npu::FeatureLife& life : npu::FeatureLives(c, m)) {
    const TensorView tensor = plan.tensor(plan.job(jobs[life.job]).bases[life.base]);
    boxes.push_back(
        {tensor.base, tensor.offset + life.begin, tensor.offset + life.end, life.from, life.until,
         KindColour(steps[life.step]), absl::StrCat(life.step),
         absl::StrFormat("result of %s: %s bytes at %s, cycles %s to %s", StepTitle(steps, life.step),
                         Grouped(life.end - life.begin), Grouped(tensor.offset + life.begin),
                         Grouped(static_cast<uint64_t>(life.from)), Grouped(static_cast<uint64_t>(life.until)))});
  }
  return MemoryMapSvg(plan, time, boxes);
}

std::string Section(const char* title, const char* note, const std::string& picture) {
  return absl::StrCat("<h2>", title, "</h2>\n<p class=\"note\">", note, "</p>\n<div class=\"wide\">", picture,
                      "</div>\n");
}

}  // namespace

std::string HtmlReport(const Plan& plan, const ir::Graph& graph, const npu::Compilation& c,
                       const npu::MachineDescription& machine) {
  const npu::Machine& m = machine.table;
  const Steps steps = npu::ProfileSteps(graph, c, m);
  const std::string title = absl::StrCat(graph.name, " on ", m.name);
  std::string html = absl::StrCat(HtmlHead(title), "<h1>", EscapeHtml(title), "</h1>\n<p class=\"note\">Machine ",
                                  EscapeHtml(npu::ValidationText(machine)), "</p>\n", Facts(m, steps));
  html += Section(
      "Timeline",
      "Steps, and how busy the pipes are meanwhile: the stronger the colour, the busier; at the right, on the whole. "
      "Point at things to see what they are.",
      KindLegend(steps) + TimelineSvg(c, m, steps));
  html += Section("Memory over time",
                  "Filled: what a step has computed, from its first byte to its last use. Dashed: what the plan "
                  "reserves meanwhile, inputs included.",
                  MemoryMap(plan, c, m, steps));
  if (!c.jobs.empty()) {
    html +=
        Section("Roofline",
                "A dot is a step that multiplies; its area is its share of the time. Under a slope the memory bounds "
                "it, under the flat roof the array.",
                KindLegend(steps) + RooflineSvg(m, steps));
    html += Section(
        "Pipes",
        "Where the time of the NPU's jobs goes. Contention: another transfer uses the memory. Issue: the command is "
        "not there yet. Drain: after the last command.",
        PipeTable(c));
  }
  absl::StrAppend(&html, "<h2>Steps</h2>\n", StepTable(m, steps), Cascades(graph, c, machine));
  html += "<h2>Where the machine's figures come from</h2>\n<ul>\n";
  for (const std::string& source : machine.sources) absl::StrAppend(&html, "<li>", EscapeHtml(source), "</li>\n");
  return html + "</ul>\n" + HtmlTail();
}

}  // namespace takt::report
