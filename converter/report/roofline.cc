// What bounds each step: the array, or a memory.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "converter/report/charts.h"
#include "converter/report/html.h"

namespace takt::report {
namespace {

using npu::Machine;
using npu::StepProfile;

constexpr double kTop = 24, kBottom = 380;
constexpr double kNear = 5;          ///< Dots so near to each other share a label.
constexpr size_t kMostNumbers = 4;   ///< In a label.
constexpr double kDigitWidth = 7.2;  ///< At most, in the pictures' font.

double BytesPerCycle(const npu::Memory& memory) {
  return static_cast<double>(memory.bytes_per_cycle.num) / memory.bytes_per_cycle.den;
}

/// A step that multiplies: its intensity is that of the memory which it keeps busy longest.
struct Dot {
  size_t step;
  double macs_a_byte, macs_a_cycle, share;
  uint32_t memory;
};

std::optional<Dot> DotOf(const Machine& m, const std::vector<StepProfile>& steps, size_t i, double total) {
  const StepProfile& s = steps[i];
  if (s.activity.macs == 0 || s.cycles == 0) return std::nullopt;
  uint32_t slowest = 0;
  double longest = 0;
  for (uint32_t k = 0; k < m.memory_count; ++k) {
    const double time =
        static_cast<double>(s.activity.read_bytes[k] + s.activity.written_bytes[k]) / BytesPerCycle(m.memories[k]);
    if (time > longest) longest = time, slowest = k;
  }
  const auto bytes =
      static_cast<double>(std::max<uint64_t>(1, s.activity.read_bytes[slowest] + s.activity.written_bytes[slowest]));
  const auto macs = static_cast<double>(s.activity.macs), cycles = static_cast<double>(s.cycles);
  return Dot{i, macs / bytes, macs / cycles, cycles / total, slowest};
}

/// Powers of four.
struct LogAxis {
  double low, high, from, to;

  LogAxis(double least, double most, double at_low, double at_high)
      : low(std::pow(4, std::floor(std::log(least) / std::log(4)))),
        high(std::pow(4, std::ceil(std::log(most) / std::log(4)))),
        from(at_low),
        to(at_high) {}
  double operator()(double v) const {
    return from + (to - from) * (std::log(v) - std::log(low)) / (std::log(high) - std::log(low));
  }
};

struct Axes {
  LogAxis x, y;
};

Axes AxesOf(const Machine& m, const std::vector<Dot>& dots) {
  const auto peak = static_cast<double>(npu::PeakMacs(m.array));
  double left = 1, right = 4, low = peak / 16;
  for (const Dot& dot : dots) {
    left = std::min(left, dot.macs_a_byte / 1.5), right = std::max(right, dot.macs_a_byte * 1.5);
    low = std::min(low, dot.macs_a_cycle / 1.5);
  }
  for (uint32_t i = 0; i < m.memory_count; ++i) right = std::max(right, 2 * peak / BytesPerCycle(m.memories[i]));
  return {{left, right, kChartLeft, kChartLeft + kChartWidth}, {low, 1.5 * peak, kBottom, kTop}};
}

std::string Grid(const Axes& axes) {
  std::string svg;
  for (double v = axes.x.low; v <= axes.x.high; v *= 4) {
    svg += SvgLine(axes.x(v), kTop, axes.x(v), kBottom + 3);
    svg += SvgText(axes.x(v), kBottom + 16, "middle", absl::StrFormat("%g", v), "dim");
  }
  for (double v = axes.y.low; v <= axes.y.high; v *= 4) {
    svg += SvgLine(kChartLeft - 3, axes.y(v), kChartLeft + kChartWidth, axes.y(v));
    svg += SvgText(kChartLeft - 8, axes.y(v) + 4, "end", absl::StrFormat("%g", v), "dim");
  }
  svg += SvgText(kChartLeft + kChartWidth, kBottom + 34, "end", "MACs a byte of the memory that takes longest", "dim");
  return svg + SvgText(kChartLeft - 60, 12, "start", "MACs a cycle", "dim");
}

/// One for each bandwidth, with the names of its memories along it.
std::string Roofs(const Machine& m, const Axes& axes) {
  const auto peak = static_cast<double>(npu::PeakMacs(m.array));
  std::map<double, std::vector<std::string>> names;
  for (uint32_t i = 0; i < m.memory_count; ++i) names[BytesPerCycle(m.memories[i])].push_back(m.memories[i].name);
  std::string svg;
  for (const auto& [rate, memories] : names) {
    const double first = std::max(axes.x.low, axes.y.low / rate), corner = std::max(first, peak / rate);
    const double x = axes.x(first), y = axes.y(std::min(peak, first * rate)), to_x = axes.x(corner),
                 to_y = axes.y(peak);
    absl::StrAppendFormat(&svg,
                          "<path d=\"M%.1f %.1fL%.1f %.1fH%g\" fill=\"none\" stroke=\"#666\" stroke-width=\"1.5\" "
                          "class=\"frame\"/>\n",
                          x, y, to_x, to_y, kChartLeft + kChartWidth);
    if (to_x - x < 60) continue;  // no room for a name
    absl::StrAppendFormat(&svg, "<g transform=\"translate(%.1f %.1f) rotate(%.1f)\">", x, y,
                          std::atan2(to_y - y, to_x - x) * 180 / std::acos(-1));
    svg += SvgText(14, -6, "start", absl::StrFormat("%s, %.3g B a cycle", absl::StrJoin(memories, ", "), rate), "dim");
    svg += "</g>";
  }
  return svg + SvgText(kChartLeft + kChartWidth, axes.y(peak) - 6, "end",
                       absl::StrFormat("array, %g MACs a cycle", peak), "dim");
}

struct Box {
  double left, top, right, bottom;
  bool Meets(const Box& o) const { return left < o.right && o.left < right && top < o.bottom && o.top < bottom; }
};

/// Numbers of the steps at one place, unless dots or other numbers are in the way.
class Labels {
 public:
  void Avoid(const Box& box) { taken_.push_back(box); }
  std::string Add(double x, double y, const std::vector<size_t>& steps) {
    const size_t count = std::min(kMostNumbers, steps.size());
    std::string text = absl::StrJoin(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(count), ", ");
    if (steps.size() > kMostNumbers) text += ", …";
    const Box box{x, y - 11, x + kDigitWidth * static_cast<double>(text.size()), y + 3};
    if (box.right > kChartLeft + kChartWidth + kChartRight) return "";
    if (std::ranges::any_of(taken_, [&](const Box& other) { return box.Meets(other); })) return "";
    taken_.push_back(box);
    return SvgText(x, y, "start", text);
  }

