#include "tests/support/try_plan.h"

#include <memory>
#include <new>

#include "engine/core/interpreter.h"
#include "ports/reference/kernels.h"

namespace takt::test {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr uint32_t kMostBytes = 1 << 24;

/// 64-aligned, with nothing behind it that a sanitizer would let pass.
class Exact {
 public:
  explicit Exact(size_t size) : data_(new (kAlignment) std::byte[size]{}), size_(size) {}
  std::span<std::byte> span() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* p) const { operator delete[](p, kAlignment); }
  };
  std::unique_ptr<std::byte[], Free> data_;
  size_t size_;
};

/// Accepts every job, and is done with it at once.
class IdleDevice final : public Device {
 public:
  IdleDevice() : Device({.queue_depth = kMaxJobsInFlight}) {}

 private:
  Status DoPrepare(const Job&, uint64_t&) override { return {}; }
  Status DoSubmit(const Job&) override { return {}; }
  JobState DoPoll(uint32_t, Status&) override { return JobState::kDone; }
  Status DoCancel(uint32_t) override { return {}; }
  Status DoReset() override { return {}; }
};

}  // namespace

Status TryPlan(std::span<const uint8_t> bytes) {
  const Exact file(bytes.size());
  if (!bytes.empty()) std::memcpy(file.span().data(), bytes.data(), bytes.size());
  PlanOptions options;
  options.sha256 = nullptr;
  options.check_constants_crc = false;
  options.limits = {.work = 1 << 18, .tensors = 1024, .steps = 1024};
  Plan plan;
  TAKT_TRY(plan.Open(file.span(), options));
  Requirements need;
  TAKT_TRY(ComputeRequirements(plan, reference::AllKernels(), need));
  std::vector<Exact> memory;
  std::vector<std::span<std::byte>> arenas;
  for (uint32_t i = 0; i < need.arena_count; ++i) {
    if (need.arenas[i].bytes > kMostBytes) return {StatusCode::kLimitExceeded, Site::kInitArena, need.arenas[i].bytes};
    arenas.push_back(memory.emplace_back(need.arenas[i].bytes).span());
  }
  if (need.runtime.bytes > kMostBytes) return {StatusCode::kLimitExceeded, Site::kInitRuntime, need.runtime.bytes};
  const Exact runtime(need.runtime.bytes);
  IdleDevice device;
  Device* devices[kMaxDevices];
  std::fill(std::begin(devices), std::end(devices), &device);
  Interpreter net;
  TAKT_TRY(net.Init(plan, {.arenas = arenas,
                           .runtime = runtime.span(),
                           .kernels = reference::AllKernels(),
                           .devices = devices,
                           .platform = {}}));
  for (uint32_t i = 0; i < plan.input_count(); ++i) std::ranges::fill(net.input(i).bytes, std::byte(0x55));
  return net.Invoke();
}

namespace {

/// Fills a spec with tensors one after the other.
struct Builder {
  PlanSpec spec;
  uint32_t used = 0;

  uint16_t Dims(std::initializer_list<int32_t> dims) {
    spec.dims.insert(spec.dims.end(), dims);
    return static_cast<uint16_t>(spec.dims.size() - dims.size());
  }
  /// In the arena, from step `first` to `last`; in the memory of `root` if that is given.
  void Tensor(std::initializer_list<int32_t> dims, uint16_t first, uint16_t last, int root = -1) {
    uint32_t bytes = 1;
    for (const int32_t d : dims) bytes *= static_cast<uint32_t>(d);
    const uint32_t offset = root < 0 ? used : spec.tensors[static_cast<size_t>(root)].offset();
    spec.tensors.emplace_back(offset, uint16_t{0}, Dims(dims), uint16_t{0xFFFF}, schema::DataType::int8,
                              static_cast<uint8_t>(dims.size()));
    spec.lives.emplace_back(first, last,
                            static_cast<uint16_t>(root < 0 ? spec.lives.size() : static_cast<size_t>(root)));
    if (root < 0) used += bytes;
  }
  template <typename T>
  void Constant(std::initializer_list<int32_t> dims, schema::DataType type, const std::vector<T>& values) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    const auto base = static_cast<uint16_t>(1 + spec.AddConstant({bytes, values.size() * sizeof(T)}));
    spec.tensors.emplace_back(0u, base, Dims(dims), uint16_t{0xFFFF}, type, static_cast<uint8_t>(dims.size()));
  }
  template <typename P>
  void Add(schema::Params tag, schema::Numerics numerics, const P& params, std::initializer_list<uint16_t> operands) {
    StepSpec step =
        Step(tag, params, static_cast<uint16_t>(spec.operands.size()), static_cast<uint8_t>(operands.size() - 1));
    step.numerics = numerics;
    spec.steps.push_back(step);
    spec.operands.insert(spec.operands.end(), operands);
  }
};

}  // namespace

