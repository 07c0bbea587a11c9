// What a kernel port or a device is known not to pass, and why: lists that have to stay true.
#ifndef TAKT_TESTS_SUPPORT_EXCEPTIONS_H_
#define TAKT_TESTS_SUPPORT_EXCEPTIONS_H_

#include <map>
#include <string>

namespace takt::test {

/// Cases with reasons. They are run all the same.
struct Exceptions {
  std::map<std::string, std::string> unsupported;       ///< What the port is not made for.
  std::map<std::string, std::string> expected_to_fail;  ///< Its known defects.
};

/// What is unexpected about a case in which `wrong` went wrong ("": it passed): a failure that no list has, a pass
/// although one has it. "": nothing.
inline std::string Unexpected(const Exceptions& exceptions, const std::string& name, const std::string& wrong) {
  for (const auto* list : {&exceptions.unsupported, &exceptions.expected_to_fail}) {
    const auto listed = list->find(name);
    if (listed != list->end()) return wrong.empty() ? name + " passes, although: " + listed->second : "";
  }
  return wrong.empty() ? "" : name + ": " + wrong;
}

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_EXCEPTIONS_H_
