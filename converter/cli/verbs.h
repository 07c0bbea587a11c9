// The verbs of the CLI, one file each. Each adds its subcommand; the chosen one leaves its work in `action`.
#ifndef TAKT_CONVERTER_CLI_VERBS_H_
#define TAKT_CONVERTER_CLI_VERBS_H_

#include <functional>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace takt::cli {

enum ExitCode : int { kDone = 0, kInputFault = 1, kWrongUsage = 2 };

inline constexpr char kExitCodes[] = "Exit codes: 0 done; 1 the input is at fault (message on stderr); 2 wrong usage.";

/// Gives the exit code; throws InputError.
using Action = std::function<int()>;

void AddConvert(CLI::App& app, Action& action);
void AddInspect(CLI::App& app, Action& action);
void AddRun(CLI::App& app, Action& action);
void AddBench(CLI::App& app, Action& action);
void AddCompare(CLI::App& app, Action& action);
void AddEval(CLI::App& app, Action& action);
void AddBaseline(CLI::App& app, Action& action);
void AddKeygen(CLI::App& app, Action& action);
void AddSign(CLI::App& app, Action& action);
void AddVerify(CLI::App& app, Action& action);
void AddTrace(CLI::App& app, Action& action);
void AddReport(CLI::App& app, Action& action);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_VERBS_H_
