// gru, rnn
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

enum Input : size_t { kX, kW, kR, kBias, kH, kLast };

int64_t Flag(const OpCase& c, const char* key) {
  const auto at = c.attributes.find(key);
  return at == c.attributes.end() ? 0 : std::get<int64_t>(at->second);
}

double Apply(const OpCase& c, const char* key, const std::string& fallback, double x) {
  const auto clip = c.attributes.find("clip");
  if (clip != c.attributes.end()) x = std::clamp(x, -std::get<double>(clip->second), std::get<double>(clip->second));
  const auto at = c.attributes.find(key);
  const std::string name = at == c.attributes.end() ? fallback : std::get<std::string>(at->second);
  if (name == "logistic") return 1 / (1 + std::exp(-x));
  if (name == "tanh") return std::tanh(x);
  if (name == "relu") return std::max(x, 0.0);
  if (name == "relu6") return std::clamp(x, 0.0, 6.0);
  return name == "relu_n1_to_1" ? std::clamp(x, -1.0, 1.0) : x;
}

/// The next h of one row, from its operands.
using Step = std::vector<double> (*)(const OpCase& c, const Inputs& in, const double* x, const std::vector<double>& h);

double Product(const Filled& matrix, size_t row, const double* x, size_t width) {
  double sum = 0;
  for (size_t i = 0; i < width; ++i) sum += matrix.real[row * width + i] * x[i];
  return sum;
}

std::vector<double> RnnStep(const OpCase& c, const Inputs& in, const double* x, const std::vector<double>& h) {
  std::vector<double> next(h.size());
  for (size_t k = 0; k < h.size(); ++k)
    next[k] = Apply(c, "candidate_function", "tanh",
                    Product(in[kW], k, x, static_cast<size_t>(in[kX].dims[2])) +
                        Product(in[kR], k, h.data(), h.size()) + in[kBias].real[k]);
  return next;
}

std::vector<double> GruStep(const OpCase& c, const Inputs& in, const double* x, const std::vector<double>& h) {
  const size_t n = h.size();
  const auto from_x = [&](size_t row) {
    return Product(in[kW], row, x, static_cast<size_t>(in[kX].dims[2])) + in[kBias].real[row];
  };
  const auto gate = [&](size_t row) {
    return Apply(c, "gate_function", "logistic", from_x(row) + Product(in[kR], row, h.data(), n));
  };
  std::vector<double> reset(n), next(n);
  for (size_t k = 0; k < n; ++k) reset[k] = gate(n + k) * h[k];
  for (size_t k = 0; k < n; ++k) {
    const double last = in[kLast].real[k];
    const double product = Flag(c, "linear_before_reset") != 0
                               ? gate(n + k) * (Product(in[kR], 2 * n + k, h.data(), n) + last)
                               : Product(in[kR], 2 * n + k, reset.data(), n) + last;
    const double candidate = Apply(c, "candidate_function", "tanh", from_x(2 * n + k) + product);
    next[k] = (1 - gate(k)) * candidate + gate(k) * h[k];
  }
  return next;
}

template <Step kStep>
Results Sequence(const OpCase& c, const Inputs& in) {
  const bool batch_major = Flag(c, "batch_major") != 0;
  const Dims& x = in[kX].dims;
  const auto steps = static_cast<size_t>(x[batch_major ? 1 : 0]), batches = static_cast<size_t>(x[batch_major ? 0 : 1]);
  const auto width = static_cast<size_t>(x[2]), cells = static_cast<size_t>(in[kH].dims[1]);
  Values y({x[0], x[1], in[kH].dims[1]}), last(in[kH].dims);
  for (size_t b = 0; b < batches; ++b) {
    const auto own = in[kH].real.begin() + static_cast<ptrdiff_t>(b * cells);
    std::vector<double> h(own, own + static_cast<ptrdiff_t>(cells));
    for (size_t i = 0; i < steps; ++i) {
      const size_t t = Flag(c, "reverse") != 0 ? steps - 1 - i : i, row = batch_major ? b * steps + t : t * batches + b;
      h = kStep(c, in, in[kX].real.data() + row * width, h);
      std::copy(h.begin(), h.end(), y.v.begin() + static_cast<ptrdiff_t>(row * cells));
    }
    std::copy(h.begin(), h.end(), last.v.begin() + static_cast<ptrdiff_t>(b * cells));
  }
  return {y, last};
}

