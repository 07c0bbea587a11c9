// gather_nd, scatter_nd, update_slice
#include <cstring>
#include <type_traits>

#include "engine/ops/checks.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

/// I: the type of indices. An index comes from data: outside of its dimension it means the nearest end.
template <typename I>
void RunGatherNd(const KernelCall& call) {
  const TensorRef &x = call.inputs[0], &indices = call.inputs[1];
  const int batch_dims = call.params<schema::GatherNdParams>().batch_dims(), last = indices.rank - 1;
  const int32_t named = indices.dims[last];
  const size_t batches = Product(x.dims, 0, batch_dims), rows = Product(indices.dims, batch_dims, last);
  const size_t bytes = Product(x.dims, batch_dims + named, x.rank) * (BitWidth(x.type) / 8);
  const size_t batch_bytes = Product(x.dims, batch_dims, batch_dims + named) * bytes;
  const auto* in = x.as<const uint8_t>();
  const I* index = indices.as<const I>();
  auto* out = call.outputs[0].as<uint8_t>();
  for (size_t b = 0; b < batches; ++b, in += batch_bytes) {
    for (size_t r = 0; r < rows; ++r, index += named, out += bytes) {
      size_t part = 0;
      for (int k = 0; k < named; ++k) {
        const I size = x.dims[batch_dims + k];
        const I at = index[k] < 0 ? 0 : index[k] < size ? index[k] : size - 1;
        part = part * static_cast<size_t>(size) + static_cast<size_t>(at);
      }
      std::memcpy(out, in + part * bytes, bytes);
    }
  }
}

/// Integers wrap.
template <typename E>
E Combine(schema::ScatterFunction function, E a, E b) {
  using enum schema::ScatterFunction;
  using U = std::conditional_t<std::is_integral_v<E>, uint64_t, E>;
  switch (function) {
    case add:
      return static_cast<E>(static_cast<U>(a) + static_cast<U>(b));
    case multiply:
      return static_cast<E>(static_cast<U>(a) * static_cast<U>(b));
    case maximum:
      return a < b ? b : a;
    case minimum:
      return b < a ? b : a;
    case replace:
      break;
  }
  return b;
}

/// E: the element, or for types that are only moved an unsigned integer of its width.
template <typename E, typename I>
void RunScatterNd(const KernelCall& call) {
  const auto function = call.params<schema::ScatterNdParams>().function();
  const TensorRef &updates = call.inputs[0], &indices = call.inputs[1], &y = call.outputs[0];
  const int last = indices.rank - 1;
  const int32_t named = indices.dims[last];
  const size_t rows = Product(indices.dims, 0, last), count = Product(y.dims, named, y.rank);
  if (call.inputs.size() == 3)
    std::memcpy(y.data, call.inputs[2].data, y.size() * sizeof(E));
  else
    std::memset(y.data, 0, y.size() * sizeof(E));
  const E* update = updates.as<const E>();
  const I* index = indices.as<const I>();
  for (size_t r = 0; r < rows; ++r, index += named, update += count) {
    size_t part = 0;
    bool inside = true;
    for (int k = 0; k < named; ++k) {
      inside = inside && index[k] >= 0 && index[k] < y.dims[k];
      part = part * static_cast<size_t>(y.dims[k]) + (inside ? static_cast<size_t>(index[k]) : 0);
    }
    E* out = y.as<E>() + part * count;
    for (size_t i = 0; inside && i < count; ++i) out[i] = Combine(function, out[i], update[i]);
  }
}

/// E: an unsigned integer of the element's width.
template <typename E, typename I>
void RunUpdateSlice(const KernelCall& call) {
  const TensorRef &update = call.inputs[0], &starts = call.inputs[1], &x = call.inputs[2], &y = call.outputs[0];
  if (y.data != x.data) std::memcpy(y.data, x.data, y.size() * sizeof(E));
  Walk<2> walk;
  walk.rank = y.rank;
  DenseStrides(update, walk.strides[0]);
  DenseStrides(y, walk.strides[1]);
  E* out = y.as<E>();
  for (int d = 0; d < y.rank; ++d) {
    walk.dims[d] = update.dims[d];
    const I start = starts.as<const I>()[d], most = y.dims[d] - update.dims[d];
    out += walk.strides[1][d] * static_cast<ptrdiff_t>(start < 0 ? 0 : start < most ? start : most);
  }
  const auto row = static_cast<size_t>(walk.row());
  ForEachRow(walk,
             [&](const ptrdiff_t(&at)[2]) { std::memcpy(out + at[1], update.as<const E>() + at[0], row * sizeof(E)); });
}

