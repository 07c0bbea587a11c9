// Each operator of TFLite that computes on quantized values: int8, int16 and uint8 files give, in both numerics, what
// the function of the real values is, to within the last steps of the output.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "converter/backend/convert.h"
#include "tests/converter/tflite_builder.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::TfliteTensor;
using Code = tflite::BuiltinOperator;
using Type = tflite::TensorType;
using Numbers = std::vector<double>;
using Shape = std::vector<int32_t>;

/// How a file stores real values.
struct Storage {
  Type type;
  float scale;  ///< Values of the cases are multiples of 1/8.
  int64_t zero_point;
  double lo, hi;
};
constexpr Storage kInt8 = {Type::INT8, 0.0625f, -5, -128, 127}, kUint8 = {Type::UINT8, 0.0625f, 120, 0, 255},
                  kInt16 = {Type::INT16, 0x1p-11f, 0, -32768, 32767};

std::vector<uint8_t> Pack(const Storage& s, const Numbers& real) {
  std::vector<uint8_t> bytes;
  for (const double v : real) {
    const auto stored = static_cast<int16_t>(std::lround(v / static_cast<double>(s.scale)) + s.zero_point);
    bytes.push_back(static_cast<uint8_t>(stored));
    if (s.type == Type::INT16) bytes.push_back(static_cast<uint8_t>(stored >> 8));
  }
  return bytes;
}

Numbers Unpack(const Storage& s, const std::vector<uint8_t>& bytes) {
  Numbers real;
  const size_t width = s.type == Type::INT16 ? 2 : 1;
  for (size_t i = 0; i < bytes.size(); i += width) {
    int stored = s.type == Type::INT8 ? static_cast<int8_t>(bytes[i]) : bytes[i];
    if (width == 2) stored = static_cast<int16_t>(bytes[i] | bytes[i + 1] << 8);
    real.push_back(static_cast<double>(s.scale) * (stored - static_cast<double>(s.zero_point)));
  }
  return real;
}

TfliteTensor Tensor(const std::string& name, const Storage& s, Shape shape) {
  return {.name = name, .type = s.type, .shape = std::move(shape), .scales = {s.scale}, .zero_points = {s.zero_point}};
}

struct Case {
  Code code;
  std::vector<Shape> shapes;  ///< Of the inputs.
  std::vector<Numbers> values;
  Shape shape;  ///< Of the output.
  Numbers expected;
  float unit = 0;          ///< The output's scale, if the operator fixes it: of int8; int16 has 1/32768.
  int64_t zero_point = 0;  ///< The output's for int8, likewise.
  std::vector<int32_t> axes = {};
  tflite::BuiltinOptions kind = tflite::BuiltinOptions::NONE;
  test::Options options = nullptr;
};

/// What the output is stored as; a bool output has no storage.
Storage OutputOf(const Case& c, const Storage& in) {
  if (c.unit == 0) return in;
  if (in.type == Type::INT16) return {in.type, 0x1p-15f, 0, in.lo, in.hi};
  return {in.type, c.unit, c.zero_point + (in.type == Type::UINT8 ? 128 : 0), in.lo, in.hi};
}

