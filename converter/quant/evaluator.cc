#include "converter/quant/evaluator.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "converter/backend/scratch.h"
#include "converter/backend/step_call.h"
#include "converter/passes/passes.h"
#include "ports/reference/kernels.h"

namespace takt::quant {

std::optional<Evaluator> Evaluator::Make(const ir::Graph& graph, Diagnostics& diagnostics) {
  Evaluator evaluator;
  evaluator.graph_ = graph;
  Diagnostics notes;  // What the evaluation copies is no finding about the plan.
  passes::PassContext context{Numerics::kFp32Rne, notes};
  passes::EliminateViews(evaluator.graph_, context);
  if (!evaluator.Prepare(diagnostics)) return std::nullopt;
  return evaluator;
}

bool Evaluator::Prepare(Diagnostics& diagnostics) {
  steps_ = backend::LowerGraph(graph_, Numerics::kFp32Rne, diagnostics);
  if (!diagnostics.ok()) return false;
  backend::CheckSteps(graph_, steps_, reference::AllKernels(), diagnostics);
  if (!diagnostics.ok()) return false;
  backend::AddScratch(graph_, steps_, reference::AllKernels());
  memory_.resize(graph_.tensors.size());
  for (size_t i = 0; i < memory_.size(); ++i) {
    const ir::Tensor& t = graph_.tensors[i];
    if (!t.view && !t.is_constant()) memory_[i].resize(static_cast<size_t>(t.byte_size()));
  }
  for (const ir::State& state : graph_.states)
    if (state.initial != ir::kNoTensor) memory_[static_cast<size_t>(state.tensor)] = *graph_.tensor(state.initial).data;
  for (const backend::StepSpec& step : steps_) {
    kernels_.push_back(backend::FindKernel(graph_, step, reference::AllKernels()));
  }
  return true;
}

void* Evaluator::Address(ir::TensorId id) {
  const auto& view = graph_.tensor(id).view;
  const ir::Tensor& base = graph_.tensor(view ? view->base : id);
  uint8_t* data = base.is_constant() ? const_cast<uint8_t*>(base.data->data())
                                     : memory_[static_cast<size_t>(view ? view->base : id)].data();
  return data + (view ? view->offset_bytes : 0);
}

void Evaluator::Run(const std::vector<ir::Bytes>& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    ir::Bytes& memory = memory_[static_cast<size_t>(graph_.inputs[i])];
    std::copy_n(inputs[i].begin(), std::min(memory.size(), inputs[i].size()), memory.begin());
  }
  for (size_t s = 0; s < steps_.size(); ++s) {
    backend::StepCall call(graph_, steps_[s], [this](ir::TensorId id) { return Address(id); });
    if (steps_[s].scratch != ir::kNoTensor) {
      call.call().scratch = std::as_writable_bytes(std::span(memory_[static_cast<size_t>(steps_[s].scratch)]));
    }
    kernels_[s]->run(call.call());
  }
  for (const ir::State& state : graph_.states)
    std::memcpy(Address(state.tensor), Address(state.next), static_cast<size_t>(graph_.tensor(state.next).byte_size()));
}

std::span<const uint8_t> Evaluator::value(ir::TensorId id) const {
  const ir::Tensor& t = graph_.tensor(id);
  if (t.view && !t.view->strides.empty()) return {};
  const ir::Bytes& memory = memory_[static_cast<size_t>(t.view ? t.view->base : id)];
  if (memory.empty()) return {};
  return std::span(memory).subspan(static_cast<size_t>(t.view ? t.view->offset_bytes : 0),
                                   static_cast<size_t>(t.byte_size()));
}

}  // namespace takt::quant
