// JSON that comes from outside.
#ifndef TAKT_CONVERTER_BASE_JSON_H_
#define TAKT_CONVERTER_BASE_JSON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace takt {

/// The document, objects in their order; or nothing, with what is wrong as a sentence in `problem` ("line 3 is no
/// JSON"). Never throws. At most 64 levels deep, so that what walks a document may recurse, and 65,536 members in an
/// object.
std::optional<nlohmann::ordered_json> ParseJson(std::string_view text, std::string& problem);

}  // namespace takt

#endif  // TAKT_CONVERTER_BASE_JSON_H_