void Run(const Case& c, const Storage& in, Numerics numerics) {
  SCOPED_TRACE(std::string(tflite::EnumNameBuiltinOperator(c.code)) + " of " + tflite::EnumNameTensorType(in.type) +
               (numerics == Numerics::kTflite ? ", tflite" : ", fp32_rne"));
  const Storage out = OutputOf(c, in);
  test::TfliteModel model;
  test::TfliteOperator op = {.code = c.code, .options_type = c.kind, .options = c.options};
  std::vector<test::Bytes> inputs;
  for (size_t i = 0; i < c.shapes.size(); ++i) {
    op.inputs.push_back(static_cast<int32_t>(i));
    model.tensors.push_back(Tensor("in" + std::to_string(i), in, c.shapes[i]));
    inputs.push_back(Pack(in, c.values[i]));
  }
  model.inputs = op.inputs;
  if (!c.axes.empty()) {
    TfliteTensor axes = {.name = "axes", .type = Type::INT32, .shape = {static_cast<int32_t>(c.axes.size())}};
    axes.data.resize(c.axes.size() * sizeof(int32_t));
    std::memcpy(axes.data.data(), c.axes.data(), axes.data.size());
    op.inputs.push_back(static_cast<int32_t>(model.tensors.size()));
    model.tensors.push_back(axes);
  }
  op.outputs = model.outputs = {static_cast<int32_t>(model.tensors.size())};
  model.tensors.push_back(Tensor("out", out, c.shape));
  model.operators = {op};
  ConvertOptions options;
  options.numerics = numerics;
  const Conversion made = ConvertTflite(test::WriteTflite(model), "m", options);
  std::string messages;
  for (const Diagnostic& d : made.diagnostics.all()) messages += d.ToString() + "\n";
  ASSERT_FALSE(made.plan.empty()) << messages;
  const Numbers got = Unpack(out, test::PlanRunner(made.plan).Run(inputs).at(0));
  ASSERT_EQ(got.size(), c.expected.size());
  const double step = static_cast<double>(out.scale), zero = static_cast<double>(out.zero_point);
  for (size_t i = 0; i < got.size(); ++i) {
    const double nearest = std::clamp(c.expected[i], (out.lo - zero) * step, (out.hi - zero) * step);
    // int16 functions are interpolated in 512 pieces, and TFLite's have multipliers of few bits.
    const double steps = in.type == Type::INT16 ? 20 : numerics == Numerics::kTflite ? 1.51 : 0.51;
    EXPECT_NEAR(got[i], nearest, steps * step) << "element " << i;
  }
}

void RunAll(const std::vector<Case>& cases) {
  for (const Case& c : cases)
    for (const Storage& in : {kInt8, kUint8, kInt16})
      for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite}) Run(c, in, numerics);
}

