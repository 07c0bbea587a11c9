#include "converter/ops/signal_states.h"

#include <algorithm>
#include <utility>

#include "converter/frontend/custom_options.h"
#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"

namespace takt::ir {
namespace {

using frontend::CustomOptions;
using frontend::TfliteNode;

constexpr int64_t kMaxCount = 1 << 24;

TensorId Constant(TfliteNode& node, const char* suffix, DataType type, std::vector<int32_t> dims, Bytes bytes) {
  const std::string name = node.tensor(node.output(0)).name + suffix;
  return node.graph().AddConstant(name, type, std::move(dims), std::move(bytes));
}

/// Cells [begin, begin + size of `to`) of x's last dimension.
void AddSlice(TfliteNode& node, TensorId x, int64_t begin, TensorId to) {
  std::vector<int64_t> begins(node.tensor(x).dims.size());
  if (begins.empty()) return;  // What made x has reported an error.
  begins.back() = begin;
  node.AddTo(Op::kSlice, {x}, {to}, {{"begin", begins}, {"strides", std::vector<int64_t>(begins.size(), 1)}});
}

/// The last `count` cells of the input before this invocation, and the input, in a row. The state is updated.
TensorId WithHistory(TfliteNode& node, int64_t count) {
  const TensorId x = node.input(0);
  if (count == 0) return x;
  Tensor history = node.tensor(x);
  const int32_t size = history.dims.back();
  history.dims.back() = Dim(count);
  const State state = NewState(node, history);
  const auto axis = static_cast<int64_t>(history.dims.size()) - 1;
  const TensorId joined = node.Emit(Op::kConcatenation, {state.tensor, x}, {{"axis", axis}});
  AddSlice(node, joined, size, state.next);
  return joined;
}

/// A state machine that starts at 0: `next[t]` follows t.
TensorId Counter(TfliteNode& node, const std::vector<int32_t>& next) {
  Tensor model;
  model.type = DataType::kInt32;
  const State state = NewState(node, model);
  const auto size = static_cast<int32_t>(next.size());
  const TensorId table = Constant(node, "/count", DataType::kInt32, {size}, ToBytes(next));
  node.AddTo(Op::kGather, {table, state.tensor}, {state.next}, {{"axis", int64_t{0}}});
  return state.tensor;
}

/// Whether the state machine is in one of `states`, as tensor `to`.
void AddFlag(TfliteNode& node, TensorId counter, size_t count, const std::vector<int64_t>& states, TensorId to) {
  Bytes values(count);
  for (const int64_t state : states) values[static_cast<size_t>(state)] = 1;
  const TensorId table = Constant(node, "/flags", DataType::kBool, {static_cast<int32_t>(count)}, std::move(values));
  node.AddTo(Op::kGather, {table, counter}, {to}, {{"axis", int64_t{0}}});
}

bool IsInt16(TfliteNode& node) {
  if (node.tensor(node.input(0)).type == DataType::kInt16 && !node.tensor(node.input(0)).dims.empty()) return true;
  node.Error("takes int16 of at least one dimension", node.input(0));
  return false;
}

/// x repeated to `size` cells.
TensorId Repeated(TfliteNode& node, TensorId x, int64_t size) {
  std::vector<int32_t> cells(static_cast<size_t>(size));
  for (size_t i = 0; i < cells.size(); ++i) cells[i] = static_cast<int32_t>(i) % node.tensor(x).dims[0];
  const TensorId indices = Constant(node, "/repeat", DataType::kInt32, {static_cast<int32_t>(size)}, ToBytes(cells));
  return node.Emit(Op::kGather, {x, indices}, {{"axis", int64_t{0}}});
}

}  // namespace

State NewState(TfliteNode& node, const Tensor& model) {
  const std::string number = std::to_string(node.graph().states.size());
  const State state{node.NewTensor(model, "/state" + number), node.NewTensor(model, "/next" + number)};
  node.graph().states.push_back(state);
  return state;
}

void ImportDelay(TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1) || !IsInt16(node)) return;
  const auto length = CustomOptions(node).Int("delay_length", 0, kMaxCount);
  if (!length) return;
  const TensorId joined = WithHistory(node, *length);
  if (joined == node.input(0)) {
    node.Add(Op::kReshape, {joined});
  } else {
    AddSlice(node, joined, 0, node.output(0));
  }
}

