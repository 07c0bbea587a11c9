#include "engine/base/status.h"

namespace takt {

const char* StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kMalformedPlan:
      return "malformed plan";
    case StatusCode::kUnsupportedVersion:
      return "unsupported plan version";
    case StatusCode::kHashMismatch:
      return "hash mismatch";
    case StatusCode::kSignatureMismatch:
      return "signature mismatch";
    case StatusCode::kLimitExceeded:
      return "limit exceeded";
    case StatusCode::kArenaTooSmall:
      return "arena too small";
    case StatusCode::kMisaligned:
      return "misaligned memory";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kInvalidState:
      return "call out of order";
    case StatusCode::kNoKernel:
      return "no kernel";
    case StatusCode::kUnsupported:
      return "unsupported";
    case StatusCode::kDeadlineExceeded:
      return "deadline exceeded";
    case StatusCode::kCancelled:
      return "cancelled";
    case StatusCode::kDeviceFault:
      return "device fault";
    case StatusCode::kInternal:
      return "internal error";
  }
  return "unknown status";
}

const char* SiteText(Site site) {
  switch (site) {
    case Site::kNone:
      return "";
#define TAKT_SITE(name, text) \
  case Site::name:            \
    return text;
#include "engine/base/sites.inc"
#undef TAKT_SITE
  }
  return "unknown site";
}

}  // namespace takt
