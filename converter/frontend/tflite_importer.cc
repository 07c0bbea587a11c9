#include "converter/frontend/tflite_importer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"

namespace takt::frontend {
namespace {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 31;
constexpr uint32_t kMaxTables = 1000000;
constexpr uint32_t kMaxDepth = 64;
constexpr uint32_t kMaxRank = 6;

DataType TypeOf(tflite::TensorType type) {
  switch (type) {
    case tflite::TensorType::FLOAT32:
      return DataType::kFloat32;
    case tflite::TensorType::INT8:
      return DataType::kInt8;
    case tflite::TensorType::INT16:
      return DataType::kInt16;
    case tflite::TensorType::INT32:
      return DataType::kInt32;
    case tflite::TensorType::INT64:
      return DataType::kInt64;
    case tflite::TensorType::BOOL:
      return DataType::kBool;
    case tflite::TensorType::INT4:
      return DataType::kInt4;
    default:
      return DataType::kNone;
  }
}

class Importer {
 public:
  Importer(std::span<const uint8_t> bytes, const std::string& name, Diagnostics& diagnostics)
      : bytes_(bytes), diagnostics_(diagnostics) {
    graph_.name = name;
  }

  std::optional<ir::Graph> Run();

 private:
  bool OpenFile();
  void ReadTensor(const tflite::Tensor* source, int index);
  bool ReadDims(const tflite::Tensor& source, ir::Tensor& tensor);
  void ReadQuantization(const tflite::Tensor& source, ir::Tensor& tensor);
  void ReadData(const tflite::Tensor& source, ir::Tensor& tensor);
  bool ReadIds(const flatbuffers::Vector<int32_t>* ids, const char* what, std::vector<ir::TensorId>& out);
  bool CheckOperands(const tflite::Operator& op, int index, const char* name);
  void ReadOperator(const tflite::Operator* op, int index);
  void CheckOrder();
  void Error(std::string message, const std::string& tensor = "", int node = -1, const char* node_name = "") {
    diagnostics_.Error({graph_.name, node, node_name, tensor}, std::move(message));
  }

