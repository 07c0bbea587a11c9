// Verbs that compile a model for an emulated machine and look at its time.
#ifndef TAKT_CONVERTER_CLI_MACHINE_H_
#define TAKT_CONVERTER_CLI_MACHINE_H_

#include "converter/cli/model.h"

namespace takt::cli {

/// Whether the file is a plan for a machine, or a model that --target or --machine takes there. Throws InputError.
bool ForMachine(const ModelOptions& options);
/// Cycles, instead of this host's time. Throws InputError.
int BenchOnMachine(const ModelOptions& options, bool json);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_MACHINE_H_
