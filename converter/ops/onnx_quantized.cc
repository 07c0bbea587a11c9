#include "converter/ops/onnx_quantized.h"

#include <algorithm>
#include <cmath>

#include "converter/ir/constants.h"
#include "converter/ops/onnx_conv.h"
#include "converter/ops/onnx_expression.h"
#include "converter/ops/onnx_matmul.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

using frontend::OnnxNode;

/// The inputs of a node that hold a quantized value or say how to quantize one: x, scale, zero point.
struct Quantized {
  TensorId x, scale, zero_point;
  int64_t axis = 1;
};

Quantized Inputs(OnnxNode& node, int x, int64_t axis = 1) {
  return {node.input(x), node.input(x + 1), node.input(x + 2), axis};
}

/// What a quantization gives.
DataType StoredType(OnnxNode& node, TensorId zero_point) {
  return zero_point == kNoTensor ? DataType::kUint8 : node.tensor(zero_point).type;
}

/// What a dequantization reads; a quantized tensor of the graph without a zero point was uint8 if it is -128 here.
DataType ReadType(OnnxNode& node, const Quantized& from) {
  if (from.zero_point != kNoTensor) return node.tensor(from.zero_point).type;
  const Tensor& x = node.tensor(from.x);
  const bool moved = x.quantization && x.type == DataType::kInt8 && x.quantization->zero_points[0] == -128;
  return moved ? DataType::kUint8 : x.type;
}

/// Scales and zero points as the graph has them, for int8 storage: uint8 is stored less 128. Nothing if they depend on
/// data, or do not fit.
std::optional<Quantization> Read(OnnxNode& node, const Quantized& from, DataType stored) {
  if (!node.is_constant(from.scale) || node.tensor(from.scale).type != DataType::kFloat32) return std::nullopt;
  Quantization q;
  q.scales = Elements<float>(node.tensor(from.scale));
  q.zero_points.assign(q.scales.size(), 0);
  if (from.zero_point != kNoTensor) {
    const auto values = node.is_constant(from.zero_point) ? IntegerValues(node.tensor(from.zero_point)) : std::nullopt;
    if (!values || values->size() != q.scales.size()) return std::nullopt;
    q.zero_points.assign(values->begin(), values->end());
  }
  if (stored == DataType::kUint8) {
    for (int32_t& zero_point : q.zero_points) zero_point -= 128;
  }
  const std::vector<int32_t>& dims = node.dims(from.x);
  if (q.per_channel()) {
    const auto rank = static_cast<int64_t>(dims.size());
    q.axis = static_cast<int>(from.axis < 0 ? from.axis + rank : from.axis);
    if (q.axis < 0 || q.axis >= rank || static_cast<size_t>(dims[static_cast<size_t>(q.axis)]) != q.scales.size())
      return std::nullopt;
  }
  return q;
}

/// Scales or zero points in a shape that broadcasts along their axis.
TensorId AlongAxis(OnnxNode& node, TensorId values, const Quantized& from) {
  if (node.failed() || node.tensor(values).element_count() == 1) return values;
  const size_t rank = node.dims(from.x).size();
  const auto axis = node.Axis(from.axis, rank);
  if (!axis) return kNoTensor;
  std::vector<int32_t> dims(rank, 1);
  dims[*axis] = static_cast<int32_t>(node.tensor(values).element_count());
  return node.Reshape(values, dims);
}

/// round(x / scale) + zero point, saturated, in float arithmetic and as plain integers.
TensorId QuantizeInFloat(OnnxNode& node, const Quantized& to) {
  const OnnxExpression e(node);
  const DataType type = StoredType(node, to.zero_point);
  TensorId y = e.Unary("round", e.Binary("divide", to.x, AlongAxis(node, to.scale, to)));
  if (to.zero_point != kNoTensor) y = e.Add(y, e.Cast(AlongAxis(node, to.zero_point, to), DataType::kFloat32));
  const bool is_signed = type == DataType::kInt8;
  return e.Cast(e.Clamp(y, is_signed ? -128 : 0, is_signed ? 127 : 255), type);
}

TensorId DequantizeInFloat(OnnxNode& node, const Quantized& from) {
  const OnnxExpression e(node);
  TensorId y = e.Cast(from.x, DataType::kFloat32);
  if (from.zero_point != kNoTensor)
    y = e.Subtract(y, e.Cast(AlongAxis(node, from.zero_point, from), DataType::kFloat32));
  return e.Multiply(y, AlongAxis(node, from.scale, from));
}

