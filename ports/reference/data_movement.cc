// copy, pad, transpose
#include "engine/ops/checks.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

/// E: an unsigned integer of the element's width.
template <typename E>
void Move(const Walk<2>& walk, const E* from, E* to) {
  ForEachRow(walk, [&](const ptrdiff_t(&at)[2]) {
    const E* in = from + at[0];
    E* out = to + at[1];
    for (int32_t i = 0; i < walk.row(); ++i, in += walk.step(0), out += walk.step(1)) *out = *in;
  });
}

template <typename E>
void RunCopy(const KernelCall& call) {
  const TensorRef* operands[] = {&call.inputs[0], &call.outputs[0]};
  Walk<2> walk;
  walk.rank = operands[1]->rank;
  for (int n = 0; n < 2; ++n) {
    const TensorRef& t = *operands[n];
    DenseStrides(t, walk.strides[n]);
    for (int d = 0; d < walk.rank; ++d) {
      walk.dims[d] = t.dims[d];
      if (t.strides != nullptr) walk.strides[n][d] = t.strides[d] / static_cast<int32_t>(sizeof(E));
    }
  }
  Move(walk, operands[0]->as<const E>(), operands[1]->as<E>());
}

template <typename E>
void RunPad(const KernelCall& call) {
  const auto& p = call.params<schema::PadParams>();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  E* out = y.as<E>();
  const uint32_t size = y.size();
  for (uint32_t i = 0; i < size; ++i) out[i] = static_cast<E>(p.value());
  Walk<2> walk;
  walk.rank = x.rank;
  DenseStrides(x, walk.strides[0]);
  DenseStrides(y, walk.strides[1]);
  for (int d = 0; d < x.rank; ++d) {
    walk.dims[d] = x.dims[d];
    out += walk.strides[1][d] * p.before()->Get(static_cast<uint16_t>(d));
  }
  Move(walk, x.as<const E>(), out);
}

template <typename E>
void RunTranspose(const KernelCall& call) {
  const auto& p = call.params<schema::TransposeParams>();
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  ptrdiff_t strides[kMaxRank] = {};
  DenseStrides(x, strides);
  Walk<2> walk;
  walk.rank = y.rank;
  DenseStrides(y, walk.strides[1]);
  for (int d = 0; d < y.rank; ++d) {
    walk.dims[d] = y.dims[d];
    walk.strides[0][d] = strides[p.permutation()->Get(static_cast<uint16_t>(d))];
  }
  Move(walk, x.as<const E>(), y.as<E>());
}

using Check = Status (*)(const KernelCall&, uint64_t&);
constexpr Kernel Row(Op op, DataType type, Check check, void (*run)(const KernelCall&)) {
  return {{op, Numerics::kAny, Layout::kNeutral, {type, DataType::kNone, type}}, check, run};
}
template <typename E>
constexpr Kernel CopyRow(DataType type) {
  return Row(Op::kCopy, type, &CheckCopy<Numerics::kAny>, &RunCopy<E>);
}
template <typename E>
constexpr Kernel PadRow(DataType type) {
  return Row(Op::kPad, type, &CheckPad<Numerics::kAny>, &RunPad<E>);
}
template <typename E>
constexpr Kernel TransposeRow(DataType type) {
  return Row(Op::kTranspose, type, &CheckTranspose<Numerics::kAny>, &RunTranspose<E>);
}

}  // namespace

constexpr Kernel kCopyFloat32 = CopyRow<uint32_t>(DataType::kFloat32);
constexpr Kernel kCopyInt8 = CopyRow<uint8_t>(DataType::kInt8);
constexpr Kernel kCopyUint8 = CopyRow<uint8_t>(DataType::kUint8);
constexpr Kernel kCopyInt16 = CopyRow<uint16_t>(DataType::kInt16);
constexpr Kernel kCopyInt32 = CopyRow<uint32_t>(DataType::kInt32);
constexpr Kernel kCopyInt64 = CopyRow<uint64_t>(DataType::kInt64);
constexpr Kernel kCopyBool = CopyRow<uint8_t>(DataType::kBool);
constexpr Kernel kCopyUint32 = CopyRow<uint32_t>(DataType::kUint32);
constexpr Kernel kCopyUint64 = CopyRow<uint64_t>(DataType::kUint64);
constexpr Kernel kPadFloat32 = PadRow<uint32_t>(DataType::kFloat32);
constexpr Kernel kPadInt8 = PadRow<uint8_t>(DataType::kInt8);
constexpr Kernel kPadInt16 = PadRow<uint16_t>(DataType::kInt16);
constexpr Kernel kPadInt32 = PadRow<uint32_t>(DataType::kInt32);
constexpr Kernel kPadUint8 = PadRow<uint8_t>(DataType::kUint8);
constexpr Kernel kPadInt64 = PadRow<uint64_t>(DataType::kInt64);
constexpr Kernel kPadBool = PadRow<uint8_t>(DataType::kBool);
constexpr Kernel kTransposeFloat32 = TransposeRow<uint32_t>(DataType::kFloat32);
constexpr Kernel kTransposeInt8 = TransposeRow<uint8_t>(DataType::kInt8);
constexpr Kernel kTransposeInt16 = TransposeRow<uint16_t>(DataType::kInt16);
constexpr Kernel kTransposeInt32 = TransposeRow<uint32_t>(DataType::kInt32);
constexpr Kernel kTransposeUint8 = TransposeRow<uint8_t>(DataType::kUint8);
constexpr Kernel kTransposeInt64 = TransposeRow<uint64_t>(DataType::kInt64);
constexpr Kernel kTransposeBool = TransposeRow<uint8_t>(DataType::kBool);

}  // namespace takt::reference
