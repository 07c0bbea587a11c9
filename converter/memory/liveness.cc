#include "converter/memory/liveness.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace takt::memory {
namespace {

using ir::TensorId;

struct Interval {
  int32_t first;
  int32_t last;
};

class Roots {
 public:
  explicit Roots(const ir::Graph& graph) : graph_(graph) {}

  TensorId Find(TensorId id) const {
    while (true) {
      const auto& view = graph_.tensor(id).view;
      const auto alias = alias_.find(id);
      if (view) {
        id = view->base;
      } else if (alias != alias_.end()) {
        id = alias->second;
      } else {
        return id;
      }
    }
  }
  int64_t Offset(TensorId id) const {
    int64_t offset = 0;
    while (true) {
      const auto& view = graph_.tensor(id).view;
      const auto alias = alias_.find(id);
      if (view) {
        offset += view->offset_bytes;
        id = view->base;
      } else if (alias != alias_.end()) {
        id = alias->second;
      } else {
        return offset;
      }
    }
  }
  void Alias(TensorId id, TensorId to) { alias_[id] = to; }

 private:
  const ir::Graph& graph_;
  std::map<TensorId, TensorId> alias_;
};

using Lives = std::map<TensorId, Interval>;

/// What one trip of a loop leaves to the next lives over all of it: every tensor that the loop's steps touch, except
/// those whose memory has its whole life, from a write on, inside the body. Returns what was extended.
std::set<TensorId> ExtendOverLoops(const std::vector<backend::StepSpec>& steps, const Roots& roots, Lives& lives) {
  std::vector<std::pair<int32_t, int32_t>> loops;  // The loop's step, its body's last; inner ones first.
  for (size_t s = steps.size(); s-- > 0;) {
    if (steps[s].op != Op::kLoop) continue;
    loops.emplace_back(static_cast<int32_t>(s), static_cast<int32_t>(s + backend::ScopeLength(steps[s])));
  }
  std::set<TensorId> extended;
  for (const auto& loop : loops) {
    const int32_t start = loop.first, last = loop.second;
    std::map<TensorId, Interval> blocks;
    for (const auto& [id, live] : lives) {
      Interval& block = blocks.try_emplace(roots.Find(id), live).first->second;
      block = {std::min(block.first, live.first), std::max(block.last, live.last)};
    }
    const auto inside = [&](TensorId root) {
      const Interval& block = blocks.at(root);
      if (block.first <= start || block.last > last) return false;
      const backend::StepSpec& first = steps[static_cast<size_t>(block.first)];
      const auto is_root = [&](TensorId id) { return id != ir::kNoTensor && roots.Find(id) == root; };
      return is_root(first.scratch) || std::any_of(first.outputs.begin(), first.outputs.end(), is_root);
    };
    for (auto& [id, live] : lives) {
      if (live.last < start || live.first > last || inside(roots.Find(id))) continue;
      live = {std::min(live.first, start), std::max(live.last, last)};
      extended.insert(id);
    }
  }
  return extended;
}

/// An in-place step takes over the memory of an input that dies there, for good.
void ShareInPlace(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Lives& lives,
                  const std::set<TensorId>& extended, Roots& roots) {
  std::map<TensorId, int32_t> block_last;
  for (const auto& [id, live] : lives) {
    int32_t& last = block_last.try_emplace(roots.Find(id), live.last).first->second;
    last = std::max(last, live.last);
  }
  for (size_t s = 0; s < steps.size(); ++s) {
    for (const TensorId in : InPlaceInputs(graph, steps[s])) {
      const TensorId out = steps[s].outputs[0];
      const TensorId root = roots.Find(in);
      if (block_last[root] != static_cast<int32_t>(s) || graph.IsInput(root) || graph.IsOutput(root)) continue;
      if (lives.at(out).first != static_cast<int32_t>(s) || extended.count(in) != 0) continue;
      roots.Alias(out, in);
      block_last[root] = block_last[out];
      break;
    }
  }
}

}  // namespace

std::vector<TensorId> InPlaceInputs(const ir::Graph& graph, const backend::StepSpec& step) {
  const OpInfo* info = FindOpInfo(step.op);
  if (info == nullptr || (info->traits & (kInPlace | kInPlaceLast)) == 0) return {};
  const ir::Tensor& out = graph.tensor(step.outputs[0]);
  std::vector<TensorId> inputs;
  for (size_t i = (info->traits & kInPlaceLast) != 0 ? step.inputs.size() - 1 : 0; i < step.inputs.size(); ++i) {
    const TensorId id = step.inputs[i];
    if (id == ir::kNoTensor) continue;
    const ir::Tensor& in = graph.tensor(id);
    if (in.is_constant() || in.view || out.view || graph.IsInput(id) || graph.IsOutput(id)) continue;
    if (in.byte_size() == out.byte_size() && in.dims == out.dims) inputs.push_back(id);
  }
  return inputs;
}

Liveness ComputeLiveness(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps) {
  Lives lives;
  const auto use = [&](TensorId id, int32_t step) {
    if (id == ir::kNoTensor || graph.tensor(id).is_constant()) return;
    auto [it, fresh] = lives.try_emplace(id, Interval{step, step});
    it->second.first = std::min(it->second.first, step);
    it->second.last = std::max(it->second.last, step);
  };
  const int32_t end = std::max<int32_t>(0, static_cast<int32_t>(steps.size()) - 1);
  for (TensorId id : graph.inputs) use(id, 0);
  for (size_t s = 0; s < steps.size(); ++s) {
    for (TensorId id : steps[s].inputs) use(id, static_cast<int32_t>(s));
    for (TensorId id : steps[s].outputs) use(id, static_cast<int32_t>(s));
    use(steps[s].scratch, static_cast<int32_t>(s));
  }
  for (TensorId id : graph.outputs) use(id, end);
  for (const ir::State& state : graph.states) use(state.tensor, 0), use(state.tensor, end);
  Roots roots(graph);
  for (const ir::State& state : graph.states)
    if (state.in_place) roots.Alias(state.next, state.tensor);
  const std::set<TensorId> extended = ExtendOverLoops(steps, roots, lives);
  ShareInPlace(graph, steps, lives, extended, roots);

  Liveness result;
  for (const auto& [id, live] : lives) {
    result.tensors.push_back(
        {.tensor = id, .first = live.first, .last = live.last, .offset = roots.Offset(id), .root = id});
  }
  std::sort(result.tensors.begin(), result.tensors.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first < b.first : a.tensor < b.tensor; });
  std::map<TensorId, int64_t> states;
  for (const ir::State& state : graph.states) {
    states[state.tensor] = result.state_bytes;
    result.state_bytes += Aligned(graph.tensor(state.tensor).byte_size(), kArenaAlignment);
  }
  std::map<TensorId, size_t> blocks;
  for (Liveness::Entry& entry : result.tensors) {
    const TensorId root = entry.root = roots.Find(entry.tensor);
    if (const auto state = states.find(root); state != states.end()) {
      entry.state = true;
      entry.offset += state->second;
      continue;
    }
    const auto [it, fresh] = blocks.try_emplace(root, result.buffers.size());
    if (fresh) result.buffers.push_back({graph.tensor(root).byte_size(), entry.first, entry.last});
    entry.buffer = it->second;
    Buffer& buffer = result.buffers[it->second];
    buffer.first = std::min(buffer.first, entry.first);
    buffer.last = std::max(buffer.last, entry.last);
  }
  return result;
}

}  // namespace takt::memory
