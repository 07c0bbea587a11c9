// rfft, inverse_rfft: length.
#include "converter/frontend/custom_options.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/complex.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/twiddles.h"

namespace takt::ir {
namespace {

constexpr int64_t kMaxLength = 1 << 16;

bool IsProductOf235(int64_t n) {
  for (const int64_t factor : {2, 3, 5})
    while (n % factor == 0) n /= factor;
  return n == 1;
}

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& x = graph.tensor(node.inputs[0]);
  const int64_t length = node.Int("length");
  if (length < 4 || length > kMaxLength || length % 2 != 0 || !IsProductOf235(length / 2))
    return "length " + std::to_string(length) + " is not in [4, 65536] and twice a product of 2, 3 and 5";
  if (x.type != DataType::kInt16 && x.type != DataType::kInt32 && x.type != DataType::kFloat32)
    return "its operand must be int16, int32 or float32";
  const bool inverse = node.op == Op::kInverseRfft;
  if (x.dims.empty() || (inverse ? x.dims.back() != length + 2 : x.dims.back() > length))
    return "operand " + DimsText(x.dims) + " does not suit a transform of length " + std::to_string(length);
  std::vector<int32_t> dims = x.dims;
  dims.back() = static_cast<int32_t>(inverse ? length : length + 2);
  outputs = {{x.type, std::move(dims)}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto length = static_cast<uint32_t>(node.Int("length"));
  const DataType type = step.tensor(node.inputs[0]).type;
  const TensorId twiddles =
      step.graph().AddConstant(node.name + "/twiddles", type, {static_cast<int32_t>(length / 2 + length / 4), 2},
                               Twiddles(length, node.op == Op::kInverseRfft, type));
  step.Set(node.op, Numerics::kAny, schema::FftParams(length), {node.inputs[0], twiddles}, node.outputs);
}

template <Op kOp>
void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  if (const auto length = frontend::CustomOptions(node).Int("fft_length", 4, kMaxLength))
    node.Add(kOp, {node.input(0)}, {{"length", *length}});
}

constexpr AttributeRule kAttributes[] = {{"length", AttributeKind::kInt, true}};
constexpr TfliteImport kForward[] = {{32, "SignalRfft", Import<Op::kRfft>},
                                     {131, "RFFT2D", ImportRfft2d},
                                     {133, "IMAG", ImportImag},
                                     {134, "REAL", ImportReal},
                                     {135, "COMPLEX_ABS", ImportComplexAbs}};
constexpr TfliteImport kInverse[] = {{32, "SignalIrfft", Import<Op::kInverseRfft>}};

}  // namespace

extern const OpDef kRfftDef, kInverseRfftDef;
const OpDef kRfftDef = {Op::kRfft, kAttributes, Infer, Lower, kForward};
const OpDef kInverseRfftDef = {Op::kInverseRfft, kAttributes, Infer, Lower, kInverse};

}  // namespace takt::ir
