// detection_post_process, non_max_suppression
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

using Box = std::array<double, 4>;  // ymin, xmin, ymax, xmax

int64_t Int(const OpCase& c, const char* name) {
  return std::get<int64_t>(c.attributes.at(name));
}
double Real(const OpCase& c, const char* name) {
  return std::get<double>(c.attributes.at(name));
}

std::vector<Box> Decode(const OpCase& c, const Inputs& in) {
  std::vector<Box> boxes;
  const auto width = static_cast<size_t>(in[0].dims[2]);
  for (size_t i = 0; i < static_cast<size_t>(in[0].dims[1]); ++i) {
    const double *e = &in[0].real[i * width], *a = &in[2].real[4 * i];
    const double y = a[0] + a[2] * e[0] / Real(c, "y_scale"), h = a[2] * std::exp(e[2] / Real(c, "h_scale")) / 2;
    const double x = a[1] + a[3] * e[1] / Real(c, "x_scale"), w = a[3] * std::exp(e[3] / Real(c, "w_scale")) / 2;
    boxes.push_back({y - h, x - w, y + h, x + w});
  }
  return boxes;
}

double Area(const Box& b) {
  return std::max(0.0, b[2] - b[0]) * std::max(0.0, b[3] - b[1]);
}
double Overlap(const Box& a, const Box& b) {
  const double both = Area({std::max(a[0], b[0]), std::max(a[1], b[1]), std::min(a[2], b[2]), std::min(a[3], b[3])});
  return Area(a) > 0 && Area(b) > 0 ? both / (Area(a) + Area(b) - both) : 0;
}

/// The best boxes by `scores`, none overlapping a better one.
std::vector<size_t> Kept(const OpCase& c, const std::vector<Box>& boxes, const std::vector<double>& scores,
                         int64_t most) {
  std::vector<size_t> order, kept;
  for (size_t i = 0; i < scores.size(); ++i)
    if (scores[i] >= Real(c, "score_threshold")) order.push_back(i);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  for (const size_t i : order) {
    const bool hidden = std::any_of(kept.begin(), kept.end(),
                                    [&](size_t k) { return Overlap(boxes[k], boxes[i]) > Real(c, "iou_threshold"); });
    if (!hidden && static_cast<int64_t>(kept.size()) < most) kept.push_back(i);
  }
  return kept;
}

struct Detection {
  size_t box;
  int64_t label;
  double score;
};

Results Detect(const OpCase& c, const Inputs& in) {
  const std::vector<Box> boxes = Decode(c, in);
  const int64_t classes = Int(c, "classes"), each = Int(c, "max_classes"), most = Int(c, "max_detections");
  const int64_t row = in[1].dims[2];
  const auto score = [&](size_t box, int64_t label) {
    return in[1].real[box * static_cast<size_t>(row) + static_cast<size_t>(label + row - classes)];
  };
  std::vector<std::vector<Detection>> found;  // Each with its classes.
  if (Int(c, "regular") != 0) {
    std::vector<Detection> all;
    for (int64_t label = 0; label < classes; ++label) {
      std::vector<double> scores;
      for (size_t i = 0; i < boxes.size(); ++i) scores.push_back(score(i, label));
      for (const size_t i : Kept(c, boxes, scores, Int(c, "per_class"))) all.push_back({i, label, scores[i]});
    }
    std::stable_sort(all.begin(), all.end(), [](const Detection& a, const Detection& b) { return a.score > b.score; });
    for (const Detection& d : all)
      if (static_cast<int64_t>(found.size()) < most) found.push_back({d});
  } else {
    std::vector<double> best(boxes.size(), -1e9);
    for (size_t i = 0; i < boxes.size(); ++i)
      for (int64_t label = 0; label < classes; ++label) best[i] = std::max(best[i], score(i, label));
    for (const size_t i : Kept(c, boxes, best, most)) {
      std::vector<Detection>& labels = found.emplace_back();
      for (int64_t label = 0; label < classes; ++label) labels.push_back({i, label, score(i, label)});
      std::stable_sort(labels.begin(), labels.end(),
                       [](const Detection& a, const Detection& b) { return a.score > b.score; });
      labels.resize(static_cast<size_t>(std::min(classes, each)));
    }
  }
  const auto count = static_cast<int32_t>(most * each);
  Results y = {Values({1, count, 4}), Values({1, count}), Values({1, count}),
               Values({1}, static_cast<double>(found.size()))};
  for (size_t i = 0; i < found.size(); ++i) {
    for (size_t k = 0; k < found[i].size(); ++k) {
      const size_t at = Int(c, "regular") != 0 ? i : i * static_cast<size_t>(each) + k;
      for (size_t d = 0; d < 4; ++d) y[0][4 * at + d] = boxes[found[i][k].box][d];
      y[1][at] = static_cast<double>(found[i][k].label);
      y[2][at] = found[i][k].score;
    }
  }
  return y;
}
const OpTraits kDetection = {.op = Op::kDetectionPostProcess, .oracle = Detect};

struct Setting {
  int32_t boxes = 60, classes = 3, background = 1, width = 4;
  int64_t most = 10, each = 1, per_class = 100, regular = 0;
  double least = 0.1, overlap = 0.4;
};
OpCase Case(const Setting& s) {
  return {{Float({1, s.boxes, s.width}, -2, 2), Float({1, s.boxes, s.classes + s.background}, 0, 1),
           Float({s.boxes, 4}, 0.2, 0.8)},
          {Float({}), Float({}), Float({}), Float({})},
          {{"y_scale", 10.0},
           {"x_scale", 10.0},
           {"h_scale", 5.0},
           {"w_scale", 5.0},
           {"score_threshold", s.least},
           {"iou_threshold", s.overlap},
           {"max_detections", s.most},
           {"max_classes", s.each},
           {"per_class", s.per_class},
           {"classes", int64_t{s.classes}},
           {"regular", s.regular}}};
}

