// What the importer says of bad models, and that layouts and damaged files end well.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "converter/backend/convert.h"
#include "converter/ir/constants.h"
#include "tests/converter/onnx_builder.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::OnnxBuilder;

Conversion Convert(const OnnxBuilder& builder, const frontend::OnnxOptions& onnx = {},
                   const ConvertOptions& options = {}) {
  return ConvertOnnx(builder.Bytes(), "test.onnx", onnx, options);
}

/// All errors, one a line.
std::string Errors(const Conversion& made) {
  std::string text;
  for (const Diagnostic& d : made.diagnostics.all()) {
    if (d.severity == Severity::kError) text += d.ToString() + "\n";
  }
  return text;
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
      {"order", [](OnnxBuilder& b) { b.model().mutable_graph()->mutable_node(0)->set_input(0, "y"); },
       "nothing before it writes"},
      {"twice", [](OnnxBuilder& b) { b.model().mutable_graph()->mutable_node(1)->set_output(0, "c1"); },
       "written twice"},
      {"dynamic", test::OpenHeight, "--shape x="},
      {"external",
       [](OnnxBuilder& b) {
         auto* tensor = b.model().mutable_graph()->mutable_initializer(0);
         tensor->clear_raw_data();
         tensor->set_data_location(onnx::TensorProto::EXTERNAL);
         auto* entry = tensor->add_external_data();
         entry->set_key("location");
         entry->set_value("absent.bin");
       },
       "absent.bin"},
      {"escape",
       [](OnnxBuilder& b) {
         auto* tensor = b.model().mutable_graph()->mutable_initializer(0);
         tensor->set_data_location(onnx::TensorProto::EXTERNAL);
         auto* entry = tensor->add_external_data();
         entry->set_key("location");
         entry->set_value("../secret");
       },
       "beside or below the model"},
      {"bytes", [](OnnxBuilder& b) { b.model().mutable_graph()->mutable_initializer(0)->set_raw_data("abc"); },
       "3 bytes"},
      {"attribute",
       [](OnnxBuilder& b) { OnnxBuilder::Ints(*b.model().mutable_graph()->mutable_node(2), "strides", {1}); },
       "2 values"},
  };
  for (const Case& c : cases) {
    OnnxBuilder b = test::SmallCnn();
    c.spoil(b);
    const Conversion made = Convert(b);
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
