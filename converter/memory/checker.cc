#include "converter/memory/checker.h"

#include <algorithm>
#include <iterator>
#include <map>

namespace takt::memory {
namespace {

using ir::TensorId;

/// Bytes [begin, end) of the arena.
struct Range {
  int64_t begin = 0;
  int64_t end = 0;

  bool Overlaps(const Range& other) const { return begin < other.end && other.begin < end; }
  friend bool operator==(const Range&, const Range&) = default;
};

/// Whose value each byte of the arena holds.
class Owners {
 public:
  void Set(Range range, TensorId owner) {
    if (range.begin == range.end) return;
    const TensorId behind = std::prev(owner_from_.upper_bound(range.end))->second;
    owner_from_.erase(owner_from_.lower_bound(range.begin), owner_from_.upper_bound(range.end));
    owner_from_[range.begin] = owner;
    owner_from_[range.end] = behind;
  }
  bool Holds(Range range, TensorId owner) const {
    for (auto it = std::prev(owner_from_.upper_bound(range.begin)); it != owner_from_.end() && it->first < range.end;
         ++it) {
      if (it->second != owner) return false;
    }
    return true;
  }

 private:
  std::map<int64_t, TensorId> owner_from_ = {{INT64_MIN, ir::kNoTensor}};  ///< Up to the next key.
};

class Replay {
 public:
  Replay(const ir::Graph& graph, const Liveness& liveness, const Placement& placement) : graph_(graph) {
    for (const Liveness::Entry& entry : liveness.tensors) {
      // As if states stood behind the other tensors.
      const int64_t begin = entry.offset + (entry.state ? placement.peak_bytes : placement.offsets[entry.buffer]);
      ranges_[entry.tensor] = {begin, begin + Extent(graph.tensor(entry.tensor))};
    }
  }

  std::string Run(const std::vector<backend::StepSpec>& steps) {
    for (TensorId id : graph_.inputs) Write(id);
    for (const ir::State& state : graph_.states) Write(state.tensor);
    if (std::string wrong = Pass(steps, 0, steps.size()); !wrong.empty()) return wrong;
    for (TensorId id : graph_.outputs) {
      if (!Intact(id)) return "the graph's output " + Name(id) + " is overwritten before the end";
    }
    return "";
  }

 private:
  /// Steps [begin, end). All scopes are entered; loops run twice, so that a trip sees what the trip before it left.
  std::string Pass(const std::vector<backend::StepSpec>& steps, size_t begin, size_t end) {
    for (size_t s = begin; s < end; ++s) {
      const std::string at = "step " + std::to_string(s) + " ";
      for (TensorId id : steps[s].inputs) {
        if (!Intact(id)) return at + "reads " + Name(id) + ", whose memory holds something else";
      }
      if (const std::string wrong = CheckWrites(steps[s]); !wrong.empty()) return at + wrong;
      if (steps[s].op == Op::kWait)
        std::erase_if(flying_, [&](const backend::StepSpec* submit) { return submit->params == steps[s].params; });
      for (const backend::StepSpec* submit : flying_)
        if (const std::string wrong = CheckBeside(*submit, steps[s]); !wrong.empty()) return at + wrong;
      if (steps[s].op == Op::kSubmit) flying_.push_back(&steps[s]);
      for (TensorId id : steps[s].outputs) Write(id);
      if (steps[s].scratch != ir::kNoTensor) Write(steps[s].scratch);
      if (steps[s].op != Op::kLoop) continue;
      const size_t after = s + 1 + backend::ScopeLength(steps[s]);
      if (const std::string wrong = Pass(steps, s + 1, after); !wrong.empty()) return "in a loop, " + wrong;
      if (!Intact(steps[s].inputs[0])) return at + "tests " + Name(steps[s].inputs[0]) + " again, which is overwritten";
    }
    return "";
  }