PlanSpec SmallNet() {
  enum : uint16_t { x, conv, clamp, pool, pad, transposed, sum, soft, y, weights, bias, scales, table };
  using schema::Numerics;
  using schema::Params;
  Builder b;
  b.Tensor({1, 4, 4, 2}, 0, 0);
  b.Tensor({1, 4, 4, 3}, 0, 1);
  b.Tensor({1, 4, 4, 3}, 1, 2, conv);
  b.Tensor({1, 2, 2, 3}, 2, 3);
  b.Tensor({1, 3, 2, 3}, 3, 4);
  b.Tensor({1, 2, 3, 3}, 4, 5);
  b.Tensor({1, 2, 3, 3}, 5, 6);
  b.Tensor({1, 2, 3, 3}, 6, 7);
  b.Tensor({1, 2, 3, 3}, 7, 7);
  b.Constant<int8_t>({3, 3, 3, 2}, schema::DataType::int8, std::vector<int8_t>(54, 3));
  b.Constant<int32_t>({3}, schema::DataType::int32, {100, -100, 0});
  b.Constant<float>({3}, schema::DataType::float32, {0.01f, 0.02f, 0.03f});
  std::vector<uint32_t> exponentials(256);
  for (uint32_t d = 0; d < 256; ++d) exponentials[d] = (uint32_t{1} << 22) / (d + 1);
  b.Constant<uint32_t>({256}, schema::DataType::uint32, exponentials);

  const schema::Clamp full(-128, 127);
  const schema::Window2d same(1, 1, 1, 1, 1, 1, 1, 1);
  const schema::Window2d halves(2, 2, 1, 1, 0, 0, 0, 0);
  b.Add(Params::Conv2d, Numerics::fp32_rne, schema::Conv2dParams(same, full, 1, 0, -1, 0),
        {x, weights, bias, scales, conv});
  b.Add(Params::Clamp, Numerics::any, schema::ClampParams(schema::Clamp(-100, 100)), {conv, clamp});
  b.Add(Params::MaxPool2d, Numerics::any, schema::Pool2dParams(halves, full, 2, 2), {clamp, pool});
  constexpr int32_t kBefore[6] = {0, 1};
  constexpr int32_t kAfter[6] = {};
  b.Add(Params::Pad, Numerics::any, schema::PadParams(kBefore, kAfter, 7, 4), {pool, pad});
  constexpr uint8_t kPermutation[6] = {0, 2, 1, 3};
  b.Add(Params::Transpose, Numerics::any, schema::TransposeParams(kPermutation, 4), {pad, transposed});
  b.Add(Params::Add, Numerics::fp32_rne,
        schema::AddParams(full, 1 << 19, 1 << 19, 0, 0, 0, 20, 0, 0, 0, 0, schema::AddFunction::add, 0),
        {transposed, transposed, sum});
  b.Add(Params::Softmax, Numerics::fp32_rne, schema::SoftmaxParams(), {sum, table, soft});
  b.Add(Params::Copy, Numerics::any, schema::CopyParams(), {soft, y});
  b.spec.arenas = {schema::Arena(b.used, b.used, 16, schema::ArenaKind::activation, 0)};
  b.spec.inputs = {{"x", x}};
  b.spec.outputs = {{"y", y}};
  return b.spec;
}

}  // namespace takt::test
