// A step as the NPU sees it: geometry, arithmetic, operands; or the reason why the NPU cannot run it.
#ifndef TAKT_CONVERTER_NPU_LAYER_H_
#define TAKT_CONVERTER_NPU_LAYER_H_

#include <optional>
#include <string>
#include <vector>

#include "converter/backend/step_builder.h"
#include "ports/npu_emu/model/access.h"
#include "ports/npu_emu/model/machine.h"
#include "schema/plan_generated.h"

namespace takt::npu {

enum class LayerKind { kConvolution, kDepthwise, kPool, kAdd, kMove };

/// Elements between the rows, the pixels and the channels of an image; those that are only read may have channels
/// apart.
struct Pitch {
  uint32_t row = 0, pixel = 0, channel = 1;
};

/// A loop over the elements of a move: bytes from one to the next in x and in y. Of its `size` in y x has `inner`,
/// behind `before` of padding.
struct MoveAxis {
  uint32_t size = 1, x = 0, y = 0, before = 0, inner = 1;

  bool padded() const { return inner != size; }
};

/// One image, NHWC; fully connected is a 1x1 convolution over a row of pixels, one a row of x; a move has nested loops.
struct Layer {
  LayerKind kind = LayerKind::kConvolution;
  uint32_t height = 1, width = 1, channels = 1;
  uint32_t out_height = 1, out_width = 1, out_channels = 1;
  uint32_t kernel_h = 1, kernel_w = 1, stride_h = 1, stride_w = 1, dilation_h = 1, dilation_w = 1;
  uint32_t pad_top = 0, pad_left = 0;
  int32_t x_zero_point = 0, w_zero_point = 0, y_zero_point = 0, low = -128, high = 127;
  uint32_t pool_function = 0;
  Type type = Type::kInt8;
  Stage stage = Stage::kFp32Rne;
  ir::TensorId x = ir::kNoTensor, y = ir::kNoTensor;
  ir::TensorId weights = ir::kNoTensor, bias = ir::kNoTensor, table = ir::kNoTensor;
  ir::TensorId skip = ir::kNoTensor;                    ///< Added to the result; the other operand of an addition.
  uint8_t x_memory = 0, y_memory = 0, skip_memory = 0;  ///< Of the machine's, which these lie in.
  uint32_t element_bytes = 1;                           ///< Of a move.
  uint64_t pad_value = 0;                               ///< Of a move: an element's bits.
  std::vector<MoveAxis> axes;                           ///< Of a move: rows (their loops), columns, channels.
  std::optional<schema::AddParams> add;  ///< With `skip`; the result is operand b (kAdd: x is a, skip is b).

  std::optional<Pitch> x_pitch, y_pitch;  ///< Of images that are parts of wider ones.

  Pitch XPitch() const { return x_pitch.value_or(Pitch{width * channels, channels}); }
  Pitch YPitch() const { return y_pitch.value_or(SkipPitch()); }
  Pitch SkipPitch() const { return {out_width * out_channels, out_channels}; }
  uint64_t out_elements() const { return uint64_t{out_height} * out_width * out_channels; }
  uint64_t macs() const;
  /// Of a row of the output.
  int64_t row_bytes() const { return int64_t{out_width} * out_channels * FeatureBytes(type); }
  /// Of bias and requantization of one output channel.
  uint64_t parameter_bytes() const { return BiasBytes(type, stage) + TableEntryBytes(stage); }
};

/// The tensor that `id` is a view of, and at which byte it begins there.
struct Located {
  ir::TensorId root;
  int64_t offset;
};
Located Root(const ir::Graph& graph, ir::TensorId id);

/// What a step must meet to run on the NPU, in the order in which it is asked; CONSTRAINTS.md is made of it.
std::vector<const char*> ConstraintTexts();

/// The layer of a step, or why it stays on the host: the first constraint that it breaks.
std::optional<Layer> MakeLayer(const ir::Graph& graph, const backend::StepSpec& step, const Machine& machine,
                               std::string& reason);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_LAYER_H_
