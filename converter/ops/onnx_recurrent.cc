// ONNX's LSTM, GRU and RNN as lstm, gru and rnn nodes, one for each direction.
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/recurrent.h"

namespace takt::ir {
namespace {

using frontend::OnnxNode;
using Attributes = std::map<std::string, Attribute>;
using Dims = std::vector<int32_t>;
using Values = std::vector<float>;

/// What tells the three operators apart. `order`: place in ONNX's stack of each gate of the op. `peepholes` likewise.
struct CellKind {
  Op op;
  std::vector<size_t> order;
  std::vector<std::string> functions;      ///< Default activations of one direction, in ONNX's names.
  std::vector<const char*> function_keys;  ///< The op's attributes for them.
};

const CellKind kLstm = {
    Op::kLstm, {0, 2, 3, 1}, {"Sigmoid", "Tanh", "Tanh"}, {"gate_function", "candidate_function", "cell_function"}};
const CellKind kGru = {Op::kGru, {0, 1, 2}, {"Sigmoid", "Tanh"}, {"gate_function", "candidate_function"}};
const CellKind kRnn = {Op::kRnn, {0}, {"Tanh"}, {"candidate_function"}};

std::string FunctionName(const std::string& onnx) {
  static const std::map<std::string, std::string> kNames = {
      {"Sigmoid", "logistic"}, {"Tanh", "tanh"}, {"Relu", "relu"}, {"Identity", "identity"}};
  const auto at = kNames.find(onnx);
  return at == kNames.end() ? "" : at->second;
}

/// One operator: its sizes, and its constants direction by direction.
class Importer {
 public:
  Importer(OnnxNode& node, const CellKind& kind) : node_(node), kind_(kind) {}

  void Run() {
    if (!CheckOperands()) return;
    std::vector<std::vector<TensorId>> outputs;
    for (size_t d = 0; d < directions_ && !node_.failed(); ++d) outputs.push_back(AddDirection(d));
    if (node_.failed()) return;
    for (size_t i = 0; i < outputs[0].size() && static_cast<int>(i) < node_.output_count(); ++i) {
      std::vector<TensorId> parts;
      for (const auto& direction : outputs) parts.push_back(direction[i]);
      node_.SetOutput(static_cast<int>(i), Joined(parts, i == 0));
    }
  }

 private:
  bool CheckOperands();
  bool CheckConstants();
  std::optional<Attributes> DirectionAttributes(size_t direction);
  std::vector<TensorId> AddDirection(size_t direction);
  TensorId InitialState(int input, size_t direction);
  TensorId Joined(const std::vector<TensorId>& parts, bool sequence);

  bool Fail(std::string message) { return node_.Error(std::move(message)), false; }
  /// The share of a direction in a constant, zeros if the input is absent.
  Values Share(int input, size_t direction, size_t count) const {
    if (!node_.has_input(input)) return Values(count);
    const Values all = Elements<float>(node_.tensor(node_.input(input)));
    const auto begin = all.begin() + static_cast<ptrdiff_t>(direction * count);
    return {begin, begin + static_cast<ptrdiff_t>(count)};
  }
  /// Blocks of `size` values in another order.
  static Values Reordered(const Values& values, const std::vector<size_t>& order, size_t size) {
    Values result;
    for (const size_t block : order) {
      const auto begin = values.begin() + static_cast<ptrdiff_t>(block * size);
      result.insert(result.end(), begin, begin + static_cast<ptrdiff_t>(size));
    }
    return result;
  }

