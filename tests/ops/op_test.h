// One test for every op. A case is a graph of one node; the op's traits say what the node computes, in double.
//
// For each arithmetic that the case's types have, a case is built as a graph, its types are checked against the shape
// rule, it is converted to a plan, and each port runs the plan twice, in arenas and on buffers with red zones around
// them. All runs give the same bytes, and they are compared with the oracle:
//   float32    |d| <= 1e-5 * max(|reference|, rms)
//   fp32_rne   the correctly rounded value, except within 2^-20 (relative) of a tie; or an exact integer oracle
//   tflite     the double-rounding multiplier on the accumulator, or an exact oracle: equal; else within 1 of the value
#ifndef TAKT_TESTS_OPS_OP_TEST_H_
#define TAKT_TESTS_OPS_OP_TEST_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "converter/backend/convert.h"
#include "converter/ir/graph.h"
#include "engine/core/kernel.h"

namespace takt::test {

using Dims = std::vector<int32_t>;
/// Cells of dims [first, end).
inline size_t Product(const Dims& dims, size_t first, size_t end) {
  size_t n = 1;
  for (size_t d = first; d < end; ++d) n *= static_cast<size_t>(dims[d]);
  return n;
}
using Ints = std::vector<int64_t>;
using Attributes = std::map<std::string, ir::Attribute>;

/// Row-major.
struct Values {
  Dims dims;
  std::vector<double> v;

  explicit Values(Dims d = {}, double fill = 0);
  double& operator[](size_t i) { return v[i]; }
  double operator[](size_t i) const { return v[i]; }
};
using Results = std::vector<Values>;

/// What a tensor of a case is, and from where its values are drawn.
struct Operand {
  DataType type = DataType::kNone;  ///< kNone: an absent optional input.
  Dims dims;
  std::vector<float> scales;  ///< None: not quantized. Several: one for each index of `axis`.
  int32_t zero_point = 0;
  int axis = 0;
  double lo = 0, hi = 0;  ///< Stored values are drawn from [lo, hi], one in eight from its ends.
  bool constant = false;
  std::vector<double> fixed;  ///< Stored values, if not drawn.

  Operand Constant() const;
  Operand Range(double low, double high) const;
  Operand Fixed(std::vector<double> values) const;
  double scale(size_t channel = 0) const;
};
Operand Int8(Dims dims, float scale = 0.05f, int32_t zero_point = 3);
Operand Int16(Dims dims, float scale = 0.0003f);
Operand Float(Dims dims, double lo = -1, double hi = 1);
Operand Plain(DataType type, Dims dims, double lo = -100, double hi = 100);
/// Constant int8 from [-128, 127]; one scale, or one for each index of `axis`.
Operand Weights(Dims dims, int axis = -1, int32_t zero_point = 0);
/// Constant int32, zero point 0.
Operand Bias(int32_t count, double range = 3000);

struct OpCase {
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;  ///< Dims may be empty: those of the oracle.
  Attributes attributes;
};

/// The cases with int16 in place of int8 activations, at a two hundredth of their scales and without zero points, and
/// biases of `bias` in place of int32. Constant int8 operands are weights and stay.
std::vector<OpCase> Wide(std::vector<OpCase> cases, DataType bias = DataType::kInt64);

/// An input as the oracle sees it. Without quantization all three are the values.
struct Filled {
  Dims dims;
  std::vector<double> stored;
  std::vector<double> centered;  ///< Stored value less zero point.
  std::vector<double> real;      ///< Times the scale.
};
using Inputs = std::vector<Filled>;

struct OpTraits {
  Op op;
  /// The outputs: real values, or accumulators if there is a unit.
  Results (*oracle)(const OpCase& c, const Inputs& in);
  /// Real value of an accumulator's 1 at index `channel` of the last axis.
  double (*unit)(const OpCase& c, size_t channel) = nullptr;
  /// Stored values, exact; nullptr: see the head of this file.
  Results (*fp32_rne)(const OpCase& c, const Inputs& in) = nullptr;
  Results (*tflite)(const OpCase& c, const Inputs& in) = nullptr;
  /// Whether a quantized case also runs as float32 on its real values.
  bool also_float = true;
  bool also_tflite = true;
  /// Whether int16 sums have 64 bits, which tflite multiplies by 15 bits (32 bits beside an int32 bias).
  bool wide_sums = false;
  /// The op of the step that ExpectRejections breaks, if the node becomes another.
  Op step = Op::kNone;
  /// What integers may differ from the rounded value where no exact result is known; tflite's at least by 1.
  double within = 0;
};

/// Runs each case; failures name the case, the arithmetic and the seed.
void RunCases(const OpTraits& traits, const std::vector<OpCase>& cases);

/// The real bounds that attribute `activation` leaves output 0.
void ActivationBounds(const OpCase& c, double& lo, double& hi);
/// A stored value in the range of `t`'s type and the activation.
double Saturated(const OpCase& c, const Operand& t, double stored);
/// The real value nearest to `real` that `t` can store (a tie goes away from zero); `real` itself without quantization.
double OnGrid(const Operand& t, double real);
/// Element of an operand of dims `in` that element `i` of the broadcast result `out` reads.
size_t BroadcastIndex(const Dims& out, const Dims& in, size_t i);

/// tflite's arithmetic, from its definition: the multiplier's 31 bits and its power of two.
struct Multiplier {
  int64_t mantissa = 0;
  int exponent = 0;
  explicit Multiplier(double real);
};
/// Two roundings; the left shift is modulo 2^32.
int64_t MultiplyByTflite(int64_t acc, const Multiplier& m);
/// 15 bits of the multiplier, one rounding, a tie goes up; the result is modulo 2^32.
int64_t MultiplyByTflite15(int64_t acc, const Multiplier& m);

/// A valid call of one step, free to be broken.
struct MutableCall {
  std::vector<Dims> dims;  ///< Of inputs, then outputs.
  std::vector<TensorRef> inputs, outputs;
  std::vector<std::vector<uint64_t>> store;  ///< The constants' bytes.
  std::vector<uint64_t> params_store;

  template <typename P>
  P& params() {
    return *reinterpret_cast<P*>(params_store.data());
  }
  template <typename T>
  T* constant(size_t input) {
    return reinterpret_cast<T*>(store[input].data());
  }
};
struct Rejection {
  const char* rule;
  Site site;
  void (*mutate)(MutableCall& call);
};
/// The step of a case passes its rule; each mutation fails at its site. Wrong types, empty dims, strides where the op's
/// row allows none, a missing operand and a constant output are tried for every op.
void ExpectRejections(const OpTraits& traits, const OpCase& valid, Numerics numerics,
                      const std::vector<Rejection>& rejections);

/// A case with values drawn as RunCases does; errors are test failures.
Conversion ConvertCase(const OpTraits& traits, const OpCase& c, Numerics numerics);

}  // namespace takt::test

#endif  // TAKT_TESTS_OPS_OP_TEST_H_
