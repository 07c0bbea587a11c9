#include "converter/backend/step_costs.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "converter/base/json.h"

namespace takt::backend {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint64_t kMillion = 1000000;
constexpr uint64_t kMostTicks = kMillion * kMillion;  // A step of minutes, on any clock.
constexpr uint64_t kMostHz = 100000000000;

/// Reads the members of an object; the first that is wrong is the problem.
class Reader {
 public:
  Reader(const Json& json, std::string place, std::string& problem)
      : json_(json), place_(std::move(place)), problem_(problem) {
    if (!json.is_object()) Wrong("", "wants an object", json);
  }

  const Json* Find(const char* key, bool required) {
    known_.push_back(key);
    if (!json_.is_object()) return nullptr;
    const auto at = json_.find(key);
    if (at != json_.end()) return &*at;
    if (required) Wrong(key, "is missing", nullptr);
    return nullptr;
  }
  void Text(const char* key, std::string& value) {
    const Json* json = Find(key, true);
    if (json == nullptr) return;
    if (!json->is_string()) return Wrong(key, "wants a string", *json);
    value = json->get<std::string>();
  }
  void Integer(const char* key, uint64_t least, uint64_t most, bool required, uint64_t& value) {
    const Json* json = Find(key, required);
    if (json == nullptr) return;
    if (!json->is_number_unsigned() || json->get<uint64_t>() < least || json->get<uint64_t>() > most)
      return Wrong(key, absl::StrCat("wants an integer from ", least, " to ", most), *json);
    value = json->get<uint64_t>();
  }
  void Share(const char* key, double& value) {
    const Json* json = Find(key, false);
    if (json == nullptr) return;
    if (!json->is_number() || json->get<double>() < 0 || json->get<double>() > 1)
      return Wrong(key, "wants a number from 0 to 1", *json);
    value = json->get<double>();
  }
  /// Once all members are read: others are mistakes.
  void Finish() {
    if (!json_.is_object()) return;
    for (const auto& [key, value] : json_.items())
      if (std::find(known_.begin(), known_.end(), key) == known_.end()) Wrong(key, "is not known", nullptr);
  }

 private:
  void Wrong(const std::string& key, const std::string& what, const Json& there) {
    if (!problem_.empty()) return;
    problem_ = absl::StrCat(place_, place_.empty() || key.empty() ? "" : ".", key,
                            key.empty() && place_.empty() ? "" : " ", what);
    if (there.is_structured()) absl::StrAppend(&problem_, ", has an ", there.type_name());
    if (there.is_primitive() && !there.is_null()) absl::StrAppend(&problem_, ", has ", there.dump().substr(0, 60));
  }

  const Json& json_;
  const std::string place_;
  std::string& problem_;
  std::vector<std::string> known_;
};

KernelCost ReadKernel(const Json& json, const std::string& place, std::string& problem) {
  KernelCost cost;
  Reader reader(json, place, problem);
  reader.Integer("ticks_per_step", 0, kMostTicks, true, cost.ticks_per_step);
  reader.Integer("ticks_per_million", 0, kMostTicks, true, cost.ticks_per_million);
  reader.Integer("calibrated_steps", 0, UINT32_MAX, false, cost.calibrated_steps);
  reader.Share("tightness", cost.tightness);
  reader.Finish();
  return cost;
}

/// Of ticks = fixed + rate * work, in doubles.
struct Line {
  double fixed = 0, rate = 0;
  double At(uint64_t work) const { return fixed + rate * static_cast<double>(work); }
};

/// Minimizes the sum of ((fixed + rate * work - ticks) / ticks)^2; nothing if the works are equal or a part is
/// negative.
std::optional<Line> LeastSquares(std::span<const MeasuredStep> steps) {
  double s = 0, sx = 0, sxx = 0, sy = 0, sxy = 0;
  for (const MeasuredStep& step : steps) {
    const auto x = static_cast<double>(step.work), y = static_cast<double>(std::max<uint64_t>(step.ticks, 1));
    const double weight = 1 / (y * y);
    s += weight, sx += weight * x, sxx += weight * x * x, sy += weight * y, sxy += weight * x * y;
  }
  const double determinant = s * sxx - sx * sx;
  if (!(determinant > 1e-9 * s * sxx)) return std::nullopt;
  const Line line{(sxx * sy - sx * sxy) / determinant, (s * sxy - sx * sy) / determinant};
  return line.fixed >= 0 && line.rate >= 0 ? std::optional(line) : std::nullopt;
}

/// Through a known fixed part: the mean rate.
Line MeanRate(std::span<const MeasuredStep> steps, uint64_t fixed) {
  Line line;
  line.fixed = static_cast<double>(fixed);
  for (const MeasuredStep& step : steps) {
    const double rest = std::max(0.0, static_cast<double>(step.ticks) - line.fixed);
    line.rate += rest / static_cast<double>(std::max<uint64_t>(step.work, 1)) / static_cast<double>(steps.size());
  }
  return line;
}

}  // namespace

