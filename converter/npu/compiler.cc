#include "converter/npu/compiler.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/memory/planner.h"
#include "converter/npu/disassembler.h"
#include "converter/npu/emitter.h"
#include "ports/npu_emu/model/checker.h"

namespace takt::npu {
namespace {

using backend::StepSpec;
using ir::TensorId;

constexpr int64_t kAlignment = 16;
constexpr size_t kMaxExternals = kMaxBases - 2;  // beside constants and workspace
constexpr uint8_t kConstantBase = kFirstBase, kWorkspaceBase = kFirstBase + 1;

ModelLocation Where(const ir::Graph& graph, const StepSpec& step) {
  const ir::Node& node = graph.nodes[static_cast<size_t>(step.node)];
  return {graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""};
}

struct Located {
  TensorId root;
  int64_t offset;
};

/// The tensor whose memory `id` is a dense view of.
Located Root(const ir::Graph& graph, TensorId id) {
  Located at{id, 0};
  while (graph.tensor(at.root).view) {
    at.offset += graph.tensor(at.root).view->offset_bytes;
    at.root = graph.tensor(at.root).view->base;
  }
  return at;
}

std::vector<TensorId> Operands(const Layer& layer) {
  std::vector<TensorId> ids = {layer.x, layer.y};
  if (layer.skip != ir::kNoTensor) ids.push_back(layer.skip);
  return ids;
}

/// Consecutive steps [first, first + layers.size()) that one job runs.
struct Group {
  size_t first = 0;
  std::vector<CompiledLayer> layers;
};

bool IsWhole(const Group& group) {
  const CompiledLayer& first = group.layers[0];
  return first.tiles.size == TileCount(first.layer, first.tiling);
}

/// Makes one job of a group.
class JobBuilder {
 public:
  JobBuilder(ir::Graph& graph, const std::vector<StepSpec>& steps, const Machine& machine, Group group)
      : graph_(graph), steps_(steps), machine_(machine), group_(std::move(group)) {}

  /// Whether the job's base table holds the tensors that it shares with other steps.
  bool FitsBases();
  /// Empty, or what is wrong with the compiler. Once.
  std::string Build();

  backend::JobSpec spec;
  CompiledJob report;
  std::vector<TensorId> inputs, outputs;  ///< Of the Submit and Wait steps: what must stay in memory meanwhile.

 private:
  struct Use {
    int32_t first, last;
    bool written = false, outside = false;
  };
  void FindUses();
  void PlaceIntermediates();
  Address Place(TensorId id) const;
  std::string Prove();

