#include <gtest/gtest.h>

#include <random>

#include "tests/npu/npu_fixture.h"

namespace takt::npu {
namespace {

const PipeTime& Of(const Timing& t, Pipe p) {
  return t.pipes[static_cast<int>(p)];
}

TEST(Timing, ATransferTakesItsBurstsAndOneLatency) {
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  const Timing t = Built(w).Time(PlainMachine());
  EXPECT_EQ(t.total, 64u + 10u);
  EXPECT_EQ(Of(t, Pipe::kLoad).busy, 64u);
  EXPECT_EQ(Of(t, Pipe::kLoad).drain, 10u);
  EXPECT_EQ(t.activity.read_bytes[0], 64u);
}

TEST(Timing, BandwidthSaturatesAtOutstandingBurstsOverLatency) {
  Machine m = PlainMachine();
  m.memories[0].outstanding = 1;  // one burst of 4 bytes each 10 cycles
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  EXPECT_EQ(Built(w).Time(m).total, 16u * 10u + 10u);
}

TEST(Timing, DependentTransfersExposeEachRoundTrip) {
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  w.EmitSet(Pipe::kLoad, 0);
  w.EmitWait(Pipe::kStore, 0);
  w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1), 64));
  const Built built(w);
  Machine m = PlainMachine();
  const Timing t = built.Time(m);
  EXPECT_EQ(t.total, 2 * (64u + 10u));
  EXPECT_EQ(Of(t, Pipe::kStore).events[static_cast<int>(Pipe::kLoad)], 74u);
  EXPECT_EQ(t.round_trips.read[0], kWholeTrip);
  EXPECT_EQ(t.round_trips.written[0], kWholeTrip);
  m.memories[0].read_latency = 17;
  m.memories[0].write_latency = 15;
  EXPECT_EQ(built.Time(m).total - t.total, 7u + 5u);
}

TEST(Timing, RunsOnChipTakeWholeCyclesOfThePort) {
  Machine m = PlainMachine();
  m.memories[0].bytes_per_cycle = {4, 1};
  const Copy dense = Move(Base(0), At(Buffer::kFeature), 48);
  Copy transposed = dense;  // 3 planes of 16 bytes, which become 16 rows of 3
  transposed.planes = 3, transposed.rows = 16, transposed.row_bytes = 1;
  transposed.from_plane = 16, transposed.from_row = 1, transposed.to_plane = 1, transposed.to_row = 3;
  const auto cycles = [&](const Copy& copy) {
    StreamWriter w;
    w.Emit(Pipe::kLoad, copy);
    return Built(w).Time(m).total;
  };
  EXPECT_EQ(cycles(dense), 48u / 4 + 10);
  EXPECT_EQ(cycles(transposed), 48u + 10);  // The memory's bursts are the same.
  Copy within = transposed;
  within.from = At(Buffer::kSkip);
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kSkip), 48));
  w.Emit(Pipe::kLoad, within);
  EXPECT_EQ(Built(w).Time(m).total, 48u / 4 + 48u);
}

TEST(Timing, TransfersThatShareAMemoryTakeTurns) {
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 40));
  w.Emit(Pipe::kOperand, Move(Base(0), At(Buffer::kSkip), 80));
  // 10 bursts each at 8 cycles, then the other 10 at 4: 80, then 120.
  const Timing t = Built(w).Time(PlainMachine());
  EXPECT_EQ(t.total, 120u + 10u);
  EXPECT_EQ(Of(t, Pipe::kLoad).contention, 40u);
  EXPECT_EQ(Of(t, Pipe::kOperand).contention, 40u);
}

TEST(Timing, TheCubeHasItsClosedForm) {
  const Array cube{.width = 16, .depth = 16, .reduction = 32, .kind = ArrayKind::kCube, .fill = 7};
  EXPECT_EQ(
      ArrayCycles(cube,
                  {.out_height = 5, .out_width = 5, .out_channels = 33, .kernel_h = 3, .kernel_w = 3, .channels = 8}),
      2u * 3u * 3u + 7u);
}

TEST(Timing, TheUblockIsLimitedByWeightsOrByPixels) {
  const Array u55_256{
      .width = 2, .height = 2, .depth = 8, .reduction = 8, .kind = ArrayKind::kUblock, .weights_per_cycle = 8};
  // 25 x 5 of 64 channels from 64: 39 ublocks of 4 cycles, 8 deep, two passes of 32 input channels.
  EXPECT_EQ(ArrayCycles(u55_256, {.out_height = 25, .out_width = 5, .out_channels = 64, .channels = 64}),
            4u * 39u * 8u * 2u);
  // One pixel: 32 cycles of weight decoding.
  EXPECT_EQ(ArrayCycles(u55_256, {.out_channels = 16, .channels = 32}), 32u * 2u);
}

