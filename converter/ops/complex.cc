#include "converter/ops/complex.h"

#include <algorithm>
#include <string>
#include <vector>

#include "converter/ir/constants.h"

namespace takt::ir {
namespace {

using frontend::TfliteNode;

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

}  // namespace

/// Of one row: the rest of a signal that is longer is cut off, zeros follow one that is shorter.
void ImportRfft2d(TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto length = node.ConstantInts(1);
  if (!length) return;
  const Tensor x = node.tensor(node.input(0));
  if (x.type != DataType::kFloat32 || x.dims.size() < 2 || length->size() != 2)
    return node.Error("takes float32 of rank 2 or more and two lengths", node.input(0));
  if ((*length)[0] != 1)
    return node.Error("transforms " + std::to_string((*length)[0]) +
                      " rows together; transforms of one row are supported: export a spectrum for each row");
  Tensor row = x;
  row.dims.end()[-2] = 1;
  row.dims.back() = static_cast<int32_t>(std::min<int64_t>(x.dims.back(), (*length)[1]));
  TensorId signal = node.input(0);
  if (row.dims != x.dims) {
    const std::vector<int64_t> zeros(x.dims.size(), 0), ones(x.dims.size(), 1);
    signal = node.NewTensor(row, "/row");
    node.AddTo(Op::kSlice, {node.input(0)}, {signal}, {{"begin", zeros}, {"strides", ones}});
  }
  row.dims.back() = static_cast<int32_t>((*length)[1] / 2 + 1);
  row.dims.push_back(2);
  if (node.SetDims(0, row.dims)) node.Add(Op::kReshape, {node.Emit(Op::kRfft, {signal}, {{"length", (*length)[1]}})});
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
