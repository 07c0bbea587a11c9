#include "converter/ops/rearrange.h"

#include <algorithm>
#include <string>
#include <vector>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"

namespace takt::ir {
namespace {

using Dims = std::vector<int32_t>;

/// Block sizes and pads beyond are of no real model.
constexpr int64_t kMost = 1 << 16;

TensorId Reshaped(frontend::TfliteNode& node, TensorId x, const Dims& dims, const std::string& suffix) {
  Tensor like = node.tensor(x);
  like.dims = dims;
  const TensorId to = node.NewTensor(like, suffix);
  node.AddTo(Op::kReshape, {x}, {to});
  return to;
}

/// `x` seen as `split`, its dimensions permuted.
TensorId Permute(frontend::TfliteNode& node, TensorId x, const Dims& split, const std::vector<int64_t>& permutation) {
  const TensorId from = Reshaped(node, x, split, "/split");
  Tensor moved = node.tensor(from);
  moved.dims = Permuted(split, permutation);
  const TensorId to = node.NewTensor(moved, "/moved");
  node.AddTo(Op::kTranspose, {from}, {to}, {{"permutation", permutation}});
  return to;
}

/// The block size, if there is one and x has rank 4.
std::optional<int32_t> Block(frontend::TfliteNode& node, int32_t size) {
  if (size >= 1 && size <= kMost && node.tensor(node.input(0)).dims.size() == 4) return size;
  node.Error("has block size " + std::to_string(size) + " for shape " + DimsText(node.tensor(node.input(0)).dims) +
             "; allowed is 1 and more, for 4 dimensions");
  return std::nullopt;
}

/// Blocks of the dimensions behind the batch, with two pads or crops for each.
struct SpatialBlocks {
  std::vector<int64_t> sizes, before, after;  ///< pads: one value for each dimension of the tensor.
  int64_t cells = 1;
};
std::optional<SpatialBlocks> ReadBlocks(frontend::TfliteNode& node) {
  if (!node.CheckArity(3, 3, 1)) return std::nullopt;
  const auto sizes = node.ConstantInts(1);
  const auto pads = node.ConstantInts(2);
  const size_t rank = node.tensor(node.input(0)).dims.size();
  if (!sizes || !pads) return std::nullopt;
  SpatialBlocks blocks{*sizes, std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 0)};
  bool ok = !sizes->empty() && sizes->size() <= 2 && sizes->size() < rank && pads->size() == 2 * sizes->size();
  for (size_t i = 0; ok && i < sizes->size(); ++i) {
    blocks.before[i + 1] = (*pads)[2 * i];
    blocks.after[i + 1] = (*pads)[2 * i + 1];
    blocks.cells *= (*sizes)[i];
    ok = (*sizes)[i] >= 1 && (*sizes)[i] <= kMost && blocks.before[i + 1] >= 0 && blocks.after[i + 1] >= 0 &&
         blocks.before[i + 1] <= kMost && blocks.after[i + 1] <= kMost;
  }
  if (ok) return blocks;
  node.Error("needs one or two block sizes of 1 to 65536, and two values of 0 to 65536 for each");
  return std::nullopt;
}

int32_t Rest(const Dims& dims, size_t first) {
  int32_t n = 1;
  for (size_t d = first; d < dims.size(); ++d) n *= dims[d];
  return n;
}

}  // namespace

void ImportSpaceToDepth(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto* options = node.options<tflite::SpaceToDepthOptions>();
  const auto b = Block(node, options != nullptr ? options->block_size() : 0);
  if (!b) return;
  const Dims d = node.tensor(node.input(0)).dims;
  const int64_t cells = int64_t{*b} * *b;
  if (d[1] % *b != 0 || d[2] % *b != 0)
    return node.Error("has blocks of " + std::to_string(*b) + " that do not divide " + DimsText(d));
  if (!node.SetDims(0, {d[0], d[1] / *b, d[2] / *b, Dim(d[3] * cells)})) return;
  node.Add(Op::kReshape,
           {Permute(node, node.input(0), {d[0], d[1] / *b, *b, d[2] / *b, *b, d[3]}, {0, 1, 3, 2, 4, 5})});
}

