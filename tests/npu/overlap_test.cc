// Steps of the host run while a job is in flight: bytes, time, memory, what goes wrong meanwhile.
#include "converter/npu/overlap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>
#include <regex>
#include <string>

#include "converter/npu/feature_lives.h"
#include "converter/npu/plan_compilation.h"
#include "converter/npu/report.h"
#include "converter/npu/step_profile.h"
#include "converter/npu/step_times.h"
#include "converter/report/html_report.h"
#include "engine/core/scheduler.h"
#include "ports/npu_emu/npu_emu.h"
#include "schema/plan_generated.h"
#include "tests/npu/job_models.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt::npu {
namespace {

using test::Bytes;

/// x -> two convolutions, and x -> gather, resize, softmax; a convolution of both.
std::string Branches() {
  std::mt19937 random(4);
  const std::string q = " quant(0.5:0)", p = " quant(0.00390625:-128)";
  const auto zeros = [](int n) {
    std::string text = "[0";
    for (int i = 1; i < n; ++i) text += ", 0";
    return text + "]";
  };
  return "graph \"branches\"\n%0 \"x\": int8[1,16,16,8]" + q +
         "\n%1 \"w\": int8[32,3,3,8] quant(0.01:0) = " + test::RandomNumbers(random, 2304) +
         "\n%2 \"b\": int32[32] = " + zeros(32) + "\n%3 \"c\": int8[1,16,16,32]" + q +
         "\n%4 \"v\": int8[16,3,3,32] quant(0.01:0) = " + test::RandomNumbers(random, 4608) +
         "\n%5 \"d\": int8[1,16,16,16]" + p + "\n%6 \"rows\": int32[8] = [3, 1, 14, 7, 0, 15, 2, 9]\n" +
         "%7 \"g\": int8[1,8,16,8]" + q + "\n%8 \"r\": int8[1,16,16,8]" + q + "\n%9 \"s\": int8[1,16,16,8]" + p +
         "\n%10 \"both\": int8[1,16,16,24]" + p +
         "\n%11 \"u\": int8[4,1,1,24] quant(0.02:0) = " + test::RandomNumbers(random, 96) +
         "\n%12 \"a\": int32[4] = " + zeros(4) + "\n%13 \"y\": int8[1,16,16,4]" + q +
         "\n%14 \"e\": int32[16] = " + zeros(16) +
         "\ninputs %0\noutputs %13\n"
         "%3 = conv2d(%0, %1, %2) {activation = \"none\", pads = [1, 1, 1, 1], strides = [1, 1]}\n"
         "%5 = conv2d(%3, %4, %14) {activation = \"none\", pads = [1, 1, 1, 1], strides = [1, 1]}\n"
         "%7 = gather(%0, %6) \"GATHER\" {axis = 1}\n"
         "%8 = resize_nearest(%7) {coordinates = \"asymmetric\", size = [16, 16]}\n"
         "%9 = softmax(%8) {beta = 1.0}\n%10 = concatenation(%5, %9) {axis = 3}\n"
         "%13 = conv2d(%10, %11, %12) {activation = \"none\", pads = [0, 0, 0, 0], strides = [1, 1]}\n";
}
constexpr size_t kInputBytes = 16 * 16 * 8;

Conversion Convert(const std::string& text, const char* preset, const std::vector<std::string>& overrides = {},
                   uint64_t max_step_us = 0) {
  std::string error;
  Diagnostics diagnostics;
  const auto graph = ir::ParseGraph(text, error);
  EXPECT_TRUE(graph.has_value()) << error;
  ConvertOptions options;
  options.max_step_us = max_step_us;
  if (preset != nullptr) options.machine = ParseMachine(*PresetJson(preset), preset, overrides, diagnostics)->table;
  return ConvertGraph(*graph, {}, options);
}

Bytes RandomInput(std::mt19937& random) {
  Bytes input(kInputBytes);
  for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
  return input;
}

Machine MachineOf(const Conversion& made) {
  Machine machine;
  EXPECT_TRUE(ReadMachine(made.npu.device.machine, machine).ok());
  return machine;
}

/// Jobs between whose Submit and Wait the host runs steps.
size_t JobsApart(const Conversion& made) {
  const StepTimes times(made.npu, MachineOf(made));
  size_t apart = 0;
  for (size_t job = 0; job < made.npu.jobs.size(); ++job) apart += times.job(job).apart();
  return apart;
}

uint64_t JobCycles(const Conversion& made) {
  uint64_t cycles = 0;
  for (const CompiledJob& job : made.npu.jobs) cycles += job.timing.Cycles(MachineOf(made));
  return cycles;
}
uint64_t HostStepCycles(const Conversion& made) {
  uint64_t cycles = 0;
  for (size_t s = 0; s < made.npu.steps.size(); ++s)
    cycles += IsDeviceStep(made.npu.steps[s]) ? 0 : made.npu.device.costs[s];
  return cycles;
}

/// A plan on an emulator of its own. Every look at the clock takes `tick` cycles.
class System {
 public:
  explicit System(const Conversion& made, uint64_t tick = 0)
      : workspace_(NpuEmu::WorkspaceBytes(MachineOf(made))), tick_(tick) {
    EXPECT_EQ(device_.Init(made.npu.device.machine, workspace_.span(), clock_), Status());
    runner_.emplace(made.plan, reference::AllKernels(), devices_);
    Requirements need;
    EXPECT_EQ(ComputeRequirements(plan(), reference::AllKernels(), need), Status());
    runtime_ = test::AlignedBytes(need.runtime.bytes);
    for (uint32_t i = 0; i < need.arena_count; ++i) arenas_.push_back(runner_->arena(i));
    EXPECT_EQ(Init(), Status());
  }
  Status Init() { return Init(plan()); }
  Status Init(const Plan& plan) {
    const Clock clock = {[](void* self) { return static_cast<System*>(self)->Now(); }, this};
    return net_.Init(plan, {.arenas = arenas_,
                            .runtime = runtime_.span(),
                            .kernels = reference::AllKernels(),
                            .devices = devices_,
                            .platform = {.clock = clock}});
  }
  Status Run(const Bytes& input, uint64_t cycles = kNoDeadline) {
    SetInput(input);
    return net_.Invoke(cycles == kNoDeadline ? kNoDeadline : clock_.now() + cycles);
  }
  void SetInput(const Bytes& input) { std::memcpy(net_.input(0).bytes.data(), input.data(), input.size()); }
  Bytes Output() const {
    const std::span<const std::byte> y = net_.output(0).bytes;
    Bytes copy(y.size());
    std::memcpy(copy.data(), y.data(), y.size());
    return copy;
  }
  /// Step by step until a host step has run while a job was in flight.
  void RunIntoFlight() {
    ASSERT_EQ(net_.Begin(), Status());
    while (!(device_.busy() && plan().step(net_.cursor() - 1).op != Op::kSubmit))
      ASSERT_EQ(net_.Step(1), Progress::kMore);
  }
  const Plan& plan() const { return runner_->plan(); }
  Interpreter& net() { return net_; }
  NpuEmu& device() { return device_; }
  VirtualClock& clock() { return clock_; }

