// Verbs that compile a model for an emulated machine and look at its time.
#ifndef TAKT_CONVERTER_CLI_MACHINE_H_
#define TAKT_CONVERTER_CLI_MACHINE_H_

#include "converter/cli/model.h"

namespace takt::cli {

/// Whether --machine is given, or --target is a machine.
bool NamesMachine(const ModelOptions& options);
/// Cycles, instead of this host's time. Throws InputError.
int BenchOnMachine(const ModelOptions& options, bool json);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_MACHINE_H_
