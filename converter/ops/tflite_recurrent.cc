// TFLite's recurrent operators as lstm and rnn nodes: gates stacked, int8 weights of float operators made float32,
// variables made states, both directions of a bidirectional operator one node each.
#include "converter/ops/tflite_recurrent.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/contraction.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/recurrent.h"

namespace takt::ir {

using frontend::TfliteNode;

namespace {

bool AppendPart(TfliteNode& node, TensorId id, bool real, Tensor& stacked, Bytes& bytes) {
  const Tensor& part = node.tensor(id);
  if (!real) {
    stacked.type = part.type;
    bytes.insert(bytes.end(), part.data->begin(), part.data->end());
    if (!part.quantization) return true;
    if (!stacked.quantization) stacked.quantization.emplace();
    const auto rows = static_cast<size_t>(part.dims[0]);
    for (size_t i = 0; i < rows; ++i) {
      const size_t channel = part.quantization->per_channel() ? i : 0;
      stacked.quantization->scales.push_back(part.quantization->scales[channel]);
      stacked.quantization->zero_points.push_back(part.quantization->zero_points[channel]);
    }
    return true;
  }
  const auto values = RealValues(part);
  if (!values) return node.Error("must be float32 or quantized", id), false;
  if (part.type == DataType::kInt8)
    node.Note("is int8 beside float32 activations; it becomes float32, which takes four times the bytes", id);
  const Bytes more = ToBytes(*values);
  bytes.insert(bytes.end(), more.begin(), more.end());
  return true;
}

}  // namespace

std::optional<Tensor> Stack(TfliteNode& node, int first, int count, const std::vector<int32_t>& dims, bool real) {
  Tensor stacked;
  stacked.type = DataType::kFloat32;
  stacked.dims = dims;
  stacked.dims[0] = Dim(int64_t{dims[0]} * count);
  const auto part_bytes = static_cast<size_t>(stacked.byte_size()) / static_cast<size_t>(count);
  Bytes bytes;
  for (int i = first; i < first + count; ++i) {
    const TensorId id = node.input(i);
    if (id == kNoTensor && real) {
      if (!MayMake(node, stacked.type, {dims.begin(), dims.end()})) return std::nullopt;
      bytes.resize(bytes.size() + part_bytes);
      continue;
    }
    if (id == kNoTensor || !node.tensor(id).is_constant()) {
      node.Error("input " + std::to_string(i) + " must be a constant", id);
      return std::nullopt;
    }
    if (node.tensor(id).dims != dims) {
      node.Error("input " + std::to_string(i) + " is " + DimsText(node.tensor(id).dims) + ", not " + DimsText(dims),
                 id);
      return std::nullopt;
    }
    if (!AppendPart(node, id, real, stacked, bytes)) return std::nullopt;
  }
  stacked.data = std::make_shared<const Bytes>(std::move(bytes));
  return stacked;
}

TensorId AddConstant(TfliteNode& node, Tensor constant, const char* suffix) {
  constant.name = node.tensor(node.output(0)).name + suffix + std::to_string(node.graph().tensors.size());
  return node.graph().AddTensor(std::move(constant));
}

namespace {

using Attributes = std::map<std::string, Attribute>;
using Dims = std::vector<int32_t>;

constexpr LstmInputs kOneWay = {1, 5, 9, 12, 16, 18, 19, 20, -1};
constexpr LstmInputs kForward = {1, 5, 9, 12, 16, 35, 36, -1, 40};
constexpr LstmInputs kBackward = {18, 22, 26, 29, 33, 37, 38, -1, 44};
struct RnnInputs {
  int weights, recurrent, bias, hidden, aux;
};

/// CheckArity where most inputs may be absent: AddGates and the like ask for what they need.
bool CheckCounts(TfliteNode& node, int min_inputs, int max_inputs, int outputs) {
  if (node.input_count() >= min_inputs) return node.CheckArity(1, max_inputs, outputs);
  node.Error("has " + std::to_string(node.input_count()) + " inputs; the operator has at least " +
             std::to_string(min_inputs));
  return false;
}

/// The function of a fused activation; reports others.
std::string GateFunctionName(TfliteNode& node, tflite::ActivationFunctionType activation) {
  if (activation == tflite::ActivationFunctionType::TANH) return "tanh";
  const std::string name = node.Activation(activation);
  return name == "none" ? "identity" : name;
}

/// The columns of `b` behind those of `a`; float32.
Tensor Beside(const Tensor& a, const Tensor& b) {
  const std::vector<float> left = Elements<float>(a), right = Elements<float>(b);
  std::vector<float> values;
  for (int32_t r = 0; r < a.dims[0]; ++r) {
    const auto row = [r](const std::vector<float>& v, int32_t width) { return v.begin() + ptrdiff_t{r} * width; };
    values.insert(values.end(), row(left, a.dims[1]), row(left, a.dims[1]) + a.dims[1]);
    values.insert(values.end(), row(right, b.dims[1]), row(right, b.dims[1]) + b.dims[1]);
  }
  Tensor both = a;
  both.dims[1] = Dim(int64_t{a.dims[1]} + b.dims[1]);
  both.data = std::make_shared<const Bytes>(ToBytes(values));
  return both;
}

/// The next value of variable `input`, which has `dims`, whatever shape of as many elements the file gives it.
TensorId NextState(TfliteNode& node, int input, const Dims& dims) {
  if (!node.has_input(input)) return node.NextState(input);
  Tensor& state = node.graph().tensor(node.input(input));
  Tensor shaped = state;
  shaped.dims = dims;
  if (shaped.element_count() != state.element_count()) {
    node.Error("state is " + DimsText(state.dims) + ", not " + DimsText(dims), node.input(input));
    return kNoTensor;
  }
  state.dims = dims;
  return node.NextState(input);
}

bool CheckMatrix(TfliteNode& node, int input) {
  if (node.has_input(input) && node.tensor(node.input(input)).dims.size() == 2) return true;
  node.Error("input " + std::to_string(input) + " must be a matrix of weights", node.input(input));
  return false;
}

/// x with `aux` behind it along the last axis.
TensorId Joined(TfliteNode& node, TensorId x, TensorId aux) {
  return aux == kNoTensor ? x : node.Emit(Op::kConcatenation, {x, aux}, {{"axis", int64_t{2}}});
}

/// W and bias of one direction, in place 1 and 3, and x with the auxiliary input.
bool AddGates(TfliteNode& node, const LstmInputs& at, TensorId x, TensorId aux, std::vector<TensorId>& inputs) {
  const bool real = node.tensor(x).type == DataType::kFloat32, coupled = !node.has_input(at.weights);
  if (!CheckMatrix(node, at.weights + 1) || !CheckMatrix(node, at.recurrent + 1)) return false;
  const int first = coupled ? 1 : 0, gates = 4 - first;
  const int32_t cells = node.tensor(node.input(at.weights + 1)).dims[0];
  const int32_t outputs = node.tensor(node.input(at.recurrent + 1)).dims[1];
  auto weights = Stack(node, at.weights + first, gates, {cells, node.tensor(x).dims[2]}, real);
  auto recurrent = Stack(node, at.recurrent + first, gates, {cells, outputs}, real);
  auto bias = Stack(node, at.biases + first, gates, {cells}, real);
  if (!weights || !recurrent || !bias || !AddRefinements(node, at, coupled, cells, *bias, inputs)) return false;
  if (aux != kNoTensor) {
    const auto more = Stack(node, at.aux + first, gates, {cells, node.tensor(aux).dims[2]}, true);
    if (!more) return false;
    weights = Beside(*weights, *more);
  }
  inputs[0] = Joined(node, x, aux);
  inputs[1] = AddConstant(node, std::move(*weights), "/weights");
  inputs[2] = AddConstant(node, std::move(*recurrent), "/recurrent");
  inputs[3] = AddConstant(node, std::move(*bias), "/bias");
  return true;
}

bool CheckSequenceInput(TfliteNode& node, TensorId x) {
  if (x != kNoTensor && node.tensor(x).dims.size() == 3) return true;
  node.Error("its input must have rank 3", x);
  return false;
}

/// One direction.
void AddLstm(TfliteNode& node, const LstmInputs& at, TensorId x, TensorId aux, TensorId y, Attributes attributes) {
  std::vector<TensorId> inputs(11, kNoTensor);
  if (!CheckSequenceInput(node, x) || !AddGates(node, at, x, aux, inputs)) return;
  const bool coupled = !node.has_input(at.weights), projected = node.has_input(at.projection);
  attributes["coupled"] = int64_t{coupled};
  const bool batch_major = std::get<int64_t>(attributes["batch_major"]) != 0;
  const int32_t batches = node.tensor(x).dims[batch_major ? 0 : 1];
  const int32_t cells = node.tensor(inputs[1]).dims[0] / (coupled ? 3 : 4), outputs = node.tensor(inputs[2]).dims[1];
  if (projected) {
    const bool real = node.tensor(x).type == DataType::kFloat32;
    auto weights = Stack(node, at.projection, 1, {outputs, cells}, real);
    if (!weights) return;
    inputs[9] = AddConstant(node, std::move(*weights), "/projection");
    inputs[10] = BiasOrZeros(node, at.projection + 1, outputs);
    if (const auto hidden = node.Intermediate(4); hidden && !real) {
      attributes["hidden_scale"] = static_cast<double>(hidden->scales[0]);
      attributes["hidden_zero_point"] = int64_t{hidden->zero_points[0]};
    }
  }
  const std::vector<double> gate_scales = GateScales(node, coupled);
  if (inputs[7] != kNoTensor && !gate_scales.empty()) attributes["gate_scales"] = gate_scales;
  const TensorId h = NextState(node, at.hidden, {batches, outputs});
  if (h == kNoTensor) return;
  const TensorId c = NextState(node, at.cell, {batches, cells});
  if (c == kNoTensor) return;
  inputs[4] = node.input(at.hidden), inputs[5] = node.input(at.cell);
  while (inputs.back() == kNoTensor) inputs.pop_back();
  node.AddTo(Op::kLstm, inputs, {y, h, c}, std::move(attributes));
}

void AddRnn(TfliteNode& node, const RnnInputs& at, TensorId x, TensorId aux, TensorId y, const Attributes& attributes) {
  if (!CheckSequenceInput(node, x) || !CheckMatrix(node, at.weights)) return;
  const int32_t cells = node.tensor(node.input(at.weights)).dims[0];
  auto weights = Stack(node, at.weights, 1, {cells, node.tensor(x).dims[2]}, true);
  auto recurrent = Stack(node, at.recurrent, 1, {cells, cells}, true);
  auto bias = Stack(node, at.bias, 1, {cells}, true);
  if (!weights || !recurrent || !bias) return;
  if (aux != kNoTensor) {
    const auto more = Stack(node, at.aux, 1, {cells, node.tensor(aux).dims[2]}, true);
    if (!more) return;
    weights = Beside(*weights, *more);
  }
  const bool batch_major = std::get<int64_t>(attributes.at("batch_major")) != 0;
  const TensorId h = NextState(node, at.hidden, {node.tensor(x).dims[batch_major ? 0 : 1], cells});
  if (h == kNoTensor) return;
  const TensorId joined = Joined(node, x, aux);
  node.AddTo(Op::kRnn,
             {joined, AddConstant(node, std::move(*weights), "/weights"),
              AddConstant(node, std::move(*recurrent), "/recurrent"), AddConstant(node, std::move(*bias), "/bias"),
              node.input(at.hidden)},
             {y, h}, attributes);
}

/// The input whose columns say how wide the output is.
int WidthInput(const LstmInputs& at) {
  return at.recurrent + 1;
}
int WidthInput(const RnnInputs& at) {
  return at.recurrent;
}

/// Both directions; `add` adds one. The auxiliary input is more input, if it has weights, else the backward one's own.
template <typename Inputs, typename Add>
void AddBothWays(TfliteNode& node, const Inputs& forward, const Inputs& backward, TensorId aux, bool merge,
                 Attributes attributes, Add add) {
  const TensorId x = node.input(0);
  const bool joins = node.has_input(WidthInput(forward) - forward.recurrent + forward.aux);
  TensorId ys[2] = {node.output(0), merge ? kNoTensor : node.output(1)};
  for (int i = 0; merge && i < 2; ++i) {
    const int weights = WidthInput(i == 0 ? forward : backward);
    if (!CheckMatrix(node, weights)) return;
    Tensor half = node.tensor(node.output(0));
    if (half.dims.size() != 3) return node.Error("its output must have rank 3", node.output(0));
    half.dims[2] = node.tensor(node.input(weights)).dims[1];
    ys[i] = node.NewTensor(half, i == 0 ? "/forward" : "/backward");
  }
  if (aux != kNoTensor && !CheckSequenceInput(node, aux)) return;
  add(node, forward, x, joins ? aux : kNoTensor, ys[0], attributes);
  attributes["reverse"] = int64_t{1};
  add(node, backward, joins || aux == kNoTensor ? x : aux, joins ? aux : kNoTensor, ys[1], attributes);
  if (merge) node.AddTo(Op::kConcatenation, {ys[0], ys[1]}, {node.output(0)}, {{"axis", int64_t{2}}});
}

template <typename Options>
Attributes LstmAttributes(TfliteNode& node, const Options& options, bool batch_major) {
  const std::string function = GateFunctionName(node, options.fused_activation_function());
  return {{"candidate_function", function},
          {"cell_function", function},
          {"cell_clip", static_cast<double>(options.cell_clip())},
          {"projection_clip", static_cast<double>(options.proj_clip())},
          {"batch_major", int64_t{batch_major}}};
}

/// Rank 2 as one step of a sequence.
TensorId AsSequence(TfliteNode& node, TensorId id, const char* suffix) {
  Tensor sequence = node.tensor(id);
  sequence.dims.insert(sequence.dims.begin(), 1);
  return node.NewTensor(sequence, suffix);
}

/// TFLite's first kernel: one matrix for all gates (input, candidate, forget, output) and both operands.
void ImportBasicLstm(TfliteNode& node) {
  if (!node.CheckArity(5, 5, 4)) return;
  const TensorId x = node.input(0), h = node.input(1), c = node.input(4);
  for (TensorId id : {x, h, node.input(2), node.input(3), c})
    if (node.tensor(id).type != DataType::kFloat32)
      return node.Error("the basic kernel's operands must be float32", id);
  if (node.tensor(x).dims.size() != 2 || node.tensor(c).dims.size() != 2)
    return node.Error("its operands must have rank 2", x);
  const int32_t width = node.tensor(x).dims[1], cells = node.tensor(c).dims[1];
  if (!MayMake(node, DataType::kFloat32, {4, cells}, c) || !MayMake(node, DataType::kFloat32, {4, width}, x)) return;
  const auto weights = Stack(node, 2, 1, {4 * cells, width + cells}, true);
  const auto biases = Stack(node, 3, 1, {4 * cells}, true);
  if (!weights || !biases) return;
  const std::vector<float> all = Elements<float>(*weights), bias = Elements<float>(*biases);
  std::vector<float> w, r, b;
  for (const int32_t gate : {0, 2, 1, 3}) {
    for (int32_t k = gate * cells; k < (gate + 1) * cells; ++k) {
      const auto row = all.begin() + ptrdiff_t{k} * (width + cells);
      w.insert(w.end(), row, row + width);
      r.insert(r.end(), row + width, row + width + cells);
      b.push_back(bias[static_cast<size_t>(k)]);
    }
  }
  const auto constant = [&](const std::vector<float>& values, Dims dims, const char* suffix) {
    Tensor t;
    t.type = DataType::kFloat32;
    t.dims = std::move(dims);
    t.data = std::make_shared<const Bytes>(ToBytes(values));
    return AddConstant(node, std::move(t), suffix);
  };
  const TensorId x1 = AsSequence(node, x, "/sequence"), y = AsSequence(node, node.output(0), "/steps");
  node.AddTo(Op::kReshape, {x}, {x1});
  node.AddTo(Op::kLstm,
             {x1, constant(w, {4 * cells, width}, "/weights"), constant(r, {4 * cells, cells}, "/recurrent"),
              constant(b, {4 * cells}, "/bias"), h, c},
             {y, node.output(0), node.output(1)}, {});
}

}  // namespace

void ImportLstm(frontend::TfliteNode& node) {
  const auto* options = node.options<tflite::LSTMOptions>();
  if (options == nullptr) return node.Error("has no options; the file is damaged");
  if (options->kernel_type() == tflite::LSTMKernelType::BASIC) return ImportBasicLstm(node);
  if (!CheckCounts(node, 20, 24, 1)) return;
  if (node.tensor(node.input(0)).dims.size() != 2) return node.Error("its input must have rank 2");
  const TensorId x = AsSequence(node, node.input(0), "/sequence"), y = AsSequence(node, node.output(0), "/steps");
  node.AddTo(Op::kReshape, {node.input(0)}, {x});
  AddLstm(node, kOneWay, x, kNoTensor, y, LstmAttributes(node, *options, false));
  node.AddTo(Op::kReshape, {y}, {node.output(0)});
}

void ImportSequenceLstm(frontend::TfliteNode& node) {
  if (!CheckCounts(node, 20, 24, 1)) return;
  const auto* options = node.options<tflite::UnidirectionalSequenceLSTMOptions>();
  if (options == nullptr) return node.Error("has no options; the file is damaged");
  if (options->diagonal_recurrent_tensors()) return node.Error("has diagonal recurrent weights; export full matrices");
  AddLstm(node, kOneWay, node.input(0), kNoTensor, node.output(0),
          LstmAttributes(node, *options, !options->time_major()));
}

void ImportBidirectionalLstm(frontend::TfliteNode& node) {
  const auto* options = node.options<tflite::BidirectionalSequenceLSTMOptions>();
  if (options == nullptr) return node.Error("has no options; the file is damaged");
  if (!CheckCounts(node, 39, 48, options->merge_outputs() ? 1 : 2)) return;
  AddBothWays(node, kForward, kBackward, node.input(39), options->merge_outputs(),
              LstmAttributes(node, *options, !options->time_major()), AddLstm);
}

void ImportRnn(frontend::TfliteNode& node) {
  if (!node.CheckArity(5, 5, 1)) return;
  const auto* options = node.options<tflite::RNNOptions>();
  if (options == nullptr) return node.Error("has no options; the file is damaged");
  if (node.tensor(node.input(0)).dims.size() != 2) return node.Error("its input must have rank 2", node.input(0));
  const TensorId x = AsSequence(node, node.input(0), "/sequence"), y = AsSequence(node, node.output(0), "/steps");
  node.AddTo(Op::kReshape, {node.input(0)}, {x});
  AddRnn(node, {1, 2, 3, 4, -1}, x, kNoTensor, y,
         {{"candidate_function", GateFunctionName(node, options->fused_activation_function())},
          {"batch_major", int64_t{0}}});
  node.AddTo(Op::kReshape, {y}, {node.output(0)});
}

void ImportSequenceRnn(frontend::TfliteNode& node) {
  if (!node.CheckArity(5, 5, 1)) return;
  const auto* options = node.options<tflite::SequenceRNNOptions>();
  if (options == nullptr) return node.Error("has no options; the file is damaged");
  AddRnn(node, {1, 2, 3, 4, -1}, node.input(0), kNoTensor, node.output(0),
         {{"candidate_function", GateFunctionName(node, options->fused_activation_function())},
          {"batch_major", int64_t{!options->time_major()}}});
}

void ImportBidirectionalRnn(frontend::TfliteNode& node) {
  const auto* options = node.options<tflite::BidirectionalSequenceRNNOptions>();
  if (options == nullptr) return node.Error("has no options; the file is damaged");
  if (!node.CheckArity(9, 12, options->merge_outputs() ? 1 : 2)) return;
  AddBothWays(node, RnnInputs{1, 2, 3, 4, 10}, RnnInputs{5, 6, 7, 8, 11}, node.input(9), options->merge_outputs(),
              {{"candidate_function", GateFunctionName(node, options->fused_activation_function())},
               {"batch_major", int64_t{!options->time_major()}}},
              AddRnn);
}

}  // namespace takt::ir
