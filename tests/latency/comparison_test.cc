// Verdicts and texts of latency tests.
#include "converter/report/comparison.h"

#include <gtest/gtest.h>

#include <random>

namespace takt::report {
namespace {

Profile Example() {
  Profile profile;
  profile.model = "m.tflite";
  profile.target = "ethos-u55-128";
  profile.plan_bytes = 1000;
  profile.arenas = {{"activation", 512}, {"runtime", 64}};
  profile.cycles = 300;
  profile.steps = {{"first", "npu conv", "4x4x16 of 8", "", {{"sram", 100}, {"flash", 50}}, 200},
                   {"second", "softmax int8 fp32_rne", "", "activation+16", {{"sram", 20}}, 100}};
  profile.reasons = {"first baseline"};
  return profile;
}

const TotalChange& Total(const Comparison& comparison, const std::string& name) {
  for (const TotalChange& total : comparison.totals) {
    if (total.name == name) return total;
  }
  ADD_FAILURE() << "no total " << name;
  static const TotalChange none;
  return none;
}

TEST(Comparison, EqualProfilesPass) {
  const Comparison same = Compare(Example(), Example());
  EXPECT_FALSE(same.failed());
  EXPECT_TRUE(same.steps.empty());
  EXPECT_EQ(same.totals.size(), 4u);
}

TEST(Comparison, OneCycleFailsAndNamesTheStep) {
  Profile after = Example();
  after.cycles = 301;
  after.steps[1].cycles = 101;
  const Comparison comparison = Compare(Example(), after);
  EXPECT_TRUE(comparison.failed());
  EXPECT_EQ(Total(comparison, "cycles").verdict, Verdict::kChanged);
  ASSERT_EQ(comparison.steps.size(), 1u);
  EXPECT_EQ(comparison.steps[0].name, "second");
  EXPECT_NE(ComparisonText(comparison).find("+1 (+1.00 %)"), std::string::npos) << ComparisonText(comparison);
}

TEST(Comparison, FewerCyclesFailToo) {
  Profile after = Example();
  after.cycles = 299;
  EXPECT_TRUE(Compare(Example(), after).failed());
}

TEST(Comparison, OneByteOfAnArenaOrThePlanFails) {
  Profile after = Example();
  ++after.arenas["activation"];
  EXPECT_TRUE(Compare(Example(), after).failed());
  after = Example();
  --after.plan_bytes;
  EXPECT_TRUE(Compare(Example(), after).failed());
  after = Example();
  after.arenas["state"] = 16;
  EXPECT_TRUE(Compare(Example(), after).failed());
}

TEST(Comparison, EachReasonIsNamed) {
  Profile after = Example();
  after.steps[0].kernel = "conv2d int8 fp32_rne";
  after.steps[0].tiling = "";
  after.steps[0].traffic = {{"sram", 150}};
  after.steps[1].placement = "activation+32";
  const Comparison comparison = Compare(Example(), after);
  EXPECT_FALSE(comparison.failed()) << "the gates are cycles and bytes";
  ASSERT_EQ(comparison.steps.size(), 2u);
  EXPECT_EQ(comparison.steps[0].why,
            (std::vector<std::string>{"kernel npu conv -> conv2d int8 fp32_rne", "tile 4x4x16 of 8 -> none",
                                      "traffic of flash 50 -> 0 bytes", "traffic of sram 100 -> 150 bytes"}));
  EXPECT_EQ(comparison.steps[1].why, std::vector<std::string>{"placement activation+16 -> activation+32"});
}

TEST(Comparison, StepsThatCameAndWent) {
  Profile after = Example();
  after.steps[0].name = "other";
  const Comparison comparison = Compare(Example(), after);
  ASSERT_EQ(comparison.steps.size(), 2u);
  EXPECT_EQ(comparison.steps[0].why, std::vector<std::string>{"new: npu conv"});
  EXPECT_EQ(comparison.steps[1].name, "first");
  EXPECT_EQ(comparison.steps[1].why, std::vector<std::string>{"gone: npu conv"});
}

TEST(Comparison, AnotherSubjectFailsAndSaysSo) {
  Profile other = Example();
  other.target = "ethos-u55-256";
  EXPECT_TRUE(Compare(Example(), other).failed());
  other = Example();
  other.model = "other.tflite";
  EXPECT_TRUE(Compare(Example(), other).failed());
  other = Example();
  other.cycles.reset();
  const Comparison comparison = Compare(Example(), other);
  EXPECT_EQ(comparison.subjects, std::vector<std::string>{"cycles only before, so none are compared"});
  EXPECT_EQ(comparison.totals.size(), 3u) << "no cycles";
  EXPECT_TRUE(ComparisonText(comparison).starts_with("not the same subject: cycles only before"));
  EXPECT_NE(ComparisonJUnit("kws", comparison).find("<failure message=\"not the same subject: "), std::string::npos);
  EXPECT_NE(ComparisonMarkdown("kws", comparison).find("not the same subject: "), std::string::npos);
}

TEST(Comparison, InstructionsMayDifferByHalfAPercentInOneBuild) {
  Profile before = Example(), after = Example();
  before.instructions = {100000, "gcc"};
  for (const auto& [count, verdict] : {std::pair{uint64_t{100500}, Verdict::kSame},
                                       {99500, Verdict::kSame},
                                       {100501, Verdict::kChanged},
                                       {99499, Verdict::kChanged}}) {
    after.instructions = {count, "gcc"};
    EXPECT_EQ(Total(Compare(before, after), "instructions").verdict, verdict) << count;
  }
  after.instructions = {200000, "clang"};
  EXPECT_EQ(Total(Compare(before, after), "instructions").verdict, Verdict::kNotCompared);
  after.instructions.reset();
  const std::string junit = ComparisonJUnit("kws", Compare(before, after, "no valgrind"));
  EXPECT_NE(junit.find("skipped=\"1\""), std::string::npos) << junit;
  EXPECT_NE(junit.find("name=\"instructions\"><skipped message=\"no valgrind\">"), std::string::npos) << junit;
}

TEST(Comparison, WallTimeNeverFails) {
  Profile before = Example(), after = Example();
  before.wall = {std::vector<uint64_t>(40, 100), "host"};
  after.wall = {std::vector<uint64_t>(40, 900), "host"};
  const Comparison comparison = Compare(before, after);
  EXPECT_FALSE(comparison.failed());
  EXPECT_NE(Total(comparison, "median ns").note.find("differs"), std::string::npos);
}

// By hand. Without ties U = 0, z = 12 / sqrt(275 / 12). With ties U = 2.5, variance 8 - 30 / 42, z = 3 / sqrt(51 / 7).
TEST(Comparison, MannWhitneyIsThatOfTheBooks) {
  EXPECT_NEAR(MannWhitneyP({1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}), 0.012185780355344818, 1e-12);
  EXPECT_NEAR(MannWhitneyP({1, 2, 2, 3}, {2, 3, 4}), 0.26637992334, 1e-10);
  EXPECT_EQ(MannWhitneyP({5, 5, 5}, {5, 5}), 1);
  EXPECT_EQ(MannWhitneyP({}, {1}), 1);
}

TEST(Comparison, MannWhitneyRejectsOneInAHundredOfEqualDistributions) {
  std::mt19937 random(1);
  int rejected = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<uint64_t> a(40), b(40);
    for (auto* samples : {&a, &b}) {
      for (uint64_t& sample : *samples) sample = random() % 1000;
    }
    rejected += MannWhitneyP(a, b) < 0.01;
  }
  EXPECT_GT(rejected, 5);
  EXPECT_LT(rejected, 40);
}

TEST(Comparison, TextsForCiAreWellFormed) {
  Profile after = Example();
  after.cycles = 310;
  after.steps[0].name = "a<b & \"c\" | d";
  const Comparison comparison = Compare(Example(), after);
  const std::string junit = ComparisonJUnit("kws", comparison);
  EXPECT_NE(junit.find("tests=\"5\" failures=\"1\" errors=\"0\" skipped=\"0\""), std::string::npos) << junit;
  EXPECT_NE(junit.find("a&lt;b &amp; &quot;c&quot; | d"), std::string::npos) << junit;
  const std::string markdown = ComparisonMarkdown("kws", comparison);
  EXPECT_NE(markdown.find("### kws: changed"), std::string::npos);
  EXPECT_NE(markdown.find("a<b & \"c\" \\| d"), std::string::npos) << markdown;
}

TEST(Profile, IsReadBackAsWritten) {
  Profile profile = Example();
  profile.instructions = {5, "gcc"};
  profile.wall = {{1, 2, 3}, "host"};
  const std::string text = ProfileText(profile);
  std::string problem;
  const auto read = ParseProfile(text, problem);
  ASSERT_TRUE(read.has_value()) << problem << text;
  EXPECT_EQ(ProfileText(*read), text);
  EXPECT_FALSE(Compare(profile, *read).failed());
}

TEST(Profile, OtherTextsAreRefused) {
  std::string problem;
  EXPECT_FALSE(ParseProfile("", problem));
  EXPECT_FALSE(ParseProfile("{}", problem));
  EXPECT_EQ(problem, "'model' is missing");
  EXPECT_FALSE(ParseProfile("{\"model\": 3}", problem));
  EXPECT_EQ(problem, "'model' is 3; it must be a string");
  EXPECT_FALSE(ParseProfile("[]", problem));
  EXPECT_EQ(problem, "the file is []; it must be an object");
  EXPECT_FALSE(ParseProfile("{\n<<<<<<<", problem));
  EXPECT_EQ(problem, "line 2 is no JSON");
}

TEST(Profile, NumbersAreWholeAndNotNegative) {
  const std::string text = ProfileText(Example());
  for (const char* value : {"-1", "1.5", "\"1\"", "18446744073709551616"}) {
    for (const char* key : {"\"plan_bytes\": ", "\"cycles\": ", "\"cycles\":", "\"runtime\":"}) {
      std::string changed = text, problem;
      const size_t at = changed.find(key) + std::string(key).size();
      changed.replace(at, changed.find_first_of(",}", at) - at, value);
      EXPECT_FALSE(ParseProfile(changed, problem)) << changed;
      EXPECT_NE(problem.find("it must be a whole number from 0 to 2^64 - 1"), std::string::npos) << problem;
    }
  }
}

}  // namespace
}  // namespace takt::report
