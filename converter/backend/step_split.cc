#include "converter/backend/step_split.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/backend/scratch.h"
#include "converter/backend/step_call.h"
#include "schema/plan_generated.h"

namespace takt::backend {
namespace {

using ir::TensorId;

/// What a range of the output needs of the inputs.
enum class Rule {
  kElements,  ///< The same range of each data input, or all of it where it is broadcast.
  kRows,      ///< As kElements, but the last axis stays whole.
  kMatrix,    ///< The same rows of x; of the last axis, rows of weights, bias and requantization.
  kProduct,   ///< The same range of both operands' batches, the same rows of the first.
  kWindow,    ///< What the windows cover; of one pixel, channels as of kMatrix.
  kPadded,    ///< The range without its padding, which becomes the part's.
  kPermuted,  ///< A strided view of the input, which the part copies.
};
/// `data`: so many inputs are data, the others tables or weights, which each part reads whole.
struct Row {
  Op op;
  Rule rule;
  size_t data;
};
constexpr Row kRows[] = {
    {Op::kAdd, Rule::kElements, 2},           {Op::kMul, Rule::kElements, 2},
    {Op::kBinary, Rule::kElements, 2},        {Op::kCompare, Rule::kElements, 2},
    {Op::kLogic, Rule::kElements, 2},         {Op::kSelect, Rule::kElements, 3},
    {Op::kClamp, Rule::kElements, 1},         {Op::kUnary, Rule::kElements, 1},
    {Op::kLeakyRelu, Rule::kElements, 1},     {Op::kSigmoidTable, Rule::kElements, 1},
    {Op::kQuantize, Rule::kElements, 1},      {Op::kDequantize, Rule::kElements, 1},
    {Op::kRequantize, Rule::kElements, 1},    {Op::kCast, Rule::kElements, 1},
    {Op::kCopy, Rule::kElements, 1},          {Op::kSoftmax, Rule::kRows, 1},
    {Op::kL2Normalization, Rule::kRows, 1},   {Op::kLocalResponseNormalization, Rule::kRows, 1},
    {Op::kFullyConnected, Rule::kMatrix, 1},  {Op::kBatchMatMul, Rule::kProduct, 2},
    {Op::kConv2d, Rule::kWindow, 1},          {Op::kConv2dAdd, Rule::kWindow, 1},
    {Op::kDepthwiseConv2d, Rule::kWindow, 1}, {Op::kAveragePool2d, Rule::kWindow, 1},
    {Op::kMaxPool2d, Rule::kWindow, 1},       {Op::kPad, Rule::kPadded, 1},
    {Op::kTranspose, Rule::kPermuted, 1},
};

const Row* FindRow(Op op) {
  const Row* row = std::find_if(std::begin(kRows), std::end(kRows), [op](const Row& r) { return r.op == op; });
  return row == std::end(kRows) ? nullptr : row;
}

constexpr size_t kMostParts = 4096;
constexpr uint64_t kTooMany = UINT64_MAX;

/// Indices [begin, end) of a dimension of the output.
struct Range {
  size_t axis;
  int32_t begin, end;
};

/// Makes parts of steps; what cannot be one is nothing.
class Splitter {
 public:
  Splitter(ir::Graph& graph, const StepBound& bound, const StepCost& cost, KernelTable kernels)
      : graph_(graph), bound_(bound), cost_(cost), kernels_(kernels) {}

  /// Appends parts within the bound; false if there are none, and `shortest` has the cost of the one that failed,
  /// kTooMany if they are.
  bool Cut(const StepSpec& step, uint64_t ticks, std::vector<StepSpec>& parts, std::vector<uint64_t>& costs,
           uint64_t& shortest);

 private:
  std::optional<StepSpec> Part(const StepSpec& step, const Range& range);
  bool CutInputs(const Row& row, const Range& range, StepSpec& part);
  bool CutWindow(const Range& range, StepSpec& part);
  bool CutPadded(const Range& range, StepSpec& part);
  bool CutPermuted(const Range& range, StepSpec& part);
  bool CutChannels(const Range& range, StepSpec& part);
  bool Follow(size_t input, const Range& range, StepSpec& part);
  bool Slice(const Range& range, TensorId& id);
  bool UpdatesState(TensorId id) const;

