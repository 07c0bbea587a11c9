#include "converter/npu/job_builder.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/memory/planner.h"
#include "converter/npu/disassembler.h"
#include "converter/npu/emitter.h"
#include "converter/npu/move_fusion.h"
#include "converter/npu/step_profile.h"
#include "converter/npu/workspace_check.h"
#include "ports/npu_emu/model/checker.h"

namespace takt::npu {
namespace {

using ir::TensorId;

constexpr size_t kMaxExternals = kMaxBases - 3;  // beside constants and two workspaces

std::vector<TensorId> Operands(const Layer& layer) {
  std::vector<TensorId> ids = {layer.x, layer.y};
  if (layer.skip != ir::kNoTensor) ids.push_back(layer.skip);
  return ids;
}

}  // namespace

/// A root that only this group's layers touch needs no memory of the plan's own.
void JobBuilder::FindUses() {
  FuseMoves(graph_, steps_, group_.layers);
  for (size_t i = 0; i < group_.layers.size(); ++i) {
    const Layer& layer = group_.layers[i].layer;
    for (const TensorId id : Operands(layer)) {
      const auto at = static_cast<int32_t>(i);
      const TensorId root = Root(graph_, id).root;
      Use& use = uses_.try_emplace(root, Use{at, at}).first->second;
      if (id == layer.y && group_.layers[i].ring_rows != 0) rings_[root] = group_.layers[i].ring_rows;
      use.last = at;
      use.written = use.written || id == layer.y;
    }
  }
  const auto outside = [&](TensorId id) {
    if (const auto use = uses_.find(Root(graph_, id).root); use != uses_.end()) use->second.outside = true;
  };
  for (const TensorId id : graph_.inputs) outside(id);
  for (const TensorId id : graph_.outputs) outside(id);
  for (const ir::State& state : graph_.states) outside(state.tensor), outside(state.next);
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (s >= group_.first_step() && s < group_.end_step()) continue;
    for (const TensorId id : steps_[s].inputs) outside(id);
    for (const TensorId id : steps_[s].outputs) outside(id);
  }
}

/// The job's own tensors lie in two workspaces, others in bases of their own.
void JobBuilder::PlaceIntermediates() {
  std::vector<memory::Buffer> buffers[2];
  std::vector<TensorId> inside[2];
  for (const auto& [root, use] : uses_) {
    if (use.outside) continue;
    const size_t side = memory_.spilled.count(root);
    const ir::Tensor& tensor = graph_.tensor(root);
    const auto ring = rings_.find(root);
    const int64_t bytes =
        ring == rings_.end() ? tensor.byte_size() : tensor.byte_size() / tensor.dims[1] * ring->second;
    inside[side].push_back(root);
    buffers[side].push_back({bytes, use.first, use.last});
  }
  spec.bases = {ir::kNoTensor};
  for (size_t side = 0; side < 2; ++side) {
    const memory::Placement placement = memory::Place(buffers[side], kWorkspaceAlignment);
    own_bytes_[side] = side == 0 ? std::max<int64_t>(placement.peak_bytes, kWorkspaceAlignment) : placement.peak_bytes;
    const auto space = static_cast<uint8_t>(kFirstBase + spec.bases.size());
    for (size_t i = 0; i < inside[side].size(); ++i)
      addresses_[inside[side][i]] = {space, 0, 0, static_cast<uint32_t>(placement.offsets[i])};
    if (own_bytes_[side] != 0) spec.bases.push_back(ir::kNoTensor);
  }
  report.peak_node =
      group_.layers[static_cast<size_t>(memory::FindPeakLoad(buffers[0], kWorkspaceAlignment).step)].node;
  spec.written.assign(spec.bases.size(), true);
  spec.written[0] = false;
  for (const auto& [root, use] : uses_) {
    if (!use.outside) continue;
    addresses_[root] = {static_cast<uint8_t>(kFirstBase + spec.bases.size()), 0, 0, 0};
    spec.bases.push_back(root);
    spec.written.push_back(use.written);
    (use.written ? outputs : inputs).push_back(root);
  }
}

