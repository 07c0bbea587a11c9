// Small ONNX models for tests.
#ifndef TAKT_TESTS_CONVERTER_ONNX_BUILDER_H_
#define TAKT_TESTS_CONVERTER_ONNX_BUILDER_H_

#include <onnx/onnx_pb.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace takt::test {

class OnnxBuilder {
 public:
  explicit OnnxBuilder(int opset = 13) {
    model_.set_ir_version(8);
    model_.add_opset_import()->set_version(opset);
    model_.mutable_graph()->set_name("test");
  }

  onnx::ModelProto& model() { return model_; }

  void Input(const std::string& name, const std::vector<int64_t>& dims) {
    Value(model_.mutable_graph()->add_input(), name, dims);
  }
  void Output(const std::string& name, const std::vector<int64_t>& dims) {
    Value(model_.mutable_graph()->add_output(), name, dims);
  }

  template <typename T>
  void Constant(const std::string& name, const std::vector<int64_t>& dims, const std::vector<T>& values) {
    onnx::TensorProto* tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(TypeOf(T{}));
    for (int64_t dim : dims) tensor->add_dims(dim);
    tensor->set_raw_data(values.data(), values.size() * sizeof(T));
  }

  onnx::NodeProto& Node(const std::string& op, const std::vector<std::string>& inputs, const std::string& output) {
    onnx::NodeProto* node = model_.mutable_graph()->add_node();
    node->set_op_type(op);
    for (const std::string& input : inputs) node->add_input(input);
    node->add_output(output);
    return *node;
  }

  static void Ints(onnx::NodeProto& node, const std::string& name, const std::vector<int64_t>& values) {
    onnx::AttributeProto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::INTS);
    for (int64_t value : values) attribute->add_ints(value);
  }

  /// The graph of `body` as an attribute.
  static void Graph(onnx::NodeProto& node, const std::string& name, OnnxBuilder& body) {
    onnx::AttributeProto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    *attribute->mutable_g() = body.model().graph();
  }

  std::vector<uint8_t> Bytes() const {
    const std::string text = model_.SerializeAsString();
    return {text.begin(), text.end()};
  }

 private:
  static int32_t TypeOf(float) { return onnx::TensorProto::FLOAT; }
  static int32_t TypeOf(int64_t) { return onnx::TensorProto::INT64; }
  static int32_t TypeOf(uint8_t) { return onnx::TensorProto::UINT8; }
  static int32_t TypeOf(int8_t) { return onnx::TensorProto::INT8; }
  static int32_t TypeOf(int32_t) { return onnx::TensorProto::INT32; }
  static int32_t TypeOf(bool) { return onnx::TensorProto::BOOL; }

  static void Value(onnx::ValueInfoProto* value, const std::string& name, const std::vector<int64_t>& dims) {
    value->set_name(name);
    auto* type = value->mutable_type()->mutable_tensor_type();
    type->set_elem_type(onnx::TensorProto::FLOAT);
    type->mutable_shape();
    for (int64_t dim : dims) type->mutable_shape()->add_dim()->set_dim_value(dim);
  }

  onnx::ModelProto model_;
};

/// Deterministic values in [-1, 1).
inline std::vector<float> Values(size_t count, uint32_t state) {
  std::vector<float> values(count);
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = (static_cast<float>(state >> 24) - 128.0f) / 128.0f;
  }
  return values;
}

/// The bytes of a float32 tensor.
inline std::vector<float> Floats(const std::vector<uint8_t>& bytes) {
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Makes dimension 2 of input 0 a parameter.
inline void OpenHeight(OnnxBuilder& b) {
  auto* type = b.model().mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type();
  type->mutable_shape()->mutable_dim(2)->set_dim_param("h");
}

/// x [1,3,8,8] -> conv 3x3 -> relu -> depthwise 3x3 -> add -> max pool -> flatten -> gemm -> y [1,5].
inline OnnxBuilder SmallCnn() {
  OnnxBuilder b;
  b.Input("x", {1, 3, 8, 8});
  b.Constant("w1", {8, 3, 3, 3}, Values(216, 1));
  b.Constant("b1", {8}, Values(8, 2));
  b.Constant("w2", {8, 1, 3, 3}, Values(72, 3));
  b.Constant("w3", {5, 128}, Values(640, 4));
  OnnxBuilder::Ints(b.Node("Conv", {"x", "w1", "b1"}, "c1"), "pads", {1, 1, 1, 1});
  b.Node("Relu", {"c1"}, "r1");
  onnx::NodeProto& depthwise = b.Node("Conv", {"r1", "w2"}, "c2");
  OnnxBuilder::Ints(depthwise, "pads", {1, 1, 1, 1});
  onnx::AttributeProto* group = depthwise.add_attribute();
  group->set_name("group");
  group->set_type(onnx::AttributeProto::INT);
  group->set_i(8);
  b.Node("Add", {"r1", "c2"}, "a");
  onnx::NodeProto& pool = b.Node("MaxPool", {"a"}, "p");
  OnnxBuilder::Ints(pool, "kernel_shape", {2, 2});
  OnnxBuilder::Ints(pool, "strides", {2, 2});
  b.Node("Flatten", {"p"}, "f");
  onnx::AttributeProto* trans = b.Node("Gemm", {"f", "w3"}, "y").add_attribute();
  trans->set_name("transB");
  trans->set_type(onnx::AttributeProto::INT);
  trans->set_i(1);
  b.Output("y", {1, 5});
  return b;
}

}  // namespace takt::test

#endif  // TAKT_TESTS_CONVERTER_ONNX_BUILDER_H_
