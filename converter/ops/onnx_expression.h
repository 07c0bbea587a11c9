// Arithmetic of ONNX's composite operators, written as it reads.
#ifndef TAKT_CONVERTER_OPS_ONNX_EXPRESSION_H_
#define TAKT_CONVERTER_OPS_ONNX_EXPRESSION_H_

#include <string>
#include <vector>

#include "converter/frontend/onnx_node.h"

namespace takt::ir {

/// Each call adds nodes and gives their result. Operands of arithmetic and comparisons broadcast; integers for which
/// there is no arithmetic (8 and 16 bits, unsigned) are widened, and the result is narrowed, modulo 2^n.
class OnnxExpression {
 public:
  explicit OnnxExpression(frontend::OnnxNode& node) : node_(node) {}

  TensorId Add(TensorId a, TensorId b) const { return Arithmetic(Op::kAdd, "", a, b); }
  TensorId Subtract(TensorId a, TensorId b) const { return Arithmetic(Op::kAdd, "subtract", a, b); }
  TensorId Multiply(TensorId a, TensorId b) const { return Arithmetic(Op::kMul, "", a, b); }
  /// A BinaryFunction by its name.
  TensorId Binary(const char* function, TensorId a, TensorId b) const {
    return Arithmetic(Op::kBinary, function, a, b);
  }
  TensorId Unary(const char* function, TensorId x, double alpha = 0) const;
  TensorId Clamp(TensorId x, double min, double max) const;
  TensorId Compare(const char* function, TensorId a, TensorId b) const;
  TensorId Logic(const char* function, TensorId a, TensorId b) const;
  TensorId Not(TensorId x) const;
  TensorId Select(TensorId condition, TensorId a, TensorId b) const;
  TensorId Cast(TensorId x, DataType type) const;
  /// A ReduceFunction by its name, or "mean"; the axes stay as 1.
  TensorId Reduce(const char* function, TensorId x, const std::vector<int64_t>& axes) const;
  /// A constant of one element, of x's type.
  TensorId Scalar(TensorId like, double value) const;
  TensorId IntScalar(TensorId like, int64_t value) const;
  /// A constant of int64.
  TensorId Indices(const std::vector<int64_t>& values, std::vector<int32_t> dims) const;

  /// x with `function` (a function of its node and a tensor) in a type that has arithmetic.
  template <typename F>
  TensorId Widened(TensorId x, F function) const {
    if (node_.failed()) return kNoTensor;
    return Cast(function(Widen(x)), node_.tensor(x).type);
  }
  /// x in a type that has arithmetic; quantized tensors stay.
  TensorId Widen(TensorId x) const;

 private:
  TensorId Arithmetic(Op op, const char* function, TensorId a, TensorId b) const;

  frontend::OnnxNode& node_;
};

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_ONNX_EXPRESSION_H_
