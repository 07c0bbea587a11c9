// Cascades: the order of stripes, and nets with residual connections whose bytes are those of the reference port.
#include "converter/npu/cascade.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <random>

#include "converter/backend/convert.h"
#include "converter/npu/machine_json.h"
#include "ports/npu_emu/npu_emu.h"
#include "tests/converter/tflite_builder.h"
#include "tests/support/plan_runner.h"

namespace takt::npu {
namespace {

/// The layer at place `i` of a chain.
Layer Convolution(ir::TensorId i, uint32_t height, uint32_t kernel, uint32_t stride) {
  Layer l;
  l.x = i, l.y = i + 1;
  l.height = l.width = height;
  l.kernel_h = l.kernel_w = kernel, l.stride_h = l.stride_w = stride, l.pad_top = l.pad_left = kernel / 2;
  l.out_height = l.out_width = (height + stride - 1) / stride;
  return l;
}

using Rows = std::vector<std::array<uint32_t, 3>>;
Rows RowsOf(const StripeOrder& order) {
  Rows rows;
  for (const Stripe& s : order.stripes) rows.push_back({static_cast<uint32_t>(s.layer), s.rows.first, s.rows.size});
  return rows;
}

TEST(Cascade, ComputesEachRowOnceAndBeforeItIsRead) {
  const StripeOrder order = OrderStripes({Convolution(0, 6, 1, 1), Convolution(1, 6, 3, 1)}, 2);
  EXPECT_EQ(RowsOf(order), (Rows{{0, 0, 3}, {1, 0, 2}, {0, 3, 2}, {1, 2, 2}, {0, 5, 1}, {1, 4, 2}}));
  EXPECT_EQ(order.ring_rows, (std::vector<uint32_t>{4, 6}));
}

TEST(Cascade, StridedLayersReadAhead) {
  const StripeOrder order =
      OrderStripes({Convolution(0, 8, 1, 1), Convolution(1, 8, 3, 2), Convolution(2, 4, 1, 1)}, 2);
  EXPECT_EQ(RowsOf(order), (Rows{{0, 0, 4}, {1, 0, 2}, {2, 0, 2}, {0, 4, 4}, {1, 2, 2}, {2, 2, 2}}));
  EXPECT_EQ(order.ring_rows, (std::vector<uint32_t>{5, 2, 4}));
}

TEST(Cascade, RowsStayUntilTheirLastReader) {
  // 3x3 twice, then the first one's output is added: while row r is added, rows up to r + 2 of it are there.
  std::vector<Layer> layers = {Convolution(0, 8, 1, 1), Convolution(1, 8, 3, 1), Convolution(2, 8, 3, 1)};
  layers[2].skip = layers[0].y;
  const StripeOrder order = OrderStripes(layers, 1);
  EXPECT_EQ(order.ring_rows, (std::vector<uint32_t>{3, 3, 8}));
  EXPECT_EQ(RowsOf(order).size(), 8u + 7u + 6u);
}

/// Builds a net of int8 layers, each called with its inputs' numbers; returns its output's.
class Net {
 public:
  Net(int32_t size, int32_t channels) { model_.inputs = {Image({1, size, size, channels})}; }

