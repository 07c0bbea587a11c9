// Integers that are computed when a model is read: right up to the ends of their types, refused where they are too
// many.
#include <gtest/gtest.h>
#include <onnx/defs/parser.h>

#include <limits>

#include "converter/backend/convert.h"
#include "converter/ir/constants.h"
#include "tests/converter/onnx_builder.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::Errors;

/// A model whose output y is what `nodes` make of constants; its input only says how a model looks.
Conversion Convert(const std::string& nodes) {
  const std::string text =
      "<ir_version: 8, opset_import: [\"\" : 17]> test (float[1] x) => (int64 y)\n"
      "<int64 none = {0}, int64 one = {1}, int64 two = {2}, int64 back = {-1}, int64 most = {9223372036854775807},\n"
      "int64 near = {9223372036854775805}, int64[1] first = {0}, int64[1] second = {1}, int64[1] end = {1000},\n"
      "int64[1] far = {9223372036854775807}, int64[1] far_back = {-9223372036854775807}, int64[3] list = {5, 6, 7},\n"
      "int64[1, 3] row = {10, 20, 30}, int64[3, 1] column = {1, 2, 3}, int64[1, 1] single = {4}, int64[0] empty = {},\n"
      "bool[3] choice = {1, 0, 1}, int64[2] many = {2147483648, 2147483648}, int64[1] wrapped = {4294967297},\n"
      "int64[1] tiles = {2147483648}, int64 count = {16777217}, int64[2] pair = {0, 1}> {\n" +
      nodes + "}";
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser(text.c_str()).Parse(model);
  if (!status.IsOK()) ADD_FAILURE() << status.ErrorMessage();
  const std::string bytes = model.SerializeAsString();
  return ConvertOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "test.onnx", {}, {});
}

struct Case {
  const char* nodes;
  std::vector<int32_t> dims;
  std::vector<int64_t> values;
};

TEST(OnnxFold, ComputesIntegers) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Case cases[] = {
      {"y = Add (list, single)\n", {1, 3}, {9, 10, 11}},
      {"y = Add (row, list)\n", {1, 3}, {15, 26, 37}},
      {"y = Add (row, column)\n", {3, 3}, {11, 21, 31, 12, 22, 32, 13, 23, 33}},
      {"y = Mul (most, two)\n", {}, {-2}},
      {"y = Where (choice, list, single)\n", {1, 3}, {5, 4, 7}},
      {"y = Where (choice, row, column)\n", {3, 3}, {10, 1, 30, 10, 2, 30, 10, 3, 30}},
      {"y = Range (near, most, one)\n", {2}, {kMost - 2, kMost - 1}},
      {"y = Range (one, most, near)\n", {2}, {1, kMost - 1}},
      {"y = Range (two, back, back)\n", {3}, {2, 1, 0}},
      {"y = Slice (list, second, end, first, far)\n", {1}, {6}},
      {"y = Slice (list, end, far_back, first, far_back)\n", {1}, {7}},
      {"y = ConstantOfShape <value = int64[1] {7}> (second)\n", {1}, {7}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.nodes);
    const Conversion made = Convert(c.nodes);
    ASSERT_EQ(Errors(made), "");
    EXPECT_EQ(made.graph.tensor(made.graph.outputs.at(0)).dims, c.dims);
    EXPECT_EQ(test::PlanRunner(made.plan).Run({ir::ToBytes(std::vector<float>{0})})[0], ir::ToBytes(c.values));
  }
}

TEST(OnnxFold, RefusesWhatIsTooLargeOrEmpty) {
  const std::pair<const char*, const char*> cases[] = {
      {"y = ConstantOfShape (many)\n", "at most 2^20 elements"},
      {"y = ConstantOfShape (wrapped)\n", "at most 2^20 elements"},
      {"y = ConstantOfShape <value = int64[2] {1, 2}> (second)\n", "has 2 elements; it must have one"},
      {"y = Range (back, most, one)\n", "at most 2^20 elements"},
      {"y = Add (empty, one)\n", "dimension 0"},
      {"y = OneHot (list, count, pair)\n", "depth must be 1 to 2^24"},
      {"y = Tile (list, tiles)\n", "would make a constant [3, 2147483648] of int32, 25769803776 bytes"},
      {"y = Expand (first, many)\n", "would make a constant [1, 2147483648] of int32"},
  };
  for (const auto& [nodes, message] : cases) {
    SCOPED_TRACE(nodes);
    const Conversion made = Convert(nodes);
    EXPECT_NE(Errors(made).find(message), std::string::npos) << Errors(made);
  }
}

}  // namespace
}  // namespace takt
