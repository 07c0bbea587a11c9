// Compiled streams do with loops what they do without them, in the same time.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>
#include <tuple>

#include "converter/backend/convert.h"
#include "converter/npu/feature_lives.h"
#include "converter/npu/machine_json.h"
#include "converter/npu/step_profile.h"
#include "converter/npu/trace.h"
#include "ports/npu_emu/executor.h"
#include "ports/npu_emu/model/access.h"
#include "tests/converter/model_files.h"
#include "tests/npu/unrolled.h"
#include "tests/support/plan_runner.h"

namespace takt::npu {
namespace {

constexpr const char* kPresets[] = {"ethos-u55-32", "ethos-u65-512", "davinci-tiny", "gemmini-16x16", "nvdla-256"};

struct Compiled {
  Machine machine;
  Conversion made;
};
Compiled Compile(const std::string& model, const std::string& preset, uint64_t max_step_us = 0) {
  Diagnostics diagnostics;
  ConvertOptions options;
  options.machine = ParseMachine(*PresetJson(preset), preset, {}, diagnostics).value().table;
  options.max_step_us = max_step_us;
  Conversion made = ConvertTflite(test::ReadBytes(model), model, options);
  EXPECT_FALSE(made.plan.empty()) << model << " on " << preset;
  return {*options.machine, std::move(made)};
}

Stream Open(const std::vector<uint8_t>& bytes) {
  Stream stream;
  EXPECT_TRUE(OpenStream(std::as_bytes(std::span(bytes)), stream).ok());
  return stream;
}

/// The same with streams of single commands.
Compilation Unrolled(const Compilation& c) {
  Compilation unrolled = c;
  for (size_t j = 0; j < c.jobs.size(); ++j) {
    std::vector<uint32_t> positions;
    for (const CompiledLayer& layer : c.jobs[j].layers) positions.push_back(layer.first_command);
    unrolled.device.jobs[j].stream = Unrolled(Open(c.device.jobs[j].stream), positions).Finish();
    for (size_t i = 0; i < positions.size(); ++i) unrolled.jobs[j].layers[i].first_command = positions[i];
  }
  return unrolled;
}

/// All times of a stream, and every command's.
struct Times {
  using When = std::tuple<std::vector<std::byte>, Ticks, Ticks, Ticks>;
  Timing timing;
  std::vector<When> commands;

