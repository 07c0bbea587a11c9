// What a conversion said, a line each.
#ifndef TAKT_TESTS_SUPPORT_MESSAGES_H_
#define TAKT_TESTS_SUPPORT_MESSAGES_H_

#include <string>

#include "converter/backend/convert.h"

namespace takt::test {

inline std::string Messages(const Diagnostics& diagnostics, Severity least = Severity::kNote) {
  std::string text;
  for (const Diagnostic& d : diagnostics.all())
    if (d.severity >= least) text += d.ToString() + "\n";
  return text;
}
inline std::string Messages(const Conversion& made) {
  return Messages(made.diagnostics);
}
inline std::string Errors(const Conversion& made) {
  return Messages(made.diagnostics, Severity::kError);
}

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_MESSAGES_H_
