// What a stream computes and moves, and the energy and area that a description gives it.
#include <gtest/gtest.h>

#include "tests/npu/npu_fixture.h"

namespace takt::npu {
namespace {

uint64_t Of(const Activity& a, Buffer b) {
  return a.buffer_bytes[static_cast<int>(b)];
}

/// 6 outputs of 4 channels from 8, 2 x 1 taps.
Contract Product() {
  return {.x = At(Buffer::kFeature),
          .w = At(Buffer::kWeight),
          .acc = At(Buffer::kAccumulator),
          .height = 7,
          .channels = 8,
          .kernel_h = 2,
          .out_height = 6,
          .out_channels = 4};
}

Activity ActivityOn(const Array& array) {
  Machine m = PlainMachine();
  m.array = array;
  StreamWriter w;
  w.Emit(Pipe::kMac, Product());
  return Built(w).Time(m).activity;
}

struct Dataflow {
  Array array;
  uint64_t features, weights, sums;  ///< How often each is taken.
};

TEST(Activity, TheArrayTakesOperandsAsItsDataflowHasThem) {
  constexpr uint64_t kFeatures = 6 * 2 * 8, kWeights = 4 * 2 * 8, kSums = 6 * 4;
  const Dataflow kDataflows[] = {
      {{.depth = 2, .reduction = 8, .kind = ArrayKind::kUblock}, 2, 1, 1},
      {{.width = 4, .depth = 2, .reduction = 8, .kind = ArrayKind::kCube}, 2, 2, 2},
      {{.width = 2, .height = 4, .kind = ArrayKind::kOutputStationary}, 2, 2, 1},
      {{.width = 2, .height = 4, .kind = ArrayKind::kWeightStationary}, 2, 1, 4},
      {{.width = 2, .height = 4, .kind = ArrayKind::kInputStationary}, 1, 3, 4},
      {{.width = 4, .depth = 2, .reduction = 8, .cores = 2, .kind = ArrayKind::kCube}, 1, 2, 2},
      {{.width = 4, .depth = 2, .reduction = 8, .cores = 2, .kind = ArrayKind::kCube, .split = CoreSplit::kRows},
       2,
       1,
       2},
  };
  for (const Dataflow& d : kDataflows) {
    const Activity a = ActivityOn(d.array);
    SCOPED_TRACE(static_cast<int>(d.array.kind));
    EXPECT_EQ(a.macs, kWeights * 6);
    EXPECT_EQ(Of(a, Buffer::kFeature), kFeatures * d.features);
    EXPECT_EQ(Of(a, Buffer::kWeight), kWeights * d.weights);
    EXPECT_EQ(Of(a, Buffer::kAccumulator), 8 * kSums * d.sums);
  }
}

TEST(Activity, CountsCopiesAndTheVectorUnit) {
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  w.Emit(Pipe::kOperand, Move(At(Buffer::kFeature), At(Buffer::kSkip), 16));
  w.Emit(Pipe::kStore, Move(At(Buffer::kOutput), Base(1), 8));
  w.Emit(Pipe::kVector, Pool{.x = At(Buffer::kSkip), .y = At(Buffer::kOutput), .channels = 3, .kernel_h = 2});
  w.Emit(Pipe::kVector, Add{.a = At(Buffer::kSkip), .b = At(Buffer::kOutput), .y = At(Buffer::kOutput), .columns = 5});
  w.Emit(Pipe::kVector, Requantize{.acc = At(Buffer::kAccumulator),
                                   .bias = At(Buffer::kParameter),
                                   .table = At(Buffer::kParameter, 16),
                                   .y = At(Buffer::kOutput),
                                   .pixels = 2,
                                   .channels = 4,
                                   .numerics = 2});
  const Activity a = Built(w).Time(PlainMachine()).activity;
  EXPECT_EQ(a.read_bytes[0], 64u);
  EXPECT_EQ(a.written_bytes[0], 8u);
  EXPECT_EQ(a.Bytes(), 72u);
  EXPECT_EQ(a.elements, 6u + 5u + 8u);
  EXPECT_EQ(Of(a, Buffer::kFeature), 64u + 16u);
  EXPECT_EQ(Of(a, Buffer::kSkip), 16u + 6u + 5u);
  EXPECT_EQ(Of(a, Buffer::kOutput), 8u + 3u + 2 * 5u + 8u);
  EXPECT_EQ(Of(a, Buffer::kAccumulator), 4 * 8u);
  EXPECT_EQ(Of(a, Buffer::kParameter), 4 * (4u + 8u));
}

TEST(Energy, HasItsParts) {
  Machine m = PlainMachine();
  Activity a;
  a.macs = 3, a.elements = 5, a.read_bytes[0] = 7, a.written_bytes[0] = 11;
  a.buffer_bytes[0] = 13, a.buffer_bytes[1] = 17;
  EXPECT_EQ(EnergyOf(a, m).Sum(), 0u);
  m.array.femtojoule_per_mac = 2;
  m.femtojoule_per_element = 10;
  m.memories[0].femtojoule_per_byte = 100;
  m.buffers[0].femtojoule_per_byte = 1000;
  m.buffers[1].femtojoule_per_byte = 10000;
  const Energy e = EnergyOf(a, m);
  EXPECT_EQ(e.array, 6u);
  EXPECT_EQ(e.vector, 50u);
  EXPECT_EQ(e.memories, 1800u);
  EXPECT_EQ(e.buffers, 183000u);
  EXPECT_EQ(e.Sum(), 184856u);
  m.int16x8.femtojoule_per_mac = 4, m.int16x8.femtojoule_per_element = 30;
  a.wide_macs = 1, a.wide_elements = 2;
  EXPECT_EQ(EnergyOf(a, m).array, 2u * 2 + 4u);
  EXPECT_EQ(EnergyOf(a, m).vector, 3u * 10 + 2u * 30);
  a.macs = UINT64_MAX;
  EXPECT_EQ(EnergyOf(a, m).Sum(), UINT64_MAX);
}

TEST(Area, IsThatOfMacsAndBuffers) {
  Machine m = PlainMachine();
  EXPECT_EQ(AreaOf(m).array + AreaOf(m).buffers, 0u);
  m.array = {.width = 2, .height = 3, .depth = 4, .reduction = 5, .cores = 6, .square_micrometre_per_mac = 7};
  m.square_micrometre_per_kib = 9;
  EXPECT_EQ(AreaOf(m).array, 2u * 3 * 4 * 5 * 6 * 7);
  EXPECT_EQ(AreaOf(m).buffers, 6u * 9);  // six buffers of 1 KiB
}

}  // namespace
}  // namespace takt::npu