void ImportDepthToSpace(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto* options = node.options<tflite::DepthToSpaceOptions>();
  const auto b = Block(node, options != nullptr ? options->block_size() : 0);
  if (!b) return;
  const Dims d = node.tensor(node.input(0)).dims;
  const int64_t cells = int64_t{*b} * *b;
  if (d[3] % cells != 0)
    return node.Error("has blocks of " + std::to_string(cells) + " cells that do not divide " + DimsText(d));
  const auto depth = static_cast<int32_t>(d[3] / cells);
  if (!node.SetDims(0, {d[0], Dim(int64_t{d[1]} * *b), Dim(int64_t{d[2]} * *b), depth})) return;
  node.Add(Op::kReshape, {Permute(node, node.input(0), {d[0], d[1], d[2], *b, *b, depth}, {0, 1, 3, 2, 4, 5})});
}

/// [N, s1/b1, b1, s2/b2, b2, rest] to [b1, b2, N, s1/b1, s2/b2, rest].
void ImportSpaceToBatch(frontend::TfliteNode& node) {
  const auto blocks = ReadBlocks(node);
  if (!blocks) return;
  TensorId x = node.input(0);
  Tensor padded = node.tensor(x);
  const size_t count = blocks->sizes.size();
  for (size_t d = 0; d < padded.dims.size(); ++d)
    padded.dims[d] = Dim(padded.dims[d] + blocks->before[d] + blocks->after[d]);
  Dims split = {padded.dims[0]}, dims = padded.dims;
  std::vector<int64_t> inside, outside = {0};
  dims[0] = Dim(dims[0] * blocks->cells);
  for (size_t i = 0; i < count; ++i) {
    const auto b = static_cast<int32_t>(blocks->sizes[i]);
    if (dims[i + 1] % b != 0)
      return node.Error("has blocks of " + std::to_string(b) + " that do not divide " + DimsText(padded.dims));
    dims[i + 1] /= b;
    outside.push_back(static_cast<int64_t>(split.size()));
    inside.push_back(static_cast<int64_t>(split.size()) + 1);
    split.push_back(dims[i + 1]);
    split.push_back(b);
  }
  outside.push_back(static_cast<int64_t>(split.size()));
  split.push_back(Rest(dims, count + 1));
  if (!node.SetDims(0, dims)) return;
  if (padded.dims != node.tensor(x).dims) {
    const TensorId to = node.NewTensor(padded, "/padded");
    node.AddTo(Op::kPad, {x}, {to}, {{"before", blocks->before}, {"after", blocks->after}});
    x = to;
  }
  inside.insert(inside.end(), outside.begin(), outside.end());
  node.Add(Op::kReshape, {Permute(node, x, split, inside)});
}

/// [b1, b2, N, s1, s2, rest] to [N, s1, b1, s2, b2, rest], cropped.
void ImportBatchToSpace(frontend::TfliteNode& node) {
  const auto blocks = ReadBlocks(node);
  if (!blocks) return;
  Tensor whole = node.tensor(node.input(0));
  const size_t count = blocks->sizes.size();
  if (whole.dims[0] % blocks->cells != 0)
    return node.Error("has blocks of " + std::to_string(blocks->cells) + " cells that do not divide the batch of " +
                      DimsText(whole.dims));
  Dims split;
  std::vector<int64_t> permutation = {static_cast<int64_t>(count)};
  for (const int64_t b : blocks->sizes) split.push_back(static_cast<int32_t>(b));
  whole.dims[0] = static_cast<int32_t>(whole.dims[0] / blocks->cells);
  split.push_back(whole.dims[0]);
  for (size_t i = 0; i < count; ++i) {
    split.push_back(whole.dims[i + 1]);
    permutation.push_back(static_cast<int64_t>(count + 1 + i));
    permutation.push_back(static_cast<int64_t>(i));
    whole.dims[i + 1] = Dim(whole.dims[i + 1] * blocks->sizes[i]);
  }
  permutation.push_back(static_cast<int64_t>(split.size()));
  split.push_back(Rest(whole.dims, count + 1));
  Dims dims = whole.dims;
  for (size_t d = 0; d < dims.size(); ++d)
    dims[d] -= static_cast<int32_t>(std::min<int64_t>(dims[d], blocks->before[d] + blocks->after[d]));
  if (!node.SetDims(0, dims)) return;
  const TensorId moved = Permute(node, node.input(0), split, permutation);
  if (dims == whole.dims) {
    node.Add(Op::kReshape, {moved});
    return;
  }
  node.Add(Op::kSlice, {Reshaped(node, moved, whole.dims, "/whole")},
           {{"begin", blocks->before}, {"strides", std::vector<int64_t>(dims.size(), 1)}});
}

}  // namespace takt::ir
