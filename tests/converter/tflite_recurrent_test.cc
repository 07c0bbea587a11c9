// Each recurrent operator of TFLite, from the file to the results of two invocations.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>

#include "converter/backend/convert.h"
#include "tests/converter/tflite_builder.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using tflite::BuiltinOperator;
using tflite::BuiltinOptions;
using tflite::TensorType;
using Numbers = std::vector<float>;
using Dims = std::vector<int32_t>;
using Builder = flatbuffers::FlatBufferBuilder;
constexpr auto TANH = tflite::ActivationFunctionType::TANH;
constexpr auto RELU = tflite::ActivationFunctionType::RELU;
constexpr int kSteps = 3, kBatches = 2, kInputs = 4, kCells = 3;

std::vector<uint8_t> Pack(const Numbers& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(float));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Values of one file.
class Draw {
 public:
  float One() { return static_cast<float>(((state_ = state_ * 1664525u + 1013904223u) >> 8) * 0x1p-23 - 1) * 0.8f; }
  Numbers Some(int count) {
    Numbers values;
    for (int i = 0; i < count; ++i) values.push_back(One());
    return values;
  }

 private:
  uint32_t state_ = 7;
};

/// A file of one operator.
struct File {
  test::TfliteModel model;
  test::TfliteOperator op;
  Draw draw;

  int32_t Add(test::TfliteTensor tensor) {
    tensor.name = "t" + std::to_string(model.tensors.size());
    model.tensors.push_back(std::move(tensor));
    return static_cast<int32_t>(model.tensors.size()) - 1;
  }
  void Input(const Dims& dims) { model.inputs.push_back(Operand(Tensor(dims))); }
  void Variable(const Dims& dims) {
    Operand(Tensor(dims));
    model.tensors.back().variable = true;
  }
  void Absent(int count = 1) { op.inputs.insert(op.inputs.end(), static_cast<size_t>(count), -1); }
  void Output(const Dims& dims) {
    op.outputs.push_back(Add(Tensor(dims)));
    model.outputs.push_back(op.outputs.back());
  }
  /// A constant with values of its own, as float32 or, of scale 1/128, int8.
  Numbers Constant(const Dims& dims, bool int8 = false) {
    int count = 1;
    for (int32_t d : dims) count *= d;
    Numbers values = draw.Some(count);
    test::TfliteTensor t = Tensor(dims);
    if (int8) {
      t.type = TensorType::INT8, t.scales = {1.0f / 128}, t.zero_points = {0};
      for (float& v : values) {
        t.data.push_back(static_cast<uint8_t>(static_cast<int8_t>(std::nearbyint(v * 128))));
        v = std::nearbyint(v * 128) / 128;
      }
    } else {
      t.data = Pack(values);
    }
    Operand(std::move(t));
    return values;
  }
  Conversion Convert() {
    model.operators = {op};
    return ConvertTflite(test::WriteTflite(model), "m", {});
  }

 private:
  static test::TfliteTensor Tensor(const Dims& dims) {
    test::TfliteTensor t;
    t.type = TensorType::FLOAT32;
    t.shape = dims;
    return t;
  }
  int32_t Operand(test::TfliteTensor t) {
    op.inputs.push_back(Add(std::move(t)));
    return op.inputs.back();
  }
};

/// What an lstm of one direction has; gates: input, forget, candidate, output.
struct Lstm {
  Numbers weights[4], recurrent[4], peepholes[3], bias[4], normalization[4], projection, projection_bias, aux[4];
  bool coupled = false, relu = false;
  double cell_clip = 1e9, projection_clip = 1e9;
  int outputs = kCells;
  std::vector<double> h = std::vector<double>(9), c = std::vector<double>(9);  ///< Batch by batch.

  void Step(const double* x, const double* more, size_t batch);

 private:
  void Normalize(int gate, double* sums) const;
};

