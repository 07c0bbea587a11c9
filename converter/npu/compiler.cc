#include "converter/npu/compiler.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/backend/step_call.h"
#include "converter/npu/job_builder.h"
#include "converter/npu/partition.h"
#include "converter/npu/step_times.h"
#include "engine/hal/device.h"

namespace takt::npu {
namespace {

using backend::StepSpec;
using ir::TensorId;

ModelLocation Where(const ir::Graph& graph, const StepSpec& step) {
  const ir::Node& node = graph.nodes[static_cast<size_t>(step.node)];
  return {graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""};
}

/// "conv2d", "unary logistic".
std::string OpText(const ir::Graph& graph, const StepSpec& step) {
  const ir::Node& node = graph.nodes[static_cast<size_t>(step.node)];
  const std::string function = node.op == step.op ? node.StringOr("function", "") : "";
  return absl::StrCat(OpName(step.op), function.empty() ? "" : " ", function);
}

bool IsWhole(const Group& group) {
  return group.layers[0].cascade >= 0 || group.layers[0].whole();
}

/// Whole layers one after the other: any of them may run elsewhere.
bool IsRun(const Group& group) {
  return std::ranges::all_of(group.layers, [](const CompiledLayer& l) { return l.cascade < 0 && l.whole(); });
}

/// The part at which the second half of a group begins; cascades stay whole. 0: nowhere.
size_t Middle(const Group& group) {
  const auto may = [&](size_t i) {
    return group.layers[i].cascade < 0 || group.layers[i].cascade != group.layers[i - 1].cascade;
  };
  const size_t count = group.layers.size(), half = count / 2;
  for (size_t d = 0; d <= half; ++d) {
    if (half - d > 0 && may(half - d)) return half - d;
    if (half + d < count && half + d > 0 && may(half + d)) return half + d;
  }
  return 0;
}

class Compiler {
 public:
  Compiler(ir::Graph& graph, const std::vector<StepSpec>& steps, const Machine& machine, Diagnostics& diagnostics,
           uint64_t max_step_cycles, const MemoryPlan& memory, TilingCache& tilings)
      : graph_(graph),
        steps_(steps),
        machine_(machine),
        diagnostics_(diagnostics),
        max_step_cycles_(max_step_cycles),
        memory_(memory),
        tilings_(tilings) {}

  Compilation Run();

 private:
  std::optional<CompiledLayer> Supported(size_t step);
  std::optional<Layer> LayerOf(size_t step, std::string& reason) const;
  bool AddCascade(int cascade);
  void Host(size_t step, const std::string& reason);
  void Host(size_t step, const LayerCost& cost);
  std::vector<LayerCost> CostsOf(const Group& group, const JobBuilder& job) const;
  void Close(Group group);
  void CloseHalves(Group group);
  bool Cut(const Group& group, const std::vector<LayerCost>& run, uint64_t whole);
  void CheckBound(size_t step, uint64_t cycles);
  void RefuseLongSteps();
  void AddJob(size_t first, JobBuilder& job);

