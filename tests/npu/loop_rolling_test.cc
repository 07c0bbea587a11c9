#include "converter/npu/loop_rolling.h"

#include <gtest/gtest.h>

#include <random>

#include "converter/npu/disassembler.h"
#include "tests/npu/unrolled.h"

namespace takt::npu {
namespace {

/// Opens, and passes the walker's checks of loops.
Stream Open(const Built& built) {
  Walker walker(built.stream.commands);
  Command command;
  do {
    const Status status = walker.NextChecked(command, kMaxCommands);
    EXPECT_TRUE(status.ok()) << Disassemble(std::as_bytes(std::span(built.bytes)));
    if (!status.ok()) break;
  } while (command.op != MicroOp::kEnd);
  return built.stream;
}

/// What comes out is the same stream.
std::string Rolled(const StreamWriter& w, std::span<uint32_t> positions = {}) {
  const StreamWriter rolled = RollLoops(w, positions);
  EXPECT_LE(rolled.bytes().size(), w.bytes().size());
  const Built built(rolled);
  EXPECT_EQ(Unrolled(Open(built)).bytes(), w.bytes());
  return Disassemble(std::as_bytes(std::span(built.bytes)));
}

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

/// Without byte offsets.
std::string Control(const std::string& text) {
  std::string control;
  for (size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::string line = text.substr(at + 7, text.find('\n', at) - at - 7);
    if (line.starts_with("command")) control += line.substr(8) + "; ";
  }
  return control;
}

void Load(StreamWriter& w, uint32_t from, uint32_t to, uint32_t bytes = 16) {
  w.Emit(Pipe::kLoad, Move(Base(0, from), At(Buffer::kFeature, to), bytes));
}

TEST(RollLoops, AddressesStepWithTheTrips) {
  StreamWriter w;
  for (uint32_t i = 0; i < 5; ++i) Load(w, 100 * i, 16 * i), w.EmitSet(Pipe::kLoad, 3);
  const std::string text = Rolled(w);
  EXPECT_EQ(Control(text), "loop trips=5;   step index=1 bytes=100;   step index=2 bytes=16; next; end; ");
  EXPECT_NE(text.find("load      copy from=base0[0+step1] to=feature[0+step2]"), std::string::npos);
}

TEST(RollLoops, AddressesOfOneStepShareARegisterAndFixedOnesTakeNone) {
  StreamWriter w;
  for (uint32_t i = 0; i < 9; ++i) {
    Load(w, 100 * i, 16);
    Load(w, 7 + 100 * i, 100 * i);
  }
  EXPECT_EQ(Control(Rolled(w)), "loop trips=9;   step index=1 bytes=100; next; end; ");
}

TEST(RollLoops, SlotsAlternate) {
  StreamWriter w;
  for (uint32_t i = 0; i < 40; ++i) Load(w, 100 * i, i % 2 * 512);
  EXPECT_EQ(Control(Rolled(w)),
            "loop trips=20;   loop trips=2;     step index=1 bytes=100;     step index=2 bytes=512;   next;   step "
            "index=1 bytes=200; next; end; ");
}

TEST(RollLoops, WhatDiffersInOneFieldIsNoTrip) {
  for (const uint32_t odd : {0u, 7u, 19u}) {
    StreamWriter w;
    for (uint32_t i = 0; i < 20; ++i) Load(w, 100 * i, 0, i == odd ? 17 : 16);
    const std::string text = Rolled(w);
    EXPECT_EQ(Count(text, "row_bytes=17"), 1u);
    EXPECT_EQ(Count(text, "loop"), odd == 7 ? 2u : 1u);
  }
}

TEST(RollLoops, AnotherStepInTheLastTripEndsTheLoop) {
  StreamWriter w;
  for (uint32_t i = 0; i < 10; ++i) Load(w, 100 * i + (i == 9 ? 4 : 0), 0);
  const std::string text = Rolled(w);
  EXPECT_EQ(Control(text), "loop trips=9;   step index=1 bytes=100; next; end; ");
  EXPECT_EQ(Count(text, "copy"), 2u);
}

TEST(RollLoops, StepsNeverGoBack) {
  StreamWriter w;
  for (uint32_t i = 0; i < 10; ++i) Load(w, 1000 - 100 * i, 0);
  EXPECT_EQ(Control(Rolled(w)), "end; ");
  StreamWriter past;  // 2^32 would not come back to 0
  for (uint32_t i = 0; i < 10; ++i) Load(past, 0x40000000u * i, 0);
  EXPECT_EQ(
      Control(Rolled(past)),
      "loop trips=2;   loop trips=4;     step index=1 bytes=1073741824;   next; next; loop trips=2;   step index=1 "
      "bytes=1073741824; next; end; ");
}

TEST(RollLoops, AStepIsBelow2GiB) {
  StreamWriter w;
  Load(w, 0, 0), Load(w, 0x80000000, 0);
  EXPECT_EQ(Control(Rolled(w)), "end; ");
}

/// Five nested loops, each with a command of its own.
void AddNested(StreamWriter& w, uint32_t level, uint32_t from) {
  w.EmitSet(Pipe::kLoad, level);
  if (level == 5) return Load(w, from, 0);
  for (uint32_t i = 0; i < 3; ++i) AddNested(w, level + 1, 10 * from + i);
}

TEST(RollLoops, NestAsDeepAsTheWalkerDoes) {
  StreamWriter w;
  AddNested(w, 0, 0);
  const std::string text = Rolled(w);
  EXPECT_NE(text.find("command       loop"), std::string::npos);
  EXPECT_EQ(Count(text, "loop"), 1 + 1 + 1 + 1u);
}

TEST(RollLoops, ThereAreThreeRegisters) {
  for (const uint32_t last : {3u, 4u}) {
    StreamWriter w;
    for (uint32_t i = 0; i < 10; ++i) {
      Load(w, i, 2 * i);
      w.Emit(Pipe::kStore, Move(At(Buffer::kFeature, 3 * i), Base(1, last * i), 8));
    }
    EXPECT_EQ(Control(Rolled(w)), last == 3 ? "loop trips=10;   step index=1 bytes=1;   step index=2 bytes=2;   step "
                                              "index=3 bytes=3; next; end; "
                                            : "end; ");
  }
}

TEST(RollLoops, NestedOnesStepTogether) {
  StreamWriter w;
  for (uint32_t i = 0; i < 6; ++i) {
    w.Emit(Pipe::kLoad, Move(Base(1, 1000 * i), At(Buffer::kWeight), 9));
    for (uint32_t j = 0; j < 8; ++j) Load(w, 1000 * i + 100 * j, 16 * j);
  }
  EXPECT_EQ(Control(Rolled(w)),
            "loop trips=6;   loop trips=8;     step index=1 bytes=100;     step index=2 bytes=16;   next;   step "
            "index=1 bytes=1000; next; end; ");
}

TEST(RollLoops, TakesNoMoreThanItSaves) {
  StreamWriter w;
  for (uint32_t i = 0; i < 2; ++i) w.EmitSet(Pipe::kLoad, 1);
  EXPECT_EQ(Control(Rolled(w)), "end; ");
  w.EmitSet(Pipe::kLoad, 1);
  EXPECT_EQ(Control(Rolled(w)), "loop trips=3; next; end; ");
}

TEST(RollLoops, ALoopEndsWhereALayerDoes) {
  StreamWriter w;
  std::vector<uint32_t> positions = {0};
  for (uint32_t i = 0; i < 20; ++i) {
    if (i == 7 || i == 12) positions.push_back(w.position());
    Load(w, 100 * i, 0);
  }
  positions.push_back(w.position());
  const std::string text = Rolled(w, positions);
  EXPECT_EQ(Count(text, "loop trips=7"), 1u);
  EXPECT_EQ(Count(text, "loop trips=5"), 1u);
  EXPECT_EQ(Count(text, "loop trips=8"), 1u);
  EXPECT_EQ(positions, (std::vector<uint32_t>{0, 72, 144, 216}));
}

TEST(RollLoops, LongRunsAreSeveralLoops) {
  StreamWriter w;
  for (uint32_t i = 0; i < 70000; ++i) w.EmitSet(Pipe::kLoad, 1);
  EXPECT_EQ(Control(Rolled(w)), "loop trips=65535; next; loop trips=4465; next; end; ");
}

/// Random commands, some of them again and again in nested ways, some of those not quite the same.
class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}

