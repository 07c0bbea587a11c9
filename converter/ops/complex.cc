#include "converter/ops/complex.h"

#include <algorithm>
#include <string>
#include <vector>

#include "converter/ir/constants.h"
#include "converter/ops/twiddles.h"

namespace takt::ir {
namespace {

using frontend::TfliteNode;

constexpr int64_t kMostRows = 2048;  // The matrix of the transform has twice its square of elements.

bool IsComplex(TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return false;
  const Tensor& x = node.tensor(node.input(0));
  if (x.type == DataType::kFloat32 && !x.dims.empty() && x.dims.back() == 2) return true;
  return node.Error("takes complex64", node.input(0)), false;
}

void ImportPart(TfliteNode& node, int32_t part) {
  if (!IsComplex(node)) return;
  const Tensor x = node.tensor(node.input(0));
  const std::string name = node.tensor(node.output(0)).name + "/part";
  const TensorId index = node.graph().AddConstant(name, DataType::kInt32, {}, ToBytes(std::vector<int32_t>{part}));
  node.Add(Op::kGather, {node.input(0), index}, {{"axis", static_cast<int64_t>(x.dims.size()) - 1}});
}

/// [Re F, Im F] of the transform F of `rows` points, of which the first `given` are there.
std::vector<float> TransformMatrix(int64_t rows, int64_t given) {
  const std::vector<UnitComplex> roots = UnitRoots(rows);
  std::vector<float> matrix;
  for (int64_t k = 0; k < rows; ++k) {
    for (const bool imaginary : {false, true}) {
      for (int64_t n = 0; n < given; ++n) {
        const UnitComplex& root = roots[static_cast<size_t>(k * n % rows)];
        matrix.push_back(static_cast<float>(imaginary ? -root.sine : root.cosine));
      }
    }
  }
  return matrix;
}

/// The transform of each column of `spectra` [.., given, 2 * bins]: F x = [Re F, Im F] [x; i x].
TensorId AlongRows(TfliteNode& node, TensorId spectra, int64_t rows) {
  Graph& graph = node.graph();
  const Tensor x = graph.tensor(spectra);
  const std::string name = node.tensor(node.output(0)).name;
  const int32_t given = x.dims.end()[-2];
  Tensor pairs = x;
  pairs.dims.back() /= 2;
  pairs.dims.push_back(2);
  const auto last = static_cast<int64_t>(x.dims.size());
  const TensorId split = node.NewTensor(pairs, "/pairs"), turned = node.NewTensor(x, "/turned");
  node.AddTo(Op::kReshape, {spectra}, {split});
  const TensorId swap = graph.AddConstant(name + "/swap", DataType::kInt32, {2}, ToBytes(std::vector<int32_t>{1, 0}));
  const TensorId sign = graph.AddConstant(name + "/sign", DataType::kFloat32, {2}, ToBytes(std::vector<float>{-1, 1}));
  const TensorId swapped = node.Emit(Op::kGather, {split, swap}, {{"axis", last}});
  node.AddTo(Op::kReshape, {node.Emit(Op::kMul, {swapped, sign})}, {turned});
  const TensorId both = node.Emit(Op::kConcatenation, {spectra, turned}, {{"axis", last - 2}});
  const TensorId matrix =
      graph.AddConstant(name + "/transform", DataType::kFloat32, {static_cast<int32_t>(rows), 2 * given},
                        ToBytes(TransformMatrix(rows, given)));
  return node.Emit(Op::kBatchMatMul, {matrix, both});
}

}  // namespace

/// The rest of a signal that is longer is cut off, zeros follow one that is shorter.
void ImportRfft2d(TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto length = node.ConstantInts(1);
  if (!length) return;
  const Tensor x = node.tensor(node.input(0));
  if (x.type != DataType::kFloat32 || x.dims.size() < 2 || length->size() != 2)
    return node.Error("takes float32 of rank 2 or more and two lengths", node.input(0));
  const int64_t rows = (*length)[0], columns = (*length)[1];
  if (rows < 1 || rows > kMostRows)
    return node.Error("transforms " + std::to_string(rows) + " rows together; at most " + std::to_string(kMostRows) +
                      " are supported");
  Tensor kept = x;
  kept.dims.end()[-2] = static_cast<int32_t>(std::min<int64_t>(x.dims.end()[-2], rows));
  kept.dims.back() = static_cast<int32_t>(std::min<int64_t>(x.dims.back(), columns));
  TensorId signal = node.input(0);
  if (kept.dims != x.dims) {
    const std::vector<int64_t> zeros(x.dims.size(), 0), ones(x.dims.size(), 1);
    signal = node.NewTensor(kept, "/kept");
    node.AddTo(Op::kSlice, {node.input(0)}, {signal}, {{"begin", zeros}, {"strides", ones}});
  }
  std::vector<int32_t> dims = x.dims;
  dims.end()[-2] = static_cast<int32_t>(rows);
  dims.back() = static_cast<int32_t>(columns / 2 + 1);
  dims.push_back(2);
  if (!node.SetDims(0, dims)) return;
  const TensorId spectra = node.Emit(Op::kRfft, {signal}, {{"length", columns}});
  if (node.tensor(spectra).dims.empty()) return;  // No such transform; it was reported.
  node.Add(Op::kReshape, {rows == 1 ? spectra : AlongRows(node, spectra, rows)});
}

void ImportReal(TfliteNode& node) {
  ImportPart(node, 0);
}
void ImportImag(TfliteNode& node) {
  ImportPart(node, 1);
}

void ImportComplexAbs(TfliteNode& node) {
  if (!IsComplex(node)) return;
  const auto last = static_cast<int64_t>(node.tensor(node.input(0)).dims.size()) - 1;
  const TensorId squares = node.Emit(Op::kUnary, {node.input(0)}, {{"function", std::string("square")}});
  const TensorId sum =
      node.Emit(Op::kReduce, {squares},
                {{"function", std::string("sum")}, {"axes", std::vector<int64_t>{last}}, {"keep_dims", int64_t{0}}});
  node.Add(Op::kUnary, {sum}, {{"function", std::string("sqrt")}});
}

}  // namespace takt::ir