Image JobBuilder::Place(TensorId id) const {
  if (id == ir::kNoTensor) return {};
  const Located at = Root(graph_, id);
  const auto ring = rings_.find(at.root);
  return {Plus(addresses_.at(at.root), static_cast<uint64_t>(at.offset)), ring == rings_.end() ? 0 : ring->second,
          BitWidth(graph_.tensor(id).type) / 8};
}

/// The same check and time as on the device; beside them, that workspaces are written before they are read.
std::string JobBuilder::Prove() {
  std::vector<BaseLimits> bases;
  std::vector<uint64_t> unwritten;
  for (size_t i = 0; i < spec.bases.size(); ++i) {
    const auto bytes = static_cast<uint64_t>(graph_.tensor(spec.bases[i]).byte_size());
    const bool workspace = i == 1 || (i == 2 && own_bytes_[1] != 0);
    bases.push_back({bytes, spec.written[i]});
    unwritten.push_back(workspace ? bytes : 0);
  }
  std::vector<std::byte> marks(MarkBytes(machine_));
  Stream stream;
  Status status = OpenStream(std::as_bytes(std::span(spec.stream)), stream);
  if (status.ok()) status = CheckStream(stream, machine_, bases, marks, spec.work);
  too_long = status.code() == StatusCode::kLimitExceeded;
  if (status.ok()) status = CheckWorkspaces(stream, unwritten);
  LayerTimes times(report);
  const SpanSink sink{[](void* all, const Span& span) { static_cast<LayerTimes*>(all)->Add(span); }, &times};
  if (status.ok()) status = Evaluate(stream, machine_, report.timing, sink);
  cycles = times.Cycles(report.timing, machine_);
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

/// The tensor of a base that only the job uses.
TensorId JobBuilder::OwnTensor(const std::string& name, int64_t bytes) {
  ir::Tensor workspace;
  workspace.name = name;
  workspace.type = DataType::kUint8;
  workspace.dims = {static_cast<int32_t>(bytes)};
  outputs.push_back(graph_.AddTensor(std::move(workspace)));
  return outputs.back();
}

std::string JobBuilder::Build() {
  if (uses_.empty()) FindUses();
  PlaceIntermediates();
  Emitter emitter(machine_);
  std::vector<uint32_t> first_commands;
  for (const CompiledLayer& compiled : group_.layers) {
    first_commands.push_back(emitter.writer().position());
    const Layer& l = compiled.layer;
    emitter.Emit(l, compiled.tiling, compiled.part,
                 {Place(l.x), Place(l.y), Place(l.skip), kFirstBase, compiled.reads_stored}, graph_);
  }
  emitter.Close(first_commands);
  for (size_t i = 0; i < first_commands.size(); ++i) group_.layers[i].first_command = first_commands[i];
  const std::string name =
      absl::StrCat("job of ", graph_.nodes[static_cast<size_t>(steps_[group_.first_step()].node)].name);
  ir::Bytes constants = emitter.constants();
  if (constants.empty()) constants.resize(kWorkspaceAlignment);
  const auto bytes = static_cast<int32_t>(constants.size());
  spec.bases[0] = graph_.AddConstant(name + "/constants", DataType::kUint8, {bytes}, std::move(constants));
  inputs.push_back(spec.bases[0]);
  spec.bases[1] = OwnTensor(name + "/workspace", own_bytes_[0]);
  if (own_bytes_[1] != 0) spilled.push_back(spec.bases[2] = OwnTensor(name + "/spilled", own_bytes_[1]));
  for (uint32_t i = 0; i < spec.bases.size(); ++i) {
    const bool spill = memory_.spilled.count(spec.bases[i]) != 0 || (own_bytes_[1] != 0 && i == 2);
    emitter.writer().SetBaseMemory(i, i == 0  ? machine_.constant_memory
                                      : spill ? machine_.spill_memory
                                              : machine_.feature_memory);
  }
  spec.stream = emitter.writer().Finish();
  report.layers = std::move(group_.layers);
  return Prove();
}

}  // namespace takt::npu