template <typename I>
constexpr KernelKey Key(Op op, DataType type) {
  return {op, Numerics::kAny, Layout::kNeutral, {type, kDataTypeOf<I>, type}};
}
template <typename I>
constexpr Kernel GatherRow(DataType type) {
  return {Key<I>(Op::kGatherNd, type), &CheckGatherNd<Numerics::kAny>, &RunGatherNd<I>};
}
template <typename E, typename I>
constexpr Kernel ScatterRow(DataType type = kDataTypeOf<E>) {
  return {Key<I>(Op::kScatterNd, type), &CheckScatterNd<Numerics::kAny>, &RunScatterNd<E, I>};
}
template <typename E, typename I>
constexpr Kernel UpdateRow(DataType type) {
  return {Key<I>(Op::kUpdateSlice, type), &CheckUpdateSlice<Numerics::kAny>, &RunUpdateSlice<E, I>};
}

}  // namespace

constexpr Kernel kGatherNdFloat32 = GatherRow<int32_t>(DataType::kFloat32);
constexpr Kernel kGatherNdInt8 = GatherRow<int32_t>(DataType::kInt8);
constexpr Kernel kGatherNdInt16 = GatherRow<int32_t>(DataType::kInt16);
constexpr Kernel kGatherNdInt32 = GatherRow<int32_t>(DataType::kInt32);
constexpr Kernel kGatherNdInt64 = GatherRow<int32_t>(DataType::kInt64);
constexpr Kernel kGatherNdBool = GatherRow<int32_t>(DataType::kBool);
constexpr Kernel kGatherNdFloat32ByInt64 = GatherRow<int64_t>(DataType::kFloat32);
constexpr Kernel kGatherNdInt8ByInt64 = GatherRow<int64_t>(DataType::kInt8);
constexpr Kernel kGatherNdInt16ByInt64 = GatherRow<int64_t>(DataType::kInt16);
constexpr Kernel kGatherNdInt32ByInt64 = GatherRow<int64_t>(DataType::kInt32);
constexpr Kernel kGatherNdInt64ByInt64 = GatherRow<int64_t>(DataType::kInt64);
constexpr Kernel kGatherNdBoolByInt64 = GatherRow<int64_t>(DataType::kBool);
constexpr Kernel kScatterNdFloat32 = ScatterRow<float, int32_t>();
constexpr Kernel kScatterNdInt8 = ScatterRow<int8_t, int32_t>();
constexpr Kernel kScatterNdInt16 = ScatterRow<int16_t, int32_t>();
constexpr Kernel kScatterNdInt32 = ScatterRow<int32_t, int32_t>();
constexpr Kernel kScatterNdInt64 = ScatterRow<int64_t, int32_t>();
constexpr Kernel kScatterNdBool = ScatterRow<uint8_t, int32_t>(DataType::kBool);
constexpr Kernel kScatterNdFloat32ByInt64 = ScatterRow<float, int64_t>();
constexpr Kernel kScatterNdInt8ByInt64 = ScatterRow<int8_t, int64_t>();
constexpr Kernel kScatterNdInt16ByInt64 = ScatterRow<int16_t, int64_t>();
constexpr Kernel kScatterNdInt32ByInt64 = ScatterRow<int32_t, int64_t>();
constexpr Kernel kScatterNdInt64ByInt64 = ScatterRow<int64_t, int64_t>();
constexpr Kernel kScatterNdBoolByInt64 = ScatterRow<uint8_t, int64_t>(DataType::kBool);
constexpr Kernel kUpdateSliceFloat32 = UpdateRow<uint32_t, int32_t>(DataType::kFloat32);
constexpr Kernel kUpdateSliceInt8 = UpdateRow<uint8_t, int32_t>(DataType::kInt8);
constexpr Kernel kUpdateSliceInt16 = UpdateRow<uint16_t, int32_t>(DataType::kInt16);
constexpr Kernel kUpdateSliceInt32 = UpdateRow<uint32_t, int32_t>(DataType::kInt32);
constexpr Kernel kUpdateSliceInt64 = UpdateRow<uint64_t, int32_t>(DataType::kInt64);
constexpr Kernel kUpdateSliceBool = UpdateRow<uint8_t, int32_t>(DataType::kBool);
constexpr Kernel kUpdateSliceFloat32ByInt64 = UpdateRow<uint32_t, int64_t>(DataType::kFloat32);
constexpr Kernel kUpdateSliceInt8ByInt64 = UpdateRow<uint8_t, int64_t>(DataType::kInt8);
constexpr Kernel kUpdateSliceInt16ByInt64 = UpdateRow<uint16_t, int64_t>(DataType::kInt16);
constexpr Kernel kUpdateSliceInt32ByInt64 = UpdateRow<uint32_t, int64_t>(DataType::kInt32);
constexpr Kernel kUpdateSliceInt64ByInt64 = UpdateRow<uint64_t, int64_t>(DataType::kInt64);
constexpr Kernel kUpdateSliceBoolByInt64 = UpdateRow<uint8_t, int64_t>(DataType::kBool);

}  // namespace takt::reference
