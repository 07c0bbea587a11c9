#include "tests/support/plan_runner.h"

#include <cstring>
#include <stdexcept>
#include <string>

namespace takt::test {
namespace {

void Require(Status status) {
  if (status.ok()) return;
  throw std::runtime_error(std::string(StatusCodeName(status.code())) + " at step " + std::to_string(status.step()) +
                           ", detail " + std::to_string(status.detail()) + ": " + SiteText(status.site()));
}

Bytes Copy(std::span<const std::byte> bytes) {
  Bytes copy(bytes.size());
  std::memcpy(copy.data(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace

PlanRunner::PlanRunner(const Bytes& plan, KernelTable kernels, std::span<Device* const> devices, uint16_t first_job)
    : file_(plan.size()), kernels_(kernels), devices_(devices), first_job_(first_job) {
  std::memcpy(file_.span().data(), plan.data(), plan.size());
  Require(plan_.Open(file_.span()));
  Requirements need;
  Require(ComputeRequirements(plan_, kernels_, need));
  for (uint32_t i = 0; i < need.arena_count; ++i) memory_.emplace_back(need.arenas[i].bytes);
  for (AlignedBytes& arena : memory_) arenas_.push_back(arena.span());
  memory_.emplace_back(need.runtime.bytes);
  Require(Init());
}

Status PlanRunner::Init() {
  InitOptions options;
  options.arenas = arenas_;
  options.runtime = memory_.back().span();
  options.kernels = kernels_;
  options.devices = devices_;
  options.first_job = first_job_;
  return net_.Init(plan_, options);
}

void PlanRunner::SetInputs(const std::vector<Bytes>& inputs) {
  if (inputs.size() != plan_.input_count()) throw std::runtime_error("wrong number of inputs");
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const std::span<std::byte> bytes = net_.input(i).bytes;
    if (bytes.size() != inputs[i].size()) throw std::runtime_error("wrong size of input " + std::to_string(i));
    std::memcpy(bytes.data(), inputs[i].data(), bytes.size());
  }
}

std::vector<Bytes> PlanRunner::Run(const std::vector<Bytes>& inputs) {
  SetInputs(inputs);
  Require(net_.Invoke());
  std::vector<Bytes> outputs;
  for (uint32_t i = 0; i < plan_.output_count(); ++i) outputs.push_back(Copy(net_.output(i).bytes));
  return outputs;
}

std::map<int32_t, Bytes> PlanRunner::RunAndCapture(const std::vector<Bytes>& inputs) {
  std::map<int32_t, Bytes> captured;
  const auto capture = [&](std::span<const uint16_t> tensors) {
    for (const uint16_t tensor : tensors) {
      const TensorView view = plan_.tensor(tensor);
      const int32_t source = plan_.tensor_origin(tensor).source;
      if (source >= 0 && !view.constant && view.strides == nullptr)
        captured.try_emplace(source, Copy(net_.tensor(tensor)));
    }
  };
  SetInputs(inputs);
  Require(net_.Begin());
  for (Progress progress = Progress::kMore; progress != Progress::kDone;) {
    const uint32_t step = net_.cursor();
    if (step < plan_.step_count()) capture(plan_.step(step).inputs);
    progress = net_.Step(1);
    if (progress == Progress::kFailed) Require(net_.status());
    if (step < plan_.step_count()) capture(plan_.step(step).outputs);
  }
  return captured;
}

}  // namespace takt::test
