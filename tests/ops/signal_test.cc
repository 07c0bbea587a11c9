// signal_window, fft_auto_scale, energy, overlap_add
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

int64_t Option(const OpCase& c, const char* key) {
  return std::get<int64_t>(c.attributes.at(key));
}

Operand Samples(Dims dims, double lo = -32768, double hi = 32767) {
  return Plain(DataType::kInt16, std::move(dims), lo, hi);
}

Results Window(const OpCase& c, const Inputs& in) {
  Values y(in[0].dims);
  const double unit = std::ldexp(1.0, static_cast<int>(Option(c, "shift")));
  for (size_t i = 0; i < y.v.size(); ++i) {
    const double product = in[0].stored[i] * in[1].stored[i % in[1].stored.size()];
    y[i] = std::clamp(std::floor(product / unit), -32768.0, 32767.0);
  }
  return {y};
}
const OpTraits kWindow = {.op = Op::kSignalWindow, .oracle = Window};

OpCase WindowCase(Dims dims, int32_t size, int64_t shift) {
  return {{Samples(std::move(dims)), Samples({size}).Constant()}, {Samples({})}, {{"shift", shift}}};
}

TEST(SignalWindow, EqualsOracle) {
  RunCases(kWindow, {WindowCase({1, 48}, 48, 12), WindowCase({2, 3, 20}, 10, 15), WindowCase({7}, 7, 0),
                     WindowCase({7}, 7, 31)});
}

TEST(SignalWindow, RejectsWhatBreaksItsRule) {
  using P = schema::SignalWindowParams;
  ExpectRejections(kWindow, WindowCase({2, 20}, 10, 12), Numerics::kFp32Rne,
                   {{"shift", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_shift(32); }},
                    {"window divides", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 9; }},
                    {"rank of the window", Site::kOpOperands, [](MutableCall& m) { m.inputs[1].rank = 0; }},
                    {"output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][0] = 1; }}});
}

/// -32768 has no magnitude in 16 bits: it stays -32768, which any later value exceeds.
Results AutoScale(const OpCase&, const Inputs& in) {
  double most = 0;
  for (const double v : in[0].stored) {
    if (v > most) {
      most = v;
    } else if (-v > most) {
      most = v == -32768 ? v : -v;
    }
  }
  Values y(in[0].dims), bits;
  while (most > 0 && most * std::ldexp(2.0, static_cast<int>(bits[0])) <= 32767) ++bits[0];
  for (size_t i = 0; i < y.v.size(); ++i) y[i] = std::ldexp(in[0].stored[i], static_cast<int>(bits[0]));
  return {y, bits};
}
const OpTraits kAutoScale = {.op = Op::kFftAutoScale, .oracle = AutoScale};

OpCase AutoScaleCase(Operand x) {
  return {{std::move(x)}, {Samples({}), Plain(DataType::kInt32, {})}, {}};
}

TEST(FftAutoScale, EqualsOracle) {
  RunCases(kAutoScale, {AutoScaleCase(Samples({480}, -1, 1)), AutoScaleCase(Samples({480}, -300, 200)),
                        AutoScaleCase(Samples({2, 40})), AutoScaleCase(Samples({9}, 0, 0)),
                        AutoScaleCase(Samples({4}).Fixed({16384, -16384, 5, 0})),
                        AutoScaleCase(Samples({3}).Fixed({-16383, 3, 0}))});
}

TEST(FftAutoScale, LeavesTheSmallestIntegerAlone) {
  RunCases(kAutoScale, {AutoScaleCase(Samples({3}).Fixed({3, 1, -32768}))});
}

TEST(FftAutoScale, RejectsWhatBreaksItsRule) {
  ExpectRejections(
      kAutoScale, AutoScaleCase(Samples({480})), Numerics::kFp32Rne,
      {{"output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 479; }},
       {"one exponent", Site::kOpOperands, [](MutableCall& m) { m.dims[2] = {2}, m.outputs[1].rank = 1; }}});
}

Results Energy(const OpCase& c, const Inputs& in) {
  Values y({in[0].dims[0] / 2});
  for (int64_t i = Option(c, "begin"); i < Option(c, "end"); ++i) {
    const auto at = static_cast<size_t>(i);
    y[at] = in[0].stored[2 * at] * in[0].stored[2 * at] + in[0].stored[2 * at + 1] * in[0].stored[2 * at + 1];
  }
  return {y};
}
const OpTraits kEnergy = {.op = Op::kEnergy, .oracle = Energy};

OpCase EnergyCase(int32_t count, int64_t begin, int64_t end) {
  return {{Samples({count})}, {Plain(DataType::kUint32, {})}, {{"begin", begin}, {"end", end}}};
}

TEST(Energy, EqualsOracle) {
  RunCases(kEnergy, {EnergyCase(514, 5, 241), EnergyCase(514, 0, 257), EnergyCase(10, 2, 2)});
}

TEST(Energy, RejectsWhatBreaksItsRule) {
  using P = schema::EnergyParams;
  ExpectRejections(kEnergy, EnergyCase(20, 2, 9), Numerics::kFp32Rne,
                   {{"end", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_end(11); }},
                    {"begin", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_begin(10); }},
                    {"half the operand", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 11; }}});
}

