// Each elementwise, reduction and normalization operator of TFLite, from the file to the result.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "converter/backend/convert.h"
#include "tests/converter/tflite_builder.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::Messages;
using test::Options;
using test::TfliteModel;
using test::TfliteTensor;
using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
using tflite::TensorType;
constexpr TensorType FLOAT32 = TensorType::FLOAT32, INT32 = TensorType::INT32, INT64 = TensorType::INT64,
                     BOOL = TensorType::BOOL;
using Numbers = std::vector<double>;

/// A tensor and its stored values.
struct Operand {
  TfliteTensor tensor;
  Numbers values;
  bool constant = false;
};

template <typename T>
void Append(std::vector<uint8_t>& bytes, double value) {
  const T stored = static_cast<T>(value);
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &stored, sizeof(T));
}

std::vector<uint8_t> Pack(TensorType type, const Numbers& values) {
  std::vector<uint8_t> bytes;
  for (const double v : values) {
    if (type == TensorType::FLOAT32) Append<float>(bytes, v);
    if (type == TensorType::INT32) Append<int32_t>(bytes, v);
    if (type == TensorType::INT64) Append<int64_t>(bytes, v);
    if (type == TensorType::INT8) Append<int8_t>(bytes, v);
    if (type == TensorType::BOOL) Append<uint8_t>(bytes, v);
  }
  return bytes;
}

template <typename T>
Numbers UnpackAs(const std::vector<uint8_t>& bytes) {
  std::vector<T> stored(bytes.size() / sizeof(T));
  std::memcpy(stored.data(), bytes.data(), bytes.size());
  return {stored.begin(), stored.end()};
}

Numbers Unpack(TensorType type, const std::vector<uint8_t>& bytes) {
  if (type == TensorType::FLOAT32) return UnpackAs<float>(bytes);
  if (type == TensorType::INT32) return UnpackAs<int32_t>(bytes);
  if (type == TensorType::INT64) return UnpackAs<int64_t>(bytes);
  return type == TensorType::INT8 ? UnpackAs<int8_t>(bytes) : UnpackAs<uint8_t>(bytes);
}

Operand Of(TensorType type, std::vector<int32_t> shape, Numbers values = {}) {
  Operand x;
  x.tensor.type = type;
  x.tensor.shape = std::move(shape);
  x.values = std::move(values);
  return x;
}
Operand Float(std::vector<int32_t> shape, Numbers values = {}) {
  return Of(TensorType::FLOAT32, std::move(shape), std::move(values));
}
Operand Int8(std::vector<int32_t> shape, float scale, int64_t zero_point, Numbers values = {}) {
  Operand x = Of(TensorType::INT8, std::move(shape), std::move(values));
  x.tensor.scales = {scale};
  x.tensor.zero_points = {zero_point};
  return x;
}
Operand Axes(Numbers axes) {
  Operand x = Of(TensorType::INT32, {static_cast<int32_t>(axes.size())}, axes);
  x.constant = true;
  return x;
}

struct OperatorCase {
  BuiltinOperator code;
  std::vector<Operand> inputs;
  Operand output;  ///< With the values expected.
  BuiltinOptions options_type = BuiltinOptions::NONE;
  Options options = nullptr;
};

Conversion Convert(const OperatorCase& c) {
  TfliteModel model;
  test::TfliteOperator op{c.code, {}, {}, c.options_type, c.options};
  for (const Operand& x : c.inputs) {
    const auto id = static_cast<int32_t>(model.tensors.size());
    model.tensors.push_back(x.tensor);
    model.tensors.back().name = "in" + std::to_string(id);
    op.inputs.push_back(id);
    if (x.constant)
      model.tensors.back().data = Pack(x.tensor.type, x.values);
    else
      model.inputs.push_back(id);
  }
  if (model.inputs.empty()) {  // A graph has inputs.
    model.inputs = {static_cast<int32_t>(model.tensors.size())};
    model.tensors.push_back(Float({1}).tensor);
    model.tensors.back().name = "unused";
  }
  op.outputs = {static_cast<int32_t>(model.tensors.size())};
  model.outputs = op.outputs;
  model.tensors.push_back(c.output.tensor);
  model.tensors.back().name = "out";
  model.operators = {op};
  return ConvertTflite(test::WriteTflite(model), "m", {});
}

