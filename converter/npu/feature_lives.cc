#include "converter/npu/feature_lives.h"

#include <algorithm>

#include "converter/npu/step_profile.h"
#include "converter/npu/step_times.h"

namespace takt::npu {
namespace {

/// From its first to past its last byte.
uint64_t Extent(uint64_t planes, uint64_t plane, uint64_t rows, uint64_t row, uint64_t row_bytes) {
  return (planes - 1) * plane + (rows - 1) * row + row_bytes;
}

struct Touch {
  size_t step;
  uint32_t base;
  uint64_t begin, end;
  Ticks start, done;
};

/// Loads and stores of a job's bases, in the order in which they start.
struct Touches {
  std::vector<Touch> loads, stores;

  void Add(const Span& span, size_t step) {
    if (span.command.op != MicroOp::kCopy) return;
    const auto op = span.command.as<Copy>();
    const auto add = [&](Address a, uint64_t extent, std::vector<Touch>& list) {
      if (!a.external()) return;
      const uint64_t begin = span.walker.Resolve(a);
      list.push_back({step, static_cast<uint32_t>(a.space - kFirstBase), begin, begin + extent, span.start, span.done});
    };
    add(op.from, Extent(op.planes, op.from_plane, op.rows, op.from_row, op.row_bytes), loads);
    add(op.to, Extent(op.planes, op.to_plane, op.rows, op.to_row, op.row_bytes), stores);
  }
};

void AddJob(const Touches& touches, size_t job, double before, double cycle, std::vector<FeatureLife>& lives) {
  const size_t first = lives.size();
  const auto at = [&](Ticks t) { return before + static_cast<double>(t) / cycle; };
  for (const Touch& store : touches.stores) {
    auto life = std::find_if(lives.begin() + static_cast<std::ptrdiff_t>(first), lives.end(),
                             [&](const FeatureLife& l) { return l.step == store.step && l.base == store.base; });
    if (life == lives.end())
      life = lives.insert(lives.end(), {store.step, job, store.base, store.begin, store.end, at(store.start), 0});
    life->begin = std::min(life->begin, store.begin);
    life->end = std::max(life->end, store.end);
    life->until = std::max(life->until, at(store.done));
  }
  for (const Touch& load : touches.loads) {  // what was stored there last
    FeatureLife* loaded = nullptr;
    for (size_t i = first; i < lives.size(); ++i) {
      FeatureLife& l = lives[i];
      if (l.base != load.base || l.end <= load.begin || load.end <= l.begin || l.from > at(load.start)) continue;
      if (loaded == nullptr || l.from > loaded->from) loaded = &l;
    }
    if (loaded != nullptr) loaded->until = std::max(loaded->until, at(load.done));
  }
}

}  // namespace

std::vector<FeatureLife> FeatureLives(const Compilation& c, const Machine& machine) {
  std::vector<FeatureLife> lives;
  const StepTimes times(c, machine);
  size_t step = 0;
  for (const backend::StepSpec& spec : c.steps) {
    const bool marked = IsDeviceStep(spec) && times.job(JobOf(spec)).apart();
    if (marked || !IsDeviceStep(spec)) ++step;
    if (spec.op == Op::kSubmit) {
      const size_t job = JobOf(spec);
      const CompiledJob& compiled = c.jobs[job];
      const std::vector<size_t> steps = StepOfLayers(compiled);
      Touches touches;
      Replay(c, job, machine,
             [&](const Span& span) { touches.Add(span, step + steps[LayerAt(compiled, span.position)]); });
      AddJob(touches, job, static_cast<double>(times.job(job).start),
             static_cast<double>(uint64_t{1} << machine.tick_shift), lives);
      step += 1 + *std::ranges::max_element(steps);
    }
  }
  return lives;
}

}  // namespace takt::npu
