// Source text for firmware: a plan as a C array, and the list of exactly the kernels that it needs.
#ifndef TAKT_CONVERTER_CLI_EMIT_H_
#define TAKT_CONVERTER_CLI_EMIT_H_

#include <string>
#include <vector>

#include "converter/cli/files.h"
#include "converter/cli/session.h"

namespace takt::cli {

/// <stem>.c and <stem>.h in the folder `where` (or where the .c file `where` says).
std::vector<OutputFile> EmitC(const PlanFile& file, const std::string& where);
/// A header with the constexpr list of kernels; throws InputError if the reference port lacks one.
OutputFile EmitKernels(const Plan& plan, const std::string& path);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_EMIT_H_
