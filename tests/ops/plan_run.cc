#include "tests/ops/plan_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

#include "engine/core/interpreter.h"
#include "ports/npu_emu/npu_emu.h"
#include "tests/support/heap_trap.h"
#include "tests/support/ports.h"

namespace takt::test {
namespace {

using Outputs = std::vector<std::vector<uint8_t>>;

template <typename T>
std::vector<uint8_t> PackAs(const std::vector<double>& values) {
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T v = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &v, sizeof(T));
  }
  return bytes;
}

template <typename T>
std::vector<double> UnpackAs(const std::vector<uint8_t>& bytes) {
  std::vector<double> values(bytes.size() / sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    T v;
    std::memcpy(&v, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = static_cast<double>(v);
  }
  return values;
}

/// One interpreter with its memory.
class Run {
 public:
  Run(const Plan& plan, KernelTable kernels, const Requirements& need, std::span<Device* const> devices = {})
      : plan_(plan), kernels_(kernels), devices_(devices) {
    for (uint32_t i = 0; i < need.arena_count; ++i) spans_.push_back(Add(need.arenas[i].bytes));
    slack_ = need.slack;
    runtime_ = Add(need.runtime.bytes);
  }

  /// Fills the arenas with `fill`, binds the I/O to buffers if asked, runs; Init and Invoke never call the heap.
  Outputs Once(const Outputs& inputs, uint8_t fill, bool bind) {
    for (const auto& span : spans_) std::fill(span.begin(), span.end(), std::byte{fill});
    Interpreter net;
    InitOptions options;
    options.arenas = spans_;
    options.runtime = runtime_;
    options.kernels = kernels_;
    options.devices = devices_;
    Status init, status;
    EXPECT_EQ(HeapCallsDuring([&] { init = net.Init(plan_, options); }), 0) << "in Init";
    EXPECT_TRUE(init.ok()) << SiteText(init.site()) << " (detail " << init.detail() << ")";
    EXPECT_EQ(plan_.input_count(), inputs.size());
    if (!init.ok() || plan_.input_count() != inputs.size()) return {};
    if (bind) Bind(net);
    for (uint32_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(net.input(i).bytes.size(), inputs[i].size());
      if (net.input(i).bytes.size() != inputs[i].size()) return {};
      std::memcpy(net.input(i).bytes.data(), inputs[i].data(), inputs[i].size());
    }
    EXPECT_EQ(HeapCallsDuring([&] { status = net.Invoke(); }), 0) << "in Invoke";
    EXPECT_TRUE(status.ok()) << SiteText(status.site());
    Outputs outputs;
    for (uint32_t i = 0; i < plan_.output_count(); ++i) {
      const std::span<std::byte> bytes = net.output(i).bytes;
      std::memcpy(outputs.emplace_back(bytes.size()).data(), bytes.data(), bytes.size());
    }
    for (const ZonedBytes& b : buffers_) EXPECT_TRUE(b.Intact()) << "a red zone was written";
    return outputs;
  }

 private:
  std::span<std::byte> Add(size_t bytes) { return buffers_.emplace_back(bytes).span(); }

  void Bind(Interpreter& net) {
    for (uint32_t i = 0; i < plan_.input_count(); ++i) {
      const Status status = net.RebindInput(i, Add(net.input(i).bytes.size() + slack_));
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::kUnsupported);
    }
    for (uint32_t i = 0; i < plan_.output_count(); ++i) {
      const Status status = net.RebindOutput(i, Add(net.output(i).bytes.size() + slack_));
      EXPECT_TRUE(status.ok() || status.code() == StatusCode::kUnsupported);
    }
  }

  const Plan& plan_;
  KernelTable kernels_;
  std::span<Device* const> devices_;
  std::deque<ZonedBytes> buffers_;
  std::vector<std::span<std::byte>> spans_;
  std::span<std::byte> runtime_;
  size_t slack_ = 0;
};

/// What differs from the reference port's outputs, or "". Integers are the same on each port; floats may be summed in
/// another order.
std::string Difference(const Plan& plan, const Outputs& reference, const Outputs& got) {
  if (reference.size() != got.size()) return "no outputs";
  for (uint32_t i = 0; i < got.size(); ++i) {
    const std::string output = "output " + std::to_string(i);
    const DataType type = plan.tensor(plan.output(i).tensor).type;
    if (type != DataType::kFloat32) {
      if (reference[i] == got[i]) continue;
      return output + " is " + testing::PrintToString(got[i]) + ", on the reference port " +
             testing::PrintToString(reference[i]);
    }
    const std::vector<double> want = Unpack(type, reference[i]), have = Unpack(type, got[i]);
    double square = 0;
    for (const double v : want) square += v * v;
    const double rms = std::sqrt(square / static_cast<double>(std::max<size_t>(1, want.size())));
    for (size_t k = 0; k < want.size(); ++k) {
      const bool same = want[k] == have[k] || (std::isnan(want[k]) && std::isnan(have[k])) ||
                        std::fabs(want[k] - have[k]) <= 1e-5 * std::max(std::fabs(want[k]), rms);
      if (same) continue;
      return output + "[" + std::to_string(k) + "] is " + std::to_string(have[k]) + ", on the reference port " +
             std::to_string(want[k]);
    }
  }
  return "";
}

}  // namespace