  int32_t Conv(int32_t x, int32_t channels, int32_t kernel, int32_t stride) {
    const std::vector<int32_t> from = dims(x);
    const int32_t w = Weights({channels, kernel, kernel, from[3]}, kernel * kernel * from[3]);
    return Window(
        tflite::BuiltinOperator::CONV_2D, x, w, channels, stride, tflite::BuiltinOptions::Conv2DOptions,
        [=](auto& fbb) { return tflite::CreateConv2DOptions(fbb, tflite::Padding::SAME, stride, stride).Union(); });
  }
  int32_t Depthwise(int32_t x, int32_t stride) {
    const int32_t channels = dims(x)[3], w = Weights({1, 3, 3, channels}, 9);
    return Window(tflite::BuiltinOperator::DEPTHWISE_CONV_2D, x, w, channels, stride,
                  tflite::BuiltinOptions::DepthwiseConv2DOptions, [=](auto& fbb) {
                    return tflite::CreateDepthwiseConv2DOptions(fbb, tflite::Padding::SAME, stride, stride, 1).Union();
                  });
  }
  int32_t Pool(int32_t x) {
    return Layer(tflite::BuiltinOperator::MAX_POOL_2D, {x}, dims(x), tflite::BuiltinOptions::Pool2DOptions,
                 [](auto& fbb) { return tflite::CreatePool2DOptions(fbb, tflite::Padding::SAME, 1, 1, 3, 3).Union(); });
  }
  int32_t Add(int32_t a, int32_t b) {
    return Layer(tflite::BuiltinOperator::ADD, {a, b}, dims(a), tflite::BuiltinOptions::AddOptions,
                 [](auto& fbb) { return tflite::CreateAddOptions(fbb).Union(); });
  }
  std::vector<uint8_t> Finish(int32_t y) {
    model_.outputs = {y};
    return test::WriteTflite(model_);
  }

 private:
  const std::vector<int32_t>& dims(int32_t id) const { return model_.tensors[static_cast<size_t>(id)].shape; }
  int32_t Tensor(std::vector<int32_t> shape, std::vector<uint8_t> data, float scale) {
    const std::string name = "t" + std::to_string(model_.tensors.size());
    model_.tensors.push_back(test::QuantizedTensor(name.c_str(), std::move(shape), std::move(data), scale));
    return static_cast<int32_t>(model_.tensors.size()) - 1;
  }
  int32_t Image(std::vector<int32_t> shape) { return Tensor(std::move(shape), {}, 0.05f); }
  /// Such that results fill the range.
  int32_t Weights(std::vector<int32_t> shape, int32_t products) {
    size_t count = 1;
    for (const int32_t dim : shape) count *= static_cast<size_t>(dim);
    std::vector<uint8_t> data(count);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random_() % 255 - 127);
    return Tensor(std::move(shape), std::move(data), 1 / (73 * std::sqrt(static_cast<float>(products))));
  }
  int32_t Layer(tflite::BuiltinOperator code, std::vector<int32_t> inputs, std::vector<int32_t> shape,
                tflite::BuiltinOptions type, test::Options options) {
    const int32_t y = Image(std::move(shape));
    model_.operators.push_back({.code = code,
                                .inputs = std::move(inputs),
                                .outputs = {y},
                                .options_type = type,
                                .options = std::move(options)});
    return y;
  }
  int32_t Window(tflite::BuiltinOperator code, int32_t x, int32_t w, int32_t channels, int32_t stride,
                 tflite::BuiltinOptions type, test::Options options) {
    const int32_t size = (dims(x)[1] + stride - 1) / stride;
    const float scale = 0.05f * model_.tensors[static_cast<size_t>(w)].scales[0];
    const int32_t bias = Tensor({channels}, std::vector<uint8_t>(static_cast<size_t>(4 * channels)), scale);
    return Layer(code, {x, w, bias}, {1, size, size, channels}, type, std::move(options));
  }

