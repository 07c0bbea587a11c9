#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "engine/plan/plan.h"
#include "ports/reference/kernels.h"
#include "tests/ops/op_test.h"
#include "tests/ops/plan_run.h"

namespace takt::test {
namespace {

constexpr size_t kMaxParams = 512;

/// Copies the operands and params of the plan's first step of `op`.
MutableCall CallOf(const Plan& plan, Op op) {
  MutableCall call;
  for (uint32_t s = 0; s < plan.step_count(); ++s) {
    const StepView step = plan.step(s);
    if (step.op != op) continue;
    call.params_store.resize(kMaxParams / sizeof(uint64_t));
    const auto* params = static_cast<const std::byte*>(step.params);
    std::memcpy(call.params_store.data(), params,
                std::min(kMaxParams, static_cast<size_t>(plan.bytes().data() + plan.bytes().size() - params)));
    const auto add = [&](uint16_t id, std::vector<TensorRef>& refs) {
      const TensorView t = plan.tensor(id);
      call.dims.emplace_back(t.dims, t.dims + t.rank);
      call.store.emplace_back(plan.tensor_bytes(id) / sizeof(uint64_t) + 1);
      if (t.constant)
        std::memcpy(call.store.back().data(), plan.constant(t.base).bytes.data() + t.offset, plan.tensor_bytes(id));
      refs.push_back({call.store.back().data(), nullptr, nullptr, t.type, t.rank, t.constant});
    };
    for (const uint16_t id : step.inputs) add(id, call.inputs);
    for (const uint16_t id : step.outputs) add(id, call.outputs);
    return call;
  }
  ADD_FAILURE() << "the plan has no such step";
  return call;
}

const Kernel* KernelFor(Op op, Numerics numerics, const MutableCall& call) {
  for (const Kernel* kernel : reference::AllKernels())
    if (kernel->key.op == op && kernel->key.numerics == numerics && kernel->key.types[0] == call.inputs[0].type)
      return kernel;
  return nullptr;
}

Status Check(const Kernel& kernel, MutableCall& call) {
  for (size_t i = 0; i < call.inputs.size() + call.outputs.size(); ++i) {
    TensorRef& t = i < call.inputs.size() ? call.inputs[i] : call.outputs[i - call.inputs.size()];
    t.dims = call.dims[i].data();
  }
  uint64_t work = 0;
  return kernel.check({call.params_store.data(), call.inputs, call.outputs, {}, {}}, work);
}

/// What no op accepts.
std::vector<MutableCall> BrokenCalls(const Plan& plan, Op op) {
  std::vector<MutableCall> calls;
  const MutableCall valid = CallOf(plan, op);
  const size_t inputs = valid.inputs.size();
  static constexpr int32_t kStrides[kMaxRank] = {};
  for (size_t i = 0; i < inputs + valid.outputs.size(); ++i) {
    const auto operand = [&](MutableCall& c) -> TensorRef& { return i < inputs ? c.inputs[i] : c.outputs[i - inputs]; };
    operand(calls.emplace_back(CallOf(plan, op))).type = DataType::kFloat16;
    if (!valid.dims[i].empty()) calls.emplace_back(CallOf(plan, op)).dims[i][0] = 0;
    if ((FindOpInfo(op)->traits & kStrided) == 0) operand(calls.emplace_back(CallOf(plan, op))).strides = kStrides;
  }
  MutableCall& fewer = calls.emplace_back(CallOf(plan, op));
  fewer.inputs.push_back(fewer.inputs.back());
  fewer.dims.push_back(fewer.dims.back());
  calls.emplace_back(CallOf(plan, op)).outputs[0].constant = true;
  return calls;
}

}  // namespace

void ExpectRejections(const OpTraits& traits, const OpCase& valid, Numerics numerics,
                      const std::vector<Rejection>& rejections) {
  const Op op = traits.step == Op::kNone ? traits.op : traits.step;
  SCOPED_TRACE(OpName(op));
  ZonedBytes file(ConvertCase(traits, valid, numerics).plan);
  Plan plan;
  ASSERT_TRUE(plan.Open(std::span<const std::byte>(file.span())).ok());
  MutableCall call = CallOf(plan, op);
  if (call.inputs.empty()) return;
  Numerics step = Numerics::kAny;
  for (uint32_t s = 0; s < plan.step_count(); ++s)
    if (plan.step(s).op == op) step = plan.step(s).numerics;
  const Kernel* kernel = KernelFor(op, step, call);
  ASSERT_NE(kernel, nullptr);
  EXPECT_TRUE(Check(*kernel, call).ok());
  size_t i = 0;
  for (MutableCall& broken : BrokenCalls(plan, op))
    EXPECT_EQ(Check(*kernel, broken).site(), Site::kOpOperands) << "general rule " << i++;
  for (const Rejection& r : rejections) {
    MutableCall broken = CallOf(plan, op);
    r.mutate(broken);
    EXPECT_EQ(Check(*kernel, broken).site(), r.site) << r.rule;
  }
}

}  // namespace takt::test
