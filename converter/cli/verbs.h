// The verbs of the CLI, one file each. Each adds its subcommand; the chosen one leaves its work in `action`.
#ifndef TAKT_CONVERTER_CLI_VERBS_H_
#define TAKT_CONVERTER_CLI_VERBS_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <map>
#include <string>

#include "engine/core/kernel.h"

namespace takt::cli {

enum ExitCode : int { kDone = 0, kInputFault = 1, kWrongUsage = 2 };

inline constexpr char kExitCodes[] = "Exit codes: 0 done; 1 the input is at fault (message on stderr); 2 wrong usage.";

/// Gives the exit code; throws InputError.
using Action = std::function<int()>;

/// `--numerics`, for the verbs that convert.
inline void AddNumericsOption(CLI::App& verb, Numerics& numerics) {
  verb.add_option("--numerics", numerics,
                  "Arithmetic of integer steps (engine/NUMERICS.md): fp32_rne (default) or tflite")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, Numerics>{{"fp32_rne", Numerics::kFp32Rne}, {"tflite", Numerics::kTflite}}));
}

void AddConvert(CLI::App& app, Action& action);
void AddInspect(CLI::App& app, Action& action);
void AddRun(CLI::App& app, Action& action);
void AddBench(CLI::App& app, Action& action);
void AddCompare(CLI::App& app, Action& action);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_VERBS_H_
