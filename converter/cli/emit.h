// Source text for firmware: a plan as a C array, and the list of exactly the kernels that it needs.
#ifndef TAKT_CONVERTER_CLI_EMIT_H_
#define TAKT_CONVERTER_CLI_EMIT_H_

#include <string>

#include "converter/cli/session.h"
#include "converter/ir/graph.h"

namespace takt::cli {

/// Writes <stem>.c and <stem>.h into the folder `where` (or as the .c file `where`); throws InputError.
void EmitC(const PlanFile& file, const std::string& where);
/// Writes a header with the constexpr list of kernels; throws InputError.
void EmitKernels(const Plan& plan, const std::string& path);
/// The graph as text.
std::string GraphText(const ir::Graph& graph);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_EMIT_H_
