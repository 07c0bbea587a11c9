// detection_post_process, non_max_suppression
#include <algorithm>
#include <cmath>

#include "engine/ops/checks.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

struct Box {
  float ymin, xmin, ymax, xmax;
};

/// Intersection over union; 0 if one has no area.
float Overlap(const Box& a, const Box& b) {
  const float area_a = (a.ymax - a.ymin) * (a.xmax - a.xmin), area_b = (b.ymax - b.ymin) * (b.xmax - b.xmin);
  if (area_a <= 0 || area_b <= 0) return 0;
  const float height = std::max(std::min(a.ymax, b.ymax) - std::max(a.ymin, b.ymin), 0.0f);
  const float width = std::max(std::min(a.xmax, b.xmax) - std::max(a.xmin, b.xmin), 0.0f);
  return height * width / (area_a + area_b - height * width);
}

/// A found box: its score, and box * classes + class.
struct Found {
  float score;
  int32_t id;
};

class Detector {
 public:
  explicit Detector(const KernelCall& call)
      : call_(call),
        p_(call.params<schema::DetectionParams>()),
        boxes_count_(call.inputs[0].dims[1]),
        row_(call.inputs[1].dims[2]),
        scores_(call.inputs[1].as<const float>() + (row_ - p_.classes())),
        boxes_(reinterpret_cast<Box*>(call.scratch.data())),
        candidates_(reinterpret_cast<float*>(boxes_ + boxes_count_)),
        order_(reinterpret_cast<int32_t*>(candidates_ + boxes_count_)),
        found_(reinterpret_cast<Found*>(order_ + boxes_count_)) {}

  void Run() {
    for (const TensorRef& y : call_.outputs) std::fill_n(y.as<float>(), y.size(), 0.0f);
    DecodeBoxes();
    call_.outputs[3].as<float>()[0] = static_cast<float>(p_.regular() ? RunRegular() : RunFast());
  }

 private:
  float Score(int32_t box, int32_t c) const { return scores_[static_cast<ptrdiff_t>(box) * row_ + c]; }

  /// In double, as TFLite's.
  void DecodeBoxes() {
    const ptrdiff_t stride = call_.inputs[0].dims[2];
    for (int32_t i = 0; i < boxes_count_; ++i) {
      const float* e = call_.inputs[0].as<const float>() + i * stride;
      const float* anchor = call_.inputs[2].as<const float>() + 4 * static_cast<ptrdiff_t>(i);
      const auto centre = [](double v, double scale, double size, double at) {
        return static_cast<float>(v / scale * size + at);
      };
      const auto half = [](double v, double scale, double size) {
        return static_cast<float>(0.5 * std::exp(v / scale) * size);
      };
      const float y = centre(e[0], p_.y_scale(), anchor[2], anchor[0]), h = half(e[2], p_.h_scale(), anchor[2]);
      const float x = centre(e[1], p_.x_scale(), anchor[3], anchor[1]), w = half(e[3], p_.w_scale(), anchor[3]);
      boxes_[i] = {y - h, x - w, y + h, x + w};
    }
  }

  /// The boxes whose candidate score counts and that overlap none better: order_[0 .. result), at most `limit`.
  int32_t Suppress(int32_t limit) {
    int32_t count = 0;
    for (int32_t i = 0; i < boxes_count_; ++i)
      if (candidates_[i] >= p_.score_threshold()) order_[count++] = i;
    const auto before = [this](int32_t a, int32_t b) {
      return candidates_[a] != candidates_[b] ? candidates_[a] > candidates_[b] : a < b;
    };
    std::make_heap(order_, order_ + count, before);
    std::sort_heap(order_, order_ + count, before);
    int32_t kept = 0;
    for (int32_t i = 0; i < count && kept < limit; ++i) {
      const Box& box = boxes_[order_[i]];
      const auto overlaps = [&](int32_t other) { return Overlap(boxes_[other], box) > p_.iou_threshold(); };
      if (std::none_of(order_, order_ + kept, overlaps)) order_[kept++] = order_[i];
    }
    return kept;
  }

  void Write(ptrdiff_t at, int32_t box, int32_t c, float score) {
    call_.outputs[0].as<Box>()[at] = boxes_[box];
    call_.outputs[1].as<float>()[at] = static_cast<float>(c);
    call_.outputs[2].as<float>()[at] = score;
  }

  /// The class that comes after `last` (none: -1) by falling score, then by index.
  int32_t NextClass(int32_t box, int32_t last) const {
    int32_t best = -1;
    for (int32_t c = 0; c < p_.classes(); ++c) {
      const float v = Score(box, c);
      if (last >= 0 && !(v < Score(box, last) || (v == Score(box, last) && c > last))) continue;
      if (best < 0 || v > Score(box, best)) best = c;
    }
    return best;
  }

  int32_t RunFast() {
    for (int32_t i = 0; i < boxes_count_; ++i) candidates_[i] = Score(i, NextClass(i, -1));
    const int32_t kept = Suppress(p_.max_detections());
    for (int32_t k = 0; k < kept; ++k) {
      int32_t c = -1;
      for (int32_t i = 0; i < p_.max_classes(); ++i) {
        c = NextClass(order_[k], c);
        if (c < 0) break;
        Write(static_cast<ptrdiff_t>(k) * p_.max_classes() + i, order_[k], c, Score(order_[k], c));
      }
    }
    return kept;
  }

