#include "converter/npu/event_allocation.h"

#include <gtest/gtest.h>

#include <array>
#include <deque>

#include "converter/backend/convert.h"
#include "converter/npu/machine_json.h"
#include "ports/npu_emu/model/walker.h"
#include "tests/converter/model_files.h"
#include "tests/npu/npu_fixture.h"

namespace takt::npu {
namespace {

std::vector<uint32_t> Spare(const StreamWriter& w) {
  return SpareEvents(std::as_bytes(std::span(w.bytes())));
}

TEST(SpareEvents, NoneOfAChain) {
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  w.EmitSet(Pipe::kLoad, 0);
  w.EmitWait(Pipe::kStore, 0);
  w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1), 64));
  EXPECT_TRUE(Spare(w).empty());
}

TEST(SpareEvents, WhatAnotherPipeTold) {
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  w.EmitSet(Pipe::kLoad, 0);
  const uint32_t set = w.position();
  w.EmitSet(Pipe::kLoad, 1);
  w.EmitWait(Pipe::kOperand, 0);
  w.Emit(Pipe::kOperand, Move(At(Buffer::kFeature), At(Buffer::kSkip), 64));
  w.EmitSet(Pipe::kOperand, 2);
  w.EmitWait(Pipe::kStore, 2);
  w.Emit(Pipe::kStore, Move(At(Buffer::kSkip), Base(1), 64));
  const uint32_t wait = w.position();
  w.EmitWait(Pipe::kStore, 1);
  w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1, 64), 64));
  EXPECT_EQ(Spare(w), (std::vector<uint32_t>{set, wait}));
  w.RemoveEvents(Spare(w));
  EXPECT_TRUE(Spare(w).empty());
  EXPECT_TRUE(Built(w).Check(PlainMachine()).ok());
}

TEST(SpareEvents, TheEarlierOfTwoWaitsInARow) {
  StreamWriter w;
  for (uint32_t i = 0; i < 2; ++i) {
    w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature, 64 * i), 64));
    w.EmitSet(Pipe::kLoad, i);
  }
  w.EmitWait(Pipe::kStore, 0);
  w.EmitWait(Pipe::kStore, 1);
  w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1), 128));
  EXPECT_EQ(Spare(w).size(), 2u);
  w.RemoveEvents(Spare(w));
  EXPECT_TRUE(Built(w).Check(PlainMachine()).ok());
}

TEST(SpareEvents, WhatNobodyNeeds) {
  StreamWriter w;
  w.EmitSet(Pipe::kStore, 0);
  w.EmitWait(Pipe::kLoad, 0);
  w.EmitSet(Pipe::kStore, 0);
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  w.EmitSet(Pipe::kLoad, 1);
  w.EmitWait(Pipe::kStore, 1);
  EXPECT_EQ(Spare(w).size(), 5u);
}

/// Waits of a stream that tell their pipe nothing new, counted forwards only.
size_t ImpliedWaits(const Stream& stream) {
  using Known = std::array<uint64_t, kPipes>;
  std::array<Known, kPipes> known{};
  std::array<std::deque<Known>, kMaxEvents> sent;
  size_t implied = 0;
  Walker walker(stream.commands);
  for (Command c = walker.Next(); c.op != MicroOp::kEnd; c = walker.Next()) {
    Known& mine = known[static_cast<size_t>(c.pipe)];
    if (c.op == MicroOp::kSet) {
      sent[c.as<Set>().event].push_back(mine);
    } else if (c.op == MicroOp::kWait) {
      const Known before = mine, told = sent[c.as<Wait>().event].front();
      sent[c.as<Wait>().event].pop_front();
      for (size_t p = 0; p < kPipes; ++p) mine[p] = std::max(mine[p], told[p]);
      implied += mine == before;
    } else {
      ++mine[static_cast<size_t>(c.pipe)];
    }
  }
  return implied;
}

Machine Preset(const std::string& name) {
  Diagnostics diagnostics;
  return ParseMachine(*PresetJson(name), name, {}, diagnostics).value().table;
}

std::vector<backend::JobSpec> Compile(const std::string& model, const Machine& machine) {
  ConvertOptions options;
  options.machine = machine;
  return ConvertTflite(test::ReadBytes(model), model, options).npu.device.jobs;
}

TEST(CompiledStreams, HaveNoImpliedWait) {
  for (const std::string& model : test::ModelFiles({"kws_ref_model", "person_detect", "pretrainedResnet_quant"})) {
    for (const char* preset : {"ethos-u55-128", "ethos-u65-512", "davinci-310", "gemmini-16x16", "nvdla-256"}) {
      const std::vector<backend::JobSpec> jobs = Compile(model, Preset(preset));
      ASSERT_FALSE(jobs.empty());
      for (const backend::JobSpec& job : jobs) {
        Stream stream;
        ASSERT_TRUE(OpenStream(std::as_bytes(std::span(job.stream)), stream).ok());
        EXPECT_EQ(ImpliedWaits(stream), 0u) << model << " on " << preset;
      }
    }
  }
}

}  // namespace
}  // namespace takt::npu
