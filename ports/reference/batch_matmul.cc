// batch_matmul
#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

/// Element strides of one operand: of its leading dims (0 where it broadcasts), of the output's rows or columns, and of
/// the depth.
struct Operand {
  ptrdiff_t outer = 0, depth = 0;
  Operand(const TensorRef& t, int rank, bool depth_is_last, ptrdiff_t* leading) {
    ptrdiff_t strides[kMaxRank] = {};
    DenseStrides(t, strides);
    for (int d = 0; d < t.rank - 2; ++d) leading[rank - t.rank + d] = t.dims[d] == 1 ? 0 : strides[d];
    outer = depth_is_last ? strides[t.rank - 2] : 1;
    depth = depth_is_last ? 1 : strides[t.rank - 2];
  }
};

template <typename A>
void RunBatchMatMul(const KernelCall& call) {
  using E = typename A::Element;
  const auto& p = call.params<schema::BatchMatMulParams>();
  const TensorRef &a = call.inputs[0], &b = call.inputs[1], &y = call.outputs[0];
  const A output(p.clamp(), p.output_zero_point());
  Walk<2> batches;
  batches.rank = y.rank - 1;  // a row of one batch ends each walk
  for (int d = 0; d < y.rank - 2; ++d) batches.dims[d] = y.dims[d];
  batches.dims[y.rank - 2] = 1;
  const Operand rows(a, y.rank, !p.transpose_a(), batches.strides[0]);
  const Operand columns(b, y.rank, p.transpose_b(), batches.strides[1]);
  const int32_t height = y.dims[y.rank - 2], width = y.dims[y.rank - 1];
  const int32_t depth = a.dims[a.rank - (p.transpose_a() ? 2 : 1)];
  const int32_t az = p.a_zero_point(), bz = p.b_zero_point();
  E* out = y.as<E>();
  ForEachRow(batches, [&](const ptrdiff_t(&at)[2]) {
    for (int32_t m = 0; m < height; ++m) {
      for (int32_t n = 0; n < width; ++n) {
        const E* left = a.as<const E>() + at[0] + m * rows.outer;
        const E* right = b.as<const E>() + at[1] + n * columns.outer;
        typename A::Accumulator acc = 0;
        for (int32_t k = 0; k < depth; ++k, left += rows.depth, right += columns.depth)
          MultiplyAdd(acc, Centered(*left, az), Centered(*right, bz));
        *out++ = output.One(acc, p);
      }
    }
  });
}

template <typename A>
constexpr Kernel Row() {
  constexpr DataType kType = kDataTypeOf<typename A::Element>;
  return {{Op::kBatchMatMul, A::kNumerics, Layout::kNeutral, {kType, kType, kType}},
          &CheckBatchMatMul<A::kNumerics>,
          &RunBatchMatMul<A>};
}

}  // namespace

constexpr Kernel kBatchMatMulInt8Fp32Rne = Row<Fp32Rne>();
constexpr Kernel kBatchMatMulInt8Tflite = Row<Tflite>();
constexpr Kernel kBatchMatMulInt16Fp32Rne = Row<Fp32Rne16>();
constexpr Kernel kBatchMatMulInt16Tflite = Row<Tflite16>();
constexpr Kernel kBatchMatMulFloat32 = Row<Float32>();

}  // namespace takt::reference