/// From the definition: output sample t is the sum of all frames that reach it, the state being one more frame at 0;
/// int16 saturates after each sum, in the frames' order.
Results OverlapAdd(const OpCase& c, const Inputs& in) {
  const Dims& x = in[0].dims;
  const auto count = static_cast<size_t>(x[x.size() - 2]), size = static_cast<size_t>(x.back());
  const auto step = static_cast<size_t>(Option(c, "step"));
  Values next(in[1].dims), y(in[1].dims);
  y.dims.back() = static_cast<int32_t>(count * step);
  y = Values(y.dims);
  const bool wide = c.inputs[0].type == DataType::kInt16;
  for (size_t signal = 0; signal < next.v.size() / size; ++signal) {
    std::vector<double> sum(count * step + size);
    std::copy_n(in[1].stored.begin() + static_cast<ptrdiff_t>(signal * size), size, sum.begin());
    for (size_t frame = 0; frame < count; ++frame) {
      for (size_t i = 0; i < size; ++i) {
        double& v = sum[frame * step + i];
        v += in[0].stored[(signal * count + frame) * size + i];
        if (wide) v = std::clamp(v, -32768.0, 32767.0);
      }
    }
    std::copy_n(sum.begin(), count * step, y.v.begin() + static_cast<ptrdiff_t>(signal * count * step));
    std::copy_n(sum.begin() + static_cast<ptrdiff_t>(count * step), size,
                next.v.begin() + static_cast<ptrdiff_t>(signal * size));
  }
  return {y, next};
}
const OpTraits kOverlapAdd = {.op = Op::kOverlapAdd, .oracle = OverlapAdd};

OpCase OverlapAddCase(Dims outer, int32_t count, int32_t size, int64_t step, const Operand& like) {
  Operand x = like, state = like, y = like;
  state.dims = outer;
  state.dims.push_back(size);
  x.dims = outer;
  x.dims.insert(x.dims.end(), {count, size});
  y.dims = {};
  return {{x, state}, {y, y}, {{"step", step}}};
}

TEST(OverlapAdd, EqualsOracle) {
  for (const Operand& like : {Samples({}), Float({})})
    RunCases(kOverlapAdd, {OverlapAddCase({}, 1, 8, 3, like), OverlapAddCase({2}, 3, 8, 4, like),
                           OverlapAddCase({2, 3}, 5, 6, 1, like), OverlapAddCase({1}, 2, 4, 4, like)});
}

TEST(OverlapAdd, RejectsWhatBreaksItsRule) {
  using P = schema::OverlapAddParams;
  ExpectRejections(kOverlapAdd, OverlapAddCase({2}, 3, 8, 4, Samples({})), Numerics::kFp32Rne,
                   {{"step 0", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_step(0); }},
                    {"step up to the size", Site::kOpParams, [](MutableCall& m) { m.params<P>().mutate_step(9); }},
                    {"state", Site::kOpOperands, [](MutableCall& m) { m.dims[1][1] = 7; }},
                    {"signals of the state", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 1; }},
                    {"output", Site::kOpOperands, [](MutableCall& m) { m.dims[2][1] = 13; }},
                    {"next state", Site::kOpOperands, [](MutableCall& m) { m.dims[3][1] = 7; }},
                    {"frames", Site::kOpOperands, [](MutableCall& m) { m.inputs[0].rank = 1; }}});
}

}  // namespace
}  // namespace takt::test
