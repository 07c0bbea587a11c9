// Data of an ONNX file that lies in other files: found from the model's folder, wherever a tensor is, and nowhere else.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "converter/backend/convert.h"
#include "converter/ir/constants.h"
#include "tests/converter/onnx_builder.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt {
namespace {

using test::OnnxBuilder;

class OnnxExternalTest : public testing::Test {
 protected:
  OnnxExternalTest() {
    std::filesystem::remove_all(base_);
    std::filesystem::create_directories(folder_ / "weights");
  }

  /// Moves a tensor's bytes to the end of a file of the folder.
  void MoveOut(onnx::TensorProto& tensor, const std::string& location = "weights/all.bin") {
    const std::filesystem::path path = folder_ / location;
    const auto offset = std::filesystem::exists(path) ? std::filesystem::file_size(path) : 0;
    std::ofstream(path, std::ios::binary | std::ios::app) << tensor.raw_data();
    PointTo(tensor, location, std::to_string(offset));
  }
  static void PointTo(onnx::TensorProto& tensor, const std::string& location, const std::string& offset = "0") {
    for (const auto& [key, value] : {std::pair{"location", location}, std::pair{"offset", offset}}) {
      auto* entry = tensor.add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    tensor.clear_raw_data();
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
  }
  Conversion Convert(const OnnxBuilder& b) const {
    frontend::OnnxOptions onnx;
    onnx.folder = folder_.string();
    return ConvertOnnx(b.Bytes(), "test.onnx", onnx, {});
  }
  std::vector<float> Outputs(const OnnxBuilder& b, const std::vector<float>& input) const {
    const Conversion made = Convert(b);
    if (made.plan.empty()) return ADD_FAILURE() << test::Errors(made), std::vector<float>();
    return test::Floats(test::PlanRunner(made.plan).Run({ir::ToBytes(input)})[0]);
  }

  /// Of this test alone: others run beside it.
  const std::filesystem::path base_ = std::filesystem::path(testing::TempDir()) / "onnx_external" /
                                      testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::filesystem::path folder_ = base_ / "model";
};

/// A node "Constant" whose value is float[4].
onnx::TensorProto& AddConstant(OnnxBuilder& b, const std::string& output, const std::vector<float>& values) {
  onnx::AttributeProto* attribute = b.Node("Constant", {}, output).add_attribute();
  attribute->set_name("value");
  attribute->set_type(onnx::AttributeProto::TENSOR);
  attribute->mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  attribute->mutable_t()->add_dims(4);
  attribute->mutable_t()->set_raw_data(values.data(), values.size() * sizeof(float));
  return *attribute->mutable_t();
}

TEST_F(OnnxExternalTest, InitializersAreRead) {
  const std::vector<float> input = test::Values(192, 7);
  OnnxBuilder b = test::SmallCnn();
  const std::vector<float> want = Outputs(b, input);
  for (auto& tensor : *b.model().mutable_graph()->mutable_initializer()) MoveOut(tensor);
  EXPECT_EQ(Outputs(b, input), want);
}

TEST_F(OnnxExternalTest, AttributesAreRead) {
  OnnxBuilder b;
  b.Input("x", {4});
  MoveOut(AddConstant(b, "unused", {9, 9, 9, 9}));
  MoveOut(AddConstant(b, "c", {1, 2, 3, 4}));
  b.Node("Add", {"x", "c"}, "y");
  b.Output("y", {4});
  EXPECT_EQ(Outputs(b, {10, 20, 30, 40}), (std::vector<float>{11, 22, 33, 44}));
}

/// Both kinds of tensors, in graphs of which data takes one.
TEST_F(OnnxExternalTest, TensorsOfSubgraphsAreRead) {
  OnnxBuilder sum, product;
  MoveOut(AddConstant(sum, "c", {1, 2, 3, 4}));
  sum.Node("Add", {"x", "c"}, "s");
  sum.Output("s", {4});
  product.Constant("k", {4}, std::vector<float>{5, 6, 7, 8});
  MoveOut(*product.model().mutable_graph()->mutable_initializer(0));
  product.Node("Mul", {"x", "k"}, "p");
  product.Output("p", {4});
  OnnxBuilder b;
  b.Input("x", {4});
  b.Constant("zero", {1}, std::vector<float>{0});
  onnx::AttributeProto* axes = b.Node("ReduceSum", {"x"}, "total").add_attribute();
  axes->set_name("keepdims");
  axes->set_type(onnx::AttributeProto::INT);
  axes->set_i(1);
  b.Node("Greater", {"total", "zero"}, "positive");
  onnx::NodeProto& node = b.Node("If", {"positive"}, "y");
  OnnxBuilder::Graph(node, "then_branch", sum);
  OnnxBuilder::Graph(node, "else_branch", product);
  b.Output("y", {4});
  EXPECT_EQ(Outputs(b, {1, 1, 1, 1}), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(Outputs(b, {-1, -1, -1, -1}), (std::vector<float>{-5, -6, -7, -8}));
}

/// Links within the folder are followed.
TEST_F(OnnxExternalTest, NothingOutsideOfTheFolderIsRead) {
  std::ofstream(base_ / "secret", std::ios::binary) << std::string(16, 'x');
  std::filesystem::create_directories(base_ / "model2");
  std::filesystem::copy_file(base_ / "secret", base_ / "model2" / "secret");
  std::filesystem::create_symlink(base_ / "secret", folder_ / "link");
  std::filesystem::create_directory_symlink(base_, folder_ / "up");
  const std::string absolute = (base_ / "secret").string();
  for (const std::string& location :
       {std::string("../secret"), std::string("weights/../../secret"), std::string("../model2/secret"), absolute,
        std::string("link"), std::string("up/secret"), std::string("up/model2/secret")}) {
    for (const bool attribute : {false, true}) {
      OnnxBuilder b;
      b.Input("x", {4});
      if (!attribute) b.Constant("c", {4}, std::vector<float>(4));
      PointTo(attribute ? AddConstant(b, "c", {}) : *b.model().mutable_graph()->mutable_initializer(0), location);
      b.Node("Add", {"x", "c"}, "y");
      b.Output("y", {4});
      EXPECT_NE(test::Errors(Convert(b)).find("beside or below the model"), std::string::npos) << location;
    }
  }
  std::ofstream(folder_ / "weights" / "c.bin", std::ios::binary) << std::string(16, '\0');
  std::filesystem::create_symlink("weights/c.bin", folder_ / "inside");
  OnnxBuilder b;
  b.Input("x", {4});
  PointTo(AddConstant(b, "c", {}), "inside");
  b.Node("Add", {"x", "c"}, "y");
  b.Output("y", {4});
  EXPECT_EQ(Outputs(b, {1, 2, 3, 4}), (std::vector<float>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace takt
