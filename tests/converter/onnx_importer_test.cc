// What the importer says of bad models, and that layouts and damaged files end well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "converter/backend/convert.h"
#include "converter/ir/constants.h"
#include "tests/converter/onnx_builder.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::Errors;
using test::OnnxBuilder;

Conversion Convert(const OnnxBuilder& builder, const frontend::OnnxOptions& onnx = {},
                   const ConvertOptions& options = {}) {
  return ConvertOnnx(builder.Bytes(), "test.onnx", onnx, options);
}

bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

size_t Transposes(const Conversion& made) {
  return static_cast<size_t>(std::count_if(made.graph.nodes.begin(), made.graph.nodes.end(),
                                           [](const ir::Node& node) { return node.op == Op::kTranspose; }));
}

TEST(OnnxImporter, NamesEveryUnsupportedOperatorInOneRun) {
  OnnxBuilder b;
  b.Input("x", {1, 4});
  b.Node("Unique", {"x"}, "a").set_name("first");
  b.Node("Relu", {"a"}, "b");
  b.Node("Det", {"b"}, "y").set_name("second");
  b.Output("y", {1, 4});
  const std::string errors = Errors(Convert(b));
  EXPECT_TRUE(Contains(errors, "test.onnx:0(Unique first)")) << errors;
  EXPECT_TRUE(Contains(errors, "test.onnx:2(Det second)")) << errors;
  EXPECT_TRUE(Contains(errors, "opset 13")) << errors;
  EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 2) << errors;
}

/// Data of the first initializer in a file.
void MoveOut(OnnxBuilder& b, const char* location, const char* offset) {
  auto* tensor = b.model().mutable_graph()->mutable_initializer(0);
  tensor->clear_raw_data();
  tensor->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair{"location", location}, std::pair{"offset", offset}}) {
    auto* entry = tensor->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
}

/// Node 1 becomes one with a graph as attribute.
void SetControl(OnnxBuilder& b, const char* op_type, const char* attribute) {
  onnx::NodeProto* node = b.model().mutable_graph()->mutable_node(1);
  node->set_op_type(op_type);
  OnnxBuilder body;
  body.Output("c1", {1});
  OnnxBuilder::Graph(*node, attribute, body);
}

TEST(OnnxImporter, RefusesWhatItCannotRead) {
  struct Case {
    const char* name;
    void (*spoil)(OnnxBuilder&);
    const char* expected;
  };
  const Case cases[] = {
      {"opset", [](OnnxBuilder& b) { b.model().mutable_opset_import(0)->set_version(99); }, "opset 99"},
      {"domain", [](OnnxBuilder& b) { b.model().mutable_graph()->mutable_node(0)->set_domain("com.acme"); },
       "com.acme"},
      {"order", [](OnnxBuilder& b) { b.model().mutable_graph()->mutable_node(0)->set_input(0, "y"); }, "on a cycle"},
      {"twice", [](OnnxBuilder& b) { b.model().mutable_graph()->mutable_node(1)->set_output(0, "c1"); },
       "written twice"},
      {"dynamic", test::OpenHeight, "--shape x="},
      {"external", [](OnnxBuilder& b) { MoveOut(b, "absent.bin", "0"); }, "absent.bin"},
      {"escape", [](OnnxBuilder& b) { MoveOut(b, "../secret", "0"); }, "beside or below the model"},
      {"deep escape", [](OnnxBuilder& b) { MoveOut(b, "a/../../secret", "0"); }, "beside or below the model"},
      {"absolute", [](OnnxBuilder& b) { MoveOut(b, "/etc/hostname", "0"); }, "beside or below the model"},
      {"offset", [](OnnxBuilder& b) { MoveOut(b, "onnx_importer_test.cc", "99999999999999999999"); }, "bytes"},
      {"weights beyond int64",
       [](OnnxBuilder& b) {
         for (int i = 0; i < 4; ++i) b.model().mutable_graph()->mutable_initializer(0)->set_dims(i, int64_t{1} << 32);
       },
       "more than 2^30 elements"},
      {"negative weights", [](OnnxBuilder& b) { b.model().mutable_graph()->mutable_initializer(0)->set_dims(0, -8); },
       "has dimension -8"},
      {"input beyond 2^30",
       [](OnnxBuilder& b) {
         auto* type = b.model().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
         for (int i = 0; i < 4; ++i) type->mutable_shape()->mutable_dim(i)->set_dim_value(1 << 20);
       },
       "more than 2^30 elements"},
      {"blocks of no channels",
       [](OnnxBuilder& b) {
         onnx::GraphProto& graph = *b.model().mutable_graph();
         onnx::TensorProto& empty = *graph.add_initializer();
         empty.set_name("empty");
         empty.set_data_type(onnx::TensorProto::FLOAT);
         for (const int64_t d : {1, 0, 1 << 28, 1}) empty.add_dims(d);
         onnx::NodeProto& node = *graph.mutable_node(0);
         node.set_op_type("DepthToSpace");
         node.mutable_input()->Clear();
         node.add_input("empty");
         node.clear_attribute();
         onnx::AttributeProto& block = *node.add_attribute();
         block.set_name("blocksize");
         block.set_type(onnx::AttributeProto::INT);
         block.set_i(1024);
       },
       "more than 2^30 elements"},
      {"if without a branch", [](OnnxBuilder& b) { SetControl(b, "If", "then_branch"); }, "else_branch"},
      {"loop of other values", [](OnnxBuilder& b) { SetControl(b, "Loop", "body"); }, "number of inputs or outputs"},
      {"scan of nothing", [](OnnxBuilder& b) { SetControl(b, "Scan", "body"); }, "number of inputs or outputs"},
      {"bytes", [](OnnxBuilder& b) { b.model().mutable_graph()->mutable_initializer(0)->set_raw_data("abc"); },
       "3 bytes"},
      {"attribute",
       [](OnnxBuilder& b) { OnnxBuilder::Ints(*b.model().mutable_graph()->mutable_node(2), "strides", {1}); },
       "2 values"},
  };
  for (const Case& c : cases) {
    OnnxBuilder b = test::SmallCnn();
    c.spoil(b);
    frontend::OnnxOptions onnx;
    onnx.folder = TAKT_TEST_FOLDER;
    const Conversion made = Convert(b, onnx);
    EXPECT_TRUE(Contains(Errors(made), c.expected)) << c.name << ": " << Errors(made);
    EXPECT_TRUE(made.plan.empty()) << c.name;
  }
}

