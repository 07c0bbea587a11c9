#include "converter/npu/memory_search.h"

#include <algorithm>
#include <tuple>

#include "converter/memory/planner.h"
#include "converter/npu/job_builder.h"
#include "ports/npu_emu/model/cost.h"

namespace takt::npu {
namespace {

using ir::TensorId;

constexpr size_t kMostLayers = 12;  // of a cascade
constexpr uint32_t kStripes[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};

int64_t Aligned(int64_t bytes) {
  return memory::Aligned(bytes, kWorkspaceAlignment);
}

}  // namespace

MemorySearch::MemorySearch(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps, const Machine& machine)
    : graph_(graph), steps_(steps), machine_(machine), layers_(steps.size()), candidates_(steps.size()) {
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
    if (s >= scope_end) layers_[s] = MakeLayer(graph, steps[s], machine, reason);
    if (layers_[s]) layers_[s] = ByRows(graph, *layers_[s]);
    if (!layers_[s]) Touch(steps[s].scratch, at);
  }
  for (const TensorId id : graph.outputs) Touch(id, last);
  for (const ir::State& state : graph.states) Touch(state.tensor, 0), Touch(state.tensor, last);
  std::erase_if(blocks_, [&](const Block& b) {
    return std::ranges::any_of(graph.states, [&](const ir::State& state) { return state.tensor == b.root; });
  });
  for (Block& block : blocks_) block.inner = IsInner(block);
  FindJobs();
  FindCandidates();
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

bool MemorySearch::IsInner(const Block& b) const {
  if (b.first == b.last || graph_.IsInput(b.root) || graph_.IsOutput(b.root)) return false;
  const std::optional<Layer>& writer = layers_[static_cast<size_t>(b.first)];
  if (!writer || writer->y != b.root) return false;
  const auto is_view = [&](TensorId id) {
    return id != ir::kNoTensor && id != b.root && Root(graph_, id).root == b.root;
  };
  for (int32_t s = b.first + 1; s <= b.last; ++s) {
    const auto& layer = layers_[static_cast<size_t>(s)];
    if (!layer || !MayCascade(*writer, *layer)) return false;
    if (is_view(layer->x) || is_view(layer->skip) || Root(graph_, layer->y).root == b.root) return false;
  }
  return true;
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

/// Steps whose outputs but the last one's are inner to them.
void MemorySearch::FindCandidates() {
  for (size_t first = 0; first < layers_.size(); ++first) {
    std::vector<Layer> layers;
    int32_t end = 0;  // the last reader of what they make
    for (size_t s = first; s < std::min(first + kMostLayers, layers_.size()) && layers_[s]; ++s) {
      layers.push_back(*layers_[s]);
      if (s > first && static_cast<size_t>(end) <= s) AddCandidates(first, layers);
      const auto y = std::ranges::lower_bound(blocks_, Root(graph_, layers_[s]->y).root, {}, &Block::root);
      if (y == blocks_.end() || !y->inner) break;
      end = std::max(end, y->last);
    }
  }
}

void MemorySearch::AddCandidates(size_t first, const std::vector<Layer>& layers) {
  const uint32_t height = layers.back().out_height;
  uint32_t before = height;
  for (const uint32_t stripes : kStripes) {
    const auto rows = static_cast<uint32_t>(CeilDiv(height, stripes));
    if (rows == before) continue;
    before = rows;
    StripeOrder order = OrderStripes(layers, rows);
    Candidate made = {{first, first + layers.size() - 1, rows}, std::move(order.ring_rows), 0, 0, 0};
    made.cost = Cost(layers, order.stripes);
    std::vector<Block> blocks = blocks_;
    Apply(made, blocks);
    made.load = Loads(blocks)[first];
    for (size_t i = 0; i + 1 < layers.size(); ++i) made.kept += Aligned(made.ring_rows[i] * layers[i].row_bytes());
    candidates_[first].push_back(std::move(made));
  }
}

uint64_t MemorySearch::Cost(const std::vector<Layer>& layers, const std::vector<Stripe>& stripes) const {
  const Memory &constants = machine_.memories[machine_.constant_memory],
               &features = machine_.memories[machine_.feature_memory];
  std::vector<bool> again(layers.size(), false);
  uint64_t bytes = 0, waits = 0;
  for (const Stripe& stripe : stripes) {
    const Layer& l = layers[stripe.layer];
    if (again[stripe.layer] && l.weights != ir::kNoTensor)
      bytes += static_cast<uint64_t>(graph_.tensor(l.weights).byte_size());
    waits += again[stripe.layer] ? features.read_latency + features.write_latency : 0;
    again[stripe.layer] = true;
  }
  return ScaleUp(bytes, {constants.bytes_per_cycle.den, constants.bytes_per_cycle.num}, machine_.tick_shift) +
         (waits << machine_.tick_shift);
}

void MemorySearch::Apply(const Candidate& candidate, std::vector<Block>& blocks) const {
  const Cascade& c = candidate.cascade;
  const auto first = static_cast<int32_t>(c.first), last = static_cast<int32_t>(c.last);
  for (Block& b : blocks) {
    if (b.last < first || b.first > last) continue;
    if (b.InnerOf(c)) {
      const Layer& writer = *layers_[static_cast<size_t>(b.first)];
      const uint32_t rows = candidate.ring_rows[static_cast<size_t>(b.first - first)];
      b.bytes = Aligned(rows * writer.row_bytes());
    }
    if (b.first >= first) b.first = first;
    if (b.last <= last) b.last = last;
  }
}

std::vector<int64_t> MemorySearch::Loads(const std::vector<Block>& blocks) const {
  std::vector<int64_t> loads(steps_.size() + 1, 0);
  for (const Block& b : blocks) {
    loads[static_cast<size_t>(b.first)] += b.bytes;
    loads[static_cast<size_t>(b.last) + 1] -= b.bytes;
  }
  for (size_t s = 1; s < loads.size(); ++s) loads[s] += loads[s - 1];
  return loads;
}

int64_t MemorySearch::LeastBytes() const {
  const std::vector<int64_t> loads = Loads(blocks_);
  std::vector<int64_t> least(steps_.size() + 1, 0);  // from this step on
  for (size_t s = steps_.size(); s-- > 0;) {
    least[s] = std::max(loads[s], least[s + 1]);
    for (const Candidate& c : candidates_[s]) least[s] = std::min(least[s], std::max(c.load, least[s + c.steps()]));
  }
  return least[0];
}

/// What lives during a cascade or another step does not depend on the other cascades: so from the last step to the
/// first, each time the best continuation.
std::vector<Cascade> MemorySearch::FindCascades(int64_t limit, uint32_t price) const {
  struct Rest {
    uint64_t beyond = 0, cost = 0;
    const Candidate* begin = nullptr;  ///< The cascade that begins here, if any.
  };
  const Ratio speed = machine_.memories[machine_.spill_memory].bytes_per_cycle;
  const auto key = [&](const Rest& r) {
    if (price == kAnyPrice) return std::pair(r.beyond, r.cost);
    return std::pair(r.cost + ScaleUp(r.beyond * price, {speed.den, 4 * speed.num}, machine_.tick_shift), r.beyond);
  };
  const auto beyond = [&](int64_t load) { return static_cast<uint64_t>(std::max<int64_t>(0, load - limit)); };
  const std::vector<int64_t> loads = Loads(blocks_);
  std::vector<Rest> rests(steps_.size() + 1);
  for (size_t s = steps_.size(); s-- > 0;) {
    rests[s] = {rests[s + 1].beyond + beyond(loads[s]), rests[s + 1].cost, nullptr};
    for (const Candidate& c : candidates_[s]) {
      if (can_spill() && c.kept > limit) continue;
      const Rest& after = rests[s + c.steps()];
      const Rest rest = {after.beyond + c.steps() * beyond(c.load), after.cost + c.cost, &c};
      if (key(rest) < key(rests[s])) rests[s] = rest;
    }
  }
  std::vector<Cascade> cascades;
  for (size_t s = 0; s < steps_.size();) {
    const Candidate* begin = rests[s].begin;
    if (begin != nullptr) cascades.push_back(begin->cascade);
    s += begin != nullptr ? begin->steps() : 1;
  }
  return cascades;
}

const MemorySearch::Candidate& MemorySearch::CandidateOf(const Cascade& cascade) const {
  return *std::ranges::find(candidates_[cascade.first], cascade, &Candidate::cascade);
}

bool MemorySearch::Spill(int64_t limit, MemoryPlan& plan) const {
  std::vector<Block> blocks = blocks_;
  std::vector<TensorId> kept;
  for (const Cascade& c : plan.cascades) {
    for (const Block& b : blocks_) {
      if (b.InnerOf(c)) kept.push_back(b.root);
    }
    Apply(CandidateOf(c), blocks);
  }
  for (;;) {
    const std::vector<int64_t> loads = Loads(blocks);
    const auto peak = std::ranges::max_element(loads);
    if (*peak <= limit) return true;
    const auto at = static_cast<int32_t>(peak - loads.begin());
    const int64_t missing = *peak - limit;
    const auto key = [&](const Block& b) {
      const bool stays = b.first > at || b.last < at || std::ranges::find(kept, b.root) != kept.end();
      const bool suffices = b.bytes >= missing;
      return std::tuple(stays, b.uses, !suffices, suffices ? b.bytes : -b.bytes, b.root);
    };
    const auto best = std::ranges::min_element(blocks, {}, key);
    if (std::get<0>(key(*best))) return false;
    plan.spilled.insert(best->root);
    blocks.erase(best);
  }
}

}  // namespace takt::npu
