#include <charconv>
#include <cmath>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/ir/text.h"
#include "engine/base/sha256.h"
#include "schema/plan_generated.h"

namespace takt::ir {
namespace {

constexpr int64_t kMaxListedElements = 16;

/// A number that reads as a float: with a point, an exponent, or a name.
template <typename T>
std::string FloatText(T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::Utf8SafeCEscape(text), "\"");
}

template <typename T, typename Text>
std::string ListText(const std::vector<T>& values, Text text) {
  return absl::StrCat("[", absl::StrJoin(values, ", ", [&](std::string* out, const T& v) { *out += text(v); }), "]");
}

std::string AttributeText(const Attribute& attribute) {
  struct Visitor {
    std::string operator()(int64_t v) const { return absl::StrCat(v); }
    std::string operator()(double v) const { return FloatText(v); }
    std::string operator()(const std::string& v) const { return Quoted(v); }
    std::string operator()(const std::vector<int64_t>& v) const {
      return absl::StrCat("[", absl::StrJoin(v, ", "), "]");
    }
    std::string operator()(const std::vector<double>& v) const {
      return absl::StrCat("floats ", ListText(v, FloatText<double>));
    }
  };
  return std::visit(Visitor{}, attribute);
}

template <typename T>
std::string ElementsText(const Bytes& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return ListText(values, [](T v) {
    if constexpr (std::is_floating_point_v<T>) {
      return FloatText(v);
    } else {
      return absl::StrCat(static_cast<int64_t>(v));
    }
  });
}

/// NaNs have bits that no decimal carries.
bool HasNan(const Bytes& bytes) {
  for (size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, &bytes[i], sizeof(float));
    if (std::isnan(value)) return true;
  }
  return false;
}

std::string ConstantValue(const Tensor& tensor, ConstantText constants) {
  const Bytes& bytes = *tensor.data;
  if (tensor.element_count() <= kMaxListedElements && static_cast<int64_t>(bytes.size()) == tensor.byte_size()) {
    switch (tensor.type) {
      case DataType::kInt8:
        return ElementsText<int8_t>(bytes);
      case DataType::kInt16:
        return ElementsText<int16_t>(bytes);
      case DataType::kInt32:
        return ElementsText<int32_t>(bytes);
      case DataType::kInt64:
        return ElementsText<int64_t>(bytes);
      case DataType::kFloat32:
        if (!HasNan(bytes)) return ElementsText<float>(bytes);
        break;
      default:
        break;
    }
  }
  if (constants == ConstantText::kDigest) {
    uint8_t digest[32];
    Sha256(std::as_bytes(std::span<const uint8_t>(bytes)), digest);
    const absl::string_view prefix(reinterpret_cast<const char*>(digest), 8);
    return absl::StrCat("digest ", bytes.size(), " bytes sha256 ", absl::BytesToHexString(prefix));
  }
  const absl::string_view raw(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return absl::StrCat("base64 \"", absl::Base64Escape(raw), "\"");
}

std::string QuantizationText(const Quantization& q) {
  std::string text = " quant(";
  if (q.axis != 0 || q.per_channel()) absl::StrAppend(&text, "axis ", q.axis, ", ");
  for (size_t i = 0; i < q.scales.size(); ++i) {
    const int32_t zero_point = i < q.zero_points.size() ? q.zero_points[i] : 0;
    absl::StrAppend(&text, i == 0 ? "" : ", ", FloatText(q.scales[i]), ":", zero_point);
  }
  return text + ")";
}

std::string TensorText(size_t id, const Tensor& tensor, ConstantText constants) {
  std::string text = absl::StrCat("%", id, " ", Quoted(tensor.name), ": ",
                                  schema::EnumNameDataType(static_cast<schema::DataType>(tensor.type)), "[",
                                  absl::StrJoin(tensor.dims, ","), "]");
  if (tensor.quantization) text += QuantizationText(*tensor.quantization);
  if (tensor.view) {
    absl::StrAppend(&text, " view(%", tensor.view->base, " + ", tensor.view->offset_bytes);
    if (!tensor.view->strides.empty())
      absl::StrAppend(&text, ", strides [", absl::StrJoin(tensor.view->strides, ", "), "]");
    text += ")";
  }
  if (tensor.source >= 0) absl::StrAppend(&text, " source ", tensor.source);
  if (tensor.is_constant()) absl::StrAppend(&text, " = ", ConstantValue(tensor, constants));
  return text + "\n";
}

std::string Ids(const std::vector<TensorId>& ids) {
  return absl::StrJoin(ids, ", ",
                       [](std::string* out, TensorId id) { *out += id == kNoTensor ? "_" : absl::StrCat("%", id); });
}

std::string NodeText(const Node& node) {
  std::string text = absl::StrCat(Ids(node.outputs), " = ", OpName(node.op), "(", Ids(node.inputs), ")");
  if (!node.name.empty()) absl::StrAppend(&text, " ", Quoted(node.name));
  if (!node.attributes.empty()) {
    absl::StrAppend(&text, " {",
                    absl::StrJoin(node.attributes, ", ",
                                  [](std::string* out, const auto& attribute) {
                                    absl::StrAppend(out, attribute.first, " = ", AttributeText(attribute.second));
                                  }),
                    "}");
  }
  if (!node.sources.empty()) absl::StrAppend(&text, " from [", absl::StrJoin(node.sources, ", "), "]");
  return text + "\n";
}

}  // namespace

std::string PrintGraph(const Graph& graph, ConstantText constants) {
  std::string text = absl::StrCat("graph ", Quoted(graph.name), "\n");
  for (size_t i = 0; i < graph.tensors.size(); ++i) text += TensorText(i, graph.tensors[i], constants);
  absl::StrAppend(&text, "inputs ", Ids(graph.inputs), "\noutputs ", Ids(graph.outputs), "\n");
  for (const State& state : graph.states) {
    std::vector<TensorId> ids = {state.tensor, state.next};
    if (state.initial != kNoTensor) ids.push_back(state.initial);
    absl::StrAppend(&text, "state ", Ids(ids), state.in_place ? " in_place\n" : "\n");
  }
  for (const Node& node : graph.nodes) {
    text += NodeText(node);
    for (const Graph& body : node.bodies) absl::StrAppend(&text, "body {\n", PrintGraph(body, constants), "}\n");
  }
  return text;
}

}  // namespace takt::ir
