#include "converter/frontend/onnx_node.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <utility>

#include "converter/frontend/onnx_tensor.h"
#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"

namespace takt::frontend {
OnnxNode::OnnxNode(const onnx::NodeProto& proto, int opset, int index, std::vector<ir::TensorId> inputs,
                   ir::Graph& graph, Diagnostics& diagnostics, OnnxSubgraphs* subgraphs)
    : proto_(proto),
      opset_(opset),
      index_(index),
      inputs_(std::move(inputs)),
      outputs_(static_cast<size_t>(proto.output_size()), ir::kNoTensor),
      graph_(graph),
      diagnostics_(diagnostics),
      subgraphs_(subgraphs) {
  while (!inputs_.empty() && inputs_.back() == ir::kNoTensor) inputs_.pop_back();
}

const std::string& OnnxNode::op_type() const {
  return proto_.op_type();
}

int OnnxNode::output_count() const {
  return proto_.output_size();
}

std::string OnnxNode::input_name(int i) const {
  return i < proto_.input_size() ? proto_.input(i) : std::string();
}

void OnnxNode::Rewind(size_t first) {
  for (size_t i = first; i < graph_.nodes.size(); ++i)
    for (const ir::TensorId id : graph_.nodes[i].outputs) graph_.tensor(id) = {};
  graph_.nodes.resize(first);
}

const onnx::AttributeProto* OnnxNode::Find(const char* name, int type) {
  for (const onnx::AttributeProto& attribute : proto_.attribute()) {
    if (attribute.name() != name) continue;
    if (attribute.type() == type) return &attribute;
    Error(std::string("attribute ") + name + " has another type than the operator defines");
    return nullptr;
  }
  return nullptr;
}

bool OnnxNode::Has(const char* name) const {
  return std::any_of(proto_.attribute().begin(), proto_.attribute().end(),
                     [&](const auto& a) { return a.name() == name; });
}

int64_t OnnxNode::Int(const char* name, int64_t fallback) {
  const auto* attribute = Find(name, onnx::AttributeProto::INT);
  return attribute ? attribute->i() : fallback;
}

double OnnxNode::Float(const char* name, double fallback) {
  const auto* attribute = Find(name, onnx::AttributeProto::FLOAT);
  return attribute ? static_cast<double>(attribute->f()) : fallback;
}

std::string OnnxNode::String(const char* name, const std::string& fallback) {
  const auto* attribute = Find(name, onnx::AttributeProto::STRING);
  return attribute ? attribute->s() : fallback;
}

std::vector<int64_t> OnnxNode::Ints(const char* name, std::vector<int64_t> fallback) {
  const auto* attribute = Find(name, onnx::AttributeProto::INTS);
  if (attribute == nullptr) return fallback;
  return {attribute->ints().begin(), attribute->ints().end()};
}

std::vector<float> OnnxNode::Floats(const char* name) {
  const auto* attribute = Find(name, onnx::AttributeProto::FLOATS);
  if (attribute == nullptr) return {};
  return {attribute->floats().begin(), attribute->floats().end()};
}

std::vector<std::string> OnnxNode::Strings(const char* name) {
  const auto* attribute = Find(name, onnx::AttributeProto::STRINGS);
  if (attribute == nullptr) return {};
  return {attribute->strings().begin(), attribute->strings().end()};
}

DataType OnnxNode::TypeAttribute(const char* name) {
  return OnnxType(static_cast<int32_t>(Int(name, 0)));
}

std::optional<ir::Tensor> OnnxNode::TensorAttribute(const char* name) {
  const auto* attribute = Find(name, onnx::AttributeProto::TENSOR);
  if (attribute == nullptr) return std::nullopt;
  ir::Tensor constant;
  const std::string wrong = ReadOnnxTensor(attribute->t(), "", constant);
  if (wrong.empty()) return constant;
  Error(std::string("attribute ") + name + " " + wrong);
  return std::nullopt;
}

const onnx::GraphProto* OnnxNode::GraphAttribute(const char* name) {
  const auto* attribute = Find(name, onnx::AttributeProto::GRAPH);
  if (attribute != nullptr) return &attribute->g();
  Error(std::string("has no attribute ") + name + ", which holds a graph; the file is damaged");
  return nullptr;
}

bool OnnxNode::CheckInputs(int min, int max) {
  if (input_count() < min || input_count() > max) {
    Error("has " + std::to_string(input_count()) + " inputs; allowed are " + std::to_string(min) + " to " +
          std::to_string(max));
    return false;
  }
  for (int i = 0; i < min; ++i) {
    if (has_input(i)) continue;
    Error("input " + std::to_string(i) + " is absent; the operator needs it");
    return false;
  }
  return true;
}

bool OnnxNode::CheckOutputs(int count) {
  if (output_count() < 1) {
    Error("has no output");
    return false;
  }
  for (int i = count; i < output_count(); ++i) {
    if (proto_.output(i).empty()) continue;
    Error("output " + std::to_string(i) + " is not supported; export the model without it");
    return false;
  }
  return true;
}

std::optional<size_t> OnnxNode::Axis(int64_t axis, size_t rank) {
  const auto r = static_cast<int64_t>(rank);
  if (axis >= -r && axis < r) return static_cast<size_t>(axis < 0 ? axis + r : axis);
  Error("axis " + std::to_string(axis) + " is outside [-" + std::to_string(r) + ", " + std::to_string(r) + ")");
  return std::nullopt;
}

std::optional<std::vector<int64_t>> OnnxNode::Axes(std::vector<int64_t> axes, size_t rank) {
  for (int64_t& axis : axes) {
    const auto positive = Axis(axis, rank);
    if (!positive) return std::nullopt;
    axis = static_cast<int64_t>(*positive);
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) == axes.end()) return axes;
  Error("an axis is named twice");
  return std::nullopt;
}

