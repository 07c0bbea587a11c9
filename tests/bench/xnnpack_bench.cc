// Convolutions and fully connected layers of real int8 models beside XNNPACK's, in turns, one thread.
#include <benchmark/benchmark.h>
#include <xnnpack.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>

#include "converter/ops/quantized_params.h"
#include "tests/bench/bench_models.h"
#include "tests/support/operator_graph.h"
#include "tests/support/plan_runner.h"

namespace takt::bench {
namespace {

using test::Bytes;

/// The layer as XNNPACK's per-channel convolution, with the same operands.
class Peer {
 public:
  Peer(const ir::Graph& graph, const Bytes& input);
  void Run() {
    if (xnn_run_operator(op_.get(), nullptr) != xnn_status_success) throw std::runtime_error("XNNPACK failed");
  }
  Bytes output() const { return {output_.begin(), output_.end()}; }
  uint64_t macs() const { return macs_; }

 private:
  struct Delete {
    void operator()(xnn_operator_t op) const { xnn_delete_operator(op); }
  };
  std::vector<int8_t> input_;  ///< With the slack that XNNPACK may over-read.
  std::vector<int8_t> output_;
  uint64_t macs_ = 0;
  std::unique_ptr<xnn_operator, Delete> op_;
};

const ir::Quantization& Quantized(const ir::Graph& graph, ir::TensorId id) {
  return graph.tensor(id).quantization.value();
}

uint32_t Attribute(const ir::Node& node, const char* name, size_t i, uint32_t fallback) {
  return node.attributes.count(name) != 0 ? static_cast<uint32_t>(node.Ints(name)[i]) : fallback;
}

Peer::Peer(const ir::Graph& graph, const Bytes& input) : input_(input.begin(), input.end()) {
  const ir::Node& node = graph.nodes.at(0);
  const ir::Tensor& x = graph.tensor(node.inputs[0]);
  const ir::Tensor& w = graph.tensor(node.inputs[1]);
  const ir::Tensor& y = graph.tensor(node.outputs[0]);
  const bool spatial = w.dims.size() == 4;
  const bool depthwise = node.op == Op::kDepthwiseConv2d;
  const auto channels = static_cast<size_t>(y.dims.back());
  const auto depth = static_cast<size_t>(spatial ? x.dims.back() : w.dims.back());
  const auto groups = static_cast<uint32_t>(depthwise ? depth : 1);
  const uint32_t kernel[] = {spatial ? static_cast<uint32_t>(w.dims[1]) : 1,
                             spatial ? static_cast<uint32_t>(w.dims[2]) : 1};
  macs_ = static_cast<uint64_t>(y.element_count()) * kernel[0] * kernel[1] * (depth / groups);
  std::vector<float> scales = Quantized(graph, node.inputs[1]).scales;
  if (scales.size() == 1) scales.resize(channels, scales[0]);
  const ir::Quantization& in = Quantized(graph, node.inputs[0]);
  const ir::Quantization& out = Quantized(graph, node.outputs[0]);
  const schema::Clamp clamp = ir::StoredClamp(node.StringOr("activation", "none"), y);
  xnn_operator_t op = nullptr;
  const xnn_status created = xnn_create_convolution2d_nhwc_qc8(
      Attribute(node, "pads", 0, 0), Attribute(node, "pads", 3, 0), Attribute(node, "pads", 2, 0),
      Attribute(node, "pads", 1, 0), kernel[0], kernel[1], Attribute(node, "strides", 0, 1),
      Attribute(node, "strides", 1, 1), Attribute(node, "dilations", 0, 1), Attribute(node, "dilations", 1, 1), groups,
      depth / groups, channels / groups, depth, channels, static_cast<int8_t>(in.zero_points[0]), in.scales[0],
      scales.data(), reinterpret_cast<const int8_t*>(w.data->data()),
      reinterpret_cast<const int32_t*>(graph.tensor(node.inputs[2]).data->data()),
      static_cast<int8_t>(out.zero_points[0]), out.scales[0], static_cast<int8_t>(clamp.min()),
      static_cast<int8_t>(clamp.max()), depthwise ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0, &op);
  if (created != xnn_status_success) throw std::runtime_error("XNNPACK refuses " + y.name);
  op_.reset(op);
  input_.resize(input.size() + XNN_EXTRA_BYTES);
  output_.resize(static_cast<size_t>(y.byte_size()));
  const size_t height = spatial ? static_cast<size_t>(x.dims[1]) : 1;
  const size_t width = spatial ? static_cast<size_t>(x.dims[2]) : 1;
  const size_t batch = input.size() / (height * width * depth);
  if (xnn_setup_convolution2d_nhwc_qc8(op, batch, height, width, input_.data(), output_.data(), nullptr) !=
      xnn_status_success) {
    throw std::runtime_error("XNNPACK can't set up " + y.name);
  }
}

struct Layer {
  Layer(const ir::Graph& graph, const Bytes& bytes)
      : input(bytes), ours(ConvertGraph(graph, {}, {}).plan), peer(graph, bytes) {}
  Bytes input;
  test::PlanRunner ours;
  Peer peer;
};

bool IsInt8Contraction(const ir::Graph& graph, const ir::Node& node) {
  return (node.op == Op::kConv2d || node.op == Op::kDepthwiseConv2d || node.op == Op::kFullyConnected) &&
         graph.tensor(node.inputs[0]).type == DataType::kInt8;
}

std::vector<std::unique_ptr<Layer>> Layers(const BenchModel& model) {
  ir::Graph source;
  ConvertOptions options;
  options.on_stage = [&](const std::string& stage, const ir::Graph& graph) {
    if (stage == "import") source = graph;
  };
  (void)ConvertTflite(model.file, model.name, options);
  std::vector<std::unique_ptr<Layer>> layers;
  uint32_t random = 1;
  for (const ir::Graph& op : test::SplitByOperator(source)) {
    if (op.nodes.size() != 1 || op.inputs.size() != 1 || !IsInt8Contraction(op, op.nodes[0])) continue;
    Bytes input(static_cast<size_t>(op.tensor(op.inputs[0]).byte_size()));
    for (uint8_t& byte : input) byte = static_cast<uint8_t>((random = random * 1664525 + 1013904223) >> 24);
    layers.push_back(std::make_unique<Layer>(op, input));
  }
  return layers;
}

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Time: ours. Counters: the best turn of ours / that of XNNPACK, and both in GMAC/s.
void BesideXnnpack(benchmark::State& state, const BenchModel& model) {
  if (xnn_initialize(nullptr) != xnn_status_success) return state.SkipWithError("XNNPACK does not run on this CPU");
  const auto layers = Layers(model);
  uint64_t macs = 0;
  for (const auto& layer : layers) {
    macs += layer->peer.macs();
    layer->peer.Run();
    if (layer->ours.Run({layer->input})[0] != layer->peer.output())
      return state.SkipWithError("bytes differ from XNNPACK's");
  }
  double ours = INFINITY, theirs = INFINITY;
  for (auto _ : state) {
    const auto begin = std::chrono::steady_clock::now();
    for (const auto& layer : layers) benchmark::DoNotOptimize(layer->ours.net().Invoke());
    const auto middle = std::chrono::steady_clock::now();
    for (const auto& layer : layers) layer->peer.Run();
    const auto end = std::chrono::steady_clock::now();
    state.SetIterationTime(Seconds(middle - begin));
    ours = std::min(ours, Seconds(middle - begin));
    theirs = std::min(theirs, Seconds(end - middle));
  }
  state.counters["times_xnnpack"] = ours / theirs;
  state.counters["gmac_s"] = 1e-9 * static_cast<double>(macs) / ours;
  state.counters["xnnpack_gmac_s"] = 1e-9 * static_cast<double>(macs) / theirs;
}

const bool kRegistered = [] {
  for (const BenchModel& model : BenchModels()) {
    const ir::Graph& graph = model.converted.graph;
    const auto is_int8 = [&](const ir::Node& node) { return IsInt8Contraction(graph, node); };
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_int8)) continue;
    benchmark::RegisterBenchmark(("BesideXnnpack/" + model.name).c_str(),
                                 [&](benchmark::State& state) { BesideXnnpack(state, model); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
  return true;
}();

}  // namespace
}  // namespace takt::bench