TEST(DetectionPostProcess, EqualsOracle) {
  std::vector<OpCase> cases;
  for (const int64_t regular : {0, 1}) {
    cases.push_back(Case({.regular = regular}));
    cases.push_back(Case({.boxes = 200, .classes = 5, .background = 0, .regular = regular, .overlap = 0.6}));
    cases.push_back(Case({.width = 6, .most = 4, .each = 2, .per_class = 2, .regular = regular}));
    cases.push_back(Case({.classes = 2, .each = 4, .regular = regular}));  // More than there are.
    cases.push_back(Case({.boxes = 1, .classes = 1, .regular = regular}));
    cases.push_back(Case({.regular = regular, .least = 2}));  // Nothing is found.
  }
  RunCases(kDetection, cases);
}

TEST(DetectionPostProcess, RejectsWhatBreaksItsRule) {
  using P = schema::DetectionParams;
  ExpectRejections(
      kDetection, Case({}), Numerics::kFp32Rne,
      {{"a positive scale", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_h_scale(0); }},
       {"an overlap up to 1", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_iou_threshold(2); }},
       {"a threshold that is a number", Site::kOpParams,
        [](MutableCall& m) { m.params<P>().mutate_score_threshold(std::nanf("")); }},
       {"detections", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_max_detections(0); }},
       {"boxes for each class", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_per_class(0); }},
       {"4 values for each box", Site::kOpOperands, [](MutableCall& m) { m.dims[0][2] = 3; }},
       {"classes", Site::kOpOperands, [](MutableCall& m) { m.params<P>().mutate_classes(2); }},
       {"scores for each box", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 59; }},
       {"an anchor for each box", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 59; }},
       {"dims of the boxes", Site::kOpOperands, [](MutableCall& m) { m.dims[3][1] = 9; }},
       {"dims of the classes", Site::kOpOperands, [](MutableCall& m) { m.dims[4][1] = 9; }},
       {"dims of the scores", Site::kOpOperands, [](MutableCall& m) { m.dims[5][1] = 9; }},
       {"one count", Site::kOpOperands, [](MutableCall& m) { m.dims[6][0] = 2; }}});
}

Results Suppress(const OpCase& c, const Inputs& in) {
  const auto most = static_cast<int32_t>(Int(c, "max_outputs"));
  std::vector<double> scores = in[1].real;
  const auto box = [&](size_t i) {
    const double* v = &in[0].real[4 * i];
    return Box{std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
  };
  Results y = {Values({most}), Values({most}), Values(Dims())};
  for (size_t k = 0; k < static_cast<size_t>(most); ++k) {
    const auto best = static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    if (!(scores[best] > Real(c, "score_threshold"))) break;
    y[0][k] = static_cast<double>(best), y[1][k] = scores[best], y[2][0] += 1;
    scores[best] = -HUGE_VAL;
    for (size_t i = 0; i < scores.size(); ++i) {
      const double overlap = Overlap(box(best), box(i));
      if (overlap >= Real(c, "iou_threshold")) scores[i] = -HUGE_VAL;
      if (Real(c, "sigma") > 0) scores[i] *= std::exp(-overlap * overlap / (2 * Real(c, "sigma")));
    }
  }
  return y;
}
const OpTraits kSuppression = {.op = Op::kNonMaxSuppression, .oracle = Suppress};

OpCase SuppressionCase(int32_t boxes, int64_t most, double overlap = 0.5, double least = 0.1, double sigma = 0) {
  return {{Float({boxes, 4}, 0, 1), Float({boxes}, 0, 1)},
          {Plain(DataType::kInt32, {}), Float({}), Plain(DataType::kInt32, {})},
          {{"max_outputs", most}, {"iou_threshold", overlap}, {"score_threshold", least}, {"sigma", sigma}}};
}

TEST(NonMaxSuppression, EqualsOracle) {
  RunCases(kSuppression, {SuppressionCase(60, 10), SuppressionCase(60, 60, 0.1), SuppressionCase(60, 60, 1, -1),
                          SuppressionCase(1, 4), SuppressionCase(40, 40, 0), SuppressionCase(20, 5, 0.5, 2),
                          SuppressionCase(50, 50, 0.7, 0.2, 0.5), SuppressionCase(50, 20, 1, 0.05, 0.1)});
}

TEST(NonMaxSuppression, RejectsWhatBreaksItsRule) {
  using P = schema::NonMaxSuppressionParams;
  ExpectRejections(
      kSuppression, SuppressionCase(20, 5), Numerics::kFp32Rne,
      {{"an overlap up to 1", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_iou_threshold(1.5f); }},
       {"a threshold that is a number", Site::kOpParams,
        [](MutableCall& m) { m.params<P>().mutate_score_threshold(std::nanf("")); }},
       {"sigma", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_sigma(-1); }},
       {"corners", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = 3; }},
       {"a score for each box", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 19; }},
       {"as many scores as indices", Site::kOpOperands, [](MutableCall& m) { m.dims[3][0] = 4; }},
       {"one count", Site::kOpOperands, [](MutableCall& m) {
          m.dims[4] = {1};
          m.outputs[2].dims = m.dims[4].data();
          m.outputs[2].rank = 1;
        }}});
}

}  // namespace
}  // namespace takt::test