  ir::Graph& graph_;
  const std::vector<StepSpec>& steps_;
  const Machine& machine_;
  Group group_;
  std::map<TensorId, Use> uses_;           ///< By root.
  std::map<TensorId, Address> addresses_;  ///< By root.
  int64_t workspace_bytes_ = 0;
};

/// A root that only this group's layers touch needs no memory of the plan's own.
void JobBuilder::FindUses() {
  for (size_t i = 0; i < group_.layers.size(); ++i) {
    const Layer& layer = group_.layers[i].layer;
    for (const TensorId id : Operands(layer)) {
      const auto at = static_cast<int32_t>(i);
      Use& use = uses_.try_emplace(Root(graph_, id).root, Use{at, at}).first->second;
      use.last = at;
      use.written = use.written || id == layer.y;
    }
  }
  const size_t end = group_.first + group_.layers.size();
  const auto outside = [&](TensorId id) {
    if (const auto use = uses_.find(Root(graph_, id).root); use != uses_.end()) use->second.outside = true;
  };
  for (const TensorId id : graph_.inputs) outside(id);
  for (const TensorId id : graph_.outputs) outside(id);
  for (const ir::State& state : graph_.states) outside(state.tensor), outside(state.next);
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (s >= group_.first && s < end) continue;
    for (const TensorId id : steps_[s].inputs) outside(id);
    for (const TensorId id : steps_[s].outputs) outside(id);
  }
}

void JobBuilder::PlaceIntermediates() {
  std::vector<memory::Buffer> buffers;
  std::vector<TensorId> inside;
  spec.bases = {ir::kNoTensor, ir::kNoTensor};
  spec.written = {false, true};
  for (const auto& [root, use] : uses_) {
    if (!use.outside) {
      inside.push_back(root);
      buffers.push_back({graph_.tensor(root).byte_size(), use.first, use.last});
      continue;
    }
    addresses_[root] = {static_cast<uint8_t>(kFirstBase + spec.bases.size()), 0, 0, 0};
    spec.bases.push_back(root);
    spec.written.push_back(use.written);
    (use.written ? outputs : inputs).push_back(root);
  }
  const memory::Placement placement = memory::Place(buffers, kAlignment);
  for (size_t i = 0; i < inside.size(); ++i) {
    addresses_[inside[i]] = {kWorkspaceBase, 0, 0, static_cast<uint32_t>(placement.offsets[i])};
  }
  const auto peak = static_cast<size_t>(memory::FindPeakLoad(buffers, kAlignment).step);
  report.peak_node = group_.layers[peak].node;
  workspace_bytes_ = std::max<int64_t>(placement.peak_bytes, kAlignment);
}

Address JobBuilder::Place(TensorId id) const {
  if (id == ir::kNoTensor) return {};
  const Located at = Root(graph_, id);
  Address address = addresses_.at(at.root);
  address.offset += static_cast<uint32_t>(at.offset);
  return address;
}

/// The same check and time as on the device.
std::string JobBuilder::Prove() {
  std::vector<BaseLimits> bases;
  for (size_t i = 0; i < spec.bases.size(); ++i) {
    bases.push_back({static_cast<uint64_t>(graph_.tensor(spec.bases[i]).byte_size()), spec.written[i]});
  }
  std::vector<std::byte> marks(MarkBytes(machine_));
  Stream stream;
  Status status = OpenStream(std::as_bytes(std::span(spec.stream)), stream);
  if (status.ok()) status = CheckStream(stream, machine_, bases, marks, spec.work);
  if (status.ok()) status = Evaluate(stream, machine_, report.timing);
  if (status.ok()) return "";
  const std::string text = Disassemble(std::as_bytes(std::span(spec.stream)));
  const size_t line = text.find(absl::StrFormat("\n%06x ", status.detail()));
  return absl::StrCat(SiteText(status.site()), ": ",
                      line == std::string::npos ? "" : text.substr(line + 1, text.find('\n', line + 1) - line - 1));
}

bool JobBuilder::FitsBases() {
  if (uses_.empty()) FindUses();
  size_t externals = 0;
  for (const auto& [root, use] : uses_) externals += use.outside;
  return externals <= kMaxExternals;
}

std::string JobBuilder::Build() {
  if (uses_.empty()) FindUses();
  PlaceIntermediates();
  Emitter emitter(machine_);
  for (CompiledLayer& compiled : group_.layers) {
    compiled.first_command = emitter.writer().position();
    const Layer& l = compiled.layer;
    emitter.Emit(l, compiled.tiling, compiled.tiles, {Place(l.x), Place(l.y), Place(l.skip), kConstantBase}, graph_);
  }
  emitter.Close();
  for (uint32_t i = 0; i < spec.bases.size(); ++i) {
    emitter.writer().SetBaseMemory(i, i == 0 ? machine_.constant_memory : machine_.feature_memory);
  }
  ir::Bytes constants = emitter.constants();
  if (constants.empty()) constants.resize(kAlignment);
  const std::string name = absl::StrCat("job of ", graph_.nodes[static_cast<size_t>(steps_[group_.first].node)].name);
  const auto bytes = static_cast<int32_t>(constants.size());
  spec.bases[0] = graph_.AddConstant(name + "/constants", DataType::kUint8, {bytes}, std::move(constants));
  ir::Tensor workspace;
  workspace.name = name + "/workspace";
  workspace.type = DataType::kUint8;
  workspace.dims = {static_cast<int32_t>(workspace_bytes_)};
  spec.bases[1] = graph_.AddTensor(std::move(workspace));
  inputs.push_back(spec.bases[0]);
  outputs.push_back(spec.bases[1]);
  spec.stream = emitter.writer().Finish();
  report.layers = std::move(group_.layers);
  return Prove();
}

class Compiler {
 public:
  Compiler(ir::Graph& graph, const std::vector<StepSpec>& steps, const Machine& machine, Diagnostics& diagnostics,
           uint64_t max_step_cycles)
      : graph_(graph), steps_(steps), machine_(machine), diagnostics_(diagnostics), max_step_cycles_(max_step_cycles) {}

  Compilation Run();

 private:
  std::optional<CompiledLayer> Supported(size_t step);
  void Host(size_t step, const std::string& reason);
  void Close(Group group);
  void CloseHalves(Group group);
  void CheckBound(size_t step, uint64_t cycles);
  void AddJob(size_t first, JobBuilder& job);

