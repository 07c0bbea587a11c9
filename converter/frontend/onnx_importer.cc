#include "converter/frontend/onnx_importer.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>
#include <set>

#include "converter/frontend/onnx_evaluation.h"
#include "converter/frontend/onnx_functions.h"
#include "converter/frontend/onnx_node.h"
#include "converter/frontend/onnx_operators.h"
#include "converter/frontend/onnx_tensor.h"
#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"

namespace takt::frontend {
namespace {

constexpr int kMaxRank = 6;
constexpr int kMaxDepth = 16;           ///< Of functions that call functions.
constexpr size_t kMaxInlined = 100000;  ///< Nodes of their bodies.

std::string Joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

class Importer {
 public:
  Importer(std::span<const uint8_t> bytes, const std::string& name, const OnnxOptions& options,
           Diagnostics& diagnostics)
      : bytes_(bytes), options_(options), diagnostics_(diagnostics) {
    graph_.name = name;
  }

  std::optional<ir::Graph> Run();

 private:
  bool ReadFile();
  void ReadInitializer(const onnx::TensorProto& source);
  void ReadInput(const onnx::ValueInfoProto& input);
  bool ReadDims(const onnx::ValueInfoProto& input, ir::Tensor& tensor);
  void CheckOperators();
  void ReadNode(const onnx::NodeProto& proto, int index, int opset, int depth = 0);
  bool Expand(const onnx::NodeProto& proto, int index, int opset, int depth, const std::vector<ir::TensorId>& inputs);
  void Import(const onnx::NodeProto& proto, OnnxNode& node, const OnnxOperator& found);
  void SetOutputs(const onnx::NodeProto& proto, const OnnxNode& node, size_t tensors_before);
  void ReadOutput(const onnx::ValueInfoProto& output);
  ir::TensorId AddOutputStep(Op op, ir::TensorId from, ir::Tensor to);
  void DropUnread();
  void RunChecker();
  void Define(const std::string& name, ir::TensorId id);
  void Error(std::string message, const std::string& tensor = "") {
    diagnostics_.Error({graph_.name, -1, "", tensor}, std::move(message));
  }
  ModelLocation At(const onnx::NodeProto& proto, int index) const {
    return {graph_.name, index, proto.name().empty() ? proto.op_type() : proto.op_type() + " " + proto.name(), ""};
  }