  std::mt19937 random_{3};
  test::TfliteModel model_;
};

/// As MobileNetV2: expansion, depthwise, projection, added where the shape stays.
std::vector<uint8_t> InvertedResiduals() {
  Net net(19, 4);
  int32_t x = net.Conv(0, 8, 3, 1);
  const auto block = [&](int32_t channels, int32_t stride, bool residual) {
    const int32_t y = net.Conv(net.Depthwise(net.Conv(x, 32, 1, 1), stride), channels, 1, 1);
    x = residual ? net.Add(y, x) : y;
  };
  block(8, 1, true), block(8, 1, true), block(12, 2, false), block(12, 1, true);
  return net.Finish(x);
}

/// As ResNet: the skip of a block that halves its image is a convolution, too.
std::vector<uint8_t> Bottlenecks() {
  Net net(21, 3);
  int32_t x = net.Conv(0, 12, 3, 1);
  x = net.Add(net.Conv(net.Conv(x, 12, 3, 1), 12, 3, 1), x);
  const int32_t y = net.Conv(net.Conv(x, 20, 3, 2), 20, 3, 1);
  x = net.Add(y, net.Conv(x, 20, 1, 2));
  return net.Finish(net.Add(net.Conv(net.Conv(x, 20, 3, 1), 20, 3, 1), x));
}

/// Additions of what no convolution makes stay steps of their own.
std::vector<uint8_t> Additions() {
  Net net(18, 8);
  const int32_t x = net.Conv(0, 16, 3, 1), y = net.Add(net.Pool(x), x);
  const int32_t z = net.Add(net.Depthwise(y, 1), y);
  return net.Finish(net.Conv(net.Add(net.Pool(z), net.Depthwise(z, 1)), 8, 3, 2));
}

using Bytes = std::vector<uint8_t>;

Bytes RunHost(const Conversion& made, const Bytes& input) {
  return test::PlanRunner(made.plan).Run({input})[0];
}

Bytes RunNpu(const Conversion& made, const Machine& machine, const Bytes& input) {
  VirtualClock clock;
  NpuEmu device;
  std::vector<std::byte> memory(NpuEmu::WorkspaceBytes(machine) + 64);
  void* at = memory.data();
  size_t space = memory.size();
  std::align(64, space - 64, at, space);
  const std::span<const uint8_t> table{reinterpret_cast<const uint8_t*>(&machine), sizeof(machine)};
  EXPECT_EQ(device.Init(table, {static_cast<std::byte*>(at), space}, clock), Status());
  Device* devices[] = {&device};
  return test::PlanRunner(made.plan, reference::AllKernels(), devices).Run({input})[0];
}

/// Of all cascades: layers that add, and the most layers of one.
struct Found {
  int additions = 0;
  size_t layers = 0;
};

void Count(const Compilation& made, Found& found) {
  std::map<int, size_t> layers;
  for (const CompiledJob& job : made.jobs) {
    for (const CompiledLayer& l : job.layers) {
      if (l.cascade < 0 || l.part.rows.first != 0) continue;
      found.layers = std::max(found.layers, ++layers[l.cascade]);
      found.additions += l.layer.add.has_value();
    }
  }
}

class ResidualCascade : public ::testing::TestWithParam<std::vector<uint8_t> (*)()> {};

TEST_P(ResidualCascade, BytesAreTheReferencePorts) {
  const Bytes model = GetParam()();
  std::mt19937 random(1);
  Bytes input(32768);
  for (const Numerics numerics : {Numerics::kFp32Rne, Numerics::kTflite}) {
    ConvertOptions options;
    options.numerics = numerics;
    const Conversion host = ConvertTflite(model, "net", options);
    ASSERT_TRUE(host.diagnostics.ok());
    input.resize(static_cast<size_t>(host.graph.tensor(host.graph.inputs[0]).byte_size()));
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
    const Bytes right = RunHost(host, input);
    Found found;
    for (const char* preset : {"ethos-u55-128", "ethos-u65-256", "davinci-tiny", "gemmini-16x16"}) {
      Diagnostics diagnostics;
      Machine machine = ParseMachine(*PresetJson(preset), preset, {}, diagnostics).value().table;
      for (const uint32_t limit : {16000u, 12000u, 9000u, 7000u, 5000u}) {
        machine.memories[machine.feature_memory].bytes = limit;
        options.machine = machine;
        const Conversion made = ConvertTflite(model, "net", options);
        if (!made.diagnostics.ok()) continue;
        EXPECT_EQ(RunNpu(made, machine, input), right) << preset << " " << limit;
        Count(made.npu, found);
      }
    }
    EXPECT_GE(found.additions, 4);
    EXPECT_GE(found.layers, 4u);
  }
}

INSTANTIATE_TEST_SUITE_P(Nets, ResidualCascade, ::testing::Values(&InvertedResiduals, &Bottlenecks, &Additions));

}  // namespace
}  // namespace takt::npu
