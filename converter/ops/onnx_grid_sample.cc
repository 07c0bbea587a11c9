#include "converter/ops/onnx_grid_sample.h"

#include <string>
#include <vector>

#include "converter/ops/onnx_expression.h"

namespace takt::ir {
namespace {

using frontend::OnnxNode;

/// Samples are gathered from the image as rows of channels, one gather for each pixel that a sample is made of.
class Sampler {
 public:
  explicit Sampler(OnnxNode& node) : node_(node), e_(node) {}

  void Emit();

 private:
  /// A pixel along one axis for each sample, and its weight (kNoTensor: 1).
  struct Tap {
    TensorId cell, weight;
  };
  using Taps = std::vector<Tap>;

  TensorId Number(double value) { return node_.FloatConstant({1}, {static_cast<float>(value)}); }
  TensorId Times(TensorId x, double factor) { return e_.Multiply(x, Number(factor)); }
  TensorId Plus(TensorId x, double term) { return e_.Add(x, Number(term)); }

  TensorId Coordinate(int32_t which, int32_t size);
  TensorId Reflected(TensorId at, double low, double high);
  TensorId Bordered(TensorId at, int32_t size);
  Taps TapsOf(TensorId at);
  TensorId Pixel(const Tap& y, const Tap& x);

  OnnxNode& node_;
  OnnxExpression e_;
  std::string mode_, padding_;
  bool align_ = false;
  std::vector<int32_t> image_, grid_;  ///< NCHW; N, rows, columns, 2.
  TensorId pixels_ = kNoTensor;        ///< [N, H * W, C]
};

/// Grid values -1 and 1 are the border pixels' centres (align_corners) or outer edges.
TensorId Sampler::Coordinate(int32_t which, int32_t size) {
  std::vector<int32_t> dims = grid_;
  dims.back() = 1;
  const TensorId part =
      node_.EmitShaped(Op::kSlice, node_.input(1), dims,
                       {{"begin", std::vector<int64_t>{0, 0, 0, which}}, {"strides", std::vector<int64_t>(4, 1)}});
  const TensorId flat = node_.Reshape(part, {grid_[0], grid_[1] * grid_[2]});
  const TensorId at = align_ ? Times(Plus(flat, 1), 0.5 * (size - 1)) : Plus(Times(Plus(flat, 1), 0.5 * size), -0.5);
  return mode_ == "bicubic" ? at : Bordered(at, size);
}

/// Mirrored at both ends until it lies between them: high - |(at - low) mod 2r - r|.
TensorId Sampler::Reflected(TensorId at, double low, double high) {
  if (high <= low) return e_.Clamp(at, low, low);
  const TensorId period = e_.Binary("floor_modulo", Plus(at, -low), Number(2 * (high - low)));
  return Plus(Times(e_.Unary("abs", Plus(period, low - high)), -1), high);
}

/// Places outside of the image, where they mean pixels inside.
TensorId Sampler::Bordered(TensorId at, int32_t size) {
  if (padding_ == "reflection") at = align_ ? Reflected(at, 0, size - 1) : Reflected(at, -0.5, size - 0.5);
  return padding_ == "zeros" ? at : e_.Clamp(at, 0, size - 1);
}

Sampler::Taps Sampler::TapsOf(TensorId at) {
  if (mode_ == "nearest") return {{e_.Unary("round", at), kNoTensor}};
  const TensorId first = e_.Unary("floor", at), t = e_.Subtract(at, first);
  const TensorId rest = Plus(Times(t, -1), 1);
  if (mode_ == "bilinear") return {{first, rest}, {Plus(first, 1), t}};
  // Keys' kernel with a = -0.75, for distances 1 + t, t, 1 - t and 2 - t.
  const double a = -0.75;
  const auto polynomial = [&](TensorId d, double c3, double c2, double c1, double c0) {
    TensorId y = Plus(Times(d, c3), c2);
    y = Plus(e_.Multiply(y, d), c1);
    return Plus(e_.Multiply(y, d), c0);
  };
  const auto near = [&](TensorId d) { return polynomial(d, a + 2, -(a + 3), 0, 1); };
  const auto far = [&](TensorId d) { return polynomial(d, a, -5 * a, 8 * a, -4 * a); };
  return {{Plus(first, -1), far(Plus(t, 1))},
          {first, near(t)},
          {Plus(first, 1), near(rest)},
          {Plus(first, 2), far(Plus(rest, 1))}};
}

/// [N, samples, C]: the pixel, times the weights, and 0 outside of the image.
TensorId Sampler::Pixel(const Tap& y, const Tap& x) {
  const double h = image_[2], w = image_[3];
  const Tap taps[] = {y, x};
  const double sizes[] = {h, w};
  TensorId cells[2], weight = kNoTensor;
  const auto scale = [&](TensorId factor) { weight = weight == kNoTensor ? factor : e_.Multiply(weight, factor); };
  for (int i = 0; i < 2; ++i) {
    const TensorId at = mode_ == "bicubic" ? Bordered(taps[i].cell, static_cast<int32_t>(sizes[i])) : taps[i].cell;
    cells[i] = e_.Clamp(mode_ == "bicubic" ? e_.Unary("round", at) : at, 0, sizes[i] - 1);
    if (taps[i].weight != kNoTensor) scale(taps[i].weight);
    if (padding_ == "zeros") scale(e_.Cast(e_.Compare("equal", cells[i], at), DataType::kFloat32));
  }
  const TensorId place = e_.Cast(e_.Add(Times(cells[0], w), cells[1]), DataType::kInt32);
  const TensorId pixel = node_.Emit(Op::kGather, {pixels_, place}, {{"axis", int64_t{1}}, {"batch_dims", int64_t{1}}});
  if (weight == kNoTensor) return pixel;
  return e_.Multiply(pixel, node_.Reshape(weight, {grid_[0], grid_[1] * grid_[2], 1}));
}

void Sampler::Emit() {
  mode_ = node_.String("mode", "bilinear");
  if (mode_ == "linear" || mode_ == "cubic") mode_ = "bi" + mode_;
  padding_ = node_.String("padding_mode", "zeros");
  align_ = node_.Int("align_corners", 0) != 0;
  image_ = node_.dims(node_.input(0));
  grid_ = node_.dims(node_.input(1));
  if (image_.size() != 4 || grid_.size() != 4 || grid_[3] != 2 || grid_[0] != image_[0])
    return node_.Error("takes an image of rank 4 and a grid [N, height, width, 2]");
  if (mode_ != "bilinear" && mode_ != "nearest" && mode_ != "bicubic")
    return node_.Error("mode " + mode_ + " is not known");
  if (padding_ != "zeros" && padding_ != "border" && padding_ != "reflection")
    return node_.Error("padding_mode " + padding_ + " is not known");
  if (int64_t{image_[2]} * image_[3] > 1 << 24)
    return node_.Error("takes images of at most 2^24 pixels, whose places float32 can tell apart");
  pixels_ = node_.Reshape(node_.ToNhwc(node_.input(0)), {image_[0], image_[2] * image_[3], image_[1]});
  const Taps across = TapsOf(Coordinate(0, image_[3])), down = TapsOf(Coordinate(1, image_[2]));
  TensorId sum = kNoTensor;
  for (const Tap& y : down)
    for (const Tap& x : across) sum = sum == kNoTensor ? Pixel(y, x) : e_.Add(sum, Pixel(y, x));
  node_.Note("becomes " + std::to_string(down.size() * across.size()) + " gathers, with their weights and sums");
  node_.SetOutput(0, node_.FromNhwc(node_.Reshape(sum, {grid_[0], grid_[1], grid_[2], image_[1]}), 4));
}

}  // namespace

void ImportOnnxGridSample(OnnxNode& node) {
  if (node.CheckInputs(2, 2) && node.CheckOutputs(1)) Sampler(node).Emit();
}

}  // namespace takt::ir
