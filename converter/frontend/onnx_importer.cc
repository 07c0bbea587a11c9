#include "converter/frontend/onnx_importer.h"

#include <onnx/checker.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "converter/frontend/onnx_functions.h"
#include "converter/frontend/onnx_graph_reader.h"
#include "converter/frontend/onnx_operators.h"
#include "converter/frontend/onnx_tensor.h"
#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/ir/size_limits.h"

namespace takt::frontend {
namespace {

constexpr int kMaxRank = 6;
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
  void InlineAttributes(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);
  void ReadInput(const onnx::ValueInfoProto& input);
  bool ReadDims(const onnx::ValueInfoProto& input, ir::Tensor& tensor);
  void CheckOperators();
  void ReadOutput(const onnx::ValueInfoProto& output);
  ir::TensorId FixInput(ir::Tensor tensor);
  ir::TensorId BindInput(ir::Tensor tensor);
  void ReadParameters();
  void CheckNames();
  void RunChecker();
  void Error(std::string message, const std::string& tensor = "") {
    diagnostics_.Error({graph_.name, -1, "", tensor}, std::move(message));
  }
  std::span<const uint8_t> bytes_;
  const OnnxOptions& options_;
  Diagnostics& diagnostics_;
  onnx::ModelProto model_;
  int opset_ = 0;
  std::map<std::string, int32_t> parameters_;  ///< Sizes of dimensions that have names.
  ir::Graph graph_;
  OnnxFile file_{model_, options_, diagnostics_};
  std::optional<OnnxGraphReader> reader_;
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
  return true;
}

/// Tensors among attributes get their external data here, so that an operator's import needs no folder. As deep as the
/// parser lets graphs be within graphs.
void Importer::InlineAttributes(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
  for (onnx::NodeProto& node : nodes) {
    const auto load = [&](const std::string& attribute, onnx::TensorProto& tensor) {
      const std::string wrong = InlineExternalData(options_.folder, tensor);
      if (!wrong.empty()) Error("attribute " + attribute + " of " + node.op_type() + " " + node.name() + " " + wrong);
    };
    for (onnx::AttributeProto& attribute : *node.mutable_attribute()) {
      if (attribute.has_t()) load(attribute.name(), *attribute.mutable_t());
      for (onnx::TensorProto& tensor : *attribute.mutable_tensors()) load(attribute.name(), tensor);
      if (attribute.has_sparse_tensor()) {
        load(attribute.name(), *attribute.mutable_sparse_tensor()->mutable_values());
        load(attribute.name(), *attribute.mutable_sparse_tensor()->mutable_indices());
      }
      if (attribute.has_g()) InlineAttributes(*attribute.mutable_g()->mutable_node());
    }
  }
}

/// Dimensions of one name have one size: --shape gives it for all.
void Importer::ReadParameters() {
  for (const auto& input : model_.graph().input()) {
    const auto given = options_.shapes.find(input.name());
    const auto& shape = input.type().tensor_type().shape();
    if (given == options_.shapes.end()) continue;
    for (size_t i = 0; i < given->second.size() && i < static_cast<size_t>(shape.dim_size()); ++i) {
      const std::string& name = shape.dim(static_cast<int>(i)).dim_param();
      if (!name.empty()) parameters_[name] = given->second[i];
    }
  }
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
      const auto known = parameters_.find(shape.dim(i).dim_param());
      if (size <= 0 && known != parameters_.end()) {
        size = known->second;
      } else if (size <= 0 && i == 0) {
        size = 1;
        if (!shape.dim(i).dim_param().empty()) parameters_[shape.dim(i).dim_param()] = 1;
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
  for (const int32_t dim : tensor.dims)
    if (dim < 1)
      return Error("has dimension " + std::to_string(dim) + "; dimensions are positive", input.name()), false;
  if (const std::string wrong = ir::WhyTooLarge(tensor.dims); !wrong.empty()) return Error(wrong, input.name()), false;
  if (tensor.dims.size() > kMaxRank) return Error("has more than 6 dimensions", input.name()), false;
  return true;
}

/// `values` (one fills the tensor) as the bytes of a constant; nothing if they do not fit.
template <typename T>
std::optional<ir::Bytes> Filled(const std::vector<double>& values, int64_t count) {
  if (values.size() != 1 && static_cast<int64_t>(values.size()) != count) return std::nullopt;
  const double most = std::min(9007199254740992.0, static_cast<double>(std::numeric_limits<T>::max()));
  const double least = std::max(-9007199254740992.0, static_cast<double>(std::numeric_limits<T>::lowest()));
  std::vector<T> elements;
  for (const double value : values) {
    if (std::is_integral_v<T> && !(value >= least && value <= most && value == std::floor(value))) return std::nullopt;
    elements.push_back(static_cast<T>(value));
  }
  elements.resize(static_cast<size_t>(count), elements[0]);
  return ir::ToBytes(elements);
}

std::optional<ir::Bytes> ConstantBytes(DataType type, const std::vector<double>& values, int64_t count) {
  switch (type) {
    case DataType::kFloat32:
      return Filled<float>(values, count);
    case DataType::kInt64:
      return Filled<int64_t>(values, count);
    case DataType::kInt32:
      return Filled<int32_t>(values, count);
    case DataType::kInt8:
      return Filled<int8_t>(values, count);
    default:
      return Filled<uint8_t>(values, count);
  }
}

/// An input that the caller makes a constant.
ir::TensorId Importer::FixInput(ir::Tensor tensor) {
  const std::vector<double>& values = options_.constants.at(tensor.name);
  const std::string wrong =
      values.size() == 1 ? ir::WhyNotMade(tensor.type, {tensor.dims.begin(), tensor.dims.end()}) : "";
  if (!wrong.empty()) return Error(wrong, tensor.name), ir::kNoTensor;
  auto bytes = ConstantBytes(tensor.type, values, tensor.element_count());
  if (!bytes) {
    Error("takes " + std::to_string(tensor.element_count()) + " values of its type, or one for all, from --constant",
          tensor.name);
    return ir::kNoTensor;
  }
  tensor.data = std::make_shared<const ir::Bytes>(std::move(*bytes));
  return graph_.AddTensor(std::move(tensor));
}

ir::TensorId Importer::BindInput(ir::Tensor tensor) {
  const bool swap = options_.nhwc_inputs && tensor.dims.size() == 4;
  const std::vector<int32_t> dims = tensor.dims;
  tensor.source = static_cast<int32_t>(graph_.inputs.size());
  if (swap) tensor.dims = ir::Permuted(dims, std::vector<int64_t>{0, 2, 3, 1});
  ir::TensorId id = graph_.AddTensor(tensor);
  graph_.inputs.push_back(id);
  if (swap) {
    tensor.name += "/nchw";
    tensor.dims = dims;
    id = reader_->AddStep(Op::kTranspose, id, tensor, "input layout");
    graph_.nodes.back().attributes["permutation"] = std::vector<int64_t>{0, 3, 1, 2};
  }
  return id;
}

void Importer::ReadInput(const onnx::ValueInfoProto& input) {
  if (reader_->Find(input.name())) return;  // The default of an initializer, which counts as constant.
  ir::Tensor tensor;
  tensor.name = input.name();
  ir::TensorId id = ir::kNoTensor;
  const int32_t type = input.type().tensor_type().elem_type();
  if (!input.type().has_tensor_type()) {
    Error("is not a tensor (sequences, maps and optionals are not supported)", input.name());
  } else if (tensor.type = OnnxType(type); tensor.type == DataType::kNone) {
    Error("has type " + OnnxTypeName(type) + ", which is not supported", input.name());
  } else if (ReadDims(input, tensor)) {
    const bool fixed = options_.constants.count(input.name()) != 0;
    if (!fixed && tensor.type == DataType::kFloat32 && type != onnx::TensorProto::FLOAT)
      diagnostics_.Note({graph_.name, -1, "", input.name()},
                        "has type " + OnnxTypeName(type) + ", and is bound as float32");
    id = fixed ? FixInput(std::move(tensor)) : BindInput(std::move(tensor));
  }
  reader_->Define(input.name(), id);
}

void Importer::CheckOperators() {
  bool listed = false;
  for (int i = 0; i < model_.graph().node_size(); ++i) {
    const onnx::NodeProto& node = model_.graph().node(i);
    if (HasFunctionBody(model_, node, opset_)) continue;
    const std::string wrong = WhyUnsupported(OnnxOperatorName(node.domain(), node.op_type()), opset_);
    if (wrong.empty()) continue;
    const std::string name = node.name().empty() ? node.op_type() : node.op_type() + " " + node.name();
    diagnostics_.Error({graph_.name, i, name, ""}, wrong);
    if (!listed) diagnostics_.Note({graph_.name, -1, "", ""}, "supported operators: " + Joined(OnnxOperators()));
    listed = true;
  }
}

void Importer::ReadOutput(const onnx::ValueInfoProto& output) {
  const auto value = reader_->Find(output.name());
  if (!value) return Error("is an output that nothing writes", output.name());
  ir::TensorId id = *value;
  if (id == ir::kNoTensor) return;
  const DataType declared = OnnxType(output.type().tensor_type().elem_type());
  const bool is_stored = graph_.tensor(id).quantization && graph_.tensor(id).type == DataType::kInt8;
  if (declared == DataType::kUint8 && is_stored) {  // Stored less 128.
    ir::Tensor stored = graph_.tensor(id);
    stored.type = DataType::kUint8;
    stored.data = nullptr;
    for (int32_t& zero_point : stored.quantization->zero_points) zero_point += 128;
    id = reader_->AddStep(Op::kRequantize, id, std::move(stored), "output");
  } else if (declared != DataType::kNone && declared != graph_.tensor(id).type) {
    return Error("is declared as " + OnnxTypeName(output.type().tensor_type().elem_type()) +
                     ", which the plan would not give; declare the type that its operator gives",
                 output.name());
  }
  id = reader_->OwnOutput(id);  // It has memory of its own.
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

/// Options that name what the model does not have.
void Importer::CheckNames() {
  std::set<std::string> names;
  for (const auto& input : model_.graph().input()) names.insert(input.name());
  for (const auto& [name, shape] : options_.shapes)
    if (!names.count(name)) Error("--shape names it, and the model has no such input", name);
  for (const auto& [name, values] : options_.constants)
    if (!names.count(name)) Error("--constant names it, and the model has no such input", name);
}

std::optional<ir::Graph> Importer::Run() {
  if (!ReadFile()) return std::nullopt;
  reader_.emplace(file_, opset_, graph_);
  const onnx::GraphProto& source = model_.graph();
  reader_->ReadInitializers(source);
  ReadParameters();
  for (const auto& input : source.input()) ReadInput(input);
  CheckNames();
  CheckOperators();
  InlineAttributes(*model_.mutable_graph()->mutable_node());
  for (onnx::FunctionProto& function : *model_.mutable_functions()) InlineAttributes(*function.mutable_node());
  reader_->ReadNodes(source.node());
  if (source.output_size() == 0) Error("has no outputs");
  for (const auto& output : source.output()) ReadOutput(output);
  if (!diagnostics_.ok()) return std::nullopt;
  DropUnread(graph_);
  RunChecker();
  return std::move(graph_);
}

}  // namespace

std::optional<ir::Graph> ImportOnnx(std::span<const uint8_t> bytes, const std::string& model_name,
                                    const OnnxOptions& options, Diagnostics& diagnostics) {
  return Importer(bytes, model_name, options, diagnostics).Run();
}

}  // namespace takt::frontend
