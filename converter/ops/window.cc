#include "converter/ops/window.h"

#include <algorithm>

namespace takt::ir {
namespace {

std::vector<int64_t> Dilations(const Node& node) {
  return node.attributes.count("dilations") ? node.Ints("dilations") : std::vector<int64_t>{1, 1};
}

}  // namespace

std::string DimsText(const std::vector<int32_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

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
    if (pads[i] < 0 || pads[i] > 65535 || pads[i + 2] < 0 || pads[i + 2] > 65535) return "pads must be within 0 and 65535";
    const int64_t room = input.dims[i + 1] + pads[i] + pads[i + 2] - ((kernel[i] - 1) * dilations[i] + 1);
    if (room < 0) return "the window is larger than the padded input " + DimsText(input.dims);
    out[i] = room / strides[i] + 1;
  }
  height = static_cast<int32_t>(out[0]);
  width = static_cast<int32_t>(out[1]);
  return "";
}

schema::Window2d PlanWindow(const Node& node) {
  const auto u16 = [](int64_t v) { return static_cast<uint16_t>(v); };
  const auto& s = node.Ints("strides");
  const auto& p = node.Ints("pads");
  const std::vector<int64_t> d = Dilations(node);
  return {u16(s[0]), u16(s[1]), u16(d[0]), u16(d[1]), u16(p[0]), u16(p[1]), u16(p[2]), u16(p[3])};
}

}  // namespace takt::ir
