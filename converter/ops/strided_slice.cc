#include "converter/ops/strided_slice.h"

#include <algorithm>

namespace takt::ir {
namespace {

bool Has(int32_t mask, size_t dimension) {
  return (mask >> dimension & 1) != 0;
}

/// An index as the format means it: from the end if negative, cut to [0, dim].
int64_t Resolved(int64_t index, int64_t dim) {
  return std::clamp<int64_t>(index < 0 ? index + dim : index, 0, dim);
}

}  // namespace

void ImportStridedSlice(frontend::TfliteNode& node) {
  if (!node.CheckArity(4, 4, 1)) return;
  const auto begins = node.ConstantInts(1);
  const auto ends = node.ConstantInts(2);
  const auto strides = node.ConstantInts(3);
  const auto* options = node.options<tflite::StridedSliceOptions>();
  if (!begins || !ends || !strides) return;
  if (options == nullptr) return node.Error("has no StridedSliceOptions; the file is damaged");
  if (options->ellipsis_mask() != 0 || options->new_axis_mask() != 0 || options->offset()) {
    return node.Error("has an ellipsis, a new axis or offsets; export the model with plain slices");
  }
  Tensor part = node.tensor(node.input(0));
  const size_t rank = part.dims.size();
  if (begins->size() != rank || ends->size() != rank || strides->size() != rank) {
    return node.Error("begin, end and strides have one value for each dimension of the input");
  }
  std::vector<int64_t> begin(rank);
  for (size_t i = 0; i < rank; ++i) {
    const int64_t dim = part.dims[i];
    const int64_t stride = (*strides)[i];
    if (stride < 1) return node.Error("has stride " + std::to_string(stride) + "; strides are positive");
    begin[i] = Has(options->begin_mask(), i) ? 0 : Resolved((*begins)[i], dim);
    int64_t end = Has(options->end_mask(), i) ? dim : Resolved((*ends)[i], dim);
    if (Has(options->shrink_axis_mask(), i)) end = begin[i] + 1;
    if (end <= begin[i] || end > dim)
      return node.Error("is empty in dimension " + std::to_string(i) + "; a slice has elements");
    part.dims[i] = static_cast<int32_t>((end - begin[i] + stride - 1) / stride);
  }
  if (options->shrink_axis_mask() == 0) {
    node.Add(Op::kSlice, {node.input(0)}, {{"begin", begin}, {"strides", *strides}});
    return;
  }
  const TensorId sliced = node.NewTensor(part, "/slice");
  node.AddTo(Op::kSlice, {node.input(0)}, {sliced}, {{"begin", begin}, {"strides", *strides}});
  node.Add(Op::kReshape, {sliced});
}

}  // namespace takt::ir
