#include "converter/ir/graph.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace takt::ir {

std::string DimsText(const std::vector<int32_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

int64_t Tensor::element_count() const {
  constexpr int64_t kBeyond = int64_t{1} << 31;  // Twice what a tensor may have (size_limits.h).
  int64_t count = 1;
  for (int32_t dim : dims) count = std::clamp(count * dim, -kBeyond, kBeyond);
  return count;
}

int64_t Tensor::byte_size() const {
  return (element_count() * BitWidth(type) + 7) / 8;
}

bool operator==(const Tensor& a, const Tensor& b) {
  const bool same_data = a.data == b.data || (a.data != nullptr && b.data != nullptr && *a.data == *b.data);
  return same_data && std::tie(a.name, a.type, a.dims, a.quantization, a.view, a.source) ==
                          std::tie(b.name, b.type, b.dims, b.quantization, b.view, b.source);
}

int64_t Node::Int(const std::string& key) const {
  return std::get<int64_t>(attributes.at(key));
}

int64_t Node::IntOr(const std::string& key, int64_t fallback) const {
  auto it = attributes.find(key);
  return it == attributes.end() ? fallback : std::get<int64_t>(it->second);
}

double Node::FloatOr(const std::string& key, double fallback) const {
  auto it = attributes.find(key);
  return it == attributes.end() ? fallback : std::get<double>(it->second);
}

std::string Node::StringOr(const std::string& key, const std::string& fallback) const {
  auto it = attributes.find(key);
  return it == attributes.end() ? fallback : std::get<std::string>(it->second);
}

const std::vector<int64_t>& Node::Ints(const std::string& key) const {
  return std::get<std::vector<int64_t>>(attributes.at(key));
}

TensorId Graph::AddTensor(Tensor tensor) {
  tensors.push_back(std::move(tensor));
  return static_cast<TensorId>(tensors.size()) - 1;
}

TensorId Graph::AddConstant(std::string constant_name, DataType type, std::vector<int32_t> dims, Bytes bytes) {
  Tensor tensor;
  tensor.name = std::move(constant_name);
  tensor.type = type;
  tensor.dims = std::move(dims);
  tensor.data = std::make_shared<const Bytes>(std::move(bytes));
  return AddTensor(std::move(tensor));
}

bool operator==(const Node& a, const Node& b) {
  return a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs && a.attributes == b.attributes &&
         a.sources == b.sources && a.name == b.name && a.bodies == b.bodies;
}

int Graph::ProducerOf(TensorId id) const {
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (std::find(nodes[i].outputs.begin(), nodes[i].outputs.end(), id) != nodes[i].outputs.end())
      return static_cast<int>(i);
  }
  return -1;
}

std::vector<int> Graph::ConsumersOf(TensorId id) const {
  std::vector<int> consumers;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (std::find(nodes[i].inputs.begin(), nodes[i].inputs.end(), id) != nodes[i].inputs.end()) {
      consumers.push_back(static_cast<int>(i));
    }
  }
  return consumers;
}

bool Graph::IsState(TensorId id) const {
  return std::any_of(states.begin(), states.end(), [id](const State& state) { return state.tensor == id; });
}

bool Graph::IsInput(TensorId id) const {
  return IsState(id) || std::find(inputs.begin(), inputs.end(), id) != inputs.end();
}

bool Graph::IsOutput(TensorId id) const {
  return std::find(outputs.begin(), outputs.end(), id) != outputs.end() ||
         std::any_of(states.begin(), states.end(), [id](const State& state) { return state.next == id; });
}

void Graph::ReplaceUses(TensorId from, TensorId to) {
  for (Node& node : nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
  std::replace(outputs.begin(), outputs.end(), from, to);
  for (State& state : states) {
    if (state.next == from) state.next = to;
  }
}

}  // namespace takt::ir
