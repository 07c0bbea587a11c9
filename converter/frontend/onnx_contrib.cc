#include "converter/frontend/onnx_contrib.h"

#include <onnx/defs/parser.h>

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace takt::frontend {
namespace {

using onnx::NodeProto;

constexpr int kOpset = 17;  // Of the bodies.

const onnx::AttributeProto* Find(const NodeProto& node, const std::string& name) {
  const auto found = std::find_if(node.attribute().begin(), node.attribute().end(),
                                  [&](const auto& attribute) { return attribute.name() == name; });
  return found == node.attribute().end() ? nullptr : &*found;
}
int64_t Int(const NodeProto& node, const std::string& name, int64_t fallback) {
  const auto* attribute = Find(node, name);
  return attribute != nullptr ? attribute->i() : fallback;
}
float Float(const NodeProto& node, const std::string& name, float fallback) {
  const auto* attribute = Find(node, name);
  return attribute != nullptr ? attribute->f() : fallback;
}

/// A float as the parser of texts tells it from an integer.
std::string Text(float value) {
  return absl::StrFormat("%.9e", value);
}

/// A node as its text sees it: inputs x0, x1, .., of which some may be absent.
struct Form {
  const NodeProto& node;
  const std::vector<ir::Tensor>& inputs;

  bool has(int i) const { return i < node.input_size() && !node.input(i).empty(); }
  int64_t rank(int i) const { return has(i) ? static_cast<int64_t>(inputs[static_cast<size_t>(i)].dims.size()) : 0; }
};

/// "add(a, b)" where input `i` is given, else "a".
std::string Plus(const Form& form, const std::string& value, int i, const std::string& result) {
  return form.has(i) ? absl::StrCat(result, " = Add (", value, ", x", i, ")\n")
                     : absl::StrCat(result, " = Identity (", value, ")\n");
}

/// Input `i` with its last two dimensions swapped.
std::string Turned(const Form& form, int i, const std::string& name, bool turn) {
  if (!turn || form.rank(i) < 2) return absl::StrCat(name, " = Identity (x", i, ")\n");
  std::vector<int64_t> order;
  for (int64_t d = 0; d < form.rank(i); ++d) order.push_back(d);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return absl::StrCat(name, " = Transpose <perm = [", absl::StrJoin(order, ", "), "]> (x", i, ")\n");
}

/// `op` between channels-first transposes if the node says that its channels come last.
std::string ChannelsFirst(const Form& form, const std::string& op) {
  if (Int(form.node, "channels_last", 0) == 0) return absl::StrCat("b = ", op, " (a)\n");
  return absl::StrCat("t = Transpose <perm = [0, 3, 1, 2]> (a)\nu = ", op,
                      " (t)\nb = Transpose <perm = [0, 2, 3, 1]> (u)\n");
}

std::string QLinearBinary(const std::string& op) {
  return absl::StrCat("a = DequantizeLinear (x0, x1, x2)\nb = DequantizeLinear (x3, x4, x5)\nc = ", op,
                      " (a, b)\ny0 = QuantizeLinear (c, x6, x7)\n");
}

std::string QLinearUnary(const std::string& steps) {
  return absl::StrCat("a = DequantizeLinear (x0, x1, x2)\n", steps, "y0 = QuantizeLinear (b, x3, x4)\n");
}

std::string QLinearConcat(const Form& form) {
  std::string text;
  std::vector<std::string> parts;
  for (int i = 2; i + 2 < form.node.input_size(); i += 3) {
    parts.push_back(absl::StrCat("p", i));
    absl::StrAppend(&text, parts.back(), " = DequantizeLinear (x", i, ", x", i + 1, ", x", i + 2, ")\n");
  }
  return absl::StrCat(text, "c = Concat (", absl::StrJoin(parts, ", "), ")\ny0 = QuantizeLinear (c, x0, x1)\n");
}

/// The bias is int32 in units of the product of both scales.
std::string QGemm(const Form& form) {
  const int64_t axis = Int(form.node, "transB", 0) != 0 ? 0 : 1;
  std::string text =
      absl::StrCat("a = DequantizeLinear (x0, x1, x2)\nb = DequantizeLinear <axis = ", axis, "> (x3, x4, x5)\n");
  if (form.has(6)) {
    absl::StrAppend(&text, "s = Mul (x1, x4)\nc = DequantizeLinear <axis = ", std::max<int64_t>(0, form.rank(6) - 1),
                    "> (x6, s)\n");
  }
  absl::StrAppend(&text, "g = Gemm (a, b", form.has(6) ? ", c" : "", ")\n");
  return absl::StrCat(text, form.has(7) ? "y0 = QuantizeLinear (g, x7, x8)\n" : "y0 = Identity (g)\n");
}

/// y0 = the activation that the node names, of `value`.
std::string Activation(const NodeProto& node, const std::string& value) {
  const auto* name = Find(node, "activation");
  const std::string op = name != nullptr && !name->s().empty() ? name->s() : "Identity";
  std::vector<float> p;
  if (const auto* given = Find(node, "activation_params")) p.assign(given->floats().begin(), given->floats().end());
  const auto at = [&p](size_t i, float fallback) { return Text(i < p.size() ? p[i] : fallback); };
  if (op == "Clip") {
    return absl::StrCat("least = Constant <value_float = ", at(0, -3.4e38f),
                        "> ()\nmost = Constant <value_float = ", at(1, 3.4e38f), "> ()\ny0 = Clip (", value,
                        ", least, most)\n");
  }
  if (op == "LeakyRelu") return absl::StrCat("y0 = LeakyRelu <alpha = ", at(0, 0.01f), "> (", value, ")\n");
  if (op == "HardSigmoid")
    return absl::StrCat("y0 = HardSigmoid <alpha = ", at(0, 0.2f), ", beta = ", at(1, 0.5f), "> (", value, ")\n");
  return absl::StrCat("y0 = ", op, " (", value, ")\n");
}

std::string FusedConv(const Form& form) {
  return absl::StrCat("c = Conv (x0, x1, x2)\n", Plus(form, "c", 3, "s"), Activation(form.node, "s"));
}

std::string FusedMatMul(const Form& form) {
  if (Int(form.node, "transBatchA", 0) != 0 || Int(form.node, "transBatchB", 0) != 0) return "";
  return absl::StrCat(
      Turned(form, 0, "a", Int(form.node, "transA", 0) != 0), Turned(form, 1, "b", Int(form.node, "transB", 0) != 0),
      "m = MatMul (a, b)\nf = Constant <value_float = ", Text(Float(form.node, "alpha", 1)), "> ()\ny0 = Mul (m, f)\n");
}

/// x / 2 * (1 + erf(x / sqrt(2))), of `value`.
std::string Gelu(const std::string& value) {
  return absl::StrCat(
      "root = Constant <value_float = 1.41421356> ()\none = Constant <value_float = 1.0> ()\n"
      "half = Constant <value_float = 0.5> ()\nd = Div (",
      value, ", root)\ne = Erf (d)\nf = Add (e, one)\ng = Mul (", value, ", f)\ny0 = Mul (g, half)\n");
}

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))).
std::string FastGelu(const Form& form) {
  return absl::StrCat(Plus(form, "x0", 1, "v"),
                      "three = Constant <value_float = 3.0> ()\nk = Constant <value_float = 0.044715> ()\n"
                      "r = Constant <value_float = 0.797884583> ()\none = Constant <value_float = 1.0> ()\n"
                      "half = Constant <value_float = 0.5> ()\nc = Pow (v, three)\nd = Mul (c, k)\ne = Add (v, d)\n"
                      "f = Mul (e, r)\nt = Tanh (f)\nu = Add (t, one)\nw = Mul (v, u)\ny0 = Mul (w, half)\n");
}

