// The memory map as a picture: time from left to right, addresses from top to bottom.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/report/plan_report.h"

namespace takt::report {
namespace {

constexpr uint32_t kRows = 16;
constexpr uint32_t kColumns = 96;

char Letter(uint32_t tensor) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  return kLetters[tensor % (sizeof(kLetters) - 1)];
}

/// The tensor that holds most of rows [low, high) of the arena at `step`, or -1.
int Occupant(const schema::Plan& plan, uint32_t arena, uint32_t step, uint64_t low, uint64_t high) {
  int best = -1;
  uint64_t most = 0;
  for (uint32_t i = 0; plan.lives() != nullptr && i < plan.lives()->size(); ++i) {
    const schema::Tensor& tensor = *plan.tensors()->Get(i);
    const schema::Live& live = *plan.lives()->Get(i);
    if (tensor.base() != arena || live.first() > step || live.last() < step) continue;
    const uint64_t begin = std::max<uint64_t>(low, tensor.offset());
    const uint64_t end = std::min<uint64_t>(high, tensor.offset() + TensorBytes(plan, static_cast<uint16_t>(i)));
    if (begin < end && end - begin > most) {
      most = end - begin;
      best = static_cast<int>(i);
    }
  }
  return best;
}

std::string PeakText(const schema::Plan& plan, uint32_t arena) {
  const Peak peak = FindPeak(plan, arena);
  if (peak.step < 0) return "";
  std::string text = absl::StrFormat("peak at step %d (%s): %d bytes\n", peak.step,
                                     StepName(plan, static_cast<uint32_t>(peak.step)), peak.bytes);
  for (uint16_t tensor : peak.tensors) {
    absl::StrAppendFormat(&text, "  %c t%-4d %9d bytes at %-9d %s\n", Letter(tensor), tensor, TensorBytes(plan, tensor),
                          plan.tensors()->Get(tensor)->offset(), TensorText(plan, tensor));
  }
  return text;
}

}  // namespace

std::string MemoryMapText(const schema::Plan& plan, uint32_t arena, bool colour) {
  const uint64_t bytes = plan.arenas()->Get(arena)->bytes();
  const uint32_t steps = plan.steps() == nullptr ? 0 : plan.steps()->size();
  if (bytes == 0 || steps == 0) return "";
  const uint32_t stride = (steps + kColumns - 1) / kColumns;
  std::string text = absl::StrFormat("%s: address down, step across (%d %s a column), a letter a tensor\n",
                                     ArenaName(plan, arena), stride, stride == 1 ? "step" : "steps");
  const uint64_t rows = std::min<uint64_t>(kRows, bytes);
  for (uint64_t row = 0; row < rows; ++row) {
    const uint64_t low = bytes * row / rows, high = bytes * (row + 1) / rows;
    absl::StrAppendFormat(&text, "%9d |", low);
    for (uint32_t step = 0; step < steps; step += stride) {
      const int tensor = Occupant(plan, arena, step, low, high);
      if (tensor < 0) {
        text += '.';
      } else if (colour) {
        absl::StrAppendFormat(&text, "\033[3%dm%c\033[0m", 1 + tensor % 6, Letter(static_cast<uint32_t>(tensor)));
      } else {
        text += Letter(static_cast<uint32_t>(tensor));
      }
    }
    text += "|\n";
  }
  absl::StrAppendFormat(&text, "%9d\n", bytes);
  return text + PeakText(plan, arena);
}

}  // namespace takt::report