TEST(Timing, AUblockOfHalfTheReductionTakesTwiceAsLong) {
  Machine m = PlainMachine();
  m.array = {.width = 2, .height = 2, .depth = 8, .reduction = 8, .kind = ArrayKind::kUblock};
  m.pool_pipe = Pipe::kMac;
  m.int16x8 = {2, 2, 8, 4, 0, 0, {{1, 1}, {1, 1}, {1, 1}}};
  const auto ticks = [&](const auto& op, Type type) {
    StreamWriter w;
    w.Emit(Pipe::kMac, op, type);
    const Built built(w);
    return ComputeTicks(m, DecodeChecked(built.stream.commands, 0));
  };
  const auto expect = [&](const auto& op, Ticks int8) {
    EXPECT_EQ(ticks(op, Type::kInt8), int8);
    EXPECT_EQ(ticks(op, Type::kInt16x8), 2 * int8);
  };
  const auto tile = [](auto op, uint32_t kernel_h, uint32_t kernel_w, uint32_t channels) {
    op.out_height = op.out_width = 4;  // four ublocks
    op.kernel_h = kernel_h, op.kernel_w = kernel_w, op.channels = channels;
    return op;
  };
  expect(tile(Contract{}, 1, 1, 64), 4 * 4 * 2);
  expect(tile(Contract{}, 2, 4, 8), 4 * 4 * 2);
  expect(tile(Depthwise{}, 3, 3, 8), 4 * 4 * 3);
  expect(tile(Pool{}, 3, 3, 8), 4 * 9);
}

TEST(Timing, OverflowIsAnError) {
  Machine m = PlainMachine();
  m.memories[0].bytes_per_cycle = {1, 1000000};
  m.memories[0].burst_bytes = 65536;
  m.tick_shift = 16;
  StreamWriter w;
  w.Emit(Pipe::kCommand, Loop{.trips = 60000});
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  w.Emit(Pipe::kCommand, Next{});
  const Built built(w);
  Timing timing;
  EXPECT_EQ(Evaluate(built.stream, m, timing).site(), Site::kNpuTime);
}

/// A random stream of transfers and computing with events that pair up.
StreamWriter RandomStream(std::mt19937& random) {
  StreamWriter w;
  const auto draw = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int i = 0; i < 60; ++i) {
    w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 1 + draw(400)));
    if (draw(2) != 0) w.Emit(Pipe::kOperand, Move(Base(1), At(Buffer::kSkip), 1 + draw(100)));
    w.EmitSet(Pipe::kLoad, 0);
    w.EmitWait(Pipe::kMac, 0);
    w.Emit(Pipe::kMac, Contract{.x = At(Buffer::kFeature),
                                .w = At(Buffer::kWeight),
                                .acc = At(Buffer::kAccumulator),
                                .out_height = 1 + draw(20),
                                .out_channels = 1 + draw(8)});
    w.EmitSet(Pipe::kMac, 1);
    w.EmitWait(Pipe::kStore, 1);
    w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1), 1 + draw(200)));
    w.EmitSet(Pipe::kStore, 2);
    w.EmitWait(Pipe::kLoad, 2);
  }
  return w;
}

TEST(Timing, PartsSumExactlyToTheTotal) {
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    Machine m = PlainMachine();
    m.issue_cycles = i % 4;
    m.job_cycles = 5;
    m.tick_shift = i % 3;
    m.queue_depth = i % 5;
    m.set_cycles = i % 2, m.wait_cycles = i % 7;
    m.array.cores = 2;
    m.array.link_bytes_per_cycle = {static_cast<uint32_t>(i % 3), 2};
    for (BufferSpec& b : m.buffers) b.ports = static_cast<uint8_t>(i % 4);
    const Timing t = Built(RandomStream(random)).Time(m);
    ASSERT_NE(t.total, UINT64_MAX);
    for (const PipeTime& pipe : t.pipes) ASSERT_EQ(pipe.Sum(), t.total);
  }
}

TEST(Timing, MoreBandwidthIsNeverSlower) {
  std::mt19937 random(2);
  for (int i = 0; i < 30; ++i) {
    const Built built(RandomStream(random));
    Ticks last = UINT64_MAX;
    for (const uint32_t bandwidth : {1u, 2u, 3u, 4u, 8u, 64u}) {
      Machine m = PlainMachine();
      m.tick_shift = 8;
      m.memories[0].bytes_per_cycle = {bandwidth, 1};
      const Ticks total = built.Time(m).total;
      EXPECT_LE(total, last) << bandwidth;
      last = total;
    }
  }
}

}  // namespace
}  // namespace takt::npu
