// Element-wise functions of one operand, in float for the kernel and in double for the converter's tables.
#ifndef TAKT_PORTS_REFERENCE_UNARY_H_
#define TAKT_PORTS_REFERENCE_UNARY_H_

#include <cmath>

#include "schema/plan_generated.h"

namespace takt::reference {

/// log(1 + e^x), without overflow.
template <typename V>
V Softplus(V x) {
  return (x > 0 ? x : V{0}) + std::log1p(std::exp(-std::fabs(x)));
}

/// `alpha` where the function has that parameter.
template <typename V>
// NOLINTNEXTLINE(readability-function-size): a line or two for each function
V EvaluateUnary(schema::UnaryFunction function, V x, V alpha) {
  using enum schema::UnaryFunction;
  const auto between = [](V v, V lo, V hi) { return v < lo ? lo : v > hi ? hi : v; };
  const V half = V(0.5);
  switch (function) {
    case logistic:
      return 1 / (1 + std::exp(-x));
    case tanh:
      return std::tanh(x);
    case elu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case hard_swish:
      return x * between(x + 3, 0, 6) / 6;
    case leaky_relu:
      return x >= 0 ? x : alpha * x;
    case gelu:
      return half * x * (1 + std::erf(x * V(0.70710678118654752440)));
    case gelu_tanh:
      return half * x * (1 + std::tanh(V(0.79788456080286535588) * (x + V(0.044715) * x * x * x)));
    case exp:
      return std::exp(x);
    case log:
      return std::log(x);
    case sqrt:
      return std::sqrt(x);
    case rsqrt:
      return 1 / std::sqrt(x);
    case square:
      return x * x;
    case abs:
      return std::fabs(x);
    case neg:
      return -x;
    case sin:
      return std::sin(x);
    case cos:
      return std::cos(x);
    case floor:
      return std::floor(x);
    case ceil:
      return std::ceil(x);
    case round:
      return std::nearbyint(x);
    case sign:
      return x > 0 ? V{1} : x < 0 ? V{-1} : x;
    case tan:
      return std::tan(x);
    case asin:
      return std::asin(x);
    case acos:
      return std::acos(x);
    case atan:
      return std::atan(x);
    case sinh:
      return std::sinh(x);
    case cosh:
      return std::cosh(x);
    case asinh:
      return std::asinh(x);
    case acosh:
      return std::acosh(x);
    case atanh:
      return std::atanh(x);
    case erf:
      return std::erf(x);
    case softplus:
      return Softplus(x);
    case softsign:
      return x / (1 + std::fabs(x));
    case mish:
      return x * std::tanh(Softplus(x));
    case celu:
      return x >= 0 ? x : alpha * std::expm1(x / alpha);
    case thresholded_relu:
      return x > alpha ? x : V{0};
    case hard_sigmoid:
      return between(alpha * x + half, 0, 1);
  }
  return x;
}

}  // namespace takt::reference

#endif  // TAKT_PORTS_REFERENCE_UNARY_H_
