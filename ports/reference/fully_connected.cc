// fully_connected
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

template <typename A>
void RunFullyConnected(const KernelCall& call) {
  using E = typename A::Element;
  const auto& p = call.params<schema::FullyConnectedParams>();
  const TensorRef& w = call.inputs[1];
  const auto* bias = call.inputs[2].as<const typename A::Bias>();
  A output(p.clamp(), p.output_zero_point());
  if constexpr (A::kNumerics != Numerics::kAny) output.SetTable(call.inputs[3]);
  const int32_t outputs = w.dims[0], depth = w.dims[1];
  const auto rows = static_cast<int32_t>(call.inputs[0].size() / static_cast<uint32_t>(depth));
  const E* x = call.inputs[0].as<const E>();
  E* out = call.outputs[0].as<E>();
  for (int32_t r = 0; r < rows; ++r, x += depth) {
    const E* row = w.as<const E>();
    for (int32_t o = 0; o < outputs; ++o, row += depth) {
      const auto acc = Dot(A::Start(bias[o]), x, row, depth, p.input_zero_point(), p.weight_zero_point());
      *out++ = output(A::Finish(acc, bias[o]), o);
    }
  }
}

template <typename A>
constexpr Kernel Row(DataType type) {
  return {{Op::kFullyConnected, A::kNumerics, Layout::kNeutral, {type, type, type}},
          &CheckFullyConnected<A::kNumerics>,
          &RunFullyConnected<A>};
}

}  // namespace

constexpr Kernel kFullyConnectedInt8Fp32Rne = Row<Fp32Rne>(DataType::kInt8);
constexpr Kernel kFullyConnectedInt8Tflite = Row<Tflite>(DataType::kInt8);
constexpr Kernel kFullyConnectedFloat32 = Row<Float32>(DataType::kFloat32);

}  // namespace takt::reference