const OpTraits kRnn = {.op = Op::kRnn, .oracle = Sequence<RnnStep>};
const OpTraits kGru = {.op = Op::kGru, .oracle = Sequence<GruStep>};

OpCase Case(int32_t gates, int32_t steps, int32_t batches, int32_t inputs, int32_t cells, Attributes attributes = {}) {
  const bool batch_major = attributes.count("batch_major") != 0;
  OpCase c = {{Float({batch_major ? batches : steps, batch_major ? steps : batches, inputs}),
               Float({gates * cells, inputs}).Constant(), Float({gates * cells, cells}).Constant(),
               Float({gates * cells}).Constant(), Float({batches, cells})},
              {Float({}), Float({})},
              std::move(attributes)};
  if (gates == 3) c.inputs.push_back(Float({cells}).Constant());
  return c;
}

std::vector<OpCase> Cases(int32_t gates) {
  return {Case(gates, 1, 1, 3, 5),
          Case(gates, 6, 2, 7, 4),
          Case(gates, 5, 3, 4, 6, {{"batch_major", int64_t{1}}, {"clip", 0.6}}),
          Case(gates, 4, 2, 5, 3, {{"reverse", int64_t{1}}, {"linear_before_reset", int64_t{1}}}),
          Case(gates, 3, 1, 5, 3, {{"candidate_function", std::string("relu")}}),
          Case(gates, 3, 1, 5, 3, {{"candidate_function", std::string("relu6")}}),
          Case(gates, 3, 1, 5, 3, {{"candidate_function", std::string("relu_n1_to_1")}}),
          Case(gates, 2, 1, 5, 3, {{"candidate_function", std::string("identity")}})};
}

TEST(Recurrent, EqualsOracle) {
  RunCases(kRnn, Cases(1));
  RunCases(kGru, Cases(3));
}

TEST(Recurrent, RejectsWhatBreaksItsRule) {
  using P = schema::RecurrentParams;
  const std::vector<Rejection> rejections = {
      {"x of rank 3", Site::kOpOperands, [](MutableCall& m) { m.inputs[kX].rank = 2; }},
      {"rows of W", Site::kOpOperands, [](MutableCall& m) { m.dims[kW][0] -= 1; }},
      {"columns of R", Site::kOpOperands, [](MutableCall& m) { m.dims[kR][1] += 1; }},
      {"bias", Site::kOpOperands, [](MutableCall& m) { m.dims[kBias][0] += 1; }},
      {"batches of h", Site::kOpOperands, [](MutableCall& m) { m.dims[kH][0] += 1; }},
      {"batches, other way round", Site::kOpOperands, [](MutableCall& m) { m.params<P>().mutate_batch_major(true); }},
      {"y", Site::kOpOperands, [](MutableCall& m) { m.dims[m.inputs.size()][2] += 1; }},
      {"last h", Site::kOpOperands, [](MutableCall& m) { m.dims[m.inputs.size() + 1][1] += 1; }},
      {"clamp", Site::kOpParams,
       [](MutableCall& m) { m.params<P>().mutable_sum().mutate_min(std::numeric_limits<float>::quiet_NaN()); }},
      {"function", Site::kOpParams,
       [](MutableCall& m) { m.params<P>().mutate_candidate_function(static_cast<schema::GateFunction>(6)); }}};
  ExpectRejections(kRnn, Case(1, 6, 2, 7, 4), Numerics::kFp32Rne, rejections);
  std::vector<Rejection> more = rejections;
  more.push_back({"candidate's bias", Site::kOpOperands, [](MutableCall& m) { m.dims[kLast][0] += 1; }});
  ExpectRejections(kGru, Case(3, 6, 2, 7, 4), Numerics::kFp32Rne, more);
}

}  // namespace
}  // namespace takt::test