TEST(OnnxImporter, ShapeOptionFixesDynamicInputs) {
  OnnxBuilder b = test::SmallCnn();
  test::OpenHeight(b);
  frontend::OnnxOptions onnx;
  onnx.shapes["x"] = {1, 3, 8, 8};
  EXPECT_EQ(Errors(Convert(b, onnx)), "");
}

TEST(OnnxImporter, AnInputMadeConstantHasALimit) {
  frontend::OnnxOptions onnx;
  onnx.shapes["x"] = {1, 3, 1 << 14, 1 << 14};
  onnx.constants["x"] = {0};
  EXPECT_TRUE(Contains(Errors(Convert(test::SmallCnn(), onnx)),
                       "x: error: would make a constant [1, 3, 16384, 16384] of float32, 3221225472 bytes"));
}

TEST(OnnxLayout, CnnHasOnlyTheInputsTranspose) {
  const Conversion nchw = Convert(test::SmallCnn());
  EXPECT_EQ(Errors(nchw), "");
  EXPECT_EQ(Transposes(nchw), 1u);
  frontend::OnnxOptions onnx;
  onnx.nhwc_inputs = true;
  EXPECT_EQ(Transposes(Convert(test::SmallCnn(), onnx)), 0u);
}

TEST(OnnxLayout, SunkTransposesChangeNoValue) {
  ConvertOptions keep;
  keep.keep_tensors = true;  // Leaves every transpose where the importer put it.
  const Conversion sunk = Convert(test::SmallCnn());
  const Conversion kept = Convert(test::SmallCnn(), {}, keep);
  EXPECT_GT(Transposes(kept), 5u);
  const std::vector<test::Bytes> input = {ir::ToBytes(test::Values(192, 7))};
  const std::vector<float> got = test::Floats(test::PlanRunner(sunk.plan).Run(input)[0]);
  const std::vector<float> want = test::Floats(test::PlanRunner(kept.plan).Run(input)[0]);
  // The fully connected layer adds in another order: the bound for floats on different ports.
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-5 * std::max(1.0f, std::fabs(want[i])));
}

TEST(OnnxLayout, ChannelShuffleCostsOneTranspose) {
  OnnxBuilder b;
  b.Input("x", {1, 8, 4, 4});
  b.Constant("w", {8, 8, 1, 1}, test::Values(64, 1));
  b.Constant("split", {5}, std::vector<int64_t>{1, 2, 4, 4, 4});
  b.Constant("joined", {4}, std::vector<int64_t>{1, 8, 4, 4});
  b.Node("Conv", {"x", "w"}, "c");
  b.Node("Reshape", {"c", "split"}, "s");
  OnnxBuilder::Ints(b.Node("Transpose", {"s"}, "t"), "perm", {0, 2, 1, 3, 4});
  b.Node("Reshape", {"t", "joined"}, "j");
  b.Node("Conv", {"j", "w"}, "y");
  b.Output("y", {1, 8, 4, 4});
  // At the input, for the shuffle, at the output.
  EXPECT_EQ(Transposes(Convert(b)), 3u);
}

TEST(OnnxImporter, DamagedFilesNeverCrash) {
  const std::vector<uint8_t> model = test::SmallCnn().Bytes();
  std::mt19937 random(1);
  for (int variant = 0; variant < 1000; ++variant) {
    std::vector<uint8_t> bytes = model;
    if (variant % 3 == 0) bytes.resize(random() % bytes.size());
    for (int n = 0; n < 1 + variant % 5 && !bytes.empty(); ++n) {
      // The tables lie at the start and the end; weights between them.
      const size_t from_end = random() % std::min<size_t>(400, bytes.size());
      bytes[random() % 2 ? bytes.size() - 1 - from_end : from_end] = static_cast<uint8_t>(random());
    }
    const Conversion made = ConvertOnnx(bytes, "damaged.onnx", {}, {});
    EXPECT_EQ(made.plan.empty(), !made.diagnostics.ok());
    EXPECT_FALSE(Contains(Errors(made), "internal error")) << variant << ": " << Errors(made);
  }
}

}  // namespace
}  // namespace takt
