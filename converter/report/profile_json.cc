// Profiles as text: a JSON object with one line a member and one line a step, so that changes show well as differences.
#include "absl/strings/str_cat.h"
#include "converter/report/profile.h"

namespace takt::report {
namespace {

using Json = nlohmann::ordered_json;

Json StepJson(const StepProfile& step) {
  Json json = {{"name", step.name}, {"kernel", step.kernel}};
  if (step.cycles) json["cycles"] = *step.cycles;
  if (!step.tiling.empty()) json["tile"] = step.tiling;
  if (!step.placement.empty()) json["at"] = step.placement;
  json["bytes"] = step.traffic;
  return json;
}

StepProfile ParseStep(const Json& json) {
  StepProfile step;
  step.name = json.at("name");
  step.kernel = json.at("kernel");
  if (json.contains("cycles")) step.cycles = json.at("cycles").get<uint64_t>();
  step.tiling = json.value("tile", "");
  step.placement = json.value("at", "");
  step.traffic = json.at("bytes").get<std::map<std::string, uint64_t>>();
  return step;
}

/// A list with one line an entry.
std::string ListText(const std::vector<Json>& rows) {
  std::string text = "[";
  for (size_t i = 0; i < rows.size(); ++i) absl::StrAppend(&text, i == 0 ? "\n    " : ",\n    ", rows[i].dump());
  return text + "\n  ]";
}

}  // namespace

std::string ProfileText(const Profile& profile) {
  std::vector<Json> steps, reasons(profile.reasons.begin(), profile.reasons.end());
  for (const StepProfile& step : profile.steps) steps.push_back(StepJson(step));
  std::vector<std::string> members = {
      absl::StrCat("\"model\": ", Json(profile.model).dump()),
      absl::StrCat("\"target\": ", Json(profile.target).dump()),
      absl::StrCat("\"plan_bytes\": ", profile.plan_bytes),
      absl::StrCat("\"arena_bytes\": ", Json(profile.arenas).dump()),
  };
  if (profile.cycles) members.push_back(absl::StrCat("\"cycles\": ", *profile.cycles));
  if (profile.instructions) {
    members.push_back(
        absl::StrCat("\"instructions\": ",
                     Json({{"count", profile.instructions->count}, {"build", profile.instructions->build}}).dump()));
  }
  if (profile.wall) {
    members.push_back(
        absl::StrCat("\"wall_ns\": ", Json({{"host", profile.wall->host}, {"samples", profile.wall->samples}}).dump()));
  }
  members.push_back("\"reasons\": " + ListText(reasons));
  members.push_back("\"steps\": " + ListText(steps));
  std::string text = "{";
  for (size_t i = 0; i < members.size(); ++i) absl::StrAppend(&text, i == 0 ? "\n  " : ",\n  ", members[i]);
  return text + "\n}\n";
}

std::optional<Profile> ParseProfile(const std::string& text, std::string& problem) {
  try {
    const Json json = Json::parse(text);
    Profile profile;
    profile.model = json.at("model");
    profile.target = json.at("target");
    profile.plan_bytes = json.at("plan_bytes");
    profile.arenas = json.at("arena_bytes").get<std::map<std::string, uint64_t>>();
    if (json.contains("cycles")) profile.cycles = json.at("cycles").get<uint64_t>();
    if (json.contains("instructions")) {
      const Json& counted = json.at("instructions");
      profile.instructions = {counted.at("count").get<uint64_t>(), counted.at("build").get<std::string>()};
    }
    if (json.contains("wall_ns")) {
      const Json& wall = json.at("wall_ns");
      profile.wall = {wall.at("samples").get<std::vector<uint64_t>>(), wall.at("host").get<std::string>()};
    }
    profile.reasons = json.at("reasons").get<std::vector<std::string>>();
    for (const Json& step : json.at("steps")) profile.steps.push_back(ParseStep(step));
    return profile;
  } catch (const nlohmann::json::exception& error) {
    problem = error.what();
    return std::nullopt;
  }
}

}  // namespace takt::report
