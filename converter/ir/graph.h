// The converter's graph: tensors, nodes in topological order, and the names and origins that diagnostics quote.
#ifndef TAKT_CONVERTER_IR_GRAPH_H_
#define TAKT_CONVERTER_IR_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/data_type.h"
#include "engine/core/op.h"

namespace takt::ir {

using TensorId = int32_t;
/// An absent optional input.
inline constexpr TensorId kNoTensor = -1;

/// real = scale * (stored - zero_point); one scale, or one for each index of dimension `axis`.
struct Quantization {
  std::vector<float> scales;
  std::vector<int32_t> zero_points;
  int axis = 0;

  bool per_channel() const { return scales.size() > 1; }
  friend bool operator==(const Quantization&, const Quantization&) = default;
};

/// Memory of a tensor that is a part of another's: set by view elimination, read by the planner and the writer.
struct View {
  TensorId base = kNoTensor;
  int64_t offset_bytes = 0;
  std::vector<int64_t> strides;  ///< In bytes; empty if dense.
  friend bool operator==(const View&, const View&) = default;
};

/// "[1, 2]"
std::string DimsText(const std::vector<int32_t>& dims);

using Bytes = std::vector<uint8_t>;

/// Row-major; NHWC where the op has a spatial meaning. `data` holds the bytes of a constant, little-endian, shared
/// between copies.
struct Tensor {
  std::string name;
  DataType type = DataType::kNone;
  std::vector<int32_t> dims;
  std::optional<Quantization> quantization;
  std::shared_ptr<const Bytes> data;
  std::optional<View> view;
  int32_t source = -1;  ///< Index in the source model.

  bool is_constant() const { return data != nullptr; }
  int64_t element_count() const;  ///< Cut off at 2^31.
  int64_t byte_size() const;
  /// Constants are compared by their bytes.
  friend bool operator==(const Tensor& a, const Tensor& b);
};

using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>>;

struct Graph;

/// Attributes are real-valued and independent of quantization; each op's file in converter/ops lists its own.
struct Node {
  Op op = Op::kNone;
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::map<std::string, Attribute> attributes;
  std::vector<int32_t> sources;  ///< Indices of source nodes; several after fusion.
  std::string name;
  std::vector<Graph> bodies;  ///< Of `if` and `while` (converter/ops/control.cc): they read their own inputs only.

  int64_t Int(const std::string& key) const;
  int64_t IntOr(const std::string& key, int64_t fallback) const;
  double FloatOr(const std::string& key, double fallback) const;
  std::string StringOr(const std::string& key, const std::string& fallback) const;
  const std::vector<int64_t>& Ints(const std::string& key) const;
  friend bool operator==(const Node& a, const Node& b);
};

/// A value that stays from one invocation to the next: nodes read it as `tensor`; at the end of an invocation `next`,
/// which a node writes, takes its place. At first it is the constant `initial`, or zero.
struct State {
  TensorId tensor = kNoTensor;
  TensorId next = kNoTensor;
  TensorId initial = kNoTensor;
  bool in_place = false;  ///< `next` is the memory of `tensor`: no copy, but a run that is cut short loses the state.
  friend bool operator==(const State&, const State&) = default;
};

struct Graph {
  std::string name;  ///< The model's file name, for diagnostics.
  std::vector<Tensor> tensors;
  std::vector<Node> nodes;  ///< In an order that runs.
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
  std::vector<State> states;

  TensorId AddTensor(Tensor tensor);
  TensorId AddConstant(std::string name, DataType type, std::vector<int32_t> dims, Bytes bytes);
  Tensor& tensor(TensorId id) { return tensors[static_cast<size_t>(id)]; }
  const Tensor& tensor(TensorId id) const { return tensors[static_cast<size_t>(id)]; }

  /// Index of the node that writes `id`, or -1 (graph input, constant).
  int ProducerOf(TensorId id) const;
  /// Indices of the nodes that read `id`, ascending, each once.
  std::vector<int> ConsumersOf(TensorId id) const;
  bool IsState(TensorId id) const;
  /// Whether it has a value before any node runs: a graph input or a state.
  bool IsInput(TensorId id) const;
  /// Whether its value is wanted after the last node: a graph output or a state's next value.
  bool IsOutput(TensorId id) const;
  /// Makes every reader of `from`, the graph's outputs and states included, read `to`.
  void ReplaceUses(TensorId from, TensorId to);
  friend bool operator==(const Graph&, const Graph&) = default;
};

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_IR_GRAPH_H_
