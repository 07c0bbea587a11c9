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

/// Padding of the node, or for auto_pad; false after an error.
bool ReadOnnxPads(frontend::OnnxNode& node, const std::vector<int64_t>& size, OnnxWindow& window) {
  const size_t rank = size.size();
  const std::string mode = node.String("auto_pad", "NOTSET");
  window.before.assign(rank, 0);
  window.after.assign(rank, 0);
  if (mode == "NOTSET") {
    const std::vector<int64_t> pads = node.Ints("pads", std::vector<int64_t>(2 * rank, 0));
    if (pads.size() != 2 * rank) return node.Error("pads must have two values for each spatial dimension"), false;
    window.before.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(rank));
    window.after.assign(pads.begin() + static_cast<ptrdiff_t>(rank), pads.end());
    return true;
  }
  if (mode == "VALID") return true;
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER")
    return node.Error("auto_pad " + mode + " is not NOTSET, VALID, SAME_UPPER or SAME_LOWER"), false;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t out = (size[i] + window.strides[i] - 1) / window.strides[i];
    const int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t total = std::max<int64_t>(0, (out - 1) * window.strides[i] + span - size[i]);
    window.before[i] = mode == "SAME_LOWER" ? total - total / 2 : total / 2;
    window.after[i] = total - window.before[i];
  }
  return true;
}

/// The outputs of ceil_mode are those that start inside the input or the padding before it.
void ReachBeyond(const std::vector<int64_t>& size, OnnxWindow& window) {
  for (size_t i = 0; i < size.size(); ++i) {
    const int64_t span = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t room = size[i] + window.before[i] + window.after[i] - span;
    if (room < 0) continue;
    int64_t out = (room + window.strides[i] - 1) / window.strides[i] + 1;
    if ((out - 1) * window.strides[i] >= size[i] + window.before[i]) --out;
    window.beyond[i] = std::max<int64_t>(0, (out - 1) * window.strides[i] - room);
  }
}

}  // namespace

std::vector<int64_t> OnnxWindow::pads() const {
  std::vector<int64_t> pads = before;
  for (size_t i = 0; i < rank(); ++i) pads.push_back(after[i] + beyond[i]);
  return pads;
}

OnnxWindow OnnxWindow::Plane(size_t first) const {
  OnnxWindow plane = *this;
  const auto cut = [&](std::vector<int64_t>& values, int64_t only) {
    const bool line = first + 1 == values.size();
    values = line ? std::vector{only, values[first]} : std::vector{values[first], values[first + 1]};
  };
  for (auto* values : {&plane.kernel, &plane.strides, &plane.dilations}) cut(*values, 1);
  for (auto* values : {&plane.before, &plane.after, &plane.beyond}) cut(*values, 0);
  return plane;
}

std::optional<OnnxWindow> ReadOnnxWindow(frontend::OnnxNode& node, std::vector<int64_t> kernel) {
  const std::vector<int32_t>& dims = node.dims(node.input(0));
  const size_t rank = kernel.size();
  if (dims.size() != rank + 2 || rank < 1 || rank > 3) {
    node.Error("takes one to three spatial dimensions; the input is " + DimsText(dims) + ", the kernel has " +
               std::to_string(rank));
    return std::nullopt;
  }
  const std::vector<int64_t> ones(rank, 1);
  OnnxWindow window{std::move(kernel), node.Ints("strides", ones), node.Ints("dilations", ones), {}, {}, {}};
  const auto in_range = [](int64_t v) { return v >= 1 && v <= 65535; };
  for (const auto* values : {&window.kernel, &window.strides, &window.dilations}) {
    if (values->size() == rank && std::all_of(values->begin(), values->end(), in_range)) continue;
    node.Error("kernel, strides and dilations must have " + std::to_string(rank) + " values within 1 and 65535");
    return std::nullopt;
  }
  const std::vector<int64_t> size(dims.begin() + 2, dims.end());
  if (!ReadOnnxPads(node, size, window)) return std::nullopt;
  window.beyond.assign(rank, 0);
  if (node.Int("ceil_mode", 0) != 0) ReachBeyond(size, window);
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
