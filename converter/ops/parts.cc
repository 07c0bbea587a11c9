#include "converter/ops/parts.h"

#include <string>
#include <utility>
#include <vector>

namespace takt::ir {
namespace {

/// Cells [begin, begin + size) of `axis`, as a tensor made beforehand.
void AddPart(frontend::TfliteNode& node, TensorId x, size_t axis, int64_t begin, TensorId to) {
  const size_t rank = node.tensor(x).dims.size();
  std::vector<int64_t> begins(rank, 0);
  begins[axis] = begin;
  node.AddTo(Op::kSlice, {x}, {to}, {{"begin", begins}, {"strides", std::vector<int64_t>(rank, 1)}});
}

void Split(frontend::TfliteNode& node, TensorId x, size_t axis, const std::vector<int64_t>& sizes) {
  std::vector<int32_t> dims = node.tensor(x).dims;
  const int64_t whole = dims[axis];
  int64_t begin = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 1 || sizes[i] > whole - begin)
      return node.Error("has a part of " + std::to_string(sizes[i]) + " cells at cell " + std::to_string(begin) +
                        " of " + std::to_string(whole) + "; parts are not empty and end inside");
    dims[axis] = static_cast<int32_t>(sizes[i]);
    if (!node.SetDims(static_cast<int>(i), dims)) return;
    AddPart(node, x, axis, begin, node.output(static_cast<int>(i)));
    begin += sizes[i];
  }
  if (begin != whole)
    node.Error("splits " + std::to_string(whole) + " cells into parts of " + std::to_string(begin) + " in all");
}

/// The axis that a constant of one value names.
std::optional<size_t> AxisInput(frontend::TfliteNode& node, int input, size_t rank) {
  const auto values = node.ConstantInts(input);
  if (!values) return std::nullopt;
  if (values->size() == 1) return node.Axis((*values)[0], rank);
  node.Error("has an axis of " + std::to_string(values->size()) + " values; it is one", node.input(input));
  return std::nullopt;
}

}  // namespace

void ImportSplit(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, node.output_count())) return;
  const TensorId x = node.input(1);
  const auto axis = AxisInput(node, 0, node.tensor(x).dims.size());
  if (!axis) return;
  const int64_t size = node.tensor(x).dims[*axis], parts = node.output_count();
  if (size % parts != 0)
    return node.Error("splits " + std::to_string(size) + " cells into " + std::to_string(parts) +
                      " parts; they must be equal (SPLIT_V has parts of other sizes)");
  Split(node, x, *axis, std::vector<int64_t>(static_cast<size_t>(parts), size / parts));
}

/// One size may be -1: what the others leave.
void ImportSplitV(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, node.output_count())) return;
  const TensorId x = node.input(0);
  const auto axis = AxisInput(node, 2, node.tensor(x).dims.size());
  auto sizes = node.ConstantInts(1);
  if (!axis || !sizes) return;
  if (sizes->size() != static_cast<size_t>(node.output_count()))
    return node.Error("has " + std::to_string(sizes->size()) + " sizes for " + std::to_string(node.output_count()) +
                      " outputs; there is one for each");
  int64_t left = node.tensor(x).dims[*axis];
  for (const int64_t size : *sizes) left -= size < 0 ? 0 : size;
  for (int64_t& size : *sizes)
    if (size == -1) size = std::exchange(left, 0);
  Split(node, x, *axis, *sizes);
}

void ImportUnpack(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, node.output_count())) return;
  const auto* options = node.options<tflite::UnpackOptions>();
  Tensor part = node.tensor(node.input(0));
  const auto axis = node.Axis(options != nullptr ? options->axis() : 0, part.dims.size());
  if (!axis) return;
  if (part.dims[*axis] != node.output_count())
    return node.Error("unpacks " + std::to_string(part.dims[*axis]) + " cells into " +
                      std::to_string(node.output_count()) + " outputs; there is one for each");
  std::vector<int32_t> dims = part.dims;
  dims.erase(dims.begin() + static_cast<ptrdiff_t>(*axis));
  part.dims[*axis] = 1;
  for (int i = 0; i < node.output_count(); ++i) {
    if (!node.SetDims(i, dims)) return;
    const TensorId cut = node.NewTensor(part, "/part" + std::to_string(i));
    AddPart(node, node.input(0), *axis, i, cut);
    node.AddTo(Op::kReshape, {cut}, {node.output(i)});
  }
}

void ImportPack(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 64, 1)) return;
  const auto* options = node.options<tflite::PackOptions>();
  Tensor part = node.tensor(node.input(0));
  const auto axis = node.Axis(options != nullptr ? options->axis() : 0, part.dims.size() + 1);
  if (!axis) return;
  std::vector<TensorId> parts;
  for (int i = 0; i < node.input_count(); ++i) {
    if (!node.has_input(i)) return node.Error("input " + std::to_string(i) + " is absent; the operator needs it");
    Tensor raised = node.tensor(node.input(i));
    if (raised.dims != part.dims)
      return node.Error("packs shapes " + DimsText(part.dims) + " and " + DimsText(raised.dims) +
                        "; they must be equal");
    raised.dims.insert(raised.dims.begin() + static_cast<ptrdiff_t>(*axis), 1);
    parts.push_back(node.NewTensor(raised, "/part" + std::to_string(i)));
    node.AddTo(Op::kReshape, {node.input(i)}, {parts.back()});
  }
  part.dims.insert(part.dims.begin() + static_cast<ptrdiff_t>(*axis), node.input_count());
  if (node.SetDims(0, part.dims)) node.Add(Op::kConcatenation, parts, {{"axis", static_cast<int64_t>(*axis)}});
}

}  // namespace takt::ir
