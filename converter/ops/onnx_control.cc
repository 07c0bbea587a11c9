#include "converter/ops/onnx_control.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"

namespace takt::ir {
namespace {

using frontend::OnnxBody;
using frontend::OnnxNode;
using onnx::GraphProto;
using Names = std::vector<std::string>;

constexpr size_t kMostUnrolledNodes = 2048;  // Of all trips together.

/// The only value of a constant of integers or booleans.
std::optional<int64_t> Known(const OnnxNode& node, TensorId id) {
  if (!node.is_constant(id) || node.tensor(id).element_count() != 1) return std::nullopt;
  const auto values = IntegerValues(node.tensor(id));
  return values ? std::optional<int64_t>((*values)[0]) : std::nullopt;
}

/// Gives all bodies the same inputs: after the first `own`, those that any of them captured. Returns these.
std::vector<TensorId> ShareCaptured(const OnnxNode& node, size_t own, std::vector<OnnxBody>& bodies) {
  std::vector<TensorId> all;
  for (const OnnxBody& body : bodies)
    for (const TensorId id : body.captured)
      if (std::find(all.begin(), all.end(), id) == all.end()) all.push_back(id);
  for (OnnxBody& body : bodies) {
    std::vector<TensorId> inputs(body.graph.inputs.begin(), body.graph.inputs.begin() + static_cast<int64_t>(own));
    for (const TensorId id : all) {
      const auto at = std::find(body.captured.begin(), body.captured.end(), id) - body.captured.begin();
      const bool has = at < static_cast<int64_t>(body.captured.size());
      inputs.push_back(has ? body.graph.inputs[own + static_cast<size_t>(at)] : body.graph.AddTensor(node.tensor(id)));
    }
    body.graph.inputs = std::move(inputs);
  }
  return all;
}

/// Types of the outputs of a body.
std::vector<Tensor> Outputs(const Graph& body) {
  std::vector<Tensor> outputs;
  for (const TensorId id : body.outputs) {
    Tensor& made = outputs.emplace_back();
    made.type = body.tensor(id).type;
    made.dims = body.tensor(id).dims;
    made.quantization = body.tensor(id).quantization;
  }
  return outputs;
}

std::vector<Graph> Graphs(std::vector<OnnxBody> bodies) {
  std::vector<Graph> graphs;
  for (OnnxBody& body : bodies) graphs.push_back(std::move(body.graph));
  return graphs;
}

void SetOutputs(OnnxNode& node, const std::vector<TensorId>& values, size_t first) {
  for (int i = 0; i < node.output_count() && first + static_cast<size_t>(i) < values.size(); ++i)
    node.SetOutput(i, values[first + static_cast<size_t>(i)]);
}

bool AnyFailed(const std::vector<TensorId>& values) {
  return std::find(values.begin(), values.end(), kNoTensor) != values.end();
}

// Nodes that are added to a body before it is read.

onnx::NodeProto& AddNode(GraphProto& graph, const std::string& op, const Names& inputs, const std::string& output) {
  onnx::NodeProto& node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string& input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void AddInt(onnx::NodeProto& node, const std::string& name, int64_t value) {
  onnx::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

/// An int64 constant with the given dims, of one element.
void AddConstant(GraphProto& graph, const std::string& name, int64_t value, int rank) {
  onnx::TensorProto& tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  for (int i = 0; i < rank; ++i) tensor.add_dims(1);
  tensor.add_int64_data(value);
}

/// A loop as ONNX's Loop has it: its body reads the trip's number, the condition and n values, and gives the condition,
/// the n values of the next trip and one slice of each output that is stacked.
struct LoopParts {
  GraphProto body;
  TensorId trips = kNoTensor;  ///< Its bound; none if absent.
  std::string trips_name;      ///< Around the body.
  TensorId condition = kNoTensor;
  std::vector<TensorId> values;

  size_t stacked() const { return static_cast<size_t>(body.output_size()) - 1 - values.size(); }
};

/// Stacks the slices of each trip along a new first axis.
TensorId Stack(OnnxNode& node, const std::vector<TensorId>& slices) {
  std::vector<TensorId> rows;
  for (const TensorId id : slices) {
    std::vector<int32_t> dims = {1};
    dims.insert(dims.end(), node.dims(id).begin(), node.dims(id).end());
    rows.push_back(node.Reshape(id, dims));
  }
  return rows.size() == 1 ? rows[0] : node.Emit(Op::kConcatenation, std::move(rows), {{"axis", int64_t{0}}});
}

enum class Unrolled { kDone, kFailed, kTooLong };

/// Reads the nodes of each trip. Too long: the condition depends on data, or there are too many; what was read goes.
Unrolled Unroll(OnnxNode& node, const LoopParts& loop, std::vector<TensorId>& results) {
  const size_t start = node.node_mark();
  const int64_t trips = Known(node, loop.trips).value_or(std::numeric_limits<int64_t>::max());
  enum { kEnds, kGoes, kUnknown } state = kGoes;
  const auto follow = [&](TensorId condition) {
    const auto known = Known(node, condition);
    state = !known.has_value() ? kUnknown : known.value() != 0 ? kGoes : kEnds;
  };
  if (loop.condition != kNoTensor) follow(loop.condition);
  if (loop.trips != kNoTensor && !Known(node, loop.trips)) state = kUnknown;
  std::vector<std::vector<TensorId>> stacks(loop.stacked());
  std::vector<TensorId> values = loop.values;
  for (int64_t trip = 0; state == kGoes && trip < trips; ++trip) {
    std::vector<TensorId> arguments = {node.Constant(DataType::kInt64, {}, ToBytes(std::vector<int64_t>{trip})),
                                       node.Constant(DataType::kBool, {}, {1})};
    arguments.insert(arguments.end(), values.begin(), values.end());
    const auto given = node.subgraphs().Inline(loop.body, arguments);
    if (!given || AnyFailed(*given)) return Unrolled::kFailed;
    follow((*given)[0]);
    if (node.node_mark() - start > kMostUnrolledNodes) state = kUnknown;
    std::copy_n(given->begin() + 1, values.size(), values.begin());
    for (size_t i = 0; i < stacks.size(); ++i) stacks[i].push_back((*given)[1 + values.size() + i]);
  }
  if (state == kUnknown) return node.Rewind(start), Unrolled::kTooLong;
  results = std::move(values);
  for (const auto& slices : stacks) {
    if (slices.empty()) return node.Error("runs no trip, and so stacks no elements: empty tensors"), Unrolled::kFailed;
    results.push_back(Stack(node, slices));
  }
  return Unrolled::kDone;
}

/// Before opset 13 the axes are an attribute.
void AddUnsqueeze(GraphProto& graph, int opset, const std::string& input, const std::string& output) {
  if (opset >= 13) {
    AddNode(graph, "Unsqueeze", {input, "takt/first"}, output);
    return;
  }
  onnx::AttributeProto& axes = *AddNode(graph, "Unsqueeze", {input}, output).add_attribute();
  axes.set_name("axes");
  axes.set_type(onnx::AttributeProto::INTS);
  axes.add_ints(0);
}

/// The body of a `while`: it counts the trips, and puts the stacked slices in tensors that it carries.
GraphProto CarryingBody(const LoopParts& loop, int opset) {
  GraphProto body = loop.body;
  const std::string trip = body.input(0).name();
  AddConstant(body, "takt/one", 1, 0);
  AddConstant(body, "takt/row", 1, 2);
  AddConstant(body, "takt/first", 0, 1);
  AddNode(body, "Add", {trip, "takt/one"}, "takt/next");
  if (loop.stacked() > 0) AddNode(body, "Mul", {trip, "takt/row"}, "takt/place");
  const int first = 1 + static_cast<int>(loop.values.size());
  Names outputs = {"takt/next"};
  for (int i = 0; i < body.output_size(); ++i) {
    const std::string name = body.output(i).name(), stack = "takt/stack" + std::to_string(i);
    outputs.push_back(i < first ? name : stack + "/next");
    if (i < first) continue;
    body.add_input()->set_name(stack);
    AddUnsqueeze(body, opset, name, stack + "/slice");
    AddNode(body, "ScatterND", {stack, "takt/place", stack + "/slice"}, stack + "/next");
  }
  body.clear_output();
  for (const std::string& name : outputs) body.add_output()->set_name(name);
  return body;
}

/// Whether another trip runs: the condition holds, and the bound is not reached.
GraphProto ConditionGraph(const LoopParts& loop, std::optional<int64_t> trips, size_t carried) {
  GraphProto graph;
  graph.set_name("condition");
  for (size_t i = 0; i < carried; ++i) graph.add_input()->set_name("takt/value" + std::to_string(i));
  graph.add_output()->set_name("takt/another");
  if (!trips && loop.trips == kNoTensor) {
    AddNode(graph, "Identity", {"takt/value1"}, "takt/another");
    return graph;
  }
  if (trips) AddConstant(graph, "takt/trips", *trips, 0);
  AddNode(graph, "Less", {"takt/value0", trips ? "takt/trips" : loop.trips_name}, "takt/more");
  AddNode(graph, "And", {"takt/value1", "takt/more"}, "takt/another");
  return graph;
}

/// Whether the condition that a body gives holds always, if it does at first.
bool GoesOn(const Graph& body) {
  const int producer = body.ProducerOf(body.outputs[0]);
  if (producer < 0 || body.nodes[static_cast<size_t>(producer)].op != Op::kCopy) return false;
  const TensorId from = body.nodes[static_cast<size_t>(producer)].inputs[0];
  return from == body.inputs[1] || (body.tensor(from).is_constant() && body.tensor(from).data->at(0) != 0);
}

/// Places for the slices that all trips stack.
bool AddStacks(OnnxNode& node, const LoopParts& loop, std::optional<int64_t> trips, std::vector<TensorId>& carried) {
  if (loop.stacked() == 0) return true;
  std::vector<Tensor> inputs;
  for (const TensorId id : carried) inputs.push_back(node.tensor(id));
  const auto plain = node.subgraphs().ReadBody(loop.body, inputs);
  if (!plain) return node.Fail(), false;
  if (!trips || *trips < 1 || Known(node, carried[1]).value_or(0) == 0 || !GoesOn(plain->graph)) {
    node.Error("stacks a slice for each trip, and their number depends on data; a plan's tensors have fixed shapes");
    return false;
  }
  for (size_t i = 1 + loop.values.size(); i < plain->graph.outputs.size(); ++i) {
    Tensor place = Outputs(plain->graph)[i];
    std::vector<int64_t> dims = {*trips};
    dims.insert(dims.end(), place.dims.begin(), place.dims.end());
    if (!MayMake(node, place.type, dims)) return false;
    place.dims.insert(place.dims.begin(), static_cast<int32_t>(*trips));
    place.data = std::make_shared<const Bytes>(static_cast<size_t>(place.byte_size()));
    carried.push_back(node.Constant(std::move(place)));
  }
  return true;
}

/// A `while` whose bodies carry the trip's number, the condition, the values and what is stacked.
std::vector<TensorId> While(OnnxNode& node, const LoopParts& loop) {
  const auto trips = Known(node, loop.trips);
  std::vector<TensorId> carried = {node.Constant(DataType::kInt64, {}, ToBytes(std::vector<int64_t>{0})),
                                   loop.condition};
  if (loop.condition == kNoTensor) carried[1] = node.Constant(DataType::kBool, {}, {1});
  carried.insert(carried.end(), loop.values.begin(), loop.values.end());
  if (!AddStacks(node, loop, trips, carried)) return {};
  std::vector<Tensor> inputs;
  for (const TensorId id : carried) inputs.push_back(node.tensor(id));
  std::vector<OnnxBody> bodies;
  for (const GraphProto& graph : {ConditionGraph(loop, trips, carried.size()), CarryingBody(loop, node.opset())}) {
    auto body = node.subgraphs().ReadBody(graph, inputs);
    if (!body) return node.Fail(), carried;
    bodies.push_back(std::move(*body));
  }
  std::vector<Tensor> outputs = Outputs(bodies[1].graph);
  const std::vector<TensorId> captured = ShareCaptured(node, carried.size(), bodies);
  carried.insert(carried.end(), captured.begin(), captured.end());
  std::map<std::string, Attribute> attributes;
  if (trips) attributes["max_trips"] = *trips;
  std::vector<TensorId> results =
      node.EmitSeveral(Op::kWhile, carried, std::move(outputs), std::move(attributes), Graphs(std::move(bodies)));
  results.erase(results.begin(), results.begin() + 2);
  return results;
}

/// The values at the end, then what is stacked; nothing after an error.
std::vector<TensorId> Run(OnnxNode& node, const LoopParts& loop) {
  std::vector<TensorId> results;
  if (loop.body.input_size() != static_cast<int>(loop.values.size()) + 2 ||
      loop.body.output_size() < static_cast<int>(loop.values.size()) + 1) {
    return node.Error("has a body with another number of inputs or outputs; the file is damaged"), results;
  }
  const Unrolled unrolled = Unroll(node, loop, results);
  if (unrolled == Unrolled::kFailed) return node.Fail(), results;
  return unrolled == Unrolled::kDone ? results : While(node, loop);
}

/// A Scan's body as that of a Loop: each trip takes its slices itself.
std::optional<LoopParts> ScanLoop(OnnxNode& node, const GraphProto& given) {
  LoopParts loop;
  const int64_t scanned = node.Int("num_scan_inputs", 0), states = node.input_count() - scanned;
  const std::vector<int64_t> axes = node.Ints("scan_input_axes", {}), reversed = node.Ints("scan_input_directions", {});
  if (scanned < 1 || states < 0 || given.input_size() != node.input_count() || given.output_size() < states) {
    node.Error("has a body with another number of inputs or outputs; the file is damaged");
    return std::nullopt;
  }
  loop.body = given;
  loop.body.clear_input();
  for (const char* name : {"takt/trip", "takt/go"}) loop.body.add_input()->set_name(name);
  int32_t trips = 0;
  for (int i = 0; i < given.input_size(); ++i) {
    const auto j = static_cast<size_t>(std::max<int64_t>(0, i - states));
    if (i < states) {
      *loop.body.add_input() = given.input(i);
      loop.values.push_back(node.input(i));
      continue;
    }
    const auto axis = node.Axis(j < axes.size() ? axes[j] : 0, node.dims(node.input(i)).size());
    if (!axis) return std::nullopt;
    const int32_t size = node.dims(node.input(i))[*axis];
    if (j == 0) trips = size;
    if (size != trips) return node.Error("scans inputs of different lengths"), std::nullopt;
    std::string index = "takt/trip";
    if (j < reversed.size() && reversed[j] != 0) {
      index = "takt/index" + std::to_string(i);
      AddConstant(loop.body, index + "/last", size - 1, 0);
      AddNode(loop.body, "Sub", {index + "/last", "takt/trip"}, index);
    }
    AddInt(AddNode(loop.body, "Gather", {node.input_name(i), index}, given.input(i).name()), "axis",
           static_cast<int64_t>(*axis));
  }
  loop.body.clear_output();
  loop.body.add_output()->set_name("takt/go");
  for (const auto& output : given.output()) *loop.body.add_output() = output;
  loop.trips = node.Constant(DataType::kInt64, {}, ToBytes(std::vector<int64_t>{trips}));
  return loop;
}

/// Slices that are stacked along axis 0, in the order and along the axis that the node asks for.
TensorId Arranged(OnnxNode& node, TensorId id, bool reversed, int64_t wanted) {
  const std::vector<int32_t> dims = node.dims(id);
  const auto axis = node.Axis(wanted, dims.size());
  if (!axis) return kNoTensor;
  if (reversed) {
    std::vector<int32_t> order;
    for (int32_t i = dims[0]; i-- > 0;) order.push_back(i);
    const TensorId indices = node.Constant(DataType::kInt32, {dims[0]}, ToBytes(order));
    id = node.Emit(Op::kGather, {id, indices}, {{"axis", int64_t{0}}});
  }
  std::vector<int64_t> permutation;
  for (size_t i = 1; i < dims.size(); ++i) permutation.push_back(static_cast<int64_t>(i));
  permutation.insert(permutation.begin() + static_cast<int64_t>(*axis), 0);
  return node.Transpose(id, permutation);
}

}  // namespace

void ImportOnnxIf(OnnxNode& node) {
  if (!node.CheckInputs(1, 1)) return;
  const GraphProto* branches[] = {node.GraphAttribute("then_branch"), node.GraphAttribute("else_branch")};
  if (node.failed()) return;
  for (const GraphProto* branch : branches)
    if (branch->output_size() != node.output_count()) return node.Error("has a branch with another number of outputs");
  if (const auto known = Known(node, node.input(0))) {
    const auto values = node.subgraphs().Inline(*branches[*known != 0 ? 0 : 1], {});
    return values && !AnyFailed(*values) ? SetOutputs(node, *values, 0) : node.Fail();
  }
  std::vector<OnnxBody> bodies;
  for (const GraphProto* branch : branches) {
    auto body = node.subgraphs().ReadBody(*branch, {});
    if (!body) {
      return node.Error(
          "needs both branches, as its condition depends on data; where an input decides, --constant "
          "NAME=VALUE makes it known");
    }
    bodies.push_back(std::move(*body));
  }
  std::vector<TensorId> inputs = {node.input(0)};
  const std::vector<TensorId> captured = ShareCaptured(node, 0, bodies);
  inputs.insert(inputs.end(), captured.begin(), captured.end());
  std::vector<Tensor> outputs = Outputs(bodies[0].graph);
  SetOutputs(node, node.EmitSeveral(Op::kIf, inputs, std::move(outputs), {}, Graphs(std::move(bodies))), 0);
}

void ImportOnnxLoop(OnnxNode& node) {
  const GraphProto* body = node.GraphAttribute("body");
  if (body == nullptr) return;
  LoopParts loop{*body, node.input(0), node.input_name(0), node.input(1), {}};
  for (int i = 2; i < node.input_count(); ++i) loop.values.push_back(node.input(i));
  SetOutputs(node, Run(node, loop), 0);
}

void ImportOnnxScan(OnnxNode& node) {
  const GraphProto* body = node.GraphAttribute("body");
  if (body == nullptr) return;
  const auto loop = ScanLoop(node, *body);
  if (!loop) return;
  std::vector<TensorId> results = Run(node, *loop);
  const std::vector<int64_t> axes = node.Ints("scan_output_axes", {}),
                             reversed = node.Ints("scan_output_directions", {});
  for (size_t i = loop->values.size(); i < results.size() && !node.failed(); ++i) {
    const size_t j = i - loop->values.size();
    results[i] = Arranged(node, results[i], j < reversed.size() && reversed[j] != 0, j < axes.size() ? axes[j] : 0);
  }
  SetOutputs(node, results, 0);
}

}  // namespace takt::ir
