// detection_post_process, non_max_suppression
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;

static bool ParamsOk(const schema::DetectionParams& p) {
  constexpr int32_t kMost = 1 << 20;
  const auto count_ok = [](int32_t n) { return n >= 1 && n <= kMost; };
  return PositiveOk(p.y_scale()) && PositiveOk(p.x_scale()) && PositiveOk(p.h_scale()) && PositiveOk(p.w_scale()) &&
         p.score_threshold() == p.score_threshold() && p.iou_threshold() > 0 && p.iou_threshold() <= 1 &&
         count_ok(p.max_detections()) && count_ok(p.max_classes()) && count_ok(p.per_class()) && count_ok(p.classes());
}

Status CheckDetectionPostProcess(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kFloat32, kFloat32, kFloat32, kFloat32, kFloat32, kFloat32, kFloat32}));
  const auto& p = call.params<schema::DetectionParams>();
  if (!ParamsOk(p)) return BadParams();
  const TensorRef &boxes = call.inputs[0], &scores = call.inputs[1];
  if (boxes.rank != 3 || boxes.dims[0] != 1 || boxes.dims[2] < 4) return BadOperand(0);
  const int32_t n = boxes.dims[1];
  if (scores.rank != 3 || scores.dims[0] != 1 || scores.dims[1] != n ||
      (scores.dims[2] != p.classes() && scores.dims[2] != int64_t{p.classes()} + 1))
    return BadOperand(1);
  if (!HasShape(call.inputs[2], {n, 4})) return BadOperand(2);
  const int64_t detections = int64_t{p.max_detections()} * p.max_classes();
  if (!HasShape(call.outputs[0], {1, detections, 4})) return BadOperand(3);
  if (!HasShape(call.outputs[1], {1, detections})) return BadOperand(4);
  if (!HasShape(call.outputs[2], {1, detections})) return BadOperand(5);
  if (!HasShape(call.outputs[3], {1})) return BadOperand(6);
  // Each suppression compares a box with those behind it; a regular one runs for each class.
  const uint64_t boxes_count = static_cast<uint64_t>(n), rounds = p.regular() ? static_cast<uint64_t>(p.classes()) : 1;
  AddWork(work, boxes_count * boxes_count, rounds);
  AddWork(work, scores.size(), static_cast<uint64_t>(p.max_classes()));
  AddWork(work, static_cast<uint64_t>(detections), rounds);
  return {};
}

Status CheckNonMaxSuppression(const KernelCall& call, Numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(CheckOperands(call, {kFloat32, kFloat32, kInt32, kFloat32, kInt32}));
  const auto& p = call.params<schema::NonMaxSuppressionParams>();
  const bool numbers = p.score_threshold() == p.score_threshold() && (p.sigma() == 0 || PositiveOk(p.sigma()));
  if (!numbers || !(p.iou_threshold() >= 0 && p.iou_threshold() <= 1)) return BadParams();
  const TensorRef &boxes = call.inputs[0], &indices = call.outputs[0];
  if (boxes.rank != 2 || boxes.dims[1] != 4) return BadOperand(0);
  if (!HasShape(call.inputs[1], {boxes.dims[0]})) return BadOperand(1);
  if (indices.rank != 1) return BadOperand(2);
  if (!HasShape(call.outputs[1], {indices.dims[0]})) return BadOperand(3);
  if (call.outputs[2].rank != 0) return BadOperand(4);
  AddWork(work, static_cast<uint64_t>(boxes.dims[0]), static_cast<uint64_t>(indices.dims[0]));
  return {};
}

}  // namespace takt