TensorId Quantize(OnnxNode& node, const Quantized& to) {
  if (node.failed()) return kNoTensor;
  const DataType type = StoredType(node, to.zero_point);
  if (type != DataType::kInt8 && type != DataType::kUint8)
    return node.Error("quantizes to int8 and uint8 only", to.zero_point), kNoTensor;
  auto q = Read(node, to, type);
  if (!q || q->per_channel()) return QuantizeInFloat(node, to);
  Tensor output;
  output.type = DataType::kInt8;
  output.quantization = std::move(q);
  return node.EmitTyped(Op::kQuantize, {to.x}, std::move(output));
}

TensorId EmitDequantize(OnnxNode& node, TensorId x) {
  Tensor real;
  real.type = DataType::kFloat32;
  return node.EmitTyped(Op::kDequantize, {x}, std::move(real));
}

/// A constant of int32 (a bias) becomes float at once; of 8 bits it carries its quantization into the graph.
TensorId DequantizeConstant(OnnxNode& node, const Quantized& from, Quantization q) {
  Tensor constant = node.tensor(from.x);
  if (constant.type == DataType::kInt32) {
    std::vector<float> values;
    for (int32_t value : Elements<int32_t>(constant)) {
      const size_t c = q.per_channel() ? values.size() % q.scales.size() : 0;
      values.push_back(static_cast<float>(value - q.zero_points[c]) * q.scales[c]);
    }
    return node.FloatConstant(constant.dims, values);
  }
  constant.quantization = std::move(q);
  if (constant.type == DataType::kUint8) {
    Bytes bytes = *constant.data;
    for (uint8_t& byte : bytes) byte ^= 0x80;
    constant.type = DataType::kInt8;
    constant.data = std::make_shared<const Bytes>(std::move(bytes));
  }
  if (constant.type != DataType::kInt8)
    return node.Error("its constant must be int8, uint8 or int32", from.x), kNoTensor;
  return EmitDequantize(node, node.Constant(std::move(constant)));
}

/// A tensor that was quantized with the same scale; a constant; a graph input, which becomes a quantized one; or any
/// other, in float arithmetic.
TensorId Dequantize(OnnxNode& node, const Quantized& from) {
  if (node.failed()) return kNoTensor;
  const Tensor& x = node.tensor(from.x);
  auto q = Read(node, from, ReadType(node, from));
  const bool narrow = x.type == DataType::kInt8 || x.type == DataType::kUint8;
  if (x.quantization) {
    Quantization own = *x.quantization;
    for (int32_t& zero_point : own.zero_points) zero_point -= x.type == DataType::kUint8 ? 128 : 0;
    if (!q || own != *q)
      return node.Error("reads a tensor that was quantized with another scale or zero point", from.x), kNoTensor;
    if (x.type == DataType::kInt8) return EmitDequantize(node, from.x);
  }
  if (q && x.is_constant()) return DequantizeConstant(node, from, std::move(*q));
  if (!q || q->per_channel() || !narrow) return DequantizeInFloat(node, from);
  return EmitDequantize(node, node.QuantizedInput(from.x, std::move(*q)));
}

}  // namespace

void ImportOnnxQuantize(OnnxNode& node) {
  if (!node.CheckInputs(2, 3) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, Quantize(node, {node.input(0), node.input(1), node.input(2), node.Int("axis", 1)}));
}

void ImportOnnxDequantize(OnnxNode& node) {
  if (!node.CheckInputs(2, 3) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, Dequantize(node, {node.input(0), node.input(1), node.input(2), node.Int("axis", 1)}));
}

