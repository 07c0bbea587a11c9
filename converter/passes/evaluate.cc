#include "converter/passes/evaluate.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "converter/backend/step_call.h"
#include "converter/ir/size_limits.h"
#include "converter/passes/passes.h"
#include "ports/reference/kernels.h"

namespace takt::passes {
namespace {

/// Memory of 16-byte blocks, so that every type is aligned.
class Memory {
 public:
  explicit Memory(const ir::Graph& graph) : graph_(graph) {}

  std::byte* Address(ir::TensorId id) {
    const auto& view = graph_.tensor(id).view;
    return view ? Address(view->base, view->offset_bytes) : Address(id, 0);
  }

 private:
  struct alignas(16) Block {
    std::byte bytes[16];
  };

  std::byte* Address(ir::TensorId base, int64_t offset) {
    const ir::Tensor& t = graph_.tensor(base);
    if (t.is_constant()) return reinterpret_cast<std::byte*>(const_cast<uint8_t*>(t.data->data())) + offset;
    std::vector<Block>& blocks = blocks_[base];
    if (blocks.empty()) blocks.resize(static_cast<size_t>(t.byte_size()) / sizeof(Block) + 1);
    return reinterpret_cast<std::byte*>(blocks.data()) + offset;
  }

  const ir::Graph& graph_;
  std::map<ir::TensorId, std::vector<Block>> blocks_;
};

/// Whether what is computed takes the memory of a constant that may be made, or little more than what it comes from
/// (weights of another type).
bool Fits(const ir::Graph& graph) {
  constexpr int64_t kMostBytes = ir::kMostMadeElements * 8, kMostGrowth = 8;
  int64_t read = 0, made = 0;
  for (const ir::Tensor& t : graph.tensors) (t.is_constant() ? read : made) += t.byte_size();
  return made <= std::max(kMostBytes, kMostGrowth * read);
}

}  // namespace

std::optional<std::vector<ir::Bytes>> Evaluate(ir::Graph graph, Numerics numerics) {
  constexpr uint64_t kMostWork = uint64_t{1} << 30;
  if (!Fits(graph)) return std::nullopt;
  Diagnostics diagnostics;
  PassContext context{numerics, diagnostics};
  EliminateViews(graph, context);
  const std::vector<backend::StepSpec> steps = backend::LowerGraph(graph, numerics, diagnostics);
  if (!diagnostics.ok()) return std::nullopt;
  Memory memory(graph);
  for (const backend::StepSpec& step : steps) {
    const Kernel* kernel = backend::FindKernel(graph, step, reference::AllKernels());
    if (kernel == nullptr) return std::nullopt;
    backend::StepCall call(graph, step, [&](ir::TensorId id) { return memory.Address(id); });
    uint64_t work = 0;
    if (!kernel->check(call.call(), work).ok() || work > kMostWork) return std::nullopt;
    const KernelNeed need = kernel->need != nullptr ? kernel->need(call.call()) : KernelNeed();
    if (need.persistent != 0) return std::nullopt;
    std::vector<std::max_align_t> scratch(need.scratch / sizeof(std::max_align_t) + 1);
    call.call().scratch = std::as_writable_bytes(std::span(scratch)).first(need.scratch);
    kernel->run(call.call());
  }
  std::vector<ir::Bytes> outputs;
  for (ir::TensorId id : graph.outputs) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(memory.Address(id));
    outputs.emplace_back(bytes, bytes + graph.tensor(id).byte_size());
  }
  return outputs;
}

ir::Graph IsolateNode(const ir::Graph& graph, const ir::Node& node) {
  ir::Graph alone;
  alone.nodes = {node};
  ir::Node& copy = alone.nodes[0];
  const auto move = [&](ir::TensorId& id) {
    if (id != ir::kNoTensor) id = alone.AddTensor(graph.tensor(id));
  };
  for (ir::TensorId& id : copy.inputs) move(id);
  for (ir::TensorId& id : copy.outputs) move(id);
  alone.outputs = copy.outputs;
  return alone;
}

}  // namespace takt::passes
