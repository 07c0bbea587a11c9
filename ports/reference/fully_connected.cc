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
    const auto* row = w.as<const typename A::Weight>();
    for (int32_t o = 0; o < outputs; ++o, row += depth) {
      const auto acc = Dot(A::Start(bias[o]), x, row, depth, p.input_zero_point(), p.weight_zero_point());
      *out++ = output(A::Finish(acc, bias[o]), o);
    }
  }
}

template <typename A>
constexpr Kernel Row(RunFunction run = &RunFullyConnected<A>) {
  return {ContractionKey<A>(Op::kFullyConnected), &CheckFullyConnected<A::kNumerics>, run};
}

}  // namespace

constexpr Kernel kFullyConnectedInt8Fp32Rne = Row<Fp32Rne>();
constexpr Kernel kFullyConnectedInt8Tflite = Row<Tflite>();
constexpr Kernel kFullyConnectedInt16Fp32Rne = Row<Fp32Rne16>();
constexpr Kernel kFullyConnectedInt16Tflite =
    Row<Tflite16>(&RunByBias<&RunFullyConnected<Tflite16>, &RunFullyConnected<Tflite16Narrow>>);
constexpr Kernel kFullyConnectedFloat32 = Row<Float32>();

}  // namespace takt::reference