  ir::Graph& graph_;
  const std::vector<StepSpec>& steps_;
  const Machine& machine_;
  Diagnostics& diagnostics_;
  const uint64_t max_step_cycles_;
  Compilation made_;
  Group group_;
};

std::optional<CompiledLayer> Compiler::Supported(size_t step) {
  std::string reason;
  CompiledLayer made;
  made.node = steps_[step].node;
  if (auto layer = MakeLayer(graph_, steps_[step], reason)) {
    made.layer = *layer;
    if (ChooseTiling(machine_, made.layer, made.tiling, reason)) {
      made.tiles = {0, TileCount(made.layer, made.tiling)};
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
                    absl::StrCat(OpName(steps_[step].op), " stays on the host (", cycles, " cycles): ", reason));
  made_.steps.push_back(steps_[step]);
  made_.device.costs.push_back(cycles);
}

void Compiler::CheckBound(size_t step, uint64_t cycles) {
  if (cycles <= max_step_cycles_) return;
  diagnostics_.Warning(
      Where(graph_, steps_[step]),
      absl::StrCat(OpName(steps_[step].op), " takes ", cycles, " cycles, and --max-step-us allows ", max_step_cycles_,
                   "; a tile is not split: use a smaller layer or a faster machine"));
}

void Compiler::AddJob(size_t first, JobBuilder& job) {
  struct {
    uint16_t device, job;
  } params = {0, static_cast<uint16_t>(made_.device.jobs.size())};
  StepSpec step;
  step.node = steps_[first].node;
  step.params.resize(sizeof(params));
  std::memcpy(step.params.data(), &params, sizeof(params));
  step.inputs = job.inputs;
  step.outputs = job.outputs;
  for (const Op op : {Op::kSubmit, Op::kWait}) {
    step.op = op;
    made_.steps.push_back(step);
    made_.device.costs.push_back(op == Op::kWait ? job.report.timing.Cycles(machine_) : 0);
  }
  made_.device.jobs.push_back(std::move(job.spec));
  made_.jobs.push_back(std::move(job.report));
}

/// Between layers, or between the tiles of the only one.
void Compiler::CloseHalves(Group group) {
  const size_t count = group.layers.size();
  if (count == 1) {
    Group rest = group;
    Part &begin = group.layers[0].tiles, &end = rest.layers[0].tiles;
    begin.size /= 2;
    end = {begin.first + begin.size, end.size - begin.size};
    Close(std::move(group));
    return Close(std::move(rest));
  }
  const auto middle = group.layers.begin() + static_cast<ptrdiff_t>(count / 2);
  Close({group.first, {group.layers.begin(), middle}});
  Close({group.first + count / 2, {middle, group.layers.end()}});
}

/// Makes a group one job, or host steps if those cost less; two halves if it shares too many tensors or takes too long.
/// The part of a layer stays where its other parts are.
void Compiler::Close(Group group) {
  const size_t count = group.layers.size();
  if (count == 0) return;
  JobBuilder job(graph_, steps_, machine_, group);
  if (!job.FitsBases() && count > 1) {
    return CloseHalves(std::move(group));
  }
  uint64_t host = 0;
  for (size_t s = 0; s < count; ++s) host += HostCycles(graph_, steps_[group.first + s], machine_);
  const std::string wrong = job.Build();
  const uint64_t npu = job.report.timing.Cycles(machine_);
  if (!wrong.empty()) {
    diagnostics_.Error(Where(graph_, steps_[group.first]), "internal error of the NPU compiler: " + wrong);
  } else if (npu > host && IsWhole(group)) {
    for (size_t s = 0; s < count; ++s)
      Host(group.first + s, absl::StrCat("a job of its own would take ", npu, " cycles"));
  } else if (npu > max_step_cycles_ && (count > 1 || group.layers[0].tiles.size > 1)) {
    CloseHalves(std::move(group));
  } else {
    CheckBound(group.first, npu);
    AddJob(group.first, job);
  }
}

Compilation Compiler::Run() {
  size_t scope_end = 0;  // Jobs run from Submit to Wait in one scope; what control flow encloses stays on the host.
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (const uint32_t length = backend::ScopeLength(steps_[s]); length != 0)
      scope_end = std::max(scope_end, s + 1 + length);
    if (s < scope_end) {
      Close(std::exchange(group_, {}));
      Host(s, "control flow runs there");
      continue;
    }
    auto layer = Supported(s);
    if (!layer) continue;
    if (group_.layers.empty()) group_.first = s;
    group_.layers.push_back(*layer);
  }
  Close(std::exchange(group_, {}));
  if (made_.jobs.size() > kMaxJobs) {
    diagnostics_.Error({graph_.name, -1, "", ""}, absl::StrCat("takes ", made_.jobs.size(), " jobs, a device keeps ",
                                                               kMaxJobs, "; allow longer steps (--max-step-us)"));
  }
  if (!made_.device.jobs.empty()) made_.device.devices = {kDeviceName};
  made_.device.clock_hz = machine_.clock_hz;
  made_.device.machine.resize(sizeof(Machine));
  std::memcpy(made_.device.machine.data(), &machine_, sizeof(Machine));
  return std::move(made_);
}

}  // namespace

uint64_t HostCycles(const ir::Graph& graph, const StepSpec& step, const Machine& machine) {
  uint64_t elements = 0;
  for (const TensorId id : step.outputs) elements += static_cast<uint64_t>(graph.tensor(id).element_count());
  std::string reason;
  const auto layer = step.outputs.empty() ? std::nullopt : MakeLayer(graph, step, reason);
  const uint64_t macs = layer ? layer->macs() : 0;
  return machine.host.cycles_per_step + ScaleUp(elements, machine.host.cycles_per_element, 0) +
         ScaleUp(macs, machine.host.cycles_per_mac, 0);
}

Compilation Compile(ir::Graph& graph, const std::vector<StepSpec>& steps, const Machine& machine,
                    Diagnostics& diagnostics, uint64_t max_step_cycles) {
  return Compiler(graph, steps, machine, diagnostics, max_step_cycles).Run();
}

}  // namespace takt::npu