TEST(TfliteQuantized, UnaryFunctions) {
  using enum tflite::BuiltinOperator;
  struct Row {
    Code code;
    double (*f)(double);
    float unit = 0;
    int64_t zero_point = 0;
  };
  const std::vector<Row> rows = {{ABS, [](double x) { return std::fabs(x); }},
                                 {NEG, [](double x) { return -x; }},
                                 {EXP, [](double x) { return std::exp(x); }},
                                 {LOG, [](double x) { return std::log(x); }},
                                 {SQRT, [](double x) { return std::sqrt(x); }},
                                 {RSQRT, [](double x) { return 1 / std::sqrt(x); }},
                                 {SQUARE, [](double x) { return x * x; }},
                                 {SIN, [](double x) { return std::sin(x); }},
                                 {COS, [](double x) { return std::cos(x); }},
                                 {LOGISTIC, [](double x) { return 1 / (1 + std::exp(-x)); }, 1.0f / 256, -128},
                                 {TANH, [](double x) { return std::tanh(x); }, 1.0f / 128, 0},
                                 {ELU, [](double x) { return x >= 0 ? x : std::expm1(x); }},
                                 {GELU, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
                                 {HARD_SWISH, [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }},
                                 {RELU, [](double x) { return std::max(x, 0.0); }},
                                 {RELU6, [](double x) { return std::clamp(x, 0.0, 6.0); }},
                                 {RELU_N1_TO_1, [](double x) { return std::clamp(x, -1.0, 1.0); }}};
  std::vector<Case> cases;
  for (const Row& row : rows) {
    const bool positive = row.code == LOG || row.code == SQRT || row.code == RSQRT;
    const Numbers x = positive ? Numbers{0.25, 0.5, 1, 4} : Numbers{-2.5, -0.5, 0.25, 2};
    Numbers y;
    for (const double v : x) y.push_back(row.f(v));
    cases.push_back({row.code, {{2, 2}}, {x}, {2, 2}, y, row.unit, row.zero_point});
  }
  RunAll(cases);
}

TEST(TfliteQuantized, BinaryFunctions) {
  using enum tflite::BuiltinOperator;
  const std::vector<std::pair<Code, double (*)(double, double)>> rows = {
      {ADD, [](double a, double b) { return a + b; }},
      {SUB, [](double a, double b) { return a - b; }},
      {MUL, [](double a, double b) { return a * b; }},
      {DIV, [](double a, double b) { return a / b; }},
      {MAXIMUM, [](double a, double b) { return std::max(a, b); }},
      {MINIMUM, [](double a, double b) { return std::min(a, b); }},
      {SQUARED_DIFFERENCE, [](double a, double b) { return (a - b) * (a - b); }},
      {PRELU, [](double a, double b) { return a >= 0 ? a : a * b; }}};
  std::vector<Case> cases;
  for (const auto& [code, f] : rows) {
    const Numbers a = {-1.5, 0.5, 1.25, -0.25}, b = {0.5, 2};
    Numbers y;
    for (size_t i = 0; i < a.size(); ++i) y.push_back(f(a[i], b[i % 2]));
    cases.push_back({code, {{2, 2}, {2}}, {a, b}, {2, 2}, y});
  }
  cases.push_back({ADD_N, {{2}, {2}, {2}}, {{1, 2}, {0.5, 0.25}, {-1, 1}}, {2}, {0.5, 3.25}});
  RunAll(cases);
}

TEST(TfliteQuantized, ReductionsAndNormalizations) {
  using enum tflite::BuiltinOperator;
  const Numbers x = {1, -2, 0.5, 0.25, 0.75, -0.5};
  std::vector<Case> cases;
  const std::vector<std::pair<Code, Numbers>> rows = {{SUM, {1.25, -1.25, 0}},
                                                      {MEAN, {0.625, -0.625, 0}},
                                                      {REDUCE_PROD, {0.25, -1.5, -0.25}},
                                                      {REDUCE_MAX, {1, 0.75, 0.5}},
                                                      {REDUCE_MIN, {0.25, -2, -0.5}}};
  for (const auto& [code, y] : rows) cases.push_back({code, {{2, 3}}, {x}, {3}, y, 0, 0, {0}});
  const double e = std::exp(1.0);
  cases.push_back({SOFTMAX,
                   {{1, 2}},
                   {{0, 1}},
                   {1, 2},
                   {1 / (1 + e), e / (1 + e)},
                   1.0f / 256,
                   -128,
                   {},
                   tflite::BuiltinOptions::SoftmaxOptions,
                   [](auto& fbb) { return tflite::CreateSoftmaxOptions(fbb, 1).Union(); }});
  cases.push_back({LOG_SOFTMAX, {{1, 2}}, {{0, 1}}, {1, 2}, {-std::log(1 + e), 1 - std::log(1 + e)}});
  cases.push_back({L2_NORMALIZATION, {{1, 2}}, {{1.5, 2}}, {1, 2}, {0.6, 0.8}, 1.0f / 128, 0});
  RunAll(cases);
}

TEST(TfliteQuantized, Pools) {
  const auto pool = [](auto& fbb) {
    return tflite::CreatePool2DOptions(fbb, tflite::Padding::VALID, 2, 2, 2, 2).Union();
  };
  std::vector<Case> cases;
  const std::vector<std::pair<Code, double>> rows = {
      {Code::AVERAGE_POOL_2D, 0.5}, {Code::MAX_POOL_2D, 1.5}, {Code::L2_POOL_2D, std::sqrt(3.5 / 4)}};
  for (const auto& [code, y] : rows)
    cases.push_back({code,
                     {{1, 2, 2, 1}},
                     {{1, -0.5, 0, 1.5}},
                     {1, 1, 1, 1},
                     {y},
                     0,
                     0,
                     {},
                     tflite::BuiltinOptions::Pool2DOptions,
                     pool});
  RunAll(cases);
}

}  // namespace
}  // namespace takt