 private:
  std::vector<Box> taken_;
};

/// Area grows with the share of the time.
double Radius(const Dot& dot) {
  return 4 + 22 * std::sqrt(dot.share);
}

std::string DrawDot(const Machine& m, const std::vector<StepProfile>& steps, const Dot& dot, double x, double y) {
  return absl::StrFormat(
      "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\" fill=\"%s\" fill-opacity=\"0.75\" stroke=\"#444\" data-hover=\"\">"
      "<title>%s: %.4g MACs a cycle, %.4g a byte of %s, %.1f %% of the time</title></circle>\n",
      x, y, Radius(dot), KindColour(steps[dot.step]), EscapeHtml(StepTitle(steps, dot.step)), dot.macs_a_cycle,
      dot.macs_a_byte, m.memories[dot.memory].name, 100 * dot.share);
}

}  // namespace

std::string RooflineSvg(const Machine& m, const std::vector<StepProfile>& steps) {
  double total = 0;
  for (const StepProfile& step : steps) total += static_cast<double>(step.cycles);
  std::vector<Dot> dots;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (const auto dot = DotOf(m, steps, i, total)) dots.push_back(*dot);
  }
  std::ranges::stable_sort(dots, std::greater<>(), &Dot::share);  // small ones on top
  const Axes axes = AxesOf(m, dots);
  std::string circles, numbers;
  Labels labels;
  for (const Dot& dot : dots) {
    const double x = axes.x(dot.macs_a_byte), y = axes.y(dot.macs_a_cycle), r = Radius(dot);
    circles += DrawDot(m, steps, dot, x, y);
    labels.Avoid({x - r, y - r, x + r, y + r});
  }
  std::vector<bool> named(dots.size());
  for (size_t i = 0; i < dots.size(); ++i) {
    if (named[i]) continue;
    const double x = axes.x(dots[i].macs_a_byte), y = axes.y(dots[i].macs_a_cycle);
    std::vector<size_t> here;
    for (size_t k = i; k < dots.size(); ++k) {
      const double dx = axes.x(dots[k].macs_a_byte) - x, dy = axes.y(dots[k].macs_a_cycle) - y;
      if (named[k] || std::hypot(dx, dy) > kNear) continue;
      named[k] = true;
      here.push_back(dots[k].step);
    }
    numbers += labels.Add(x + Radius(dots[i]) + 3, y + 4, here);
  }
  return absl::StrCat(SvgHead(kChartLeft + kChartWidth + kChartRight, kBottom + 40, "roofline"), Grid(axes),
                      Roofs(m, axes), circles, numbers, "</svg>\n");
}

}  // namespace takt::report
