// TFLite's builtin operators that are not imported for a reason.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_REFUSALS_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_REFUSALS_H_

#include <span>
#include <string>

namespace takt::frontend {

/// Operators [first, last] of the format's list, why they are refused, and what helps.
struct TfliteRefusal {
  int first, last;
  const char* reason;
};
std::span<const TfliteRefusal> TfliteRefusals();

/// The reason for builtin operator `code`; empty if there is none.
std::string RefusalOf(int code);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_REFUSALS_H_
