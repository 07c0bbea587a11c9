#include "converter/frontend/tflite_importer.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/frontend/graph_io.h"
#include "converter/frontend/operator_order.h"
#include "converter/frontend/tflite_complex.h"
#include "converter/frontend/tflite_fold.h"
#include "converter/frontend/tflite_hybrid.h"
#include "converter/frontend/tflite_node.h"
#include "converter/frontend/tflite_refusals.h"
#include "converter/frontend/tflite_subgraphs.h"
#include "converter/frontend/tflite_tensors.h"
#include "converter/frontend/tflite_variables.h"
#include "converter/ir/constants.h"
#include "converter/ir/op_def.h"
#include "converter/ir/verifier.h"

namespace takt::frontend {
namespace {

std::vector<int32_t> Ids(const flatbuffers::Vector<int32_t>* ids) {
  return ids == nullptr ? std::vector<int32_t>() : std::vector<int32_t>(ids->begin(), ids->end());
}

class Importer : public SubgraphReader {
 public:
  Importer(TfliteSubgraphs& shared, int subgraph, std::map<int32_t, std::string> names)
      : shared_(shared),
        options_(shared.options),
        diagnostics_(shared.diagnostics),
        model_(&shared.file.model()),
        subgraph_(shared.file.subgraph(subgraph)),
        names_(std::move(names)),
        variables_(shared.file, *subgraph_, shared.variables),
        body_(!shared.open.empty()) {
    graph_.name = shared.file.name();
    if (body_) graph_.name += "[" + std::to_string(subgraph) + "]";
    shared_.open.push_back(subgraph);
    ++shared_.count;
  }
  ~Importer() override { shared_.open.pop_back(); }

  /// The graph that a plan is made of.
  std::optional<ir::Graph> Run();
  /// A body; see SubgraphReader.
  std::optional<Body> RunBody(const std::vector<const ir::Tensor*>& constants);

  std::string Refusal(int64_t subgraph) const override { return shared_.Refusal(subgraph); }
  std::optional<Body> Read(int subgraph, const std::vector<const ir::Tensor*>& constants) override;
  std::vector<bool> PassedThrough(int subgraph) const override { return shared_.PassedThrough(subgraph); }

 private:
  /// An operator with its code resolved.
  struct Operator {
    const tflite::Operator* source = nullptr;
    const ir::TfliteImport* import = nullptr;
    int version = 0;
    std::string name;
    OperandIds ids;
  };

  bool Build(const std::vector<const ir::Tensor*>& constants);
  void FixInputs(const std::vector<const ir::Tensor*>& constants);
  bool ReadOperatorCode(Operator& op, int index);
  void ReadOperators();
  void ReadTensors();
  void ReadGraphIds(const flatbuffers::Vector<int32_t>* ids, const char* what, std::vector<ir::TensorId>& out);
  bool CheckIds(const Operator& op, int index);
  void CheckGiven();
  std::vector<int> Order();
  void Import(int index);
  void ImportOperator(const Operator& op, int index);
  bool DependsOnUnknown(const Operator& op) const;
  void CheckVariables();
  void Reshape(size_t first_node);
  bool IsEmpty(int32_t id) const { return IsTensor(id) && std::ranges::count(graph_.tensor(id).dims, 0) != 0; }
  bool IsVariable(size_t id) const { return subgraph_->tensors()->Get(static_cast<uint32_t>(id))->is_variable(); }
  bool IsTensor(int32_t id) const { return id >= 0 && static_cast<size_t>(id) < subgraph_->tensors()->size(); }
  void Error(std::string message, const std::string& tensor = "", int node = -1, const std::string& node_name = "") {
    diagnostics_.Error({graph_.name, node, node_name, tensor}, std::move(message));
  }

