// What commands share beside memories: banks, queues, events, the weight decoder, cores and their link.
#include <gtest/gtest.h>

#include "converter/npu/tiling.h"
#include "tests/npu/npu_fixture.h"

namespace takt::npu {
namespace {

const PipeTime& Of(const Timing& t, Pipe p) {
  return t.pipes[static_cast<int>(p)];
}

BufferSpec& Spec(Machine& m, Buffer b) {
  return m.buffers[static_cast<int>(b)];
}

/// `cycles` on the array of PlainMachine, to accumulators at `acc`.
Contract Sums(uint32_t cycles, uint32_t acc) {
  return {
      .x = At(Buffer::kFeature), .w = At(Buffer::kWeight), .acc = At(Buffer::kAccumulator, acc), .out_height = cycles};
}
/// `cycles` on its vector unit, from accumulators at `acc`.
Requantize Results(uint32_t cycles, uint32_t acc) {
  return {.acc = At(Buffer::kAccumulator, acc),
          .bias = At(Buffer::kParameter),
          .table = At(Buffer::kParameter, 4),
          .y = At(Buffer::kOutput),
          .pixels = cycles,
          .numerics = 1};
}

Machine WithPorts(uint8_t banks, uint8_t ports) {
  Machine m = PlainMachine();
  Spec(m, Buffer::kAccumulator).banks = banks;
  Spec(m, Buffer::kAccumulator).ports = ports;
  return m;
}

TEST(Banks, TwoPipesTakeTurnsUnlessTheirSlotsLieInTwoBanks) {
  StreamWriter w;
  w.Emit(Pipe::kMac, Sums(20, 0));
  w.Emit(Pipe::kVector, Results(30, 512));
  const Built built(w);
  EXPECT_EQ(built.Time(PlainMachine()).total, 30u);
  EXPECT_EQ(built.Time(WithPorts(2, 1)).total, 30u);
  EXPECT_EQ(built.Time(WithPorts(1, 2)).total, 30u);
  const Timing t = built.Time(WithPorts(1, 1));
  EXPECT_EQ(t.total, 20u + 30u);
  EXPECT_EQ(Of(t, Pipe::kVector).ports, 20u);
  EXPECT_EQ(Of(t, Pipe::kMac).ports, 0u);
}

TEST(Banks, AreServedInTheOrderOfRequests) {
  StreamWriter w;
  w.Emit(Pipe::kMac, Sums(20, 0));
  w.Emit(Pipe::kMac, Sums(20, 0));
  w.Emit(Pipe::kVector, Results(30, 512));
  const Timing t = Built(w).Time(WithPorts(1, 1));
  EXPECT_EQ(Of(t, Pipe::kVector).ports, 20u);  // before the array's second command, which is ready only then
  EXPECT_EQ(Of(t, Pipe::kMac).ports, 30u);
  EXPECT_EQ(t.total, 70u);
}

TEST(Banks, ATransferHoldsItsBankUntilItsLastBurst) {
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kAccumulator), 64));
  w.Emit(Pipe::kVector, Results(30, 512));
  Machine m = WithPorts(1, 1);
  const Built built(w);
  EXPECT_EQ(built.Time(m).total, 64u + 30u);
  m.memories[0].outstanding = 1;  // a burst of 4 bytes each 10 cycles
  const Timing t = built.Time(m);
  EXPECT_EQ(t.total, 160u + 30u);
  EXPECT_EQ(t.round_trips.read[0], 16 * kWholeTrip);  // what the vector unit waited for grows with the latency
  m.memories[0].read_latency = 11;
  EXPECT_EQ(built.Time(m).total, 176u + 30u);
}