ir::TensorId OnnxNode::BroadcastOperand() {
  const ir::TensorId b = input(1);
  if (opset_ >= 7 || Int("broadcast", 0) == 0 || !Has("axis")) return b;
  const size_t rank = dims(input(0)).size();
  const auto axis = Axis(Int("axis", 0), rank);
  if (!axis) return b;
  std::vector<int32_t> shape = dims(b);
  while (*axis + shape.size() < rank) shape.push_back(1);
  return Reshape(b, shape);
}

std::optional<std::vector<int64_t>> OnnxNode::ConstantInts(int i) {
  if (is_constant(input(i))) {
    if (auto values = ir::IntegerValues(tensor(input(i)))) return values;
  }
  Error("input " + std::to_string(i) +
            " must be a constant of integers; make the shapes static when exporting, or fix the "
            "input's dimensions with --shape",
        input(i));
  return std::nullopt;
}

std::optional<double> OnnxNode::ConstantScalar(int i) {
  if (is_constant(input(i)) && tensor(input(i)).element_count() == 1) {
    const ir::Tensor& t = tensor(input(i));
    if (t.type == DataType::kFloat32) return static_cast<double>(ir::Elements<float>(t)[0]);
    if (const auto values = ir::IntegerValues(t)) return static_cast<double>((*values)[0]);
  }
  Error("input " + std::to_string(i) + " must be a constant with one value", input(i));
  return std::nullopt;
}

