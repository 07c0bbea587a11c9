// The targets that a plan can be made for.
#ifndef TAKT_CONVERTER_BACKEND_TARGET_H_
#define TAKT_CONVERTER_BACKEND_TARGET_H_

#include <string>
#include <vector>

namespace takt {

struct Target {
  const char* name;
  const char* memory;  ///< Where the arenas lie; its size is the board's, not the core's: no limit is known.
};

/// nullptr if there is none of that name.
const Target* FindTarget(const std::string& name);
std::vector<std::string> TargetNames();

}  // namespace takt

#endif  // TAKT_CONVERTER_BACKEND_TARGET_H_
