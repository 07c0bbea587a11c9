#include "tests/support/ports.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <stdexcept>

#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

#ifdef TAKT_HAS_XNNPACK
#include <xnnpack.h>

#include "ports/xnnpack/kernels.h"
#endif

namespace takt::test {
namespace {

#ifdef TAKT_HAS_XNNPACK
constexpr xnn_allocator kHeap = {nullptr,
                                 [](void*, size_t bytes) { return std::malloc(bytes); },
                                 [](void*, void* p, size_t bytes) { return std::realloc(p, bytes); },
                                 [](void*, void* p) { std::free(p); },
                                 [](void*, size_t alignment, size_t bytes) {
                                   return std::aligned_alloc(alignment,
                                                             (bytes + alignment - 1) / alignment * alignment);
                                 },
                                 [](void*, void* p) { std::free(p); }};

/// It has an operator for the op, and knows the types.
bool XnnpackHasOperator(const KernelKey& key) {
  using enum Op;
  constexpr Op kOps[] = {kConv2d,        kDepthwiseConv2d, kFullyConnected, kAdd,  kConv2dAdd,       kMul,
                         kAveragePool2d, kMaxPool2d,       kSoftmax,        kMean, kTransposeConv2d, kResizeBilinear,
                         kUnary,         kQuantize,        kClamp};
  const DataType type = key.types[0];
  return std::find(std::begin(kOps), std::end(kOps), key.op) != std::end(kOps) && key.numerics != Numerics::kTflite &&
         (type == DataType::kInt8 || type == DataType::kFloat32) && (type == key.types[2] || key.op == kQuantize);
}

const Exceptions kXnnpackExceptions = {
    .unsupported = {{"average_pool2d int8", "it averages uint8 only"},
                    {"softmax int8", "its softmax is for uint8 only"},
                    {"mean int8", "its global average is rounded otherwise on arm64"},
                    {"transpose_conv2d int8", "its deconvolution has one scale for all channels"},
                    {"resize_bilinear int8", "its weights have 11 bits"},
                    {"unary int8", "its tables come from the CPU that runs, a plan's from the converter"},
                    {"quantize float32", "it clamps before it rounds, and NaN has another value"},
                    {"softmax float32", "little time is spent there"},
                    {"mean float32", "little time is spent there"},
                    {"transpose_conv2d float32", "little time is spent there"},
                    {"resize_bilinear float32", "little time is spent there"},
                    {"unary float32", "its functions are approximations"},
                    {"clamp int8", "activations are fused into the op before"},
                    {"clamp float32", "activations are fused into the op before"}},
    .expected_to_fail = {}};

KernelTable XnnpackKernels() {
  static const std::vector<const Kernel*> table = [] {
    if (!xnnpack::Initialize(reference::AllKernels(), &kHeap).ok()) throw std::runtime_error("no XNNPACK on this CPU");
    const KernelTable own = xnnpack::Kernels(), others = reference::AllKernels();
    std::vector<const Kernel*> rows(own.begin(), own.end());
    rows.insert(rows.end(), others.begin(), others.end());
    return rows;
  }();
  return table;
}
#endif

}  // namespace

std::string RowName(const KernelKey& key) {
  return std::string(OpName(key.op)) + ' ' + schema::EnumNameDataType(static_cast<schema::DataType>(key.types[0]));
}

const std::vector<KernelPort>& KernelPorts() {
  static const std::vector<KernelPort> ports = {
      {"reference", reference::AllKernels(), reference::AllKernels(), [](const KernelKey&) { return true; }, {}},
#ifdef TAKT_HAS_XNNPACK
      {"xnnpack", XnnpackKernels(), xnnpack::Kernels(), XnnpackHasOperator, kXnnpackExceptions},
#endif
  };
  return ports;
}

}  // namespace takt::test
