// softmax: beta. Over the last axis.
#include <algorithm>
#include <cmath>

#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& input = graph.tensor(node.inputs[0]);
  if (input.dims.empty()) return "input has no axis";
  outputs = {{input.type, input.dims}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const auto beta = static_cast<float>(node.FloatOr("beta", 1.0));
  const Tensor& input = step.tensor(node.inputs[0]);
  const Tensor& output = step.tensor(node.outputs[0]);
  if (!IsInteger(input.type)) {
    return step.Set(Op::kSoftmax, Numerics::kAny, schema::SoftmaxParams(beta, 0, 0, 0), node.inputs, node.outputs);
  }
  if (output.type != DataType::kInt8 || ScaleOf(output) != 1.0f / 256 || ZeroPointOf(output) != -128) {
    return step.Error("an int8 softmax has output scale 1/256 and zero point -128", node.outputs[0]);
  }
  const double scale = static_cast<double>(ScaleOf(input));
  if (step.numerics() == Numerics::kTflite) {
    const double real = std::min(static_cast<double>(beta) * scale * (1 << 26), 2147483647.0);
    const FixedMultiplier fixed = QuantizeMultiplier(real);
    const auto radius = static_cast<int32_t>(std::floor(31.0 * (1 << 26) / std::ldexp(1.0, fixed.shift)));
    const schema::SoftmaxParams params(beta, fixed.multiplier, fixed.shift, -radius);
    return step.Set(Op::kSoftmax, Numerics::kTflite, params, node.inputs, node.outputs);
  }
  std::vector<uint32_t> table(256);
  for (int d = 0; d < 256; ++d) {
    table[static_cast<size_t>(d)] =
        static_cast<uint32_t>(std::nearbyint(std::exp(-static_cast<double>(beta) * scale * d) * 4194304.0));
  }
  const TensorId table_id = step.Constant("table", DataType::kUint32, {256}, table);
  step.Set(Op::kSoftmax, Numerics::kFp32Rne, schema::SoftmaxParams(beta, 0, 0, 0), {node.inputs[0], table_id}, node.outputs);
}

void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  const auto* options = node.options<tflite::SoftmaxOptions>();
  node.Add(Op::kSoftmax, {node.input(0)}, {{"beta", options ? static_cast<double>(options->beta()) : 1.0}});
}

constexpr AttributeRule kAttributes[] = {{"beta", AttributeKind::kFloat, false}};
constexpr TfliteImport kTflite[] = {{25, "SOFTMAX", Import}};

}  // namespace

extern const OpDef kSoftmaxDef;
const OpDef kSoftmaxDef = {Op::kSoftmax, kAttributes, Infer, Lower, kTflite, NpuClass::kElementwise};

}  // namespace takt::ir
