#include "converter/report/html_report.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/npu/report.h"
#include "converter/report/html.h"
#include "converter/report/plan_report.h"

namespace takt::report {
namespace {

using npu::kPipes;

constexpr double kWidth = 960, kLeft = 90, kRight = 40, kTrack = 26;
constexpr size_t kColumns = 960;
constexpr const char* kColours[kPipes] = {"#999", "#4e79a7", "#76b7b2", "#e15759", "#f28e2b", "#59a14f"};

/// The part of each column of the timeline in which every pipe is busy.
class BusyColumns {
 public:
  explicit BusyColumns(double cycles) : scale_(static_cast<double>(kColumns) / cycles), busy_(kPipes * kColumns) {}

  void Add(int pipe, double from, double to) {
    for (double at = from * scale_; at < to * scale_;) {
      const auto column = std::min(kColumns - 1, static_cast<size_t>(at));
      const double end = std::min(to * scale_, static_cast<double>(column + 1));
      busy_[static_cast<size_t>(pipe) * kColumns + column] += end - at;
      if (end <= at) return;
      at = end;
    }
  }
  /// Eighths: equal neighbours become one rectangle.
  int Level(int pipe, size_t column) const {
    const double busy = busy_[static_cast<size_t>(pipe) * kColumns + column];
    return static_cast<int>(std::min(8.0, std::ceil(8 * busy)));
  }

 private:
  double scale_;
  std::vector<double> busy_;
};

BusyColumns Busy(const npu::Compilation& c, const npu::Machine& m) {
  BusyColumns columns(std::max(1.0, static_cast<double>(npu::TotalCycles(c))));
  const double cycle = static_cast<double>(uint64_t{1} << m.tick_shift);
  double now = 0;
  size_t job = 0;
  for (size_t s = 0; s < c.steps.size(); ++s) {
    if (c.steps[s].op == Op::kWait) {
      npu::Replay(c, job++, m, [&](const npu::Span& span) {
        if (span.command.op == npu::MicroOp::kSet || span.command.op == npu::MicroOp::kWait) return;
        columns.Add(static_cast<int>(span.command.pipe), now + static_cast<double>(span.start) / cycle,
                    now + static_cast<double>(span.free) / cycle);
      });
    }
    now += static_cast<double>(c.device.costs[s]);
  }
  return columns;
}

std::string StepBand(const std::vector<npu::StepProfile>& steps, double total, double y) {
  std::string svg = SvgText(kLeft - 6, y + 16, "end", "steps");
  double end = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    const double width = kWidth * static_cast<double>(steps[i].cycles) / total;
    absl::StrAppendFormat(&svg,
                          "<rect x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"%g\" fill=\"hsl(%d,50%%,75%%)\">"
                          "<title>%d %s %s: %d cycles, bound by %s</title></rect>\n",
                          kLeft + end, y, width, kTrack - 4, i * 137 % 360, i, steps[i].op, EscapeHtml(steps[i].name),
                          steps[i].cycles, steps[i].bound_by());
    if (width > 18) svg += SvgText(kLeft + end + width / 2, y + 15, "middle", absl::StrCat(i));
    end += width;
  }
  return svg;
}

std::string Timeline(const npu::Compilation& c, const npu::Machine& m, const std::vector<npu::StepProfile>& steps) {
  const double total = std::max(1.0, static_cast<double>(npu::TotalCycles(c)));
  const BusyColumns columns = Busy(c, m);
  std::string svg = SvgHead(kLeft + kWidth + kRight, kTrack * (kPipes + 1) + 10);
  svg += StepBand(steps, total, 0);
  for (int p = 1; p < kPipes; ++p) {
    const double y = kTrack * p;
    svg += SvgText(kLeft - 6, y + 16, "end", npu::PipeName(static_cast<npu::Pipe>(p)));
    for (size_t from = 0; from < kColumns;) {
      size_t to = from + 1;
      const int level = columns.Level(p, from);
      while (to < kColumns && columns.Level(p, to) == level) ++to;
      if (level > 0) {
        absl::StrAppendFormat(
            &svg, "<rect x=\"%g\" y=\"%g\" width=\"%d\" height=\"%g\" fill=\"%s\" fill-opacity=\"%.3f\"/>\n",
            kLeft + static_cast<double>(from), y, to - from, kTrack - 4, kColours[p], level / 8.0);
      }
      from = to;
    }
  }
  for (int i = 0; i <= 4; ++i) {
    svg += SvgText(kLeft + kWidth * i / 4, kTrack * kPipes + 14,
                   i == 0   ? "start"
                   : i == 4 ? "end"
                            : "middle",
                   absl::StrCat(static_cast<uint64_t>(total * i / 4)));
  }
  return svg + "</svg>\n";
}

/// Axes of the roofline: powers of two.
struct LogAxis {
  double low, high, from, to;
  double operator()(double v) const {
    return from +
           (to - from) * (std::log2(std::clamp(v, low, high)) - std::log2(low)) / (std::log2(high) - std::log2(low));
  }
};

std::string Roofline(const npu::Machine& m, const std::vector<npu::StepProfile>& steps) {
  const auto peak = static_cast<double>(npu::PeakMacs(m.array));
  const LogAxis x{1.0 / 16, 4096, kLeft, kLeft + kWidth}, y{peak / 1024, peak * 2, 380, 10};
  std::string svg = SvgHead(kLeft + kWidth + kRight, 420);
  for (double v = x.low; v <= x.high; v *= 4) svg += SvgText(x(v), 400, "middle", absl::StrFormat("%g", v));
  for (double v = peak; v >= y.low; v /= 4) svg += SvgText(kLeft - 6, y(v), "end", absl::StrFormat("%g", v));
  svg += SvgText(kLeft + kWidth, 415, "end", "MACs a byte of memory");
  for (uint32_t i = 0; i < m.memory_count; ++i) {
    const npu::Ratio rate = m.memories[i].bytes_per_cycle;
    const double bytes = static_cast<double>(rate.num) / rate.den, corner = std::clamp(peak / bytes, x.low, x.high);
    const double first = std::max(x.low, y.low / bytes);
    absl::StrAppendFormat(&svg, "<polyline points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\" fill=\"none\" stroke=\"#555\"/>\n",
                          x(first), y(first * bytes), x(corner), y(corner * bytes), x(x.high), y(peak));
    svg += SvgText(x(corner), y(corner * bytes) - 4, "middle", m.memories[i].name);
  }
  for (size_t i = 0; i < steps.size(); ++i) {
    const npu::StepProfile& s = steps[i];
    if (s.activity.macs == 0 || s.cycles == 0) continue;
    const double macs = static_cast<double>(s.activity.macs);
    const double cx = x(macs / static_cast<double>(std::max<uint64_t>(1, s.activity.Bytes())));
    const double cy = y(macs / static_cast<double>(s.cycles));
    absl::StrAppendFormat(
        &svg,
        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"hsl(%d,60%%,55%%)\"><title>%d %s %s: %.1f MACs a "
        "cycle</title></circle>\n",
        cx, cy, i * 137 % 360, i, s.op, EscapeHtml(s.name), macs / static_cast<double>(s.cycles));
    svg += SvgText(cx + 7, cy + 4, "start", absl::StrCat(i));
  }
  return svg + "</svg>\n";
}

std::string Table(const npu::Machine& m, const std::vector<npu::StepProfile>& steps) {
  std::string html =
      "<table><tr><th>step</th><th>op</th><th>cycles</th><th>ms</th><th>bound by</th><th>utilisation</th>";
  for (uint32_t i = 0; i < m.memory_count; ++i) absl::StrAppend(&html, "<th>", m.memories[i].name, " bytes</th>");
  html += "<th>nJ</th><th>name</th></tr>\n";
  for (size_t i = 0; i < steps.size(); ++i) {
    const npu::StepProfile& s = steps[i];
    absl::StrAppendFormat(&html, "<tr><td>%d</td><td>%s</td><td>%d</td><td>%.4f</td><td>%s</td><td>%.1f %%</td>", i,
                          s.op, s.cycles, static_cast<double>(s.cycles) * 1e3 / static_cast<double>(m.clock_hz),
                          s.bound_by(), 100 * s.Utilisation(m));
    for (uint32_t k = 0; k < m.memory_count; ++k)
      absl::StrAppend(&html, "<td>", s.activity.read_bytes[k] + s.activity.written_bytes[k], "</td>");
    absl::StrAppendFormat(&html, "<td>%.0f</td><td>%s</td></tr>\n",
                          static_cast<double>(npu::EnergyOf(s.activity, m).Sum()) / 1e6, EscapeHtml(s.name));
  }
  return html + "</table>\n";
}

}  // namespace

