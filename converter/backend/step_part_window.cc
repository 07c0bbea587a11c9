// Parts of steps whose windows slide over an image.
#include <algorithm>

#include "converter/backend/step_part.h"
#include "schema/plan_generated.h"

namespace takt::backend {
namespace {

/// An index of a fixed array in params.
constexpr auto At(size_t i) {
  return static_cast<flatbuffers::uoffset_t>(i);
}

bool IsPool(Op op) {
  return op == Op::kAveragePool2d || op == Op::kMaxPool2d || op == Op::kMaxPoolArgmax2d;
}

}  // namespace

bool PartMaker::CutImage() {
  if (part_.op == Op::kConv2dAdd && !Rows(part_.inputs.size() - 1, range_.axis)) return false;
  if (range_.axis == 0) return Rows(0, 0);
  if (IsLast()) return CutChannels();
  return part_.op == Op::kTransposeConv2d ? CutTransposedWindow() : CutWindow();
}

int32_t PartMaker::Groups() const {
  return IsPool(part_.op) || part_.op == Op::kDepthwiseConv2d ? in(0).back() : in(0).back() / in(1).back();
}

/// Whole groups, or some channels of one group.
bool PartMaker::CutChannels() {
  const int32_t groups = Groups(), unit = out().back() / groups, depth = in(0).back() / groups;
  const int32_t first = range_.begin / unit, end = (range_.end + unit - 1) / unit;
  if (end - first > 1 && (range_.begin % unit != 0 || range_.end % unit != 0)) return false;
  if (!Cut(part_.inputs[0], in(0).size() - 1, int64_t{first} * depth, int64_t{end} * depth)) return false;
  return IsPool(part_.op) || CutWeights(part_.op == Op::kDepthwiseConv2d ? 3 : 0);
}

Window PartMaker::WindowOf() const {
  const size_t axis = range_.axis;
  if (part_.op == Op::kConv3d) {
    const schema::Window3d& w = ParamsOf<schema::Conv3dParams>(part_).window();
    const auto i = At(axis - 1);
    return {in(1)[axis], w.stride()->Get(i), w.dilation()->Get(i), w.pad_before()->Get(i), w.pad_after()->Get(i)};
  }
  const auto& w = ParamsOf<schema::Window2d>(part_);  // Comes first in each of these params.
  const auto& pool = ParamsOf<schema::Pool2dParams>(part_);
  if (axis == 1) {
    return {IsPool(part_.op) ? pool.kernel_h() : in(1)[1], w.stride_h(), w.dilation_h(), w.pad_top(), w.pad_bottom()};
  }
  return {IsPool(part_.op) ? pool.kernel_w() : in(1)[2], w.stride_w(), w.dilation_w(), w.pad_left(), w.pad_right()};
}

void PartMaker::SetPads(int64_t before, int64_t after) {
  const auto first = static_cast<uint16_t>(before), last = static_cast<uint16_t>(after);
  if (part_.op == Op::kConv3d) {
    auto& w = ParamsOf<schema::Conv3dParams>(part_).mutable_window();
    w.mutable_pad_before()->Mutate(At(range_.axis - 1), first);
    w.mutable_pad_after()->Mutate(At(range_.axis - 1), last);
    return;
  }
  auto& w = ParamsOf<schema::Window2d>(part_);
  range_.axis == 1 ? w.mutate_pad_top(first) : w.mutate_pad_left(first);
  range_.axis == 1 ? w.mutate_pad_bottom(last) : w.mutate_pad_right(last);
}

/// What the windows cover of the input; what they cover beside it becomes the part's pads.
bool PartMaker::CutWindow() {
  const Window w = WindowOf();
  const int64_t first = range_.begin * w.stride - w.before, size = in(0)[range_.axis];
  const int64_t end = first + (range_.end - range_.begin - 1) * w.stride + (w.kernel - 1) * w.dilation + 1;
  const int64_t begin_in = std::max<int64_t>(first, 0), end_in = std::min(end, size);
  if (begin_in >= end_in) return false;  // Windows of nothing but padding.
  SetPads(begin_in - first, end - end_in);
  return Cut(part_.inputs[0], range_.axis, begin_in, end_in);
}

/// What reaches the range, at least one of the input.
bool PartMaker::CutTransposedWindow() {
  const Window w = WindowOf();
  const int64_t reach = (w.kernel - 1) * w.dilation, size = in(0)[range_.axis];
  const int64_t first = range_.begin + w.before, last = range_.end - 1 + w.before;
  const int64_t lowest = first > reach ? (first - reach + w.stride - 1) / w.stride : 0;
  const int64_t begin_in = std::min({lowest, first / w.stride, size - 1});
  const int64_t end_in = std::min(std::max(last / w.stride, begin_in) + 1, size);
  const int64_t before = first - begin_in * w.stride;
  const int64_t after = (end_in - begin_in - 1) * w.stride + reach + 1 - (range_.end - range_.begin) - before;
  if (before > UINT16_MAX || after > UINT16_MAX) return false;
  SetPads(before, std::max<int64_t>(after, 0));
  return Cut(part_.inputs[0], range_.axis, begin_in, end_in);
}

}  // namespace takt::backend
