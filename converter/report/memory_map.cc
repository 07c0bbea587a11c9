// The memory map as a picture: time from left to right, addresses from top to bottom.
#include "converter/report/memory_map.h"

#include <algorithm>
#include <bit>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/report/plan_report.h"

namespace takt::report {
namespace {

constexpr uint32_t kRows = 16;
constexpr uint32_t kWidest = 4;
constexpr uint32_t kColumns = 66;  // Beside the addresses: 80 in all.
constexpr double kLetterWidth = 7;

char Letter(uint32_t tensor) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return kLetters[tensor % (sizeof(kLetters) - 1)];
}

/// The tensor that holds most of rows [low, high) of the arena at `step`, or -1.
int Occupant(const Plan& plan, uint32_t arena, uint32_t step, uint64_t low, uint64_t high) {
  int best = -1;
  uint64_t most = 0;
  for (uint32_t i = 0; i < plan.arena_tensor_count(); ++i) {
    const TensorView tensor = plan.tensor(i);
    const LiveView live = plan.live(i);
    if (tensor.base != arena || live.first > step || live.last < step) continue;
    const uint64_t begin = std::max<uint64_t>(low, tensor.offset);
    const uint64_t end = std::min<uint64_t>(high, uint64_t{tensor.offset} + tensor.bytes());
    if (begin < end && end - begin > most) {
      most = end - begin;
      best = static_cast<int>(i);
    }
  }
  return best;
}

constexpr double kMapHeight = 260, kMapTitle = 24, kMapFoot = 44;
constexpr uint64_t kAddressTicks = 8;  ///< At most.

/// One arena of the picture: addresses downwards from `top`.
struct ArenaMap {
  const Plan& plan;
  uint32_t arena;
  const MapTime& time;
  double top;

  double Y(uint64_t address) const {
    return top + kMapHeight * static_cast<double>(address) / static_cast<double>(plan.arena(arena).bytes);
  }
  std::string Frame() const {
    const uint64_t bytes = plan.arena(arena).bytes;
    const ArenaView view = plan.arena(arena);
    const uint64_t limit = view.memory < plan.memory_count() ? plan.memory(view.memory).bytes : 0;
    std::string svg =
        SvgText(kChartLeft, top - 8, "start",
                absl::StrCat(ArenaName(plan, arena), " in ", MemoryName(plan, view.memory), ": ", ByteText(bytes),
                             limit == 0 ? "" : absl::StrCat(" of ", ByteText(limit)), "; addresses downwards"));
    const uint64_t step = std::bit_ceil(std::max<uint64_t>(1, bytes / kAddressTicks));
    for (uint64_t at = 0; at < bytes; at += step) {
      svg += SvgLine(kChartLeft - 3, Y(at), kChartLeft + kChartWidth, Y(at));
      svg += SvgText(kChartLeft - 8, Y(at) + 4, "end", at == 0 ? "0" : ByteText(at), "dim");
    }
    return svg + SvgAxis(time.axis, top, top + kMapHeight);
  }
  /// Rect of at least half a pixel, and a label if there is room.
  std::string Rect(const MapBox& box, const std::string& paint) const {
    const double x = time.axis.X(box.from), width = std::max(0.5, time.axis.X(box.until) - x);
    const double y = Y(box.begin), height = std::max(0.5, Y(box.end) - y);
    std::string svg = absl::StrFormat(
        "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" %s data-hover=\"\"><title>%s</title></rect>\n", x,
        y, width, height, paint, EscapeHtml(box.title));
    const bool room = height > 13 && width > kLetterWidth * static_cast<double>(box.label.size()) + 4;
    if (room) svg += SvgText(x + width / 2, y + height / 2 + 4, "middle", box.label, box.colour.empty() ? "dim" : "on");
    return svg;
  }
  /// Filled, or just its outline, behind boxes.
  std::string Tensor(uint32_t i, bool filled) const {
    const TensorView tensor = plan.tensor(i);
    const LiveView live = plan.live(i);
    if (tensor.base != arena) return "";
    const std::string colour = filled ? absl::StrFormat("hsl(%d,55%%,72%%)", i * 137 % 360) : "";
    const MapBox box{arena,
                     tensor.offset,
                     uint64_t{tensor.offset} + tensor.bytes(),
                     time.starts[live.first],
                     time.starts[live.last + 1u],
                     colour,
                     filled ? absl::StrCat("t", i, " ", TensorText(tensor)) : "",
                     absl::StrFormat("t%d %s: %s bytes at %s, steps %d to %d of the plan", i, TensorText(tensor),
                                     Grouped(tensor.bytes()), Grouped(tensor.offset), live.first, live.last)};
    return Rect(box, filled ? absl::StrCat("fill=\"", colour, "\" stroke=\"#444\" stroke-width=\"0.7\"")
                            : "fill=\"#888\" fill-opacity=\"0.12\" stroke=\"#888\" stroke-dasharray=\"3 3\"");
  }
  std::string Box(const MapBox& box) const {
    if (box.arena != arena) return "";
    return Rect(box, absl::StrCat("fill=\"", box.colour, "\" stroke=\"#444\" stroke-width=\"0.7\""));
  }
};

std::string PeakText(const Plan& plan, uint32_t arena) {
  const Peak peak = FindPeak(plan, arena);
  if (peak.step < 0) return "";
  std::string text = absl::StrFormat("peak at step %d (%s): %d bytes\n", peak.step,
                                     StepName(plan, static_cast<uint32_t>(peak.step)), peak.bytes);
  for (uint16_t i : peak.tensors) {
    const TensorView tensor = plan.tensor(i);
    absl::StrAppendFormat(&text, "  %c t%-4d %9d bytes at %-9d %s\n", Letter(i), i, tensor.bytes(), tensor.offset,
                          TensorText(tensor));
  }
  return text;
}

}  // namespace