std::vector<ir::TensorId> OnnxNode::EmitSeveral(Op op, std::vector<ir::TensorId> inputs,
                                                std::vector<ir::Tensor> outputs,
                                                std::map<std::string, ir::Attribute> attributes,
                                                std::vector<ir::Graph> bodies) {
  std::vector<ir::TensorId> nothing(outputs.size(), ir::kNoTensor);
  if (failed_) return nothing;
  ir::Node node;
  node.op = op;
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.bodies = std::move(bodies);
  node.sources = {index_};
  node.name = op_type();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const auto named = std::min(static_cast<int>(i), proto_.output_size() - 1);
    outputs[i].name = (named < 0 ? std::string() : proto_.output(named)) + "/" + OpName(op);
    node.outputs.push_back(graph_.AddTensor(std::move(outputs[i])));
  }
  std::vector<ir::TensorType> types;
  const std::string wrong = ir::InferTypes(graph_, node, types);
  if (!wrong.empty()) {
    Error(wrong);
    return nothing;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!SetType(types[i], graph_.tensor(node.outputs[i]))) return nothing;
  }
  graph_.nodes.push_back(std::move(node));
  return graph_.nodes.back().outputs;
}

bool OnnxNode::SetType(const ir::TensorType& type, ir::Tensor& made) {
  if (made.type == DataType::kNone) made.type = type.type;
  made.dims = type.dims;
  for (const int32_t dim : made.dims) {
    if (dim >= 1) continue;
    Error("its output would have dimension " + std::to_string(dim) + "; dimensions are positive");
    return false;
  }
  return true;
}

ir::TensorId OnnxNode::EmitTyped(Op op, std::vector<ir::TensorId> inputs, ir::Tensor output,
                                 std::map<std::string, ir::Attribute> attributes) {
  return EmitSeveral(op, std::move(inputs), {std::move(output)}, std::move(attributes))[0];
}

ir::TensorId OnnxNode::Emit(Op op, std::vector<ir::TensorId> inputs, std::map<std::string, ir::Attribute> attributes) {
  return EmitTyped(op, std::move(inputs), ir::Tensor(), std::move(attributes));
}

ir::TensorId OnnxNode::EmitShaped(Op op, ir::TensorId input, std::vector<int32_t> dims,
                                  std::map<std::string, ir::Attribute> attributes) {
  if (failed_) return ir::kNoTensor;
  ir::Tensor output;
  output.type = tensor(input).type;
  output.dims = std::move(dims);
  output.quantization = tensor(input).quantization;
  return EmitTyped(op, {input}, std::move(output), std::move(attributes));
}

/// Quantized weights stay constants of integers: what moves them moves the stored ones.
ir::TensorId OnnxNode::StoredConstant(ir::TensorId id) const {
  const int producer = graph_.ProducerOf(id);
  if (producer < 0 || graph_.nodes[static_cast<size_t>(producer)].op != Op::kDequantize) return ir::kNoTensor;
  const ir::TensorId stored = graph_.nodes[static_cast<size_t>(producer)].inputs[0];
  return is_constant(stored) ? stored : ir::kNoTensor;
}

ir::TensorId OnnxNode::Dequantized(ir::Tensor stored) {
  ir::Tensor real;
  real.type = DataType::kFloat32;
  return EmitTyped(Op::kDequantize, {graph_.AddTensor(std::move(stored))}, std::move(real));
}

ir::TensorId OnnxNode::Transpose(ir::TensorId id, const std::vector<int64_t>& permutation) {
  if (failed_ || ir::IsIdentity(permutation)) return id;
  if (is_constant(id)) return graph_.AddTensor(ir::Transposed(tensor(id), permutation));
  if (const ir::TensorId stored = StoredConstant(id); stored != ir::kNoTensor)
    return Dequantized(ir::Transposed(tensor(stored), permutation));
  ir::Tensor output;
  output.quantization = tensor(id).quantization;
  return EmitTyped(Op::kTranspose, {id}, std::move(output), {{"permutation", permutation}});
}