ZonedBytes::ZonedBytes(size_t size) : store_(size + 2 * kZone + 64, kMark), size_(size) {
  skip_ = (64 - reinterpret_cast<uintptr_t>(store_.data()) % 64) % 64;
}
ZonedBytes::ZonedBytes(const std::vector<uint8_t>& bytes) : ZonedBytes(bytes.size()) {
  if (!bytes.empty()) std::memcpy(begin(), bytes.data(), bytes.size());
}
bool ZonedBytes::Intact() const {
  const auto marked = [](std::byte b) { return b == kMark; };
  const auto begin_at = store_.begin() + static_cast<ptrdiff_t>(kZone + skip_);
  return std::all_of(store_.begin(), begin_at, marked) &&
         std::all_of(begin_at + static_cast<ptrdiff_t>(size_), store_.end(), marked);
}

std::vector<uint8_t> Pack(DataType type, const std::vector<double>& values) {
  switch (type) {
    case DataType::kFloat32:
      return PackAs<float>(values);
    case DataType::kInt8:
      return PackAs<int8_t>(values);
    case DataType::kUint8:
    case DataType::kBool:
      return PackAs<uint8_t>(values);
    case DataType::kInt16:
      return PackAs<int16_t>(values);
    case DataType::kInt32:
      return PackAs<int32_t>(values);
    case DataType::kInt64:
      return PackAs<int64_t>(values);
    case DataType::kUint32:
      return PackAs<uint32_t>(values);
    case DataType::kUint64:
      return PackAs<uint64_t>(values);
    default:
      ADD_FAILURE() << "no such element type";
      return {};
  }
}

std::vector<double> Unpack(DataType type, const std::vector<uint8_t>& bytes) {
  switch (type) {
    case DataType::kFloat32:
      return UnpackAs<float>(bytes);
    case DataType::kInt8:
      return UnpackAs<int8_t>(bytes);
    case DataType::kUint8:
    case DataType::kBool:
      return UnpackAs<uint8_t>(bytes);
    case DataType::kInt16:
      return UnpackAs<int16_t>(bytes);
    case DataType::kInt32:
      return UnpackAs<int32_t>(bytes);
    case DataType::kInt64:
      return UnpackAs<int64_t>(bytes);
    case DataType::kUint32:
      return UnpackAs<uint32_t>(bytes);
    case DataType::kUint64:
      return UnpackAs<uint64_t>(bytes);
    default:
      ADD_FAILURE() << "no such element type";
      return {};
  }
}

Outputs RunOnPorts(const std::vector<uint8_t>& plan_bytes, const Outputs& inputs, const std::string& name) {
  ZonedBytes file(plan_bytes);
  Plan plan;
  const Status open = plan.Open(std::span<const std::byte>(file.span()));
  EXPECT_TRUE(open.ok()) << SiteText(open.site()) << " (detail " << open.detail() << ")";
  if (!open.ok()) return {};
  std::optional<Outputs> first;
  for (const KernelPort& port : KernelPorts()) {
    SCOPED_TRACE(port.name);
    Requirements need;
    const Status status = ComputeRequirements(plan, port.kernels, need);
    if (first && status.code() == StatusCode::kNoKernel) continue;
    EXPECT_TRUE(status.ok()) << SiteText(status.site()) << " (op " << status.detail() << ")";
    if (!status.ok()) return {};
    Run run(plan, port.kernels, need);
    const Outputs in_arena = run.Once(inputs, 0x5A, false);
    const Outputs bound = run.Once(inputs, 0xC3, true);
    EXPECT_EQ(in_arena, bound) << "two runs differ";
    if (!first) first = in_arena;
    EXPECT_EQ(Unexpected(port.exceptions, name, Difference(plan, *first, in_arena)), "");
    EXPECT_TRUE(file.Intact());
  }
  return *first;
}

Outputs RunOnNpu(const std::vector<uint8_t>& plan_bytes, const Outputs& inputs) {
  ZonedBytes file(plan_bytes);
  Plan plan;
  npu::Machine machine;
  Requirements need;
  EXPECT_EQ(plan.Open(std::span<const std::byte>(file.span())), Status());
  EXPECT_EQ(npu::ReadMachine(plan.machine(), machine), Status());
  EXPECT_EQ(ComputeRequirements(plan, KernelPorts()[0].kernels, need), Status());
  ZonedBytes workspace(npu::NpuEmu::WorkspaceBytes(machine));
  npu::VirtualClock clock;
  npu::NpuEmu device;
  EXPECT_EQ(device.Init(plan.machine(), workspace.span(), clock), Status());
  Device* const devices[] = {&device};
  const Outputs outputs = Run(plan, KernelPorts()[0].kernels, need, devices).Once(inputs, 0x5A, false);
  EXPECT_TRUE(file.Intact() && workspace.Intact());
  return outputs;
}

}  // namespace takt::test
