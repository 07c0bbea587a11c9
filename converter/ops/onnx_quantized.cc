#include "converter/ops/onnx_quantized.h"

#include <algorithm>

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

DataType StoredType(OnnxNode& node, TensorId zero_point) {
  return zero_point == kNoTensor ? DataType::kUint8 : node.tensor(zero_point).type;
}

/// Scales and zero points as the graph has them, for int8 storage: uint8 is stored less 128. Nothing if they depend on
/// data, or do not fit.
std::optional<Quantization> Read(OnnxNode& node, const Quantized& from) {
  if (!node.is_constant(from.scale) || node.tensor(from.scale).type != DataType::kFloat32) return std::nullopt;
  Quantization q;
  q.scales = Elements<float>(node.tensor(from.scale));
  q.zero_points.assign(q.scales.size(), 0);
  if (from.zero_point != kNoTensor) {
    const auto values = node.is_constant(from.zero_point) ? IntegerValues(node.tensor(from.zero_point)) : std::nullopt;
    if (!values || values->size() != q.scales.size()) return std::nullopt;
    q.zero_points.assign(values->begin(), values->end());
  }
  if (StoredType(node, from.zero_point) == DataType::kUint8) {
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
  auto q = Read(node, to);
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
  auto q = Read(node, from);
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
    const auto in = Read(node, Inputs(node, 0));
    const auto weights = Read(node, {node.input(3), node.input(4), node.input(5), 0});
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

/// Sums of products of 8-bit values are exact in float32 up to 2^24.
void CheckExact(OnnxNode& node, int64_t terms) {
  if (terms > (1 << 24) / (255 * 255))
    node.Note("sums " + std::to_string(terms) + " products in float32; sums above 2^24 are rounded");
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
  CheckExact(node, node.tensor(node.input(1)).element_count() / w[0]);
  const TensorId y = EmitOnnxConv(node, node.ToNhwc(input), weights, kNoTensor, group, *window);
  node.SetOutput(0, OnnxExpression(node).Cast(node.FromNhwc(y, x.size()), DataType::kInt32));
}

void ImportOnnxMatMulInteger(OnnxNode& node) {
  if (!node.CheckInputs(2, 4) || !node.CheckOutputs(1)) return;
  const auto rank = [&](int i) { return static_cast<int64_t>(node.dims(node.input(i)).size()); };
  const TensorId a = Centered(node, node.input(0), node.input(2), rank(0) - 2);
  const TensorId b = Centered(node, node.input(1), node.input(3), rank(1) - 1);
  if (rank(0) > 0) CheckExact(node, node.dims(node.input(0)).back());
  node.SetOutput(0, OnnxExpression(node).Cast(EmitOnnxMatMul(node, a, b), DataType::kInt32));
}

}  // namespace takt::ir
