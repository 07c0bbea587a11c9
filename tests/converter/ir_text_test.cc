// The graph's text form: what is printed parses back to the same graph; what is malformed is located.
#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <limits>

#include "converter/frontend/tflite_importer.h"
#include "converter/ir/text.h"
#include "tests/converter/model_files.h"

namespace takt {
namespace {

void ExpectRoundTrip(const ir::Graph& graph) {
  const std::string text = ir::PrintGraph(graph);
  std::string error;
  const auto parsed = ir::ParseGraph(text, error);
  ASSERT_TRUE(parsed.has_value()) << error;
  EXPECT_TRUE(*parsed == graph) << text.substr(0, 2000);
  EXPECT_EQ(ir::PrintGraph(*parsed), text);
}

TEST(IrText, EveryModelRoundTrips) {
  int imported = 0;
  for (const std::string& path : test::ModelFiles()) {
    Diagnostics diagnostics;
    const auto graph = frontend::ImportTflite(test::ReadBytes(path), path, diagnostics);
    if (!graph) continue;
    SCOPED_TRACE(path);
    ExpectRoundTrip(*graph);
    ++imported;
  }
  EXPECT_GT(imported, 0);
}

TEST(IrText, EveryFeatureRoundTrips) {
  ir::Graph graph;
  graph.name = "quotes \" and \\ and \n and \xc3\xa9";
  const auto bits = [](uint32_t b) { return std::bit_cast<float>(b); };
  const float floats[] = {0.1f, -0.0f, bits(1), std::numeric_limits<float>::infinity(), 3.4028235e38f, 16777217.0f};
  ir::Bytes bytes(sizeof(floats));
  std::memcpy(bytes.data(), floats, sizeof(floats));
  graph.AddConstant("floats", DataType::kFloat32, {6}, bytes);
  const float nan = bits(0x7fc12345);
  std::memcpy(bytes.data(), &nan, sizeof(nan));
  graph.AddConstant("nan", DataType::kFloat32, {2, 3}, bytes);
  graph.AddConstant("int8", DataType::kInt8, {2}, {0x80, 0x7f});
  graph.AddConstant("int64", DataType::kInt64, {}, {1, 2, 3, 4, 5, 6, 7, 0xff});
  graph.AddConstant("uint32", DataType::kUint32, {1}, {1, 2, 3, 4});
  graph.AddConstant("long", DataType::kInt8, {100}, ir::Bytes(100, 7));
  graph.AddConstant("odd int4", DataType::kInt4, {3}, {0x21, 0x03});
  ir::Tensor tensor;
  tensor.type = DataType::kInt8;
  tensor.dims = {2, 3};
  tensor.source = 41;
  tensor.quantization = ir::Quantization{{0.1f, bits(1), 1e30f}, {0, -128, 127}, 1};
  graph.AddTensor(tensor);
  tensor.quantization = ir::Quantization{{0.25f}, {3}, 0};
  tensor.view = ir::View{7, 16, {12, 4}};
  graph.AddTensor(tensor);
  ir::Node node;
  node.op = Op::kConv2d;
  node.inputs = {0, ir::kNoTensor, 2};
  node.outputs = {7};
  node.sources = {3, 4};
  node.name = "CONV_2D";
  node.attributes = {{"int", int64_t{-5}},
                     {"whole", 2.0},
                     {"tiny", 5e-324},
                     {"infinite", -std::numeric_limits<double>::infinity()},
                     {"text", std::string("a\"b")},
                     {"ints", std::vector<int64_t>{1, -2}},
                     {"none", std::vector<int64_t>{}},
                     {"floats", std::vector<double>{0.1, 1.0}},
                     {"no_floats", std::vector<double>{}}};
  graph.nodes = {node};
  graph.inputs = {7};
  graph.outputs = {8, 7};
  ExpectRoundTrip(graph);
}

struct Malformed {
  const char* text;
  const char* error;
};

TEST(IrText, MalformedTextIsLocated) {
  const Malformed cases[] = {
      {"", "1:1: expected 'graph', found the end"},
      {"graph x", "1:7: expected a quoted string, found 'x'"},
      {"graph \"x", "1:7: expected a string with valid escapes and a closing quote, found '\"x'"},
      {"graph \"g\"\n%1 \"t\": int8[]",
       "2:1: expected %0, as tensors come in the order of their numbers, found '%1 \"t\": int8[]'"},
      {"graph \"g\"\n%0 \"t\": int7[1]", "2:9: expected a data type, found 'int7[1]'"},
      {"graph \"g\"\n%0 \"t\": int8[x]", "2:14: expected a dimension, found 'x]'"},
      {"graph \"g\"\n%0 \"t\": int8[1,2", "2:17: expected ']', found the end"},
      {"graph \"g\"\n%0 \"t\": int8[1] quant(x)", "2:23: expected a scale, found 'x)'"},
      {"graph \"g\"\n%0 \"t\": int8[1] quant(1.0)", "2:26: expected ':', found ')'"},
      {"graph \"g\"\n%0 \"t\": int8[2] = [1]", "2:19: expected 2 bytes of values, found '[1]'"},
      {"graph \"g\"\n%0 \"t\": int8[1] = [300]", "2:20: expected an element of the tensor's type, found '300]'"},
      {"graph \"g\"\n%0 \"t\": int8[1] = digest 9", "2:19: expected '[', found 'digest 9'"},
      {"graph \"g\"\n%0 \"t\": int8[1] = base64 \"*\"", "2:26: expected base64, found '\"*\"'"},
      {"graph \"g\" inputs outputs %", "1:27: expected a tensor's number, found the end"},
      {"graph \"g\" inputs outputs\n%0 = frobnicate()", "2:6: expected the name of an op, found 'frobnicate()'"},
      {"graph \"g\" inputs outputs\n= copy()", "2:1: expected a node's outputs, found '= copy()'"},
      {"graph \"g\" inputs outputs\n%0 = copy(%1) {a = }", "2:20: expected an attribute's value, found '}'"},
      {"graph \"g\" inputs outputs\n%0 = copy(%1) {a = 1, a = 2}", "2:28: expected each attribute once, found '}'"},
      {"graph \"g\" inputs outputs\n%0 = copy(%1) from [x]", "2:21: expected the index of a source node, found 'x]'"},
  };
  for (const Malformed& c : cases) {
    std::string error;
    EXPECT_FALSE(ir::ParseGraph(c.text, error).has_value()) << c.text;
    EXPECT_EQ(error, c.error) << c.text;
  }
}

TEST(IrText, EveryPrefixIsRejectedOrParses) {
  Diagnostics diagnostics;
  const auto graph = frontend::ImportTflite(test::ReadBytes(test::kFashion), "fashion", diagnostics);
  ASSERT_TRUE(graph.has_value());
  const std::string text = ir::PrintGraph(*graph, ir::ConstantText::kDigest);
  for (size_t length = 0; length < text.size(); ++length) {
    std::string error;
    EXPECT_FALSE(ir::ParseGraph(std::string_view(text).substr(0, length), error).has_value()) << length;
    EXPECT_FALSE(error.empty());
  }
}

}  // namespace
}  // namespace takt