uint64_t KernelCost::Of(uint64_t work) const {
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const uint64_t millions = work / kMillion;
  if (ticks_per_million != 0 && millions >= (kMost - 2 * kMostTicks) / ticks_per_million) return kMost;
  return ticks_per_step + millions * ticks_per_million +
         (work % kMillion * ticks_per_million + kMillion - 1) / kMillion;
}

uint64_t StepCosts::Control() const {
  uint64_t least = kMostTicks;
  for (const auto& [name, cost] : kernels) least = std::min(least, cost.ticks_per_step);
  return kernels.empty() ? 0 : least;
}

std::optional<StepCosts> ParseStepCosts(const std::string& text, std::string& problem) {
  problem.clear();
  const std::optional<Json> json = ParseJson(text, problem);
  if (!json) return std::nullopt;
  StepCosts costs;
  Reader reader(*json, "", problem);
  reader.Text("target", costs.target);
  reader.Text("measured_on", costs.measured_on);
  reader.Integer("clock_hz", 1, kMostHz, true, costs.clock_hz);
  if (const Json* kernels = reader.Find("kernels", true)) {
    Reader every(*kernels, "kernels", problem);
    if (kernels->is_object())
      for (const auto& [name, cost] : kernels->items())
        costs.kernels[name] = ReadKernel(cost, absl::StrCat("kernels.\"", name, "\""), problem);
  }
  reader.Finish();
  return problem.empty() ? std::optional(costs) : std::nullopt;
}

std::string StepCostsText(const StepCosts& costs) {
  std::string text = absl::StrCat("{\n  \"target\": ", Json(costs.target).dump(),
                                  ",\n  \"measured_on\": ", Json(costs.measured_on).dump(),
                                  ",\n  \"clock_hz\": ", costs.clock_hz, ",\n  \"kernels\": {");
  const char* separator = "\n";
  for (const auto& [name, cost] : costs.kernels) {
    Json row = {{"ticks_per_step", cost.ticks_per_step}, {"ticks_per_million", cost.ticks_per_million}};
    if (cost.calibrated_steps != 0) {
      row["calibrated_steps"] = cost.calibrated_steps;
      row["tightness"] = std::floor(cost.tightness * 1000) / 1000;
    }
    absl::StrAppend(&text, separator, "    ", Json(name).dump(), ": ", row.dump());
    separator = ",\n";
  }
  return text + "\n  }\n}\n";
}

KernelCost FitCost(std::span<const MeasuredStep> steps, uint64_t step_ticks) {
  const Line line = LeastSquares(steps).value_or(MeanRate(steps, step_ticks));
  double raise = 0;
  for (const MeasuredStep& step : steps)
    raise = std::max(raise, static_cast<double>(step.ticks) / std::max(line.At(step.work), 1e-9));
  const auto whole = [&](double ticks) {
    return static_cast<uint64_t>(std::min(std::ceil(raise * ticks), static_cast<double>(kMostTicks)));
  };
  KernelCost cost{whole(line.fixed), whole(line.rate * static_cast<double>(kMillion)), steps.size(), 1};
  for (const MeasuredStep& step : steps) {
    const uint64_t stated = std::max<uint64_t>(cost.Of(step.work), 1);
    cost.tightness = std::min(cost.tightness, static_cast<double>(step.ticks) / static_cast<double>(stated));
  }
  return cost;
}

}  // namespace takt::backend
