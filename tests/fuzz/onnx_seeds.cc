#include "tests/fuzz/onnx_seeds.h"

#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <cstdio>
#include <cstdlib>

namespace takt::test {
namespace {

using onnx::TensorProto;

/// A model as ONNX's text: the options line, the opset, the graph and the functions after it.
struct Text {
  const char* name;
  const char* options;
  int opset;
  const char* graph;
};

// Nodes whose values nothing reads are read and folded all the same.
constexpr Text kTexts[] = {
    {"contrib_quantized", "", 17, R"(g (float[1, 2, 4, 4] x) => (float[1, 2, 1, 2] y)
<float s = {0.02}, float t = {0.015}, uint8 z = {120}> {
q = com.microsoft.QuantizeLinear (x, s, z)
a = com.microsoft.QLinearAdd (q, s, z, q, s, z, t, z)
b = com.microsoft.QLinearAveragePool <kernel_shape = [2, 2], strides = [2, 2]> (a, t, z, t, z)
c = com.microsoft.QLinearLeakyRelu <alpha = 0.1> (b, t, z, t, z)
d = com.microsoft.QLinearSigmoid (c, t, z, t, z)
e = com.microsoft.QLinearReduceMean <axes = [2], keepdims = 1> (d, t, z, t, z)
f = com.microsoft.QLinearSoftmax <axis = -1> (e, t, z, t, z)
y = com.microsoft.DequantizeLinear (f, t, z) })"},
    {"contrib_products", "", 17, R"(g (float[2, 2] x) => (float[2, 3] y, float[2, 3] u, float[2, 3] v, float[2, 3] w)
<float s = {0.02}, uint8 z = {120}, int8[2, 3] m = {1, -2, 3, 4, 5, -6}, float[3] ms = {0.1, 0.2, 0.3}, int8[3] mz = {0, 0, 0},
 int32[3] bias = {1, 2, 3}, float[3] fb = {1, 2, 3}> {
q = QuantizeLinear (x, s, z)
y = com.microsoft.QGemm (q, s, z, m, ms, mz, bias)
r = com.microsoft.QGemm (q, s, z, m, ms, mz, , s, z)
u = DequantizeLinear (r, s, z)
v = com.microsoft.MatMulIntegerToFloat (q, m, s, ms, z, mz, fb)
w = com.microsoft.DynamicQuantizeMatMul (x, m, ms, mz, fb) })"},
    {"contrib_activations", "", 13, R"(g (float[2, 3] x) => (float[2, 2] y, float[2, 2] u, float[2, 3] n)
<float[3, 2] m = {1, -2, 3, 4, 5, -6}, float[3] s = {1, 2, 3}> {
y = com.microsoft.FusedGemm <activation = "Clip", activation_params = [-1.0, 1.0]> (x, m)
u = com.microsoft.FusedGemm <activation = "HardSigmoid"> (x, m)
n = LayerNormalization <axis = -1> (x, s, s) })"},
    {"contrib_refused", "", 17, R"(g (float[2, 2] x) => (float[2, 2] y, float[2, 2] u) {
y = com.microsoft.FusedMatMul <transBatchA = 1> (x, x)
u = com.microsoft.Unheard (x) })"},
    {"fold_constants", "", 17, R"(g (float[2, 3] x) => (float[6] y)
<int64[2] two = {1, 2}, int64[1] six = {6}> {
a = Constant <value_int = 3> ()
b = Constant <value_ints = [1, 2]> ()
c = Constant <value_floats = [1.0, 2.0]> ()
d = ConstantOfShape (two)
e = ConstantOfShape <value = int64[1] {3}> (two)
f = ConstantOfShape <value = int32[1] {3}> (two)
g = ConstantOfShape <value = uint8[1] {3}> (two)
h = ConstantOfShape <value = bool[1] {1}> (two)
i = ConstantOfShape <value = int8[1] {3}> (two)
j = Size (x)
k = EyeLike <k = 1> (x)
l = EyeLike <dtype = 7> (x)
m = NonZero (e)
n = Cast <to = 7> (b)
o = Cast <to = 9> (b)
p = Cast <to = 6> (c)
q = Cast <to = 2> (b)
r = Cast <to = 1> (b)
t = Shape <start = -1> (x)
y = Reshape (x, six) })"},
    {"fold_arithmetic", "", 17, R"(g (float[2, 3] x) => (float[6] y, int64[3] u)
<int64[2] a = {7, -2}, int64[2] b = {2, 1}, int64 none = {0}, int64 one = {1}, int64 four = {4}, int64 back = {-1},
 int32 i = {1}, int32 j = {5}, float f = {0}, float l = {1}, float d = {0.25}, int64[1] six = {6}, int64 far = {9223372036854775807},
 int64[1] start = {1}, int64[1] axis = {0}, int64[1] end = {9223372036854775807}, bool[2] choice = {1, 0}> {
c = Div (a, b)
e = Equal (a, b)
w = Where (e, a, one)
v = Where (choice, b, a)
r = Range (none, four, one)
s = Range (four, none, back)
t = Range (i, j, i)
k = Range (f, l, d)
m = Range (none, far, far)
n = Slice (r, start, end, axis, end)
o = Div (a, none)
z = NonZero (s)
u = Range (one, four, one)
y = Reshape (x, six) })"},
    {"fold_refused", "", 17, R"(g (float[2, 3] x) => (float[2, 3] y)
<int64[2] a = {7, -2}, int64[2] two = {2, 2}, int64[2] outside = {0, 2}, int64[1] wide = {4611686018427387904}, float[2] f = {1, 1.0e20}> {
b = Gather (a, outside)
c = ConstantOfShape (wide)
d = ConstantOfShape <value = int64[2] {1, 2}> (two)
e = Constant <value_string = "text"> ()
f2 = Constant <value = string[1] {"text"}> ()
h = NonZero (x)
i = EyeLike (f)
j = Cast <to = 7> (f)
k = Cast <to = 8> (a)
y = Relu (x) })"},
    {"functions_of_types", "", 13,
     R"(g (float[2, 3] x, int64[2] t) => (float y, float u, float[2, 3] v, float[2, 3] w) {
y = NegativeLogLikelihoodLoss <reduction = "mean"> (x, t)
u = SoftmaxCrossEntropyLoss <reduction = "sum"> (x, t)
v = MeanVarianceNormalization <axes = [0, 1]> (x)
w = HardSwish (x) })"},
    {"functions_refused", "", 13, R"(g (float[2, 3] x, int64[2] t) => (float y, float u, float[2, 3] v) {
y = NegativeLogLikelihoodLoss <reduction = 3> (x, t)
u = SoftmaxCrossEntropyLoss <reduction = ["a"]> (x, t)
v = MeanVarianceNormalization <axes = [7]> (x) })"},
    {"functions_of_the_model", "", 13, R"(g (float[3] x, bool c) => (float[3] y) { y = own.Twice <factor = 3.0> (x, c) }
<opset_import: ["" : 13], domain: "own">
Twice <factor> (a, c) => (b) {
f = Constant <value_float: float = @factor> ()
b = If (c) <then_branch = t () => (float[3] p) { p = Mul (a, f) }, else_branch = e () => (float[3] q) { q = Identity (a) }> })"},
    {"old_broadcast", "", 6, R"(g (float[2, 3, 4] x) => (float[2, 3, 4] y)
<float[3] w = {1, 2, 3}> {
a = Add <broadcast = 1, axis = 1> (x, w)
b = Mul <broadcast = 1, axis = 9> (a, w)
y = Sub <broadcast = 1, axis = -2> (a, w) })"},
    {"ranks", "", 13,
     R"(g (float[1, 2, 6] x, float[1, 1, 2, 4, 4] v, float[2, 3] m) => (float[1, 2, 4] y, float[1, 1, 1, 2, 2] u)
<float[2, 2, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}> {
y = Conv (x, w)
u = MaxPool <kernel_shape = [2, 2, 2], strides = [2, 2, 2]> (v)
n = MaxPool <kernel_shape = [2]> (m) })"},
    {"stored_weights", "", 13, R"(g (float[1, 4, 6] x) => (float[1, 2, 4] y, float[4, 3] u)
<int8[2, 4, 3] q = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, float[2] s = {0.1, 0.2},
 int8[2] z = {0, 0}, float one = {0.1}, int8 none = {0}, int64[2] shape = {8, 3}, int64[2] flat = {2, 12}> {
w = DequantizeLinear <axis = 0> (q, s, z)
y = Conv (x, w)
v = DequantizeLinear (q, one, none)
r = Reshape (v, shape)
k = Reshape (w, flat)
a = Constant <value_ints = [0]> ()
b = Constant <value_ints = [4]> ()
u = Slice (r, a, b) })"},
    {"recurrent", "", 14, R"(g (float[2, 1, 2] x) => (float[2, 1, 1, 1] y)
<float[1, 1, 2] w = {1, 2}, float[1, 1, 1] r = {1}> {
y = RNN <hidden_size = 1, activations = ["LeakyRelu"], activation_alpha = [0.5]> (x, w, r) })"},
    {"refused_axes", "", 11, R"(g (float[2, 3] x) => (float[2, 3] y) {
y = Softmax <axis = 7> (x)
a = ReduceMean <axes = [0, 0]> (x)
b = ReduceMean <axes = [5]> (x)
c = Relu <axis = 1> (x, x)
d = Softmax <axis = "one"> (x)
e = Transpose <perm = [0, 0]> (x) })"},
    {"refused_operands", "", 13, R"(g (float[1, 1, 2, 3] x, int64[2] shape, bool c) => (float[2, 3] y)
<float[4] four = {1, 2, 3, 4}, int64[1] three = {3}, int64[4] pads = {1, 1, 1, 1}, float s = {0.1}, int8 z = {0}, int64[4] huge = {1, 1, 2147483647, 2147483647}> {
y = Reshape (x, shape)
a = Reshape (four, three)
d = Conv (x, , x)
e = Clip (x, four)
f = Expand (x, huge)
h = Loop (three, c)
i = If (c)
q = QuantizeLinear (x, s, z)
j = Relu (q)
k, l = Relu (x)
m = Tile (x, huge) })"},
    {"scalars_of_integers", "", 13, R"(g (int64[4] x, float[4] v) => (int64[4] y, int64[6] u, float[4] w)
<int64 low = {-2}, int64 high = {3}, int64[2] pads = {1, 1}, float ratio = {0.5}, bool off = {0}> {
y = Clip (x, low, high)
u = Pad (x, pads, low)
w = Dropout (v, ratio, off) })"},
    {"option_shape", "--shape=x=2x3", 13, "g (float[n, m] x, float[n, k] v) => (float[2, 3] y) { y = Relu (x) }"},
    {"option_named_shape", "--shape=x=2x3", 13,
     "g (float[n, m] x, float[n, m] v) => (float[2, 3] y) { y = Add (x, v) }"},
    {"option_shape_refused", "--shape=x=2 --shape=other=1 --constant=another=1", 13,
     "g (float[2, 3] x) => (float[2, 3] y) { y = Relu (x) }"},
    {"option_constants", "--constant=a=1 --constant=b=1,2 --constant=c=3 --constant=d=-4 --constant=e=5", 13,
     R"(g (float[2] x, float[2] a, int64[2] b, int32[2] c, int8[2] d, uint8[2] e) => (float[2] y) { y = Add (x, a) })"},
    {"option_constants_refused", "--constant=a=1,2,3 --constant=b=0.5 --constant=c=300", 13,
     R"(g (float[2] x, float[2] a, int64[2] b, int8[2] c) => (float[2] y) { y = Add (x, a) })"},
    {"option_nhwc", "--nhwc", 13, R"(g (float[1, 2, 4, 4] x) => (float[1, 2, 1, 1] y) { y = GlobalAveragePool (x) })"},
    {"input_types", "", 13,
     R"(g (float16[2] x, double[n] d, bfloat16[2] e, string[2] s, float[0] none, float[1, 1, 1, 1, 1, 1, 2] deep) => (float16[2] y) { y = Relu (x) })"},
    {"outputs_refused", "", 13, R"(g (float[2] x) => (int64[2] y, float[2] z, float[2] x) { y = Relu (x) })"},
};