std::string QuickGelu(const Form& form) {
  return absl::StrCat("k = Constant <value_float = ", Text(Float(form.node, "alpha", 1.702f)),
                      "> ()\na = Mul (x0, k)\ns = Sigmoid (a)\ny0 = Mul (x0, s)\n");
}

std::string Epsilon(const NodeProto& node) {
  return Text(Float(node, "epsilon", 1e-5f));
}

/// value / sqrt(mean(value^2) + epsilon) * scale, along the last dimension.
std::string RootMeanSquare(const Form& form, const std::string& value, const std::string& scale) {
  return absl::StrCat("epsilon = Constant <value_float = ", Epsilon(form.node), "> ()\nsquare = Mul (", value, ", ",
                      value, ")\nmean = ReduceMean <axes = [-1]> (square)\nsum = Add (mean, epsilon)\n",
                      "root = Sqrt (sum)\nunit = Div (", value, ", root)\ny0 = Mul (unit, ", scale, ")\n");
}

std::string SkipLayerNormalization(const Form& form) {
  return absl::StrCat("s = Add (x0, x1)\n", Plus(form, "s", 4, "y3"),
                      "y0 = LayerNormalization <axis = -1, epsilon = ", Epsilon(form.node), "> (y3, x2",
                      form.has(3) ? ", x3" : "", ")\n");
}

std::string SkipRootMeanSquare(const Form& form) {
  return absl::StrCat("s = Add (x0, x1)\n", Plus(form, "s", 3, "y3"), RootMeanSquare(form, "y3", "x2"));
}

/// a * b + bias, b quantized per column.
std::string QuantizedMatMul(const Form& form, const std::string& a, int scale, int zero_point, int bias) {
  return absl::StrCat(a, "b = DequantizeLinear <axis = ", std::max<int64_t>(0, form.rank(1) - 1), "> (x1, x", scale,
                      form.has(zero_point) ? absl::StrCat(", x", zero_point) : "", ")\nm = MatMul (a, b)\n",
                      Plus(form, "m", bias, "y0"));
}

std::string MatMulIntegerToFloat(const Form& form) {
  const std::string a = absl::StrCat("a = DequantizeLinear (x0, x2", form.has(4) ? ", x4" : "", ")\n");
  return QuantizedMatMul(form, a, 3, 5, 6);
}

