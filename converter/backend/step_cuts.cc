#include "converter/backend/step_cuts.h"

#include <algorithm>

namespace takt::backend {
namespace {

const char* TextOf(Rule rule) {
  switch (rule) {
    case Rule::kElements:
    case Rule::kGathered:
      return "any axis";
    case Rule::kPairs:
      return "any axis, between pairs";
    case Rule::kLines:
      return "any axis but the one it runs along";
    case Rule::kPlanes:
      return "batches, channels; where a pixel lies depends on the size of the whole image";
    case Rule::kMatrix:
      return "rows, columns";
    case Rule::kProduct:
      return "batches, rows, columns";
    case Rule::kWindow:
      return "batches, space, channels";
    case Rule::kPadded:
      return "any axis, but no part is padding alone";
    case Rule::kPermuted:
      return "any axis; parts are copies";
    case Rule::kReduced:
      return "axes that it keeps; the order of a sum stays";
    case Rule::kScattered:
      return "axes that no index names";
    case Rule::kUpdated:
      return "axes that the update spans";
    case Rule::kSequence:
      return "time, batches";
    case Rule::kUnits:
      return "batches, units";
    case Rule::kFrames:
      return "batches, frames";
    case Rule::kBins:
      return "bins";
    case Rule::kBank:
      return "channels";
  }
  return nullptr;
}

constexpr CutRow kRows[] = {
    {Op::kAdd, Rule::kElements, 2},
    {Op::kMul, Rule::kElements, 2},
    {Op::kBinary, Rule::kElements, 2},
    {Op::kCompare, Rule::kElements, 2},
    {Op::kLogic, Rule::kElements, 2},
    {Op::kSelect, Rule::kElements, 3},
    {Op::kClamp, Rule::kElements},
    {Op::kUnary, Rule::kElements},
    {Op::kLeakyRelu, Rule::kElements},
    {Op::kSigmoidTable, Rule::kElements},
    {Op::kQuantize, Rule::kElements},
    {Op::kDequantize, Rule::kElements},
    {Op::kRequantize, Rule::kElements},
    {Op::kCast, Rule::kElements},
    {Op::kCopy, Rule::kElements},
    {Op::kSignalWindow, Rule::kElements, 2},
    {Op::kFilterBankSquareRoot, Rule::kElements},
    {Op::kFilterBankLog, Rule::kElements},
    {Op::kPcan, Rule::kElements, 2},
    {Op::kSpectralSubtraction, Rule::kPairs, 2},
    {Op::kSoftmax, Rule::kLines},
    {Op::kL2Normalization, Rule::kLines},
    {Op::kLocalResponseNormalization, Rule::kLines},
    {Op::kRfft, Rule::kLines},
    {Op::kInverseRfft, Rule::kLines},
    {Op::kCumulativeSum, Rule::kLines},
    {Op::kTopK, Rule::kLines},
    {Op::kReverseSequence, Rule::kLines},
    {Op::kFullyConnected, Rule::kMatrix},
    {Op::kBatchMatMul, Rule::kProduct, 2},
    {Op::kConv2d, Rule::kWindow},
    {Op::kConv2dAdd, Rule::kWindow},
    {Op::kDepthwiseConv2d, Rule::kWindow},
    {Op::kConv3d, Rule::kWindow},
    {Op::kAveragePool2d, Rule::kWindow},
    {Op::kMaxPool2d, Rule::kWindow},
    {Op::kMaxPoolArgmax2d, Rule::kWindow},
    {Op::kTransposeConv2d, Rule::kWindow},
    {Op::kResizeBilinear, Rule::kPlanes},
    {Op::kResizeNearest, Rule::kPlanes},
    {Op::kMaxUnpool2d, Rule::kPlanes, 2},
    {Op::kPad, Rule::kPadded},
    {Op::kTranspose, Rule::kPermuted},
    {Op::kMean, Rule::kReduced},
    {Op::kReduce, Rule::kReduced},
    {Op::kArgReduce, Rule::kReduced},
    {Op::kGather, Rule::kGathered},
    {Op::kGatherNd, Rule::kGathered},
    {Op::kScatterNd, Rule::kScattered},
    {Op::kUpdateSlice, Rule::kUpdated},
    {Op::kLstm, Rule::kSequence},
    {Op::kGru, Rule::kSequence},
    {Op::kRnn, Rule::kSequence},
    {Op::kSvdf, Rule::kUnits},
    {Op::kOverlapAdd, Rule::kFrames},
    {Op::kEnergy, Rule::kBins},
    {Op::kFilterBank, Rule::kBank},
};

/// Ops whose steps stay whole.
struct WholeRow {
  Op op;
  const char* reason;
};
constexpr WholeRow kWhole[] = {
    {Op::kFftAutoScale, "one factor for all of it, from the largest magnitude"},
    {Op::kDetectionPostProcess, "each box is compared with those chosen before it"},
    {Op::kNonMaxSuppression, "each box is compared with those chosen before it"},
};

const CutRow* FindRow(Op op) {
  const CutRow* row = std::find_if(std::begin(kRows), std::end(kRows), [op](const CutRow& r) { return r.op == op; });
  return row == std::end(kRows) ? nullptr : row;
}

bool UpdatesState(const ir::Graph& graph, const StepSpec& step) {
  return std::any_of(graph.states.begin(), graph.states.end(), [&](const ir::State& state) {
    return state.in_place && std::find(step.outputs.begin(), step.outputs.end(), state.next) != step.outputs.end();
  });
}

}  // namespace

CutRule CutRuleOf(Op op) {
  if (const CutRow* row = FindRow(op)) return {true, TextOf(row->rule)};
  for (const WholeRow& row : kWhole)
    if (row.op == op) return {false, row.reason};
  return {};
}

std::optional<StepSpec> StepCutter::Part(const StepSpec& step, const Range& range) {
  StepSpec part = step;
  if (!PartMaker(graph_, slices_, between_, range, part).Make(*FindRow(step.op))) return std::nullopt;
  return part;
}

std::optional<std::pair<StepSpec, StepSpec>> StepCutter::Halves(const StepSpec& step, size_t axis) {
  const CutRow* row = FindRow(step.op);
  if (row == nullptr || UpdatesState(graph_, step)) return std::nullopt;
  StepSpec part = step;
  const int32_t size = graph_.tensor(step.outputs[0]).dims[axis];
  const int32_t unit = PartMaker(graph_, slices_, between_, {axis, 0, size}, part).Unit(row->rule);
  const int32_t middle = unit < size ? std::max(size / 2 / unit, 1) * unit : size / 2;
  auto first = Part(step, {axis, 0, middle}), second = Part(step, {axis, middle, size});
  if (!first || !second) return std::nullopt;
  if (RunsBackwards(step)) std::swap(first, second);
  return std::pair(*first, *second);
}

}  // namespace takt::backend
