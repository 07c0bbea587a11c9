#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "converter/ir/op_def.h"
#include "converter/ir/text.h"
#include "schema/plan_generated.h"

namespace takt::ir {
namespace {

/// Recursive descent; only bodies nest. The first error stays; after it every read fails.
class Parser {
 public:
  Parser(std::string_view text, std::string& error) : text_(text), error_(error) {}

  std::optional<Graph> Run() {
    Graph graph = ReadGraph();
    if (ok_ && Peek() != 0) Fail("a node or the end");
    return ok_ ? std::optional(std::move(graph)) : std::nullopt;
  }

 private:
  static constexpr int kMaxDepth = 16;

  Graph ReadGraph() {
    Graph graph;
    Expect("graph");
    graph.name = String();
    while (ok_ && Peek() == '%') ReadTensor(graph);
    Expect("inputs");
    graph.inputs = Ids();
    Expect("outputs");
    graph.outputs = Ids();
    while (Accept("state")) {
      const std::vector<TensorId> ids = Ids();
      if (ids.size() != 2 && ids.size() != 3)
        return Fail("a state's tensor, its next value and perhaps its initial value"), Graph();
      graph.states.push_back({ids[0], ids[1], ids.size() == 3 ? ids[2] : kNoTensor, Accept("in_place")});
    }
    while (ok_ && Peek() != 0 && Peek() != '}') graph.nodes.push_back(ReadNode());
    return graph;
  }

  /// The next character that is not white space; 0 at the end.
  char Peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void Fail(std::string_view expected) {
    if (!ok_) return;
    ok_ = false;
    Peek();
    const std::string_view before = text_.substr(0, at_);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t column = at_ - (before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1) + 1;
    const std::string_view rest = text_.substr(at_, std::min<size_t>(20, text_.find('\n', at_) - at_));
    error_ = absl::StrCat(line, ":", column, ": expected ", std::string(expected), ", found ",
                          rest.empty() ? "the end" : absl::StrCat("'", std::string(rest), "'"));
  }

  bool Accept(std::string_view token) {
    if (!ok_ || (Peek(), text_.substr(at_, token.size()) != token)) return false;
    at_ += token.size();
    return true;
  }

  void Expect(std::string_view token) {
    if (!Accept(token)) Fail(absl::StrCat("'", std::string(token), "'"));
  }

  std::string Word() {
    Peek();
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return std::string(text_.substr(start, at_ - start));
  }

  std::string String() {
    if (!ok_ || Peek() != '"') return Fail("a quoted string"), "";
    size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    std::string value;
    const bool closed = end < text_.size();
    if (!closed || !absl::CUnescape(absl::string_view(text_.data() + at_ + 1, end - at_ - 1), &value)) {
      return Fail("a string with valid escapes and a closing quote"), "";
    }
    at_ = end + 1;
    return value;
  }

