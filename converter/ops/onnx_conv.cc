#include "converter/ops/onnx_conv.h"

#include <algorithm>
#include <numeric>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"

namespace takt::ir {
namespace {

using frontend::OnnxNode;

bool IsEmpty(const std::vector<int32_t>& dims) {
  return std::find(dims.begin(), dims.end(), 0) != dims.end();
}

TensorId BiasOrZeros(OnnxNode& node, TensorId bias, int32_t channels) {
  if (bias != kNoTensor || !MayMake(node, DataType::kFloat32, {channels})) return bias;
  return node.FloatConstant({channels}, std::vector<float>(static_cast<size_t>(channels)));
}

/// Weights whose kernel has one dimension get a height of 1.
TensorId Planar(OnnxNode& node, TensorId weights) {
  const std::vector<int32_t> w = node.dims(weights);
  return w.size() == 3 ? node.Reshape(weights, {w[0], w[1], 1, w[2]}) : weights;
}

/// A transposed convolution: what the standard calls its attributes, and the size of its result.
struct Deconvolution {
  OnnxWindow window;
  std::vector<int64_t> size;
  int64_t group = 1;
};

/// Pads from output_shape, auto_pad or as given; false after an error.
bool ReadSizes(OnnxNode& node, const std::vector<int32_t>& x, Deconvolution& t) {
  OnnxWindow& w = t.window;
  const size_t rank = w.rank();
  const std::string mode = node.String("auto_pad", "NOTSET");
  const bool same = mode == "SAME_UPPER" || mode == "SAME_LOWER";
  const std::vector<int64_t> added = node.Ints("output_padding", std::vector<int64_t>(rank, 0));
  std::vector<int64_t> wanted = node.Ints("output_shape", {});
  if (wanted.size() > rank) wanted.erase(wanted.begin(), wanted.end() - static_cast<ptrdiff_t>(rank));
  if (added.size() != rank || (!wanted.empty() && wanted.size() != rank))
    return node.Error("output_padding and output_shape must have one value for each spatial dimension"), false;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t span = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const int64_t full = (x[i + 2] - 1) * w.strides[i] + span + added[i];
    if (wanted.empty() && !same) {
      t.size.push_back(full - w.before[i] - w.after[i]);
      continue;
    }
    t.size.push_back(wanted.empty() ? x[i + 2] * w.strides[i] : wanted[i]);
    const int64_t total = std::max<int64_t>(0, full - t.size[i]);
    w.before[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
  }
  return true;
}

/// Zeros between the cells of each spatial dimension of x [N, D.., C], as the strides say.
TensorId Spread(OnnxNode& node, TensorId x, const std::vector<int64_t>& strides) {
  for (size_t i = 0; i < strides.size() && !node.failed(); ++i) {
    if (strides[i] == 1) continue;
    std::vector<int32_t> dims = node.dims(x);
    const auto product = [&](size_t first, size_t end) {
      return std::accumulate(dims.begin() + static_cast<ptrdiff_t>(first), dims.begin() + static_cast<ptrdiff_t>(end),
                             1, std::multiplies<>());
    };
    const TensorId apart = node.Reshape(x, {product(0, i + 2), 1, product(i + 2, dims.size())});
    dims[i + 1] = Dim(dims[i + 1] * strides[i]);
    x = node.Reshape(
        node.Emit(Op::kPad, {apart},
                  {{"before", std::vector<int64_t>(3, 0)}, {"after", std::vector<int64_t>{0, strides[i] - 1, 0}}}),
        dims);
  }
  return x;
}

/// Weights [I, O / group, K..] as those [O, I / group, K..] of the convolution over the spread input: mirrored.
TensorId Mirrored(OnnxNode& node, int64_t group) {
  const Tensor& source = node.tensor(node.input(1));
  const std::vector<float> from = Elements<float>(source);
  const int64_t inputs = source.dims[0] / group, outputs = source.dims[1];
  const int64_t cells = static_cast<int64_t>(from.size()) / (source.dims[0] * outputs);
  std::vector<float> to(from.size());
  for (int64_t g = 0; g < group; ++g)
    for (int64_t i = 0; i < inputs; ++i)
      for (int64_t o = 0; o < outputs; ++o)
        for (int64_t k = 0; k < cells; ++k)
          to[static_cast<size_t>((((g * outputs) + o) * inputs + i) * cells + cells - 1 - k)] =
              from[static_cast<size_t>(((g * inputs + i) * outputs + o) * cells + k)];
  std::vector<int32_t> dims = source.dims;
  dims[0] = Dim(outputs * group);
  dims[1] = static_cast<int32_t>(inputs);
  return node.FloatConstant(dims, to);
}

/// In groups, or in three dimensions: a convolution of the input with zeros between its cells.
TensorId EmitSpread(OnnxNode& node, const Deconvolution& t) {
  if (!node.is_constant(node.input(1)) || node.tensor(node.input(1)).type != DataType::kFloat32)
    return node.Error("weights must be float32 constants where it has groups or three dimensions", node.input(1)),
           kNoTensor;
  OnnxWindow w = t.window;
  TensorId x = node.ToNhwc(node.input(0));
  std::vector<int64_t> strides = w.strides;
  if (w.rank() == 1) strides.insert(strides.begin(), 1);
  x = Spread(node, x, strides);
  if (node.failed()) return kNoTensor;
  std::vector<int32_t> dims = node.dims(x);
  std::vector<int64_t> begin(dims.size(), 0);
  for (size_t i = 0; i < w.rank(); ++i) {
    const size_t d = dims.size() - 1 - w.rank() + i;
    const int64_t reach = (w.kernel[i] - 1) * w.dilations[i];
    const int64_t before = reach - w.before[i];
    const int64_t after = t.size[i] + reach - before - dims[d];
    begin[d] = std::max<int64_t>(0, -before);
    dims[d] = Dim(dims[d] + std::min<int64_t>(0, after) + std::min<int64_t>(0, before));
    w.before[i] = std::max<int64_t>(0, before);
    w.after[i] = std::max<int64_t>(0, after);
    w.strides[i] = 1;
  }
  if (dims != node.dims(x))
    x = node.EmitShaped(Op::kSlice, x, dims, {{"begin", begin}, {"strides", std::vector<int64_t>(dims.size(), 1)}});
  return EmitOnnxConv(node, x, Mirrored(node, t.group), node.input(2), t.group, w);
}

/// Pads after the end crop what reaches beyond the result.
TensorId EmitDirect(OnnxNode& node, const Deconvolution& t) {
  const OnnxWindow plane = t.window.Plane();
  std::vector<int64_t> size = t.size;
  if (size.size() == 1) size.insert(size.begin(), 1);
  const TensorId x = node.ToNhwc(node.input(0));
  const TensorId weights = node.Transpose(Planar(node, node.input(1)), {1, 2, 3, 0});
  if (node.failed()) return kNoTensor;
  std::vector<int64_t> pads = plane.before;
  for (size_t i = 0; i < 2; ++i) {
    const int64_t span = (plane.kernel[i] - 1) * plane.dilations[i] + 1;
    const int64_t reach = (node.dims(x)[i + 1] - 1) * plane.strides[i] + span - plane.before[i];
    pads.push_back(std::max<int64_t>(0, reach - size[i]));
  }
  const TensorId bias = BiasOrZeros(node, node.input(2), node.dims(weights)[0]);
  return node.Emit(Op::kTransposeConv2d, {x, weights, bias},
                   {{"strides", plane.strides}, {"dilations", plane.dilations}, {"pads", pads}, {"size", size}});
}

}  // namespace

TensorId EmitOnnxConv(OnnxNode& node, TensorId x, TensorId weights, TensorId bias, int64_t group,
                      const OnnxWindow& window) {
  if (node.failed()) return kNoTensor;
  const std::vector<int32_t> w = node.dims(weights);
  const TensorId terms = BiasOrZeros(node, bias, w[0]);
  if (window.rank() == 3) {
    return node.Emit(Op::kConv3d, {x, node.Transpose(weights, {0, 2, 3, 4, 1}), terms},
                     {{"strides", window.strides}, {"dilations", window.dilations}, {"pads", window.pads()}});
  }
  const OnnxWindow plane = window.Plane();
  const bool depthwise = group > 1 && w[1] == 1;
  const TensorId turned = node.Transpose(
      Planar(node, weights), depthwise ? std::vector<int64_t>{1, 2, 3, 0} : std::vector<int64_t>{0, 2, 3, 1});
  return node.Emit(depthwise ? Op::kDepthwiseConv2d : Op::kConv2d, {x, turned, terms},
                   {{"strides", plane.strides}, {"dilations", plane.dilations}, {"pads", plane.pads()}});
}

std::optional<OnnxWindow> ReadOnnxConvWindow(OnnxNode& node, TensorId weights, int64_t group) {
  const std::vector<int32_t> x = node.dims(node.input(0)), w = node.dims(weights);
  if (w.size() != x.size() || w.size() < 3 || group < 1 || IsEmpty(w) || group > x[1] || w[1] * group != x[1]) {
    node.Error("input " + DimsText(x) + " and weights " + DimsText(w) + " do not fit " + std::to_string(group) +
               " groups");
    return std::nullopt;
  }
  return ReadOnnxWindow(node, {w.begin() + 2, w.end()});
}

void ImportOnnxConvTranspose(OnnxNode& node) {
  if (!node.CheckInputs(2, 3) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> x = node.dims(node.input(0));
  const std::vector<int32_t> w = node.dims(node.input(1));
  Deconvolution t;
  t.group = node.Int("group", 1);
  if (w.size() != x.size() || w.size() < 3 || t.group < 1 || IsEmpty(w) || w[0] != x[1] || x[1] % t.group != 0) {
    return node.Error("input " + DimsText(x) + " and weights " + DimsText(w) + " do not fit " +
                      std::to_string(t.group) + " groups");
  }
  auto window = ReadOnnxWindow(node, {w.begin() + 2, w.end()});
  if (!window) return;
  t.window = std::move(*window);
  if (!ReadSizes(node, x, t)) return;
  for (int64_t size : t.size) {
    if (size < 1 || size > 1 << 24) return node.Error("gives a dimension of " + std::to_string(size));
  }
  const TensorId y = t.group > 1 || x.size() == 5 ? EmitSpread(node, t) : EmitDirect(node, t);
  node.SetOutput(0, node.FromNhwc(y, x.size()));
}

}  // namespace takt::ir
