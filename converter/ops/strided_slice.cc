#include "converter/ops/strided_slice.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "converter/ops/index_map.h"

namespace takt::ir {
namespace {

bool Has(int32_t mask, size_t dimension) {
  return (mask >> dimension & 1) != 0;
}

/// `count` cells from `begin` on, `stride` apart.
struct Range {
  int64_t begin = 0, count = 0, stride = 1;
};

/// An index as the format means it: from the end if negative, cut to the cells that a walk of this direction can reach
/// and the one behind them.
int64_t Resolved(int64_t index, int64_t dim, bool forward) {
  return std::clamp<int64_t>(index < 0 ? index + dim : index, forward ? 0 : -1, forward ? dim : dim - 1);
}

struct Spec {
  std::vector<int64_t> begin, end, stride;
  const tflite::StridedSliceOptions* options;

  /// Value `i` for a dimension of `dim` cells; a count below 1 means none.
  Range For(size_t i, int64_t dim) const {
    const bool one = Has(options->shrink_axis_mask(), i);
    Range r{0, 0, one ? 1 : std::clamp(stride[i], -dim - 1, dim + 1)};  // What a longer one keeps; nothing overflows.
    const bool forward = r.stride > 0;
    r.begin = Has(options->begin_mask(), i) ? (forward ? 0 : dim - 1) : Resolved(begin[i], dim, forward);
    const int64_t last = Has(options->end_mask(), i) ? (forward ? dim : -1) : Resolved(end[i], dim, forward);
    if (one)
      r.count = r.begin < dim ? 1 : 0;
    else if (r.stride != 0)
      r.count = (last - r.begin + r.stride + (forward ? -1 : 1)) / r.stride;
    return r;
  }
};

std::optional<Spec> ReadSpec(frontend::TfliteNode& node) {
  if (!node.CheckArity(4, 4, 1)) return std::nullopt;
  const auto begin = node.ConstantInts(1), end = node.ConstantInts(2), stride = node.ConstantInts(3);
  const auto* options = node.options<tflite::StridedSliceOptions>();
  if (!begin || !end || !stride) return std::nullopt;
  if (options == nullptr)
    node.Error("has no StridedSliceOptions; the file is damaged");
  else if (options->offset())
    node.Error("has ends as offsets; export the model with plain slices");
  else if (begin->size() != end->size() || begin->size() != stride->size() || begin->size() > 32)
    node.Error("begin, end and strides have one value for each dimension");
  else
    return Spec{*begin, *end, *stride, options};
  return std::nullopt;
}

/// What the operator reads of each axis, and the dims of its output.
class Walk {
 public:
  Walk(const Spec& spec, const std::vector<int32_t>& from) : spec_(spec), from_(from) {}

  /// False after an error.
  bool Run(frontend::TfliteNode& node) {
    int64_t named = 0;
    for (size_t i = 0; i < spec_.begin.size(); ++i)
      if (!Has(spec_.options->ellipsis_mask(), i) && !Has(spec_.options->new_axis_mask(), i)) ++named;
    unnamed_ = static_cast<int64_t>(from_.size()) - named;
    if (unnamed_ < 0) node.Error("has more values than the input has dimensions");
    for (size_t i = 0; unnamed_ >= 0 && i < spec_.begin.size(); ++i) {
      if (Has(spec_.options->ellipsis_mask(), i))
        KeepUnnamed();
      else if (Has(spec_.options->new_axis_mask(), i))
        dims.push_back(1);
      else if (!Add(node, i))
        return false;
    }
    KeepUnnamed();
    return unnamed_ == 0;
  }

  std::vector<Range> ranges;
  std::vector<AxisMap> reversed;  ///< Axes walked backwards; their range is what the map leaves.
  std::vector<int32_t> dims;

 private:
  void KeepUnnamed() {
    for (; unnamed_ > 0; --unnamed_) {
      dims.push_back(from_[ranges.size()]);
      ranges.push_back({0, dims.back(), 1});
    }
  }
  bool Add(frontend::TfliteNode& node, size_t i) {
    const size_t axis = ranges.size();
    Range r = spec_.For(i, from_[axis]);
    if (r.count < 1) {
      node.Error("is empty in dimension " + std::to_string(axis) + "; a slice has elements");
      return false;
    }
    if (!Has(spec_.options->shrink_axis_mask(), i)) dims.push_back(static_cast<int32_t>(r.count));
    if (r.stride < 0) {
      if (!MapFits(node, axis, r.count)) return false;
      AxisMap& map = reversed.emplace_back(AxisMap{axis, {}});
      for (int64_t k = 0; k < r.count; ++k) map.cells.push_back(static_cast<int32_t>(r.begin + k * r.stride));
      r = {0, r.count, 1};
    }
    ranges.push_back(r);
    return true;
  }

  const Spec& spec_;
  std::vector<int32_t> from_;
  int64_t unnamed_ = 0;  ///< Dimensions that the ellipsis, or the end, stands for.
};

}  // namespace

void ImportStridedSlice(frontend::TfliteNode& node) {
  const auto spec = ReadSpec(node);
  if (!spec) return;
  Tensor part = node.tensor(node.input(0));
  Walk walk(*spec, part.dims);
  if (!walk.Run(node) || !node.SetDims(0, walk.dims)) return;
  TensorId x = ApplyMaps(node, node.input(0), walk.reversed);
  const std::vector<int32_t> whole = node.tensor(x).dims;
  std::vector<int64_t> begin, stride;
  for (size_t d = 0; d < walk.ranges.size(); ++d) {
    begin.push_back(walk.ranges[d].begin);
    stride.push_back(walk.ranges[d].stride);
    part.dims[d] = static_cast<int32_t>(walk.ranges[d].count);
  }
  const std::map<std::string, Attribute> attributes = {{"begin", begin}, {"strides", stride}};
  if (walk.dims == part.dims && (walk.reversed.empty() || part.dims != whole)) {
    node.Add(Op::kSlice, {x}, attributes);
    return;
  }
  if (part.dims != whole) {
    const TensorId sliced = node.NewTensor(part, "/slice");
    node.AddTo(Op::kSlice, {x}, {sliced}, attributes);
    x = sliced;
  }
  node.Add(Op::kReshape, {x});
}

}  // namespace takt::ir