  OnnxNode& node_;
  const CellKind& kind_;
  size_t directions_ = 1, gates_ = 1;
  bool batch_major_ = false, reverse_ = false;
  int32_t inputs_ = 0, cells_ = 0, batches_ = 0, steps_ = 0;
};

bool Importer::CheckOperands() {
  const bool lstm = kind_.op == Op::kLstm;
  if (!node_.CheckInputs(3, lstm ? 8 : 6) || !node_.CheckOutputs(lstm ? 3 : 2)) return false;
  const std::string direction = node_.String("direction", "forward");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return Fail("direction \"" + direction + "\" is not one of forward, reverse, bidirectional");
  directions_ = direction == "bidirectional" ? 2 : 1;
  reverse_ = direction == "reverse";
  batch_major_ = node_.Int("layout", 0) != 0;
  if (node_.Int("input_forget", 0) != 0)
    return Fail("couples its input and forget gates; export it without input_forget");
  const Dims& x = node_.dims(node_.input(0));
  if (x.size() != 3) return Fail("input " + DimsText(x) + " is not of rank 3");
  inputs_ = x[2], batches_ = x[batch_major_ ? 0 : 1], steps_ = x[batch_major_ ? 1 : 0];
  gates_ = kind_.order.size();
  return CheckConstants();
}

bool Importer::CheckConstants() {
  const Dims recurrent = node_.dims(node_.input(2));
  if (recurrent.size() != 3) return Fail("recurrent weights " + DimsText(recurrent) + " are not of rank 3");
  cells_ = recurrent[2];
  if (!MayMake(node_, DataType::kFloat32, {8, cells_}, node_.input(2))) return false;
  const auto d = static_cast<int32_t>(directions_), g = static_cast<int32_t>(gates_);
  std::vector<std::pair<int, Dims>> constants = {
      {1, {d, g * cells_, inputs_}}, {2, {d, g * cells_, cells_}}, {3, {d, 2 * g * cells_}}};
  if (kind_.op == Op::kLstm) constants.push_back({7, {d, 3 * cells_}});
  for (const auto& [i, dims] : constants) {
    if (!node_.has_input(i)) continue;
    if (!node_.is_constant(node_.input(i)) || node_.tensor(node_.input(i)).type != DataType::kFloat32)
      return node_.Error("input " + std::to_string(i) + " must be a float32 constant", node_.input(i)), false;
    if (node_.dims(node_.input(i)) != dims)
      return node_.Error("input " + std::to_string(i) + " is " + DimsText(node_.dims(node_.input(i))) + ", not " +
                             DimsText(dims),
                         node_.input(i)),
             false;
  }
  if (!node_.has_input(4)) return true;
  const auto lengths = node_.ConstantInts(4);
  if (!lengths) return false;
  return std::all_of(lengths->begin(), lengths->end(), [this](int64_t n) { return n == steps_; }) ||
         Fail("has sequences shorter than its input; all must have " + std::to_string(steps_) + " steps");
}

std::optional<Attributes> Importer::DirectionAttributes(size_t direction) {
  const std::vector<std::string> given = node_.Strings("activations");
  const size_t count = kind_.functions.size();
  if (!given.empty() && given.size() != directions_ * count) {
    Fail("names " + std::to_string(given.size()) + " activations, not " + std::to_string(directions_ * count));
    return std::nullopt;
  }
  Attributes attributes = {{"clip", node_.Float("clip", 0)},
                           {"batch_major", int64_t{batch_major_}},
                           {"reverse", int64_t{reverse_ || direction == 1}}};
  for (size_t i = 0; i < count; ++i) {
    const std::string& onnx = given.empty() ? kind_.functions[i] : given[direction * count + i];
    const std::string name = FunctionName(onnx);
    if (name.empty()) {
      Fail("has activation " + onnx + "; supported are Sigmoid, Tanh, Relu and Identity");
      return std::nullopt;
    }
    attributes[kind_.function_keys[i]] = name;
  }
  if (kind_.op == Op::kGru) attributes["linear_before_reset"] = int64_t{node_.Int("linear_before_reset", 0) != 0};
  return attributes;
}

/// [directions, B, C], [B, directions, C] if batch_major; zeros if absent.
TensorId Importer::InitialState(int input, size_t direction) {
  if (!node_.has_input(input)) {
    if (!MayMake(node_, DataType::kFloat32, {batches_, cells_})) return kNoTensor;
    return node_.FloatConstant({batches_, cells_}, Values(static_cast<size_t>(batches_) * static_cast<size_t>(cells_)));
  }
  TensorId id = node_.input(input);
  const auto d = static_cast<int32_t>(directions_);
  const Dims all = batch_major_ ? Dims{batches_, d, cells_} : Dims{d, batches_, cells_};
  if (node_.dims(id) != all) {
    node_.Error("initial state is " + DimsText(node_.dims(id)) + ", not " + DimsText(all), id);
    return kNoTensor;
  }
  if (directions_ == 2) {
    const auto at = static_cast<int64_t>(direction);
    const std::vector<int64_t> begin = batch_major_ ? std::vector<int64_t>{0, at, 0} : std::vector<int64_t>{at, 0, 0};
    const Dims one = batch_major_ ? Dims{batches_, 1, cells_} : Dims{1, batches_, cells_};
    id = node_.EmitShaped(Op::kSlice, id, one, {{"begin", begin}, {"strides", std::vector<int64_t>{1, 1, 1}}});
  }
  return node_.Reshape(id, {batches_, cells_});
}

std::vector<TensorId> Importer::AddDirection(size_t direction) {
  auto attributes = DirectionAttributes(direction);
  if (!attributes) return {};
  const auto cells = static_cast<size_t>(cells_), inputs = static_cast<size_t>(inputs_), rows = gates_ * cells;
  const auto rows32 = static_cast<int32_t>(rows);
  const Values weights = Reordered(Share(1, direction, rows * inputs), kind_.order, cells * inputs);
  const Values recurrent = Reordered(Share(2, direction, rows * cells), kind_.order, cells * cells);
  const Values biases = Share(3, direction, 2 * rows);
  Values bias = Reordered(biases, kind_.order, cells);
  const Values second = Reordered({biases.begin() + static_cast<ptrdiff_t>(rows), biases.end()}, kind_.order, cells);
  const size_t summed = kind_.op == Op::kGru ? 2 * cells : rows;  // The candidate's stays apart.
  for (size_t i = 0; i < summed; ++i) bias[i] += second[i];
  std::vector<TensorId> operands = {node_.input(0), node_.FloatConstant({rows32, inputs_}, weights),
                                    node_.FloatConstant({rows32, cells_}, recurrent),
                                    node_.FloatConstant({rows32}, bias), InitialState(5, direction)};
  if (kind_.op == Op::kGru)
    operands.push_back(node_.FloatConstant({cells_}, {second.begin() + static_cast<ptrdiff_t>(summed), second.end()}));
  if (kind_.op == Op::kLstm) {
    operands.push_back(InitialState(6, direction));
    if (node_.has_input(7))  // Of the input, output and forget gates.
      operands.push_back(node_.FloatConstant({3, cells_}, Reordered(Share(7, direction, 3 * cells), {0, 2, 1}, cells)));
  }
  return node_.EmitSeveral(kind_.op, std::move(operands), std::vector<Tensor>(kind_.op == Op::kLstm ? 3 : 2),
                           std::move(*attributes));
}

/// Outputs of all directions as ONNX has them: [T, directions, B, C] or [directions, B, C]; batch_major: B in front.
TensorId Importer::Joined(const std::vector<TensorId>& parts, bool sequence) {
  const size_t axis = (sequence ? 1 : 0) + (batch_major_ ? 1 : 0);
  std::vector<TensorId> shaped;
  for (const TensorId part : parts) {
    Dims dims = node_.dims(part);
    dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), 1);
    shaped.push_back(node_.Reshape(part, dims));
  }
  if (shaped.size() == 1) return shaped[0];
  return node_.Emit(Op::kConcatenation, shaped, {{"axis", static_cast<int64_t>(axis)}});
}

}  // namespace

void ImportOnnxLstm(frontend::OnnxNode& node) {
  Importer(node, kLstm).Run();
}
void ImportOnnxGru(frontend::OnnxNode& node) {
  Importer(node, kGru).Run();
}
void ImportOnnxRnn(frontend::OnnxNode& node) {
  Importer(node, kRnn).Run();
}

}  // namespace takt::ir