std::string DynamicQuantizeMatMul(const Form& form) {
  return QuantizedMatMul(form, "q, s, z = DynamicQuantizeLinear (x0)\na = DequantizeLinear (q, s, z)\n", 2, 3, 4);
}

/// Operator, its nodes, and which of these gets the operator's attributes.
struct Row {
  const char* op_type;
  std::string (*text)(const Form& form);
  const char* attributes_of;
};

constexpr Row kRows[] = {
    {"BiasGelu", [](const Form&) { return "v = Add (x0, x1)\n" + Gelu("v"); }, ""},
    {"DequantizeLinear", [](const Form&) { return std::string("y0 = DequantizeLinear (x0, x1, x2)\n"); },
     "DequantizeLinear"},
    {"DynamicQuantizeMatMul", DynamicQuantizeMatMul, ""},
    {"FastGelu", FastGelu, ""},
    {"FusedConv", FusedConv, "Conv"},
    {"FusedGemm", [](const Form& f) { return "g = Gemm (x0, x1, x2)\n" + Activation(f.node, "g"); }, "Gemm"},
    {"FusedMatMul", FusedMatMul, ""},
    {"Gelu", [](const Form&) { return Gelu("x0"); }, ""},
    {"LayerNormalization",
     [](const Form& f) { return std::string("y0 = LayerNormalization (x0, x1") + (f.has(2) ? ", x2)\n" : ")\n"); },
     "LayerNormalization"},
    {"MatMulIntegerToFloat", MatMulIntegerToFloat, ""},
    {"QGemm", QGemm, "Gemm"},
    {"QLinearAdd", [](const Form&) { return QLinearBinary("Add"); }, ""},
    {"QLinearAveragePool", [](const Form& f) { return QLinearUnary(ChannelsFirst(f, "AveragePool")); }, "AveragePool"},
    {"QLinearConcat", QLinearConcat, "Concat"},
    {"QLinearGlobalAveragePool", [](const Form& f) { return QLinearUnary(ChannelsFirst(f, "GlobalAveragePool")); }, ""},
    {"QLinearLeakyRelu", [](const Form&) { return QLinearUnary("b = LeakyRelu (a)\n"); }, "LeakyRelu"},
    {"QLinearMul", [](const Form&) { return QLinearBinary("Mul"); }, ""},
    {"QLinearReduceMean", [](const Form&) { return QLinearUnary("b = ReduceMean (a)\n"); }, "ReduceMean"},
    {"QLinearSigmoid", [](const Form&) { return QLinearUnary("b = Sigmoid (a)\n"); }, ""},
    {"QLinearSoftmax", [](const Form&) { return QLinearUnary("b = Softmax (a)\n"); }, "Softmax"},
    {"QuantizeLinear", [](const Form&) { return std::string("y0 = QuantizeLinear (x0, x1, x2)\n"); }, "QuantizeLinear"},
    {"QuickGelu", QuickGelu, ""},
    {"SimplifiedLayerNormalization", [](const Form& f) { return RootMeanSquare(f, "x0", "x1"); }, ""},
    {"SkipLayerNormalization", SkipLayerNormalization, ""},
    {"SkipSimplifiedLayerNormalization", SkipRootMeanSquare, ""},
};

const Row* FindRow(const NodeProto& node) {
  const auto row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& each) { return node.op_type() == each.op_type; });
  const bool own = node.domain() == "com.microsoft";
  const bool early = IsStandardDomain(node.domain()) &&
                     (node.op_type() == "LayerNormalization" || node.op_type() == "SimplifiedLayerNormalization");
  return row != std::end(kRows) && (own || early) ? row : nullptr;
}

}  // namespace

bool IsContrib(const NodeProto& node) {
  return FindRow(node) != nullptr;
}

std::optional<FunctionBody> ExpandContrib(const NodeProto& node, const std::vector<ir::Tensor>& inputs) {
  const Row* row = FindRow(node);
  const std::string text = row == nullptr ? "" : row->text({node, inputs});
  FunctionBody body;
  body.opset = kOpset;
  if (text.empty() || !onnx::OnnxParser(("{" + text + "}").c_str()).Parse(body.nodes).IsOK()) return std::nullopt;
  for (NodeProto& inner : body.nodes) {
    if (inner.op_type() == row->attributes_of) {
      for (const auto& attribute : node.attribute())
        if (Find(inner, attribute.name()) == nullptr) *inner.add_attribute() = attribute;
    }
    for (std::string& name : *inner.mutable_input()) {  // Those that the node lacks.
      int i = 0;
      if (name[0] == 'x' && absl::SimpleAtoi(name.substr(1), &i) && !Form{node, inputs}.has(i)) name.clear();
    }
  }
  for (int i = 0; i < node.input_size(); ++i) body.inputs.push_back(absl::StrCat("x", i));
  for (int i = 0; i < node.output_size(); ++i)
    body.outputs.push_back(node.output(i).empty() ? "" : absl::StrCat("y", i));
  return body;
}

}  // namespace takt::frontend
