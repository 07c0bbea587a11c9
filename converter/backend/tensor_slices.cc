#include "converter/backend/tensor_slices.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace takt::backend {
namespace {

using ir::TensorId;

std::vector<int64_t> DenseStrides(DataType type, const std::vector<int32_t>& dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t bytes = static_cast<int64_t>(BitWidth(type)) / 8;
  for (size_t d = dims.size(); d-- > 0; bytes *= dims[d]) strides[d] = bytes;
  return strides;
}

std::vector<int64_t> Strides(const ir::Tensor& t) {
  return t.view && !t.view->strides.empty() ? t.view->strides : DenseStrides(t.type, t.dims);
}

/// Strides of single indices do not matter.
bool IsDense(DataType type, const std::vector<int32_t>& dims, const std::vector<int64_t>& strides) {
  const std::vector<int64_t> dense = DenseStrides(type, dims);
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != 1 && strides[d] != dense[d]) return false;
  return true;
}

}  // namespace

TensorId TensorSlices::View(TensorId id, int64_t offset, std::vector<int32_t> dims, std::vector<int64_t> strides) {
  ir::Tensor view = graph_.tensor(id);
  view.name = absl::StrCat(view.name, "/part");
  view.source = -1;
  view.view = view.view.value_or(ir::View{id, 0, {}});
  view.view->offset_bytes += offset;
  view.view->strides.clear();
  if (!IsDense(view.type, dims, strides)) view.view->strides = std::move(strides);
  view.dims = std::move(dims);
  return graph_.AddTensor(std::move(view));
}

TensorId TensorSlices::Constant(const Range& range, TensorId id) {
  TensorId& made = constants_.try_emplace({id, range.axis, range.begin, range.end}, ir::kNoTensor).first->second;
  if (made != ir::kNoTensor) return made;
  const ir::Tensor whole = graph_.tensor(id);
  const int64_t cell = DenseStrides(whole.type, whole.dims)[range.axis], row = cell * whole.dims[range.axis];
  ir::Bytes bytes;
  for (auto at = whole.data->begin(); at != whole.data->end(); at += row)
    bytes.insert(bytes.end(), at + range.begin * cell, at + range.end * cell);
  std::vector<int32_t> dims = whole.dims;
  dims[range.axis] = range.end - range.begin;
  return made = graph_.AddConstant(absl::StrCat(whole.name, "/part"), whole.type, std::move(dims), std::move(bytes));
}

bool TensorSlices::Cut(const Range& range, TensorId& id) {
  const ir::Tensor& whole = graph_.tensor(id);
  if (whole.dims[range.axis] < range.end || BitWidth(whole.type) % 8 != 0) return false;
  if (range.end - range.begin == whole.dims[range.axis]) return true;
  if (whole.is_constant()) {
    id = Constant(range, id);
    return true;
  }
  std::vector<int32_t> dims = whole.dims;
  dims[range.axis] = range.end - range.begin;
  std::vector<int64_t> strides = Strides(whole);
  const int64_t offset = range.begin * strides[range.axis];
  id = View(id, offset, std::move(dims), std::move(strides));
  return true;
}

TensorId TensorSlices::Permuted(TensorId id, const std::vector<size_t>& axes) {
  const std::vector<int64_t> strides = Strides(graph_.tensor(id));
  std::vector<int32_t> dims;
  std::vector<int64_t> permuted;
  for (const size_t axis : axes) {
    dims.push_back(graph_.tensor(id).dims[axis]);
    permuted.push_back(strides[axis]);
  }
  return View(id, 0, std::move(dims), std::move(permuted));
}

}  // namespace takt::backend
