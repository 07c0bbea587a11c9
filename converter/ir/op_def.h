// What the converter knows of one op: a row of functions that its file in converter/ops defines.
#ifndef TAKT_CONVERTER_IR_OP_DEF_H_
#define TAKT_CONVERTER_IR_OP_DEF_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "converter/ir/graph.h"

namespace takt {
class Diagnostics;
namespace frontend {
class OnnxNode;    // converter/frontend/onnx_node.h
class TfliteNode;  // converter/frontend/tflite_node.h
}  // namespace frontend
namespace backend {
class StepBuilder;  // converter/backend/step_builder.h
}
}  // namespace takt

namespace takt::ir {

/// Shape and type of an output, as the op's rule gives them.
struct TensorType {
  DataType type = DataType::kNone;
  std::vector<int32_t> dims;
  friend bool operator==(const TensorType&, const TensorType&) = default;
};

/// How an NPU would see the op; lowering lives in converter/npu.
enum class NpuClass { kNone, kContraction, kPool, kElementwise, kMove };

/// Kinds of attributes, in the order of Attribute's alternatives.
enum class AttributeKind { kInt, kFloat, kString, kInts, kFloats };
struct AttributeRule {
  const char* name;
  AttributeKind kind;
  bool required;
};

/// A TFLite builtin operator (its code in the TFLite schema) and the function that turns one into nodes of the graph.
struct TfliteImport {
  int builtin;
  const char* name;
  void (*import)(frontend::TfliteNode& node);
};

/// An ONNX operator from opset `since` on (up to the next row of the same operator), and its import function.
struct OnnxImport {
  const char* op_type;
  int since;
  void (*import)(frontend::OnnxNode& node);
};

/// What an integer form of the op asks of the quantization of its operands and output.
enum class QuantRule {
  kFloat,        ///< There is none.
  kFree,         ///< Each has its own.
  kShared,       ///< All have one.
  kContraction,  ///< Input 0 and output: their own; weights symmetric per output channel; bias int32.
  kSoftmax,      ///< The output's is 1/256, -128.
};

struct OpDef {
  Op op;
  std::span<const AttributeRule> attributes;
  /// The shape rule: types of the outputs, or the reason (a sentence with the offending values) why the node is wrong.
  std::string (*infer)(const Graph& graph, const Node& node, std::vector<TensorType>& outputs);
  /// Turns a node into a plan step; nullptr for graph ops, which passes have removed by then.
  void (*lower)(const Node& node, backend::StepBuilder& step);
  std::span<const TfliteImport> tflite;
  NpuClass npu = NpuClass::kNone;
  std::span<const OnnxImport> onnx = {};
  /// Makes the node, whose operands x the caller replaces by y with x.dims[i] = y.dims[permutation[i]], give its output
  /// in y's order of dimensions. False, or no function: the op depends on the order.
  bool (*commute)(std::span<const int64_t> permutation, Node& node) = nullptr;
  QuantRule quant = QuantRule::kFloat;
  /// `commute` concerns that many inputs; those behind stay as they are, and are of rank 1.
  size_t commuting_inputs = SIZE_MAX;
};

/// `commute` of ops that treat each element alike.
bool CommuteElementwise(std::span<const int64_t> permutation, Node& node);
/// Attribute `key`, one value for each dimension, in the order of a permuted operand.
void PermuteValues(std::span<const int64_t> permutation, const std::string& key, Node& node);

/// The definition of any op of the table.
const OpDef& FindOpDef(Op op);
/// What the shape rule of `node`'s op gives; also the reason if an attribute or output is larger than the rules count
/// with: integers of 32 bits, and ir/size_limits.h.
std::string InferTypes(const Graph& graph, const Node& node, std::vector<TensorType>& outputs);
/// All definitions in table order.
std::span<const OpDef* const> AllOpDefs();

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_IR_OP_DEF_H_
