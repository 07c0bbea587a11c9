// cast
#include <gtest/gtest.h>

#include <cmath>

#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

using enum DataType;

double Modulo(DataType type, double v) {
  const auto bits = static_cast<int>(BitWidth(type));
  if (bits == 64) return v;
  const double range = std::ldexp(1, bits), low = type == kUint8 || type == kUint32 ? 0 : -range / 2;
  return v - range * std::floor((v - low) / range);
}

double Saturate(DataType type, double v) {
  const auto bits = static_cast<int>(BitWidth(type));
  const double low = type == kUint8 ? 0 : -std::ldexp(1, bits - 1), high = std::ldexp(1, type == kUint8 ? 8 : bits - 1);
  if (std::isnan(v)) return 0;
  // 2^63 - 1 as a double.
  return std::max(low, std::min(std::trunc(v), bits == 64 ? high : high - 1));
}

Results Cast(const OpCase& c, const Inputs& in) {
  Values y(in[0].dims);
  const DataType from = c.inputs[0].type, to = c.outputs[0].type;
  for (size_t i = 0; i < y.v.size(); ++i) {
    const double v = from == kBool ? in[0].stored[i] != 0 : in[0].stored[i];
    if (to == kBool)
      y[i] = v != 0;
    else if (to == kFloat32)
      y[i] = static_cast<double>(static_cast<float>(v));
    else
      y[i] = from == kFloat32 ? Saturate(to, v) : Modulo(to, v);
  }
  return {y};
}
const OpTraits kCast = {.op = Op::kCast, .oracle = Cast};

OpCase Case(DataType from, DataType to) {
  const bool sign = from != kUint8 && from != kUint32 && from != kBool;
  const double range =
      from == kBool ? 1 : std::min(std::ldexp(1, static_cast<int>(BitWidth(from)) - (sign ? 1 : 0)) - 1, 1e9);
  return {{Plain(from, {3, 67}, sign ? -range : 0, range)}, {Plain(to, {})}, {}};
}

TEST(Cast, EqualsOracle) {
  constexpr DataType kTypes[] = {kFloat32, kInt8, kUint8, kInt16, kInt32, kInt64, kBool};
  for (const DataType from : kTypes)
    for (const DataType to : kTypes)
      if (from != to) RunCases(kCast, {Case(from, to)});
  RunCases(kCast, {Case(kUint32, kInt64), Case(kInt64, kUint32)});
  for (const DataType to : {kInt8, kUint8, kInt16, kInt32, kInt64, kBool})
    RunCases(kCast,
             {{{Float({12}).Fixed({0, -0.0, 0.99, -0.99, 1.5, -1.5, 127.9, -128.9, NAN, HUGE_VAL, -HUGE_VAL, 3e9})},
               {Plain(to, {})},
               {}}});
}

TEST(Cast, RejectsWhatBreaksItsRule) {
  ExpectRejections(kCast, Case(kFloat32, kInt32), Numerics::kFp32Rne,
                   {{"shape of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 2; }},
                    {"type of the output", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].type = kInt4; }}});
}

}  // namespace
}  // namespace takt::test
