#include <gtest/gtest.h>

#include "converter/npu/disassembler.h"
#include "tests/npu/npu_fixture.h"

namespace takt::npu {
namespace {

/// base 0 -> feature -> base 1, ordered by event 0.
StreamWriter CopyThrough() {
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  w.EmitSet(Pipe::kLoad, 0);
  w.EmitWait(Pipe::kStore, 0);
  w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1), 64));
  return w;
}

TEST(Stream, DisassemblesToFieldsByName) {
  const Built built(CopyThrough());
  const std::string text = Disassemble(std::as_bytes(std::span(built.bytes)));
  EXPECT_EQ(
      text.substr(0, text.find('\n')),
      "000000 load    copy from=base0[0] to=feature[0] planes=1 rows=1 row_bytes=64 from_row=64 to_row=64 from_plane=0 "
      "to_plane=0");
  EXPECT_NE(text.find("set event=0"), std::string::npos);
  EXPECT_NE(text.find("command end\n"), std::string::npos);
}

TEST(Stream, OrderedStreamPasses) {
  EXPECT_TRUE(Built(CopyThrough()).Check(PlainMachine()).ok());
}

TEST(Stream, MissingWaitIsNamedByItsCommand) {
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature), 64));
  const uint32_t store = w.position();
  w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1), 64));
  const Status status = Built(w).Check(PlainMachine());
  EXPECT_EQ(status.site(), Site::kNpuUnordered);
  EXPECT_EQ(status.detail(), store);
}

TEST(Stream, OverwritingWhatAnotherPipeStillReadsIsUnordered) {
  StreamWriter w = CopyThrough();
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature, 32), 64));
  EXPECT_EQ(Built(w).Check(PlainMachine()).site(), Site::kNpuUnordered);
}

TEST(Stream, OldUnorderedAccessesAreNotForgotten) {
  StreamWriter w;
  for (uint32_t i = 0; i < 200; ++i) w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature, i == 0 ? 0 : 512), 16));
  w.Emit(Pipe::kStore, Move(At(Buffer::kFeature, 0), Base(1), 16));
  EXPECT_EQ(Built(w).Check(PlainMachine()).site(), Site::kNpuUnordered);
}

TEST(Stream, ReadingBytesThatNothingWroteIsUnready) {
  StreamWriter w;
  w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1), 64));
  EXPECT_EQ(Built(w).Check(PlainMachine()).site(), Site::kNpuUnready);
}

/// Marks are bits, set and read byte by byte: every first and last bit.
TEST(Stream, BytesAreReadyWhereTheyWereWritten) {
  constexpr uint32_t kMark = 16, kMarks = 20;
  for (uint32_t written = 0; written < kMarks * kMarks * kMarks; ++written) {
    const uint32_t begin = written % kMarks, end = written / kMarks % kMarks + 1, read = written / kMarks / kMarks;
    if (begin >= end) continue;
    StreamWriter w;
    w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature, begin * kMark), (end - begin) * kMark));
    w.EmitSet(Pipe::kLoad, 0);
    w.EmitWait(Pipe::kStore, 0);
    w.Emit(Pipe::kStore, Move(At(Buffer::kFeature, read * kMark), Base(1), 3 * kMark));
    const bool inside = read >= begin && read + 3 <= end;
    EXPECT_EQ(Built(w).Check(PlainMachine()).site() != Site::kNpuUnready, inside) << begin << " " << end << " " << read;
  }
}

TEST(Stream, RangesOfBuffersAndBasesHold) {
  StreamWriter past_buffer;
  past_buffer.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kFeature, 1020), 64));
  EXPECT_EQ(Built(past_buffer).Check(PlainMachine()).site(), Site::kNpuRange);
  StreamWriter past_base;
  past_base.Emit(Pipe::kLoad, Move(Base(0, 4090), At(Buffer::kFeature), 64));
  EXPECT_EQ(Built(past_base).Check(PlainMachine()).site(), Site::kNpuRange);
  EXPECT_EQ(Built(CopyThrough()).Check(PlainMachine(), {{4096, true}, {4096, false}}).site(), Site::kNpuRange);
}

TEST(Stream, EventsMustPairUp) {
  StreamWriter early;
  early.EmitWait(Pipe::kStore, 3);
  EXPECT_EQ(Built(early).Check(PlainMachine()).site(), Site::kNpuDeadlock);
  StreamWriter left;
  left.EmitSet(Pipe::kStore, 3);
  const Status status = Built(left).Check(PlainMachine());
  EXPECT_EQ(status.site(), Site::kNpuEventLeft);
  EXPECT_EQ(status.detail(), 3u);
  StreamWriter many;
  for (uint32_t i = 0; i <= kMaxEventCount; ++i) many.EmitSet(Pipe::kStore, 3);
  EXPECT_EQ(Built(many).Check(PlainMachine()).site(), Site::kNpuDeadlock);
}

/// Two channels of 3 x 1 pixels to 2 x 1 largest ones; x and y as given.
Pool Largest(Type type) {
  const uint32_t bytes = FeatureBytes(type);
  return {.x = At(Buffer::kSkip),
          .y = At(Buffer::kOutput),
          .height = 3,
          .channels = 2,
          .x_row = 2 * bytes,
          .x_pixel = 2 * bytes,
          .kernel_h = 2,
          .out_height = 2,
          .function = 1};
}
Status CheckPool(const Pool& pool, Type type, const Machine& machine) {
  StreamWriter w;
  w.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kSkip), 16));
  w.EmitSet(Pipe::kLoad, 0);
  w.EmitWait(Pipe::kVector, 0);
  w.Emit(Pipe::kVector, pool, type);
  return Built(w).Check(machine);
}