  std::span<const uint8_t> bytes_;
  const OnnxOptions& options_;
  Diagnostics& diagnostics_;
  onnx::ModelProto model_;
  int opset_ = 0;
  size_t inlined_ = 0;
  std::map<std::string, ir::TensorId> values_;  ///< kNoTensor: could not be imported, and an error says why.
  ir::Graph graph_;
};

bool Importer::ReadFile() {
  if (bytes_.size() > static_cast<size_t>(std::numeric_limits<int>::max()) ||
      !model_.ParseFromArray(bytes_.data(), static_cast<int>(bytes_.size())) || !model_.has_graph()) {
    Error("is not an ONNX file, or a damaged one: it does not parse as a ModelProto with a graph");
    return false;
  }
  for (const auto& opset : model_.opset_import()) {
    if (IsStandardDomain(opset.domain())) {
      opset_ = static_cast<int>(std::clamp<int64_t>(opset.version(), 0, std::numeric_limits<int>::max()));
    }
  }
  if (opset_ < kMinOnnxOpset || opset_ > kMaxOnnxOpset) {
    Error("uses opset " + std::to_string(opset_) + " of the standard operators; opsets " +
          std::to_string(kMinOnnxOpset) + " to " + std::to_string(kMaxOnnxOpset) +
          " are read: export the model with one of them");
  }
  if (model_.graph().sparse_initializer_size() > 0) Error("has sparse initializers; store weights as dense tensors");
  return true;
}

void Importer::Define(const std::string& name, ir::TensorId id) {
  if (!values_.emplace(name, id).second) Error("is written twice; each value has one source", name);
}

void Importer::ReadInitializer(const onnx::TensorProto& source) {
  ir::Tensor tensor;
  const std::string wrong = ReadOnnxTensor(source, options_.folder, tensor);
  if (!wrong.empty()) Error(wrong, source.name());
  Define(source.name(), wrong.empty() ? graph_.AddTensor(std::move(tensor)) : ir::kNoTensor);
}

bool Importer::ReadDims(const onnx::ValueInfoProto& input, ir::Tensor& tensor) {
  const auto& shape = input.type().tensor_type().shape();
  const auto given = options_.shapes.find(input.name());
  if (given != options_.shapes.end()) {
    if (input.type().tensor_type().has_shape() && static_cast<size_t>(shape.dim_size()) != given->second.size()) {
      return Error("has rank " + std::to_string(shape.dim_size()) + " in the model, and --shape gives " +
                       std::to_string(given->second.size()) + " dimensions",
                   input.name()),
             false;
    }
    tensor.dims = given->second;
  } else {
    if (!input.type().tensor_type().has_shape()) {
      return Error("has no shape in the model; give it with --shape " + input.name() + "=1x3x224x224", input.name()),
             false;
    }
    for (int i = 0; i < shape.dim_size(); ++i) {
      int64_t size = shape.dim(i).has_dim_value() ? shape.dim(i).dim_value() : 0;
      if (size <= 0 && i == 0) {
        size = 1;
        diagnostics_.Note({graph_.name, -1, "", input.name()},
                          "has a dynamic batch; 1 is used (--shape chooses another)");
      }
      if (size <= 0 || size > std::numeric_limits<int32_t>::max()) {
        return Error("dimension " + std::to_string(i) + " is dynamic (" + shape.dim(i).dim_param() +
                         "); fix the shape with --shape " + input.name() + "=1x3x224x224",
                     input.name()),
               false;
      }
      tensor.dims.push_back(static_cast<int32_t>(size));
    }
  }
  int64_t count = 1;
  for (int32_t dim : tensor.dims) {
    if (dim < 1 || count > (int64_t{1} << 31) / dim) {
      return Error("has dimension " + std::to_string(dim) +
                       "; dimensions are positive and a tensor has at most 2^31 elements",
                   input.name()),
             false;
    }
    count *= dim;
  }
  if (tensor.dims.size() > kMaxRank) return Error("has more than 6 dimensions", input.name()), false;
  return true;
}

void Importer::ReadInput(const onnx::ValueInfoProto& input) {
  if (values_.count(input.name())) return;  // The default of an initializer, which counts as constant.
  ir::Tensor tensor;
  tensor.name = input.name();
  ir::TensorId id = ir::kNoTensor;
  if (!input.type().has_tensor_type()) {
    Error("is not a tensor (sequences, maps and optionals are not supported)", input.name());
  } else if (tensor.type = OnnxType(input.type().tensor_type().elem_type()); tensor.type == DataType::kNone) {
    Error("has type " + OnnxTypeName(input.type().tensor_type().elem_type()) + ", which is not supported",
          input.name());
  } else if (ReadDims(input, tensor)) {
    if (tensor.type == DataType::kFloat32 && input.type().tensor_type().elem_type() != onnx::TensorProto::FLOAT) {
      diagnostics_.Note(
          {graph_.name, -1, "", input.name()},
          "has type " + OnnxTypeName(input.type().tensor_type().elem_type()) + ", and is bound as float32");
    }
    const bool swap = options_.nhwc_inputs && tensor.dims.size() == 4;
    const std::vector<int32_t> dims = tensor.dims;
    tensor.source = static_cast<int32_t>(graph_.inputs.size());
    if (swap) tensor.dims = ir::Permuted(dims, std::vector<int64_t>{0, 2, 3, 1});
    id = graph_.AddTensor(tensor);
    graph_.inputs.push_back(id);
    if (swap) {
      ir::Node node;
      node.op = Op::kTranspose;
      node.inputs = {id};
      node.attributes["permutation"] = std::vector<int64_t>{0, 3, 1, 2};
      node.name = "input layout";
      tensor.name += "/nchw";
      tensor.dims = dims;
      id = graph_.AddTensor(tensor);
      node.outputs = {id};
      graph_.nodes.push_back(std::move(node));
    }
  }
  Define(input.name(), id);
}

void Importer::CheckOperators() {
  bool listed = false;
  for (int i = 0; i < model_.graph().node_size(); ++i) {
    const onnx::NodeProto& node = model_.graph().node(i);
    if (HasFunctionBody(model_, node, opset_)) continue;
    if (!IsStandardDomain(node.domain())) {
      diagnostics_.Error(At(node, i),
                         "is an operator of domain '" + node.domain() + "'; export with standard operators only");
    } else if (const std::string wrong = WhyUnsupported(node.op_type(), opset_); !wrong.empty()) {
      diagnostics_.Error(At(node, i), wrong);
      if (!listed) diagnostics_.Note({graph_.name, -1, "", ""}, "supported operators: " + Joined(OnnxOperators()));
      listed = true;
    }
  }
}

void Importer::SetOutputs(const onnx::NodeProto& proto, const OnnxNode& node, size_t tensors_before) {
  for (int i = 0; i < proto.output_size(); ++i) {
    if (proto.output(i).empty()) continue;
    const ir::TensorId id = node.failed() ? ir::kNoTensor : node.outputs()[static_cast<size_t>(i)];
    if (id != ir::kNoTensor && static_cast<size_t>(id) >= tensors_before) graph_.tensor(id).name = proto.output(i);
    Define(proto.output(i), id);
  }
}

void Importer::ReadNode(const onnx::NodeProto& proto, int index, int opset, int depth) {
  std::vector<ir::TensorId> inputs;
  bool ready = true;
  for (const std::string& name : proto.input()) {
    const auto value = name.empty() ? values_.end() : values_.find(name);
    if (!name.empty() && value == values_.end()) {
      diagnostics_.Error(At(proto, index),
                         "reads '" + name + "', which nothing before it writes; nodes must be in an order that runs");
      ready = false;
    }
    inputs.push_back(value == values_.end() ? ir::kNoTensor : value->second);
    // What can't be imported has been reported: what depends on it is passed over.
    ready = ready && (name.empty() || inputs.back() != ir::kNoTensor);
  }
  const bool standard = IsStandardDomain(proto.domain());
  const OnnxOperator found = standard ? FindOnnxOperator(proto.op_type(), opset) : OnnxOperator();
  if (ready && !found.import && !found.fold) ready = Expand(proto, index, opset, depth, inputs);
  OnnxNode node(proto, opset, index, std::move(inputs), graph_, diagnostics_);
  if (!ready || !(found.import || found.fold) || !node.CheckOutputs(proto.output_size())) {
    for (const std::string& name : proto.output()) {
      if (!name.empty() && !values_.count(name)) Define(name, ir::kNoTensor);
    }
    return;
  }
  Import(proto, node, found);
}

/// Nodes of the function's body take the node's place.
bool Importer::Expand(const onnx::NodeProto& proto, int index, int opset, int depth,
                      const std::vector<ir::TensorId>& inputs) {
  std::vector<ir::Tensor> types;
  for (ir::TensorId id : inputs) types.push_back(id == ir::kNoTensor ? ir::Tensor() : graph_.tensor(id));
  const std::string prefix = std::to_string(index) + "/" + proto.op_type() + std::to_string(depth) + "/" +
                             std::to_string(graph_.tensors.size()) + "/";
  const bool allowed = depth < kMaxDepth && inlined_ < kMaxInlined;
  const auto body = allowed ? ExpandFunction(model_, proto, opset, types, prefix) : std::nullopt;
  if (!body) {
    if (depth > 0 || HasFunctionBody(model_, proto, opset))
      diagnostics_.Error(At(proto, index), "has no import function, and no function body that can take its place");
    return false;
  }
  inlined_ += body->nodes.size();
  for (const onnx::NodeProto& inner : body->nodes) ReadNode(inner, index, body->opset, depth + 1);
  return true;
}

void Importer::Import(const onnx::NodeProto& proto, OnnxNode& node, const OnnxOperator& found) {
  const size_t tensors_before = graph_.tensors.size();
  const size_t nodes_before = graph_.nodes.size();
  for (int i = 0; i < node.input_count(); ++i) {
    const ir::TensorId id = node.input(i);
    const bool quantized =
        node.has_input(i) && graph_.tensor(id).quantization && graph_.tensor(id).type == DataType::kInt8;
    if (quantized && !TakesQuantized(proto.op_type()))
      node.Error("reads a quantized tensor, and has no rule for it; put a DequantizeLinear between", id);
  }
  if (!node.failed() && (found.fold == nullptr || !found.fold->fold(node))) {
    if (found.import != nullptr) {
      found.import->import(node);
      if (options_.evaluate && !node.failed()) EvaluateNodes(graph_, nodes_before, node.outputs(), options_.evaluate);
    } else {
      node.Error("is supported only where its inputs are known when the model is read (arithmetic on shapes)");
    }
  }
  SetOutputs(proto, node, tensors_before);
}

ir::TensorId Importer::AddOutputStep(Op op, ir::TensorId from, ir::Tensor to) {
  ir::Node node;
  node.op = op;
  node.inputs = {from};
  node.name = "output";
  node.outputs = {graph_.AddTensor(std::move(to))};
  graph_.nodes.push_back(node);
  return node.outputs[0];
}

void Importer::ReadOutput(const onnx::ValueInfoProto& output) {
  const auto value = values_.find(output.name());
  if (value == values_.end()) return Error("is an output that nothing writes", output.name());
  ir::TensorId id = value->second;
  if (id == ir::kNoTensor) return;
  const DataType declared = OnnxType(output.type().tensor_type().elem_type());
  const bool is_stored = graph_.tensor(id).quantization && graph_.tensor(id).type == DataType::kInt8;
  if (declared == DataType::kUint8 && is_stored) {  // Stored less 128.
    ir::Tensor stored = graph_.tensor(id);
    stored.type = DataType::kUint8;
    stored.data = nullptr;
    for (int32_t& zero_point : stored.quantization->zero_points) zero_point += 128;
    id = AddOutputStep(Op::kRequantize, id, std::move(stored));
  } else if (declared != DataType::kNone && declared != graph_.tensor(id).type) {
    return Error("is declared as " + OnnxTypeName(output.type().tensor_type().elem_type()) +
                     ", which the plan would not give; declare the type that its operator gives",
                 output.name());
  }
  // An output has memory of its own.
  if (graph_.tensor(id).is_constant() || graph_.IsOutput(id) ||
      std::find(graph_.inputs.begin(), graph_.inputs.end(), id) != graph_.inputs.end()) {
    ir::Tensor tensor = graph_.tensor(id);
    tensor.data = nullptr;
    id = AddOutputStep(Op::kCopy, id, std::move(tensor));
  }
  graph_.tensor(id).name = output.name();
  graph_.outputs.push_back(id);
}

/// ONNX's own rules, beyond those that the import needs; files that break them are common, so this is a warning.
void Importer::RunChecker() {
  for (const auto& initializer : model_.graph().initializer()) {
    if (initializer.data_location() == onnx::TensorProto::EXTERNAL) return;
  }
  // The library may be older than the file's format, of which nothing newer is used.
  model_.set_ir_version(std::min<int64_t>(model_.ir_version(), onnx::Version::IR_VERSION));
  try {
    onnx::checker::check_model(model_);
  } catch (const std::exception& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    diagnostics_.Warning({graph_.name, -1, "", ""}, "ONNX's checker objects: " + text);
  }
}

/// Constants that only the import has read (shapes, weights in another layout) go.
void Importer::DropUnread() {
  std::vector<bool> read(graph_.tensors.size());
  for (const ir::Node& node : graph_.nodes) {
    for (ir::TensorId id : node.inputs) {
      if (id != ir::kNoTensor) read[static_cast<size_t>(id)] = true;
    }
  }
  for (size_t i = 0; i < read.size(); ++i) {
    ir::Tensor& tensor = graph_.tensors[i];
    if (!read[i] && tensor.is_constant()) tensor = {};
  }
}

std::optional<ir::Graph> Importer::Run() {
  if (!ReadFile()) return std::nullopt;
  const onnx::GraphProto& source = model_.graph();
  for (const auto& tensor : source.initializer()) ReadInitializer(tensor);
  for (const auto& input : source.input()) ReadInput(input);
  for (const auto& [name, shape] : options_.shapes) {
    const bool found = std::any_of(graph_.inputs.begin(), graph_.inputs.end(),
                                   [this, &name = name](ir::TensorId id) { return graph_.tensor(id).name == name; });
    if (!found) Error("--shape names it, and the model has no such input", name);
  }
  CheckOperators();
  int index = 0;
  for (const auto& node : source.node()) ReadNode(node, index++, opset_);

  if (source.output_size() == 0) Error("has no outputs");
  for (const auto& output : source.output()) ReadOutput(output);
  if (!diagnostics_.ok()) return std::nullopt;
  DropUnread();
  RunChecker();
  return std::move(graph_);
}

}  // namespace

std::optional<ir::Graph> ImportOnnx(std::span<const uint8_t> bytes, const std::string& model_name,
                                    const OnnxOptions& options, Diagnostics& diagnostics) {
  return Importer(bytes, model_name, options, diagnostics).Run();
}

}  // namespace takt::frontend
