// One ONNX node as an op's import function sees it: resolved inputs, typed attributes, and the graph to add nodes to.
#ifndef TAKT_CONVERTER_FRONTEND_ONNX_NODE_H_
#define TAKT_CONVERTER_FRONTEND_ONNX_NODE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/frontend/onnx_subgraphs.h"
#include "converter/ir/op_def.h"

namespace onnx {
class AttributeProto;
class NodeProto;
}  // namespace onnx

namespace takt::frontend {

/// Tensors keep ONNX's order of dimensions; an op that computes in NHWC puts transposes around itself (ToNhwc,
/// FromNhwc), which the layout pass cancels. Import functions add nodes with Emit and say with SetOutput which tensors
/// are the node's outputs. After an error Emit gives kNoTensor, and emitting on it stays silent: only the first error
/// of a node counts.
class OnnxNode {
 public:
  OnnxNode(const onnx::NodeProto& proto, int opset, int index, std::vector<ir::TensorId> inputs, ir::Graph& graph,
           Diagnostics& diagnostics, OnnxSubgraphs* subgraphs = nullptr);

  const std::string& op_type() const;
  int opset() const { return opset_; }
  int input_count() const { return static_cast<int>(inputs_.size()); }
  int output_count() const;
  /// kNoTensor if absent.
  ir::TensorId input(int i) const { return i < input_count() ? inputs_[static_cast<size_t>(i)] : ir::kNoTensor; }
  /// Its name in the file; empty if absent.
  std::string input_name(int i) const;
  /// Makes what follows read another tensor.
  void set_input(int i, ir::TensorId id) { inputs_[static_cast<size_t>(i)] = id; }
  bool has_input(int i) const { return input(i) != ir::kNoTensor; }
  const ir::Tensor& tensor(ir::TensorId id) const { return graph_.tensor(id); }
  const std::vector<int32_t>& dims(ir::TensorId id) const { return graph_.tensor(id).dims; }
  bool is_constant(ir::TensorId id) const { return id != ir::kNoTensor && graph_.tensor(id).is_constant(); }

  // Attributes; an attribute of another kind than asked for is an error.
  bool Has(const char* name) const;
  int64_t Int(const char* name, int64_t fallback);
  double Float(const char* name, double fallback);
  std::string String(const char* name, const std::string& fallback);
  std::vector<int64_t> Ints(const char* name, std::vector<int64_t> fallback);
  std::vector<float> Floats(const char* name);
  std::vector<std::string> Strings(const char* name);
  /// The type that an attribute names (Cast's `to`); kNone if absent or not supported.
  DataType TypeAttribute(const char* name);
  /// A constant given as an attribute.
  std::optional<ir::Tensor> TensorAttribute(const char* name);
  /// A graph given as an attribute; reports its absence.
  const onnx::GraphProto* GraphAttribute(const char* name);
  OnnxSubgraphs& subgraphs() { return *subgraphs_; }

  /// Reports an error unless between min and max inputs are given and the first `min` are present.
  bool CheckInputs(int min, int max);
  /// Reports an error if an output from `count` on is used.
  bool CheckOutputs(int count);
  /// Axis within [0, rank), negative ones from the end; reports others.
  std::optional<size_t> Axis(int64_t axis, size_t rank);
  std::optional<std::vector<int64_t>> Axes(std::vector<int64_t> axes, size_t rank);
  /// Input 1 of a binary operator, shaped so that it broadcasts from the last dimension on: before opset 7, it starts
  /// at dimension `axis` of input 0.
  ir::TensorId BroadcastOperand();
  /// Values of a constant integer input; reports one that is not.
  std::optional<std::vector<int64_t>> ConstantInts(int input);
  /// The only value of a constant float32 (or integer) input; reports others.
  std::optional<double> ConstantScalar(int input);

  /// Adds a node; its output's type is what the op's shape rule gives.
  ir::TensorId Emit(Op op, std::vector<ir::TensorId> inputs, std::map<std::string, ir::Attribute> attributes = {});
  /// The same for ops whose output's dims are the importer's choice (reshape, slice).
  ir::TensorId EmitShaped(Op op, ir::TensorId input, std::vector<int32_t> dims,
                          std::map<std::string, ir::Attribute> attributes = {});
  /// The same with the output's type given as well (quantize and the like).
  ir::TensorId EmitTyped(Op op, std::vector<ir::TensorId> inputs, ir::Tensor output,
                         std::map<std::string, ir::Attribute> attributes = {});
  /// The same for ops of several outputs, each with its type (kNone: the shape rule's).
  std::vector<ir::TensorId> EmitSeveral(Op op, std::vector<ir::TensorId> inputs, std::vector<ir::Tensor> outputs,
                                        std::map<std::string, ir::Attribute> attributes = {},
                                        std::vector<ir::Graph> bodies = {});
  /// These fold constants, and give `id` itself where nothing would change.
  ir::TensorId Transpose(ir::TensorId id, const std::vector<int64_t>& permutation);
  ir::TensorId Reshape(ir::TensorId id, const std::vector<int32_t>& dims);
  /// [N, C, D1 .. Dn], n = 1 to 3, to [N, D1 .. Dn, C] (NHWC with H = 1 if n = 1), and back for a tensor of rank
  /// `rank`.
  ir::TensorId ToNhwc(ir::TensorId id);
  ir::TensorId FromNhwc(ir::TensorId id, size_t rank);
  ir::TensorId Constant(DataType type, std::vector<int32_t> dims, ir::Bytes bytes);
  ir::TensorId Constant(ir::Tensor constant);
  ir::TensorId FloatConstant(std::vector<int32_t> dims, const std::vector<float>& values);

  /// The int8 form of a tensor of stored values, int8 or uint8, which gets the quantization; uint8 behind a requantize.
  ir::TensorId QuantizedInput(ir::TensorId id, ir::Quantization int8);

  /// What was added to the graph from `first` on goes again.
  size_t node_mark() const { return graph_.nodes.size(); }
  void Rewind(size_t first);

  void SetOutput(int i, ir::TensorId id) { outputs_[static_cast<size_t>(i)] = id; }
  const std::vector<ir::TensorId>& outputs() const { return outputs_; }

  /// What is wrong, the rule, the remedy; located at the node.
  void Error(std::string message, ir::TensorId tensor = ir::kNoTensor);
  /// After an error that was reported elsewhere.
  void Fail() { failed_ = true; }
  bool failed() const { return failed_; }
  void Note(std::string message);

 private:
  const onnx::AttributeProto* Find(const char* name, int type);
  ir::TensorId StoredConstant(ir::TensorId id) const;
  ir::TensorId Dequantized(ir::Tensor stored);
  bool SetType(const ir::TensorType& type, ir::Tensor& made);

  const onnx::NodeProto& proto_;
  int opset_;
  int index_;
  std::vector<ir::TensorId> inputs_;
  std::vector<ir::TensorId> outputs_;
  ir::Graph& graph_;
  Diagnostics& diagnostics_;
  OnnxSubgraphs* subgraphs_;
  bool failed_ = false;
};

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_NODE_H_
