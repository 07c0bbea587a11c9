#include "converter/base/json.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"

namespace takt {
namespace {

using Json = nlohmann::ordered_json;

/// Told of what is parsed; what is beyond a limit is not kept.
class Limits {
 public:
  bool Keep(int depth, Json::parse_event_t event) {
    if (depth > kMostDepth) return Exceed("is nested more than 64 deep");
    if (event == Json::parse_event_t::object_start) members_[static_cast<size_t>(depth) + 1] = 0;
    if (event == Json::parse_event_t::key && ++members_[static_cast<size_t>(depth)] > kMostMembers)
      return Exceed("has an object of more than 65536 members");
    return true;
  }
  const std::string& exceeded() const { return exceeded_; }

 private:
  static constexpr int kMostDepth = 64;
  static constexpr uint32_t kMostMembers = 65536;

  bool Exceed(const char* limit) {
    exceeded_ = limit;
    return false;
  }

  std::array<uint32_t, kMostDepth + 2>
      members_{};  ///< By depth; the members of an ordered object are searched in turn.
  std::string exceeded_;
};

}  // namespace

std::optional<Json> ParseJson(std::string_view text, std::string& problem) {
  Limits limits;
  try {
    Json json =
        Json::parse(text, [&](int depth, Json::parse_event_t event, Json&) { return limits.Keep(depth, event); });
    problem = limits.exceeded();
    if (problem.empty()) return json;
  } catch (const Json::parse_error& error) {
    const auto end = text.begin() + static_cast<ptrdiff_t>(std::min(error.byte, text.size()));
    problem = absl::StrCat("line ", 1 + std::count(text.begin(), end, '\n'), " is no JSON");
  } catch (const Json::exception&) {  // Of numbers, also where the parser is told not to throw.
    problem = "has a number that is larger than a double holds";
  }
  return std::nullopt;
}

}  // namespace takt
