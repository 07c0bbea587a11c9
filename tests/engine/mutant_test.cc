// Damaged plans are rejected or run clean (promise P4); run under sanitizers by the preset asan-ubsan.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "engine/plan/trailer.h"
#include "tests/support/try_plan.h"

namespace takt {
namespace {

using test::TryPlan;

uint32_t Seed() {
  const char* seed = std::getenv("TAKT_SEED");
  return seed != nullptr ? static_cast<uint32_t>(std::strtoul(seed, nullptr, 10)) : 1;
}

std::vector<test::PlanSpec> Specs() {
  return {test::SmallNet(), test::OneOfEverything()};
}

TEST(MutantTest, TheOriginalRuns) {
  EXPECT_EQ(TryPlan(test::SmallNet().Pack().view()), Status());
}

TEST(MutantTest, OneByte) {
  for (const test::PlanSpec& spec : Specs()) {
    test::PlanBytes file = spec.Pack();
    for (uint8_t& byte : file.bytes()) {
      const uint8_t old = byte;
      for (const int value : {0, 0xFF, old ^ 1, old ^ 0x80, old + 1}) {
        byte = static_cast<uint8_t>(value);
        (void)TryPlan(file.view());
      }
      byte = old;
    }
  }
}

TEST(MutantTest, EveryTruncationIsRejected) {
  const test::PlanBytes file = test::SmallNet().Pack();
  for (size_t n = 0; n < file.view().size(); ++n) EXPECT_FALSE(TryPlan(file.view().first(n)).ok()) << n;
}

/// Bytes and words of the metadata, where most of them mean something, and blocks copied over others.
TEST(MutantTest, ManyBytes) {
  std::mt19937 random(Seed());
  for (const test::PlanSpec& spec : Specs()) {
    const test::PlanBytes file = spec.Pack();
    for (int i = 0; i < 5000; ++i) {
      std::vector<uint8_t> bytes(file.view().begin(), file.view().end());
      const size_t range = bytes.size() - sizeof(PlanTrailer) - spec.segment.size();
      for (uint32_t n = 0; n <= i % 4u; ++n) {
        const size_t at = random() % (range - 8);
        switch (random() % 3) {
          case 0:
            bytes[at] = static_cast<uint8_t>(random());
            break;
          case 1:
            bytes[at & ~size_t{1}] = static_cast<uint8_t>(bytes[at & ~size_t{1}] + random() % 9 - 4);
            break;
          default:
            std::memmove(&bytes[at], &bytes[random() % (range - 8)], 1 + random() % 8);
        }
      }
      (void)TryPlan(bytes);
    }
  }
}

/// The tables are well formed, their entries are not: gets past the FlatBuffers verifier each time.
TEST(MutantTest, EntriesOfTables) {
  std::mt19937 random(Seed());
  const auto pick = [&](auto& v) -> auto& {
    return v[random() % v.size()];
  };
  const auto poke = [&](auto& entry) {
    auto* bytes = reinterpret_cast<uint8_t*>(&entry);
    bytes[random() % sizeof(entry)] = static_cast<uint8_t>(random() % 2 ? random() : random() % 12);
  };
  for (const test::PlanSpec& original : Specs()) {
    int ran = 0;
    for (int i = 0; i < 5000; ++i) {
      test::PlanSpec spec = original;
      switch (random() % 8) {
        case 0:
          poke(pick(spec.tensors));
          break;
        case 1:
          poke(pick(spec.lives));
          break;
        case 2:
          pick(spec.operands) = static_cast<uint16_t>(random() % spec.tensors.size());
          break;
        case 3:
          pick(spec.dims) = static_cast<int32_t>(random() % 6);
          break;
        case 4:
          poke(pick(pick(spec.steps).params));
          break;
        case 5:
          std::swap(pick(spec.steps), pick(spec.steps));
          break;
        case 6:
          pick(spec.steps).numerics = static_cast<schema::Numerics>(random() % 3);
          break;
        default:
          poke(spec.arenas[0]);
          break;
      }
      const Status status = TryPlan(spec.Pack().view());
      ran += status.ok() || status.site() == Site::kInvokeTrips;  // After the kernels of a loop's body.
    }
    EXPECT_GT(ran, 50) << "mutants that run reach the kernels";
  }
}

/// The loop (step 4) and other steps become control steps of any reach, nested at random: all runs end, under a bound
/// of their trips.
TEST(MutantTest, Control) {
  std::mt19937 random(Seed());
  int ran = 0;
  for (int i = 0; i < 5000; ++i) {
    test::PlanSpec spec = test::OneOfEverything();
    for (int n = i % 4; n >= 0; --n) {
      const auto reach = static_cast<uint16_t>(random() % 9);
      const uint32_t trips = random() % 3 == 0 ? static_cast<uint32_t>(random()) : static_cast<uint32_t>(random() % 4);
      const auto operand = static_cast<uint16_t>(random() % 2 == 0 ? 4 : random() % spec.operands.size());
      spec.steps[n == 0 ? 4 : random() % spec.steps.size()] =
          random() % 2 == 0 ? test::Step(schema::Params::Loop, schema::LoopParams(reach, trips), operand, 1, 0)
                            : test::Step(schema::Params::SkipIf, schema::SkipIfParams(reach), operand, 1, 0);
    }
    const Status status = TryPlan(spec.Pack().view());
    ran += status.ok() || status.site() == Site::kInvokeTrips;
  }
  EXPECT_GT(ran, 50) << "mutants that run";
}

}  // namespace
}  // namespace takt