  template <typename T>
  T Number(std::string_view expected) {
    T value{};
    Peek();
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (!ok_ || status != std::errc()) return Fail(expected), T{};
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  template <typename T>
  std::vector<T> List(std::string_view expected) {
    std::vector<T> values;
    Expect("[");
    if (Accept("]")) return values;
    do values.push_back(Number<T>(expected));
    while (Accept(","));
    Expect("]");
    return values;
  }

  TensorId Id() {
    if (Accept("_")) return kNoTensor;
    Expect("%");
    return Number<TensorId>("a tensor's number");
  }

  /// Empty if none is on this line.
  std::vector<TensorId> Ids() {
    std::vector<TensorId> ids;
    const size_t next = text_.find_first_not_of(" \t", at_);
    if (next == std::string_view::npos || (text_[next] != '%' && text_[next] != '_')) return ids;
    do ids.push_back(Id());
    while (Accept(","));
    return ids;
  }

  DataType Type() {
    const size_t start = at_;
    const std::string word = Word();
    for (int i = 0; i < kDataTypeCount; ++i) {
      if (word == schema::EnumNameDataType(static_cast<schema::DataType>(i))) return static_cast<DataType>(i);
    }
    at_ = start;
    Fail("a data type");
    return DataType::kNone;
  }

  Quantization ReadQuantization() {
    Quantization q;
    Expect("(");
    if (Accept("axis")) {
      q.axis = Number<int>("an axis");
      Expect(",");
    }
    do {
      q.scales.push_back(Number<float>("a scale"));
      Expect(":");
      q.zero_points.push_back(Number<int32_t>("a zero point"));
    } while (Accept(","));
    Expect(")");
    return q;
  }

  View ReadView() {
    View view;
    Expect("(");
    view.base = Id();
    Expect("+");
    view.offset_bytes = Number<int64_t>("an offset in bytes");
    if (Accept(",")) {
      Expect("strides");
      view.strides = List<int64_t>("a stride");
    }
    Expect(")");
    return view;
  }

  template <typename T>
  Bytes Elements() {
    const std::vector<T> values = List<T>("an element of the tensor's type");
    Bytes bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
  }

  Bytes ReadConstant(DataType type) {
    if (Accept("base64")) {
      std::string bytes;
      const size_t start = at_;
      if (!absl::Base64Unescape(String(), &bytes)) at_ = start, Fail("base64");
      return {bytes.begin(), bytes.end()};
    }
    switch (type) {
      case DataType::kInt8:
        return Elements<int8_t>();
      case DataType::kInt16:
        return Elements<int16_t>();
      case DataType::kInt32:
        return Elements<int32_t>();
      case DataType::kInt64:
        return Elements<int64_t>();
      case DataType::kFloat32:
        return Elements<float>();
      default:
        Fail("base64");
        return {};
    }
  }

  void ReadTensor(Graph& graph) {
    Tensor tensor;
    const size_t start = at_;
    if (Id() != static_cast<TensorId>(graph.tensors.size())) {
      at_ = start;
      return Fail(absl::StrCat("%", graph.tensors.size(), ", as tensors come in the order of their numbers"));
    }
    tensor.name = String();
    Expect(":");
    tensor.type = Type();
    tensor.dims = List<int32_t>("a dimension");
    if (Accept("quant")) tensor.quantization = ReadQuantization();
    if (Accept("view")) tensor.view = ReadView();
    if (Accept("source")) tensor.source = Number<int32_t>("the index of a source tensor");
    if (Accept("=")) {
      const size_t value = at_;
      tensor.data = std::make_shared<const Bytes>(ReadConstant(tensor.type));
      if (ok_ && static_cast<int64_t>(tensor.data->size()) != tensor.byte_size()) {
        at_ = value;
        return Fail(absl::StrCat(tensor.byte_size(), " bytes of values"));
      }
    }
    graph.tensors.push_back(std::move(tensor));
  }

  Attribute ReadAttribute() {
    const char next = Peek();
    if (next == '"') return String();
    if (Accept("floats")) return List<double>("a float");
    if (next == '[') return List<int64_t>("an integer");
    const size_t end = std::min(text_.find_first_of(",}", at_), text_.size());
    const bool is_float = text_.substr(at_, end - at_).find_first_of(".en") != std::string_view::npos;
    if (is_float) return Number<double>("a float");
    return Number<int64_t>("an attribute's value");
  }

  Op ReadOp() {
    Peek();
    const size_t start = at_;
    const std::string word = Word();
    for (const OpDef* def : AllOpDefs()) {
      if (word == OpName(def->op)) return def->op;
    }
    at_ = start;
    Fail("the name of an op");
    return Op::kNone;
  }

  Node ReadNode() {
    Node node;
    Peek();
    node.outputs = Ids();
    if (node.outputs.empty()) Fail("a node's outputs");
    Expect("=");
    node.op = ReadOp();
    Expect("(");
    node.inputs = Ids();
    Expect(")");
    if (ok_ && Peek() == '"') node.name = String();
    if (Accept("{")) {
      do {
        std::string key = Word();
        if (key.empty()) Fail("an attribute's name");
        Expect("=");
        Attribute value = ReadAttribute();
        if (!node.attributes.emplace(std::move(key), std::move(value)).second) Fail("each attribute once");
      } while (Accept(","));
      Expect("}");
    }
    if (Accept("from")) node.sources = List<int32_t>("the index of a source node");
    while (Accept("body")) {
      Expect("{");
      if (++depth_ > kMaxDepth) Fail("bodies nested at most 16 deep");
      if (ok_) node.bodies.push_back(ReadGraph());
      --depth_;
      Expect("}");
    }
    return node;
  }

  std::string_view text_;
  std::string& error_;
  size_t at_ = 0;
  int depth_ = 0;
  bool ok_ = true;
};

}  // namespace

std::optional<Graph> ParseGraph(std::string_view text, std::string& error) {
  return Parser(text, error).Run();
}

}  // namespace takt::ir
