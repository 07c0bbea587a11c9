// The memory map as a picture: time from left to right, addresses from top to bottom.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/report/plan_report.h"

namespace takt::report {
namespace {

constexpr uint32_t kRows = 16;
constexpr uint32_t kWidest = 4;
constexpr uint32_t kColumns = 66;  // Beside the addresses: 80 in all.

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
  constexpr double kWidth = 960, kHeight = 480, kMargin = 40;
  const uint32_t arenas = plan.arena_count();
  const double steps = std::max(1u, plan.step_count());
  std::string svg = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" font-family=\"monospace\" "
      "font-size=\"11\">\n",
      kWidth + 2 * kMargin, (kHeight + 2 * kMargin) * arenas);
  for (uint32_t arena = 0; arena < arenas; ++arena) {
    const double top = kMargin + (kHeight + 2 * kMargin) * arena;
    const double bytes = std::max(1u, plan.arena(arena).bytes);
    absl::StrAppendFormat(&svg, "<text x=\"%g\" y=\"%g\">%s: %g bytes; step across, address down</text>\n", kMargin,
                          top - 8, ArenaName(plan, arena), bytes);
    for (uint32_t i = 0; i < plan.arena_tensor_count(); ++i) {
      const TensorView tensor = plan.tensor(i);
      const LiveView live = plan.live(i);
      if (tensor.base != arena) continue;
      absl::StrAppendFormat(
          &svg,
          "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"hsl(%d,60%%,70%%)\" stroke=\"#333\">"
          "<title>t%d %s: %d bytes at %d, steps %d to %d</title></rect>\n",
          kMargin + kWidth * live.first / steps, top + kHeight * tensor.offset / bytes,
          kWidth * (live.last - live.first + 1) / steps, kHeight * tensor.bytes() / bytes, i * 137 % 360, i,
          TensorText(tensor), tensor.bytes(), tensor.offset, live.first, live.last);
    }
  }
  return svg + "</svg>\n";
}

}  // namespace takt::report