double Row(const Numbers& matrix, int row, const double* x, int width) {
  double sum = 0;
  for (int i = 0; i < width; ++i) sum += static_cast<double>(matrix[static_cast<size_t>(row * width + i)]) * x[i];
  return sum;
}
double At(const Numbers& values, int i) {
  return static_cast<double>(values[static_cast<size_t>(i)]);
}
double Logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

void Lstm::Normalize(int gate, double* sums) const {
  double mean = 0, square = 0;
  for (int k = 0; k < kCells; ++k) mean += sums[k] / kCells;
  for (int k = 0; k < kCells; ++k) square += (sums[k] - mean) * (sums[k] - mean) / kCells;
  for (int k = 0; k < kCells; ++k)
    sums[k] = (sums[k] - mean) / std::sqrt(square + 1e-8) * At(normalization[gate], k) + At(bias[gate], k);
}

void Lstm::Step(const double* x, const double* more, size_t batch) {
  double* own = h.data() + batch * static_cast<size_t>(outputs);
  double* cell = c.data() + batch * kCells;
  double sums[4][kCells] = {};
  const bool normalized = !normalization[1].empty();
  for (int g = coupled ? 1 : 0; g < 4; ++g)
    for (int k = 0; k < kCells; ++k)
      sums[g][k] = Row(weights[g], k, x, kInputs) + Row(recurrent[g], k, own, outputs) +
                   (more != nullptr ? Row(aux[g], k, more, kInputs) : 0) + (normalized ? 0 : At(bias[g], k));
  const auto refine = [&](int g) {
    for (int k = 0; k < kCells && g != 2 && !peepholes[1].empty(); ++k)
      sums[g][k] += At(peepholes[g == 3 ? 2 : g], k) * cell[k];
    if (normalized) Normalize(g, sums[g]);
  };
  const auto function = [&](double v) { return relu ? std::max(v, 0.0) : std::tanh(v); };
  for (int g = coupled ? 1 : 0; g < 3; ++g) refine(g);
  for (int k = 0; k < kCells; ++k) {
    const double forget = Logistic(sums[1][k]), input = coupled ? 1 - forget : Logistic(sums[0][k]);
    cell[k] = std::clamp(forget * cell[k] + input * function(sums[2][k]), -cell_clip, cell_clip);
  }
  refine(3);
  double hidden[kCells];
  for (int k = 0; k < kCells; ++k) hidden[k] = Logistic(sums[3][k]) * function(cell[k]);
  for (int i = 0; i < outputs; ++i)
    own[i] =
        projection.empty()
            ? hidden[i]
            : std::clamp(Row(projection, i, hidden, kCells) + (projection_bias.empty() ? 0 : At(projection_bias, i)),
                         -projection_clip, projection_clip);
}

/// y of one direction behind `offset` of rows `width` wide, [T, B, .] or [B, T, .].
template <typename Cell>
void Sequence(Cell& cell, const Numbers& x, const Numbers& more, bool time_major, bool reverse, int width, int offset,
              std::vector<double>& y) {
  for (int i = 0; i < kSteps; ++i) {
    const int t = reverse ? kSteps - 1 - i : i;
    for (int b = 0; b < kBatches; ++b) {
      const int row = time_major ? t * kBatches + b : b * kSteps + t;
      const std::vector<double> own(x.begin() + row * kInputs, x.begin() + (row + 1) * kInputs);
      std::vector<double> also;
      if (!more.empty()) also.assign(more.begin() + row * kInputs, more.begin() + (row + 1) * kInputs);
      cell.Step(own.data(), more.empty() ? nullptr : also.data(), static_cast<size_t>(b));
      for (int k = 0; k < cell.outputs; ++k)
        y[static_cast<size_t>(row * width + offset + k)] = cell.h[static_cast<size_t>(b * cell.outputs + k)];
    }
  }
}

Dims SequenceDims(bool time_major, int width) {
  return time_major ? Dims{kSteps, kBatches, width} : Dims{kBatches, kSteps, width};
}

