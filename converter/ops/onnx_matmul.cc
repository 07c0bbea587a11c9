#include "converter/ops/onnx_matmul.h"

#include <algorithm>
#include <string>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"
#include "converter/ops/onnx_expression.h"

namespace takt::ir {
namespace {

using frontend::OnnxNode;

/// One operand of an einsum: a tensor whose dimensions have names, each once.
struct Term {
  TensorId x = kNoTensor;
  std::string names;
};

bool Contains(const std::string& names, char name) {
  return names.find(name) != std::string::npos;
}

/// "ij,...j->...i" as names; the dimensions of an ellipsis are called A, B, .. from the last on.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

/// Replaces the ellipsis by the `count` names that stand for it.
std::string Spelled(std::string names, size_t count) {
  const size_t at = names.find("...");
  if (at == std::string::npos) return names;
  std::string dims;
  for (size_t i = count; i-- > 0;) dims += static_cast<char>('0' + i);
  return names.replace(at, 3, dims);
}

std::optional<Equation> Parse(OnnxNode& node) {
  std::string text = node.String("equation", "");
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  Equation e;
  std::string left = text.substr(0, arrow) + ",";
  for (size_t at = left.find(','); at != std::string::npos; left.erase(0, at + 1), at = left.find(','))
    e.inputs.push_back(left.substr(0, at));
  const auto wrong = [&] { return node.Error("equation '" + text + "' does not fit its operands"), std::nullopt; };
  if (static_cast<int>(e.inputs.size()) != node.input_count()) return wrong();
  size_t widest = 0;
  std::string all;
  for (size_t i = 0; i < e.inputs.size(); ++i) {
    const size_t rank = node.dims(node.input(static_cast<int>(i))).size();
    const bool ellipsis = e.inputs[i].find("...") != std::string::npos;
    const size_t named = e.inputs[i].size() - (ellipsis ? 3 : 0);
    if (ellipsis ? named > rank : named != rank) return wrong();
    widest = std::max(widest, rank - named);
    all += e.inputs[i];
    e.inputs[i] = Spelled(e.inputs[i], rank - named);
  }
  if (arrow != std::string::npos) {
    e.output = Spelled(text.substr(arrow + 2), widest);
  } else {  // The names that occur once, in alphabetical order, behind the ellipsis.
    e.output = Spelled(Contains(all, '.') ? "..." : "", widest);
    for (char name = 'A'; name <= 'z'; ++name)
      if (std::count(all.begin(), all.end(), name) == 1) e.output += name;
  }
  return e;
}

/// Of a name that occurs twice, the diagonal: the dimensions go to the end, and every (size + 1)-th cell is kept.
Term Diagonal(OnnxNode& node, Term t) {
  for (size_t i = 0; i < t.names.size() && !node.failed(); ++i) {
    const size_t k = t.names.find(t.names[i], i + 1);
    if (k == std::string::npos) continue;
    std::vector<int64_t> permutation;
    std::string rest;
    for (size_t d = 0; d < t.names.size(); ++d) {
      if (d == i || d == k) continue;
      permutation.push_back(static_cast<int64_t>(d));
      rest += t.names[d];
    }
    permutation.push_back(static_cast<int64_t>(i));
    permutation.push_back(static_cast<int64_t>(k));
    std::vector<int32_t> dims = Permuted(node.dims(t.x), permutation);
    const int32_t size = dims.back();
    dims.pop_back();
    if (dims.back() != size) return node.Error("a name stands for dimensions of different sizes"), Term();
    dims.back() = size * size;
    const TensorId flat = node.Reshape(node.Transpose(t.x, permutation), dims);
    std::vector<int64_t> begin(dims.size(), 0), strides(dims.size(), 1);
    strides.back() = size + 1;
    dims.back() = size;
    t = {node.EmitShaped(Op::kSlice, flat, dims, {{"begin", begin}, {"strides", strides}}), rest + t.names[i]};
    i = static_cast<size_t>(-1);
  }
  return t;
}

/// Sums over the dimensions that neither `kept` names.
Term SumOver(OnnxNode& node, Term t, const std::string& kept) {
  if (node.failed()) return t;
  std::vector<int64_t> axes;
  std::vector<int32_t> dims;
  std::string names;
  for (size_t d = 0; d < t.names.size(); ++d) {
    if (!Contains(kept, t.names[d])) {
      axes.push_back(static_cast<int64_t>(d));
      continue;
    }
    names += t.names[d];
    dims.push_back(node.dims(t.x)[d]);
  }
  if (axes.empty()) return t;
  return {node.Reshape(OnnxExpression(node).Reduce("sum", t.x, axes), dims), names};
}

/// t with its dimensions in the order of `names`, those it lacks as 1.
TensorId Ordered(OnnxNode& node, const Term& t, const std::string& names) {
  if (node.failed()) return kNoTensor;
  std::vector<int64_t> permutation;
  std::vector<int32_t> dims;
  for (char name : names) {
    const size_t at = t.names.find(name);
    dims.push_back(at == std::string::npos ? 1 : node.dims(t.x)[at]);
    if (at != std::string::npos) permutation.push_back(static_cast<int64_t>(at));
  }
  return node.Reshape(node.Transpose(t.x, permutation), dims);
}

/// The product of two operands, summed over the names that both have and `kept` has not: a batched matrix product of
/// [batch, rows, depth] and [batch, depth, columns].
Term Contract(OnnxNode& node, Term a, Term b, const std::string& kept) {
  a = SumOver(node, a, kept + b.names);
  b = SumOver(node, b, kept + a.names);
  if (node.failed()) return {};
  std::string batch, depth, rows, columns;
  for (char name : a.names) (!Contains(b.names, name) ? rows : Contains(kept, name) ? batch : depth) += name;
  for (char name : b.names)
    if (!Contains(a.names, name)) columns += name;
  const auto sizes = [&](const Term& t, const std::string& names) {
    std::vector<int32_t> dims;
    for (char name : names) dims.push_back(node.dims(t.x)[t.names.find(name)]);
    return dims;
  };
  const auto product = [](const std::vector<int32_t>& dims) {
    int32_t count = 1;
    for (int32_t dim : dims) count *= dim;
    return count;
  };
  std::vector<int32_t> dims = sizes(a, batch);
  if (sizes(b, batch) != dims || sizes(a, depth) != sizes(b, depth))
    return node.Error("a name stands for dimensions of different sizes"), Term();
  const int32_t n = product(dims), k = product(sizes(a, depth)), r = product(sizes(a, rows)),
                c = product(sizes(b, columns));
  const TensorId left = node.Reshape(Ordered(node, a, batch + rows + depth), {n, r, k});
  const TensorId right = node.Reshape(Ordered(node, b, batch + depth + columns), {n, k, c});
  const TensorId y = node.Emit(Op::kBatchMatMul, {left, right});
  for (int32_t dim : sizes(a, rows)) dims.push_back(dim);
  for (int32_t dim : sizes(b, columns)) dims.push_back(dim);
  return {node.Reshape(y, dims), batch + rows + columns};
}

}  // namespace

TensorId EmitOnnxMatMul(OnnxNode& node, TensorId left, TensorId right) {
  if (node.failed()) return kNoTensor;
  std::vector<int32_t> a = node.dims(left);
  std::vector<int32_t> b = node.dims(right);
  const std::string shapes = "shapes " + DimsText(a) + " and " + DimsText(b);
  if (a.empty() || b.empty()) return node.Error(shapes + ": a scalar has no product"), kNoTensor;
  const bool column = b.size() == 1, row = a.size() == 1;
  if (column) b.push_back(1);
  if (row) a.insert(a.begin(), 1);
  const TensorId x = node.Reshape(left, a);
  TensorId y = kNoTensor;
  if (b.size() > 2) {
    y = node.Emit(Op::kBatchMatMul, {x, right});
  } else {
    if (!MayMake(node, DataType::kFloat32, {b[1]}, right)) return kNoTensor;
    const TensorId weights = node.Transpose(node.Reshape(right, b), {1, 0});
    const TensorId zeros = node.FloatConstant({b[1]}, std::vector<float>(static_cast<size_t>(b[1])));
    y = node.Emit(Op::kFullyConnected, {x, weights, zeros});
  }
  if (node.failed()) return kNoTensor;
  std::vector<int32_t> dims = node.dims(y);
  if (column) dims.pop_back();
  if (row) dims.erase(dims.end() - (column ? 1 : 2));
  return node.Reshape(y, dims);
}

void ImportOnnxMatMul(OnnxNode& node) {
  if (!node.CheckInputs(2, 2) || !node.CheckOutputs(1)) return;
  node.SetOutput(0, EmitOnnxMatMul(node, node.input(0), node.input(1)));
}

/// Operands are multiplied one after the other.
void ImportOnnxEinsum(OnnxNode& node) {
  if (!node.CheckInputs(1, 64) || !node.CheckOutputs(1)) return;
  const auto equation = Parse(node);
  if (!equation) return;
  const auto term = [&](size_t i) { return Diagonal(node, {node.input(static_cast<int>(i)), equation->inputs[i]}); };
  Term result = term(0);
  for (size_t i = 1; i < equation->inputs.size(); ++i) {
    std::string kept = equation->output;
    for (size_t k = i + 1; k < equation->inputs.size(); ++k) kept += equation->inputs[k];
    result = Contract(node, std::move(result), term(i), kept);
  }
  result = SumOver(node, std::move(result), equation->output);
  for (char name : equation->output) {
    if (!node.failed() && !Contains(result.names, name)) return node.Error("the result has a name that no operand has");
  }
  node.SetOutput(0, Ordered(node, result, equation->output));
}

}  // namespace takt::ir