  std::span<const uint8_t> bytes_;
  Diagnostics& diagnostics_;
  const tflite::Model* model_ = nullptr;
  const tflite::SubGraph* subgraph_ = nullptr;
  std::vector<bool> written_;
  ir::Graph graph_;
};

bool Importer::OpenFile() {
  if (bytes_.size() < 16 || bytes_.size() > FLATBUFFERS_MAX_BUFFER_SIZE - 1 ||
      !tflite::ModelBufferHasIdentifier(bytes_.data())) {
    Error("is not a TFLite file: identifier TFL3 is missing at byte 4");
    return false;
  }
  flatbuffers::Verifier verifier(bytes_.data(), bytes_.size(), kMaxDepth, kMaxTables);
  if (!tflite::VerifyModelBuffer(verifier)) {
    Error("is a damaged TFLite file: an offset or length in it is out of range");
    return false;
  }
  model_ = tflite::GetModel(bytes_.data());
  if (model_->version() != 3) Error("has schema version " + std::to_string(model_->version()) + "; allowed is 3");
  if (model_->subgraphs() == nullptr || model_->subgraphs()->size() == 0) {
    Error("has no subgraph");
    return false;
  }
  if (model_->subgraphs()->size() > 1) Error("has several subgraphs; control flow is not supported yet");
  subgraph_ = model_->subgraphs()->Get(0);
  if (subgraph_->tensors() == nullptr || subgraph_->operators() == nullptr) {
    Error("has no tensors or no operators");
    return false;
  }
  return diagnostics_.ok();
}

bool Importer::ReadDims(const tflite::Tensor& source, ir::Tensor& tensor) {
  if (source.shape_signature() != nullptr) {
    for (int32_t dim : *source.shape_signature()) {
      if (dim < 0) {
        diagnostics_.Note({graph_.name, -1, "", tensor.name}, "has a dynamic dimension; its recorded shape is used");
        break;
      }
    }
  }
  if (source.shape() == nullptr) return true;
  if (source.shape()->size() > kMaxRank) {
    Error("has rank " + std::to_string(source.shape()->size()) + "; allowed are up to 6", tensor.name);
    return false;
  }
  int64_t count = 1;
  for (int32_t dim : *source.shape()) {
    if (dim <= 0 || count > kMaxTensorBytes / dim) {
      Error("has dimension " + std::to_string(dim) +
                "; dimensions must be positive and a tensor at most 2 GiB (export with "
                "a fixed shape)",
            tensor.name);
      return false;
    }
    count *= dim;
    tensor.dims.push_back(dim);
  }
  if (count * BitWidth(tensor.type) / 8 > kMaxTensorBytes) {
    Error("is larger than 2 GiB", tensor.name);
    return false;
  }
  return true;
}

void Importer::ReadQuantization(const tflite::Tensor& source, ir::Tensor& tensor) {
  const tflite::QuantizationParameters* q = source.quantization();
  if (q == nullptr || q->scale() == nullptr || q->scale()->size() == 0) return;
  const size_t count = q->scale()->size();
  const size_t zero_points = q->zero_point() == nullptr ? 0 : q->zero_point()->size();
  if (zero_points != count && zero_points > 1) {
    return Error("has " + std::to_string(count) + " scales and " + std::to_string(zero_points) + " zero points",
                 tensor.name);
  }
  ir::Quantization out;
  for (float scale : *q->scale()) {
    if (!std::isfinite(scale) || scale <= 0) return Error("has a scale that is not finite and positive", tensor.name);
    out.scales.push_back(scale);
  }
  for (size_t i = 0; i < count; ++i) {
    const int64_t z = zero_points == 0 ? 0 : q->zero_point()->Get(zero_points == 1 ? 0 : static_cast<uint32_t>(i));
    if (z < INT32_MIN || z > INT32_MAX)
      return Error("has zero point " + std::to_string(z) + ", out of range", tensor.name);
    out.zero_points.push_back(static_cast<int32_t>(z));
  }
  if (count > 1) {
    // Old converters wrote the weights' axis into biases: a vector has one axis only.
    out.axis = tensor.dims.size() == 1 ? 0 : q->quantized_dimension();
    if (out.axis < 0 || static_cast<size_t>(out.axis) >= tensor.dims.size() ||
        static_cast<size_t>(tensor.dims[static_cast<size_t>(out.axis)]) != count) {
      return Error("has " + std::to_string(count) + " scales along axis " + std::to_string(out.axis) +
                       ", which has another size or does not exist",
                   tensor.name);
    }
  }
  tensor.quantization = std::move(out);
}

void Importer::ReadData(const tflite::Tensor& source, ir::Tensor& tensor) {
  const auto* buffers = model_->buffers();
  if (buffers == nullptr || source.buffer() >= buffers->size()) {
    if (source.buffer() != 0)
      Error("names buffer " + std::to_string(source.buffer()) + ", which is missing", tensor.name);
    return;
  }
  const tflite::Buffer* buffer = buffers->Get(source.buffer());
  if (buffer->offset() > 1 || buffer->size() > 1)
    return Error("has data behind the FlatBuffer; not supported yet", tensor.name);
  if (buffer->data() == nullptr || buffer->data()->size() == 0) return;
  if (source.is_variable()) return Error("is a variable with data; state is not supported yet", tensor.name);
  if (static_cast<int64_t>(buffer->data()->size()) != tensor.byte_size()) {
    return Error("has " + std::to_string(buffer->data()->size()) + " bytes of data; its shape needs " +
                     std::to_string(tensor.byte_size()),
                 tensor.name);
  }
  tensor.data = std::make_shared<const ir::Bytes>(buffer->data()->begin(), buffer->data()->end());
}

void Importer::ReadTensor(const tflite::Tensor* source, int index) {
  ir::Tensor tensor;
  tensor.source = index;
  tensor.name =
      source->name() != nullptr && source->name()->size() > 0 ? source->name()->str() : "t" + std::to_string(index);
  tensor.type = TypeOf(source->type());
  if (tensor.type == DataType::kNone) {
    const char* type = tflite::EnumNameTensorType(source->type());
    Error(std::string("has type ") +
              (*type == 0 ? std::to_string(static_cast<int>(source->type())) : std::string(type)) +
              "; supported are float32, int8, int16, int32, int64, bool and int4 (quantize the model to int8)",
          tensor.name);
  } else if (source->sparsity() != nullptr) {
    Error("is sparse; export the model dense", tensor.name);
  } else if (ReadDims(*source, tensor)) {
    ReadQuantization(*source, tensor);
    ReadData(*source, tensor);
  }
  graph_.AddTensor(std::move(tensor));
}

bool Importer::ReadIds(const flatbuffers::Vector<int32_t>* ids, const char* what, std::vector<ir::TensorId>& out) {
  if (ids == nullptr || ids->size() == 0) {
    Error(std::string("has no ") + what);
    return false;
  }
  for (int32_t id : *ids) {
    if (id < 0 || static_cast<size_t>(id) >= graph_.tensors.size()) {
      Error(std::string(what) + " name tensor " + std::to_string(id) + ", out of range");
      return false;
    }
    out.push_back(id);
  }
  return true;
}

bool Importer::CheckOperands(const tflite::Operator& op, int index, const char* name) {
  const int32_t count = static_cast<int32_t>(subgraph_->tensors()->size());
  if (op.inputs() != nullptr) {
    for (int32_t id : *op.inputs()) {
      if (id < -1 || id >= count)
        return Error("reads tensor " + std::to_string(id) + ", out of range", "", index, name), false;
    }
  }
  if (op.outputs() == nullptr || op.outputs()->size() == 0) return Error("has no outputs", "", index, name), false;
  for (int32_t id : *op.outputs()) {
    if (id < 0 || id >= count)
      return Error("writes tensor " + std::to_string(id) + ", out of range", "", index, name), false;
    const ir::Tensor& tensor = graph_.tensor(id);
    if (written_[static_cast<size_t>(id)] || tensor.is_constant()) {
      return Error("writes a tensor that is a constant, a graph input or written already", tensor.name, index, name),
             false;
    }
    written_[static_cast<size_t>(id)] = true;
  }
  return true;
}

std::string SupportedOperators() {
  std::vector<std::string> names;
  for (const ir::OpDef* def : ir::AllOpDefs()) {
    for (const ir::TfliteImport& import : def->tflite) names.push_back(import.name);
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void Importer::ReadOperator(const tflite::Operator* op, int index) {
  const auto* codes = model_->operator_codes();
  if (codes == nullptr || op->opcode_index() >= codes->size())
    return Error("names an operator code that is missing", "", index);
  const tflite::OperatorCode* code = codes->Get(op->opcode_index());
  const int builtin = std::max<int>(code->deprecated_builtin_code(), static_cast<int>(code->builtin_code()));
  for (const ir::OpDef* def : ir::AllOpDefs()) {
    for (const ir::TfliteImport& import : def->tflite) {
      if (import.builtin != builtin) continue;
      if (!CheckOperands(*op, index, import.name)) return;
      TfliteNode node(*op, import.name, code->version(), index, graph_, diagnostics_);
      return import.import(node);
    }
  }
  std::string name = tflite::EnumNameBuiltinOperator(static_cast<tflite::BuiltinOperator>(builtin));
  if (name.empty()) name = std::to_string(builtin);
  if (name == "CUSTOM" && code->custom_code() != nullptr) name += " " + code->custom_code()->str();
  Error("is not supported yet; supported are " + SupportedOperators(), "", index, name.c_str());
}

void Importer::CheckOrder() {
  std::vector<bool> ready(graph_.tensors.size());
  for (size_t i = 0; i < ready.size(); ++i) ready[i] = graph_.tensors[i].is_constant();
  for (ir::TensorId id : graph_.inputs) ready[static_cast<size_t>(id)] = true;
  for (const ir::Node& node : graph_.nodes) {
    for (ir::TensorId id : node.inputs) {
      if (id == ir::kNoTensor || ready[static_cast<size_t>(id)]) continue;
      Error("is read before anything writes it; operators must be in an order that runs", graph_.tensor(id).name,
            node.sources.empty() ? -1 : node.sources[0], node.name.c_str());
    }
    for (ir::TensorId id : node.outputs) ready[static_cast<size_t>(id)] = true;
  }
  for (ir::TensorId id : graph_.outputs) {
    if (!ready[static_cast<size_t>(id)]) Error("is an output that nothing writes", graph_.tensor(id).name);
  }
}

std::optional<ir::Graph> Importer::Run() {
  if (!OpenFile()) return std::nullopt;
  int index = 0;
  for (const tflite::Tensor* tensor : *subgraph_->tensors()) ReadTensor(tensor, index++);
  written_.resize(graph_.tensors.size());
  if (!ReadIds(subgraph_->inputs(), "inputs", graph_.inputs) ||
      !ReadIds(subgraph_->outputs(), "outputs", graph_.outputs)) {
    return std::nullopt;
  }
  for (ir::TensorId id : graph_.inputs) written_[static_cast<size_t>(id)] = true;
  index = 0;
  const bool tensors_ok = diagnostics_.ok();
  for (const tflite::Operator* op : *subgraph_->operators()) {
    if (tensors_ok) ReadOperator(op, index);
    ++index;
  }
  if (diagnostics_.ok()) CheckOrder();
  if (!diagnostics_.ok()) return std::nullopt;
  return std::move(graph_);
}

}  // namespace

std::optional<ir::Graph> ImportTflite(std::span<const uint8_t> bytes, const std::string& model_name,
                                      Diagnostics& diagnostics) {
  // Vectors are read in place, so the file starts at an aligned address.
  const ir::Bytes aligned(bytes.begin(), bytes.end());
  return Importer(aligned, model_name, diagnostics).Run();
}

}  // namespace takt::frontend
