// Why steps do not run on the port that was asked for.
#ifndef TAKT_CONVERTER_CLI_REFUSALS_H_
#define TAKT_CONVERTER_CLI_REFUSALS_H_

#include <cstdint>
#include <string>

#include "engine/plan/plan.h"

namespace takt::cli {

/// Why `step` runs on the reference port's kernel though `port` was asked for; empty: it does not.
std::string PortRefusal(const std::string& port, const Plan& plan, uint32_t step);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_REFUSALS_H_
