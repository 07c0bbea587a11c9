#include "ports/xnnpack/kernels.h"

#include "engine/ops/checks.h"
#include "ports/xnnpack/contraction.h"
#include "ports/xnnpack/elementwise.h"
#include "ports/xnnpack/pooling.h"

namespace takt::xnnpack {
namespace {

constinit KernelTable others;
constinit bool initialized = false;

constexpr DataType kI8 = DataType::kInt8, kF32 = DataType::kFloat32, kNoType = DataType::kNone;
constexpr Numerics kRne = Numerics::kFp32Rne, kAny = Numerics::kAny;

template <Op kOp, Numerics kNumerics, DataType kType, DataType kSecond = kType>
constexpr KernelKey kKey{kOp, kNumerics, Layout::kNeutral, {kType, kSecond, kType}};

using enum Op;
constexpr const Row* kRows[] = {
    &kRow<kKey<kConv2d, kRne, kI8>, &CheckConv2d<kRne>, Convolution<kConv2d, int8_t>>,
    &kRow<kKey<kConv2d, kAny, kF32>, &CheckConv2d<kAny>, Convolution<kConv2d, float>>,
    &kRow<kKey<kDepthwiseConv2d, kRne, kI8>, &CheckDepthwiseConv2d<kRne>, Convolution<kDepthwiseConv2d, int8_t>>,
    &kRow<kKey<kDepthwiseConv2d, kAny, kF32>, &CheckDepthwiseConv2d<kAny>, Convolution<kDepthwiseConv2d, float>>,
    &kRow<kKey<kFullyConnected, kRne, kI8>, &CheckFullyConnected<kRne>, Convolution<kFullyConnected, int8_t>>,
    &kRow<kKey<kFullyConnected, kAny, kF32>, &CheckFullyConnected<kAny>, Convolution<kFullyConnected, float>>,
    &kRow<kKey<kConv2dAdd, kRne, kI8>, &CheckConv2dAdd<kRne>, Convolution<kConv2dAdd, int8_t>, AddInt8<kConv2dAdd>>,
    &kRow<kKey<kAdd, kRne, kI8>, &CheckAdd<kRne>, AddInt8<kAdd>>,
    &kRow<kKey<kAdd, kAny, kF32>, &CheckAdd<kAny>, AddFloat>,
    &kRow<kKey<kMul, kRne, kI8>, &CheckMul<kRne>, Multiply<int8_t>>,
    &kRow<kKey<kMul, kAny, kF32>, &CheckMul<kAny>, Multiply<float>>,
    &kRow<kKey<kMaxPool2d, kAny, kI8, kNoType>, &CheckMaxPool2d<kAny>, Pool<true, int8_t>>,
    &kRow<kKey<kMaxPool2d, kAny, kF32, kNoType>, &CheckMaxPool2d<kAny>, Pool<true, float>>,
    &kRow<kKey<kAveragePool2d, kAny, kF32, kNoType>, &CheckAveragePool2d<kAny>, Pool<false, float>>,
};

struct Table {
  const Kernel* rows[std::size(kRows)];
};
constexpr Table kTable = [] {
  Table table{};
  for (size_t i = 0; i < std::size(kRows); ++i) table.rows[i] = &kRows[i]->kernel;
  return table;
}();

}  // namespace

const Kernel* OtherKernel(const KernelKey& key) {
  const auto row = std::find_if(others.begin(), others.end(), [&](const Kernel* k) { return k->key == key; });
  return row == others.end() ? nullptr : *row;
}

Status Initialize(KernelTable other_kernels, const xnn_allocator* library_users) {
  others = other_kernels;
  const Status status = InstallAllocator(library_users);
  initialized = status.ok();
  return status;
}

KernelTable Kernels() {
  return initialized ? KernelTable(kTable.rows) : KernelTable();
}

const char* Refusal(const KernelKey& key, const KernelCall& call) {
  for (const Row* row : kRows) {
    if (row->kernel.key == key) return row->refusal(call);
  }
  return "XNNPACK has no operator with these bytes";
}

}  // namespace takt::xnnpack
