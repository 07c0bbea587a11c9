#include "converter/backend/step_part.h"

#include <algorithm>

#include "schema/plan_generated.h"

namespace takt::backend {
namespace {

using ir::TensorId;

constexpr bool HasStates(Rule rule) {
  return rule == Rule::kSequence || rule == Rule::kUnits || rule == Rule::kFrames;
}

/// An index of a fixed array in params.
constexpr auto At(size_t i) {
  return static_cast<flatbuffers::uoffset_t>(i);
}

}  // namespace

bool RunsBackwards(const StepSpec& step) {
  if (step.op == Op::kLstm) return ParamsOf<schema::LstmParams>(step).reverse();
  return (step.op == Op::kGru || step.op == Op::kRnn) && ParamsOf<schema::RecurrentParams>(step).reverse();
}

bool PartMaker::Make(const CutRow& row) {
  if (!CutInputs(row)) return false;
  for (size_t k = HasStates(row.rule) ? 1 : part_.outputs.size(); k-- > 0;)
    if (!slices_.Cut(range_, part_.outputs[k])) return false;
  return true;
}

bool PartMaker::CutInputs(const CutRow& row) {
  switch (row.rule) {
    case Rule::kElements:
      return Follow(row.data);
    case Rule::kPairs:
      return range_.begin % 2 == 0 && Follow(row.data);
    case Rule::kLines:
      return CutLines();
    case Rule::kMatrix:
      return IsLast() ? CutWeights(0) : Rows(0, range_.axis);
    case Rule::kProduct:
      return CutProduct();
    case Rule::kWindow:
      return CutImage();
    case Rule::kPlanes:
      return (range_.axis == 0 || IsLast()) && Follow(row.data);
    case Rule::kPadded:
      return CutPadded();
    case Rule::kPermuted:
      return CutPermuted();
    case Rule::kReduced:
      return CutReduced();
    case Rule::kGathered:
      return part_.op == Op::kGather ? CutGather() : CutGatherNd();
    case Rule::kScattered:
      return CutScattered();
    case Rule::kUpdated:
      return in(0)[range_.axis] == out()[range_.axis] && Rows(0, range_.axis) && Rows(2, range_.axis);
    case Rule::kSequence:
      return CutSequence();
    case Rule::kUnits:
      return CutUnits();
    case Rule::kFrames:
      return CutFrames();
    case Rule::kBins:
      return CutBins();
    case Rule::kBank:
      return CutBank();
  }
  return false;
}

int32_t PartMaker::Unit(Rule rule) const {
  if (rule == Rule::kPairs) return 2;
  if (rule == Rule::kFrames && IsLast()) return static_cast<int32_t>(ParamsOf<schema::OverlapAddParams>(part_).step());
  if (rule == Rule::kWindow && IsLast()) return out().back() / Groups();
  return 1;
}

/// The same range of the first inputs, whose dimensions, counted from the last, are those of the output, or 1.
bool PartMaker::Follow(size_t inputs) {
  const int32_t size = out()[range_.axis];
  for (size_t i = 0; i < std::min(inputs, part_.inputs.size()); ++i) {
    if (in(i).size() + range_.axis < out().size()) continue;
    const size_t axis = in(i).size() + range_.axis - out().size();
    if (in(i)[axis] != 1 && (in(i)[axis] != size || !Rows(i, axis))) return false;
  }
  return true;
}

bool PartMaker::CutLines() {
  size_t line = out().size() - 1;
  if (part_.op == Op::kCumulativeSum) line = ParamsOf<schema::CumulativeSumParams>(part_).axis();
  if (part_.op == Op::kTopK) line = ParamsOf<schema::TopKParams>(part_).axis();
  if (part_.op == Op::kReverseSequence) {
    const auto& p = ParamsOf<schema::ReverseSequenceParams>(part_);
    line = p.axis();
    if (range_.axis == p.batch_axis() && !Rows(1, 0)) return false;
  }
  return range_.axis != line && Follow(1);
}

/// Of output channels; bias and requantization with them.
bool PartMaker::CutWeights(size_t axis) {
  if (!Rows(1, axis)) return false;
  for (size_t i = 2; i < std::min<size_t>(part_.inputs.size(), 4); ++i)
    if (!Rows(i, 0)) return false;
  return true;
}

bool PartMaker::CutProduct() {
  const auto& p = ParamsOf<schema::BatchMatMulParams>(part_);
  const size_t behind = out().size() - range_.axis;
  if (behind > 2) return Follow(2);
  if (behind == 2) return Rows(0, in(0).size() - (p.transpose_a() ? 1 : 2));
  return Rows(1, in(1).size() - (p.transpose_b() ? 2 : 1));
}

/// The range without its padding, which becomes the part's.
bool PartMaker::CutPadded() {
  auto& pads = ParamsOf<schema::PadParams>(part_);
  const auto axis = At(range_.axis);
  const int32_t size = in(0)[range_.axis], before = pads.before()->Get(axis);
  const int32_t first = range_.begin - before, end = range_.end - before;
  const int32_t begin_in = std::max(first, 0), end_in = std::min(end, size);
  if (begin_in >= end_in) return false;
  pads.mutable_before()->Mutate(axis, begin_in - first);
  pads.mutable_after()->Mutate(axis, end - end_in);
  return Cut(part_.inputs[0], range_.axis, begin_in, end_in);
}

/// A strided view, which the part copies.
bool PartMaker::CutPermuted() {
  if (graph_.tensor(part_.inputs[0]).is_constant()) return false;
  const auto& p = ParamsOf<schema::TransposeParams>(part_);
  std::vector<size_t> axes;
  for (size_t d = 0; d < out().size(); ++d) axes.push_back(p.permutation()->Get(At(d)));
  part_.inputs[0] = slices_.Permuted(part_.inputs[0], axes);
  part_.op = Op::kCopy;
  part_.numerics = Numerics::kAny;
  part_.params.assign(sizeof(schema::CopyParams), 0);
  return Rows(0, range_.axis);
}

bool PartMaker::CutReduced() {
  uint32_t reduced = 0;
  const auto add = [&](const auto& p) {
    for (size_t i = 0; i < p.count(); ++i) reduced |= 1u << p.axes()->Get(At(i));
  };
  if (part_.op == Op::kArgReduce) reduced = 1u << ParamsOf<schema::ArgReduceParams>(part_).axis();
  if (part_.op == Op::kMean) add(ParamsOf<schema::MeanParams>(part_));
  if (part_.op == Op::kReduce) add(ParamsOf<schema::ReduceParams>(part_));
  if (in(0).size() == out().size()) return Rows(0, range_.axis);
  size_t axis = 0;
  for (size_t kept = 0; (reduced >> axis & 1) != 0 || kept++ < range_.axis; ++axis) {
  }
  return Rows(0, axis);
}

bool PartMaker::CutGather() {
  const auto& p = ParamsOf<schema::GatherParams>(part_);
  const size_t axis = range_.axis, added = in(1).size() - p.batch_dims();
  if (axis < p.batch_dims() && !Rows(1, axis)) return false;
  if (axis < p.axis()) return Rows(0, axis);
  return axis < p.axis() + added ? Rows(1, p.batch_dims() + axis - p.axis()) : Rows(0, axis + 1 - added);
}

bool PartMaker::CutGatherNd() {
  const size_t batches = ParamsOf<schema::GatherNdParams>(part_).batch_dims(), rows = in(1).size() - 1;
  if (range_.axis < batches && !Rows(0, range_.axis)) return false;
  if (range_.axis < rows) return Rows(1, range_.axis);
  return Rows(0, batches + static_cast<size_t>(in(1).back()) + range_.axis - rows);
}

bool PartMaker::CutScattered() {
  const auto named = static_cast<size_t>(in(1).back());
  if (range_.axis < named) return false;
  return Rows(0, in(1).size() - 1 + range_.axis - named) && (part_.inputs.size() < 3 || Rows(2, range_.axis));
}

/// `first`: whether the part is the half that runs first.
void PartMaker::HandOver(bool first, TensorId& value, TensorId& next) {
  TensorId& between = between_.try_emplace({value, next}, ir::kNoTensor).first->second;
  if (between == ir::kNoTensor) {
    ir::Tensor state = graph_.tensor(next);
    state.name += "/between";
    state.source = -1;
    state.view.reset();
    between = graph_.AddTensor(std::move(state));
  }
  (first ? next : value) = between;
}

bool PartMaker::CutSequence() {
  const bool batch_major = part_.op == Op::kLstm ? ParamsOf<schema::LstmParams>(part_).batch_major()
                                                 : ParamsOf<schema::RecurrentParams>(part_).batch_major();
  if (IsLast() || !Rows(0, range_.axis)) return false;
  const bool first = (range_.begin == 0) != RunsBackwards(part_);
  for (size_t k = 1; k < part_.outputs.size(); ++k) {
    TensorId &value = part_.inputs[k + 3], &next = part_.outputs[k];
    if (range_.axis == (batch_major ? 1 : 0)) {
      HandOver(first, value, next);
    } else if (!slices_.Cut({0, range_.begin, range_.end}, value) ||
               !slices_.Cut({0, range_.begin, range_.end}, next)) {
      return false;
    }
  }
  return true;
}

bool PartMaker::CutUnits() {
  if (range_.axis == 0) return Rows(0, 0) && Rows(4, 0) && slices_.Cut(range_, part_.outputs[1]);
  const int64_t rank = ParamsOf<schema::SvdfParams>(part_).rank(), cells = rank * in(2)[1];
  for (size_t i = 1; i < 3; ++i)
    if (!Cut(part_.inputs[i], 0, range_.begin * rank, range_.end * rank)) return false;
  return Rows(3, 0) && Cut(part_.inputs[4], 1, range_.begin * cells, range_.end * cells) &&
         Cut(part_.outputs[1], 1, range_.begin * cells, range_.end * cells);
}

bool PartMaker::CutFrames() {
  if (!IsLast()) return Rows(0, range_.axis) && Rows(1, range_.axis) && slices_.Cut(range_, part_.outputs[1]);
  const int32_t step = Unit(Rule::kFrames);
  if (range_.begin % step != 0 || range_.end % step != 0) return false;
  HandOver(range_.begin == 0, part_.inputs[1], part_.outputs[1]);
  return Cut(part_.inputs[0], range_.axis, range_.begin / step, range_.end / step);
}

/// Pairs of the input.
bool PartMaker::CutBins() {
  auto& p = ParamsOf<schema::EnergyParams>(part_);
  const auto local = [this](uint32_t bin) {
    return static_cast<uint32_t>(std::clamp(static_cast<int32_t>(bin), range_.begin, range_.end) - range_.begin);
  };
  p.mutate_begin(local(p.begin()));
  p.mutate_end(local(p.end()));
  return Cut(part_.inputs[0], 0, 2 * range_.begin, 2 * range_.end);
}

/// A channel wants the row before its own.
bool PartMaker::CutBank() {
  for (size_t i = 3; i < 6; ++i)
    if (!Cut(part_.inputs[i], 0, range_.begin, range_.end + 1)) return false;
  return true;
}

}  // namespace takt::backend