TEST(Stream, TypesAreThoseOfTheMachineAndOfTheCommand) {
  const Machine plain = PlainMachine();
  Machine wide = plain;
  wide.int16x8 = {1, 1, 1, 1, 0, 0, {{1, 1}, {1, 1}, {1, 1}}};
  ASSERT_EQ(CheckMachine(wide).rule, MachineRule::kOk);
  Pool pool = Largest(Type::kInt16x8);
  pool.low = -32768, pool.high = 32767;
  EXPECT_EQ(CheckPool(pool, Type::kInt16x8, wide), Status());
  EXPECT_EQ(CheckPool(pool, Type::kInt16x8, plain).site(), Site::kNpuCommand);
  EXPECT_EQ(CheckPool(pool, Type::kInt8, wide).site(), Site::kNpuCommand);  // no limits of int8
  pool.x.offset = 1;
  EXPECT_EQ(CheckPool(pool, Type::kInt16x8, wide).site(), Site::kNpuRange);  // no address of int16
  pool.x.offset = 0, pool.x_row = 5;
  EXPECT_EQ(CheckPool(pool, Type::kInt16x8, wide).site(), Site::kNpuCommand);
  EXPECT_EQ(CheckPool(Largest(Type::kInt8), static_cast<Type>(kTypes), wide).site(), Site::kNpuCommand);
  StreamWriter copy;
  copy.Emit(Pipe::kLoad, Move(Base(0), At(Buffer::kSkip), 16), Type::kInt16x8);
  EXPECT_EQ(Built(copy).Check(wide).site(), Site::kNpuCommand);
  StreamWriter named;
  named.Emit(Pipe::kVector, Largest(Type::kInt16x8), Type::kInt16x8);
  const Built built(named);
  const std::string text = Disassemble(std::as_bytes(std::span(built.bytes)));
  EXPECT_NE(text.find("vector  pool.int16x8 x=skip[0]"), std::string::npos);
}

TEST(Stream, Int16HasNoZeroPointsAndAStageOfItsOwn) {
  Machine wide = PlainMachine();
  wide.int16x8 = {1, 1, 1, 1, 0, 0, {{1, 1}, {1, 1}, {1, 1}}};
  const auto site = [&](const auto& op, Pipe pipe, Type type) {
    StreamWriter w;
    w.Emit(pipe, op, type);
    return Built(w).Check(wide).site();
  };
  Contract contract{.x = At(Buffer::kFeature), .w = At(Buffer::kWeight), .acc = At(Buffer::kAccumulator)};
  EXPECT_EQ(site(contract, Pipe::kMac, Type::kInt16x8), Site::kNpuUnready);
  contract.x_zero_point = 1;
  EXPECT_EQ(site(contract, Pipe::kMac, Type::kInt8), Site::kNpuUnready);
  EXPECT_EQ(site(contract, Pipe::kMac, Type::kInt16x8), Site::kNpuCommand);
  Requantize stage{.acc = At(Buffer::kAccumulator),
                   .bias = At(Buffer::kParameter),
                   .table = At(Buffer::kParameter, 8),
                   .y = At(Buffer::kOutput),
                   .numerics = static_cast<uint32_t>(Stage::kTfliteNarrow)};
  EXPECT_EQ(site(stage, Pipe::kVector, Type::kInt16x8), Site::kNpuUnready);
  EXPECT_EQ(site(stage, Pipe::kVector, Type::kInt8), Site::kNpuCommand);
}

TEST(Stream, LoopsStepAddresses) {
  StreamWriter w;
  w.Emit(Pipe::kCommand, Loop{.trips = 4});
  Copy copy = Move(Base(0), At(Buffer::kFeature), 16);
  copy.from.step = copy.to.step = 1;
  w.Emit(Pipe::kLoad, copy);
  w.Emit(Pipe::kCommand, Step{.index = 1, .bytes = 16});
  w.Emit(Pipe::kCommand, Next{});
  w.EmitSet(Pipe::kLoad, 0);
  w.EmitWait(Pipe::kStore, 0);
  w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1), 64));
  EXPECT_TRUE(Built(w).Check(PlainMachine()).ok());
  Machine small = PlainMachine();
  small.buffers[static_cast<int>(Buffer::kFeature)].bytes = 48;
  EXPECT_EQ(Built(w).Check(small).site(), Site::kNpuRange);
}

TEST(Stream, EndlessLoopsAreLimited) {
  StreamWriter w;
  for (int i = 0; i < 4; ++i) w.Emit(Pipe::kCommand, Loop{.trips = 65535});
  for (int i = 0; i < 4; ++i) w.Emit(Pipe::kCommand, Next{});
  EXPECT_EQ(Built(w).Check(PlainMachine()).code(), StatusCode::kLimitExceeded);
  StreamWriter open;
  open.Emit(Pipe::kCommand, Loop{.trips = 2});
  EXPECT_EQ(Built(open).Check(PlainMachine()).site(), Site::kNpuLoop);
}

TEST(Stream, EveryMutatedByteIsRefusedOrChecked) {
  const Built good(CopyThrough());
  const Machine machine = PlainMachine();
  int refused = 0;
  for (size_t at = 0; at < good.bytes.size(); ++at) {
    for (const int flip : {0x01, 0x80, 0xFF}) {
      Built bad = good;
      bad.bytes[at] = static_cast<uint8_t>(bad.bytes[at] ^ flip);
      Status status = OpenStream(std::as_bytes(std::span(bad.bytes)), bad.stream);
      if (status.ok()) status = bad.Check(machine);
      refused += !status.ok();
      Timing timing;
      if (status.ok()) {
        EXPECT_TRUE(Evaluate(bad.stream, machine, timing).ok());
      }
    }
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace takt::npu
