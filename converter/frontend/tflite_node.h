// One TFLite operator as an op's import function sees it: verified indices, typed options, and the graph to add nodes
// to.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_NODE_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_NODE_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"
#include "schema/tflite_generated.h"

namespace takt::frontend {

class TfliteVariables;

/// A variable's value before and after a body; the same tensor if the body only reads it.
struct BodyVariable {
  ir::TensorId before, after;
};
/// A subgraph as the body of an operator. Variables that it uses are inputs and outputs beside those of the graph.
struct Body {
  ir::Graph graph;
  std::map<std::string, BodyVariable> variables;
};

/// Where an operator finds the file's other subgraphs.
class SubgraphReader {
 public:
  virtual ~SubgraphReader() = default;
  /// Why a subgraph cannot be read as a body here; empty if it can.
  virtual std::string Refusal(int64_t subgraph) const = 0;
  /// Nothing after errors. constants[i]: the value of input i, which is an input no more;
  /// nullptr for others.
  virtual std::optional<Body> Read(int subgraph, const std::vector<const ir::Tensor*>& constants) = 0;
  /// Which outputs are the input of the same index; empty if their numbers differ.
  virtual std::vector<bool> PassedThrough(int subgraph) const = 0;
};

/// Inputs and outputs are graph tensors already (tensor i of the subgraph is tensor i of the graph). Import functions
/// add nodes and report errors; after an error the importer goes on with the next operator.
class TfliteNode {
 public:
  /// `subgraph`: the operator's. `reshaped`: graph inputs have other shapes than the file's, so outputs may as well.
  TfliteNode(const tflite::SubGraph& subgraph, const tflite::Operator& op, const char* name, int version, int index,
             ir::Graph& graph, Diagnostics& diagnostics, bool reshaped = false);

  void set_file(SubgraphReader* subgraphs, TfliteVariables* variables) {
    subgraphs_ = subgraphs;
    variables_ = variables;
  }
  TfliteVariables& variables() { return *variables_; }
  /// As SubgraphReader's, with refusals reported here.
  std::optional<Body> Subgraph(int index, const std::vector<const ir::Tensor*>& constants);
  std::vector<bool> PassedThrough(int subgraph) const { return subgraphs_->PassedThrough(subgraph); }

  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const { return static_cast<int>(outputs_.size()); }
  /// kNoTensor if absent.
  ir::TensorId input(int i) const { return i < input_count() ? inputs_[static_cast<size_t>(i)] : ir::kNoTensor; }
  ir::TensorId output(int i) const { return outputs_[static_cast<size_t>(i)]; }
  void set_input(int i, ir::TensorId id) { inputs_[static_cast<size_t>(i)] = id; }
  bool has_input(int i) const { return input(i) != ir::kNoTensor; }
  const ir::Tensor& tensor(ir::TensorId id) const { return graph_.tensor(id); }
  int version() const { return version_; }
  ir::Graph& graph() { return graph_; }

  /// The operator's options, or nullptr if it carries none or another kind.
  template <typename T>
  const T* options() const {
    return op_.builtin_options_as<T>();
  }

  /// Quantization of a value inside the operator (Operator.intermediates); nothing if the file gives none.
  std::optional<ir::Quantization> Intermediate(uint32_t i) const;

  /// Bytes of a custom operator; empty if there are none.
  std::span<const uint8_t> custom_options() const {
    const auto* bytes = op_.custom_options();
    return bytes == nullptr ? std::span<const uint8_t>() : std::span<const uint8_t>(bytes->data(), bytes->size());
  }

  /// Reports an error unless the operator has between min and max inputs and `outputs` outputs, and the first `min`
  /// inputs are present.
  bool CheckArity(int min_inputs, int max_inputs, int outputs);
  /// Values of a constant int32 or int64 input; reports an error and gives nothing if it is not constant.
  std::optional<std::vector<int64_t>> ConstantInts(int input);

  /// Axis within [0, rank), negative ones from the end; reports others.
  std::optional<size_t> Axis(int64_t axis, size_t rank);
  /// The dims of output i as the operator's rule gives them; reports a file that records others.
  bool SetDims(int i, const std::vector<int32_t>& dims);
  /// Output i is a constant.
  void SetConstant(int i, ir::Bytes bytes);

  /// Adds a node with this operator's outputs.
  ir::Node& Add(Op op, std::vector<ir::TensorId> inputs, std::map<std::string, ir::Attribute> attributes = {});
  /// Adds a node with outputs of its own, made beforehand with NewTensor.
  ir::Node& AddTo(Op op, std::vector<ir::TensorId> inputs, std::vector<ir::TensorId> outputs,
                  std::map<std::string, ir::Attribute> attributes = {});
  /// Adds a node with an output of its own, whose type is what the op's shape rule gives, and gives that output.
  ir::TensorId Emit(Op op, std::vector<ir::TensorId> inputs, std::map<std::string, ir::Attribute> attributes = {});
  /// `id` in float32: itself, or what a dequantize node makes of it, which a note names.
  ir::TensorId ToFloat(ir::TensorId id);
  /// Adds a node on float32 operands that gives this operator's output, quantized again where it is an integer.
  void AddFloat(Op op, std::vector<ir::TensorId> inputs, std::map<std::string, ir::Attribute> attributes = {});
  /// `id` with the quantization of this operator's output: itself, or what a requantize node makes of it, which a note
  /// names.
  ir::TensorId ToOutputScale(ir::TensorId id);
  /// One value, to broadcast.
  ir::TensorId Scalar(float value);
  /// A new tensor like `model` (type, dims, quantization) named after this operator's output plus `suffix`.
  ir::TensorId NewTensor(const ir::Tensor& model, const std::string& suffix);

  /// A new tensor that becomes the value of the state that input `i` is; reports an input that is no variable of this
  /// operator alone.
  ir::TensorId NextState(int i);

  /// Name of a fused activation ("none", "relu", "relu_n1_to_1", "relu6"), the value of attribute `activation`; reports
  /// others as errors.
  std::string Activation(tflite::ActivationFunctionType activation);

  void Error(std::string message, ir::TensorId tensor = ir::kNoTensor);
  void Note(std::string message, ir::TensorId tensor = ir::kNoTensor);

 private:
  const tflite::SubGraph& subgraph_;
  const tflite::Operator& op_;
  const char* name_;
  int version_;
  int index_;
  bool reshaped_;
  ir::Graph& graph_;
  Diagnostics& diagnostics_;
  std::vector<ir::TensorId> inputs_;
  std::vector<ir::TensorId> outputs_;
  SubgraphReader* subgraphs_ = nullptr;
  TfliteVariables* variables_ = nullptr;
};

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_NODE_H_
