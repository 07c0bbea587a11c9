#include "converter/npu/memory_search.h"

#include <algorithm>
#include <tuple>

#include "converter/memory/planner.h"
#include "converter/npu/job_builder.h"
#include "ports/npu_emu/model/cost.h"

namespace takt::npu {
namespace {

using ir::TensorId;

constexpr size_t kMostLayers = 6;  // of a cascade
constexpr uint32_t kStripes[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

int64_t Aligned(int64_t bytes) {
  return memory::Aligned(bytes, kWorkspaceAlignment);
}

}  // namespace

MemorySearch::MemorySearch(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Machine& machine)
    : graph_(graph), steps_(steps), machine_(machine), layers_(steps.size()) {
  const auto last = static_cast<int32_t>(steps.size()) - 1;
  for (const TensorId id : graph.inputs) Touch(id, 0);
  size_t scope_end = 0;
  for (size_t s = 0; s < steps.size(); ++s) {
    const auto at = static_cast<int32_t>(s);
    for (const TensorId id : steps[s].inputs) Touch(id, at);
    for (const TensorId id : steps[s].outputs) Touch(id, at);
    if (const uint32_t length = backend::ScopeLength(steps[s]); length != 0)
      scope_end = std::max(scope_end, s + 1 + length);
    std::string reason;
    if (s >= scope_end) layers_[s] = MakeLayer(graph, steps[s], reason);
    if (!layers_[s]) Touch(steps[s].scratch, at);
  }
  for (const TensorId id : graph.outputs) Touch(id, last);
  for (const ir::State& state : graph.states) Touch(state.tensor, 0), Touch(state.tensor, last);
  std::erase_if(blocks_, [&](const Block& b) {
    return std::ranges::any_of(graph.states, [&](const ir::State& state) { return state.tensor == b.root; });
  });
  for (Block& block : blocks_) {
    const bool shared = graph.IsInput(block.root) || graph.IsOutput(block.root);
    block.inner = !shared && block.uses == 2 && block.last == block.first + 1 &&
                  steps[static_cast<size_t>(block.first)].outputs[0] == block.root &&
                  layers_[static_cast<size_t>(block.first)] && layers_[static_cast<size_t>(block.last)];
  }
  FindCandidates();
  FindJobs();
}

void MemorySearch::Touch(TensorId id, int32_t step) {
  if (id == ir::kNoTensor || graph_.tensor(id).is_constant()) return;
  const TensorId root = Root(graph_, id).root;
  const auto at = std::ranges::lower_bound(blocks_, root, {}, &Block::root);
  if (at == blocks_.end() || at->root != root) {
    blocks_.insert(at, {root, Aligned(graph_.tensor(root).byte_size()), step, step, 1, false});
    return;
  }
  if (at->last != step) ++at->uses;
  at->last = std::max(at->last, step);
}

/// What a run of layers shares with other steps is one job's operand, hence live over all of it.
void MemorySearch::FindJobs() {
  for (size_t begin = 0; begin < layers_.size(); ++begin) {
    if (!layers_[begin]) continue;
    size_t end = begin;
    while (end + 1 < layers_.size() && layers_[end + 1]) ++end;
    const auto first = static_cast<int32_t>(begin), last = static_cast<int32_t>(end);
    for (Block& b : blocks_) {
      const bool own = b.first >= first && b.last <= last && !graph_.IsInput(b.root) && !graph_.IsOutput(b.root);
      if (own || b.last < first || b.first > last) continue;
      b.first = std::min(b.first, first), b.last = std::max(b.last, last);
    }
    begin = end;
  }
}

void MemorySearch::FindCandidates() {
  for (size_t first = 0; first < layers_.size(); ++first) {
    for (size_t last = first + 1; last < std::min(first + kMostLayers, layers_.size()); ++last) {
      if (!layers_[last - 1] || !layers_[last] || !MayCascade(*layers_[last - 1], *layers_[last])) break;
      const auto between = std::ranges::lower_bound(blocks_, layers_[last]->x, {}, &Block::root);
      const TensorId skip = layers_[last]->skip;
      if (skip != ir::kNoTensor && Root(graph_, skip).root == layers_[last]->x) break;
      if (between == blocks_.end() || between->root != layers_[last]->x || !between->inner) break;
      AddCandidates(first, last);
    }
  }
}

void MemorySearch::AddCandidates(size_t first, size_t last) {
  uint32_t before = 0;
  for (const uint32_t stripes : kStripes) {
    const auto rows = static_cast<uint32_t>(CeilDiv(layers_[last]->out_height, stripes));
    if (rows == before || rows >= layers_[last]->out_height) continue;
    before = rows;
    const Cascade cascade = {first, last, rows};
    candidates_.push_back({cascade, Cost(cascade)});
  }
}

std::vector<Layer> MemorySearch::LayersOf(const Cascade& cascade) const {
  std::vector<Layer> layers;
  for (size_t s = cascade.first; s <= cascade.last; ++s) layers.push_back(*layers_[s]);
  return layers;
}

uint64_t MemorySearch::Cost(const Cascade& cascade) const {
  const std::vector<Layer> layers = LayersOf(cascade);
  const Memory &constants = machine_.memories[machine_.constant_memory],
               &features = machine_.memories[machine_.feature_memory];
  std::vector<bool> again(layers.size(), false);
  uint64_t bytes = 0, waits = 0;
  for (const Stripe& stripe : StripesOf(layers, cascade.stripe_rows)) {
    const Layer& l = layers[stripe.layer];
    if (again[stripe.layer] && l.weights != ir::kNoTensor)
      bytes += static_cast<uint64_t>(graph_.tensor(l.weights).byte_size());
    waits += again[stripe.layer] ? features.read_latency + features.write_latency : 0;
    again[stripe.layer] = true;
  }
  return ScaleUp(bytes, {constants.bytes_per_cycle.den, constants.bytes_per_cycle.num}, machine_.tick_shift) +
         (waits << machine_.tick_shift);
}

std::vector<MemorySearch::Block> MemorySearch::BlocksOf(const MemoryPlan& plan) const {
  std::vector<Block> blocks = blocks_;
  for (const Cascade& c : plan.cascades) {
    const auto first = static_cast<int32_t>(c.first), last = static_cast<int32_t>(c.last);
    const std::vector<Layer> layers = LayersOf(c);
    const std::vector<uint32_t> rings = RingRows(layers, c.stripe_rows);
    for (Block& b : blocks) {
      if (b.last < first || b.first > last) continue;
      if (b.inner && b.first >= first && b.last <= last) {
        const auto i = static_cast<size_t>(b.first - first);
        b.bytes = Aligned(int64_t{rings[i]} * layers[i].out_width * layers[i].out_channels);
      }
      if (b.first >= first) b.first = first;
      if (b.last <= last) b.last = last;
    }
  }
  std::erase_if(blocks, [&](const Block& b) { return plan.spilled.count(b.root) != 0; });
  return blocks;
}

std::vector<int64_t> MemorySearch::Loads(const MemoryPlan& plan) const {
  std::vector<int64_t> loads(steps_.size() + 1, 0);
  for (const Block& b : BlocksOf(plan)) {
    loads[static_cast<size_t>(b.first)] += b.bytes;
    loads[static_cast<size_t>(b.last) + 1] -= b.bytes;
  }
  for (size_t s = 1; s < loads.size(); ++s) loads[s] += loads[s - 1];
  return loads;
}

int64_t MemorySearch::Beyond(int64_t limit, const MemoryPlan& plan) const {
  int64_t sum = 0;
  for (const int64_t load : Loads(plan)) sum += std::max<int64_t>(0, load - limit);
  return sum;
}

bool MemorySearch::AddCascades(int64_t limit, MemoryPlan& plan) const {
  for (int64_t now = Beyond(limit, plan); now > 0;) {
    double best_ratio = 0;
    int64_t best_left = now;
    MemoryPlan best;
    for (const Candidate& candidate : candidates_) {
      MemoryPlan with = plan;
      double cost = static_cast<double>(candidate.cost);
      std::erase_if(with.cascades, [&](const Cascade& c) {
        const bool replaced = candidate.cascade.first <= c.last && c.first <= candidate.cascade.last;
        if (replaced) cost -= static_cast<double>(Cost(c));
        return replaced;
      });
      with.cascades.push_back(candidate.cascade);
      const int64_t left = Beyond(limit, with);
      if (left >= now) continue;
      const double ratio = cost / static_cast<double>(now - left);
      if (best_left != now && ratio >= best_ratio) continue;
      best_ratio = ratio, best_left = left, best = std::move(with);
    }
    if (best_left == now) return false;
    now = best_left;
    plan = std::move(best);
    std::ranges::sort(plan.cascades, {}, &Cascade::first);
  }
  return true;
}

bool MemorySearch::Spill(int64_t limit, MemoryPlan& plan) const {
  for (;;) {
    const std::vector<int64_t> loads = Loads(plan);
    const auto peak = std::ranges::max_element(loads);
    if (*peak <= limit) return true;
    const auto at = static_cast<int32_t>(peak - loads.begin());
    const int64_t missing = *peak - limit;
    const auto in_cascade = [&](const Block& b) {
      return b.inner && std::ranges::any_of(plan.cascades, [&](const Cascade& c) {
               return b.first >= static_cast<int32_t>(c.first) && b.last <= static_cast<int32_t>(c.last);
             });
    };
    const Block* best = nullptr;
    const auto key = [&](const Block& b) {
      const bool suffices = b.bytes >= missing;
      return std::tuple(b.uses, !suffices, suffices ? b.bytes : -b.bytes, b.root);
    };
    const std::vector<Block> blocks = BlocksOf(plan);
    for (const Block& b : blocks) {
      if (b.first > at || b.last < at || in_cascade(b)) continue;
      if (best == nullptr || key(b) < key(*best)) best = &b;
    }
    if (best == nullptr) return false;
    plan.spilled.insert(best->root);
  }
}

}  // namespace takt::npu