  static int64_t Extent(const ir::Tensor& tensor) {
    if (!tensor.view || tensor.view->strides.empty()) return tensor.byte_size();
    int64_t extent = BitWidth(tensor.type) / 8;
    for (size_t i = 0; i < tensor.dims.size(); ++i) extent += (tensor.dims[i] - 1) * tensor.view->strides[i];
    return extent;
  }
  /// The value that a tensor is a part of.
  TensorId Value(TensorId id) const {
    while (graph_.tensor(id).view) id = graph_.tensor(id).view->base;
    return id;
  }
  std::string Name(TensorId id) const { return "'" + graph_.tensor(id).name + "'"; }
  bool InArena(TensorId id) const { return id != ir::kNoTensor && !graph_.tensor(id).is_constant(); }
  bool Intact(TensorId id) const { return !InArena(id) || owners_.Holds(ranges_.at(id), Value(id)); }
  void Write(TensorId id) { owners_.Set(ranges_.at(id), Value(id)); }

  /// What a step writes overlaps nothing else that it touches, except an input in place.
  std::string CheckWrites(const backend::StepSpec& step) const {
    std::vector<TensorId> written = step.outputs;
    if (step.scratch != ir::kNoTensor) written.push_back(step.scratch);
    const OpInfo* info = FindOpInfo(step.op);
    const uint8_t traits = info == nullptr ? uint8_t{0} : info->traits;
    for (size_t w = 0; w < written.size(); ++w) {
      const Range& range = ranges_.at(written[w]);
      for (size_t i = 0; i < step.inputs.size(); ++i) {
        if (!InArena(step.inputs[i]) || !range.Overlaps(ranges_.at(step.inputs[i]))) continue;
        const bool in_place = MayShareMemory(traits, i, step.inputs.size(), w);
        if (!in_place || written[w] == step.scratch || range != ranges_.at(step.inputs[i])) {
          return "writes " + Name(written[w]) + " over its input " + Name(step.inputs[i]);
        }
      }
      for (size_t k = 0; k < w; ++k) {
        if (range.Overlaps(ranges_.at(written[k]))) return "writes " + Name(written[w]) + " over " + Name(written[k]);
      }
    }
    return "";
  }

  bool Overlap(TensorId id, const std::vector<TensorId>& others) const {
    if (!InArena(id)) return false;
    return std::any_of(others.begin(), others.end(),
                       [&](TensorId other) { return InArena(other) && ranges_.at(id).Overlaps(ranges_.at(other)); });
  }

  /// While a job is in flight, no step writes what it reads or writes, or reads what it writes.
  std::string CheckBeside(const backend::StepSpec& submit, const backend::StepSpec& step) const {
    std::vector<TensorId> written = step.outputs;
    written.push_back(step.scratch);
    for (TensorId id : written) {
      if (Overlap(id, submit.inputs) || Overlap(id, submit.outputs))
        return "writes " + Name(id) + " over memory of a job in flight";
    }
    for (TensorId id : step.inputs) {
      if (Overlap(id, submit.outputs)) return "reads " + Name(id) + ", which a job in flight writes";
    }
    return "";
  }

  const ir::Graph& graph_;
  std::map<TensorId, Range> ranges_;
  std::vector<const backend::StepSpec*> flying_;  ///< Submits of jobs in flight; a Wait has the params of its Submit.
  Owners owners_;
};

}  // namespace

std::string CheckPlacement(const std::vector<Buffer>& buffers, const Placement& placement, int64_t alignment) {
  if (placement.offsets.size() != buffers.size()) return "not one offset for each buffer";
  if (placement.peak_bytes < placement.lower_bound_bytes) return "the peak is below its lower bound";
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Range range{placement.offsets[i], placement.offsets[i] + buffers[i].bytes};
    if (range.begin < 0 || range.begin % alignment != 0) return "buffer " + std::to_string(i) + " is not aligned";
    if (range.end > placement.peak_bytes) return "buffer " + std::to_string(i) + " ends above the peak";
    for (size_t j = 0; j < i; ++j) {
      const bool together = buffers[i].first <= buffers[j].last && buffers[j].first <= buffers[i].last;
      if (together && range.Overlaps({placement.offsets[j], placement.offsets[j] + buffers[j].bytes})) {
        return "buffers " + std::to_string(j) + " and " + std::to_string(i) + " overlap while both are live";
      }
    }
  }
  return "";
}

std::string CheckSharing(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Liveness& liveness,
                         const Placement& placement) {
  return Replay(graph, liveness, placement).Run(steps);
}

}  // namespace takt::memory
