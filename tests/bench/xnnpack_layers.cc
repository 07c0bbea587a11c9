#include "tests/bench/xnnpack_layers.h"

#include <algorithm>
#include <stdexcept>

#include "converter/ops/quantized_params.h"
#include "tests/support/operator_graph.h"

namespace takt::bench {
namespace {

const ir::Quantization& Quantized(const ir::Graph& graph, ir::TensorId id) {
  return graph.tensor(id).quantization.value();
}

uint32_t Attribute(const ir::Node& node, const char* name, size_t i, uint32_t fallback) {
  return node.attributes.count(name) != 0 ? static_cast<uint32_t>(node.Ints(name)[i]) : fallback;
}

int8_t ZeroPoint(const ir::Quantization& q) {
  return static_cast<int8_t>(q.zero_points[0]);
}

void Require(xnn_status status, const std::string& what) {
  if (status != xnn_status_success) throw std::runtime_error("XNNPACK refuses " + what);
}

}  // namespace

XnnpackLayer::XnnpackLayer(const ir::Graph& graph) {
  const auto bytes = [&](ir::TensorId id) { return static_cast<size_t>(graph.tensor(id).byte_size()); };
  const ir::Node& node = graph.nodes.at(0);
  input_.resize(bytes(node.inputs[0]) + XNN_EXTRA_BYTES);
  output_.resize(bytes(node.outputs[0]));
  if (node.op == Op::kAdd) {
    other_.resize(bytes(node.inputs[1]) + XNN_EXTRA_BYTES);
    MakeAdd(graph);
  } else {
    MakeConvolution(graph);
  }
}

void XnnpackLayer::SetInput(const test::Bytes& input) {
  std::copy(input.begin(), input.end(), input_.begin());
}

void XnnpackLayer::Run() {
  Require(xnn_run_operator(op_.get(), nullptr), "to run");
}

/// Depthwise and fully connected layers are its convolutions too: only those have a scale for each channel.
void XnnpackLayer::MakeConvolution(const ir::Graph& graph) {
  const ir::Node& node = graph.nodes[0];
  const ir::Tensor& x = graph.tensor(node.inputs[0]);
  const ir::Tensor& w = graph.tensor(node.inputs[1]);
  const ir::Tensor& y = graph.tensor(node.outputs[0]);
  const bool spatial = w.dims.size() == 4, depthwise = node.op == Op::kDepthwiseConv2d;
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
  Require(xnn_create_convolution2d_nhwc_qc8(
              Attribute(node, "pads", 0, 0), Attribute(node, "pads", 3, 0), Attribute(node, "pads", 2, 0),
              Attribute(node, "pads", 1, 0), kernel[0], kernel[1], Attribute(node, "strides", 0, 1),
              Attribute(node, "strides", 1, 1), Attribute(node, "dilations", 0, 1), Attribute(node, "dilations", 1, 1),
              groups, depth / groups, channels / groups, depth, channels, ZeroPoint(in), in.scales[0], scales.data(),
              reinterpret_cast<const int8_t*>(w.data->data()),
              reinterpret_cast<const int32_t*>(graph.tensor(node.inputs[2]).data->data()), ZeroPoint(out),
              out.scales[0], static_cast<int8_t>(clamp.min()), static_cast<int8_t>(clamp.max()),
              depthwise ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0, &op),
          y.name);
  op_.reset(op);
  const size_t height = spatial ? static_cast<size_t>(x.dims[1]) : 1;
  const size_t width = spatial ? static_cast<size_t>(x.dims[2]) : 1;
  const size_t batch = static_cast<size_t>(x.element_count()) / (height * width * depth);
  Require(xnn_setup_convolution2d_nhwc_qc8(op, batch, height, width, input_.data(), output_.data(), nullptr), y.name);
}

void XnnpackLayer::MakeAdd(const ir::Graph& graph) {
  const ir::Node& node = graph.nodes[0];
  const ir::Tensor& y = graph.tensor(node.outputs[0]);
  const ir::Quantization &a = Quantized(graph, node.inputs[0]), &b = Quantized(graph, node.inputs[1]),
                         &out = Quantized(graph, node.outputs[0]);
  const schema::Clamp clamp = ir::StoredClamp(node.StringOr("activation", "none"), y);
  xnn_operator_t op = nullptr;
  Require(xnn_create_add_nd_qs8(ZeroPoint(a), a.scales[0], ZeroPoint(b), b.scales[0], ZeroPoint(out), out.scales[0],
                                static_cast<int8_t>(clamp.min()), static_cast<int8_t>(clamp.max()), 0, &op),
          y.name);
  op_.reset(op);
  const std::vector<size_t> dims(y.dims.begin(), y.dims.end());
  Require(xnn_setup_add_nd_qs8(op, dims.size(), dims.data(), dims.size(), dims.data(), input_.data(), other_.data(),
                               output_.data(), nullptr),
          y.name);
}

bool IsContraction(const ir::Graph& graph, const ir::Node& node) {
  return (node.op == Op::kConv2d || node.op == Op::kDepthwiseConv2d || node.op == Op::kFullyConnected) &&
         graph.tensor(node.inputs[0]).type == DataType::kInt8 && graph.tensor(node.inputs[1]).is_constant();
}

bool IsXnnpackLayer(const ir::Graph& graph, const ir::Node& node) {
  const auto is = [&](size_t i, ir::TensorId id) {
    return graph.tensor(node.inputs[i]).type == DataType::kInt8 &&
           graph.tensor(node.inputs[i]).dims == graph.tensor(id).dims;
  };
  const bool is_add = node.op == Op::kAdd && is(0, node.outputs[0]) && is(1, node.outputs[0]);
  return is_add || IsContraction(graph, node);
}

std::vector<ir::Graph> Operators(const BenchModel& model) {
  ir::Graph source;
  ConvertOptions options;
  options.on_stage = [&](const std::string& stage, const ir::Graph& graph) {
    if (stage == "import") source = graph;
  };
  (void)ConvertTflite(model.file, model.name, options);
  return test::SplitByOperator(source);
}

}  // namespace takt::bench
