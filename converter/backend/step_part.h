// A part of a step: what a range of its output needs of its operands.
#ifndef TAKT_CONVERTER_BACKEND_STEP_PART_H_
#define TAKT_CONVERTER_BACKEND_STEP_PART_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/backend/tensor_slices.h"
#include "converter/ir/graph.h"

namespace takt::backend {

/// What a range of output 0 needs. Other outputs are cut alike unless they are states.
enum class Rule {
  kElements,   ///< The same range of each data input, or all of it where it is broadcast.
  kPairs,      ///< As kElements, of pairs of neighbours.
  kLines,      ///< As kElements, but the axis that the op runs along stays whole.
  kPlanes,     ///< As kElements, of batches and channels.
  kMatrix,     ///< The same rows of x; of the last axis, weights of channels.
  kProduct,    ///< The same batches of both operands, rows of the first, columns of the second.
  kWindow,     ///< What the windows cover; of the last axis, channels with their weights.
  kPadded,     ///< The range without its padding, which becomes the part's.
  kPermuted,   ///< A strided view of the input, which the part copies.
  kReduced,    ///< The same range of an axis that is not reduced.
  kGathered,   ///< Indices, or the same range of an axis that they do not name.
  kScattered,  ///< The same range of an axis that no index names.
  kUpdated,    ///< The same range of an axis in which the update is as long as the output: there it starts at 0.
  kSequence,   ///< The same batches, or steps of time between which a state is handed over.
  kUnits,      ///< The same batches, or units with their filters.
  kFrames,     ///< The same batches, or frames between which a state is handed over.
  kBins,       ///< Complex numbers.
  kBank,       ///< Channels with their filters.
};

/// A rule of an op. `data`: so many inputs are cut with the output as it says, others are tables.
struct CutRow {
  Op op;
  Rule rule;
  size_t data = 1;
};

template <typename P>
const P& ParamsOf(const StepSpec& step) {
  return *reinterpret_cast<const P*>(step.params.data());
}
template <typename P>
P& ParamsOf(StepSpec& step) {
  return *reinterpret_cast<P*>(step.params.data());
}

/// Of a recurrent step.
bool RunsBackwards(const StepSpec& step);

/// One axis of a sliding window.
struct Window {
  int64_t kernel, stride, dilation, before, after;
};

/// What the first half of a step leaves to the second, by the step's state and its next value.
using States = std::map<std::pair<ir::TensorId, ir::TensorId>, ir::TensorId>;

/// Turns a step into its part for a range of output 0.
class PartMaker {
 public:
  /// `part` is the whole step at first.
  PartMaker(ir::Graph& graph, TensorSlices& slices, States& between, const Range& range, StepSpec& part)
      : graph_(graph), slices_(slices), between_(between), range_(range), part_(part) {}

  /// False if there is no such part.
  bool Make(const CutRow& row);
  /// So many neighbours on the axis stay together, unless it has no more.
  int32_t Unit(Rule rule) const;

 private:
  bool CutInputs(const CutRow& row);
  bool Follow(size_t inputs);
  bool Rows(size_t input, size_t axis) { return Cut(part_.inputs[input], axis, range_.begin, range_.end); }
  bool Cut(ir::TensorId& id, size_t axis, int64_t begin, int64_t end) {
    return slices_.Cut({axis, static_cast<int32_t>(begin), static_cast<int32_t>(end)}, id);
  }
  bool CutLines();
  bool CutWeights(size_t axis);
  bool CutProduct();
  bool CutImage();
  bool CutChannels();
  bool CutWindow();
  bool CutTransposedWindow();
  bool CutPadded();
  bool CutPermuted();
  bool CutReduced();
  bool CutGather();
  bool CutGatherNd();
  bool CutScattered();
  bool CutSequence();
  bool CutUnits();
  bool CutFrames();
  bool CutBins();
  bool CutBank();
  Window WindowOf() const;
  void SetPads(int64_t before, int64_t after);
  int32_t Groups() const;
  void HandOver(bool first, ir::TensorId& value, ir::TensorId& next);

  const std::vector<int32_t>& in(size_t i) const { return graph_.tensor(part_.inputs[i]).dims; }
  const std::vector<int32_t>& out() const { return graph_.tensor(part_.outputs[0]).dims; }
  bool IsLast() const { return range_.axis + 1 == out().size(); }

  ir::Graph& graph_;
  TensorSlices& slices_;
  States& between_;
  const Range range_;
  StepSpec& part_;
};

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_STEP_PART_H_