  Times(const Stream& stream, const Machine& machine) {
    const SpanSink sink{[](void* all, const Span& s) {
                          const When when = {Resolved(s.command, s.walker), s.start, s.free, s.done};
                          static_cast<std::vector<When>*>(all)->push_back(when);
                        },
                        &commands};
    EXPECT_TRUE(Evaluate(stream, machine, timing, sink).ok());
  }
};

void ExpectSame(const Timing& a, const Timing& b) {
  EXPECT_EQ(a.total, b.total);
  EXPECT_EQ(a.commands, b.commands);
  for (int p = 0; p < kPipes; ++p) {
    const PipeTime &x = a.pipes[p], &y = b.pipes[p];
    const auto times = [](const PipeTime& t) {
      return std::tuple(t.busy, t.contention, t.link, t.ports, t.sync, t.issue, t.queue, t.drain);
    };
    EXPECT_EQ(times(x), times(y)) << PipeName(static_cast<Pipe>(p));
    EXPECT_TRUE(std::ranges::equal(x.events, y.events)) << PipeName(static_cast<Pipe>(p));
  }
  for (int i = 0; i < kMaxMemories; ++i) {
    EXPECT_EQ(a.round_trips.read[i], b.round_trips.read[i]);
    EXPECT_EQ(a.round_trips.written[i], b.round_trips.written[i]);
  }
  EXPECT_EQ(a.activity.macs, b.activity.macs);
  EXPECT_EQ(a.activity.elements, b.activity.elements);
  EXPECT_EQ(a.activity.Bytes(), b.activity.Bytes());
  EXPECT_TRUE(std::ranges::equal(a.activity.buffer_bytes, b.activity.buffer_bytes));
}

/// `work` that the proof counts; bases are as large as they may be.
uint64_t Work(const Stream& stream, const Machine& machine) {
  std::vector<BaseLimits> bases(kMaxBases, BaseLimits{UINT32_MAX, true});
  std::vector<std::byte> marks(MarkBytes(machine));
  uint64_t work = 0;
  EXPECT_TRUE(CheckStream(stream, machine, bases, marks, work).ok());
  return work;
}

/// What is in the bases after a run on random bytes.
std::vector<std::vector<std::byte>> RunOnBytes(const Stream& stream, const Machine& machine) {
  uint64_t sizes[kFirstBase + kMaxBases] = {};
  for (int b = 0; b < kBuffers; ++b) sizes[b] = machine.buffers[b].bytes;
  Walker walker(stream.commands);
  for (Command c = walker.Next(); c.op != MicroOp::kEnd; c = walker.Next()) {
    const AccessList list = AccessesOf(c, walker);
    for (const Access& a : std::span(list.items).first(list.count)) sizes[a.space] = std::max(sizes[a.space], a.end);
  }
  std::mt19937 random(1);
  std::vector<test::AlignedBytes> memory;
  Spaces spaces;
  for (size_t s = 0; s < std::size(sizes); ++s) {
    memory.emplace_back(sizes[s]);
    spaces.first[s] = memory[s].span().data();
    for (std::byte& b : memory[s].span()) b = static_cast<std::byte>(random());
  }
  test::AlignedBytes scratch(ScratchBytes(machine));
  auto* words = reinterpret_cast<int16_t*>(scratch.span().data());
  Execute(stream, spaces, {words, words + ScratchBytes(machine) / sizeof(int16_t) / 3}, BestTileKernels());
  std::vector<std::vector<std::byte>> after;
  for (size_t s = kFirstBase; s < std::size(sizes); ++s)
    after.emplace_back(memory[s].span().begin(), memory[s].span().end());
  return after;
}

std::vector<std::string> Models() {
  return test::ModelFiles({"kws_ref_model", "person_detect", "pretrainedResnet_quant", "model_ToyCar_quant_fullint"});
}

TEST(RolledStreams, RunTheSameCommandsAtTheSameTimes) {
  size_t before = 0, after = 0;
  for (const std::string& model : Models()) {
    for (const char* preset : kPresets) {
      const auto [machine, made] = Compile(model, preset);
      for (const backend::JobSpec& job : made.npu.device.jobs) {
        const Stream rolled = Open(job.stream);
        const Built unrolled(Unrolled(rolled));
        before += unrolled.bytes.size(), after += job.stream.size();
        EXPECT_EQ(Work(rolled, machine), Work(unrolled.stream, machine));
        for (const uint32_t queue_depth : {0u, 1u, 3u}) {
          Machine limited = machine;
          limited.queue_depth = queue_depth;
          const Times loops(rolled, limited), single(unrolled.stream, limited);
          ExpectSame(loops.timing, single.timing);
          EXPECT_EQ(loops.commands, single.commands) << model << " on " << preset;
        }
      }
    }
  }
  RecordProperty("bytes", std::to_string(before) + " to " + std::to_string(after));
  EXPECT_LT(3 * after, 2 * before);
}

TEST(RolledStreams, ComputeTheSameBytes) {
  for (const std::string& model : test::ModelFiles({"kws_ref_model"})) {
    for (const char* preset : kPresets) {
      const auto [machine, made] = Compile(model, preset);
      for (const backend::JobSpec& job : made.npu.device.jobs) {
        const Stream rolled = Open(job.stream);
        const Built unrolled(Unrolled(rolled));
        EXPECT_EQ(RunOnBytes(rolled, machine), RunOnBytes(unrolled.stream, machine)) << model << " on " << preset;
      }
    }
  }
}

/// Without what names a command's byte.
std::string Trace(const ir::Graph& graph, const Compilation& c, const Machine& machine) {
  return std::regex_replace(TraceJson(graph, c, machine), std::regex(R"("command":\d+)"), "");
}

TEST(RolledStreams, ReportTheSame) {
  for (const uint64_t max_step_us : {0u, 2000u}) {
    for (const char* preset : {"ethos-u55-32", "davinci-tiny"}) {
      const auto [machine, made] = Compile(test::kFashion, preset, max_step_us);
      const Compilation unrolled = Unrolled(made.npu);
      const auto lives = FeatureLives(made.npu, machine), single_lives = FeatureLives(unrolled, machine);
      ASSERT_EQ(lives.size(), single_lives.size());
      for (size_t i = 0; i < lives.size(); ++i) {
        const auto all = [](const FeatureLife& l) {
          return std::tuple(l.step, l.job, l.base, l.begin, l.end, l.from, l.until);
        };
        EXPECT_EQ(all(lives[i]), all(single_lives[i]));
      }
      const auto steps = ProfileSteps(made.graph, made.npu, machine);
      const auto single_steps = ProfileSteps(made.graph, unrolled, machine);
      ASSERT_EQ(steps.size(), single_steps.size());
      for (size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(steps[i].start, single_steps[i].start);
        EXPECT_EQ(steps[i].cycles, single_steps[i].cycles);
        EXPECT_TRUE(std::ranges::equal(steps[i].busy, single_steps[i].busy));
      }
      EXPECT_EQ(Trace(made.graph, made.npu, machine), Trace(made.graph, unrolled, machine));
    }
  }
}

}  // namespace
}  // namespace takt::npu