  ir::Graph& graph_;
  const StepBound& bound_;
  const StepCost& cost_;
  const KernelTable kernels_;
};

/// Replaces a tensor by its range: a view, or a constant of its own. False if the range is not dense.
bool Splitter::Slice(const Range& range, TensorId& id) {
  const ir::Tensor whole = graph_.tensor(id);
  if (whole.dims[range.axis] < range.end) return false;
  const bool strided = whole.view && !whole.view->strides.empty();
  int64_t bits = static_cast<int64_t>(BitWidth(whole.type));
  for (size_t d = 0; d < whole.dims.size(); ++d) {
    if (!strided && d < range.axis && whole.dims[d] != 1) return false;
    if (d > range.axis) bits *= whole.dims[d];
  }
  if (range.begin * bits % 8 != 0 || range.end * bits % 8 != 0) return false;
  const int64_t from = range.begin * bits / 8, to = range.end * bits / 8;
  std::vector<int32_t> dims = whole.dims;
  dims[range.axis] = range.end - range.begin;
  const std::string name = absl::StrCat(whole.name, "/part");
  if (whole.is_constant()) {
    id = graph_.AddConstant(name, whole.type, dims, {whole.data->begin() + from, whole.data->begin() + to});
    return true;
  }
  ir::Tensor part = whole;
  part.name = name;
  part.dims = dims;
  part.source = -1;
  part.view = whole.view.value_or(ir::View{id, 0, {}});
  part.view->offset_bytes += strided ? range.begin * whole.view->strides[range.axis] : from;
  id = graph_.AddTensor(std::move(part));
  return true;
}

/// The range of an input whose dimensions, counted from the last, are those of the output or 1.
bool Splitter::Follow(size_t input, const Range& range, StepSpec& part) {
  const auto& dims = graph_.tensor(part.inputs[input]).dims;
  const size_t rank = graph_.tensor(part.outputs[0]).dims.size();
  if (dims.size() + range.axis < rank) return true;
  const size_t axis = dims.size() + range.axis - rank;
  return dims[axis] == 1 || Slice({axis, range.begin, range.end}, part.inputs[input]);
}

/// Rows of weights, bias and requantization.
bool Splitter::CutChannels(const Range& range, StepSpec& part) {
  for (size_t i = 1; i < std::min<size_t>(part.inputs.size(), 4); ++i)
    if (!Slice({0, range.begin, range.end}, part.inputs[i])) return false;
  return true;
}

/// Input rows (columns) that the windows of a range cover; what they cover beside the input becomes the part's pads.
bool Splitter::CutWindow(const Range& range, StepSpec& part) {
  auto* window = reinterpret_cast<schema::Window2d*>(part.params.data());  // Comes first in each of these params.
  const bool rows = range.axis == 1, pool = part.inputs.size() == 1;
  const auto* cells = reinterpret_cast<const schema::Pool2dParams*>(part.params.data());
  const int64_t kernel =
      pool ? (rows ? cells->kernel_h() : cells->kernel_w()) : graph_.tensor(part.inputs[1]).dims[range.axis];
  const int64_t stride = rows ? window->stride_h() : window->stride_w();
  const int64_t dilation = rows ? window->dilation_h() : window->dilation_w();
  const int64_t size = graph_.tensor(part.inputs[0]).dims[range.axis];
  const int64_t first = range.begin * stride - (rows ? window->pad_top() : window->pad_left());
  const int64_t end = first + (range.end - range.begin - 1) * stride + (kernel - 1) * dilation + 1;
  const int64_t begin_in = std::max<int64_t>(first, 0), end_in = std::min(end, size);
  if (begin_in >= end_in) return false;  // Windows of nothing but padding.
  const auto before = static_cast<uint16_t>(begin_in - first), after = static_cast<uint16_t>(end - end_in);
  rows ? window->mutate_pad_top(before) : window->mutate_pad_left(before);
  rows ? window->mutate_pad_bottom(after) : window->mutate_pad_right(after);
  return Slice({range.axis, static_cast<int32_t>(begin_in), static_cast<int32_t>(end_in)}, part.inputs[0]);
}

bool Splitter::CutPadded(const Range& range, StepSpec& part) {
  auto* pads = reinterpret_cast<schema::PadParams*>(part.params.data());
  const auto axis = static_cast<flatbuffers::uoffset_t>(range.axis);
  const int32_t size = graph_.tensor(part.inputs[0]).dims[range.axis], before = pads->before()->Get(axis);
  const int32_t first = range.begin - before, end = range.end - before;
  const Range data{range.axis, std::max(first, 0), std::min(end, size)};
  if (data.begin >= data.end) return false;
  pads->mutable_before()->Mutate(axis, data.begin - first);
  pads->mutable_after()->Mutate(axis, end - data.end);
  return Slice(data, part.inputs[0]);
}

bool Splitter::CutPermuted(const Range& range, StepSpec& part) {
  const auto* params = reinterpret_cast<const schema::TransposeParams*>(part.params.data());
  const ir::Tensor x = graph_.tensor(part.inputs[0]);
  if (BitWidth(x.type) % 8 != 0 || x.is_constant()) return false;
  const ir::View from = x.view.value_or(ir::View{part.inputs[0], 0, {}});
  std::vector<int64_t> strides = from.strides;
  if (strides.empty()) {
    strides.assign(x.dims.size(), static_cast<int64_t>(BitWidth(x.type)) / 8);
    for (size_t d = x.dims.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * x.dims[d + 1];
  }
  ir::Tensor cells = x;
  cells.name = absl::StrCat(x.name, "/part");
  cells.source = -1;
  cells.dims.clear();
  cells.view = ir::View{from.base, from.offset_bytes, {}};
  for (size_t d = 0; d < x.dims.size(); ++d) {
    const size_t axis = params->permutation()->Get(static_cast<flatbuffers::uoffset_t>(d));
    cells.dims.push_back(x.dims[axis]);
    cells.view->strides.push_back(strides[axis]);
  }
  cells.dims[range.axis] = range.end - range.begin;
  cells.view->offset_bytes += range.begin * cells.view->strides[range.axis];
  part.op = Op::kCopy;
  part.numerics = Numerics::kAny;
  part.params.assign(sizeof(schema::CopyParams), 0);
  part.inputs[0] = graph_.AddTensor(std::move(cells));
  return true;
}

bool Splitter::CutInputs(const Row& row, const Range& range, StepSpec& part) {
  const auto& out = graph_.tensor(part.outputs[0]).dims;
  const auto& x = graph_.tensor(part.inputs[0]).dims;
  const bool last = range.axis + 1 == out.size();
  switch (row.rule) {
    case Rule::kElements:
      break;
    case Rule::kRows:
      if (last) return false;
      break;
    case Rule::kMatrix:
      if (last) return CutChannels(range, part);
      if (x.size() != out.size()) return false;
      break;
    case Rule::kProduct: {
      if (last) return false;
      if (range.axis + 2 < out.size()) break;
      const auto* params = reinterpret_cast<const schema::BatchMatMulParams*>(part.params.data());
      return !params->transpose_a() && Follow(0, range, part);
    }
    case Rule::kWindow:
      if (part.op == Op::kConv2dAdd && !Follow(part.inputs.size() - 1, range, part)) return false;
      if (range.axis == 0) break;
      if (!last) return CutWindow(range, part);
      // Depthwise channels and those of groups belong to channels of the input.
      return part.inputs.size() > 1 && part.op != Op::kDepthwiseConv2d &&
             graph_.tensor(part.inputs[1]).dims[3] == x[3] && CutChannels(range, part);
    case Rule::kPadded:
      return CutPadded(range, part);
    case Rule::kPermuted:
      return CutPermuted(range, part);
  }
  for (size_t i = 0; i < std::min(row.data, part.inputs.size()); ++i)
    if (!Follow(i, range, part)) return false;
  return true;
}

bool Splitter::UpdatesState(TensorId id) const {
  return std::any_of(graph_.states.begin(), graph_.states.end(),
                     [id](const ir::State& state) { return state.in_place && state.next == id; });
}

std::optional<StepSpec> Splitter::Part(const StepSpec& step, const Range& range) {
  const Row* row = FindRow(step.op);
  StepSpec part = step;
  if (row == nullptr || UpdatesState(step.outputs[0]) || !CutInputs(*row, range, part) ||
      !Slice(range, part.outputs[0]))
    return std::nullopt;
  std::vector<StepSpec> made = {std::move(part)};
  uint64_t work = 1;
  const Kernel* kernel = FindKernel(graph_, made[0], kernels_);
  if (kernel == nullptr || !kernel->check(StepCall(graph_, made[0]).call(), work).ok()) return std::nullopt;
  made[0].scratch = ir::kNoTensor;
  AddScratch(graph_, made, kernels_);
  return made[0];
}

bool Splitter::Cut(const StepSpec& step, uint64_t ticks, std::vector<StepSpec>& parts, std::vector<uint64_t>& costs,
                   uint64_t& shortest) {
  shortest = parts.size() == kMostParts ? kTooMany : ticks;
  if (shortest == kTooMany) return false;
  if (ticks <= bound_.ticks) {
    parts.push_back(step);
    costs.push_back(ticks);
    return true;
  }
  if (step.outputs.empty()) return false;
  const std::vector<int32_t> dims = graph_.tensor(step.outputs[0]).dims;
  const auto axis = std::find_if(dims.begin(), dims.end(), [](int32_t dim) { return dim > 1; });
  if (axis == dims.end()) return false;
  const auto at = static_cast<size_t>(axis - dims.begin());
  const auto first = Part(step, {at, 0, *axis / 2}), second = Part(step, {at, *axis / 2, *axis});
  return first && second && Cut(*first, cost_(*first), parts, costs, shortest) &&
         Cut(*second, cost_(*second), parts, costs, shortest);
}

void TooLong(const ir::Graph& graph, const StepSpec& step, const StepBound& bound, uint64_t ticks, uint64_t shortest,
             Diagnostics& diagnostics) {
  const std::string part = shortest == kTooMany ? absl::StrCat("would become more than ", kMostParts, " parts")
                           : shortest < ticks   ? absl::StrFormat("its parts %.1f us, the shortest it can be cut into",
                                                                  bound.Microseconds(shortest))
                                                : "it can't be cut";
  const ir::Node& node = graph.nodes[static_cast<size_t>(step.node)];
  diagnostics.Error(
      {graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""},
      absl::StrFormat("%s takes %.1f us, %s, and --max-step-us allows %.0f: use a smaller layer, a faster kernel or a "
                      "longer bound",
                      OpName(step.op), bound.Microseconds(ticks), part, bound.Microseconds(bound.ticks)));
}

/// Scopes of the steps that `starts` has moved; one entry more than there were steps.
void MoveScopes(const std::vector<size_t>& starts, const std::vector<StepSpec>& before, std::vector<StepSpec>& steps) {
  for (size_t s = 0; s < before.size(); ++s)
    if (const uint32_t length = ScopeLength(before[s]); length != 0)
      SetScopeLength(steps[starts[s]], static_cast<uint32_t>(starts[s + 1 + length] - starts[s + 1]));
}

}  // namespace

void SplitSteps(ir::Graph& graph, std::vector<StepSpec>& steps, std::vector<uint64_t>& costs, const StepBound& bound,
                const StepCost& cost, KernelTable kernels, Diagnostics& diagnostics) {
  Splitter splitter(graph, bound, cost, kernels);
  std::vector<StepSpec> made;
  std::vector<uint64_t> made_costs;
  std::vector<size_t> starts;
  for (size_t s = 0; s < steps.size(); ++s) {
    starts.push_back(made.size());
    const bool device = steps[s].op == Op::kSubmit || steps[s].op == Op::kWait;
    std::vector<StepSpec> parts;
    std::vector<uint64_t> part_costs;
    uint64_t shortest = 0;
    if (device || !splitter.Cut(steps[s], costs[s], parts, part_costs, shortest)) {
      if (!device) TooLong(graph, steps[s], bound, costs[s], shortest, diagnostics);
      parts = {steps[s]};
      part_costs = {costs[s]};
    }
    made.insert(made.end(), parts.begin(), parts.end());
    made_costs.insert(made_costs.end(), part_costs.begin(), part_costs.end());
  }
  starts.push_back(made.size());
  MoveScopes(starts, steps, made);
  steps = std::move(made);
  costs = std::move(made_costs);
}

}  // namespace takt::backend