/// The frames before the first whole one are filled up with zeros.
void ImportFramer(TfliteNode& node) {
  if (!node.CheckArity(1, 1, 2) || !IsInt16(node)) return;
  CustomOptions options(node);
  const auto size = options.Int("frame_size", 1, kMaxCount), step = options.Int("frame_step", 1, kMaxCount);
  const auto prefill = options.Int("prefill", 0, 1);
  if (!size || !step || !prefill) return;
  const int32_t length = node.tensor(node.input(0)).dims.back();
  if (length < 1 || length % *step != 0)
    return node.Error("takes a last dimension that is a multiple of its step", node.input(0));
  if (*prefill != 0 && *size < *step) return node.Error("is filled before the first frame, so a frame is no step long");
  const int64_t frames = length / *step, missing = *prefill != 0 ? 0 : (*size + *step - 1) / *step - 1;
  if (frames * *size > kMaxCount) return node.Error("has more than 2^24 samples in its frames");
  const TensorId joined = WithHistory(node, *prefill != 0 ? *size - *step : missing * *step);
  std::vector<int32_t> cells;
  for (int64_t frame = 0; frame < frames; ++frame)
    for (int64_t i = 0; i < *size; ++i) cells.push_back(static_cast<int32_t>(frame * *step + i));
  const TensorId indices = Constant(node, "/cells", DataType::kInt32,
                                    {static_cast<int32_t>(frames), static_cast<int32_t>(*size)}, ToBytes(cells));
  const auto axis = static_cast<int64_t>(node.tensor(joined).dims.size()) - 1;
  node.AddTo(Op::kGather, {joined, indices}, {node.output(0)}, {{"axis", axis}});
  if (missing == 0) return node.SetConstant(1, {1});
  std::vector<int32_t> next;  // Invocations until the first frame is whole.
  const int64_t last = (missing + frames - 1) / frames;
  for (int64_t t = 0; t <= last; ++t) next.push_back(static_cast<int32_t>(std::min(t + 1, last)));
  AddFlag(node, Counter(node, next), next.size(), {last}, node.output(1));
}

/// Before the first invocation there are `left` copies of its frame. States 0 .. right: not complete, then complete;
/// from there each `step`th invocation has its turn.
void ImportStacker(TfliteNode& node) {
  if (!node.CheckArity(1, 1, 2) || !IsInt16(node)) return;
  CustomOptions options(node);
  const auto channels = options.Int("num_channels", 1, kMaxCount);
  const auto left = options.Int("stacker_left_context", 0, 1 << 12),
             right = options.Int("stacker_right_context", 0, 1 << 12);
  const auto step = options.Int("stacker_step", 1, 1 << 12);
  if (!channels || !left || !right || !step) return;
  const TensorId x = node.input(0);
  if (node.tensor(x).dims != std::vector<int32_t>{static_cast<int32_t>(*channels)})
    return node.Error("takes one value for each of its " + std::to_string(*channels) + " channels", x);
  const int64_t before = *left + *right;
  if (*step > before + 1) return node.Error("has a step longer than what it stacks");
  if (*channels * (before + 1) > kMaxCount) return node.Error("stacks more than 2^24 values");
  if (!node.SetDims(0, {static_cast<int32_t>((before + 1) * *channels)})) return;
  std::vector<int32_t> next;
  const int64_t last = *right + *step;
  for (int64_t t = 0; t <= last; ++t) next.push_back(static_cast<int32_t>(t < last ? t + 1 : *right + 1));
  const TensorId counter = Counter(node, next);
  AddFlag(node, counter, next.size(), {*right, last}, node.output(1));
  if (before == 0) {
    node.AddTo(Op::kReshape, {x}, {node.output(0)});
    return;
  }
  Tensor history = node.tensor(x);
  history.dims = {Dim(before * *channels)};
  const State state = NewState(node, history);
  TensorId past = state.tensor;
  if (*left != 0) {
    Tensor flag;
    flag.type = DataType::kBool;
    const TensorId first = node.NewTensor(flag, "/first");
    AddFlag(node, counter, next.size(), {0}, first);
    past = node.Emit(Op::kSelect, {first, Repeated(node, x, before * *channels), state.tensor});
  }
  node.AddTo(Op::kConcatenation, {past, x}, {node.output(0)}, {{"axis", int64_t{0}}});
  AddSlice(node, node.output(0), *channels, state.next);
}

}  // namespace takt::ir
