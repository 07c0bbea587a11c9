// Sliding windows of convolutions and pools: TFLite padding made explicit, output sizes, plan structs.
#ifndef TAKT_CONVERTER_OPS_WINDOW_H_
#define TAKT_CONVERTER_OPS_WINDOW_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/frontend/onnx_node.h"
#include "converter/ir/graph.h"
#include "schema/plan_generated.h"

namespace takt::ir {

/// Pads [top, left, bottom, right] of an NHWC input; SAME keeps ceil(size / stride), the odd cell goes after.
std::vector<int64_t> ExplicitPads(const Tensor& input, bool same, const std::vector<int64_t>& kernel,
                                  const std::vector<int64_t>& strides, const std::vector<int64_t>& dilations);
/// Height and width of the output, or why there are none.
std::string WindowOutput(const Tensor& input, const Node& node, const std::vector<int64_t>& kernel, int32_t& height,
                         int32_t& width);
/// Window attributes of an ONNX node, one value for each of 1 to 3 spatial dimensions.
struct OnnxWindow {
  std::vector<int64_t> kernel, strides, dilations;
  std::vector<int64_t> before, after;  ///< Padding.
  std::vector<int64_t> beyond;         ///< Cells behind it that the last window of ceil_mode reaches.

  size_t rank() const { return kernel.size(); }
  bool dilated() const {
    return std::ranges::any_of(dilations, [](int64_t d) { return d != 1; });
  }
  /// Pads [before.., after..] with the cells beyond.
  std::vector<int64_t> pads() const;
  /// Dimensions [first, first + 2) as height and width; the only one as width.
  OnnxWindow Plane(size_t first = 0) const;
};
/// Reads strides, dilations, pads, auto_pad and ceil_mode of a node with input 0 [N, C, ..].
std::optional<OnnxWindow> ReadOnnxWindow(frontend::OnnxNode& node, std::vector<int64_t> kernel);
schema::Window2d PlanWindow(const Node& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_WINDOW_H_