  void Add(StreamWriter& w, int depth, std::vector<uint32_t> counters = {}) {
    const uint32_t count = 1 + Below(3);
    for (uint32_t i = 0; i < count; ++i) {
      if (depth == 0 || Below(3) == 0) {
        const std::vector<uint32_t> steps = Steps(counters.size());
        Command(w, Below(3), steps, counters);
        continue;
      }
      const std::mt19937 body = random_;
      const uint32_t trips = 1 + Below(5);
      counters.push_back(0);
      for (; counters.back() < trips; ++counters.back()) {
        random_ = body;
        Add(w, depth - 1, counters);
      }
      counters.pop_back();
    }
  }

 private:
  std::vector<uint32_t> Steps(size_t depth) {
    std::vector<uint32_t> steps(2 * depth);
    for (uint32_t& step : steps) step = std::array{0u, 0u, 16u, 16u, 100u, 7u, 0xFFFFFFF0u}[Below(7)];
    return steps;
  }
  void Command(StreamWriter& w, uint32_t kind, const std::vector<uint32_t>& steps,
               const std::vector<uint32_t>& counters) {
    uint32_t from = 5000 + Below(3), to = 5000;
    for (size_t i = 0; i < counters.size(); ++i) {
      from += counters[i] * steps[2 * i];
      to += counters[i] * steps[2 * i + 1];
    }
    const uint32_t odd = Below(40);  // the command that is different in one trip
    const bool other = odd < counters.size() && counters[odd] == 2;
    if (kind == 0) return w.EmitSet(Pipe::kLoad, other ? 1 : 0);
    Load(w, from, to + (other ? 1 : 0), kind);
  }

