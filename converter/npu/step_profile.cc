#include "converter/npu/step_profile.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "converter/npu/step_times.h"
#include "ports/npu_emu/model/cost.h"

namespace takt::npu {
namespace {

constexpr const char* kKinds[] = {"conv", "depthwise", "pool", "add", "move"};

std::string TileText(const Tiling& t) {
  if (t.out_height == 0) return "";
  return absl::StrCat(t.out_height, "x", t.out_width, "x", t.out_channels, " of ", t.in_channels,
                      t.channels_outer ? ", channels outside" : ", rows outside");
}

/// What another stripe takes.
void AddTo(StepProfile& step, const StepProfile& stripe) {
  step.cycles += stripe.cycles, step.hidden += stripe.hidden, step.stripes += stripe.stripes;
  step.activity.Merge(stripe.activity);
  for (int p = 0; p < kPipes; ++p) {
    step.busy[p] += stripe.busy[p];
    for (int m = 0; m < kMaxMemories; ++m) step.moving[p][m] += stripe.moving[p][m];
    for (int q = 0; q < kPipes; ++q) step.waiting[p][q] += stripe.waiting[p][q];
  }
}

/// Adds up the spans of a job, layer by layer.
class Collector {
 public:
  Collector(const Compilation& c, size_t job, const Machine& machine)
      : job_(c.jobs[job]), machine_(machine), layers_(job_.layers.size()), times_(job_) {
    (void)OpenStream(std::as_bytes(std::span(c.device.jobs[job].stream)), stream_);
  }

  void Add(const Span& span) {
    Sums& sums = layers_[LayerAt(job_, span.position)];
    const auto pipe = static_cast<int>(span.command.pipe);
    if (span.command.op == MicroOp::kSet) {
      setters_[span.command.as<Set>().event] = pipe;
      return;
    }
    if (span.command.op == MicroOp::kWait) {
      sums.step.waiting[pipe][setters_[span.command.as<Wait>().event]] += span.free - span.start;
      return;
    }
    times_.Add(span);
    sums.first = std::min(sums.first, span.start);
    sums.step.busy[pipe] += span.free - span.start;
    if (span.command.op == MicroOp::kCopy) {
      const Traffic traffic = TrafficOf(machine_, stream_.header, span.command.as<Copy>());
      if (traffic.memory >= 0) sums.step.moving[pipe][traffic.memory] += span.free - span.start;
    }
    sums.step.activity.Count(machine_, stream_.header, span.command);
  }

  /// Appends the job's layers.
  void Finish(const ir::Graph& graph, size_t job, const StepTimes& step_times, std::vector<StepProfile>& steps) {
    const uint64_t before = step_times.job(job).start;
    uint64_t end = 0;
    const std::vector<size_t> step_of = StepOfLayers(job_);
    const std::vector<uint64_t> cycles = times_.Cycles(job_.timing, machine_);
    const size_t first = steps.size();
    for (size_t i = 0; i < layers_.size(); ++i) {
      const CompiledLayer& compiled = job_.layers[i];
      StepProfile& step = layers_[i].step;
      step.job = static_cast<int>(job);
      step.cascade = compiled.cascade;
      step.stripes = compiled.cascade >= 0 ? 1 : 0;
      step.name = graph.nodes[static_cast<size_t>(compiled.node)].name;
      step.op = kKinds[static_cast<int>(compiled.layer.kind)];
      if (compiled.layer.type != Type::kInt8) absl::StrAppend(&step.op, " ", TypeName(compiled.layer.type));
      step.tile = TileText(compiled.tiling);
      step.cycles = cycles[i];
      step.hidden = step_times.HostCycles(before + end, before + end + cycles[i]);
      end += step.cycles;
      step.start = before + std::min(layers_[i].first >> machine_.tick_shift, end);
      if (first + step_of[i] == steps.size()) {
        steps.push_back(std::move(step));
      } else {
        AddTo(steps[first + step_of[i]], step);
      }
    }
    for (size_t i = first; i < steps.size(); ++i)
      steps[i].begin = i == first ? before : steps[i - 1].begin + steps[i - 1].cycles;
  }