onnx::ModelProto Parsed(const Text& text) {
  const std::string whole = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(text.opset) +
                            ", \"com.microsoft\" : 1, \"own\" : 1]> " + text.graph;
  onnx::ModelProto model;
  const auto status = onnx::OnnxParser(whole.c_str()).Parse(model);
  if (!status.IsOK()) {
    std::fprintf(stderr, "%s: %s\n", text.name, status.ErrorMessage().c_str());
    std::exit(1);
  }
  return model;
}

OnnxSeed Seed(const std::string& name, const std::string& options, const onnx::ModelProto& model) {
  const std::string bytes = (options.empty() ? "" : options + "\n") + model.SerializeAsString();
  return {name, {bytes.begin(), bytes.end()}};
}

/// y = x + w; tests of w's storage change it.
onnx::ModelProto Sum() {
  return Parsed({"", "", 13, "g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }"});
}

TensorProto& AddTensor(onnx::ModelProto& model, int32_t type, const std::vector<int64_t>& dims) {
  onnx::GraphProto& graph = *model.mutable_graph();
  TensorProto& tensor = *graph.add_initializer();
  tensor.set_name("t" + std::to_string(graph.initializer_size()));
  tensor.set_data_type(type);
  for (int64_t dim : dims) tensor.add_dims(dim);
  return tensor;
}

