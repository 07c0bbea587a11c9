#include "converter/ops/onnx_resize.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "converter/base/saturate.h"
#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/onnx_index_map.h"

namespace takt::ir {
namespace {

using frontend::OnnxNode;

struct Axis {
  size_t axis;
  int64_t in, out;
  double scale;
  double begin = 0, end = 1;  ///< Of the region, for tf_crop_and_resize.
};

/// What an output cell is made of.
struct Tap {
  int64_t cell;
  double weight;
};
using Taps = std::vector<Tap>;

struct Resize {
  std::string mode = "nearest", coordinates = "asymmetric", nearest = "floor";
  double cubic_a = -0.75, extrapolation = 0;
  bool exclude_outside = false;
  std::vector<Axis> axes;  ///< Those that change.
};

/// Where the centre of output cell i lies in the input.
double Position(const Resize& r, const Axis& a, int64_t i) {
  const auto at = static_cast<double>(i), in = static_cast<double>(a.in), out = static_cast<double>(a.out);
  if (r.coordinates == "asymmetric") return at / a.scale;
  if (r.coordinates == "align_corners") return a.out == 1 ? 0 : at * (in - 1) / (out - 1);
  if (r.coordinates == "tf_half_pixel_for_nn") return (at + 0.5) / a.scale;
  if (r.coordinates == "pytorch_half_pixel" && a.out == 1) return 0;
  if (r.coordinates == "tf_crop_and_resize")
    return a.out == 1 ? 0.5 * (a.begin + a.end) * (in - 1)
                      : a.begin * (in - 1) + at * (a.end - a.begin) * (in - 1) / (out - 1);
  return (at + 0.5) / a.scale - 0.5;
}

int64_t NearestCell(const Resize& r, const Axis& a, double at) {
  double cell = std::floor(at);
  if (r.nearest == "ceil") cell = std::ceil(at);
  if (r.nearest == "round_prefer_floor") cell = std::ceil(at - 0.5);
  if (r.nearest == "round_prefer_ceil") cell = std::floor(at + 0.5);
  return std::clamp<int64_t>(Saturated(cell), 0, a.in - 1);
}

/// Linear: two cells. Cubic: four (Keys' kernel with parameter a). Those outside are the border's, or left out.
Taps TapsAt(const Resize& r, const Axis& a, double at) {
  if (r.mode == "nearest") return {{NearestCell(r, a, at), 1}};
  const double first = std::floor(at), t = at - first, c = r.cubic_a;
  Taps taps;
  const auto add = [&](int offset, double weight) {
    const int64_t cell = Saturated<int32_t>(first) + int64_t{offset};
    if (r.exclude_outside && (cell < 0 || cell >= a.in)) return;
    taps.push_back({std::clamp<int64_t>(cell, 0, a.in - 1), weight});
  };
  if (r.mode == "linear") {
    add(0, 1 - t);
    add(1, t);
  } else {
    const auto near = [&](double d) { return ((c + 2) * d - (c + 3)) * d * d + 1; };
    const auto far = [&](double d) { return ((c * d - 5 * c) * d + 8 * c) * d - 4 * c; };
    add(-1, far(1 + t));
    add(0, near(t));
    add(1, near(1 - t));
    add(2, far(2 - t));
  }
  double total = 0;
  for (const Tap& tap : taps) total += tap.weight;
  for (Tap& tap : taps) tap.weight /= total;
  return taps;
}

bool IsOutside(const Resize& r, const Axis& a, double at) {
  return r.coordinates == "tf_crop_and_resize" && (at < 0 || at > static_cast<double>(a.in - 1));
}

/// A gather, or along height and width by whole factors the step made for it.
TensorId EmitNearest(OnnxNode& node, const Resize& r) {
  std::vector<AxisMap> maps;
  std::vector<int64_t> size = {1, 1};
  bool whole = node.dims(node.input(0)).size() == 4;
  for (const Axis& a : r.axes) {
    AxisMap map{a.axis, {}};
    for (int64_t i = 0; i < a.out; ++i) {
      map.cells.push_back(static_cast<int32_t>(NearestCell(r, a, Position(r, a, i))));
      whole = whole && a.axis >= 2 && a.out % a.in == 0 && map.cells.back() == i / (a.out / a.in);
    }
    maps.push_back(std::move(map));
  }
  if (!whole) return ApplyOnnxMaps(node, node.input(0), maps);
  for (size_t i = 0; i < 2; ++i) size[i] = node.dims(node.input(0))[i + 2];
  for (const Axis& a : r.axes) size[a.axis - 2] = a.out;
  const TensorId y = node.Emit(Op::kResizeNearest, {node.ToNhwc(node.input(0))},
                               {{"size", size}, {"coordinates", std::string("asymmetric")}});
  return node.FromNhwc(y, 4);
}

/// y = M x along one axis, rows of M from the taps.
TensorId EmitProduct(OnnxNode& node, TensorId x, const Resize& r, const Axis& a) {
  if (node.failed() || !MayMake(node, DataType::kFloat32, {a.out, a.in}, x)) return kNoTensor;
  std::vector<float> matrix(static_cast<size_t>(a.in * a.out)), outside(static_cast<size_t>(a.out));
  for (int64_t i = 0; i < a.out; ++i) {
    const double at = Position(r, a, i);
    if (IsOutside(r, a, at)) {
      outside[static_cast<size_t>(i)] = static_cast<float>(r.extrapolation);
      continue;
    }
    for (const Tap& tap : TapsAt(r, a, at))
      matrix[static_cast<size_t>(i * a.in + tap.cell)] += static_cast<float>(tap.weight);
  }
  const auto rows = static_cast<int32_t>(a.out), columns = static_cast<int32_t>(a.in);
  const TensorId m = node.FloatConstant({rows, columns}, matrix);
  std::vector<int32_t> dims = node.dims(x);
  int32_t outer = 1, inner = 1;
  for (size_t d = 0; d < dims.size(); ++d) (d < a.axis ? outer : inner) *= d == a.axis ? 1 : dims[d];
  dims[a.axis] = rows;
  if (inner == 1)
    return node.Reshape(
        node.Emit(Op::kFullyConnected, {node.Reshape(x, {outer, columns}), m, node.FloatConstant({rows}, outside)}),
        dims);
  const TensorId y = node.Emit(Op::kBatchMatMul, {m, node.Reshape(x, {outer, columns, inner})});
  return node.Reshape(OnnxExpression(node).Add(y, node.FloatConstant({rows, 1}, outside)), dims);
}

/// The bilinear step, where it has the coordinates; otherwise one product an axis.
TensorId EmitInterpolation(OnnxNode& node, const Resize& r) {
  const std::vector<int32_t> dims = node.dims(node.input(0));
  std::string coordinates = r.coordinates == "pytorch_half_pixel" ? "half_pixel" : r.coordinates;
  bool step = r.mode == "linear" && !r.exclude_outside && (dims.size() == 3 || dims.size() == 4) &&
              (coordinates == "half_pixel" || coordinates == "align_corners" || coordinates == "asymmetric");
  std::vector<int64_t> size(dims.begin() + static_cast<ptrdiff_t>(std::min<size_t>(2, dims.size())), dims.end());
  for (const Axis& a : r.axes) {
    step = step && a.axis >= 2 && a.out > 1 && a.scale == static_cast<double>(a.out) / static_cast<double>(a.in);
    if (step) size[a.axis - 2] = a.out;
  }
  if (step) {
    if (size.size() == 1) size.insert(size.begin(), 1);
    const TensorId y =
        node.Emit(Op::kResizeBilinear, {node.ToNhwc(node.input(0))}, {{"size", size}, {"coordinates", coordinates}});
    return node.FromNhwc(y, dims.size());
  }
  TensorId x = node.input(0);
  for (const Axis& a : r.axes) x = EmitProduct(node, x, r, a);
  return x;
}

void EmitResize(OnnxNode& node, const Resize& r) {
  for (const Axis& a : r.axes) {
    if (a.in < 1 || a.out < 1 || a.out > 1 << 20 || !(a.scale > 0) || !std::isfinite(a.begin) || !std::isfinite(a.end))
      return node.Error("makes " + std::to_string(a.out) + " cells of dimension " + std::to_string(a.axis));
  }
  const DataType type = node.tensor(node.input(0)).type;
  const bool crop = r.coordinates == "tf_crop_and_resize";
  if (r.mode == "nearest" && !crop) return node.SetOutput(0, EmitNearest(node, r));
  if (type != DataType::kFloat32) return node.Error("interpolates float32 only; cast its input");
  node.SetOutput(0, EmitInterpolation(node, r));
}

/// One scale for each dimension.
void AddScales(OnnxNode& node, const std::vector<float>& scales, Resize& r) {
  const std::vector<int32_t> dims = node.dims(node.input(0));
  if (scales.size() != dims.size()) return node.Error("must have one scale for each dimension");
  for (size_t d = 0; d < dims.size(); ++d) {
    const auto scale = static_cast<double>(scales[d]);
    const auto out = Saturated(static_cast<double>(std::floor(static_cast<float>(dims[d]) * scales[d])));
    if (scale != 1 || out != dims[d]) r.axes.push_back({d, dims[d], out, scale});
  }
}

std::optional<std::vector<float>> ConstantFloats(OnnxNode& node, int input) {
  if (node.is_constant(node.input(input)) && node.tensor(node.input(input)).type == DataType::kFloat32)
    return Elements<float>(node.tensor(node.input(input)));
  node.Error("input " + std::to_string(input) + " must be a constant of float32", node.input(input));
  return std::nullopt;
}

/// "bilinear" and others are names of the same.
std::string Mode(OnnxNode& node) {
  std::string mode = node.String("mode", "nearest");
  if (mode == "bilinear" || mode == "trilinear") return "linear";
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    node.Error("mode " + mode + " is not nearest, linear or cubic");
  return mode;
}

/// Opset 18: sizes or scales for some axes, the largest or smallest of one ratio for all.
void ReadSizes(OnnxNode& node, const std::vector<int64_t>& sizes, const std::vector<int64_t>& axes, Resize& r) {
  const std::vector<int32_t> dims = node.dims(node.input(0));
  if (sizes.size() != axes.size()) return node.Error("must have one size for each axis");
  const std::string policy = node.String("keep_aspect_ratio_policy", "stretch");
  double ratio = 0;
  for (size_t i = 0; i < axes.size() && policy != "stretch"; ++i) {
    const double own = static_cast<double>(sizes[i]) / dims[static_cast<size_t>(axes[i])];
    ratio = i == 0 ? own : policy == "not_larger" ? std::min(ratio, own) : std::max(ratio, own);
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t in = dims[static_cast<size_t>(axes[i])];
    const int64_t out = ratio > 0 ? Saturated(std::floor(ratio * static_cast<double>(in) + 0.5)) : sizes[i];
    const double scale = ratio > 0 ? ratio : static_cast<double>(out) / static_cast<double>(in);
    if (out != in || r.coordinates == "tf_crop_and_resize")
      r.axes.push_back({static_cast<size_t>(axes[i]), in, out, scale});
  }
}

/// The region of each axis that changes: starts, then ends, for the axes given.
void ReadRegion(OnnxNode& node, const std::vector<int64_t>& axes, Resize& r) {
  const auto roi = node.has_input(1) ? ConstantFloats(node, 1) : std::nullopt;
  if (!roi || roi->size() != 2 * axes.size())
    return node.Error("tf_crop_and_resize needs a region: two values an axis");
  for (Axis& a : r.axes) {
    const auto i =
        static_cast<size_t>(std::find(axes.begin(), axes.end(), static_cast<int64_t>(a.axis)) - axes.begin());
    a.begin = static_cast<double>((*roi)[i]);
    a.end = static_cast<double>((*roi)[i + axes.size()]);
  }
}

}  // namespace

/// Scales are an attribute before opset 9, an input from then on.
void ImportOnnxUpsample(OnnxNode& node) {
  if (!node.CheckInputs(1, 2) || !node.CheckOutputs(1)) return;
  Resize r;
  r.mode = Mode(node);
  if (node.has_input(1)) return ImportOnnxResize10(node);
  std::vector<float> scales = node.Floats("scales");
  if (node.Has("height_scale"))
    scales = {1, 1, static_cast<float>(node.Float("height_scale", 1)),
              static_cast<float>(node.Float("width_scale", 1))};
  AddScales(node, scales, r);
  if (!node.failed()) EmitResize(node, r);
}

void ImportOnnxResize10(OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  Resize r;
  r.mode = Mode(node);
  const auto scales = ConstantFloats(node, 1);
  if (!scales) return;
  AddScales(node, *scales, r);
  if (!node.failed()) EmitResize(node, r);
}

/// Inputs: x, region, scales, sizes.
void ImportOnnxResize11(OnnxNode& node) {
  if (!node.CheckInputs(1, 4) || !node.CheckOutputs(1)) return;
  Resize r;
  r.mode = Mode(node);
  r.coordinates = node.String("coordinate_transformation_mode", "half_pixel");
  r.nearest = node.String("nearest_mode", "round_prefer_floor");
  r.cubic_a = node.Float("cubic_coeff_a", -0.75);
  r.extrapolation = node.Float("extrapolation_value", 0);
  r.exclude_outside = node.Int("exclude_outside", 0) != 0;
  static constexpr const char* kKnown[] = {"asymmetric",         "align_corners",        "half_pixel",
                                           "pytorch_half_pixel", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
  if (std::find(std::begin(kKnown), std::end(kKnown), r.coordinates) == std::end(kKnown))
    return node.Error("coordinate_transformation_mode " + r.coordinates + " is not supported");
  if (node.Int("antialias", 0) != 0) return node.Error("antialias is not supported; export without it");
  const size_t rank = node.dims(node.input(0)).size();
  std::vector<int64_t> axes = node.Ints("axes", {});
  if (axes.empty()) axes.resize(rank), std::iota(axes.begin(), axes.end(), 0);
  const auto checked = node.Axes(axes, rank);
  if (!checked) return;
  for (int64_t& axis : axes) axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
  if (node.has_input(3) && node.tensor(node.input(3)).element_count() > 0) {
    const auto sizes = node.ConstantInts(3);
    if (!sizes) return;
    ReadSizes(node, *sizes, axes, r);
  } else {
    const auto given = ConstantFloats(node, 2);
    if (!given) return;
    if (given->size() != axes.size()) return node.Error("must have one scale for each axis");
    std::vector<float> scales(rank, 1);
    for (size_t i = 0; i < axes.size(); ++i) scales[static_cast<size_t>(axes[i])] = (*given)[i];
    AddScales(node, scales, r);
  }
  if (!node.failed() && r.coordinates == "tf_crop_and_resize") ReadRegion(node, axes, r);
  if (!node.failed()) EmitResize(node, r);
}

}  // namespace takt::ir