TEST(Banks, SlotsAreWholeGranulesAndNoBankHasPartsOfTwo) {
  Machine m = PlainMachine();
  Spec(m, Buffer::kFeature) = {.bytes = 3000, .banks = 4, .ports = 1};
  EXPECT_EQ(m.slot(Buffer::kFeature), 1488u);
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 1488));
  w.Emit(Pipe::kMac,
         Contract{.x = At(Buffer::kFeature, 1488), .w = At(Buffer::kWeight), .acc = At(Buffer::kAccumulator)});
  EXPECT_EQ(Of(Built(w).Time(m), Pipe::kMac).ports, 0u);
  Spec(m, Buffer::kFeature).granule = 1024;
  EXPECT_EQ(m.slot(Buffer::kFeature), 1024u);
  Layer layer;
  layer.height = layer.width = layer.kernel_h = layer.kernel_w = 35;
  layer.weights = 0;
  Spec(m, Buffer::kWeight).bytes = 4096;
  Tiling tiling;
  std::string reason;
  EXPECT_FALSE(ChooseTiling(m, layer, tiling, reason));
  EXPECT_NE(reason.find("needs 1225 bytes in a slot of the feature buffer, which has 1024"), std::string::npos)
      << reason;
  Spec(m, Buffer::kFeature).granule = 16;
  EXPECT_TRUE(ChooseTiling(m, layer, tiling, reason)) << reason;
}

TEST(Queues, AFullOneHoldsUpTheCommandsBehind) {
  StreamWriter w;
  for (int i = 0; i < 3; ++i) w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  w.Emit(Pipe::kMac, Sums(1, 0));
  const Built built(w);
  Machine m = PlainMachine();
  EXPECT_EQ(Of(built.Time(m), Pipe::kMac).issue, 0u);
  m.queue_depth = 1;  // the third transfer has no room before the second one starts
  const Timing t = built.Time(m);
  EXPECT_EQ(Of(t, Pipe::kMac).issue, 64u);
  EXPECT_EQ(Of(t, Pipe::kCommand).queue, 64u);
  EXPECT_EQ(t.total, 3 * 64u + 10u);
  m.queue_depth = 2;
  EXPECT_EQ(Of(built.Time(m), Pipe::kMac).issue, 0u);
}

TEST(Queues, RoomForAllIsNoLimit) {
  StreamWriter w;
  w.Emit(Pipe::kCommand, Loop{.trips = 10});
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 8));
  w.EmitSet(Pipe::kLoad, 0);
  w.EmitWait(Pipe::kMac, 0);
  w.Emit(Pipe::kMac, Sums(7, 0));
  w.Emit(Pipe::kCommand, Next{});
  const Built built(w);
  Machine m = PlainMachine();
  m.issue_cycles = 3, m.job_cycles = 11;
  const Timing unlimited = built.Time(m);
  m.queue_depth = 20;
  const Timing t = built.Time(m);
  EXPECT_EQ(t.total, unlimited.total);
  EXPECT_EQ(Of(t, Pipe::kMac).issue, Of(unlimited, Pipe::kMac).issue);
  EXPECT_EQ(Of(t, Pipe::kCommand).busy, 40u * 3u);  // the loop itself is free
  m.queue_depth = 1;
  EXPECT_GT(built.Time(m).total, unlimited.total);
}

TEST(Events, SetAndWaitCostTheirPipes) {
  StreamWriter w;
  w.Emit(Pipe::kMac, Sums(20, 0));
  w.EmitSet(Pipe::kMac, 0);
  w.EmitWait(Pipe::kVector, 0);
  w.Emit(Pipe::kVector, Results(30, 0));
  Machine m = PlainMachine();
  m.set_cycles = 3, m.wait_cycles = 5;
  const Timing t = Built(w).Time(m);
  EXPECT_EQ(t.total, 20u + 3u + 5u + 30u);
  EXPECT_EQ(Of(t, Pipe::kMac).sync, 3u);
  EXPECT_EQ(Of(t, Pipe::kVector).sync, 5u);
  EXPECT_EQ(Of(t, Pipe::kVector).events[static_cast<int>(Pipe::kMac)], 23u);
}

