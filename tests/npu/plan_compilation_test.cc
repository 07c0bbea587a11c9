// A plan that opens may hold any stream: it is proved before it is timed.
#include "converter/npu/plan_compilation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "converter/backend/convert.h"
#include "converter/npu/machine_json.h"
#include "engine/plan/plan.h"
#include "tests/converter/model_files.h"

namespace takt::npu {
namespace {

TEST(PlanCompilation, RefusesAStreamThatDoesNotRun) {
  for (const std::string& model : test::ModelFiles({"kws_ref_model"})) {
    Diagnostics diagnostics;
    ConvertOptions options;
    options.machine = ParseMachine(*PresetJson("ethos-u55-32"), "", {}, diagnostics).value().table;
    const Conversion made = ConvertTflite(test::ReadBytes(model), model, options);
    ASSERT_FALSE(made.plan.empty());
    std::vector<uint64_t> aligned((made.plan.size() + 7) / 8);
    auto* bytes = reinterpret_cast<uint8_t*>(aligned.data());
    std::memcpy(bytes, made.plan.data(), made.plan.size());
    Plan plan;
    std::string reason;
    ASSERT_TRUE(plan.Open({reinterpret_cast<const std::byte*>(bytes), made.plan.size()}).ok());
    const auto read = ReadCompilation(plan, "whole", reason);
    ASSERT_TRUE(read.has_value()) << reason;
    EXPECT_EQ(read->compilation.jobs.at(0).timing.total, made.npu.jobs.at(0).timing.total);
    const std::vector<uint8_t>& stream = made.npu.device.jobs.at(0).stream;
    uint8_t* at = std::search(bytes, bytes + made.plan.size(), stream.begin(), stream.end());
    ASSERT_NE(at, bytes + made.plan.size());
    at[sizeof(StreamHeader) + 2] = 0xFF;  // the words that follow the first command's header
    EXPECT_FALSE(ReadCompilation(plan, "cut", reason).has_value());
    EXPECT_NE(reason, "");
  }
}

}  // namespace
}  // namespace takt::npu
