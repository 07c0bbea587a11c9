#include "converter/ops/window.h"

#include <algorithm>

namespace takt::ir {
namespace {

std::vector<int64_t> Dilations(const Node& node) {
  return node.attributes.count("dilations") ? node.Ints("dilations") : std::vector<int64_t>{1, 1};
}

}  // namespace

std::vector<int64_t> ExplicitPads(const Tensor& input, bool same, const std::vector<int64_t>& kernel,
                                  const std::vector<int64_t>& strides, const std::vector<int64_t>& dilations) {
  std::vector<int64_t> pads(4, 0);
  if (!same || input.dims.size() != 4) return pads;
  for (size_t i = 0; i < 2; ++i) {
    if (strides[i] < 1) continue;
    const int64_t size = input.dims[i + 1];
    const int64_t out = (size + strides[i] - 1) / strides[i];
    const int64_t span = (kernel[i] - 1) * dilations[i] + 1;
    const int64_t total = std::max<int64_t>(0, (out - 1) * strides[i] + span - size);
    pads[i] = total / 2;
    pads[i + 2] = total - total / 2;
  }
  return pads;
}

std::string WindowOutput(const Tensor& input, const Node& node, const std::vector<int64_t>& kernel, int32_t& height,
                         int32_t& width) {
  if (input.dims.size() != 4) return "input " + DimsText(input.dims) + " is not of rank 4 (NHWC)";
  const auto& strides = node.Ints("strides");
  const auto& pads = node.Ints("pads");
  const std::vector<int64_t> dilations = Dilations(node);
  if (strides.size() != 2 || pads.size() != 4 || dilations.size() != 2 || kernel.size() != 2) {
    return "strides, dilations and kernel have 2 values, pads 4";
  }
  int64_t out[2];
  for (size_t i = 0; i < 2; ++i) {
    if (strides[i] < 1 || strides[i] > 65535 || dilations[i] < 1 || dilations[i] > 65535 || kernel[i] < 1) {
      return "strides, dilations and kernel must be within 1 and 65535";
    }
    if (pads[i] < 0 || pads[i] > 65535 || pads[i + 2] < 0 || pads[i + 2] > 65535)
      return "pads must be within 0 and 65535";
    const int64_t room = input.dims[i + 1] + pads[i] + pads[i + 2] - ((kernel[i] - 1) * dilations[i] + 1);
    if (room < 0) return "the window is larger than the padded input " + DimsText(input.dims);
    out[i] = room / strides[i] + 1;
  }
  height = static_cast<int32_t>(out[0]);
  width = static_cast<int32_t>(out[1]);
  return "";
}

namespace {

/// `pads` for auto_pad, or those of the node, [top, left, bottom, right]; nothing after an error.
std::optional<std::vector<int64_t>> OnnxPads(frontend::OnnxNode& node, const std::vector<int64_t>& size,
                                             const OnnxWindow& window) {
  const size_t rank = size.size();
  const std::string mode = node.String("auto_pad", "NOTSET");
  if (mode == "NOTSET") {
    std::vector<int64_t> pads = node.Ints("pads", std::vector<int64_t>(2 * rank, 0));
    if (pads.size() == 2 * rank) return pads;
    node.Error("pads must have two values for each spatial dimension");
    return std::nullopt;
  }
  std::vector<int64_t> pads(2 * rank, 0);
  if (mode == "VALID") return pads;
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    node.Error("auto_pad " + mode + " is not NOTSET, VALID, SAME_UPPER or SAME_LOWER");
    return std::nullopt;
  }
  for (size_t i = 0; i < rank; ++i) {
    const int64_t out = (size[i] + window.strides[i] - 1) / window.strides[i];
    const int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t total = std::max<int64_t>(0, (out - 1) * window.strides[i] + span - size[i]);
    const int64_t larger = total - total / 2;
    pads[i] = mode == "SAME_LOWER" ? larger : total / 2;
    pads[i + rank] = total - pads[i];
  }
  return pads;
}

/// Padding after the end that gives the outputs of ceil_mode: as many as start inside the input or the padding before
/// it.
void PadForCeil(const std::vector<int64_t>& size, OnnxWindow& window) {
  const size_t rank = size.size();
  for (size_t i = 0; i < rank; ++i) {
    const int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t room = size[i] + window.pads[i] + window.pads[i + rank] - span;
    if (room < 0) continue;
    int64_t out = (room + window.strides[i] - 1) / window.strides[i] + 1;
    if ((out - 1) * window.strides[i] >= size[i] + window.pads[i]) --out;
    window.pads[i + rank] += std::max<int64_t>(0, (out - 1) * window.strides[i] - room);
  }
}

}  // namespace

std::optional<OnnxWindow> ReadOnnxWindow(frontend::OnnxNode& node, std::vector<int64_t> kernel) {
  const std::vector<int32_t>& dims = node.dims(node.input(0));
  const size_t rank = kernel.size();
  if (dims.size() != rank + 2 || rank < 1 || rank > 2) {
    node.Error("takes one or two spatial dimensions; the input is " + DimsText(dims) + ", the kernel has " +
               std::to_string(rank));
    return std::nullopt;
  }
  const std::vector<int64_t> ones(rank, 1);
  OnnxWindow window{std::move(kernel), node.Ints("strides", ones), node.Ints("dilations", ones), {}};
  const auto in_range = [](int64_t v) { return v >= 1 && v <= 65535; };
  for (const auto* values : {&window.kernel, &window.strides, &window.dilations}) {
    if (values->size() == rank && std::all_of(values->begin(), values->end(), in_range)) continue;
    node.Error("kernel, strides and dilations must have " + std::to_string(rank) + " values within 1 and 65535");
    return std::nullopt;
  }
  const std::vector<int64_t> size(dims.begin() + 2, dims.end());
  auto pads = OnnxPads(node, size, window);
  if (!pads) return std::nullopt;
  window.pads = std::move(*pads);
  if (node.Int("ceil_mode", 0) != 0) PadForCeil(size, window);
  if (rank == 1) {
    for (auto* values : {&window.kernel, &window.strides, &window.dilations}) values->insert(values->begin(), 1);
    window.pads = {0, window.pads[0], 0, window.pads[1]};
  }
  return window;
}

schema::Window2d PlanWindow(const Node& node) {
  const auto u16 = [](int64_t v) { return static_cast<uint16_t>(v); };
  const auto& s = node.Ints("strides");
  const auto& p = node.Ints("pads");
  const std::vector<int64_t> d = Dilations(node);
  return {u16(s[0]), u16(s[1]), u16(d[0]), u16(d[1]), u16(p[0]), u16(p[1]), u16(p[2]), u16(p[3])};
}

}  // namespace takt::ir
