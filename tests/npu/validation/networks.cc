#include "tests/npu/validation/networks.h"

#include <stdexcept>

#include "converter/npu/emitter.h"
#include "converter/npu/machine_json.h"
#include "ports/npu_emu/model/timing.h"

namespace takt::npu::validation {
namespace {

class Builder {
 public:
  /// Square kernel and stride, padding k / 2.
  void Convolution(uint32_t channels, uint32_t out_channels, uint32_t k, uint32_t stride) {
    Layer& l = Window(channels, out_channels, k, stride);
    const auto constant = [&](DataType type, uint64_t bytes) {
      return made.graph.AddConstant("", type, {static_cast<int32_t>(bytes)}, ir::Bytes(bytes));
    };
    l.weights = constant(DataType::kInt8, uint64_t{k} * k * channels * out_channels);
    l.bias = constant(DataType::kInt8, uint64_t{4} * out_channels);
    l.table = constant(DataType::kInt8, uint64_t{4} * out_channels);
  }
  void Pool(uint32_t channels, uint32_t k, uint32_t stride) {
    Window(channels, channels, k, stride).kind = LayerKind::kPool;
  }
  void Add(uint32_t channels) {
    Layer l;
    l.kind = LayerKind::kAdd;
    l.width = l.out_width = size * size * channels;
    l.add.emplace();
    l.skip = 0;
    made.layers.push_back(l);
  }

  uint32_t size = 224;  ///< Of the image that the next layer reads.
  Network made;

 private:
  Layer& Window(uint32_t channels, uint32_t out_channels, uint32_t k, uint32_t stride) {
    Layer l;
    const uint32_t pad = size == k ? 0 : k / 2;
    l.height = l.width = size;
    size = (size + 2 * pad - k) / stride + 1;
    l.out_height = l.out_width = size;
    l.channels = channels, l.out_channels = out_channels;
    l.kernel_h = l.kernel_w = k, l.stride_h = l.stride_w = stride, l.pad_top = l.pad_left = pad;
    made.layers.push_back(l);
    return made.layers.back();
  }
};

}  // namespace

Network ResNet50(bool average) {
  Builder b;
  b.Convolution(3, 64, 7, 2);
  b.Pool(64, 3, 2);
  uint32_t channels = 64;
  const struct { uint32_t width, blocks, stride; } stages[] = {{64, 3, 1}, {128, 4, 2}, {256, 6, 2}, {512, 3, 2}};
  for (const auto& stage : stages) {
    for (uint32_t i = 0; i < stage.blocks; ++i) {
      const uint32_t stride = i == 0 ? stage.stride : 1, before = b.size;
      if (i == 0) {
        b.Convolution(channels, 4 * stage.width, 1, stride);
        b.size = before;
      }
      b.Convolution(channels, stage.width, 1, 1);
      b.Convolution(stage.width, stage.width, 3, stride);
      b.Convolution(stage.width, 4 * stage.width, 1, 1);
      channels = 4 * stage.width;
      b.Add(channels);
    }
  }
  if (average) {
    b.Pool(channels, 7, 1);
  } else {
    b.size = 1;
  }
  b.Convolution(channels, 1000, 1, 1);
  return std::move(b.made);
}

uint64_t Cycles(const Machine& machine, const Network& network) {
  Emitter emitter(machine);
  for (const Layer& layer : network.layers) {
    Tiling tiling;
    std::string reason;
    if (!ChooseTiling(machine, layer, tiling, reason)) throw std::runtime_error(reason);
    constexpr Image kFeatures{{kFirstBase + 1, 0, 0, 0}};
    emitter.Emit(layer, tiling, {{0, layer.out_height}, {0, TileCount(layer, tiling)}},
                 {kFeatures, kFeatures, kFeatures, kFirstBase}, network.graph);
  }
  emitter.Close({});
  emitter.writer().SetBaseMemory(0, machine.constant_memory);
  emitter.writer().SetBaseMemory(1, machine.feature_memory);
  const std::vector<uint8_t> bytes = emitter.writer().Finish();
  Stream stream;
  Timing timing;
  Status status = OpenStream(std::as_bytes(std::span(bytes)), stream);
  if (status.ok()) status = Evaluate(stream, machine, timing);
  if (!status.ok()) throw std::runtime_error("the stream does not run");
  return timing.Cycles(machine);
}

Machine Preset(const std::string& name, const std::vector<std::string>& overrides) {
  const auto json = PresetJson(name);
  if (!json) throw std::runtime_error("no preset " + name);
  Diagnostics diagnostics;
  const auto made = ParseMachine(*json, name, overrides, diagnostics);
  if (!made) throw std::runtime_error(name + ": " + diagnostics.all()[0].ToString());
  return made->table;
}

}  // namespace takt::npu::validation