  TfliteSubgraphs& shared_;
  const ImportOptions& options_;
  Diagnostics& diagnostics_;
  const tflite::Model* model_;
  const tflite::SubGraph* subgraph_;
  std::map<int32_t, std::string> names_;
  TfliteVariables variables_;
  const bool body_;
  std::vector<Operator> operators_;
  std::vector<bool> good_;     ///< Tensors that were read without an error.
  std::vector<bool> unknown_;  ///< Tensors that an operator with an error would write, and what depends on them.
  bool unsupported_ = false;   ///< An operator is not supported, for no reason that has been given.
  bool open_ = false;          ///< Dimensions are open that no option gives.
  std::set<ir::TensorId> uint8_tensors_;
  ir::Graph graph_;
};

bool Importer::ReadOperatorCode(Operator& op, int index) {
  const auto* codes = model_->operator_codes();
  if (codes == nullptr || op.source->opcode_index() >= codes->size()) {
    Error("names an operator code that is missing; the file is damaged", "", index);
    return false;
  }
  const tflite::OperatorCode& code = *codes->Get(op.source->opcode_index());
  const int builtin = std::max<int>(code.deprecated_builtin_code(), static_cast<int>(code.builtin_code()));
  op.version = code.version();
  op.import = FindImport(builtin, code.custom_code());
  op.name = op.import != nullptr ? op.import->name
                                 : tflite::EnumNameBuiltinOperator(static_cast<tflite::BuiltinOperator>(builtin));
  if (op.name.empty()) op.name = absl::StrCat("operator ", builtin);
  if (op.name == "CUSTOM" && code.custom_code() != nullptr) absl::StrAppend(&op.name, " ", code.custom_code()->str());
  if (op.import == nullptr) {
    const std::string reason = RefusalOf(builtin);
    Error(reason.empty() ? "is not supported; the note at the end lists the operators that are"
                         : "is not supported: " + reason,
          "", index, op.name);
    unsupported_ |= reason.empty();
  }
  return op.import != nullptr;
}

void Importer::ReadOperators() {
  if (subgraph_->operators() == nullptr) return;
  for (const tflite::Operator* source : *subgraph_->operators()) {
    Operator op{.source = source,
                .import = nullptr,
                .version = 0,
                .name = "",
                .ids = {Ids(source->inputs()), Ids(source->outputs())}};
    const int index = static_cast<int>(operators_.size());
    if (ReadOperatorCode(op, index) && !CheckIds(op, index)) op.import = nullptr;
    operators_.push_back(std::move(op));
  }
  if (unsupported_)
    diagnostics_.Note({graph_.name, -1, "", ""}, absl::StrCat("supported operators are ", SupportedOperators()));
}

bool Importer::CheckIds(const Operator& op, int index) {
  bool ok = true;
  for (int32_t id : op.ids.inputs) {
    if (id == ir::kNoTensor || IsTensor(id)) continue;
    Error(absl::StrCat("reads tensor ", id, ", which does not exist; the file is damaged"), "", index, op.name);
    ok = false;
  }
  for (int32_t id : op.ids.outputs) {
    if (IsTensor(id)) continue;
    Error(absl::StrCat("writes tensor ", id, ", which does not exist; the file is damaged"), "", index, op.name);
    ok = false;
  }
  const bool acts = op.name == "ASSIGN_VARIABLE" || op.name == "CALL_ONCE" || op.name == "IF";
  if (op.ids.outputs.empty() && !acts) Error("has no outputs; the file is damaged", "", index, op.name);
  return ok && (acts || !op.ids.outputs.empty());
}

void Importer::ReadGraphIds(const flatbuffers::Vector<int32_t>* ids, const char* what, std::vector<ir::TensorId>& out) {
  for (int32_t id : Ids(ids)) {
    if (!IsTensor(id)) {
      Error(absl::StrCat("has ", what, " ", id, ", a tensor that does not exist; the file is damaged"));
    } else {
      out.push_back(id);
    }
  }
  if (out.empty() && !body_) Error(absl::StrCat("has no ", what, "s; a graph has at least one"));
}

/// Tensors that nothing uses stay empty.
void Importer::ReadTensors() {
  std::vector<std::optional<ModelLocation>> users(subgraph_->tensors()->size());
  const auto use = [&](int32_t id, int node, const std::string& name) {
    if (IsTensor(id) && !users[static_cast<size_t>(id)]) users[static_cast<size_t>(id)] = {graph_.name, node, name, ""};
  };
  for (size_t i = 0; i < operators_.size(); ++i) {
    for (int32_t id : operators_[i].ids.inputs) use(id, static_cast<int>(i), operators_[i].name);
    for (int32_t id : operators_[i].ids.outputs) use(id, static_cast<int>(i), operators_[i].name);
  }
  for (int32_t id : graph_.inputs) use(id, -1, "");
  for (int32_t id : graph_.outputs) use(id, -1, "");
  TfliteTensorReader reader(shared_.file.bytes(), *model_, options_, diagnostics_, names_);
  for (size_t i = 0; i < users.size(); ++i) {
    const tflite::Tensor& source = *subgraph_->tensors()->Get(static_cast<uint32_t>(i));
    const bool handle = variables_.IsHandle(static_cast<int32_t>(i));
    ir::Tensor tensor;
    good_.push_back(handle || (users[i] && reader.Read(source, static_cast<int>(i), *users[i], tensor)));
    if (source.type() == tflite::TensorType::UINT8 && tensor.type == DataType::kInt8)
      uint8_tensors_.insert(static_cast<int>(i));
    graph_.AddTensor(std::move(tensor));
  }
  unknown_.resize(good_.size());
  open_ = reader.has_open_dimension();
  if (open_) {
    diagnostics_.Note({graph_.name, -1, "", ""},
                      "leaves dimensions open; its recorded shapes are used (--shape NAME=DIMS gives others)");
  }
}

/// Values that are there before any operator runs, and each written once.
void Importer::CheckGiven() {
  std::vector<bool> written(graph_.tensors.size());
  for (size_t i = 0; i < written.size(); ++i) written[i] = graph_.tensors[i].is_constant() || IsVariable(i);
  for (ir::TensorId id : graph_.inputs) {
    if (IsComplex(*subgraph_, id))
      Error("is a complex graph input; feed its real and imaginary part", graph_.tensor(id).name);
    else if (IsEmpty(id))
      Error("is a graph input without elements; leave it out of the model's inputs", graph_.tensor(id).name);
    else if (written[static_cast<size_t>(id)])
      Error("is a graph input twice, or also a constant; export it as one", graph_.tensor(id).name);
    written[static_cast<size_t>(id)] = true;
  }
  for (size_t i = 0; i < operators_.size(); ++i) {
    for (int32_t id : operators_[i].ids.outputs) {
      if (!IsTensor(id) || IsEmpty(id)) continue;
      if (written[static_cast<size_t>(id)]) {
        Error(
            "is written here, but is a constant, a variable, a graph input or another operator's output; each tensor "
            "has one origin",
            graph_.tensor(id).name, static_cast<int>(i), operators_[i].name);
      }
      written[static_cast<size_t>(id)] = true;
    }
  }
  const auto need = [&](int32_t id, int node, const std::string& name) {
    if (IsTensor(id) && good_[static_cast<size_t>(id)] && !written[static_cast<size_t>(id)]) {
      Error("is read, but nothing writes it and it has no data", graph_.tensor(id).name, node, name);
    }
  };
  for (size_t i = 0; i < operators_.size(); ++i) {
    for (int32_t id : operators_[i].ids.inputs) need(id, static_cast<int>(i), operators_[i].name);
  }
  for (int32_t id : graph_.outputs) {
    need(id, -1, "");
    if (IsComplex(*subgraph_, id)) Error("is a complex graph output; end with REAL and IMAG", graph_.tensor(id).name);
    if (IsEmpty(id))
      Error("is a graph output without elements; leave it out of the model's outputs", graph_.tensor(id).name);
  }
}

std::vector<int> Importer::Order() {
  std::vector<OperandIds> ids;
  for (const Operator& op : operators_) ids.push_back(op.ids);
  std::vector<int> order = OrderOperators(ids);
  if (order.size() == operators_.size()) return order;
  const std::set<int> ordered(order.begin(), order.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < operators_.size(); ++i) {
    if (ordered.count(static_cast<int>(i)) == 0) names.push_back(absl::StrCat(i, "(", operators_[i].name, ")"));
  }
  Error(
      absl::StrCat("has operators that wait for each other: ", absl::StrJoin(names, ", "), "; a graph has no cycles"));
  return order;
}

/// Import functions have made states of the variables that their operators update.
void Importer::CheckVariables() {
  for (size_t i = 0; i < good_.size(); ++i) {
    const auto id = static_cast<ir::TensorId>(i);
    if (!good_[i] || !IsVariable(i) || graph_.IsState(id) || graph_.tensor(id).is_constant()) continue;
    Error("is a variable that no operator updates; make it a constant or an input when exporting",
          graph_.tensor(id).name);
  }
}

/// Shapes behind inputs whose shapes were given follow from the ops' rules.
void Importer::Reshape(size_t first_node) {
  if (options_.shapes.empty()) return;
  for (size_t i = first_node; i < graph_.nodes.size(); ++i) {
    const ir::Node& node = graph_.nodes[i];
    std::vector<ir::TensorType> types;
    if (!ir::InferTypes(graph_, node, types).empty()) continue;
    for (size_t k = 0; k < types.size() && k < node.outputs.size(); ++k)
      graph_.tensor(node.outputs[k]).dims = types[k].dims;
  }
}

/// An input might have been a constant if the operator that gives it had no error: what is wrong with `op` may follow
/// from that.
bool Importer::DependsOnUnknown(const Operator& op) const {
  return std::ranges::any_of(op.ids.inputs, [this](int32_t id) {
    return IsTensor(id) && unknown_[static_cast<size_t>(id)] && graph_.tensor(id).type != DataType::kFloat32 &&
           !graph_.tensor(id).quantization;
  });
}

/// What follows from another operator's error is not reported as one of its own.
void Importer::Import(int index) {
  const Operator& op = operators_[static_cast<size_t>(index)];
  const size_t errors = diagnostics_.error_count(), before = diagnostics_.all().size();
  if (op.import != nullptr) ImportOperator(op, index);
  const bool good = op.import != nullptr && diagnostics_.error_count() == errors, depends = DependsOnUnknown(op);
  if (!good && depends) diagnostics_.Forget(before);
  for (const int32_t id : op.ids.outputs)
    if (IsTensor(id) && (!good || depends)) unknown_[static_cast<size_t>(id)] = true;
}

void Importer::ImportOperator(const Operator& op, int index) {
  const auto good = [&](int32_t id) { return id == ir::kNoTensor || good_[static_cast<size_t>(id)]; };
  const auto& outputs = op.ids.outputs;
  if (!std::ranges::all_of(op.ids.inputs, good) || !std::ranges::all_of(outputs, good)) return;
  if (!outputs.empty() && std::ranges::all_of(outputs, [this](int32_t id) { return IsEmpty(id); })) return;
  if (op.name == "DEQUANTIZE" && ForwardConstant(graph_, op.ids.inputs, outputs[0])) return;
  const size_t first = graph_.nodes.size();
  const size_t errors = diagnostics_.error_count();
  TfliteNode node(*subgraph_, *op.source, op.name.c_str(), op.version, index, graph_, diagnostics_,
                  !options_.shapes.empty());
  node.set_file(this, &variables_);
  MakeWeightsFloat(op.name, op.ids.inputs, node);
  if (!HandleComplex(*subgraph_, op.name, op.ids, node)) op.import->import(node);
  if (diagnostics_.error_count() != errors) return;
  Reshape(first);
  for (size_t i = first; i < graph_.nodes.size(); ++i) ir::VerifyNode(graph_, static_cast<int>(i), diagnostics_);
  ReportEmptyOperands(graph_, first, diagnostics_);
  if (diagnostics_.error_count() == errors) FoldPlainConstants(graph_, first);
}

/// Arguments of a body that are constants.
void Importer::FixInputs(const std::vector<const ir::Tensor*>& constants) {
  if (!body_ || constants.size() != graph_.inputs.size()) return;
  std::vector<ir::TensorId> left;
  for (size_t i = 0; i < constants.size(); ++i) {
    ir::Tensor& tensor = graph_.tensor(graph_.inputs[i]);
    if (constants[i] == nullptr || constants[i]->type != tensor.type || constants[i]->dims != tensor.dims) {
      left.push_back(graph_.inputs[i]);
    } else {
      tensor.data = constants[i]->data;
    }
  }
  graph_.inputs = std::move(left);
}

bool Importer::Build(const std::vector<const ir::Tensor*>& constants) {
  const size_t errors = diagnostics_.error_count();
  ReadGraphIds(subgraph_->inputs(), "input", graph_.inputs);
  ReadGraphIds(subgraph_->outputs(), "output", graph_.outputs);
  ReadOperators();
  ReadTensors();
  FixInputs(constants);
  CheckGiven();
  for (int index : Order()) Import(index);
  if (diagnostics_.error_count() != errors) return false;
  CheckVariables();
  return diagnostics_.error_count() == errors;
}

std::optional<ir::Graph> Importer::Run() {
  const bool built = Build({});
  if (!built && open_) RequireShapes(*subgraph_, graph_, options_, diagnostics_);
  for (const auto& [name, dims] : options_.shapes) {
    const auto is_named = [this, &name = name](ir::TensorId id) { return graph_.tensor(id).name == name; };
    if (std::none_of(graph_.inputs.begin(), graph_.inputs.end(), is_named))
      Error("is given a shape but is no graph input", name);
  }
  if (!built || !diagnostics_.ok()) return std::nullopt;
  variables_.MakeStates(graph_);
  AdaptGraphIo(graph_, uint8_tensors_, diagnostics_);
  if (!ir::Verify(graph_, diagnostics_)) return std::nullopt;
  return std::move(graph_);
}

std::optional<Body> Importer::RunBody(const std::vector<const ir::Tensor*>& constants) {
  if (!Build(constants)) return std::nullopt;
  if (!graph_.states.empty()) {
    Error("has a state tensor inside of control flow; keep state in variables (VAR_HANDLE), or out of IF and WHILE");
    return std::nullopt;
  }
  AdaptGraphIo(graph_, {}, diagnostics_);
  auto variables = variables_.OfBody(graph_);
  return Body{std::move(graph_), std::move(variables)};
}

std::optional<Body> Importer::Read(int subgraph, const std::vector<const ir::Tensor*>& constants) {
  return Importer(shared_, subgraph, {}).RunBody(constants);
}

}  // namespace

std::optional<ir::Graph> ImportTflite(std::span<const uint8_t> bytes, const std::string& model_name,
                                      Diagnostics& diagnostics, const ImportOptions& options) {
  // Tables are read in place, so the file starts at an aligned address.
  const ir::Bytes aligned(bytes.begin(), bytes.end());
  const auto file = TfliteFile::Open(aligned, model_name, diagnostics);
  const auto entry = file ? FindEntry(*file, options.signature, diagnostics) : std::nullopt;
  if (!entry) return std::nullopt;
  TfliteSubgraphs shared{*file, options, diagnostics, FindVariableUses(*file, entry->subgraph, options, diagnostics)};
  return Importer(shared, entry->subgraph, entry->names).Run();
}

}  // namespace takt::frontend
