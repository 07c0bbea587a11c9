// The rules of a plan as functions, one a rule: plan_validator.cc has those of tables, plan_schedule_rules.cc those of
// order and time. Each returns the first breach; its site's sentence is in engine/base/sites.inc.
#ifndef TAKT_ENGINE_PLAN_PLAN_RULES_H_
#define TAKT_ENGINE_PLAN_PLAN_RULES_H_

#include <cstdint>

#include "engine/base/status.h"
#include "engine/plan/plan.h"
#include "schema/plan_generated.h"

namespace takt {

constexpr Status Bad(Site site, uint32_t detail = 0) {
  return {StatusCode::kMalformedPlan, site, detail};
}

struct Rules {
  const Plan& plan;
  const schema::Plan& root;
  const schema::Tensor* tensor_table;
  const schema::Step* step_table;
  uint32_t steps, tensors, arena_tensors, arenas;

  // Tables; each assumes that those before it hold.
  Status Vectors() const;
  Status LimitsHold(const Limits& accepted) const;
  Status Arenas() const;
  Status Constants(bool crc) const;
  Status TensorShape(uint32_t i) const;
  Status TensorBounds(uint32_t i) const;
  Status TensorOrder(uint32_t i) const;
  Status Job(uint32_t i) const;
  Status StepTag(uint32_t i) const;
  Status StepArity(uint32_t i) const;
  Status StepOperands(uint32_t i, const StepView& s) const;
  Status StepInPlace(const StepView& s) const;
  Status JobStep(uint32_t i, const StepView& s) const;
  Status Binding(const BindingView& b, uint32_t i, bool output) const;
  Status Names() const;

  // Order and time; every step is known to be well formed.
  Status Control() const;
  Status Flights() const;
  Status Overlap() const;
  Status States() const;

  bool Dense(uint32_t t) const { return t < arena_tensors && plan.tensor(t).strides == nullptr; }
  bool Overlaps(uint32_t a, uint32_t b) const;
  /// Whether a step writes memory of the tensors with that root.
  bool Writes(const StepView& s, uint16_t tensor_root) const;
};

/// A bit for each base that the job writes.
uint32_t WrittenBases(const Plan& plan, uint16_t job);

}  // namespace takt

#endif  // TAKT_ENGINE_PLAN_PLAN_RULES_H_