  int32_t RunRegular() {
    int32_t count = 0;
    for (int32_t c = 0; c < p_.classes(); ++c) {
      for (int32_t i = 0; i < boxes_count_; ++i) candidates_[i] = Score(i, c);
      const int32_t kept = Suppress(p_.per_class());
      for (int32_t k = 0; k < kept; ++k) {
        const float score = candidates_[order_[k]];
        int32_t at = count < p_.max_detections() ? count++ : p_.max_detections();
        for (; at > 0 && found_[at - 1].score < score; --at)
          if (at < p_.max_detections()) found_[at] = found_[at - 1];
        if (at < p_.max_detections()) found_[at] = {score, order_[k] * p_.classes() + c};
      }
    }
    for (int32_t k = 0; k < count; ++k)
      Write(k, found_[k].id / p_.classes(), found_[k].id % p_.classes(), found_[k].score);
    return count;
  }

  const KernelCall& call_;
  const schema::DetectionParams& p_;
  const int32_t boxes_count_, row_;
  const float* scores_;  // Behind the background's.
  Box* boxes_;
  float* candidates_;
  int32_t* order_;
  Found* found_;  // For regular: the best so far.
};

void RunDetection(const KernelCall& call) {
  Detector(call).Run();
}

KernelNeed Need(const KernelCall& call) {
  const auto& p = call.params<schema::DetectionParams>();
  if (call.inputs[0].rank != 3 || p.max_detections() < 0) return {};  // The check refuses it.
  const auto boxes = static_cast<uint64_t>(call.inputs[0].dims[1]);
  const uint64_t bytes = boxes * (sizeof(Box) + sizeof(float) + sizeof(int32_t)) +
                         (p.regular() ? static_cast<uint64_t>(p.max_detections()) * sizeof(Found) : 0);
  return {.scratch = static_cast<uint32_t>(bytes)};
}

/// From two opposite corners.
Box FromCorners(const float* c) {
  return {std::min(c[0], c[2]), std::min(c[1], c[3]), std::max(c[0], c[2]), std::max(c[1], c[3])};
}

/// A score that is not above the threshold is one of a box that is chosen or dropped.
void RunNonMaxSuppression(const KernelCall& call) {
  const auto& p = call.params<schema::NonMaxSuppressionParams>();
  const auto* boxes = call.inputs[0].as<const float>();
  const int32_t count = call.inputs[0].dims[0], most = call.outputs[0].dims[0];
  auto* scores = reinterpret_cast<float*>(call.scratch.data());
  std::copy_n(call.inputs[1].as<const float>(), count, scores);
  auto* indices = call.outputs[0].as<int32_t>();
  auto* found = call.outputs[1].as<float>();
  std::fill_n(indices, most, 0);
  std::fill_n(found, most, 0.0f);
  const auto box = [boxes](int32_t i) { return FromCorners(boxes + 4 * static_cast<ptrdiff_t>(i)); };
  int32_t kept = 0;
  for (; kept < most; ++kept) {
    int32_t best = -1;
    for (int32_t i = 0; i < count; ++i)
      if (scores[i] > p.score_threshold() && (best < 0 || scores[i] > scores[best])) best = i;
    if (best < 0) break;
    indices[kept] = best;
    found[kept] = scores[best];
    scores[best] = p.score_threshold();
    for (int32_t i = 0; i < count; ++i) {
      if (!(scores[i] > p.score_threshold())) continue;
      const float overlap = Overlap(box(best), box(i));
      if (overlap >= p.iou_threshold())
        scores[i] = p.score_threshold();
      else if (p.sigma() > 0)
        scores[i] *= std::exp(-0.5f / p.sigma() * overlap * overlap);
    }
  }
  *call.outputs[2].as<int32_t>() = kept;
}

KernelNeed NeedOfNonMaxSuppression(const KernelCall& call) {
  if (call.inputs[0].rank != 2) return {};  // The check refuses it.
  return {.scratch = static_cast<uint32_t>(call.inputs[0].dims[0]) * static_cast<uint32_t>(sizeof(float))};
}

}  // namespace

constexpr Kernel kDetectionPostProcessFloat32 = {{Op::kDetectionPostProcess,
                                                  Numerics::kAny,
                                                  Layout::kNeutral,
                                                  {DataType::kFloat32, DataType::kFloat32, DataType::kFloat32}},
                                                 &CheckDetectionPostProcess<Numerics::kAny>,
                                                 &RunDetection,
                                                 &Need};
constexpr Kernel kNonMaxSuppressionFloat32 = {{Op::kNonMaxSuppression,
                                               Numerics::kAny,
                                               Layout::kNeutral,
                                               {DataType::kFloat32, DataType::kFloat32, DataType::kInt32}},
                                              &CheckNonMaxSuppression<Numerics::kAny>,
                                              &RunNonMaxSuppression,
                                              &NeedOfNonMaxSuppression};

}  // namespace takt::reference
