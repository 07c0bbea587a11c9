// Plans with jobs for one small NPU, or their twins for the host.
#ifndef TAKT_TESTS_NPU_JOB_MODELS_H_
#define TAKT_TESTS_NPU_JOB_MODELS_H_

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/backend/convert.h"
#include "converter/ir/text.h"
#include "converter/npu/machine_json.h"
#include "tests/support/small_model.h"

namespace takt::test {

inline constexpr const char* kTarget = "ethos-u55-32";

/// `n` numbers from -127 to 127.
inline std::string RandomNumbers(std::mt19937& random, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) absl::StrAppend(&text, i == 0 ? "" : ", ", static_cast<int>(random() % 255) - 127);
  return "[" + text + "]";
}

/// Two convolutions around a function of the host, and a sum that is kept: two jobs, one state.
inline std::string StatefulGraph() {
  std::mt19937 random(9);
  const std::string wide = RandomNumbers(random, 288), narrow = RandomNumbers(random, 32);
  return absl::StrCat(R"(graph "stateful"
%0 "x": int8[1,8,8,4] quant(0.5:0)
%1 "w": int8[8,3,3,4] quant(0.01:0) = )",
                      wide, R"(
%2 "b": int32[8] = [0, 0, 0, 0, 0, 0, 0, 0]
%3 "h": int8[1,8,8,8] quant(0.5:0)
%4 "g": int8[1,8,8,8] quant(0.0078125:0)
%5 "v": int8[4,1,1,8] quant(0.02:0) = )",
                      narrow, R"(
%6 "c": int32[4] = [0, 0, 0, 0]
%7 "k": int8[1,8,8,4] quant(0.5:0)
%8 "sum": int8[1,8,8,4] quant(0.5:0)
%9 "next": int8[1,8,8,4] quant(0.5:0)
%10 "y": int8[1,8,8,4] quant(0.0078125:0)
inputs %0
outputs %10
state %8, %9
%3 = conv2d(%0, %1, %2) {activation = "none", pads = [1, 1, 1, 1], strides = [1, 1]}
%4 = unary(%3) {function = "tanh"}
%7 = conv2d(%4, %5, %6) {activation = "none", pads = [0, 0, 0, 0], strides = [1, 1]}
%9 = add(%8, %7) {activation = "none", function = "add"}
%10 = unary(%9) {function = "tanh"}
)");
}

/// Both take int8 x[1, 8, 8, 4].
enum class Model { kConvolutions, kStateful };
inline constexpr Model kModels[] = {Model::kConvolutions, Model::kStateful};
inline constexpr size_t kInputBytes = 256;

inline std::vector<uint8_t> MakePlan(Model model, const char* target) {
  ConvertOptions options;
  Diagnostics diagnostics;
  if (target != nullptr) options.machine = npu::ParseMachine(*npu::PresetJson(target), target, {}, diagnostics)->table;
  if (model == Model::kConvolutions) return ConvertTflite(SmallModel(), "small", options).plan;
  std::string error;
  const auto graph = ir::ParseGraph(StatefulGraph(), error);
  EXPECT_TRUE(graph.has_value()) << error;
  return ConvertGraph(*graph, {}, options).plan;
}

}  // namespace takt::test

#endif  // TAKT_TESTS_NPU_JOB_MODELS_H_
