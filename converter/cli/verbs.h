// The verbs of the CLI, one file each. Each adds its subcommand; the chosen one leaves its work in `action`.
#ifndef TAKT_CONVERTER_CLI_VERBS_H_
#define TAKT_CONVERTER_CLI_VERBS_H_

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "engine/core/kernel.h"

namespace takt::cli {

enum ExitCode : int { kDone = 0, kInputFault = 1, kWrongUsage = 2 };

inline constexpr char kExitCodes[] = "Exit codes: 0 done; 1 the input is at fault (message on stderr); 2 wrong usage.";

/// Gives the exit code; throws InputError.
using Action = std::function<int()>;

/// `--numerics`, for the verbs that convert.
inline void AddNumericsOption(CLI::App& verb, Numerics& numerics) {
  const auto set = [&numerics](const std::string& name) {
    numerics = name == "tflite" ? Numerics::kTflite : Numerics::kFp32Rne;
  };
  verb.add_option_function<std::string>("--numerics", set, "Arithmetic of integer steps (engine/NUMERICS.md)")
      ->check(CLI::IsMember({"fp32_rne", "tflite"}))
      ->default_str("fp32_rne");
}

void AddConvert(CLI::App& app, Action& action);
void AddInspect(CLI::App& app, Action& action);
void AddRun(CLI::App& app, Action& action);
void AddBench(CLI::App& app, Action& action);
void AddCompare(CLI::App& app, Action& action);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_VERBS_H_