std::string MemoryMapText(const Plan& plan, uint32_t arena, bool colour) {
  const uint64_t bytes = plan.arena(arena).bytes;
  const uint32_t steps = plan.step_count();
  if (bytes == 0 || steps == 0) return "";
  const uint32_t stride = (steps + kColumns - 1) / kColumns;
  const uint32_t width = std::clamp(kColumns / steps, 1u, kWidest);  // Characters a column.
  std::string text = absl::StrFormat("%s: address down, step across (%d %s a column), a letter a tensor\n",
                                     ArenaName(plan, arena), stride, stride == 1 ? "step" : "steps");
  const uint64_t rows = std::min<uint64_t>(kRows, bytes);
  for (uint64_t row = 0; row < rows; ++row) {
    const uint64_t low = bytes * row / rows, high = bytes * (row + 1) / rows;
    absl::StrAppendFormat(&text, "%9d |", low);
    for (uint32_t step = 0; step < steps; step += stride) {
      const int tensor = Occupant(plan, arena, step, low, high);
      if (tensor < 0) {
        text.append(width, '.');
      } else if (colour) {
        absl::StrAppendFormat(&text, "\033[3%dm%s\033[0m", 1 + tensor % 6,
                              std::string(width, Letter(static_cast<uint32_t>(tensor))));
      } else {
        text.append(width, Letter(static_cast<uint32_t>(tensor)));
      }
    }
    text += "|\n";
  }
  absl::StrAppendFormat(&text, "%9d  0%*d\n", bytes, static_cast<int>((steps + stride - 1) / stride * width) - 1,
                        steps - 1);
  return text + PeakText(plan, arena);
}

std::string MemoryMapSvg(const Plan& plan) {
  const uint32_t steps = plan.step_count();
  const double every = std::max(1.0, RoundStep(std::max(1u, steps), 20));
  MapTime time{{std::max(1.0, static_cast<double>(steps)), "step", {}}, {}};
  for (uint32_t s = 0; s <= steps; ++s) time.starts.push_back(s);
  for (double s = 0; s < steps; s += every) time.axis.ticks.push_back({s + 0.5, absl::StrCat(s), ""});
  return MemoryMapSvg(plan, time, {});
}

std::string MemoryMapSvg(const Plan& plan, const MapTime& time, const std::vector<MapBox>& boxes) {
  std::string svg;
  double top = 0;
  for (uint32_t arena = 0; arena < plan.arena_count(); ++arena) {
    if (plan.arena(arena).bytes == 0) continue;
    const ArenaMap map{plan, arena, time, top + kMapTitle};
    svg += map.Frame();
    for (uint32_t i = 0; i < plan.arena_tensor_count(); ++i) svg += map.Tensor(i, boxes.empty());
    for (const MapBox& box : boxes) svg += map.Box(box);
    top += kMapTitle + kMapHeight + kMapFoot;
  }
  return absl::StrCat(SvgHead(kChartLeft + kChartWidth + kChartRight, top, "memory over time"), svg, "</svg>\n");
}

}  // namespace takt::report
