// svdf
#include <limits>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

/// Drops the oldest value of a filter's row and appends `newest`.
template <typename T>
void Advance(const T* row, T newest, int32_t length, T* next) {
  for (int32_t i = 0; i + 1 < length; ++i) next[i] = row[i + 1];
  next[length - 1] = newest;
}

/// A: arithmetic of the output; M: that of what filters remember.
template <typename A, typename M>
void RunSvdf(const KernelCall& call) {
  using Memory = typename M::Element;
  using Limits = std::numeric_limits<Memory>;
  const auto& p = call.params<schema::SvdfParams>();
  const int32_t batches = call.inputs[0].dims[0], depth = call.inputs[0].dims[1];
  const int32_t units = call.outputs[0].dims[1], length = call.inputs[2].dims[1];
  const auto* bias = call.inputs[3].as<const typename A::Bias>();
  const auto* x = call.inputs[0].as<const typename A::Element>();
  const auto* row = call.inputs[4].as<const Memory>();
  auto* out = call.outputs[0].as<typename A::Element>();
  auto* next = call.outputs[1].as<Memory>();
  const int32_t zero_point = p.state_zero_point();
  const M remember(schema::Clamp(static_cast<float>(Limits::lowest()), static_cast<float>(Limits::max())), zero_point);
  const A output(p.clamp(), p.output_zero_point());
  for (int32_t b = 0; b < batches; ++b, x += depth) {
    const auto* feature = call.inputs[1].as<const typename A::Weight>();
    const auto* time = call.inputs[2].as<const Memory>();
    for (int32_t u = 0; u < units; ++u) {
      auto acc = A::Start(bias[u]);
      for (int32_t r = 0; r < p.rank(); ++r) {
        const auto product = Dot(typename A::Accumulator{}, x, feature, depth, p.input_zero_point(), 0);
        Advance(row, remember.One(product, p.feature()), length, next);
        acc = Dot(acc, next, time, length, zero_point, 0);
        feature += depth, time += length, row += length, next += length;
      }
      *out++ = output.One(A::Finish(acc, bias[u]), p.output());
    }
  }
}

/// What filters remember has 8 or 16 bits.
template <template <typename, typename> class Stage>
void RunByMemory(const KernelCall& call) {
  using A = Stage<int8_t, uint32_t>;
  call.inputs[4].type == DataType::kInt8 ? RunSvdf<A, A>(call) : RunSvdf<A, Stage<int16_t, uint32_t>>(call);
}

template <typename A>
constexpr Kernel Row(RunFunction run) {
  return {ContractionKey<A>(Op::kSvdf), &CheckSvdf<A::kNumerics>, run};
}

}  // namespace

constexpr Kernel kSvdfInt8Fp32Rne = Row<Fp32Rne>(&RunByMemory<Fp32RneOf>);
constexpr Kernel kSvdfInt8Tflite = Row<Tflite>(&RunByMemory<TfliteOf>);
constexpr Kernel kSvdfFloat32 = Row<Float32>(&RunSvdf<Float32, Float32>);

}  // namespace takt::reference
