#include "converter/npu/layer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/npu/moves.h"

namespace takt::npu {
namespace {

using ir::Tensor;

constexpr int64_t kMaxDim = 65535;

template <typename T>
const T& ParamsOf(const backend::StepSpec& step) {
  return *reinterpret_cast<const T*>(step.params.data());
}

bool IsDense(const Tensor& t, DataType type) {
  return t.type == type && (!t.view || t.view->strides.empty());
}

/// Of a step's activations; kCount if it is none that NPUs have.
Type TypeOf(const ir::Graph& graph, const backend::StepSpec& step) {
  const DataType type = graph.tensor(step.inputs[0]).type;
  return type == DataType::kInt8 ? Type::kInt8 : type == DataType::kInt16 ? Type::kInt16x8 : Type::kCount;
}

/// What every step must meet. The texts are the documentation.
struct Constraint {
  const char* text;
  bool (*holds)(const ir::Graph& graph, const backend::StepSpec& step, const Machine& machine);
};

bool IsContraction(Op op) {
  return op == Op::kConv2d || op == Op::kConv2dAdd || op == Op::kDepthwiseConv2d || op == Op::kFullyConnected;
}

bool SameDims(const ir::Graph& graph, const backend::StepSpec& step, const Machine&) {
  if (step.op != Op::kAdd) return true;
  return graph.tensor(step.inputs[0]).dims == graph.tensor(step.outputs[0]).dims &&
         graph.tensor(step.inputs[1]).dims == graph.tensor(step.outputs[0]).dims;
}

/// Whether an average pool over all rows and columns gives a mean's bytes. Both take the nearest integer of sum / n and
/// part at ties, of which an odd n has none; a quotient is 1 / 2n or more away from one, which is more than the error
/// of a float product below 256 (int16: 2^15) and of a scale that is 1 / n to 2^-22.
bool IsPool(const ir::Graph& graph, const backend::StepSpec& step) {
  const int64_t most_cells = TypeOf(graph, step) == Type::kInt8 ? 2048 : 50;
  const Tensor& x = graph.tensor(step.inputs[0]);
  const auto& p = ParamsOf<schema::MeanParams>(step);
  if (x.dims.size() != 4 || p.count() != 2 || p.axes()->Get(0) != 1 || p.axes()->Get(1) != 2) return false;
  const int64_t cells = int64_t{x.dims[1]} * x.dims[2];
  return step.numerics == Numerics::kFp32Rne && cells % 2 == 1 && cells < most_cells &&
         p.input_zero_point() == p.output_zero_point() &&
         std::abs(static_cast<double>(p.scale()) * static_cast<double>(cells) - 1) <= 0x1p-22;
}

bool GoesForwards(const Tensor& t) {
  return !t.view || std::ranges::all_of(t.view->strides, [](int64_t stride) { return stride >= 0; });
}

const Constraint kConstraints[] = {
    {"the op is a convolution, a depthwise convolution, fully connected, a pool, a mean, an addition, a transpose, "
     "a pad or a copy",
     [](const ir::Graph&, const backend::StepSpec& s, const Machine&) {
       return IsContraction(s.op) || s.op == Op::kAveragePool2d || s.op == Op::kMaxPool2d || s.op == Op::kMean ||
              s.op == Op::kAdd || IsMove(s.op);
     }},
    {"a transpose, a pad or a copy has elements of whole bytes, and goes forwards from one tensor to another",
     [](const ir::Graph& g, const backend::StepSpec& s, const Machine&) {
       if (!IsMove(s.op)) return true;
       const Tensor &x = g.tensor(s.inputs[0]), &y = g.tensor(s.outputs[0]);
       return BitWidth(x.type) % 8 == 0 && GoesForwards(x) && GoesForwards(y) &&
              Root(g, s.inputs[0]).root != Root(g, s.outputs[0]).root;
     }},
    {"activations are int8, or int16 if the machine computes int16x8, unless they are only moved",
     [](const ir::Graph& g, const backend::StepSpec& s, const Machine& m) {
       const Type type = TypeOf(g, s);
       return IsMove(s.op) || (type != Type::kCount && m.computes(type));
     }},
    {"activations have one type and are dense, unless they are only moved",
     [](const ir::Graph& g, const backend::StepSpec& s, const Machine&) {
       const auto dense = [&](ir::TensorId id) { return IsDense(g.tensor(id), g.tensor(s.inputs[0]).type); };
       const bool two = s.op == Op::kConv2dAdd || s.op == Op::kAdd;
       return IsMove(s.op) || (dense(s.inputs[0]) && dense(s.outputs[0]) && (!two || dense(s.inputs.back())));
     }},
    {"the step reads no constant but weights, bias and requantization",
     [](const ir::Graph& g, const backend::StepSpec& s, const Machine&) {
       return !g.tensor(s.inputs[0]).is_constant() && (s.op != Op::kAdd || !g.tensor(s.inputs[1]).is_constant());
     }},
    {"a mean is one of fp32_rne over rows and columns, an odd number of cells (int16: below 50), and keeps the"
     " quantization: a pool then",
     [](const ir::Graph& g, const backend::StepSpec& s, const Machine&) { return s.op != Op::kMean || IsPool(g, s); }},
    {"weights, bias and requantization are constants, weights int8",
     [](const ir::Graph& g, const backend::StepSpec& s, const Machine&) {
       return !IsContraction(s.op) || (s.inputs.size() >= 4 && g.tensor(s.inputs[1]).is_constant() &&
                                       g.tensor(s.inputs[1]).type == DataType::kInt8 &&
                                       g.tensor(s.inputs[2]).is_constant() && g.tensor(s.inputs[3]).is_constant());
     }},
    {"the batch is 1",
     [](const ir::Graph& g, const backend::StepSpec& s, const Machine&) {
       const Tensor& x = g.tensor(s.inputs[0]);
       return s.op == Op::kAdd || s.op == Op::kFullyConnected || IsMove(s.op) || x.dims[0] == 1;
     }},
    {"convolutions have one group, depthwise ones a depth multiplier of 1 or one input channel",
     [](const ir::Graph& g, const backend::StepSpec& s, const Machine&) {
       const Tensor& x = g.tensor(s.inputs[0]);
       if (s.op == Op::kDepthwiseConv2d) return x.dims[3] == 1 || x.dims[3] == g.tensor(s.outputs[0]).dims[3];
       return (s.op != Op::kConv2d && s.op != Op::kConv2dAdd) || x.dims[3] == g.tensor(s.inputs[1]).dims[3];
     }},
    {"an addition does not broadcast", SameDims},
    {"every dimension is below 65536, unless it is only moved",
     [](const ir::Graph& g, const backend::StepSpec& s, const Machine&) {
       if (IsMove(s.op)) return true;
       for (const ir::TensorId id : {s.inputs[0], s.outputs[0]}) {
         for (const int32_t dim : g.tensor(id).dims) {
           if (dim > kMaxDim) return false;
         }
       }
       return true;
     }},
};

void SetImages(const Tensor& x, const Tensor& y, Layer& l) {
  const auto u = [](int32_t v) { return static_cast<uint32_t>(v); };
  l.height = u(x.dims[1]), l.width = u(x.dims[2]), l.channels = u(x.dims[3]);
  l.out_height = u(y.dims[1]), l.out_width = u(y.dims[2]), l.out_channels = u(y.dims[3]);
}

void SetWindow(const schema::Window2d& w, Layer& l) {
  l.stride_h = w.stride_h(), l.stride_w = w.stride_w(), l.dilation_h = w.dilation_h(), l.dilation_w = w.dilation_w();
  l.pad_top = w.pad_top(), l.pad_left = w.pad_left();
}

void SetClamp(const schema::Clamp& clamp, Layer& l) {
  l.low = static_cast<int32_t>(clamp.min()), l.high = static_cast<int32_t>(clamp.max());
}

/// Conv2dParams, DepthwiseConv2dParams and FullyConnectedParams name these alike.
template <typename P>
void SetStage(const P& p, const backend::StepSpec& step, Layer& l) {
  l.x_zero_point = p.input_zero_point(), l.w_zero_point = p.weight_zero_point(), l.y_zero_point = p.output_zero_point();
  SetClamp(p.clamp(), l);
  l.weights = step.inputs[1], l.bias = step.inputs[2], l.table = step.inputs[3];
}

Stage StageOf(const ir::Graph& graph, const backend::StepSpec& step, Type type) {
  if (step.numerics == Numerics::kFp32Rne) return Stage::kFp32Rne;
  const bool narrow =
      type == Type::kInt16x8 && IsContraction(step.op) && graph.tensor(step.inputs[2]).type == DataType::kInt32;
  return narrow ? Stage::kTfliteNarrow : Stage::kTflite;
}

void SetContraction(const ir::Graph& graph, const backend::StepSpec& step, Layer& l) {
  const Tensor &x = graph.tensor(step.inputs[0]), &w = graph.tensor(step.inputs[1]), &y = graph.tensor(step.outputs[0]);
  if (step.op == Op::kFullyConnected) {
    l.channels = static_cast<uint32_t>(w.dims[1]);
    l.width = l.out_width = static_cast<uint32_t>(x.element_count()) / l.channels;
    l.out_channels = static_cast<uint32_t>(w.dims[0]);
    return SetStage(ParamsOf<schema::FullyConnectedParams>(step), step, l);
  }
  SetImages(x, y, l);
  l.kernel_h = static_cast<uint32_t>(w.dims[1]), l.kernel_w = static_cast<uint32_t>(w.dims[2]);
  if (step.op == Op::kDepthwiseConv2d) {
    const auto& p = ParamsOf<schema::DepthwiseConv2dParams>(step);
    l.kind = l.channels == l.out_channels ? LayerKind::kDepthwise : LayerKind::kConvolution;  // of one channel
    SetWindow(p.window(), l);
    return SetStage(p, step, l);
  }
  const auto& p =
      step.op == Op::kConv2dAdd ? ParamsOf<schema::Conv2dAddParams>(step).conv() : ParamsOf<schema::Conv2dParams>(step);
  SetWindow(p.window(), l);
  SetStage(p, step, l);
  if (step.op == Op::kConv2dAdd) {
    l.add = ParamsOf<schema::Conv2dAddParams>(step).add();
    l.skip = step.inputs[4];
  }
}

/// A mean is a pool with one window.
void SetPool(const ir::Graph& graph, const backend::StepSpec& step, Layer& l) {
  const Tensor& x = graph.tensor(step.inputs[0]);
  l.kind = LayerKind::kPool;
  if (step.op == Op::kMean) {
    l.kernel_h = l.height = static_cast<uint32_t>(x.dims[1]), l.kernel_w = l.width = static_cast<uint32_t>(x.dims[2]);
    l.channels = l.out_channels = static_cast<uint32_t>(x.dims[3]);
    return SetClamp(ParamsOf<schema::MeanParams>(step).clamp(), l);
  }
  const auto& p = ParamsOf<schema::Pool2dParams>(step);
  l.pool_function = step.op == Op::kMaxPool2d ? 1 : 0;
  SetImages(x, graph.tensor(step.outputs[0]), l);
  SetWindow(p.window(), l);
  l.kernel_h = p.kernel_h(), l.kernel_w = p.kernel_w();
  SetClamp(p.clamp(), l);
}

void SetAdd(const ir::Graph& graph, const backend::StepSpec& step, Layer& l) {
  l.kind = LayerKind::kAdd;
  l.add = ParamsOf<schema::AddParams>(step);
  l.skip = step.inputs[1];
  l.width = l.out_width = static_cast<uint32_t>(graph.tensor(step.outputs[0]).element_count());
}

/// The loops but the last two are rows.
void SetMove(const ir::Graph& graph, const backend::StepSpec& step, Layer& l) {
  l.kind = LayerKind::kMove;
  l.element_bytes = BitWidth(graph.tensor(step.outputs[0]).type) / 8;
  l.axes = AxesOf(graph, step);
  if (step.op == Op::kPad) l.pad_value = ParamsOf<schema::PadParams>(step).value();
  const size_t rows = l.axes.size() - 2;
  for (size_t i = 0; i < rows; ++i) l.out_height *= l.axes[i].size;
  l.height = l.out_height;
  l.width = l.out_width = l.axes[rows].size;
  l.channels = l.out_channels = l.axes[rows + 1].size;
}

}  // namespace

uint64_t Layer::macs() const {
  if (kind == LayerKind::kAdd || kind == LayerKind::kPool || kind == LayerKind::kMove) return 0;
  return out_elements() * kernel_h * kernel_w * (kind == LayerKind::kDepthwise ? 1 : channels);
}

Located Root(const ir::Graph& graph, ir::TensorId id) {
  Located at{id, 0};
  while (graph.tensor(at.root).view) {
    at.offset += graph.tensor(at.root).view->offset_bytes;
    at.root = graph.tensor(at.root).view->base;
  }
  return at;
}

std::vector<const char*> ConstraintTexts() {
  std::vector<const char*> texts;
  for (const Constraint& constraint : kConstraints) texts.push_back(constraint.text);
  return texts;
}

std::optional<Layer> MakeLayer(const ir::Graph& graph, const backend::StepSpec& step, const Machine& machine,
                               std::string& reason) {
  for (const Constraint& constraint : kConstraints) {
    if (constraint.holds(graph, step, machine)) continue;
    reason = constraint.text;
    return std::nullopt;
  }
  Layer layer;
  if (!IsMove(step.op)) layer.type = TypeOf(graph, step);
  layer.stage = StageOf(graph, step, layer.type);
  layer.x = step.inputs[0];
  layer.y = step.outputs[0];
  IsContraction(step.op) ? SetContraction(graph, step, layer)
  : step.op == Op::kAdd  ? SetAdd(graph, step, layer)
  : IsMove(step.op)      ? SetMove(graph, step, layer)
                         : SetPool(graph, step, layer);
  return layer;
}

}  // namespace takt::npu
