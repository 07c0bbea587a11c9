// gather
#include <cstring>

#include "engine/ops/checks.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

/// I: the type of indices. An index comes from data: outside of the axis it means the nearest end.
template <typename I>
void RunGather(const KernelCall& call) {
  const auto& p = call.params<schema::GatherParams>();
  const TensorRef &x = call.inputs[0], &indices = call.inputs[1];
  const size_t batches = Product(x.dims, 0, p.batch_dims()), outer = Product(x.dims, p.batch_dims(), p.axis());
  const size_t bytes = Product(x.dims, p.axis() + 1, x.rank) * (BitWidth(x.type) / 8);
  const size_t count = Product(indices.dims, p.batch_dims(), indices.rank);
  const I size = x.dims[p.axis()];
  const auto* in = x.as<const uint8_t>();
  const I* index = indices.as<const I>();
  auto* out = call.outputs[0].as<uint8_t>();
  for (size_t b = 0; b < batches; ++b, index += count) {
    for (size_t o = 0; o < outer; ++o, in += bytes * static_cast<size_t>(size)) {
      for (size_t i = 0; i < count; ++i, out += bytes) {
        const I at = index[i] < 0 ? 0 : index[i] < size ? index[i] : size - 1;
        std::memcpy(out, in + bytes * static_cast<size_t>(at), bytes);
      }
    }
  }
}

template <typename I>
constexpr Kernel Row(DataType type) {
  constexpr DataType kIndex = sizeof(I) == 4 ? DataType::kInt32 : DataType::kInt64;
  return {{Op::kGather, Numerics::kAny, Layout::kNeutral, {type, kIndex, type}},
          &CheckGather<Numerics::kAny>,
          &RunGather<I>};
}

}  // namespace

constexpr Kernel kGatherFloat32 = Row<int32_t>(DataType::kFloat32);
constexpr Kernel kGatherInt8 = Row<int32_t>(DataType::kInt8);
constexpr Kernel kGatherInt16 = Row<int32_t>(DataType::kInt16);
constexpr Kernel kGatherInt32 = Row<int32_t>(DataType::kInt32);
constexpr Kernel kGatherInt64 = Row<int32_t>(DataType::kInt64);
constexpr Kernel kGatherBool = Row<int32_t>(DataType::kBool);
constexpr Kernel kGatherFloat32ByInt64 = Row<int64_t>(DataType::kFloat32);
constexpr Kernel kGatherInt8ByInt64 = Row<int64_t>(DataType::kInt8);
constexpr Kernel kGatherInt16ByInt64 = Row<int64_t>(DataType::kInt16);
constexpr Kernel kGatherInt32ByInt64 = Row<int64_t>(DataType::kInt32);
constexpr Kernel kGatherInt64ByInt64 = Row<int64_t>(DataType::kInt64);
constexpr Kernel kGatherBoolByInt64 = Row<int64_t>(DataType::kBool);

}  // namespace takt::reference
