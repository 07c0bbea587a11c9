#include "engine/plan/plan_validator.h"

#include <bit>

#include "engine/base/crc32.h"
#include "engine/core/kernel.h"
#include "engine/hal/job.h"
#include "engine/plan/plan_rules.h"
#include "engine/plan/trailer.h"

namespace takt {

/// Vectors that are read without a test for null, and those whose lengths follow from another.
Status Rules::Vectors() const {
  if (plan.device_count() > kMaxDevices) return Bad(Site::kPlanVectors, 4);
  if (root.arenas() == nullptr || arenas > kMaxArenas) return Bad(Site::kPlanVectors, 5);
  if (root.dims() == nullptr && tensors != 0) return Bad(Site::kPlanVectors, 7);
  if (tensors == 0 || tensors >= kNoTensor) return Bad(Site::kPlanVectors, 9);
  if (arena_tensors > tensors) return Bad(Site::kPlanVectors, 10);
  if (root.operands() == nullptr) return Bad(Site::kPlanVectors, 11);
  if (steps == 0 || steps >= Status::kNoStep) return Bad(Site::kPlanVectors, 12);
  if (root.params() == nullptr || root.params()->size() != steps) return Bad(Site::kPlanVectors, 14);
  if (plan.job_count() > 0xFFFF) return Bad(Site::kPlanVectors, 15);
  if (plan.state_count() > kMaxLive) return Bad(Site::kPlanVectors, 16);
  // FlatBuffers neither aligns an empty vector nor verifies the alignment of 8-byte elements.
  if (const auto* c = root.costs(); c != nullptr && c->size() != 0) {
    const bool aligned = reinterpret_cast<uintptr_t>(c->Data()) % alignof(uint64_t) == 0;
    if (!aligned || c->size() != steps) return Bad(Site::kPlanVectors, 19);
  }
  if (reinterpret_cast<uintptr_t>(root.limits()) % alignof(uint64_t) != 0) return Bad(Site::kPlanVectors, 20);
  return {};
}

Status Rules::LimitsHold(const Limits& accepted) const {
  const auto exceeded = [](uint32_t value) { return Status(StatusCode::kLimitExceeded, Site::kPlanLimits, value); };
  if (tensors > accepted.tensors) return exceeded(tensors);
  if (steps > accepted.steps) return exceeded(steps);
  if (plan.limits().work > accepted.work) return exceeded(UINT32_MAX);
  return {};
}

Status Rules::Arenas() const {
  for (uint32_t i = 0; i < arenas; ++i) {
    const ArenaView a = plan.arena(i);
    if (a.kind > ArenaKind::kDevice || !std::has_single_bit(a.alignment) || a.alignment > 64)
      return Bad(Site::kPlanArena, i);
  }
  return {};
}

Status Rules::Constants(bool crc) const {
  for (uint32_t i = 0; i < plan.constant_count(); ++i) {
    const schema::Constant& c = *root.constants()->Get(i);
    if (c.offset() % kConstantAlignment != 0 || uint64_t{c.offset()} + c.bytes() > plan.segment().size()) {
      return Bad(Site::kPlanConstant, i);
    }
    if (crc && Crc32(plan.constant(i).bytes) != c.crc32()) {
      return {StatusCode::kHashMismatch, Site::kPlanConstantCrc, i};
    }
  }
  return {};
}

Status Rules::TensorShape(uint32_t i) const {
  const schema::Tensor& t = tensor_table[i];
  const uint32_t bits = BitWidth(static_cast<DataType>(t.type()));
  const bool strided = t.strides() != 0xFFFF;
  const uint32_t pool = root.strides() != nullptr ? root.strides()->size() : 0;
  if (bits == 0 || t.rank() > kMaxRank || t.dims() + uint32_t{t.rank()} > root.dims()->size() ||
      (strided && (bits < 8 || t.strides() + uint32_t{t.rank()} > pool))) {
    return Bad(Site::kPlanTensorShape, i);
  }
  const TensorView view = plan.tensor(i);
  uint64_t elements = 1;  // Of the dims that are not zero, so that no partial product overflows either.
  uint64_t extent = bits / 8;
  for (int k = 0; k < t.rank(); ++k) {
    const int32_t dim = view.dims[k];
    if (dim < 0) return Bad(Site::kPlanTensorShape, i);
    elements *= dim != 0 ? static_cast<uint32_t>(dim) : 1;
    if (elements * bits > uint64_t{8} * INT32_MAX) return Bad(Site::kPlanTensorShape, i);
    if (!strided) continue;
    const int32_t stride = view.strides[k];
    if (stride < 0 || static_cast<uint32_t>(stride) % (bits / 8) != 0) return Bad(Site::kPlanTensorShape, i);
    extent += dim != 0 ? uint64_t(dim - 1) * static_cast<uint32_t>(stride) : 0;
    if (extent > INT32_MAX) return Bad(Site::kPlanTensorShape, i);
  }
  return {};
}

Status Rules::TensorBounds(uint32_t i) const {
  if (tensor_table[i].base() >= arenas + plan.constant_count()) return Bad(Site::kPlanTensorBounds, i);
  const TensorView t = plan.tensor(i);
  const uint64_t room = t.constant ? plan.constant(t.base).bytes.size() : plan.arena(t.base).bytes;
  const uint32_t element = (BitWidth(t.type) + 7) / 8;
  const uint32_t alignment = t.constant ? kConstantAlignment : plan.arena(t.base).alignment;
  if (uint64_t{t.offset} + t.extent() > room || t.offset % element != 0 || alignment < element) {
    return Bad(Site::kPlanTensorBounds, i);
  }
  return {};
}

Status Rules::TensorOrder(uint32_t i) const {
  const bool constant = plan.tensor(i).constant;
  if (constant != (i >= arena_tensors)) return Bad(Site::kPlanTensorOrder, i);
  if (constant) return {};
  const LiveView live = plan.live(i);
  if (live.first > live.last || live.last >= steps || live.root > i || plan.live(live.root).root != live.root ||
      (i != 0 && plan.live(i - 1).first > live.first)) {
    return Bad(Site::kPlanTensorOrder, i);
  }
  return {};
}

static uint32_t ParamsAlignment(Op op) {
  switch (op) {
    case Op::kPad:
      return alignof(schema::PadParams);
    case Op::kCopy:
      return alignof(schema::CopyParams);
    case Op::kTranspose:
      return alignof(schema::TransposeParams);
    case Op::kLogic:
      return alignof(schema::LogicParams);
    case Op::kSelect:
      return alignof(schema::SelectParams);
    case Op::kCast:
      return alignof(schema::CastParams);
    case Op::kArgReduce:
      return alignof(schema::ArgReduceParams);
    case Op::kCumulativeSum:
      return alignof(schema::CumulativeSumParams);
    case Op::kResizeBilinear:
    case Op::kResizeNearest:
      return alignof(schema::ResizeParams);
    case Op::kGather:
      return alignof(schema::GatherParams);
    case Op::kTopK:
      return alignof(schema::TopKParams);
    case Op::kReverseSequence:
      return alignof(schema::ReverseSequenceParams);
    case Op::kGatherNd:
      return alignof(schema::GatherNdParams);
    case Op::kScatterNd:
      return alignof(schema::ScatterNdParams);
    case Op::kUpdateSlice:
      return alignof(schema::UpdateSliceParams);
    case Op::kSignalWindow:
      return alignof(schema::SignalWindowParams);
    case Op::kFftAutoScale:
      return alignof(schema::FftAutoScaleParams);
    case Op::kFilterBank:
      return alignof(schema::FilterBankParams);
    case Op::kFilterBankSquareRoot:
      return alignof(schema::FilterBankSquareRootParams);
    case Op::kPcan:
      return alignof(schema::PcanParams);
    case Op::kSubmit:
      return alignof(schema::SubmitParams);
    case Op::kWait:
      return alignof(schema::WaitParams);
    case Op::kSkipIf:
      return alignof(schema::SkipIfParams);
    default:
      return 4;
  }
}

/// FlatBuffers' verifier accepts unknown tags and does not look at the alignment of structs in unions.
Status Rules::StepTag(uint32_t i) const {
  const Op op = static_cast<Op>(root.params_type()->Get(i));
  if (op == Op::kNone || op >= Op::kPlanOpEnd || step_table[i].numerics() > schema::Numerics::tflite ||
      reinterpret_cast<uintptr_t>(root.params()->Get(i)) % ParamsAlignment(op) != 0) {
    return Bad(Site::kPlanStepTag, static_cast<uint32_t>(op));
  }
  return {};
}

Status Rules::StepArity(uint32_t i) const {
  const schema::Step& s = step_table[i];
  const Op op = static_cast<Op>(root.params_type()->Get(i));
  const uint32_t count = uint32_t{s.inputs()} + s.outputs() + (s.scratch() != 0);
  bool good = s.scratch() <= 1 && count <= kMaxOperands && s.first_operand() + count <= root.operands()->size();
  if (const OpInfo* info = FindOpInfo(op); info != nullptr) {
    good = good && s.inputs() >= info->min_inputs && s.inputs() <= info->max_inputs && s.outputs() == info->outputs;
  } else {
    good = good && count == (op == Op::kSkipIf || op == Op::kLoop ? 1 : 0) && s.inputs() == count;
  }
  return good ? Status() : Bad(Site::kPlanStepArity, count);
}

Status Rules::StepOperands(uint32_t i, const StepView& s) const {
  const OpInfo* info = FindOpInfo(s.op);
  const bool may_stride = info != nullptr && (info->traits & kStrided) != 0;
  const auto operands = s.operands();
  for (uint32_t k = 0; k < operands.size(); ++k) {
    const uint16_t t = operands[k];
    if (t >= tensors || (k >= s.inputs.size() && t >= arena_tensors)) return Bad(Site::kPlanStepOperand, k);
    const bool scratch = k >= s.inputs.size() + s.outputs.size();
    if (plan.tensor(t).strides != nullptr && (!may_stride || scratch)) return Bad(Site::kPlanStepStride, k);
    if (t < arena_tensors && (plan.live(t).first > i || plan.live(t).last < i)) return Bad(Site::kPlanStepLive, t);
  }
  return {};
}

/// What a step writes overlaps nothing else that it touches, except as its op's row allows.
Status Rules::StepInPlace(const StepView& s) const {
  const OpInfo* info = FindOpInfo(s.op);
  if (info == nullptr) return {};
  const uint32_t inputs = static_cast<uint32_t>(s.inputs.size());
  const uint32_t outputs = static_cast<uint32_t>(s.outputs.size());
  const auto operand = s.operands();
  for (uint32_t k = inputs; k < operand.size(); ++k) {
    for (uint32_t j = 0; j < k; ++j) {
      if (!Overlaps(operand[j], operand[k])) continue;
      const bool allowed = j < inputs && k < inputs + outputs && MayShareMemory(info->traits, j, inputs, k - inputs);
      const bool same = plan.tensor(operand[j]).offset == plan.tensor(operand[k]).offset &&
                        plan.tensor_bytes(operand[j]) == plan.tensor_bytes(operand[k]);
      if (!allowed || !same || !Dense(operand[j]) || !Dense(operand[k])) return Bad(Site::kPlanStepInPlace, k);
    }
  }
  return {};
}

Status Rules::Binding(const BindingView& b, uint32_t i, bool output) const {
  if (!Dense(b.tensor)) return Bad(Site::kPlanBinding, i);
  const LiveView live = plan.live(b.tensor);
  return (output ? live.last + 1u == steps : live.first == 0) ? Status() : Bad(Site::kPlanBinding, i);
}

Status Rules::Job(uint32_t i) const {
  const JobView job = plan.job(i);
  if (job.device >= plan.device_count() || job.stream >= plan.constant_count() || job.bases.size() > kMaxJobBases ||
      job.range_count > kMaxJobRanges) {
    return Bad(Site::kPlanJob, i);
  }
  for (const uint16_t t : job.bases) {
    if (t >= tensors || plan.tensor(t).strides != nullptr) return Bad(Site::kPlanJob, i);
  }
  for (uint32_t k = 0; k < job.range_count; ++k) {
    const JobRangeView r = plan.job_range(i, k);
    if (r.base >= job.bases.size() || uint64_t{r.offset} + r.bytes > plan.tensor_bytes(job.bases[r.base]) ||
        (r.write && job.bases[r.base] >= arena_tensors)) {
      return Bad(Site::kPlanJob, i);
    }
  }
  return {};
}

Status Rules::JobStep(uint32_t i, const StepView& s) const {
  if (s.op != Op::kSubmit && s.op != Op::kWait) return {};
  const uint16_t job = s.job();
  if (job >= plan.job_count() || s.device() != plan.job(job).device) return Bad(Site::kPlanJob, job);
  for (const uint16_t t : plan.job(job).bases) {
    if (t < arena_tensors && (plan.live(t).first > i || plan.live(t).last < i)) return Bad(Site::kPlanStepLive, t);
  }
  return {};
}

Status Rules::Names() const {
  const schema::Debug* debug = root.debug();
  if (debug == nullptr) return {};
  if (debug->steps() != nullptr && debug->steps()->size() != steps) return Bad(Site::kPlanTarget, 0);
  if (debug->tensors() != nullptr && debug->tensors()->size() != tensors) return Bad(Site::kPlanTarget, 1);
  return {};
}

Status PlanValidator::Run(const Plan& plan, const PlanOptions& options) {
  if (plan.major() != kPlanMajor) return {StatusCode::kUnsupportedVersion, Site::kPlanVersion, plan.major()};
  const Rules rules{plan,
                    *plan.root_,
                    plan.tensors_,
                    plan.steps_,
                    plan.step_count(),
                    plan.tensor_count(),
                    plan.arena_tensor_count(),
                    plan.arena_count()};
  TAKT_TRY(rules.Vectors());
  TAKT_TRY(rules.LimitsHold(options.limits));
  TAKT_TRY(rules.Arenas());
  TAKT_TRY(rules.Constants(options.check_constants_crc));
  for (uint32_t i = 0; i < rules.tensors; ++i) {
    TAKT_TRY(rules.TensorShape(i));
    TAKT_TRY(rules.TensorBounds(i));
    TAKT_TRY(rules.TensorOrder(i));
  }
  for (uint32_t i = 0; i < plan.job_count(); ++i) TAKT_TRY(rules.Job(i));
  for (uint32_t i = 0; i < rules.steps; ++i) {
    const uint16_t at = static_cast<uint16_t>(i);
    TAKT_TRY(rules.StepTag(i).AtStep(at));
    TAKT_TRY(rules.StepArity(i).AtStep(at));
    const StepView s = plan.step(i);
    TAKT_TRY(rules.StepOperands(i, s).AtStep(at));
    TAKT_TRY(rules.StepInPlace(s).AtStep(at));
    TAKT_TRY(rules.JobStep(i, s).AtStep(at));
  }
  TAKT_TRY(rules.Control());
  TAKT_TRY(rules.Flights());
  TAKT_TRY(rules.Overlap());
  for (uint32_t i = 0; i < plan.input_count(); ++i) TAKT_TRY(rules.Binding(plan.input(i), i, false));
  for (uint32_t i = 0; i < plan.output_count(); ++i) TAKT_TRY(rules.Binding(plan.output(i), i, true));
  TAKT_TRY(rules.States());
  return rules.Names();
}

}  // namespace takt
