#include "converter/frontend/tflite_node.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"

namespace takt::frontend {

TfliteNode::TfliteNode(const tflite::SubGraph& subgraph, const tflite::Operator& op, const char* name, int version,
                       int index, ir::Graph& graph, Diagnostics& diagnostics, bool reshaped)
    : subgraph_(subgraph),
      op_(op),
      name_(name),
      version_(version),
      index_(index),
      reshaped_(reshaped),
      graph_(graph),
      diagnostics_(diagnostics) {
  if (op.inputs() != nullptr) inputs_.assign(op.inputs()->begin(), op.inputs()->end());
  if (op.outputs() != nullptr) outputs_.assign(op.outputs()->begin(), op.outputs()->end());
}

std::optional<ir::Quantization> TfliteNode::Intermediate(uint32_t i) const {
  const auto* ids = op_.intermediates();
  if (ids == nullptr || i >= ids->size()) return std::nullopt;
  const auto id = static_cast<uint32_t>(ids->Get(i));
  if (id >= subgraph_.tensors()->size()) return std::nullopt;
  const auto* q = subgraph_.tensors()->Get(id)->quantization();
  if (q == nullptr || q->scale() == nullptr || q->scale()->size() != 1) return std::nullopt;
  const int64_t zero_point = q->zero_point() != nullptr && q->zero_point()->size() == 1 ? q->zero_point()->Get(0) : 0;
  const float scale = q->scale()->Get(0);
  if (!std::isfinite(scale) || scale <= 0 || zero_point < INT16_MIN || zero_point > INT16_MAX) return std::nullopt;
  return ir::Quantization{{scale}, {static_cast<int32_t>(zero_point)}, 0};
}

bool TfliteNode::CheckArity(int min_inputs, int max_inputs, int outputs) {
  if (input_count() < min_inputs || input_count() > max_inputs || output_count() != outputs) {
    Error("has " + std::to_string(input_count()) + " inputs and " + std::to_string(output_count()) +
          " outputs; allowed are " + std::to_string(min_inputs) + " to " + std::to_string(max_inputs) + " inputs and " +
          std::to_string(outputs) + " outputs");
    return false;
  }
  for (int i = 0; i < min_inputs; ++i) {
    if (!has_input(i)) {
      Error("input " + std::to_string(i) + " is absent; the operator needs it");
      return false;
    }
  }
  return true;
}

std::optional<Body> TfliteNode::Subgraph(int index, const std::vector<const ir::Tensor*>& constants) {
  const std::string refusal = subgraphs_->Refusal(index);
  if (refusal.empty()) return subgraphs_->Read(index, constants);
  Error(refusal);
  return std::nullopt;
}

std::optional<std::vector<int64_t>> TfliteNode::ConstantInts(int i) {
  if (!has_input(i)) {
    Error("input " + std::to_string(i) + " is absent; it must be a constant");
    return std::nullopt;
  }
  const ir::Tensor& t = tensor(input(i));
  if (!t.is_constant() || (t.type != DataType::kInt32 && t.type != DataType::kInt64)) {
    Error("input " + std::to_string(i) + " must be a constant of int32 or int64; make it one when exporting", input(i));
    return std::nullopt;
  }
  auto values = ir::IntegerValues(t);
  for (int64_t value : *values) {
    if (value >= INT32_MIN && value <= INT32_MAX) continue;
    Error("input " + std::to_string(i) + " has value " + std::to_string(value) + "; allowed are those of int32",
          input(i));
    return std::nullopt;
  }
  return values;
}

std::optional<size_t> TfliteNode::Axis(int64_t axis, size_t rank) {
  const auto size = static_cast<int64_t>(rank);
  if (axis >= -size && axis < size) return static_cast<size_t>(axis < 0 ? axis + size : axis);
  Error("has axis " + std::to_string(axis) + " of " + std::to_string(rank) +
        " dimensions; an axis names one of them, from 0, or from -1 backwards");
  return std::nullopt;
}

bool TfliteNode::SetDims(int i, const std::vector<int32_t>& dims) {
  if (const std::string wrong = ir::WhyTooLarge(dims); !wrong.empty()) return Error(wrong, output(i)), false;
  std::vector<int32_t>& recorded = graph_.tensor(output(i)).dims;
  if (reshaped_) recorded = dims;
  if (recorded == dims) return true;
  Error("gives an output of shape " + ir::DimsText(dims) + ", but the file records " + ir::DimsText(recorded) +
            "; export it anew",
        output(i));
  return false;
}

void TfliteNode::SetConstant(int i, ir::Bytes bytes) {
  if (!graph_.IsOutput(output(i))) {
    graph_.tensor(output(i)).data = std::make_shared<const ir::Bytes>(std::move(bytes));
    return;
  }
  const ir::TensorId constant = NewTensor(tensor(output(i)), "/constant");
  graph_.tensor(constant).data = std::make_shared<const ir::Bytes>(std::move(bytes));
  AddTo(Op::kCopy, {constant}, {output(i)});
}

ir::Node& TfliteNode::Add(Op op, std::vector<ir::TensorId> inputs, std::map<std::string, ir::Attribute> attributes) {
  return AddTo(op, std::move(inputs), outputs_, std::move(attributes));
}

ir::Node& TfliteNode::AddTo(Op op, std::vector<ir::TensorId> inputs, std::vector<ir::TensorId> outputs,
                            std::map<std::string, ir::Attribute> attributes) {
  ir::Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  node.sources = {index_};
  node.name = name_;
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back();
}

ir::TensorId TfliteNode::NewTensor(const ir::Tensor& model, const std::string& suffix) {
  if (const std::string wrong = ir::WhyTooLarge(model.dims); !wrong.empty()) Error(wrong);
  ir::Tensor made;
  made.name = (outputs_.empty() ? std::string() : tensor(outputs_[0]).name) + suffix;
  made.type = model.type;
  made.dims = model.dims;
  made.quantization = model.quantization;
  return graph_.AddTensor(std::move(made));
}

ir::TensorId TfliteNode::Emit(Op op, std::vector<ir::TensorId> inputs,
                              std::map<std::string, ir::Attribute> attributes) {
  const std::string suffix = std::string("/") + OpName(op) + std::to_string(graph_.nodes.size());
  const ir::TensorId output = NewTensor(ir::Tensor(), suffix);
  ir::Node& node = AddTo(op, std::move(inputs), {output}, std::move(attributes));
  std::vector<ir::TensorType> types;
  const std::string reason = ir::InferTypes(graph_, node, types);
  if (!reason.empty()) {
    Error(reason);
  } else {
    graph_.tensor(output).type = types[0].type;
    graph_.tensor(output).dims = types[0].dims;
  }
  return output;
}

ir::TensorId TfliteNode::ToFloat(ir::TensorId id) {
  if (tensor(id).type == DataType::kFloat32) return id;
  Note("is computed in float32: this operand is dequantized first", id);
  ir::Tensor real;
  real.type = DataType::kFloat32;
  real.dims = tensor(id).dims;
  const ir::TensorId output = NewTensor(real, "/dequantized" + std::to_string(graph_.nodes.size()));
  AddTo(Op::kDequantize, {id}, {output});
  return output;
}

void TfliteNode::AddFloat(Op op, std::vector<ir::TensorId> inputs, std::map<std::string, ir::Attribute> attributes) {
  if (tensor(outputs_[0]).type == DataType::kFloat32) {
    Add(op, std::move(inputs), std::move(attributes));
  } else {
    Add(Op::kQuantize, {Emit(op, std::move(inputs), std::move(attributes))});
  }
}

ir::TensorId TfliteNode::ToOutputScale(ir::TensorId id) {
  const ir::Tensor& output = tensor(outputs_[0]);
  if (!output.quantization || output.quantization == tensor(id).quantization) return id;
  Note("has an operand of another scale than its output: the operand is requantized first", id);
  ir::Tensor scaled = tensor(id);
  scaled.quantization = output.quantization;
  const ir::TensorId made = NewTensor(scaled, "/requantized" + std::to_string(graph_.nodes.size()));
  AddTo(Op::kRequantize, {id}, {made});
  return made;
}

ir::TensorId TfliteNode::Scalar(float value) {
  ir::Bytes bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return graph_.AddConstant(tensor(outputs_[0]).name + "/constant" + std::to_string(graph_.tensors.size()),
                            DataType::kFloat32, {}, std::move(bytes));
}

ir::TensorId TfliteNode::NextState(int i) {
  const ir::TensorId id = input(i);
  if (id == ir::kNoTensor || tensor(id).is_constant() || graph_.IsInput(id) || graph_.ProducerOf(id) >= 0) {
    Error("input " + std::to_string(i) + " must be a variable tensor without data that no other operator updates", id);
    return ir::kNoTensor;
  }
  ir::Tensor next = tensor(id);
  next.name += "/next";
  graph_.tensor(id).source = -1;  // What a person looks for is the value after the invocation.
  const ir::TensorId made = graph_.AddTensor(std::move(next));
  const ir::Tensor& state = tensor(id);
  ir::TensorId initial = ir::kNoTensor;
  if (state.type == DataType::kInt8 && state.quantization && state.quantization->zero_points.at(0) != 0) {
    if (!ir::MayMake(*this, state.type, {state.dims.begin(), state.dims.end()}, id)) return ir::kNoTensor;
    const auto zero = static_cast<uint8_t>(state.quantization->zero_points[0]);
    initial = graph_.AddConstant(state.name + "/initial", state.type, state.dims,
                                 ir::Bytes(static_cast<size_t>(state.byte_size()), zero));
  }
  graph_.states.push_back({id, made, initial});
  return made;
}

std::string TfliteNode::Activation(tflite::ActivationFunctionType activation) {
  switch (activation) {
    case tflite::ActivationFunctionType::NONE:
      return "none";
    case tflite::ActivationFunctionType::RELU:
      return "relu";
    case tflite::ActivationFunctionType::RELU_N1_TO_1:
      return "relu_n1_to_1";
    case tflite::ActivationFunctionType::RELU6:
      return "relu6";
    default:
      break;
  }
  Error("fused activation " + std::to_string(static_cast<int>(activation)) +
        " is not supported; allowed are none, relu, relu_n1_to_1 and relu6");
  return "none";
}

void TfliteNode::Error(std::string message, ir::TensorId id) {
  diagnostics_.Error({graph_.name, index_, name_, id == ir::kNoTensor ? std::string() : tensor(id).name},
                     std::move(message));
}

void TfliteNode::Note(std::string message, ir::TensorId id) {
  diagnostics_.Note({graph_.name, index_, name_, id == ir::kNoTensor ? std::string() : tensor(id).name},
                    std::move(message));
}

}  // namespace takt::frontend