struct Parts {
  bool coupled = false, peepholes = false, projection = false, int8 = false;
};

/// The constants of one direction, in TFLite's order.
Lstm AddConstants(File& file, const Parts& parts) {
  Lstm cell;
  cell.coupled = parts.coupled;
  cell.outputs = parts.projection ? 2 : kCells;
  const auto gates = [&](Numbers* to, const Dims& dims, bool int8) {
    for (int g = 0; g < 4; ++g) {
      if (g == 0 && parts.coupled)
        file.Absent();
      else
        to[g] = file.Constant(dims, int8);
    }
  };
  gates(cell.weights, {kCells, kInputs}, parts.int8);
  gates(cell.recurrent, {kCells, cell.outputs}, parts.int8);
  for (int i = 0; i < 3; ++i) {
    if (!parts.peepholes || (i == 0 && parts.coupled))
      file.Absent();
    else
      cell.peepholes[i] = file.Constant({kCells}, parts.int8);
  }
  gates(cell.bias, {kCells}, false);
  if (!parts.projection) return file.Absent(2), cell;
  cell.projection = file.Constant({cell.outputs, kCells}, parts.int8);
  cell.projection_bias = file.Constant({cell.outputs});
  return cell;
}

void ExpectNear(const test::Bytes& got, const std::vector<double>& want) {
  Numbers values(got.size() / sizeof(float));
  std::memcpy(values.data(), got.data(), got.size());
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i)
    EXPECT_NEAR(static_cast<double>(values[i]), want[i], 1e-5) << "element " << i;
}

test::PlanRunner Runner(File& file) {
  const Conversion made = file.Convert();
  std::string text;
  for (const Diagnostic& d : made.diagnostics.all()) text += d.ToString() + "\n";
  EXPECT_FALSE(made.plan.empty()) << text;
  return test::PlanRunner(made.plan);
}

void ExpectUnidirectional(const Parts& parts, bool time_major, bool normalized, float cell_clip, float projection_clip,
                          tflite::ActivationFunctionType activation = TANH) {
  File file;
  file.Input(SequenceDims(time_major, kInputs));
  Lstm cell = AddConstants(file, parts);
  cell.relu = activation == RELU;
  if (cell_clip > 0) cell.cell_clip = static_cast<double>(cell_clip);
  if (projection_clip > 0) cell.projection_clip = static_cast<double>(projection_clip);
  file.Variable({kBatches, cell.outputs});
  file.Variable({kBatches * kCells});  // Of rank 1: what counts is the number of elements.
  for (int g = 0; g < 4 && normalized; ++g) {
    if (g == 0 && parts.coupled)
      file.Absent();
    else
      cell.normalization[g] = file.Constant({kCells});
  }
  file.Output(SequenceDims(time_major, cell.outputs));
  file.op.code = BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM;
  file.op.options_type = BuiltinOptions::UnidirectionalSequenceLSTMOptions;
  file.op.options = [=](Builder& fbb) {
    return tflite::CreateUnidirectionalSequenceLSTMOptions(fbb, activation, cell_clip, projection_clip, time_major)
        .Union();
  };
  test::PlanRunner runner = Runner(file);
  for (int invocation = 0; invocation < 2; ++invocation) {
    const Numbers x = file.draw.Some(kSteps * kBatches * kInputs);
    std::vector<double> y(static_cast<size_t>(kSteps * kBatches * cell.outputs));
    Sequence(cell, x, {}, time_major, false, cell.outputs, 0, y);
    ExpectNear(runner.Run({Pack(x)})[0], y);
  }
}

TEST(TfliteRecurrent, UnidirectionalSequenceLstm) {
  ExpectUnidirectional({}, true, false, 0, 0);
  ExpectUnidirectional({}, false, false, 0.1f, 0);
  ExpectUnidirectional({.peepholes = true}, false, false, 0, 0);
  ExpectUnidirectional({.coupled = true, .peepholes = true}, false, true, 0, 0);
  ExpectUnidirectional({.projection = true}, true, false, 0, 0.05f);
  ExpectUnidirectional({.projection = true, .int8 = true}, false, true, 0, 0);
  ExpectUnidirectional({.peepholes = true, .int8 = true}, true, false, 0, 0, RELU);
}