std::string HtmlReport(const Plan& plan, const ir::Graph& graph, const npu::Compilation& c,
                       const npu::MachineDescription& machine) {
  const npu::Machine& m = machine.table;
  const std::vector<npu::StepProfile> steps = npu::ProfileSteps(graph, c, m);
  const uint64_t cycles = npu::TotalCycles(c);
  std::string html = HtmlHead(absl::StrCat(graph.name, " on ", m.name));
  absl::StrAppendFormat(&html, "<h1>%s on %s</h1>\n<p>%d cycles, %.3f ms at %d Hz.</p>\n<p class=\"note\">%s</p>\n",
                        EscapeHtml(graph.name), m.name, cycles,
                        static_cast<double>(cycles) * 1e3 / static_cast<double>(m.clock_hz), m.clock_hz,
                        EscapeHtml(npu::ValidationText(machine)));
  absl::StrAppend(&html, "<p>", npu::EnergyText(npu::TotalActivity(c), m), "; ", npu::AreaText(m), ".</p>\n");
  absl::StrAppend(&html,
                  "<h2>Timeline</h2>\n<p class=\"note\">Cycles across; the darker, the longer the pipe is busy.</p>\n",
                  Timeline(c, m, steps));
  absl::StrAppend(&html, "<h2>Roofline</h2>\n<p class=\"note\">MACs a cycle up; a dot a step.</p>\n",
                  Roofline(m, steps));
  absl::StrAppend(&html, "<h2>Steps</h2>\n", Table(m, steps));
  absl::StrAppend(&html, "<h2>Memory over time</h2>\n", MemoryMapSvg(plan));
  html += "<h2>Where the machine's figures come from</h2>\n<ul>\n";
  for (const std::string& source : machine.sources) absl::StrAppend(&html, "<li>", EscapeHtml(source), "</li>\n");
  return html + "</ul>\n" + HtmlTail();
}

}  // namespace takt::report
