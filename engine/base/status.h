// Outcome of an operation in 64 bits: whose fault it is, where it was seen, and the numbers that locate it.
#ifndef TAKT_ENGINE_BASE_STATUS_H_
#define TAKT_ENGINE_BASE_STATUS_H_

#include <cstdint>

namespace takt {

/// What went wrong, by who has to act.
enum class StatusCode : uint8_t {
  kOk = 0,
  // The plan's fault: convert again.
  kMalformedPlan,
  kUnsupportedVersion,
  kHashMismatch,
  kSignatureMismatch,
  // The application's fault: change what is passed.
  kLimitExceeded,
  kArenaTooSmall,
  kMisaligned,
  kInvalidArgument,
  kInvalidState,
  kNoKernel,
  kUnsupported,
  // Events of a run.
  kDeadlineExceeded,
  kCancelled,
  kDeviceFault,
  // Takt's fault: report it.
  kInternal,
};

/// Where it was seen: the part of Takt, or the rule of the plan that is broken. Values are stable; new ones go at the
/// end.
enum class Site : uint8_t {
  kNone = 0,
#define TAKT_SITE(name, text) name,
#include "engine/base/sites.inc"
#undef TAKT_SITE
};

/// A value; 0 is success. `step` is the plan's step (kNoStep: none); `detail` is bytes needed, or an index, as the site
/// says.
class [[nodiscard]] Status {
 public:
  static constexpr uint16_t kNoStep = 0xFFFF;

  constexpr Status() = default;
  constexpr Status(StatusCode code, Site site, uint32_t detail = 0, uint16_t step = kNoStep)
      : code_(code), site_(site), step_(step), detail_(detail) {}

  constexpr bool ok() const { return code_ == StatusCode::kOk; }
  constexpr StatusCode code() const { return code_; }
  constexpr Site site() const { return site_; }
  constexpr uint16_t step() const { return step_; }
  constexpr uint32_t detail() const { return detail_; }

  /// The same outcome, placed at `step`.
  constexpr Status AtStep(uint16_t step) const { return ok() ? *this : Status(code_, site_, detail_, step); }

  friend constexpr bool operator==(const Status&, const Status&) = default;

 private:
  StatusCode code_ = StatusCode::kOk;
  Site site_ = Site::kNone;
  uint16_t step_ = kNoStep;
  uint32_t detail_ = 0;
};
static_assert(sizeof(Status) == 8);

/// Names for people, in status_names.cc: linked only if used.
const char* StatusCodeName(StatusCode code);
/// One sentence: the rule that a site stands for, and the remedy.
const char* SiteText(Site site);

}  // namespace takt

/// Returns the status of `expr` from the enclosing function unless it is ok.
#define TAKT_TRY(expr)                                                                    \
  do {                                                                                    \
    if (const ::takt::Status takt_status = (expr); !takt_status.ok()) return takt_status; \
  } while (false)

#endif  // TAKT_ENGINE_BASE_STATUS_H_