 private:
  struct Sums {
    Ticks first = kOverflow;
    StepProfile step;
  };
  const CompiledJob& job_;
  const Machine& machine_;
  Stream stream_;
  std::vector<Sums> layers_;
  LayerTimes times_;
  int setters_[kMaxEvents] = {};  ///< The pipe that sets each event.
};

}  // namespace

const char* StepProfile::bound_by() const {
  if (host()) return "host";
  return PipeName(static_cast<Pipe>(std::max_element(busy, busy + kPipes) - busy));
}

std::string StepProfile::BoundText(const Machine& machine) const {
  const auto* times = moving[std::max_element(busy, busy + kPipes) - busy];
  const auto* longest = std::max_element(times, times + kMaxMemories);
  return absl::StrCat(bound_by(), *longest == 0 ? "" : absl::StrCat(" (", machine.memories[longest - times].name, ")"));
}

double StepProfile::Utilisation(const Machine& machine) const {
  if (host() || cycles == 0) return 0;
  const auto at_peak = [&](uint64_t macs, Type type) {
    return macs == 0 ? 0 : static_cast<double>(macs) / static_cast<double>(PeakMacs(machine.ArrayOf(type)));
  };
  const double busy_cycles =
      at_peak(activity.macs - activity.wide_macs, Type::kInt8) + at_peak(activity.wide_macs, Type::kInt16x8);
  return busy_cycles / static_cast<double>(cycles);
}

uint64_t TotalCycles(const Compilation& c) {
  uint64_t total = 0;
  for (const uint64_t cost : c.device.costs) total += cost;
  return total;
}

size_t LayerAt(const CompiledJob& job, uint32_t position) {
  const auto next = std::ranges::upper_bound(job.layers, position, {}, &CompiledLayer::first_command);
  return next == job.layers.begin() ? 0 : static_cast<size_t>(next - job.layers.begin()) - 1;
}

void LayerTimes::Add(const Span& span) {
  if (span.command.op == MicroOp::kSet || span.command.op == MicroOp::kWait) return;
  Ticks& end = ends_[LayerAt(job_, span.position)];
  end = std::max(end, span.done);
}

std::vector<uint64_t> LayerTimes::Cycles(const Timing& timing, const Machine& machine) const {
  std::vector<uint64_t> cycles;
  uint64_t before = 0;
  for (size_t i = 0; i < ends_.size(); ++i) {
    const bool last = i + 1 == ends_.size();
    const uint64_t end = last ? timing.Cycles(machine) : CeilDiv(ends_[i], uint64_t{1} << machine.tick_shift);
    cycles.push_back(std::max(end, before) - before);
    before = std::max(end, before);
  }
  return cycles;
}

std::vector<size_t> StepOfLayers(const CompiledJob& job) {
  std::vector<size_t> steps;
  std::map<std::pair<int, int>, size_t> stripes;
  size_t count = 0;
  for (const CompiledLayer& layer : job.layers) {
    const auto [at, fresh] = stripes.try_emplace({layer.cascade, layer.node}, count);
    const bool own = fresh || layer.cascade < 0;
    steps.push_back(own ? count++ : at->second);
  }
  return steps;
}

void Replay(const Compilation& c, size_t job, const Machine& machine, const std::function<void(const Span&)>& on_span) {
  Stream stream;
  if (!OpenStream(std::as_bytes(std::span(c.device.jobs[job].stream)), stream).ok()) return;
  Timing timing;
  const SpanSink sink{[](void* f, const Span& s) { (*static_cast<const std::function<void(const Span&)>*>(f))(s); },
                      const_cast<std::function<void(const Span&)>*>(&on_span)};
  (void)Evaluate(stream, machine, timing, sink);
}

std::vector<StepProfile> ProfileSteps(const ir::Graph& graph, const Compilation& c, const Machine& machine) {
  std::vector<StepProfile> steps;
  const StepTimes times(c, machine);
  for (size_t s = 0; s < c.steps.size(); ++s) {
    StepProfile step;
    step.op = OpName(c.steps[s].op);
    step.start = step.begin = times.start(s);
    if (!IsDeviceStep(c.steps[s])) {
      step.name = graph.nodes[static_cast<size_t>(c.steps[s].node)].name;
      step.cycles = c.device.costs[s];
      const auto reason = c.host_reasons.find({c.steps[s].node, c.steps[s].op});
      if (reason != c.host_reasons.end()) step.reason = reason->second;
      steps.push_back(std::move(step));
      continue;
    }
    const size_t job = JobOf(c.steps[s]);
    step.name = absl::StrCat("job ", job);
    if (times.job(job).apart()) steps.push_back(std::move(step));
    if (c.steps[s].op == Op::kWait) continue;
    Collector collector(c, job, machine);
    Replay(c, job, machine, [&](const Span& span) { collector.Add(span); });
    collector.Finish(graph, job, times, steps);
  }
  return steps;
}

}  // namespace takt::npu