void ExpectBidirectionalLstm(bool merge, bool aux_input, bool aux_weights) {
  File file;
  const Dims dims = SequenceDims(true, kInputs);
  file.Input(dims);
  Lstm cells[2] = {AddConstants(file, {.peepholes = true}), AddConstants(file, {.coupled = true, .projection = true})};
  for (const Lstm& cell : cells) {
    file.Variable({kBatches, cell.outputs});
    file.Variable({kBatches, kCells});
  }
  if (aux_input) file.Input(dims);
  for (int i = 0; i < 8 && aux_weights; ++i) {
    if (i == 4)
      file.Absent();
    else
      cells[i / 4].aux[i % 4] = file.Constant({kCells, kInputs});
  }
  const int width = merge ? kCells + 2 : kCells;
  file.Output(SequenceDims(true, width));
  if (!merge) file.Output(SequenceDims(true, 2));
  file.op.code = BuiltinOperator::BIDIRECTIONAL_SEQUENCE_LSTM;
  file.op.options_type = BuiltinOptions::BidirectionalSequenceLSTMOptions;
  file.op.options = [=](Builder& fbb) {
    return tflite::CreateBidirectionalSequenceLSTMOptions(fbb, TANH, 0, 0, merge, true).Union();
  };
  test::PlanRunner runner = Runner(file);
  for (int invocation = 0; invocation < 2; ++invocation) {
    const Numbers x = file.draw.Some(kSteps * kBatches * kInputs);
    const Numbers aux = aux_input ? file.draw.Some(kSteps * kBatches * kInputs) : Numbers();
    const Numbers more = aux_weights ? aux : Numbers(), own = aux_input && !aux_weights ? aux : x;
    std::vector<double> y(static_cast<size_t>(kSteps * kBatches * width)), backward(y.size());
    Sequence(cells[0], x, more, true, false, width, 0, y);
    Sequence(cells[1], own, more, true, true, merge ? width : 2, merge ? kCells : 0, merge ? y : backward);
    std::vector<test::Bytes> inputs = {Pack(x)};
    if (aux_input) inputs.push_back(Pack(aux));
    const auto got = runner.Run(inputs);
    ExpectNear(got[0], y);
    backward.resize(kSteps * kBatches * 2);
    if (!merge) ExpectNear(got[1], backward);
  }
}

TEST(TfliteRecurrent, BidirectionalSequenceLstm) {
  ExpectBidirectionalLstm(true, false, false);
  ExpectBidirectionalLstm(false, false, false);
  ExpectBidirectionalLstm(true, true, false);
  ExpectBidirectionalLstm(true, true, true);
}

/// One step of the kernel of all parts.
TEST(TfliteRecurrent, Lstm) {
  File file;
  file.Input({kBatches, kInputs});
  Lstm cell = AddConstants(file, {.peepholes = true, .projection = true});
  file.Variable({kBatches, cell.outputs});
  file.Variable({kBatches, kCells});
  file.Output({kBatches, cell.outputs});
  file.op.code = BuiltinOperator::LSTM;
  file.op.options_type = BuiltinOptions::LSTMOptions;
  file.op.options = [](Builder& fbb) { return tflite::CreateLSTMOptions(fbb, TANH).Union(); };
  test::PlanRunner runner = Runner(file);
  for (int invocation = 0; invocation < 2; ++invocation) {
    const Numbers x = file.draw.Some(kBatches * kInputs);
    const std::vector<double> all(x.begin(), x.end());
    for (size_t b = 0; b < kBatches; ++b) cell.Step(all.data() + b * kInputs, nullptr, b);
    ExpectNear(runner.Run({Pack(x)})[0], {cell.h.begin(), cell.h.begin() + kBatches * cell.outputs});
  }
}