void Expect(const OperatorCase& c) {
  SCOPED_TRACE(tflite::EnumNameBuiltinOperator(c.code));
  const Conversion conversion = Convert(c);
  ASSERT_FALSE(conversion.plan.empty()) << Messages(conversion);
  std::vector<test::Bytes> inputs;
  for (const Operand& x : c.inputs)
    if (!x.constant) inputs.push_back(Pack(x.tensor.type, x.values));
  if (inputs.empty()) inputs.push_back(Pack(TensorType::FLOAT32, {0}));
  const auto outputs = test::PlanRunner(conversion.plan).Run(inputs);
  const Numbers got = Unpack(c.output.tensor.type, outputs.at(0));
  ASSERT_EQ(got.size(), c.output.values.size());
  for (size_t i = 0; i < got.size(); ++i) {
    const double expected = c.output.values[i];
    const bool real = c.output.tensor.type == TensorType::FLOAT32;
    EXPECT_NEAR(got[i], expected, real ? 1e-5 * std::max(1.0, std::fabs(expected)) : 0) << "element " << i;
  }
}

constexpr double kPi = 3.14159265358979323846;

TEST(TfliteElementwise, UnaryFunctions) {
  using enum BuiltinOperator;
  const std::vector<std::pair<BuiltinOperator, double (*)(double)>> rows = {
      {ABS, [](double x) { return std::fabs(x); }},
      {NEG, [](double x) { return -x; }},
      {EXP, [](double x) { return std::exp(x); }},
      {LOG, [](double x) { return std::log(x); }},
      {SQRT, [](double x) { return std::sqrt(x); }},
      {RSQRT, [](double x) { return 1 / std::sqrt(x); }},
      {SQUARE, [](double x) { return x * x; }},
      {SIN, [](double x) { return std::sin(x); }},
      {COS, [](double x) { return std::cos(x); }},
      {FLOOR, [](double x) { return std::floor(x); }},
      {CEIL, [](double x) { return std::ceil(x); }},
      {ROUND, [](double x) { return std::nearbyint(x); }},
      {SIGN, [](double x) { return static_cast<double>((x > 0) - (x < 0)); }},
      {LOGISTIC, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {TANH, [](double x) { return std::tanh(x); }},
      {ELU, [](double x) { return x >= 0 ? x : std::expm1(x); }},
      {GELU, [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {HARD_SWISH, [](double x) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; }},
      {RELU, [](double x) { return std::max(x, 0.0); }},
      {RELU6, [](double x) { return std::clamp(x, 0.0, 6.0); }},
      {RELU_N1_TO_1, [](double x) { return std::clamp(x, -1.0, 1.0); }},
      {RELU_0_TO_1, [](double x) { return std::clamp(x, 0.0, 1.0); }}};
  for (const auto& [code, f] : rows) {
    const bool positive = code == LOG || code == SQRT || code == RSQRT;
    const Numbers x = positive ? Numbers{0.25, 0.5, 1, 9} : Numbers{-2.5, -0.5, 0.25, 7.5};
    Numbers y;
    for (const double v : x) y.push_back(f(v));
    Expect({code, {Float({2, 2}, x)}, Float({2, 2}, y)});
  }
  const auto approximate = [](flatbuffers::FlatBufferBuilder& fbb) {
    return tflite::CreateGeluOptions(fbb, true).Union();
  };
  const double y = 0.5 * 1.5 * (1 + std::tanh(std::sqrt(2 / kPi) * (1.5 + 0.044715 * 1.5 * 1.5 * 1.5)));
  Expect({GELU, {Float({1}, {1.5})}, Float({1}, {y}), BuiltinOptions::GeluOptions, approximate});
  Expect({ABS, {Of(TensorType::INT32, {2}, {-7, 7})}, Of(TensorType::INT32, {2}, {7, 7})});
}

TEST(TfliteElementwise, BinaryFunctions) {
  using enum BuiltinOperator;
  const std::vector<std::pair<BuiltinOperator, double (*)(double, double)>> rows = {
      {ADD, [](double a, double b) { return a + b; }},
      {SUB, [](double a, double b) { return a - b; }},
      {MUL, [](double a, double b) { return a * b; }},
      {DIV, [](double a, double b) { return std::trunc(a / b); }},
      {FLOOR_DIV, [](double a, double b) { return std::floor(a / b); }},
      {FLOOR_MOD, [](double a, double b) { return a - b * std::floor(a / b); }},
      {MAXIMUM, [](double a, double b) { return std::max(a, b); }},
      {MINIMUM, [](double a, double b) { return std::min(a, b); }},
      {POW, [](double a, double b) { return std::pow(a, b); }},
      {SQUARED_DIFFERENCE, [](double a, double b) { return (a - b) * (a - b); }}};
  for (const auto& [code, f] : rows)
    for (const TensorType type : {TensorType::FLOAT32, TensorType::INT32, TensorType::INT64}) {
      const Numbers a = {-7, 5, 12, -9}, b = {2, 4};
      Numbers y;
      for (size_t i = 0; i < a.size(); ++i)
        y.push_back(code == DIV && type == TensorType::FLOAT32 ? a[i] / b[i % 2] : f(a[i], b[i % 2]));
      Expect({code, {Of(type, {2, 2}, a), Of(type, {2}, b)}, Of(type, {2, 2}, y)});
    }
  Expect({PRELU, {Float({2, 2}, {-1, -2, 3, -4}), Float({2}, {0.5, 0.25})}, Float({2, 2}, {-0.5, -0.5, 3, -1})});
  const auto relu6 = [](flatbuffers::FlatBufferBuilder& fbb) {
    return tflite::CreateDivOptions(fbb, tflite::ActivationFunctionType::RELU6).Union();
  };
  Expect({DIV, {Float({3}, {-1, 9, 90}), Float({}, {3})}, Float({3}, {0, 3, 6}), BuiltinOptions::DivOptions, relu6});
  Expect({ADD_N, {Float({2}, {1, 2}), Float({2}, {3, 4}), Float({2}, {5, 6})}, Float({2}, {9, 12})});
}

TEST(TfliteElementwise, QuantizedOperandsOfOtherScalesAreRequantized) {
  const OperatorCase c = {BuiltinOperator::MAXIMUM,
                          {Int8({3}, 0.5f, 0, {-4, 2, 10}), Int8({3}, 0.25f, 4, {4, 0, 24})},
                          Int8({3}, 0.5f, 0, {0, 2, 10})};
  Expect(c);
  EXPECT_NE(Messages(Convert(c)).find("requantized first"), std::string::npos);
  const OperatorCase division = {
      BuiltinOperator::DIV, {Int8({2}, 0.5f, 0, {8, -6}), Int8({2}, 0.5f, 0, {4, 4})}, Int8({2}, 0.25f, 1, {9, -5})};
  Expect(division);
  EXPECT_NE(Messages(Convert(division)).find("is computed in float32"), std::string::npos);
}

TEST(TfliteElementwise, ComparisonsAndLogic) {
  using enum BuiltinOperator;
  const std::vector<std::pair<BuiltinOperator, Numbers>> rows = {{EQUAL, {0, 1, 0}},   {NOT_EQUAL, {1, 0, 1}},
                                                                 {GREATER, {0, 0, 1}}, {GREATER_EQUAL, {0, 1, 1}},
                                                                 {LESS, {1, 0, 0}},    {LESS_EQUAL, {1, 1, 0}}};
  for (const auto& [code, y] : rows)
    for (const TensorType type : {FLOAT32, INT32, INT64})
      Expect({code, {Of(type, {3}, {-1, 2, 5}), Of(type, {}, {2})}, Of(BOOL, {3}, y)});
  const Operand a = Of(BOOL, {4}, {0, 0, 1, 1}), b = Of(BOOL, {4}, {0, 1, 0, 1});
  Expect({LOGICAL_AND, {a, b}, Of(BOOL, {4}, {0, 0, 0, 1})});
  Expect({LOGICAL_OR, {a, b}, Of(BOOL, {4}, {0, 1, 1, 1})});
  Expect({LOGICAL_NOT, {a}, Of(BOOL, {4}, {1, 1, 0, 0})});
}

TEST(TfliteElementwise, Bits) {
  using enum BuiltinOperator;
  for (const TensorType type : {TensorType::INT8, INT32, INT64}) {
    Expect(
        {BITWISE_XOR, {Of(type, {2, 2}, {5, -1, 127, 0}), Of(type, {2}, {3, 1})}, Of(type, {2, 2}, {6, -2, 124, 1})});
    Expect({RIGHT_SHIFT,
            {Of(type, {4}, {100, -3, 7, -1}), Of(type, {4}, {3, 1, -2, 99})},
            Of(type, {4}, {12, -2, 7, -1})});
  }
  const OperatorCase real = {BITWISE_XOR, {Float({1}, {1}), Float({1}, {1})}, Float({1}, {0})};
  EXPECT_NE(Messages(Convert(real)).find("takes int8, int16, int32 or int64"), std::string::npos);
  Expect({ATAN2,
          {Float({4}, {1, -1, 0, 2}), Float({4}, {1, -1, -1, 0})},
          Float({4}, {M_PI / 4, -3 * M_PI / 4, M_PI, M_PI / 2})});
}

/// Of `rows` x 8 samples, the spectrum of 4 rows (or 1) of 8: what is missing is 0, what is beyond is left out.
void ExpectSpectrum(int rows, int transformed) {
  Numbers x, real, imaginary, magnitude;
  for (int i = 0; i < rows * 8; ++i) x.push_back((i * 7 + i * i * 3) % 11 - 5);
  for (int row = 0; row < transformed; ++row) {
    for (int k = 0; k <= 4; ++k) {
      std::complex<double> sum = 0;
      for (int i = 0; i < std::min(rows, transformed) * 8; ++i)
        sum += std::polar(x[static_cast<size_t>(i)],
                          -2 * M_PI * (k * (i % 8) / 8.0 + row * (i / 8) / (1.0 * transformed)));
      real.push_back(sum.real()), imaginary.push_back(sum.imag()), magnitude.push_back(std::abs(sum));
    }
  }
  using enum BuiltinOperator;
  const std::pair<BuiltinOperator, Numbers> parts[] = {{REAL, real}, {IMAG, imaginary}, {COMPLEX_ABS, magnitude}};
  for (const auto& [code, y] : parts) {
    TfliteModel model;
    model.tensors = {{.name = "x", .type = FLOAT32, .shape = {1, rows, 8}},
                     {.name = "length", .type = INT32, .shape = {2}, .data = Pack(INT32, {1.0 * transformed, 8})},
                     {.name = "spectrum", .type = TensorType::COMPLEX64, .shape = {1, transformed, 5}},
                     {.name = "flat", .type = TensorType::COMPLEX64, .shape = {transformed, 5}},
                     {.name = "y", .type = FLOAT32, .shape = {transformed, 5}}};
    model.operators = {{RFFT2D, {0, 1}, {2}}, {RESHAPE, {2}, {3}}, {code, {3}, {4}}};
    model.inputs = {0};
    model.outputs = {4};
    const Conversion made = ConvertTflite(WriteTflite(model), "m", {});
    ASSERT_FALSE(made.plan.empty()) << Messages(made);
    const Numbers got = Unpack(FLOAT32, test::PlanRunner(made.plan).Run({Pack(FLOAT32, x)})[0]);
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(got[i], y[i], 5e-5) << i;
    model.operators[1].code = NEG;
    EXPECT_NE(Messages(ConvertTflite(WriteTflite(model), "m", {})).find("is computed on complex numbers"),
              std::string::npos);
    model.outputs = {2};
    EXPECT_NE(Messages(ConvertTflite(WriteTflite(model), "m", {})).find("is a complex graph output"),
              std::string::npos);
  }
}

TEST(TfliteElementwise, SpectraOfLengthsThatHaveNoTransformAreRefused) {
  TfliteModel model;
  model.tensors = {{.name = "x", .type = FLOAT32, .shape = {1, 4, 14}},
                   {.name = "length", .type = INT32, .shape = {2}, .data = Pack(INT32, {4, 14})},
                   {.name = "spectrum", .type = TensorType::COMPLEX64, .shape = {1, 4, 8}},
                   {.name = "y", .type = FLOAT32, .shape = {1, 4, 8}}};
  model.operators = {{BuiltinOperator::RFFT2D, {0, 1}, {2}}, {BuiltinOperator::REAL, {2}, {3}}};
  model.inputs = {0};
  model.outputs = {3};
  EXPECT_NE(Messages(ConvertTflite(WriteTflite(model), "m", {})).find("length 14 is not in"), std::string::npos);
}

TEST(TfliteElementwise, Spectra) {
  for (const int rows : {1, 3, 4, 6}) {
    ExpectSpectrum(rows, 4);
    ExpectSpectrum(rows, 1);
  }
}

/// Each input cell spreads the kernel, 2 cells apart; SAME padding crops, and weights are DHWOI.
TEST(TfliteElementwise, TransposedConvolutionsOfThreeDimensions) {
  const auto options = [](tflite::Padding padding) {
    return [padding](flatbuffers::FlatBufferBuilder& fbb) {
      return tflite::CreateConv3DOptions(fbb, padding, 1, 2, 1).Union();
    };
  };
  Operand shape = Axes({1, 1, 1, 6, 1}), weights = Float({1, 1, 3, 1, 2}, {1, 10, 2, 20, 3, 30});
  weights.constant = true;
  const Operand x = Float({1, 1, 1, 3, 2}, {1, 0, 0, 1, 2, 0});
  // 1, 2, 3 at 0; 10, 20, 30 at 2; 2, 4, 6 at 4.
  const Numbers full = {1, 2, 13, 20, 32, 4, 6};
  Expect({BuiltinOperator::CONV_3D_TRANSPOSE,
          {shape, weights, x},
          Float({1, 1, 1, 6, 1}, {full.begin(), full.begin() + 6}),
          BuiltinOptions::Conv3DOptions,
          options(tflite::Padding::SAME)});
  shape.values[3] = 7;
  Operand bias = Float({1}, {0.5});
  bias.constant = true;
  Numbers shifted;
  for (const double v : full) shifted.push_back(v + 0.5);
  Expect({BuiltinOperator::CONV_3D_TRANSPOSE,
          {shape, weights, x, bias},
          Float({1, 1, 1, 7, 1}, shifted),
          BuiltinOptions::Conv3DOptions,
          options(tflite::Padding::VALID)});
}

TEST(TfliteElementwise, SelectCastWhere) {
  using enum BuiltinOperator;
  const Operand condition = Of(BOOL, {2}, {1, 0});
  const Operand a = Float({2, 2}, {1, 2, 3, 4}), b = Float({2, 2}, {5, 6, 7, 8});
  Expect({SELECT, {condition, a, b}, Float({2, 2}, {1, 2, 7, 8})});
  Expect({SELECT_V2, {condition, a, b}, Float({2, 2}, {1, 6, 3, 8})});
  Expect({CAST, {Float({3}, {-1.5, 2.9, 0})}, Of(INT32, {3}, {-1, 2, 0})});
  Expect({CAST, {Of(BOOL, {2}, {1, 0})}, Float({2}, {1, 0})});
  Expect({CAST, {Float({2}, {1.5, -2})}, Float({2}, {1.5, -2})});
  Operand constant = Of(BOOL, {2, 2}, {1, 0, 1, 1});
  const OperatorCase dynamic = {WHERE, {constant}, Of(INT64, {3, 2}, {0, 0, 1, 0, 1, 1})};
  EXPECT_NE(Messages(Convert(dynamic)).find("only a constant condition is supported"), std::string::npos);
  constant.constant = true;
  Expect({WHERE, {constant}, dynamic.output});
}

TEST(TfliteElementwise, Reductions) {
  using enum BuiltinOperator;
  const auto keep = [](flatbuffers::FlatBufferBuilder& fbb) { return tflite::CreateReducerOptions(fbb, true).Union(); };
  const Numbers x = {1, -2, 3, 4, 5, -6};
  const std::vector<std::pair<BuiltinOperator, Numbers>> rows = {{SUM, {5, 3, -3}},
                                                                 {REDUCE_PROD, {4, -10, -18}},
                                                                 {REDUCE_MAX, {4, 5, 3}},
                                                                 {REDUCE_MIN, {1, -2, -6}},
                                                                 {MEAN, {2.5, 1.5, -1.5}}};
  for (const auto& [code, y] : rows) {
    Expect({code, {Float({2, 3}, x), Axes({0})}, Float({3}, y)});
    Expect({code, {Float({2, 3}, x), Axes({-2})}, Float({1, 3}, y), BuiltinOptions::ReducerOptions, keep});
  }
  Expect({MEAN, {Of(INT32, {2, 3}, x), Axes({0})}, Of(INT32, {3}, {2, 1, -1})});
  Expect({SUM, {Int8({4}, 0.5f, 1, {3, 5, -7, 9}), Axes({0})}, Int8({}, 1.0f, -3, {0})});
  const Operand bits = Of(BOOL, {2, 2}, {0, 1, 1, 1});
  Expect({REDUCE_ANY, {bits, Axes({1})}, Of(BOOL, {2}, {1, 1})});
  Expect({REDUCE_ALL, {bits, Axes({1})}, Of(BOOL, {2}, {0, 1})});
  Expect({ARG_MAX, {Float({2, 3}, x), Axes({1})}, Of(INT64, {2}, {2, 1})});
  Expect({ARG_MIN, {Float({2, 3}, x), Axes({-1})}, Of(INT32, {2}, {1, 2})});
  Expect({CUMSUM, {Float({2, 3}, x), Axes({1})}, Float({2, 3}, {1, -1, 2, 4, 9, 3})});
  const auto reverse = [](flatbuffers::FlatBufferBuilder& fbb) {
    return tflite::CreateCumsumOptions(fbb, true, true).Union();
  };
  Expect({CUMSUM, {Float({3}, {1, 2, 4}), Axes({0})}, Float({3}, {6, 4, 0}), BuiltinOptions::CumsumOptions, reverse});
}

TEST(TfliteElementwise, Normalizations) {
  using enum BuiltinOperator;
  Expect({L2_NORMALIZATION, {Float({2, 2}, {3, 4, 0, 0})}, Float({2, 2}, {0.6, 0.8, 0, 0})});
  Expect({LOG_SOFTMAX, {Float({1, 2}, {100, 100 + std::log(3.0)})}, Float({1, 2}, {-std::log(4.0), std::log(0.75)})});
  const auto lrn = [](flatbuffers::FlatBufferBuilder& fbb) {
    return tflite::CreateLocalResponseNormalizationOptions(fbb, 1, 1, 0.5f, 0.5f).Union();
  };
  Expect({LOCAL_RESPONSE_NORMALIZATION,
          {Float({1, 1, 1, 3}, {1, 2, 2})},
          Float({1, 1, 1, 3}, {1 / std::sqrt(3.5), 2 / std::sqrt(5.5), 2 / std::sqrt(5.0)}),
          BuiltinOptions::LocalResponseNormalizationOptions,
          lrn});
  const auto pool = [](flatbuffers::FlatBufferBuilder& fbb) {
    return tflite::CreatePool2DOptions(fbb, tflite::Padding::VALID, 2, 2, 2, 2).Union();
  };
  Expect({L2_POOL_2D,
          {Float({1, 2, 2, 1}, {1, -1, 5, 3})},
          Float({1, 1, 1, 1}, {3}),
          BuiltinOptions::Pool2DOptions,
          pool});
  // 8 bits over [-64, 63.5]: the grid's step is 0.5.
  const auto fake = [](flatbuffers::FlatBufferBuilder& fbb) {
    return tflite::CreateFakeQuantOptions(fbb, -64, 63.5f, 8).Union();
  };
  Expect({FAKE_QUANT,
          {Float({4}, {-99, 0, 0.3, 99})},
          Float({4}, {-64, 0, 0.5, 63.5}),
          BuiltinOptions::FakeQuantOptions,
          fake});
}

}  // namespace
}  // namespace takt