TEST(Events, OneThatIsSetTooOftenHasToBeTakenFirst) {
  StreamWriter w;
  for (int i = 0; i < 20; ++i) {
    w.Emit(Pipe::kMac, Sums(1, 0));
    w.EmitSet(Pipe::kMac, 0);
    w.EmitWait(Pipe::kVector, 0);
    w.Emit(Pipe::kVector, Results(30, 0));
  }
  const Timing t = Built(w).Time(PlainMachine());
  EXPECT_EQ(t.total, 1u + 20 * 30u);
  // The twentieth finds eight before it until the vector unit takes the twelfth, at 1 + 11 * 30.
  EXPECT_EQ(Of(t, Pipe::kMac).events[static_cast<int>(Pipe::kVector)], 331u - 20u);
}

TEST(Decoder, LimitsHowFastWeightsCome) {
  Array ublock{.width = 2, .height = 2, .depth = 8, .reduction = 8, .kind = ArrayKind::kUblock};
  const Contraction pixel{.out_channels = 16, .channels = 32};
  EXPECT_EQ(ArrayCycles(ublock, pixel), 4u * 2u);
  ublock.weights_per_cycle = 16;  // 32 x 8 of a pass
  EXPECT_EQ(ArrayCycles(ublock, pixel), 16u * 2u);
  Array cube{.width = 4, .depth = 4, .reduction = 8, .kind = ArrayKind::kCube, .fill = 3};
  EXPECT_EQ(ArrayCycles(cube, pixel), 4u * 4u + 3u);
  cube.weights_per_cycle = 5;
  EXPECT_EQ(ArrayCycles(cube, pixel), CeilDiv(16 * 32, 5) + 3u);
}

TEST(Cores, TakeChannelsOrRows) {
  const Contraction c{.out_height = 5, .out_width = 2, .out_channels = 6, .channels = 7};
  Array array{.cores = 2, .kind = ArrayKind::kCube};
  EXPECT_EQ(ArrayCycles(array, c), 5u * 2u * 3u * 7u);
  EXPECT_EQ(PeakMacs(array), 2u);
  array.split = CoreSplit::kRows;
  EXPECT_EQ(ArrayCycles(array, c), 3u * 2u * 6u * 7u);
  Array systolic{.width = 2, .height = 8, .cores = 3, .kind = ArrayKind::kWeightStationary};
  EXPECT_EQ(ArrayCycles(systolic, c), 10u + 2 * 8u + 2u - 2u - 1u);  // two columns a core
  EXPECT_EQ(PeakMacs(systolic), 48u);
}

TEST(Cores, WhatAllNeedComesOnTheirLink) {
  StreamWriter w;
  Contract op = Sums(10, 0);
  op.height = 10, op.width = 3, op.channels = 2, op.out_channels = 4;
  w.Emit(Pipe::kMac, op);
  const Built built(w);
  Machine m = PlainMachine();
  m.array.cores = 2;
  EXPECT_EQ(built.Time(m).total, 10u * 2u * 2u);
  m.array.link_bytes_per_cycle = {1, 1};
  m.array.link_latency = 7;
  const Timing t = built.Time(m);  // 60 bytes of features while the array computes
  EXPECT_EQ(t.total, 60u + 7u);
  EXPECT_EQ(Of(t, Pipe::kMac).busy, 40u);
  EXPECT_EQ(Of(t, Pipe::kMac).link, 27u);
  m.array.split = CoreSplit::kRows;  // 8 weights
  EXPECT_EQ(built.Time(m).total, 5u * 4u * 2u + 7u);
  m.array.cores = 1;
  EXPECT_EQ(built.Time(m).total, 10u * 4u * 2u);
}

TEST(Cores, ADepthwiseLayerSharesNoFeatures) {
  Machine m = PlainMachine();
  m.array.cores = 2;
  m.array.link_bytes_per_cycle = {1, 100};
  const Contraction c{.out_channels = 4, .channels = 4, .depthwise = true, .box_bytes = 4};
  EXPECT_EQ(LinkTicks(m, c, 1), 0u);
  m.array.split = CoreSplit::kRows;
  EXPECT_EQ(LinkTicks(m, c, 1), 399u);
}

}  // namespace
}  // namespace takt::npu