ir::TensorId OnnxNode::Reshape(ir::TensorId id, const std::vector<int32_t>& new_dims) {
  if (failed_ || dims(id) == new_dims) return id;
  if (const ir::TensorId stored = StoredConstant(id); stored != ir::kNoTensor) {
    ir::Tensor shaped = tensor(stored);
    const int axis = shaped.quantization->axis;
    const bool same_front = new_dims.size() > static_cast<size_t>(axis) &&
                            std::equal(new_dims.begin(), new_dims.begin() + axis + 1, shaped.dims.begin());
    const int64_t count = shaped.element_count();
    shaped.dims = new_dims;
    if (shaped.element_count() == count && (same_front || !shaped.quantization->per_channel()))
      return Dequantized(std::move(shaped));
  }
  if (!is_constant(id)) return EmitShaped(Op::kReshape, id, new_dims);
  ir::Tensor shaped = tensor(id);
  const int64_t count = shaped.element_count();
  shaped.dims = new_dims;
  if (shaped.element_count() == count) return graph_.AddTensor(std::move(shaped));
  Error("cannot reshape a constant of " + std::to_string(count) + " elements", id);
  return ir::kNoTensor;
}

ir::TensorId OnnxNode::ToNhwc(ir::TensorId id) {
  if (failed_) return id;
  const std::vector<int32_t> d = dims(id);
  if (d.size() == 4) return Transpose(id, {0, 2, 3, 1});
  if (d.size() == 5) return Transpose(id, {0, 2, 3, 4, 1});
  if (d.size() == 3) return Reshape(Transpose(id, {0, 2, 1}), {d[0], 1, d[2], d[1]});
  Error("takes tensors of rank 3 to 5; this one has rank " + std::to_string(d.size()), id);
  return ir::kNoTensor;
}

ir::TensorId OnnxNode::FromNhwc(ir::TensorId id, size_t rank) {
  if (failed_) return id;
  if (rank == 4) return Transpose(id, {0, 3, 1, 2});
  if (rank == 5) return Transpose(id, {0, 4, 1, 2, 3});
  const std::vector<int32_t> d = dims(id);
  return Transpose(Reshape(id, {d[0], d[2], d[3]}), {0, 2, 1});
}

ir::TensorId OnnxNode::Constant(DataType type, std::vector<int32_t> new_dims, ir::Bytes bytes) {
  const std::string name = proto_.output_size() > 0 ? proto_.output(0) : proto_.op_type();
  return graph_.AddConstant(name + "/constant", type, std::move(new_dims), std::move(bytes));
}

ir::TensorId OnnxNode::Constant(ir::Tensor constant) {
  constant.name = (proto_.output_size() > 0 ? proto_.output(0) : proto_.op_type()) + "/constant";
  return graph_.AddTensor(std::move(constant));
}

ir::TensorId OnnxNode::FloatConstant(std::vector<int32_t> new_dims, const std::vector<float>& values) {
  return Constant(DataType::kFloat32, std::move(new_dims), ir::ToBytes(values));
}

ir::TensorId OnnxNode::QuantizedInput(ir::TensorId id, ir::Quantization int8) {
  if (failed_) return ir::kNoTensor;
  ir::Quantization own = int8;
  const bool is_unsigned = tensor(id).type == DataType::kUint8;
  for (int32_t& zero_point : own.zero_points) zero_point += is_unsigned ? 128 : 0;
  graph_.tensor(id).quantization = std::move(own);
  if (!is_unsigned) return id;
  ir::Tensor stored;
  stored.type = DataType::kInt8;
  stored.quantization = std::move(int8);
  return EmitTyped(Op::kRequantize, {id}, std::move(stored));
}

void OnnxNode::Error(std::string message, ir::TensorId id) {
  if (!failed_) {
    const std::string name = proto_.name().empty() ? op_type() : op_type() + " " + proto_.name();
    diagnostics_.Error({graph_.name, index_, name, id == ir::kNoTensor ? std::string() : tensor(id).name},
                       std::move(message));
  }
  failed_ = true;
}

void OnnxNode::Note(std::string message) {
  diagnostics_.Note({graph_.name, index_, proto_.name().empty() ? op_type() : op_type() + " " + proto_.name(), ""},
                    std::move(message));
}

}  // namespace takt::frontend