 private:
  uint64_t Now() {
    clock_.AdvanceTo(clock_.now() + tick_);
    return clock_.now();
  }

  test::AlignedBytes workspace_, runtime_{0};
  const uint64_t tick_;
  VirtualClock clock_;
  NpuEmu device_;
  Device* devices_[1] = {&device_};
  std::optional<test::PlanRunner> runner_;
  std::vector<std::span<std::byte>> arenas_;
  Interpreter net_;
};

constexpr const char* kPresets[] = {"ethos-u55-128", "davinci-310", "gemmini-16x16"};

TEST(Overlap, TheBytesAreTheHostsPlans) {
  const Conversion host = Convert(Branches(), nullptr);
  test::PlanRunner expected(host.plan);
  std::mt19937 random(1);
  for (const char* preset : kPresets) {
    const Conversion made = Convert(Branches(), preset);
    ASSERT_TRUE(made.diagnostics.ok()) << test::Errors(made);
    EXPECT_GE(JobsApart(made), 1u) << preset << "\n" << test::Messages(made);
    EXPECT_NE(test::Messages(made).find("runs steps while jobs are in flight"), std::string::npos);
    System system(made);
    for (int run = 0; run < 20; ++run) {
      const Bytes input = RandomInput(random);
      ASSERT_EQ(system.Run(input), Status());
      EXPECT_EQ(system.Output(), expected.Run({input})[0]) << preset;
    }
  }
}

/// Polling takes a microsecond, here a cycle.
TEST(Overlap, ARunTakesTheCyclesThatThePlanStates) {
  for (const char* preset : kPresets) {
    const Conversion made = Convert(Branches(), preset, {"clock_hz=1000000"});
    ASSERT_GE(JobsApart(made), 1u);
    System system(made);
    std::mt19937 random(2);
    system.SetInput(RandomInput(random));
    ASSERT_EQ(system.net().Begin(), Status());
    for (Progress progress = Progress::kMore; progress != Progress::kDone;) {
      const uint32_t at = system.net().cursor();
      progress = system.net().Step(1);
      ASSERT_NE(progress, Progress::kFailed);
      const Op op = system.plan().step(at).op;
      if (op != Op::kSubmit && op != Op::kWait)
        system.clock().AdvanceTo(system.clock().now() + system.plan().costs()[at]);
    }
    EXPECT_EQ(system.clock().now(), TotalCycles(made.npu)) << preset;
    EXPECT_LT(TotalCycles(made.npu), JobCycles(made) + HostStepCycles(made));
  }
}

TEST(Overlap, ProfilesAndReportsAddUp) {
  for (const char* preset : kPresets) {
    const Conversion made = Convert(Branches(), preset);
    const Machine machine = MachineOf(made);
    uint64_t exposed = 0, layers = 0;
    std::string kinds;
    for (const StepProfile& step : ProfileSteps(made.graph, made.npu, machine)) {
      EXPECT_LE(step.hidden, step.cycles);
      exposed += step.exposed();
      layers += step.host() ? 0 : step.cycles;
      kinds += step.op + " ";
    }
    EXPECT_EQ(exposed, TotalCycles(made.npu));
    EXPECT_EQ(layers, JobCycles(made));
    EXPECT_EQ(kinds.find("submit conv "), kinds.find("submit ")) << kinds;
    EXPECT_LT(kinds.find("gather "), kinds.find("wait ")) << kinds;
    for (const FeatureLife& life : FeatureLives(made.npu, machine))
      EXPECT_FALSE(ProfileSteps(made.graph, made.npu, machine).at(life.step).host());

    const auto json = ReportJson(made.graph, made.npu, {machine, {}, {}});
    EXPECT_EQ(json["npu_cycles"], layers);
    EXPECT_EQ(json["host_cycles"], HostStepCycles(made));
    EXPECT_EQ(json["cycles"], layers + HostStepCycles(made) - json["hidden_cycles"].get<uint64_t>());

    System system(made);
    std::string reason;
    const auto read = ReadCompilation(system.plan(), "branches", reason);
    ASSERT_TRUE(read.has_value()) << reason;
    EXPECT_EQ(ReportJson(read->graph, read->compilation, {machine, {}, {}})["hidden_cycles"], json["hidden_cycles"]);
  }
}

/// A rectangle of a step in the report's first picture.
struct Rect {
  double x, y, width;
  size_t step;
};
std::vector<Rect> TimelineOf(const std::string& page) {
  const std::regex rect("<rect x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"([^\"]*)\"[^>]*data-step=\"([0-9]*)\"");
  const std::string timeline = page.substr(0, page.find("<h2>Memory over time"));
  std::vector<Rect> rects;
  for (std::sregex_iterator at(timeline.begin(), timeline.end(), rect), end; at != end; ++at)
    rects.push_back({std::stod((*at)[1]), std::stod((*at)[2]), std::stod((*at)[3]), std::stoul((*at)[4])});
  return rects;
}

TEST(Overlap, TheTimelineShowsHostAndNpuAtOnce) {
  const Conversion made = Convert(Branches(), "ethos-u55-128");
  const Machine machine = MachineOf(made);
  System system(made);
  const std::vector<StepProfile> steps = ProfileSteps(made.graph, made.npu, machine);
  const std::vector<Rect> rects =
      TimelineOf(report::HtmlReport(system.plan(), made.graph, made.npu, {machine, {}, {}}));
  ASSERT_EQ(rects.size(), steps.size());
  int beside = 0;
  for (const Rect& host : rects) {
    for (const Rect& layer : rects) {
      if (!steps[host.step].host() || steps[layer.step].host()) continue;
      EXPECT_NE(host.y, layer.y);
      beside += host.width > 1 && host.x + 1 < layer.x + layer.width && layer.x + 1 < host.x + host.width;
    }
  }
  EXPECT_GE(beside, 2);
}

TEST(Overlap, WithoutAnythingToOverlapAWaitFollowsItsSubmit) {
  const Conversion made = Convert(test::StatefulGraph(), "ethos-u55-128");
  ASSERT_FALSE(made.npu.jobs.empty());
  EXPECT_EQ(JobsApart(made), 0u);
  EXPECT_EQ(test::Messages(made).find("in flight"), std::string::npos);
}

/// On a host so fast that its whole branch runs beside the convolutions.
Conversion ConvertForFastHost(int64_t sram_bytes) {
  return Convert(Branches(), "ethos-u55-128",
                 {"host.cycles_per_element=1/4", "host.cycles_per_mac=1/4", "host.cycles_per_step=10",
                  "memories.sram.bytes=" + std::to_string(sram_bytes)});
}

TEST(Overlap, TheOrderStaysIfTheMemoryIsTooSmall) {
  const Conversion roomy = ConvertForFastHost(1 << 20);
  const int64_t need =
      System(roomy).plan().arena(0).bytes + static_cast<int64_t>(roomy.npu.steps.size() * sizeof(StepRecord));
  const Conversion fits = ConvertForFastHost(need), tight = ConvertForFastHost(need - 1);
  EXPECT_EQ(JobsApart(fits), JobsApart(roomy));
  ASSERT_TRUE(tight.diagnostics.ok()) << test::Errors(tight);
  EXPECT_EQ(JobsApart(tight), 0u);
  EXPECT_GT(TotalCycles(tight.npu), TotalCycles(fits.npu));
  EXPECT_NE(test::Messages(tight).find("need more memory than there is"), std::string::npos) << test::Messages(tight);
}

TEST(Overlap, NothingTakesLongerThanItMay) {
  const Conversion whole = Convert(Branches(), "ethos-u55-128", {"clock_hz=1000000"});
  for (const uint64_t bound : {60000u, 30000u, 25000u}) {
    const Conversion made = Convert(Branches(), "ethos-u55-128", {"clock_hz=1000000"}, bound);
    ASSERT_TRUE(made.diagnostics.ok()) << bound << test::Errors(made);
    System system(made);
    EXPECT_LE(LongestStep(system.plan()), bound);
    EXPECT_LT(TotalCycles(made.npu), JobCycles(made) + HostStepCycles(made)) << bound;
    std::mt19937 random(3);
    const Bytes input = RandomInput(random);
    ASSERT_EQ(system.Run(input), Status());
    System expected(whole);
    ASSERT_EQ(expected.Run(input), Status());
    EXPECT_EQ(system.Output(), expected.Output());
  }
}

class InFlight : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_GE(JobsApart(made_), 1u);
    while (!times_.job(job_).apart()) ++job_;
    right_ = test::PlanRunner(Convert(Branches(), nullptr).plan).Run({input_})[0];
  }
  void ExpectItRunsAgain(System& system) {
    EXPECT_FALSE(system.device().busy());
    ASSERT_EQ(system.Run(input_), Status());
    EXPECT_EQ(system.Output(), right_);
  }

  std::mt19937 random_{7};
  const Bytes input_ = RandomInput(random_);
  const Conversion made_ = Convert(Branches(), GetParam());
  const StepTimes times_{made_.npu, MachineOf(made_)};
  uint32_t job_ = 0;  ///< The first one that is in flight while the host runs steps.
  Bytes right_;
};

TEST_P(InFlight, AJobThatFailsIsNamedByItsWait) {
  System system(made_);
  for (const FaultKind kind : {FaultKind::kDmaError, FaultKind::kReset}) {
    system.device().Inject({.kind = kind, .skip = job_});
    const Status status = system.Run(input_);
    EXPECT_EQ(status.code(), StatusCode::kDeviceFault);
    EXPECT_EQ(status.step(), times_.job(job_).wait);
    if (kind == FaultKind::kReset) {
      ASSERT_EQ(system.device().Reset(), Status());
      ASSERT_EQ(system.Init(), Status());
    }
    ExpectItRunsAgain(system);
  }
}

TEST_P(InFlight, ACancelEndsTheJob) {
  System system(made_);
  system.SetInput(input_);
  system.RunIntoFlight();
  system.net().Cancel();
  EXPECT_EQ(system.net().Step(1), Progress::kFailed);
  EXPECT_EQ(system.net().status().code(), StatusCode::kCancelled);
  EXPECT_EQ(system.device().counters().cancelled, 1u);
  ExpectItRunsAgain(system);
}

TEST_P(InFlight, ADeadlineEndsTheJob) {
  System system(made_, 1);
  const JobTime& job = times_.job(job_);
  ASSERT_EQ(job_, 0u);  // Nobody waits before.
  const Status status = system.Run(input_, job.wait);
  EXPECT_EQ(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_LT(status.step(), job.wait);
  EXPECT_EQ(system.device().counters().cancelled, 1u);
  ExpectItRunsAgain(system);
}

INSTANTIATE_TEST_SUITE_P(Overlap, InFlight, testing::ValuesIn(kPresets));

/// A job that writes what its plan says it only reads would race with steps that read it meanwhile.
TEST(Overlap, AJobWritesOnlyWhatItsPlanDeclares) {
  Conversion made = Convert(Branches(), "ethos-u55-128");
  System system(made);
  auto* plan = const_cast<schema::Plan*>(schema::GetPlan(made.plan.data()));
  const auto* ranges = plan->jobs()->Get(0)->ranges();
  for (uint32_t i = 0; i < ranges->size(); ++i) {
    auto* range = const_cast<schema::JobRange*>(ranges->Get(i));
    *range = schema::JobRange(range->offset(), range->bytes(), range->base(), false);
  }
  test::AlignedBytes bytes(made.plan.size());
  std::memcpy(bytes.span().data(), made.plan.data(), made.plan.size());
  Plan undeclared;
  PlanOptions options;
  options.sha256 = nullptr;
  ASSERT_EQ(undeclared.Open(bytes.span(), options), Status());
  EXPECT_EQ(system.Init(undeclared).step(), 0u);
  EXPECT_EQ(system.Init(), Status());
}

/// Steps and jobs with any operands, an in-place state, a scope of control flow.
struct Random {
  static constexpr size_t kCommits = 2;

  explicit Random(uint32_t seed) : random(seed) {
    machine = MachineOf(Convert(test::StatefulGraph(), "ethos-u55-128"));
    for (int t = 0; t < 8; ++t) AddTensor(random() % 4 == 0 && t > 3 ? Pick() : ir::kNoTensor);
    graph.inputs = {0}, graph.outputs = {1};
    graph.states = {{2, 3, ir::kNoTensor, true}};
    for (int s = 0; s < 14; ++s) AddStep();
    for (size_t s = scope + kCommits; s > 0; --s) Add(HostStep(), random() % 100);
    graph.nodes.resize(made.steps.size());
    for (size_t s = 0; s < made.steps.size(); ++s) made.steps[s].node = static_cast<int>(s);  // Where each was.
  }

  ir::TensorId Pick() { return static_cast<ir::TensorId>(random() % graph.tensors.size()); }
  void AddTensor(ir::TensorId base) {
    ir::Tensor tensor;
    tensor.name = std::to_string(graph.tensors.size());
    tensor.type = DataType::kInt8;
    tensor.dims = {base == ir::kNoTensor ? 32 : 16};
    if (base != ir::kNoTensor) tensor.view = ir::View{base, static_cast<int64_t>(random() % 2) * 16, {}};
    if (base != ir::kNoTensor && graph.tensor(base).view) tensor.view->offset_bytes = 0;
    (void)graph.AddTensor(std::move(tensor));
  }
  backend::StepSpec HostStep() {
    backend::StepSpec step;
    step.op = Op::kMaxPool2d;  // Never in place.
    for (size_t i = 0; i <= random() % 2; ++i) step.inputs.push_back(Pick());
    step.outputs = {static_cast<ir::TensorId>(1 + random() % (graph.tensors.size() - 1))};
    return step;
  }
  void AddStep() {
    backend::StepSpec step = HostStep();
    const uint64_t cost = random() % 100;
    if (scope != 0) {
      --scope;
      Add(step, cost);
    } else if (random() % 3 == 0) {
      SetJob(step, made.jobs.size());
      step.op = Op::kSubmit;
      Add(step, 0);
      step.op = Op::kWait;
      Add(step, cost);
      made.device.jobs.emplace_back();
      made.jobs.emplace_back().timing.total = cost << machine.tick_shift;
      made.jobs.back().peak_node = 0;
    } else if (random() % 8 == 0) {
      const schema::SkipIfParams params(scope = 2);
      step.op = Op::kSkipIf, step.inputs.resize(1), step.outputs.clear();
      step.params.resize(sizeof(params));
      std::memcpy(step.params.data(), &params, sizeof(params));
      Add(step, cost);
    } else {
      Add(step, cost);
    }
  }
  void Add(const backend::StepSpec& step, uint64_t cost) {
    made.steps.push_back(step), made.device.costs.push_back(cost);
  }

  std::mt19937 random;
  Machine machine;
  ir::Graph graph;
  Compilation made;
  uint16_t scope = 0;
};

ir::TensorId Value(const ir::Graph& graph, ir::TensorId id) {
  const ir::TensorId root = Root(graph, id).root;
  return root == 3 ? 2 : root;  // A state and its next value.
}
bool Conflict(const ir::Graph& graph, const backend::StepSpec& a, const backend::StepSpec& b) {
  const auto meets = [&](const std::vector<ir::TensorId>& x, const std::vector<ir::TensorId>& y) {
    return std::ranges::any_of(x, [&](ir::TensorId i) {
      return std::ranges::any_of(y, [&](ir::TensorId k) { return Value(graph, i) == Value(graph, k); });
    });
  };
  return meets(a.outputs, b.outputs) || meets(a.outputs, b.inputs) || meets(a.inputs, b.outputs);
}

/// What may not run beside what, and what it costs, counted anew.
void ExpectSound(const Random& given, const Compilation& made, uint64_t bound) {
  const std::vector<backend::StepSpec>& before = given.made.steps;
  ASSERT_EQ(made.steps.size(), before.size());
  std::vector<size_t> at(before.size(), SIZE_MAX);
  for (size_t s = 0; s < at.size(); ++s) at[static_cast<size_t>(made.steps[s].node)] = s;
  uint64_t now = 0, end = 0, submitted = 0;
  for (size_t s = 0; s < at.size(); ++s) {
    const bool waits = made.steps[s].op == Op::kWait;
    if (made.steps[s].op == Op::kSubmit) {
      submitted = now;
      end = now + made.jobs[JobOf(made.steps[s])].timing.Cycles(given.machine);
    }
    if (waits) {
      EXPECT_EQ(made.device.costs[s], end > now ? end - now : 0);
    }
    now += made.device.costs[s];
    if (waits) {
      EXPECT_LE(now - submitted, std::max(bound, end - submitted));
    }
    if (s + Random::kCommits >= at.size() || backend::ScopeLength(before[s]) != 0) {
      EXPECT_EQ(at[s], s);
    }
  }
  for (size_t i = 0; i < at.size(); ++i) {
    const bool submits = before[i].op == Op::kSubmit;
    for (size_t k = submits ? i + 2 : i + 1; k < at.size(); ++k) {
      if (Conflict(given.graph, before[i], before[k])) {
        EXPECT_LT(at[i], at[k]);
      }
    }
    for (size_t s = at[i] + 1; submits && s < at[i + 1]; ++s) {
      EXPECT_FALSE(IsDeviceStep(made.steps[s]) || backend::ScopeLength(made.steps[s]) != 0);
      EXPECT_FALSE(Conflict(given.graph, before[i], made.steps[s]));
    }
  }
}

TEST(Overlap, AnyOrderKeepsWhatDependsOnWhat) {
  int faster = 0;
  for (uint32_t seed = 0; seed < 100 && !HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    const Random given(seed);
    const uint64_t bound = seed % 3 == 0 ? 120 : UINT64_MAX;
    Compilation made = given.made;
    Diagnostics diagnostics;
    OverlapJobs(given.graph, given.machine, Random::kCommits, bound, made, diagnostics);
    EXPECT_LE(TotalCycles(made), TotalCycles(given.made));
    faster += TotalCycles(made) < TotalCycles(given.made);
    ExpectSound(given, made, bound);
  }
  EXPECT_GT(faster, 30);
}

}  // namespace
}  // namespace takt::npu