  uint32_t Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

  std::mt19937 random_;
};

/// Bytes [begin, end) of a stream without End.
StreamWriter PartOf(const StreamWriter& w, uint32_t begin, uint32_t end) {
  StreamWriter part;
  part.Append(std::as_bytes(std::span(w.bytes())).subspan(begin, end - begin));
  return part;
}

TEST(RollLoops, AnyStreamStaysTheSamePartByPart) {
  size_t before = 0, after = 0, deepest = 0;
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    StreamWriter w;
    Generator generator(seed);
    std::vector<uint32_t> positions;
    for (int part = 0; part < 3; ++part) {
      positions.push_back(w.position());
      generator.Add(w, static_cast<int>(seed % 5));
    }
    std::vector<uint32_t> moved = positions;
    const StreamWriter rolled = RollLoops(w, moved);
    positions.push_back(w.position()), moved.push_back(rolled.position());
    for (size_t i = 0; i + 1 < positions.size(); ++i) {
      const Built part(PartOf(rolled, moved[i], moved[i + 1]));
      const std::string text = Disassemble(std::as_bytes(std::span(part.bytes)));
      ASSERT_EQ(Unrolled(Open(part)).bytes(), PartOf(w, positions[i], positions[i + 1]).bytes()) << seed << text;
      EXPECT_LE(moved[i + 1] - moved[i], positions[i + 1] - positions[i]);
      for (size_t depth = 1; depth <= kMaxLoopDepth; ++depth) {
        if (text.find(" " + std::string(2 * depth, ' ') + "loop") != std::string::npos)
          deepest = std::max(deepest, depth + 1);
      }
    }
    before += w.bytes().size(), after += rolled.bytes().size();
  }
  RecordProperty("bytes", std::to_string(before) + " to " + std::to_string(after));
  EXPECT_LT(3 * after, 2 * before);
  EXPECT_EQ(deepest, kMaxLoopDepth);
}

}  // namespace
}  // namespace takt::npu
