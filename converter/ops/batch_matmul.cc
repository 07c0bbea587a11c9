// batch_matmul: transpose_a, transpose_b. Over the last two dimensions; the leading ones broadcast.
#include <algorithm>

#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"

namespace takt::ir {
namespace {

std::string Infer(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  const Tensor& a = graph.tensor(node.inputs[0]);
  const Tensor& b = graph.tensor(node.inputs[1]);
  if (a.type != b.type) return "operands differ in type";
  const std::string shapes = "shapes " + DimsText(a.dims) + " and " + DimsText(b.dims);
  const size_t ra = a.dims.size();
  const size_t rb = b.dims.size();
  if (ra < 2 || rb < 2) return shapes + ": both operands must have rank 2 or more";
  const bool ta = node.IntOr("transpose_a", 0) != 0;
  const bool tb = node.IntOr("transpose_b", 0) != 0;
  if (a.dims[ra - (ta ? 2 : 1)] != b.dims[rb - (tb ? 1 : 2)]) return shapes + ": the depths differ";
  std::vector<int32_t> dims(std::max(ra, rb), 1);
  for (size_t i = 2; i < dims.size(); ++i) {
    const int32_t da = i < ra ? a.dims[ra - 1 - i] : 1;
    const int32_t db = i < rb ? b.dims[rb - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) return shapes + " do not broadcast";
    dims[dims.size() - 1 - i] = da == 1 ? db : da;
  }
  dims[dims.size() - 2] = a.dims[ra - (ta ? 1 : 2)];
  dims[dims.size() - 1] = b.dims[rb - (tb ? 2 : 1)];
  outputs = {{a.type, dims}};
  return "";
}

void Lower(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  if (!CheckQuantized(step)) return;
  const Tensor& a = step.tensor(node.inputs[0]);
  const Tensor& b = step.tensor(node.inputs[1]);
  const Tensor& output = step.tensor(node.outputs[0]);
  float scale = 0;
  FixedMultiplier fixed;
  if (IsInteger(a.type)) {
    const float product = ScaleOf(a) * ScaleOf(b);  // in float under tflite too, as per-tensor fully connected
    if (step.numerics() == Numerics::kTflite)
      fixed = QuantizeMultiplier(static_cast<double>(product) / static_cast<double>(ScaleOf(output)));
    else
      scale = CheckedScale(product / ScaleOf(output), step);
  }
  const schema::BatchMatMulParams params(StoredClamp("none", output), scale, fixed.multiplier, fixed.shift,
                                         static_cast<int16_t>(ZeroPointOf(a)), static_cast<int16_t>(ZeroPointOf(b)),
                                         static_cast<int16_t>(ZeroPointOf(output)), node.IntOr("transpose_a", 0) != 0,
                                         node.IntOr("transpose_b", 0) != 0);
  step.Set(Op::kBatchMatMul, StepNumerics(step, node.inputs[0]), params, node.inputs, node.outputs);
}

void Import(frontend::TfliteNode& node) {
  if (!node.CheckArity(2, 2, 1)) return;
  const auto* options = node.options<tflite::BatchMatMulOptions>();
  node.Add(Op::kBatchMatMul, {node.input(0), node.input(1)},
           {{"transpose_a", int64_t{options != nullptr && options->adj_x()}},
            {"transpose_b", int64_t{options != nullptr && options->adj_y()}}});
}

constexpr AttributeRule kAttributes[] = {{"transpose_a", AttributeKind::kInt, false},
                                         {"transpose_b", AttributeKind::kInt, false}};
constexpr TfliteImport kTflite[] = {{126, "BATCH_MATMUL", Import}};

}  // namespace

extern const OpDef kBatchMatMulDef;
const OpDef kBatchMatMulDef = {Op::kBatchMatMul, kAttributes, Infer, Lower, kTflite, NpuClass::kNone};

}  // namespace takt::ir