  ir::Graph& graph_;
  const std::vector<StepSpec>& steps_;
  const Machine& machine_;
  Diagnostics& diagnostics_;
  const uint64_t max_step_cycles_;
  const MemoryPlan& memory_;
  TilingCache& tilings_;
  Compilation made_;
  Group group_;
  struct TooLong {
    int count = 0;
    uint64_t cycles = 0;  ///< Of the longest.
  };
  std::map<size_t, TooLong> too_long_;  ///< Jobs that exceed the bound though they cannot be split, by their step.
};

std::optional<Layer> Compiler::LayerOf(size_t step, std::string& reason) const {
  std::optional<Layer> layer = MakeLayer(graph_, steps_[step], machine_, reason);
  if (!layer) return layer;
  const auto memory = [&](TensorId id) {
    const bool spilled = id != ir::kNoTensor && memory_.spilled.count(Root(graph_, id).root) != 0;
    return spilled ? machine_.spill_memory : machine_.feature_memory;
  };
  layer->x_memory = memory(layer->x), layer->y_memory = memory(layer->y), layer->skip_memory = memory(layer->skip);
  return layer;
}

/// Appends the stripes of a cascade to the group; false if a layer of it cannot be tiled.
bool Compiler::AddCascade(int cascade) {
  const Cascade& c = memory_.cascades[static_cast<size_t>(cascade)];
  std::string reason;
  std::vector<Layer> layers;
  for (size_t s = c.first; s <= c.last; ++s) {
    const std::optional<Layer> layer = LayerOf(s, reason);
    if (!layer) return false;
    layers.push_back(ByRows(graph_, *layer));
  }
  const StripeOrder order = OrderStripes(layers, c.stripe_rows);
  std::vector<Tiling> tilings(layers.size());
  for (size_t i = 0; i < layers.size(); ++i) {
    Layer part = layers[i];
    part.out_height = 0;
    for (const Stripe& s : order.stripes) part.out_height = std::max(part.out_height, s.layer == i ? s.rows.size : 0);
    const uint64_t read = InputExtent(part.out_height, part.stride_h, part.kernel_h, part.dilation_h);
    part.height = static_cast<uint32_t>(std::min<uint64_t>(part.height, read));
    if (!tilings_.Choose(machine_, part, max_step_cycles_, tilings[i], reason)) return false;
  }
  const auto reads_inside = [&](const Layer& reader) {
    return std::ranges::any_of(layers, [&](const Layer& l) { return reader.x == l.y || reader.skip == l.y; });
  };
  for (const Stripe& stripe : order.stripes) {
    CompiledLayer made;
    made.step = c.first + stripe.layer;
    made.node = steps_[made.step].node;
    made.layer = layers[stripe.layer];
    made.tiling = tilings[stripe.layer];
    made.part = {stripe.rows, {0, TileCount(made.layer, made.tiling, stripe.rows.size)}};
    made.cascade = cascade;
    made.ring_rows = made.step == c.last ? 0 : order.ring_rows[stripe.layer];
    made.reads_stored = stripe.rows.first == 0 || reads_inside(made.layer);
    group_.layers.push_back(made);
  }
  return true;
}

std::optional<CompiledLayer> Compiler::Supported(size_t step) {
  std::string reason;
  CompiledLayer made;
  made.step = step;
  made.node = steps_[step].node;
  if (auto layer = LayerOf(step, reason)) {
    made.layer = *layer;
    if (tilings_.Choose(machine_, made.layer, max_step_cycles_, made.tiling, reason)) {
      made.part = {{0, made.layer.out_height}, {0, TileCount(made.layer, made.tiling)}};
      return made;
    }
  } else {
    reason = "the NPU wants that " + reason;
  }
  Close(std::exchange(group_, {}));
  Host(step, reason);
  return std::nullopt;
}

void Compiler::Host(size_t step, const std::string& reason) {
  const uint64_t cycles = HostCycles(graph_, steps_[step], machine_);
  diagnostics_.Note(Where(graph_, steps_[step]),
                    absl::StrCat(OpText(graph_, steps_[step]), " stays on the host (", cycles, " cycles): ", reason));
  made_.steps.push_back(steps_[step]);
  made_.host_reasons[{steps_[step].node, steps_[step].op}] = reason;
  made_.device.costs.push_back(cycles);
}

void Compiler::CheckBound(size_t step, uint64_t cycles) {
  if (cycles <= max_step_cycles_) return;
  TooLong& parts = too_long_[step];
  ++parts.count;
  parts.cycles = std::max(parts.cycles, cycles);
}

void Compiler::RefuseLongSteps() {
  for (const auto& [step, parts] : too_long_) {
    const std::string jobs = parts.count == 1 ? "" : absl::StrCat(" in the longest of ", parts.count, " jobs");
    diagnostics_.Error(
        Where(graph_, steps_[step]),
        absl::StrCat(OpName(steps_[step].op), " takes ", parts.cycles, " cycles", jobs, ", and --max-step-us allows ",
                     max_step_cycles_, "; its tiles are as short as they get: use a longer bound or a faster machine"));
  }
}

void Compiler::AddJob(size_t first, JobBuilder& job) {
  StepSpec step;
  step.node = steps_[first].node;
  SetJob(step, made_.device.jobs.size());
  step.inputs = job.inputs;
  step.outputs = job.outputs;
  for (const Op op : {Op::kSubmit, Op::kWait}) {
    step.op = op;
    made_.steps.push_back(step);
    made_.device.costs.push_back(op == Op::kWait ? job.report.timing.Cycles(machine_) : 0);
  }
  made_.device.second.insert(job.spilled.begin(), job.spilled.end());
  made_.device.jobs.push_back(std::move(job.spec));
  made_.jobs.push_back(std::move(job.report));
}

/// Between layers, or between the tiles of the only one.
void Compiler::CloseHalves(Group group) {
  const size_t count = group.layers.size();
  if (count == 1) {
    Group rest = group;
    Part &begin = group.layers[0].part.tiles, &end = rest.layers[0].part.tiles;
    begin.size /= 2;
    end = {begin.first + begin.size, end.size - begin.size};
    Close(std::move(group));
    return Close(std::move(rest));
  }
  const auto middle = group.layers.begin() + static_cast<ptrdiff_t>(Middle(group));
  Close({{group.layers.begin(), middle}});
  Close({{middle, group.layers.end()}});
}

/// What the steps of a job take in it, but for its start and end, and on the host.
std::vector<LayerCost> Compiler::CostsOf(const Group& group, const JobBuilder& job) const {
  std::vector<LayerCost> costs;
  for (size_t i = 0; i < group.layers.size(); ++i) {
    const CompiledLayer& l = group.layers[i];
    const size_t at = l.step - group.first_step();
    if (at == costs.size())
      costs.push_back({HostCycles(graph_, steps_[l.step], machine_), 0, StartCycles(l.layer, l.tiling, machine_)});
    const uint64_t edges = (i == 0 ? costs[0].start : 0) + (i + 1 == group.layers.size() ? EndCycles(machine_) : 0);
    costs[at].npu += job.cycles[i] - std::min(edges, job.cycles[i]);
  }
  return costs;
}

void Compiler::Host(size_t step, const LayerCost& cost) {
  Host(step, absl::StrCat("a job of its own would take ", cost.start + cost.npu + EndCycles(machine_), " cycles"));
}

/// Runs the layers of a run where they cost least if that is partly here, partly there, and takes less than `whole`
/// cycles once it is compiled.
bool Compiler::Cut(const Group& group, const std::vector<LayerCost>& run, uint64_t whole) {
  const std::vector<bool> on_npu = CheapestSides(run, EndCycles(machine_));
  if (std::ranges::count(on_npu, on_npu[0]) == static_cast<ptrdiff_t>(on_npu.size())) return false;
  std::list<JobBuilder> jobs;
  uint64_t total = 0;
  for (size_t i = 0, end = 0; i < run.size(); i = end) {
    end = i + 1;
    if (!on_npu[i]) {
      total += run[i].host;
      continue;
    }
    Group part = {{group.layers[i]}};
    for (; end < run.size() && on_npu[end]; ++end) part.layers.push_back(group.layers[end]);
    JobBuilder& job = jobs.emplace_back(graph_, steps_, machine_, memory_, std::move(part));
    if (!job.FitsBases() || !job.Build().empty()) return false;
    const uint64_t cycles = job.report.timing.Cycles(machine_);
    if (cycles > max_step_cycles_) return false;
    total += cycles;
  }
  if (total >= whole) return false;
  for (size_t i = 0; i < run.size(); ++i) {
    if (!on_npu[i]) {
      Host(group.layers[i].step, run[i]);
    } else if (i == 0 || !on_npu[i - 1]) {
      AddJob(group.layers[i].step, jobs.front());
      jobs.pop_front();
    }
  }
  return true;
}

/// Makes a group one job, or host steps if those cost less, or some of both; two halves if it shares too many tensors
/// or takes too long. The part of a layer stays where its other parts are.
void Compiler::Close(Group group) {
  const size_t count = group.layers.size();
  if (count == 0) return;
  const size_t first = group.first_step();
  const bool parts = count > 1 ? Middle(group) != 0 : group.layers[0].part.tiles.size > 1;
  JobBuilder job(graph_, steps_, machine_, memory_, group);
  if (!job.FitsBases() && count > 1 && parts) return CloseHalves(std::move(group));
  const std::string wrong = job.Build();
  const uint64_t npu = job.report.timing.Cycles(machine_);
  if (job.too_long && parts) return CloseHalves(std::move(group));
  if (!wrong.empty())
    return diagnostics_.Error(Where(graph_, steps_[first]), "internal error of the NPU compiler: " + wrong);
  const std::vector<LayerCost> costs = CostsOf(group, job);
  uint64_t host = 0;
  for (const LayerCost& cost : costs) host += cost.host;
  if (IsRun(group) && Cut(group, costs, std::min(npu, host))) return;
  if (npu > host && IsWhole(group)) {
    for (size_t s = 0; s < costs.size(); ++s) Host(first + s, costs[s]);
  } else if (npu > max_step_cycles_ && parts) {
    CloseHalves(std::move(group));
  } else {
    CheckBound(first, npu);
    AddJob(first, job);
  }
}

Compilation Compiler::Run() {
  int cascade = 0;
  size_t scope_end = 0;  // Jobs run from Submit to Wait in one scope; what control flow encloses stays on the host.
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (const uint32_t length = backend::ScopeLength(steps_[s]); length != 0)
      scope_end = std::max(scope_end, s + 1 + length);
    if (s < scope_end) {
      Close(std::exchange(group_, {}));
      Host(s, "control flow runs there");
      continue;
    }
    const auto index = static_cast<size_t>(cascade);
    if (index < memory_.cascades.size() && memory_.cascades[index].first == s && AddCascade(cascade++)) {
      s = memory_.cascades[index].last;
    } else if (auto layer = Supported(s)) {
      group_.layers.push_back(*layer);
    }
  }
  Close(std::exchange(group_, {}));
  RefuseLongSteps();
  if (made_.jobs.size() > Device::kMaxJobs) {
    diagnostics_.Error({graph_.name, -1, "", ""},
                       absl::StrCat("takes ", made_.jobs.size(), " jobs, a device keeps ", Device::kMaxJobs,
                                    "; allow longer steps (--max-step-us)"));
  }
  made_.device.second.insert(memory_.spilled.begin(), memory_.spilled.end());
  made_.device.second_memory = machine_.memories[machine_.spill_memory].name;
  if (!made_.device.jobs.empty()) made_.device.devices = {kDeviceName};
  made_.device.clock_hz = machine_.clock_hz;
  made_.device.machine.resize(sizeof(Machine));
  std::memcpy(made_.device.machine.data(), &machine_, sizeof(Machine));
  return std::move(made_);
}

}  // namespace