/// The first kernel: states are inputs and outputs, one matrix holds all weights.
TEST(TfliteRecurrent, BasicLstm) {
  File file;
  file.Input({kBatches, kInputs});
  file.Input({kBatches, kCells});
  const Numbers weights = file.Constant({4 * kCells, kInputs + kCells}), bias = file.Constant({4 * kCells});
  file.Input({kBatches, kCells});
  file.Output({kBatches, kCells});
  file.Output({kBatches, kCells});
  for (int i = 0; i < 2; ++i) {
    file.Output({kBatches, 4 * kCells});  // Of no use to anybody.
    file.model.outputs.pop_back();
  }
  file.op.code = BuiltinOperator::LSTM;
  file.op.options_type = BuiltinOptions::LSTMOptions;
  file.op.options = [](Builder& fbb) {
    return tflite::CreateLSTMOptions(fbb, TANH, 0, 0, tflite::LSTMKernelType::BASIC).Union();
  };
  Lstm cell;
  for (int block = 0; block < 4; ++block) {
    const int gate = block == 1 ? 2 : block == 2 ? 1 : block;  // The candidate comes second.
    for (int row = block * kCells; row < (block + 1) * kCells; ++row) {
      const auto begin = weights.begin() + row * (kInputs + kCells);
      cell.weights[gate].insert(cell.weights[gate].end(), begin, begin + kInputs);
      cell.recurrent[gate].insert(cell.recurrent[gate].end(), begin + kInputs, begin + kInputs + kCells);
      cell.bias[gate].push_back(bias[static_cast<size_t>(row)]);
    }
  }
  test::PlanRunner runner = Runner(file);
  const Numbers x = file.draw.Some(kBatches * kInputs), h = file.draw.Some(kBatches * kCells);
  const Numbers c = file.draw.Some(kBatches * kCells);
  std::copy(h.begin(), h.end(), cell.h.begin());
  std::copy(c.begin(), c.end(), cell.c.begin());
  const std::vector<double> all(x.begin(), x.end());
  for (size_t b = 0; b < kBatches; ++b) cell.Step(all.data() + b * kInputs, nullptr, b);
  const auto got = runner.Run({Pack(x), Pack(h), Pack(c)});
  ExpectNear(got[0], {cell.h.begin(), cell.h.begin() + kBatches * kCells});
  ExpectNear(got[1], {cell.c.begin(), cell.c.begin() + kBatches * kCells});
}

struct Rnn {
  Numbers weights, recurrent, bias, aux;
  int outputs = kCells;
  std::vector<double> h = std::vector<double>(kBatches * kCells);

  void Step(const double* x, const double* more, size_t batch) {
    double next[kCells];
    double* own = h.data() + batch * kCells;
    for (int k = 0; k < kCells; ++k)
      next[k] = std::max(0.0, Row(weights, k, x, kInputs) + Row(recurrent, k, own, kCells) + At(bias, k) +
                                  (more != nullptr ? Row(aux, k, more, kInputs) : 0));
    std::copy(next, next + kCells, own);
  }
};

Rnn AddRnn(File& file) {
  Rnn cell;
  cell.weights = file.Constant({kCells, kInputs}), cell.recurrent = file.Constant({kCells, kCells}, true);
  cell.bias = file.Constant({kCells});
  file.Variable({kBatches, kCells});
  return cell;
}

