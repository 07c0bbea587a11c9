#include "converter/backend/scratch.h"

#include <algorithm>
#include <string>

namespace takt::backend {
namespace {

KernelKey KeyOf(const ir::Graph& graph, const StepSpec& step) {
  KernelKey key{.op = step.op, .numerics = step.numerics};
  if (!step.inputs.empty()) key.types[0] = graph.tensor(step.inputs[0]).type;
  if (step.inputs.size() > 1) key.types[1] = graph.tensor(step.inputs[1]).type;
  if (!step.outputs.empty()) key.types[2] = graph.tensor(step.outputs[0]).type;
  return key;
}

/// Strides and memory of arena tensors don't matter to what a kernel needs.
TensorRef Ref(const ir::Tensor& tensor) {
  TensorRef ref{.dims = tensor.dims.data(), .type = tensor.type, .rank = static_cast<uint8_t>(tensor.dims.size())};
  ref.constant = tensor.is_constant();
  if (ref.constant) ref.data = const_cast<uint8_t*>(tensor.data->data());
  return ref;
}

uint32_t ScratchBytes(const ir::Graph& graph, const StepSpec& step, const Kernel& kernel) {
  if (kernel.need == nullptr) return 0;
  std::vector<TensorRef> inputs;
  std::vector<TensorRef> outputs;
  for (ir::TensorId id : step.inputs) inputs.push_back(Ref(graph.tensor(id)));
  for (ir::TensorId id : step.outputs) outputs.push_back(Ref(graph.tensor(id)));
  return kernel
      .need({.step_params = step.params.data(), .inputs = inputs, .outputs = outputs, .scratch = {}, .persistent = {}})
      .scratch;
}

}  // namespace

void AddScratch(ir::Graph& graph, std::vector<StepSpec>& steps, KernelTable kernels, Diagnostics& diagnostics) {
  for (StepSpec& step : steps) {
    const ir::Node& node = graph.nodes[static_cast<size_t>(step.node)];
    const KernelKey key = KeyOf(graph, step);
    const auto row =
        std::find_if(kernels.begin(), kernels.end(), [&](const Kernel* kernel) { return kernel->key == key; });
    if (row == kernels.end()) {
      diagnostics.Error({graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""},
                        std::string("no kernel of the reference port runs ") + OpName(step.op) +
                            " on these types; its list is in ports/reference/kernels.inc");
      continue;
    }
    const uint32_t bytes = ScratchBytes(graph, step, **row);
    if (bytes == 0) continue;
    ir::Tensor scratch;
    scratch.name = node.name + "/scratch";
    scratch.type = DataType::kUint8;
    scratch.dims = {static_cast<int32_t>(bytes)};
    step.scratch = graph.AddTensor(std::move(scratch));
  }
}

}  // namespace takt::backend