uint64_t HostCycles(const ir::Graph& graph, const StepSpec& step, const Machine& machine) {
  int64_t elements = 0;
  for (const auto* operands : {&step.inputs, &step.outputs}) {
    for (const TensorId id : *operands) {
      if (id != ir::kNoTensor && !graph.tensor(id).is_constant())
        elements = std::max(elements, graph.tensor(id).element_count());
    }
  }
  uint64_t work = 0;
  (void)backend::CheckStep(graph, step, work);
  const Ticks parts[] = {ScaleUp(static_cast<uint64_t>(elements), machine.host.cycles_per_element, 0),
                         ScaleUp(work, machine.host.cycles_per_mac, 0)};
  uint64_t cycles = machine.host.cycles_per_step;
  for (const Ticks part : parts) cycles += std::min(part, UINT64_MAX - cycles);
  return cycles;
}

Compilation Compile(ir::Graph& graph, const std::vector<StepSpec>& steps, const Machine& machine,
                    Diagnostics& diagnostics, uint64_t max_step_cycles, const MemoryPlan& memory,
                    TilingCache& tilings) {
  return Compiler(graph, steps, machine, diagnostics, max_step_cycles, memory, tilings).Run();
}

Compilation Compile(ir::Graph& graph, const std::vector<StepSpec>& steps, const Machine& machine,
                    Diagnostics& diagnostics, uint64_t max_step_cycles) {
  TilingCache tilings;
  return Compile(graph, steps, machine, diagnostics, max_step_cycles, {}, tilings);
}

}  // namespace takt::npu