/// A constant of every type, in raw bytes and in the field of its type.
OnnxSeed Types() {
  onnx::ModelProto model = Sum();
  for (int32_t type = 0; type <= TensorProto::BFLOAT16; ++type) {
    AddTensor(model, type, {2}).set_raw_data(std::string(16, '\x3c'));
    TensorProto& typed = AddTensor(model, type, {2});
    for (const uint64_t value : {0x7c01, 0x8001}) {  // As a half: not a number, and the smallest below 0.
      typed.add_float_data(static_cast<float>(value));
      typed.add_double_data(static_cast<double>(value));
      typed.add_int64_data(static_cast<int64_t>(value));
      typed.add_int32_data(static_cast<int32_t>(value));
      typed.add_uint64_data(value);
    }
  }
  return Seed("tensor_types", "", model);
}

/// The same, with the right number of raw bytes: the model is read to its end.
OnnxSeed RawTypes() {
  onnx::ModelProto model = Sum();
  constexpr std::pair<int32_t, size_t> kWidths[] = {
      {TensorProto::FLOAT16, 2}, {TensorProto::BFLOAT16, 2}, {TensorProto::DOUBLE, 8}, {TensorProto::UINT32, 4},
      {TensorProto::INT16, 2},   {TensorProto::UINT64, 8},   {TensorProto::BOOL, 1}};
  for (const auto& [type, width] : kWidths) AddTensor(model, type, {2}).set_raw_data(std::string(2 * width, '\x01'));
  return Seed("tensor_raw", "", model);
}

