// Profiles as text: a JSON object with one line a member and one line a step, so that changes show well as differences.
#include "absl/strings/str_cat.h"
#include "converter/base/json.h"
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

/// A list with one line an entry.
std::string ListText(const std::vector<Json>& rows) {
  std::string text = "[";
  for (size_t i = 0; i < rows.size(); ++i) absl::StrAppend(&text, i == 0 ? "\n    " : ",\n    ", rows[i].dump());
  return text + "\n  ]";
}

/// A member that breaks its rule: "'steps[2].cycles' is -1; it must be …".
struct Broken {
  std::string rule;
};

/// A value with the place where it stands.
struct Value {
  const Json& json;
  std::string at;

  [[noreturn]] void Break(const char* rule) const {
    constexpr size_t kShown = 40;
    throw Broken{absl::StrCat(at.empty() ? "the file" : "'" + at + "'", " is ", json.dump().substr(0, kShown),
                              "; it must be ", rule)};
  }
  std::optional<Value> Find(const char* key) const {
    if (!json.is_object()) Break("an object");
    const auto member = json.find(key);
    if (member == json.end()) return std::nullopt;
    return Value{*member, at.empty() ? key : absl::StrCat(at, ".", key)};
  }
  Value operator[](const char* key) const {
    const std::optional<Value> member = Find(key);
    if (!member) throw Broken{absl::StrCat("'", at, at.empty() ? "" : ".", key, "' is missing")};
    return *member;
  }
  std::string Text() const {
    if (!json.is_string()) Break("a string");
    return json.get<std::string>();
  }
  uint64_t Number() const {
    if (!json.is_number_unsigned()) Break("a whole number from 0 to 2^64 - 1");
    return json.get<uint64_t>();
  }
  std::vector<Value> List() const {
    if (!json.is_array()) Break("a list");
    std::vector<Value> values;
    for (const Json& value : json) values.push_back({value, absl::StrCat(at, "[", values.size(), "]")});
    return values;
  }
  std::map<std::string, uint64_t> Numbers() const {
    if (!json.is_object()) Break("an object");
    std::map<std::string, uint64_t> numbers;
    for (const auto& [key, value] : json.items()) numbers[key] = Value{value, absl::StrCat(at, ".", key)}.Number();
    return numbers;
  }
};

StepProfile ReadStep(const Value& value) {
  StepProfile step;
  step.name = value["name"].Text();
  step.kernel = value["kernel"].Text();
  if (const auto cycles = value.Find("cycles")) step.cycles = cycles->Number();
  if (const auto tile = value.Find("tile")) step.tiling = tile->Text();
  if (const auto place = value.Find("at")) step.placement = place->Text();
  step.traffic = value["bytes"].Numbers();
  return step;
}

Profile ReadProfile(const Value& value) {
  Profile profile;
  profile.model = value["model"].Text();
  profile.target = value["target"].Text();
  profile.plan_bytes = value["plan_bytes"].Number();
  profile.arenas = value["arena_bytes"].Numbers();
  if (const auto cycles = value.Find("cycles")) profile.cycles = cycles->Number();
  if (const auto counted = value.Find("instructions"))
    profile.instructions = {(*counted)["count"].Number(), (*counted)["build"].Text()};
  if (const auto wall = value.Find("wall_ns")) {
    profile.wall.emplace().host = (*wall)["host"].Text();
    for (const Value& sample : (*wall)["samples"].List()) profile.wall->samples.push_back(sample.Number());
  }
  for (const Value& reason : value["reasons"].List()) profile.reasons.push_back(reason.Text());
  for (const Value& step : value["steps"].List()) profile.steps.push_back(ReadStep(step));
  return profile;
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
  const std::optional<Json> json = ParseJson(text, problem);
  if (!json) return std::nullopt;
  try {
    return ReadProfile({*json, ""});
  } catch (const Broken& broken) {
    problem = broken.rule;
  }
  return std::nullopt;
}

}  // namespace takt::report
