#include "converter/ops/onnx_expression.h"

#include "converter/base/saturate.h"
#include "converter/ir/constants.h"

namespace takt::ir {

TensorId OnnxExpression::Widen(TensorId x) const {
  if (node_.failed() || node_.tensor(x).quantization) return x;
  switch (node_.tensor(x).type) {
    case DataType::kInt8:
    case DataType::kUint8:
    case DataType::kInt16:
      return Cast(x, DataType::kInt32);
    case DataType::kUint32:
      return Cast(x, DataType::kInt64);
    default:
      return x;
  }
}

TensorId OnnxExpression::Arithmetic(Op op, const char* function, TensorId a, TensorId b) const {
  if (node_.failed()) return kNoTensor;
  std::map<std::string, Attribute> attributes;
  if (function[0] != 0) attributes["function"] = std::string(function);
  return Cast(node_.Emit(op, {Widen(a), Widen(b)}, std::move(attributes)), node_.tensor(a).type);
}

TensorId OnnxExpression::Unary(const char* function, TensorId x, double alpha) const {
  return node_.Emit(Op::kUnary, {x}, {{"function", std::string(function)}, {"alpha", alpha}});
}

TensorId OnnxExpression::Clamp(TensorId x, double min, double max) const {
  return node_.Emit(Op::kClamp, {x}, {{"min", min}, {"max", max}});
}

TensorId OnnxExpression::Compare(const char* function, TensorId a, TensorId b) const {
  return node_.Emit(Op::kCompare, {Widen(a), Widen(b)}, {{"function", std::string(function)}});
}

TensorId OnnxExpression::Logic(const char* function, TensorId a, TensorId b) const {
  return node_.Emit(Op::kLogic, {a, b}, {{"function", std::string(function)}});
}

TensorId OnnxExpression::Not(TensorId x) const {
  return node_.Emit(Op::kLogic, {x}, {{"function", std::string("negation")}});
}

TensorId OnnxExpression::Select(TensorId condition, TensorId a, TensorId b) const {
  return node_.Emit(Op::kSelect, {condition, a, b});
}

TensorId OnnxExpression::Cast(TensorId x, DataType type) const {
  if (node_.failed() || node_.tensor(x).type == type) return x;
  Tensor output;
  output.type = type;
  return node_.EmitTyped(Op::kCast, {x}, std::move(output));
}

TensorId OnnxExpression::Reduce(const char* function, TensorId x, const std::vector<int64_t>& axes) const {
  std::map<std::string, Attribute> attributes = {{"axes", axes}, {"keep_dims", int64_t{1}}};
  if (std::string(function) == "mean") return node_.Emit(Op::kMean, {x}, std::move(attributes));
  attributes["function"] = std::string(function);
  return node_.Emit(Op::kReduce, {x}, std::move(attributes));
}

TensorId OnnxExpression::Scalar(TensorId like, double value) const {
  if (node_.failed()) return kNoTensor;
  if (node_.tensor(like).type != DataType::kFloat32) return IntScalar(like, Saturated(value));
  return node_.FloatConstant({1}, {static_cast<float>(value)});
}

TensorId OnnxExpression::IntScalar(TensorId like, int64_t value) const {
  if (node_.failed()) return kNoTensor;
  Bytes bytes = ToBytes(std::vector<int64_t>{value});  // Little-endian: the low bytes are the narrower value.
  const DataType type = node_.tensor(like).type;
  bytes.resize(BitWidth(type) / 8);
  return node_.Constant(type, {1}, std::move(bytes));
}

TensorId OnnxExpression::Indices(const std::vector<int64_t>& values, std::vector<int32_t> dims) const {
  return node_.Constant(DataType::kInt64, std::move(dims), ToBytes(values));
}

}  // namespace takt::ir