/// The float convolution between quantizations, which a pass makes one integer step.
void ImportOnnxQLinearConv(OnnxNode& node) {
  if (!node.CheckInputs(8, 9) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> x = node.dims(node.input(0)), w = node.dims(node.input(3));
  const int64_t group = node.Int("group", 1);
  const auto window = ReadOnnxConvWindow(node, node.input(3), group);
  if (!window) return;
  TensorId bias = kNoTensor;
  if (node.has_input(8)) {
    const Quantized x_in = Inputs(node, 0), w_in = {node.input(3), node.input(4), node.input(5), 0};
    const auto in = Read(node, x_in, ReadType(node, x_in)), weights = Read(node, w_in, ReadType(node, w_in));
    if (!in || !weights || !node.is_constant(node.input(8)) || node.tensor(node.input(8)).type != DataType::kInt32)
      return node.Error("scales, weights and bias must be constants", node.input(8));
    std::vector<float> values;
    for (int32_t value : Elements<int32_t>(node.tensor(node.input(8)))) {
      const float scale = weights->scales[weights->per_channel() ? values.size() : 0];
      values.push_back(static_cast<float>(static_cast<double>(value) * static_cast<double>(in->scales[0]) *
                                          static_cast<double>(scale)));
    }
    bias = node.FloatConstant({w[0]}, values);
  }
  const TensorId input = node.ToNhwc(Dequantize(node, Inputs(node, 0)));
  const TensorId weights = Dequantize(node, {node.input(3), node.input(4), node.input(5), 0});
  const TensorId y = node.FromNhwc(EmitOnnxConv(node, input, weights, bias, group, *window), x.size());
  node.SetOutput(0, Quantize(node, {y, node.input(6), node.input(7)}));
}

void ImportOnnxQLinearMatMul(OnnxNode& node) {
  if (!node.CheckInputs(8, 8) || !node.CheckOutputs(1)) return;
  const auto last = static_cast<int64_t>(node.dims(node.input(3)).size()) - 1;
  const TensorId a = Dequantize(node, Inputs(node, 0));
  const TensorId b = Dequantize(node, {node.input(3), node.input(4), node.input(5), last});
  node.SetOutput(0, Quantize(node, {EmitOnnxMatMul(node, a, b), node.input(6), node.input(7)}));
}

namespace {

/// Stored value less zero point, as float32.
TensorId Centered(OnnxNode& node, TensorId x, TensorId zero_point, int64_t axis) {
  const OnnxExpression e(node);
  const TensorId real = e.Cast(x, DataType::kFloat32);
  if (zero_point == kNoTensor) return real;
  return e.Subtract(real, e.Cast(AlongAxis(node, zero_point, {x, kNoTensor, kNoTensor, axis}), DataType::kFloat32));
}

constexpr double kExact = 1 << 24;  // Integers up to it are exact in float32.

/// 8-bit weights as [outer, length, inner]: sums run over `length`, and over `inner` too unless those are columns.
struct IntegerWeights {
  TensorId weights, zero_point;
  int64_t outer;
  int32_t length;
  int64_t inner;
  bool columns;
};

/// Where to cut `length` so that no sum of a part exceeds what float32 holds, whatever the 8-bit operand is.
std::vector<int32_t> ExactParts(OnnxNode& node, const IntegerWeights& w) {
  std::vector<int64_t> values, zeros = {0};
  if (node.is_constant(w.weights)) values = IntegerValues(node.tensor(w.weights)).value_or(values);
  if (w.zero_point != kNoTensor && node.is_constant(w.zero_point))
    zeros = IntegerValues(node.tensor(w.zero_point)).value_or(zeros);
  const bool known = !values.empty() && (w.zero_point == kNoTensor || node.is_constant(w.zero_point)) &&
                     (zeros.size() == 1 || static_cast<int64_t>(zeros.size()) == (w.columns ? w.inner : w.outer));
  std::vector<double> sums(static_cast<size_t>(w.columns ? w.outer * w.inner : w.outer));
  std::vector<int32_t> cuts = {0};
  for (int32_t k = 0; k < w.length; ++k) {
    std::vector<double> added(sums.size());
    for (int64_t o = 0; o < w.outer; ++o) {
      for (int64_t i = 0; i < w.inner; ++i) {
        const auto zero = static_cast<size_t>(zeros.size() == 1 ? 0 : w.columns ? i : o);
        const auto at = static_cast<size_t>((o * w.length + k) * w.inner + i);
        added[static_cast<size_t>(w.columns ? o * w.inner + i : o)] +=
            known ? 255.0 * std::fabs(static_cast<double>(values[at] - zeros[zero])) : 255.0 * 255.0;
      }
    }
    if (*std::max_element(added.begin(), added.end()) > kExact) node.Note("has sums above 2^24, which are rounded");
    bool fits = true;
    for (size_t r = 0; r < sums.size(); ++r) fits = fits && sums[r] + added[r] <= kExact;
    if (!fits && cuts.back() != k) {
      cuts.push_back(k);
      std::fill(sums.begin(), sums.end(), 0.0);
    }
    for (size_t r = 0; r < sums.size(); ++r) sums[r] += added[r];
  }
  cuts.push_back(w.length);
  return cuts;
}

/// Elements [begin, end) of dimension `axis`.
TensorId Part(OnnxNode& node, TensorId x, size_t axis, int32_t begin, int32_t end) {
  if (node.failed() || node.dims(x)[axis] == end - begin) return x;
  std::vector<int32_t> dims = node.dims(x);
  std::vector<int64_t> from(dims.size(), 0);
  from[axis] = begin;
  dims[axis] = end - begin;
  return node.EmitShaped(Op::kSlice, x, dims, {{"begin", from}, {"strides", std::vector<int64_t>(dims.size(), 1)}});
}

/// The int32 sum of `product(begin, end)` over all parts, each of which float32 holds exactly.
template <typename Product>
TensorId ExactSum(OnnxNode& node, const std::vector<int32_t>& cuts, const Product& product) {
  const OnnxExpression e(node);
  TensorId sum = kNoTensor;
  for (size_t i = 0; i + 1 < cuts.size() && !node.failed(); ++i) {
    const TensorId part = e.Cast(product(cuts[i], cuts[i + 1]), DataType::kInt32);
    sum = i == 0 ? part : e.Add(sum, part);
  }
  return sum;
}

}  // namespace

void ImportOnnxConvInteger(OnnxNode& node) {
  if (!node.CheckInputs(2, 4) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> x = node.dims(node.input(0)), w = node.dims(node.input(1));
  const int64_t group = node.Int("group", 1);
  const auto window = ReadOnnxConvWindow(node, node.input(1), group);
  if (!window) return;
  const TensorId input = Centered(node, node.input(0), node.input(2), 1);
  const TensorId weights = Centered(node, node.input(1), node.input(3), 0);
  const int64_t cells = node.tensor(node.input(1)).element_count() / w[0] / w[1];
  std::vector<int32_t> cuts = {0, w[1]};
  if (group == 1) {
    cuts = ExactParts(node, {node.input(1), node.input(3), w[0], w[1], cells, false});
  } else if (static_cast<double>(w[1] * cells) * 255 * 255 > kExact) {
    node.Note("has sums above 2^24 in its groups, which are rounded");
  }
  node.SetOutput(0, ExactSum(node, cuts, [&](int32_t begin, int32_t end) {
                   const bool all = end - begin == w[1];
                   const TensorId from = all ? input : Part(node, input, 1, begin, end);
                   const TensorId y = EmitOnnxConv(node, node.ToNhwc(from), Part(node, weights, 1, begin, end),
                                                   kNoTensor, group, *window);
                   return node.FromNhwc(y, x.size());
                 }));
}

void ImportOnnxMatMulInteger(OnnxNode& node) {
  if (!node.CheckInputs(2, 4) || !node.CheckOutputs(1)) return;
  const std::vector<int32_t> left = node.dims(node.input(0)), right = node.dims(node.input(1));
  if (left.empty() || right.empty()) return node.Error("a scalar has no product");
  if (node.tensor(node.input(1)).element_count() == 0) return node.Error("has an operand without elements");
  const auto rank = [](const std::vector<int32_t>& dims) { return static_cast<int64_t>(dims.size()); };
  const TensorId a = Centered(node, node.input(0), node.input(2), rank(left) - 2);
  const TensorId b = Centered(node, node.input(1), node.input(3), rank(right) - 1);
  const size_t axis = right.size() < 2 ? 0 : right.size() - 2;
  const int64_t inner = right.size() < 2 ? 1 : right.back();
  const int64_t outer = node.tensor(node.input(1)).element_count() / inner / right[axis];
  if (left.back() != right[axis])
    return node.Error("operands " + DimsText(left) + " and " + DimsText(right) + " do not fit");
  const auto cuts = ExactParts(node, {node.input(1), node.input(3), outer, right[axis], inner, true});
  node.SetOutput(0, ExactSum(node, cuts, [&](int32_t begin, int32_t end) {
                   return EmitOnnxMatMul(node, Part(node, a, left.size() - 1, begin, end),
                                         Part(node, b, axis, begin, end));
                 }));
}

}  // namespace takt::ir