void ExpectRnn(bool sequence, bool time_major) {
  File file;
  file.Input(sequence ? SequenceDims(time_major, kInputs) : Dims{kBatches, kInputs});
  Rnn cell = AddRnn(file);
  file.Output(sequence ? SequenceDims(time_major, kCells) : Dims{kBatches, kCells});
  file.op.code = sequence ? BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_RNN : BuiltinOperator::RNN;
  file.op.options_type = sequence ? BuiltinOptions::SequenceRNNOptions : BuiltinOptions::RNNOptions;
  file.op.options = [=](Builder& fbb) {
    return sequence ? tflite::CreateSequenceRNNOptions(fbb, time_major, RELU).Union()
                    : tflite::CreateRNNOptions(fbb, RELU).Union();
  };
  test::PlanRunner runner = Runner(file);
  for (int invocation = 0; invocation < 2; ++invocation) {
    const Numbers x = file.draw.Some((sequence ? kSteps : 1) * kBatches * kInputs);
    std::vector<double> y(static_cast<size_t>((sequence ? kSteps : 1) * kBatches * kCells));
    if (sequence) {
      Sequence(cell, x, {}, time_major, false, kCells, 0, y);
    } else {
      const std::vector<double> all(x.begin(), x.end());
      for (size_t b = 0; b < kBatches; ++b) cell.Step(all.data() + b * kInputs, nullptr, b);
      y = cell.h;
    }
    ExpectNear(runner.Run({Pack(x)})[0], y);
  }
}

TEST(TfliteRecurrent, Rnn) {
  ExpectRnn(false, false);
  ExpectRnn(true, false);
  ExpectRnn(true, true);
}

TEST(TfliteRecurrent, BidirectionalSequenceRnn) {
  for (const bool merge : {false, true}) {
    File file;
    file.Input(SequenceDims(false, kInputs));
    Rnn forward = AddRnn(file), backward = AddRnn(file);
    file.Input(SequenceDims(false, kInputs));
    forward.aux = file.Constant({kCells, kInputs}), backward.aux = file.Constant({kCells, kInputs});
    const int width = merge ? 2 * kCells : kCells;
    for (int i = 0; i < (merge ? 1 : 2); ++i) file.Output(SequenceDims(false, width));
    file.op.code = BuiltinOperator::BIDIRECTIONAL_SEQUENCE_RNN;
    file.op.options_type = BuiltinOptions::BidirectionalSequenceRNNOptions;
    file.op.options = [=](Builder& fbb) {
      return tflite::CreateBidirectionalSequenceRNNOptions(fbb, false, RELU, merge).Union();
    };
    test::PlanRunner runner = Runner(file);
    const Numbers x = file.draw.Some(kSteps * kBatches * kInputs), aux = file.draw.Some(kSteps * kBatches * kInputs);
    std::vector<double> y(static_cast<size_t>(kSteps * kBatches * width)), other(y.size());
    Sequence(forward, x, aux, false, false, width, 0, y);
    Sequence(backward, x, aux, false, true, width, merge ? kCells : 0, merge ? y : other);
    const auto got = runner.Run({Pack(x), Pack(aux)});
    ExpectNear(got[0], y);
    if (!merge) ExpectNear(got[1], other);
  }
}

TEST(TfliteRecurrent, NamesWhatItCannotTake) {
  File file;
  file.Input(SequenceDims(false, kInputs));
  AddConstants(file, {});
  file.Variable({kBatches, kCells + 1});
  file.Variable({kBatches, kCells});
  file.Output(SequenceDims(false, kCells));
  file.op.code = BuiltinOperator::UNIDIRECTIONAL_SEQUENCE_LSTM;
  file.op.options_type = BuiltinOptions::UnidirectionalSequenceLSTMOptions;
  file.op.options = [](Builder& fbb) {
    return tflite::CreateUnidirectionalSequenceLSTMOptions(fbb, tflite::ActivationFunctionType::SIGN_BIT).Union();
  };
  std::string text;
  const Conversion made = file.Convert();
  for (const Diagnostic& d : made.diagnostics.all()) text += d.ToString() + "\n";
  EXPECT_TRUE(made.plan.empty());
  EXPECT_NE(text.find("fused activation 5 is not supported"), std::string::npos) << text;
  EXPECT_NE(text.find("state is [2, 4], not [2, 3]"), std::string::npos) << text;
}

}  // namespace
}  // namespace takt
