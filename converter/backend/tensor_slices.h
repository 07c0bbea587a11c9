// Parts of tensors without a copy at run time: views, and constants of their own.
#ifndef TAKT_CONVERTER_BACKEND_TENSOR_SLICES_H_
#define TAKT_CONVERTER_BACKEND_TENSOR_SLICES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "converter/ir/graph.h"

namespace takt::backend {

/// Indices [begin, end) of an axis.
struct Range {
  size_t axis;
  int32_t begin, end;
};

class TensorSlices {
 public:
  explicit TensorSlices(ir::Graph& graph) : graph_(graph) {}

  /// Replaces a tensor by its range: a constant of its own, made once for all that ask for it, or else a view, which is
  /// strided if the range is not dense. False if the tensor has no such range, or elements of less than a byte.
  bool Cut(const Range& range, ir::TensorId& id);
  /// A view of which axis d is axis `axes[d]` of the tensor, which is no constant.
  ir::TensorId Permuted(ir::TensorId id, const std::vector<size_t>& axes);

 private:
  ir::TensorId Constant(const Range& range, ir::TensorId id);
  ir::TensorId View(ir::TensorId id, int64_t offset, std::vector<int32_t> dims, std::vector<int64_t> strides);

  ir::Graph& graph_;
  std::map<std::tuple<ir::TensorId, size_t, int32_t, int32_t>, ir::TensorId> constants_;
};

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_TENSOR_SLICES_H_
