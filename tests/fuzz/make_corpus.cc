// Writes the fuzzers' seeds: make_corpus tests/fuzz/corpus
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "converter/backend/convert.h"
#include "converter/npu/loop_rolling.h"
#include "converter/npu/machine_json.h"
#include "converter/npu/stream_writer.h"
#include "schema/tflite_generated.h"
#include "tests/converter/onnx_builder.h"
#include "tests/fuzz/onnx_seeds.h"
#include "tests/support/small_model.h"
#include "tests/support/try_plan.h"

namespace {

namespace tflite = takt::tflite;
using flatbuffers::FlatBufferBuilder;

void Write(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

flatbuffers::Offset<tflite::Tensor> Tensor(FlatBufferBuilder& fbb, std::vector<int32_t> shape, tflite::TensorType type,
                                           uint32_t buffer, const char* name, float scale, int64_t zero_point) {
  const std::vector<float> scales = {scale};
  const std::vector<int64_t> zero_points = {zero_point};
  const auto quantization = tflite::CreateQuantizationParametersDirect(fbb, nullptr, nullptr, &scales, &zero_points);
  return tflite::CreateTensorDirect(fbb, &shape, type, buffer, name, quantization);
}

/// int8 x[1, 8] -> fully connected, 4 units -> softmax.
std::vector<uint8_t> Classifier() {
  FlatBufferBuilder fbb;
  const std::vector<uint8_t> weights(32, 3), bias(16, 0);
  const std::vector<flatbuffers::Offset<tflite::Buffer>> buffers = {
      tflite::CreateBuffer(fbb), tflite::CreateBufferDirect(fbb, &weights), tflite::CreateBufferDirect(fbb, &bias)};
  const std::vector<flatbuffers::Offset<tflite::Tensor>> tensors = {
      Tensor(fbb, {1, 8}, tflite::TensorType::INT8, 0, "x", 0.5f, 0),
      Tensor(fbb, {4, 8}, tflite::TensorType::INT8, 1, "w", 0.25f, 0),
      Tensor(fbb, {4}, tflite::TensorType::INT32, 2, "b", 0.125f, 0),
      Tensor(fbb, {1, 4}, tflite::TensorType::INT8, 0, "h", 0.5f, 3),
      Tensor(fbb, {1, 4}, tflite::TensorType::INT8, 0, "y", 1.0f / 256, -128)};
  const std::vector<int32_t> first = {0, 1, 2}, hidden = {3}, input = {0}, output = {4};
  const std::vector<flatbuffers::Offset<tflite::Operator>> operators = {
      tflite::CreateOperatorDirect(
          fbb, 0, &first, &hidden, tflite::BuiltinOptions::FullyConnectedOptions,
          tflite::CreateFullyConnectedOptions(fbb, tflite::ActivationFunctionType::RELU).Union()),
      tflite::CreateOperatorDirect(fbb, 1, &hidden, &output, tflite::BuiltinOptions::SoftmaxOptions,
                                   tflite::CreateSoftmaxOptions(fbb, 1.0f).Union())};
  const std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes = {
      tflite::CreateOperatorCodeDirect(fbb, 9, nullptr, 1, tflite::BuiltinOperator::FULLY_CONNECTED),
      tflite::CreateOperatorCodeDirect(fbb, 25, nullptr, 1, tflite::BuiltinOperator::SOFTMAX)};
  const std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs = {
      tflite::CreateSubGraphDirect(fbb, &tensors, &input, &output, &operators, "main")};
  tflite::FinishModelBuffer(fbb, tflite::CreateModelDirect(fbb, 3, &codes, &graphs, "seed", &buffers));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

/// x[1, 8, 8, 4] -> depthwise convolution 3x3, added to x -> largest of 2x2 -> mean of 2x2. `wide`: int16 instead of
/// int8, with a bias of int64.
std::vector<uint8_t> PooledSum(bool wide) {
  using takt::test::QuantizedTensor;
  const auto pool = [](FlatBufferBuilder& fbb) {
    return tflite::CreatePool2DOptions(fbb, tflite::Padding::VALID, 2, 2, 2, 2).Union();
  };
  using Code = tflite::BuiltinOperator;
  using Kind = tflite::BuiltinOptions;
  takt::test::TfliteModel model;
  model.tensors = {QuantizedTensor("x", {1, 8, 8, 4}, {}, 0.5f),
                   QuantizedTensor("w", {1, 3, 3, 4}, std::vector<uint8_t>(36, 5), 0.02f),
                   QuantizedTensor("b", {4}, std::vector<uint8_t>(16, 1), 0.01f),
                   QuantizedTensor("h", {1, 8, 8, 4}, {}, 0.5f),
                   QuantizedTensor("s", {1, 8, 8, 4}, {}, 0.75f),
                   QuantizedTensor("m", {1, 4, 4, 4}, {}, 0.75f),
                   QuantizedTensor("y", {1, 2, 2, 4}, {}, 0.75f)};
  model.operators = {{Code::DEPTHWISE_CONV_2D,
                      {0, 1, 2},
                      {3},
                      Kind::DepthwiseConv2DOptions,
                      [](FlatBufferBuilder& fbb) {
                        return tflite::CreateDepthwiseConv2DOptions(fbb, tflite::Padding::SAME, 1, 1, 1).Union();
                      }},
                     {Code::ADD,
                      {0, 3},
                      {4},
                      Kind::AddOptions,
                      [](FlatBufferBuilder& fbb) { return tflite::CreateAddOptions(fbb).Union(); }},
                     {Code::MAX_POOL_2D, {4}, {5}, Kind::Pool2DOptions, pool},
                     {Code::AVERAGE_POOL_2D, {5}, {6}, Kind::Pool2DOptions, pool}};
  model.inputs = {0};
  model.outputs = {6};
  for (takt::test::TfliteTensor& t : model.tensors) {
    if (wide && t.data.empty()) t.type = tflite::TensorType::INT16;
    if (wide && t.shape.size() == 1) t.type = tflite::TensorType::INT64, t.data.resize(2 * t.data.size());
  }
  return takt::test::WriteTflite(model);
}

/// float x[1, 2, 6, 6] -> convolution, relu, pool, reshape, matrix product, softmax.
std::vector<uint8_t> OnnxNet() {
  takt::test::OnnxBuilder net;
  net.Input("x", {1, 2, 6, 6});
  net.Constant<float>("w", {3, 2, 3, 3}, std::vector<float>(54, 0.25f));
  net.Constant<float>("b", {3}, {1, 2, 3});
  net.Constant<int64_t>("shape", {2}, {1, -1});
  net.Constant<float>("v", {12, 4}, std::vector<float>(48, 0.5f));
  auto& convolution = net.Node("Conv", {"x", "w", "b"}, "c");
  net.Ints(convolution, "pads", {1, 1, 1, 1});
  net.Ints(convolution, "strides", {1, 1});
  net.Node("Relu", {"c"}, "r");
  auto& pool = net.Node("MaxPool", {"r"}, "p");
  net.Ints(pool, "kernel_shape", {3, 3});
  net.Ints(pool, "strides", {3, 3});
  net.Node("Reshape", {"p", "shape"}, "f");
  net.Node("MatMul", {"f", "v"}, "m");
  net.Node("Softmax", {"m"}, "y");
  net.Output("y", {1, 4});
  return net.Bytes();
}

/// The jobs of a model, each as the fuzzer wants it: which machine, then the stream.
void WriteStreams(const std::filesystem::path& to, std::span<const uint8_t> model, const std::string& name,
                  takt::Numerics numerics) {
  constexpr const char* kMachines[] = {"ethos-u55-32", "gemmini-16x16", "davinci-tiny"};
  for (size_t i = 0; i < std::size(kMachines); ++i) {
    takt::Diagnostics diagnostics;
    takt::ConvertOptions options;
    options.numerics = numerics;
    options.machine = takt::npu::ParseMachine(*takt::npu::PresetJson(kMachines[i]), "", {}, diagnostics)->table;
    const takt::Conversion made = takt::ConvertTflite(model, name, options);
    for (size_t job = 0; job < made.npu.device.jobs.size(); ++job) {
      std::vector<uint8_t> bytes = {static_cast<uint8_t>(i), 0, 0, 0};
      const auto& stream = made.npu.device.jobs[job].stream;
      bytes.insert(bytes.end(), stream.begin(), stream.end());
      Write(to / "npu_stream" / (name + "_" + kMachines[i] + "_" + std::to_string(job)), bytes);
    }
  }
}

takt::npu::Copy Move(takt::npu::Address from, takt::npu::Address to, uint32_t bytes) {
  return {.from = from, .to = to, .planes = 1, .rows = 1, .row_bytes = bytes};
}

/// For the first of the fuzzer's machines.
std::vector<uint8_t> SeedOf(takt::npu::StreamWriter w) {
  std::vector<uint8_t> bytes(4);
  const std::vector<uint8_t> stream = w.Finish();
  bytes.insert(bytes.end(), stream.begin(), stream.end());
  return bytes;
}

/// A loop whose step moves what it copies onto the chip; then all of it goes back.
std::vector<uint8_t> LoopStream() {
  using namespace takt::npu;
  constexpr auto kChip = static_cast<uint8_t>(Buffer::kFeature);
  StreamWriter w;
  w.Emit(Pipe::kCommand, Loop{.trips = 4});
  w.Emit(Pipe::kLoad, Move({kFirstBase, 1}, {kChip, 1}, 16));
  w.Emit(Pipe::kCommand, Step{.index = 1, .bytes = 16});
  w.Emit(Pipe::kCommand, Next{});
  w.EmitSet(Pipe::kLoad, 0);
  w.EmitWait(Pipe::kStore, 0);
  w.Emit(Pipe::kStore, Move({kChip}, {kFirstBase + 1}, 64));
  return SeedOf(w);
}

/// Rows of four parts, each row stored once it is there: one loop in another, all registers.
std::vector<uint8_t> RolledStream() {
  using namespace takt::npu;
  constexpr auto kChip = static_cast<uint8_t>(Buffer::kFeature);
  StreamWriter w;
  for (uint32_t row = 0; row < 3; ++row) {
    for (uint32_t part = 0; part < 4; ++part)
      w.Emit(Pipe::kLoad, Move({kFirstBase, 0, 0, 600 * row + 32 * part}, {kChip, 0, 0, 64 * row + 16 * part}, 16));
    w.EmitSet(Pipe::kLoad, 0);
    w.EmitWait(Pipe::kStore, 0);
    w.Emit(Pipe::kStore, Move({kChip, 0, 0, 64 * row}, {kFirstBase + 1, 0, 0, 100 * row}, 64));
  }
  return SeedOf(RollLoops(w, {}));
}

std::vector<uint8_t> Text(std::string_view text) {
  return {text.begin(), text.end()};
}

/// Compiled machines: one that is accepted, and one without memories.
void WriteTables(const std::filesystem::path& to) {
  takt::Diagnostics diagnostics;
  takt::npu::Machine m = takt::npu::ParseMachine(*takt::npu::PresetJson("davinci-tiny"), "", {}, diagnostics)->table;
  const std::span bytes(reinterpret_cast<const uint8_t*>(&m), sizeof(m));
  Write(to / "table", bytes);
  m.memory_count = 0;
  Write(to / "table_refused", bytes);
}

/// One override of a preset each: machines that are refused, each by another rule, and kinds that no preset has.
constexpr const char* kOverrides[] = {"clock_hz=0",
                                      "tick_shift=17",
                                      "issue_cycles=16777216",
                                      "set_cycles=16777216",
                                      "queue_depth=33",
                                      "memories.ddr.bytes_per_cycle=0",
                                      "memories.ddr.bytes_per_cycle=0.5",
                                      "memories.ddr.burst_bytes=0",
                                      "memories.ddr.read_latency=16777216",
                                      "memories.absent.read_latency=1",
                                      "buffers.feature=1",
                                      "buffers.weight=64",
                                      "buffers.feature_a=1",
                                      "buffers.feature.granule=3",
                                      "buffers.feature.banks=3",
                                      "array.width=0",
                                      "array.width=wide",
                                      "array.kind=unheard",
                                      "array.kind=1",
                                      "array.link_latency=16777216",
                                      "array.weights_per_cycle=1048576",
                                      "array.int16x8.depth=0",
                                      "vector.int16x8.add=1/1048576",
                                      "array.kind=systolic_ws",
                                      "array.kind=systolic_os",
                                      "array.kind=systolic_is",
                                      "array.kind=ublock",
                                      "array.split=rows",
                                      "feature_pipe=mac",
                                      "routes.load=0",
                                      "vector.add=1/1048576",
                                      "host.cycles_per_step=16777216",
                                      "tiles=rows",
                                      "memories=none",
                                      "name="};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "make_corpus DIR\n"), 2;
  const std::filesystem::path to = argv[1];
  Write(to / "plan/small_net.takt", takt::test::SmallNet().Pack().view());
  Write(to / "plan/one_of_everything.takt", takt::test::OneOfEverything().Pack().view());
  Write(to / "plan/copy_chain.takt", takt::test::CopyChain(3).Pack().view());
  Write(to / "tflite/classifier.tflite", Classifier());
  Write(to / "onnx/net.onnx", OnnxNet());
  for (const auto& seed : takt::test::OnnxSeeds()) Write(to / "onnx" / seed.name, seed.bytes);
  Write(to / "tflite/convolutions.tflite", takt::test::SmallModel());
  WriteStreams(to, takt::test::SmallModel(), "convolutions", takt::Numerics::kFp32Rne);
  Write(to / "npu_stream/loop", LoopStream());
  Write(to / "npu_stream/rolled", RolledStream());
  WriteStreams(to, PooledSum(false), "pooled_sum", takt::Numerics::kFp32Rne);
  WriteStreams(to, PooledSum(false), "pooled_sum_tflite", takt::Numerics::kTflite);
  WriteStreams(to, PooledSum(true), "pooled_sum_int16", takt::Numerics::kFp32Rne);
  WriteStreams(to, PooledSum(true), "pooled_sum_int16_tflite", takt::Numerics::kTflite);
  WriteTables(to / "machine");
  for (const char* each : kOverrides) {
    std::string name = each;
    std::replace(name.begin(), name.end(), '/', '_');
    Write(to / "machine" / name, Text(std::string("--set ") + each + "\ndavinci-tiny"));
  }
  using std::string_view_literals::operator""sv;
  Write(to / "data/array.npy",
        Text("\x93NUMPY\x01\x00\x46\x00"
             "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }         \n12345678"sv));
  Write(to / "data/baseline.json",
        Text(R"({"model": "m", "target": "t", "plan_bytes": 1, "arena_bytes": {"a": 2}, "cycles": 3,
"instructions": {"count": 1, "build": "b"}, "wall_ns": {"host": "h", "samples": [1]}, "reasons": ["r"],
"steps": [{"name": "s", "kernel": "k", "cycles": 3, "tile": "x", "at": "a+0", "bytes": {"sram": 1}}]})"));
  Write(to / "data/step_costs.json", Text(R"({"target": "host", "measured_on": "m", "clock_hz": 1, "kernels":
{"k": {"ticks_per_step": 2, "ticks_per_million": 3, "calibrated_steps": 4, "tightness": 0.5}}})"));
  return 0;
}