OnnxSeed External(const char* name, const char* location, const char* offset) {
  onnx::ModelProto model = Sum();
  TensorProto& tensor = *model.mutable_graph()->mutable_initializer(0);
  tensor.clear_float_data();
  tensor.set_data_location(TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair("location", location), std::pair("offset", offset)}) {
    tensor.add_external_data()->set_key(key);
    tensor.mutable_external_data()->rbegin()->set_value(value);
  }
  return Seed(name, "", model);
}

/// Tensors that are stored in a way that is refused.
OnnxSeed RefusedTensors() {
  onnx::ModelProto model = Sum();
  AddTensor(model, TensorProto::FLOAT, {-1});
  AddTensor(model, TensorProto::FLOAT, {int64_t{1} << 40});
  AddTensor(model, TensorProto::FLOAT, {0, int64_t{1} << 31});
  AddTensor(model, TensorProto::FLOAT, {2}).mutable_segment()->set_end(1);
  AddTensor(model, TensorProto::FLOAT, {0});
  model.mutable_graph()->add_sparse_initializer()->add_dims(2);
  return Seed("tensors_refused", "", model);
}

/// A graph without types, names or outputs: what the parser of texts would not give.
OnnxSeed Bare() {
  onnx::ModelProto model = Sum();
  onnx::GraphProto& graph = *model.mutable_graph();
  graph.add_input()->set_name("unknown");
  onnx::ValueInfoProto& shapeless = *graph.add_input();
  shapeless.set_name("shapeless");
  shapeless.mutable_type()->mutable_tensor_type()->set_elem_type(TensorProto::FLOAT);
  graph.clear_output();
  graph.add_node()->set_op_type("Relu");
  graph.mutable_node(1)->add_input("x");
  return Seed("bare", "", model);
}

}  // namespace

std::vector<OnnxSeed> OnnxSeeds() {
  std::vector<OnnxSeed> seeds;
  for (const Text& text : kTexts) seeds.push_back(Seed(text.name, text.options, Parsed(text)));
  seeds.insert(seeds.end(), {Types(), RawTypes(), RefusedTensors(), Bare(), External("external", "data", "8"),
                             External("external_cut_off", "data", "60"), External("external_absent", "absent", "0"),
                             External("external_outside", "../data", "0")});
  return seeds;
}

}  // namespace takt::test
