#include "converter/ops/onnx_signal.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "converter/base/saturate.h"
#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/twiddles.h"

namespace takt::ir {
namespace {

using frontend::OnnxNode;

constexpr int64_t kMostPoints = 1 << 18;

/// A discrete Fourier transform of `length` points, of which the first `given` are there; each is 1 (real) or 2
/// numbers.
struct Transform {
  int64_t length, given, parts, bins;
  bool inverse = false;
  std::vector<float> window = {};  ///< Empty: none.
};

/// Rows: real and imaginary part of each frequency; columns: the numbers of each point.
std::vector<float> Matrix(const Transform& t) {
  std::vector<float> matrix(static_cast<size_t>(2 * t.bins * t.given * t.parts));
  const std::vector<UnitComplex> roots = UnitRoots(t.length);
  const double scale = t.inverse ? 1.0 / static_cast<double>(t.length) : 1.0;
  for (int64_t k = 0; k < t.bins; ++k) {
    for (int64_t n = 0; n < std::min(t.given, t.length); ++n) {
      const auto [cosine, sine] = roots[static_cast<size_t>(k * n % t.length)];
      const double factor = t.window.empty() ? scale : scale * static_cast<double>(t.window[static_cast<size_t>(n)]);
      const double real = factor * cosine, imaginary = factor * (t.inverse ? sine : -sine);
      const double rows[2][2] = {{real, -imaginary}, {imaginary, real}};
      for (int64_t row = 0; row < 2; ++row)
        for (int64_t part = 0; part < t.parts; ++part)
          matrix[static_cast<size_t>(((2 * k + row) * t.given + n) * t.parts + part)] =
              static_cast<float>(rows[row][part]);
    }
  }
  return matrix;
}

bool Check(OnnxNode& node, const Transform& t) {
  if (t.length < 1 || t.given < 1) return node.Error("has a length of " + std::to_string(t.length)), false;
  if (t.length > kMostPoints)
    return node.Error("transforms " + std::to_string(t.length) + " points; allowed are up to 2^18"), false;
  return MayMake(node, DataType::kFloat32, {2 * t.bins, t.given, t.parts}, node.input(0));
}

/// The value of input `i`, or `fallback` if it is absent.
std::optional<int64_t> IntInput(OnnxNode& node, int i, int64_t fallback) {
  if (!node.has_input(i)) return fallback;
  const auto value = node.ConstantScalar(i);
  return value ? std::optional(Saturated(*value)) : std::nullopt;
}

int64_t Bins(int64_t length, bool onesided) {
  return onesided ? length / 2 + 1 : length;
}

}  // namespace

void ImportOnnxDft(OnnxNode& node) {
  if (!node.CheckInputs(1, 3) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> dims = node.dims(node.input(0));
  const bool as_input = node.opset() >= 20;
  const auto given = as_input ? IntInput(node, 2, -2) : node.Int("axis", 1);
  if (!given || dims.size() < 2 || dims.back() < 1 || dims.back() > 2)
    return node.Error("takes [.., 1] (real) or [.., 2] (complex)");
  const auto axis = node.Axis(*given, dims.size());
  if (!axis || *axis + 1 == dims.size()) return node.Error("transforms along the axis of real and imaginary parts");
  const auto length = IntInput(node, 1, dims[*axis]);
  if (!length) return;
  const bool onesided = node.Int("onesided", 0) != 0, inverse = node.Int("inverse", 0) != 0;
  if (onesided && inverse) return node.Error("inverts one side of a spectrum; give both");
  const Transform t{*length, dims[*axis], dims.back(), Bins(*length, onesided), inverse};
  if (!Check(node, t)) return;
  std::vector<int64_t> order(dims.size());  // The axis before the last dimension.
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + static_cast<int64_t>(*axis));
  order.insert(order.end() - 1, static_cast<int64_t>(*axis));
  std::vector<int32_t> rows = Permuted(dims, order);
  const auto columns = static_cast<int32_t>(t.given * t.parts), bins = static_cast<int32_t>(t.bins);
  const TensorId flat =
      node.Reshape(node.Transpose(node.input(0), order),
                   {static_cast<int32_t>(node.tensor(node.input(0)).element_count() / columns), columns});
  const TensorId y = node.Emit(Op::kFullyConnected,
                               {flat, node.FloatConstant({2 * bins, columns}, Matrix(t)),
                                node.FloatConstant({2 * bins}, std::vector<float>(static_cast<size_t>(2 * bins)))});
  rows[rows.size() - 2] = bins;
  rows.back() = 2;
  node.SetOutput(0, node.Transpose(node.Reshape(y, rows), Inverse(order)));
}

void ImportOnnxStft(OnnxNode& node) {
  if (!node.CheckInputs(2, 4) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> dims = node.dims(node.input(0));
  const auto step = IntInput(node, 1, 1);
  Transform t{0, 0, dims.size() == 3 ? dims[2] : 1, 0};
  if (!step || *step < 1 || dims.size() < 2 || dims.size() > 3 || t.parts < 1 || t.parts > 2)
    return node.Error("takes a signal [batch, length, 1 or 2] and a step of at least 1");
  if (node.has_input(2)) {
    if (!node.is_constant(node.input(2)) || node.tensor(node.input(2)).type != DataType::kFloat32)
      return node.Error("its window must be a float32 constant", node.input(2));
    t.window = Elements<float>(node.tensor(node.input(2)));
  }
  const auto length = IntInput(node, 3, static_cast<int64_t>(t.window.size()));
  if (!length) return;
  t.length = t.given = *length;
  if (t.length < 1 || t.length > dims[1] || (!t.window.empty() && static_cast<int64_t>(t.window.size()) != t.length))
    return node.Error("has frames of " + std::to_string(t.length) + ", which the window or the signal do not fit");
  t.bins = Bins(t.length, node.Int("onesided", 1) != 0);
  if (!Check(node, t)) return;
  const auto frame = static_cast<int32_t>(t.length), parts = static_cast<int32_t>(t.parts),
             bins = static_cast<int32_t>(t.bins);
  const TensorId x = node.Reshape(node.input(0), {dims[0], 1, dims[1], parts});
  const TensorId y = node.Emit(Op::kConv2d,
                               {x, node.FloatConstant({2 * bins, 1, frame, parts}, Matrix(t)),
                                node.FloatConstant({2 * bins}, std::vector<float>(static_cast<size_t>(2 * bins)))},
                               {{"strides", std::vector<int64_t>{1, *step}},
                                {"dilations", std::vector<int64_t>{1, 1}},
                                {"pads", std::vector<int64_t>{0, 0, 0, 0}}});
  if (node.failed()) return;
  node.SetOutput(0, node.Reshape(y, {dims[0], node.dims(y)[2], bins, 2}));
}

/// The standard's formula: triangles between frequencies that are evenly spaced in mel = 2595 * log10(1 + f / 700).
void ImportOnnxMelWeightMatrix(OnnxNode& node) {
  if (!node.CheckInputs(5, 5) || !node.CheckOutputs(1)) return;
  double given[5];
  for (int i = 0; i < 5; ++i) {
    const auto value = node.ConstantScalar(i);
    if (!value) return;
    given[i] = *value;
  }
  const double bands = given[0], length = given[1], rate = given[2], low = given[3], high = given[4];
  if (!(std::fabs(bands) <= kMostMadeElements && std::fabs(length) <= kMostMadeElements))
    return node.Error("has more than 2^24 bands or points");
  const auto mel = [](double frequency) { return 2595 * std::log10(1 + frequency / 700); };
  const auto count = static_cast<int64_t>(bands), bins = static_cast<int64_t>(length) / 2 + 1;
  if (count < 1 || bins < 1 || !(rate > 0) || !(low >= 0) || !(high >= low))
    return node.Error("has bands, a length, a rate or frequencies that make no matrix");
  if (!MayMake(node, DataType::kFloat32, {bins, count})) return;
  std::vector<int64_t> edges;
  const double spacing = (mel(high) - mel(low)) / static_cast<double>(count + 2);
  for (int64_t i = 0; i < count + 2; ++i) {
    const double frequency = 700 * (std::pow(10, (mel(low) + spacing * static_cast<double>(i)) / 2595) - 1);
    edges.push_back(std::clamp<int64_t>(Saturated(std::floor((length + 1) * frequency / rate)), 0, bins - 1));
  }
  std::vector<float> matrix(static_cast<size_t>(count * bins));
  for (int64_t band = 0; band < count; ++band) {
    const int64_t left = edges[static_cast<size_t>(band)], top = edges[static_cast<size_t>(band) + 1],
                  right = edges[static_cast<size_t>(band) + 2];
    const auto set = [&](int64_t bin, int64_t part, int64_t whole) {
      matrix[static_cast<size_t>(bin * count + band)] =
          whole == 0 ? 1.0f : static_cast<float>(static_cast<double>(part) / static_cast<double>(whole));
    };
    for (int64_t bin = left; bin <= top; ++bin) set(bin, bin - left, top - left);
    for (int64_t bin = top; bin < right; ++bin) set(bin, right - bin, right - top);
  }
  node.SetOutput(0, node.FloatConstant({static_cast<int32_t>(bins), static_cast<int32_t>(count)}, matrix));
}

}  // namespace takt::ir
