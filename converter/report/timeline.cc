// What every pipe does when, column by column.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/npu/step_times.h"
#include "converter/report/charts.h"
#include "converter/report/html.h"

namespace takt::report {
namespace {

using npu::kPipes;
using npu::StepProfile;

constexpr double kTrack = 26;
constexpr auto kColumns = static_cast<size_t>(kChartWidth);
constexpr const char* kColours[kPipes] = {"", "#4e79a7", "#5fa8a2", "#e15759", "#f28e2b", "#59a14f"};

struct Kind {
  const char *name, *colour;
};
constexpr Kind kKinds[] = {{"conv", "#86b1de"}, {"depthwise", "#93cc8e"}, {"pool", "#e8cd6b"},
                           {"add", "#e5a593"},  {"move", "#c3a5d6"},      {"host", "#b9bcc4"}};

/// The first word of a layer's op; its type follows.
const Kind& KindOf(const StepProfile& step) {
  const std::string name = step.host() ? "host" : step.op.substr(0, step.op.find(' '));
  return *std::ranges::find_if(kKinds, [&](const Kind& kind) { return name == kind.name; });
}

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
  double Mean(int pipe) const {
    const auto first = busy_.begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(pipe) * kColumns);
    double sum = 0;
    for (auto at = first; at != first + static_cast<std::ptrdiff_t>(kColumns); ++at) sum += *at;
    return sum / static_cast<double>(kColumns);
  }

 private:
  double scale_;
  std::vector<double> busy_;
};

BusyColumns Busy(const npu::Compilation& c, const npu::Machine& m) {
  BusyColumns columns(std::max(1.0, static_cast<double>(npu::TotalCycles(c))));
  const double cycle = static_cast<double>(uint64_t{1} << m.tick_shift);
  const npu::StepTimes times(c, m);
  for (size_t job = 0; job < c.jobs.size(); ++job) {
    const auto start = static_cast<double>(times.job(job).start);
    npu::Replay(c, job, m, [&](const npu::Span& span) {
      if (span.command.op == npu::MicroOp::kSet || span.command.op == npu::MicroOp::kWait) return;
      columns.Add(static_cast<int>(span.command.pipe), start + static_cast<double>(span.start) / cycle,
                  start + static_cast<double>(span.free) / cycle);
    });
  }
  return columns;
}

/// What the host and the NPU run.
std::string StepBands(const std::vector<StepProfile>& steps, const Axis& axis) {
  std::string svg = SvgText(kChartLeft - 8, 16, "end", "host") + SvgText(kChartLeft - 8, kTrack + 16, "end", "layers");
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto begin = static_cast<double>(steps[i].begin);
    const double x = axis.X(begin), width = axis.X(begin + static_cast<double>(steps[i].cycles)) - x;
    const double y = steps[i].host() ? 0 : kTrack;
    absl::StrAppendFormat(
        &svg,
        "<rect x=\"%.2f\" y=\"%g\" width=\"%.2f\" height=\"%g\" fill=\"%s\" data-hover=\"\" data-step=\"%d\">"
        "<title>%s: %s cycles, bound by %s</title></rect>\n",
        x, y, std::max(0.3, width - 0.7), kTrack - 4, KindColour(steps[i]), i, EscapeHtml(StepTitle(steps, i)),
        Grouped(steps[i].cycles), steps[i].bound_by());
    if (width > 18) svg += SvgText(x + width / 2, y + 15, "middle", absl::StrCat(i), "on");
  }
  return svg;
}

std::string PipeTrack(const BusyColumns& columns, int pipe) {
  const double y = kTrack * (1 + pipe);
  const std::string name = npu::PipeName(static_cast<npu::Pipe>(pipe)),
                    share = absl::StrFormat("%.0f %%", 100 * columns.Mean(pipe));
  std::string svg = SvgText(kChartLeft - 8, y + 16, "end", name);
  svg += SvgText(kChartLeft + kChartWidth + 8, y + 16, "start", share);
  absl::StrAppendFormat(&svg, "<g fill=\"%s\"><title>%s: busy %s of the time</title>\n", kColours[pipe], name, share);
  for (size_t from = 0; from < kColumns;) {
    size_t to = from + 1;
    const int level = columns.Level(pipe, from);
    while (to < kColumns && columns.Level(pipe, to) == level) ++to;
    if (level > 0) {
      absl::StrAppendFormat(&svg, "<rect x=\"%g\" y=\"%g\" width=\"%d\" height=\"%g\" opacity=\"%.3g\"/>\n",
                            kChartLeft + static_cast<double>(from), y, to - from, kTrack - 4, level / 8.0);
    }
    from = to;
  }
  return svg + "</g>\n";
}

}  // namespace

const char* KindColour(const StepProfile& step) {
  return KindOf(step).colour;
}

std::string StepTitle(const std::vector<StepProfile>& steps, size_t i) {
  return absl::StrCat(i, " ", steps[i].op, " ", steps[i].name);
}

std::string KindLegend(const std::vector<StepProfile>& steps) {
  std::string html = "<div class=\"legend\">";
  for (const Kind& kind : kKinds) {
    if (std::ranges::any_of(steps, [&](const StepProfile& s) { return &KindOf(s) == &kind; }))
      absl::StrAppendFormat(&html, "<span><i style=\"background:%s\"></i>%s</span>", kind.colour, kind.name);
  }
  return html + "</div>\n";
}

std::string TimelineSvg(const npu::Compilation& c, const npu::Machine& m, const std::vector<StepProfile>& steps) {
  const Axis axis = CycleAxis(npu::TotalCycles(c), m.clock_hz);
  const BusyColumns columns = Busy(c, m);
  const double bottom = kTrack * (1 + kPipes);
  std::string svg = SvgHead(kChartLeft + kChartWidth + kChartRight, bottom + 34, "steps and pipes over time");
  svg += SvgAxis(axis, 0, bottom);
  svg += StepBands(steps, axis);
  for (int p = 1; p < kPipes; ++p) svg += PipeTrack(columns, p);
  return svg + "</svg>\n";
}

}  // namespace takt::report
