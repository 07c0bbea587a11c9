#include "converter/backend/step_call.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/ops/checks.h"
#include "schema/plan_generated.h"

namespace takt::backend {
namespace {

std::string TypeName(DataType type) {
  return schema::EnumNameDataType(static_cast<schema::DataType>(type));
}

}  // namespace

std::string KeyText(const KernelKey& key) {
  std::string text = absl::StrCat(OpName(key.op), " of ", TypeName(key.types[0]));
  if (key.types[1] != DataType::kNone) absl::StrAppend(&text, " and ", TypeName(key.types[1]));
  absl::StrAppend(&text, " to ", TypeName(key.types[2]));
  if (key.numerics != Numerics::kAny)
    absl::StrAppend(&text, ", ", schema::EnumNameNumerics(static_cast<schema::Numerics>(key.numerics)));
  return text;
}

KernelKey KeyOf(const ir::Graph& graph, const StepSpec& step) {
  KernelKey key{.op = step.op, .numerics = step.numerics};
  if (!step.inputs.empty()) key.types[0] = graph.tensor(step.inputs[0]).type;
  if (step.inputs.size() > 1) key.types[1] = graph.tensor(step.inputs[1]).type;
  if (!step.outputs.empty()) key.types[2] = graph.tensor(step.outputs[0]).type;
  return key;
}

const Kernel* FindKernel(const ir::Graph& graph, const StepSpec& step, KernelTable kernels) {
  const KernelKey key = KeyOf(graph, step);
  const auto row =
      std::find_if(kernels.begin(), kernels.end(), [&](const Kernel* kernel) { return kernel->key == key; });
  return row == kernels.end() ? nullptr : *row;
}

StepCall::StepCall(const ir::Graph& graph, const StepSpec& step, const std::function<void*(ir::TensorId)>& address) {
  std::vector<ir::TensorId> operands = step.inputs;
  operands.insert(operands.end(), step.outputs.begin(), step.outputs.end());
  strides_.reserve(operands.size());
  for (ir::TensorId id : operands) {
    const ir::Tensor& t = graph.tensor(id);
    TensorRef ref{nullptr, t.dims.data(), nullptr, t.type, static_cast<uint8_t>(t.dims.size()), t.is_constant()};
    if (t.view && !t.view->strides.empty()) {
      strides_.emplace_back(t.view->strides.begin(), t.view->strides.end());
      ref.strides = strides_.back().data();
    }
    if (t.is_constant()) {
      ref.data = const_cast<uint8_t*>(t.data->data());
    } else if (address) {
      ref.data = address(id);
    }
    refs_.push_back(ref);
  }
  call_.step_params = step.params.data();
  call_.inputs = std::span<const TensorRef>(refs_).first(step.inputs.size());
  call_.outputs = std::span<const TensorRef>(refs_).subspan(step.inputs.size());
}

Status CheckStep(const ir::Graph& graph, const StepSpec& step, uint64_t& work) {
  StepCall call(graph, step);
  switch (step.op) {
#define TAKT_OP(Name, name, file, min_inputs, max_inputs, outputs, traits) \
  case Op::k##Name:                                                        \
    return Check##Name(call.call(), step.numerics, work);
#define TAKT_GRAPH_OP(Name, name, file, min_inputs, max_inputs, outputs)
#include "schema/op_table.inc"
#undef TAKT_OP
#undef TAKT_GRAPH_OP
    default:
      return {};
  }
}

uint64_t CheckSteps(const ir::Graph& graph, const std::vector<StepSpec>& steps, KernelTable kernels,
                    Diagnostics& diagnostics) {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const auto product = [](uint64_t a, uint64_t b) { return a != 0 && b > kMost / a ? kMost : a * b; };
  uint64_t work = 0;
  std::vector<std::pair<size_t, uint64_t>> scopes;  // Ends, and how often what is inside runs.
  for (size_t s = 0; s < steps.size(); ++s) {
    const StepSpec& step = steps[s];
    while (!scopes.empty() && scopes.back().first <= s) scopes.pop_back();
    const uint64_t times = scopes.empty() ? 1 : scopes.back().second;
    if (const uint32_t length = ScopeLength(step); length != 0) {
      scopes.emplace_back(s + 1 + length, product(times, std::max(MostTrips(step), 1u)));
      work += std::min(times, kMost - work);
      continue;
    }
    if (step.op < kFirstKernelOp) {  // A job's own work is the device's to count.
      work += std::min(times, kMost - work);
      continue;
    }
    const ir::Node& node = graph.nodes[static_cast<size_t>(step.node)];
    const ModelLocation where{graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""};
    if (FindKernel(graph, step, kernels) == nullptr) {
      diagnostics.Error(where,
                        absl::StrCat("has no kernel: the reference port does not run ", KeyText(KeyOf(graph, step)),
                                     "; quantize the model to int8, or leave it in float32"));
      continue;
    }
    uint64_t step_work = 1;
    const Status status = CheckStep(graph, step, step_work);
    if (!status.ok()) {
      diagnostics.Error(where,
                        absl::StrCat("breaks a rule of ", OpName(step.op), " (site ", static_cast<int>(status.site()),
                                     ", operand ", status.detail(), "; engine/ops has the rules)"));
    }
    work += std::min(product(step_work, times), kMost - work);
  }
  return work;
}

}  // namespace takt::backend
