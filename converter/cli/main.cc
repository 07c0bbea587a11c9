// takt <verb>: dispatch, exit codes, and the one place where faults become messages.
#include <cstdio>
#include <exception>
#include <string>

#include "converter/cli/files.h"
#include "converter/cli/verbs.h"

namespace takt::cli {
namespace {

constexpr char kExamples[] =
    "Examples:\n"
    "  takt convert model.tflite -o model.takt     # decide everything offline\n"
    "  takt inspect model.takt                     # memory map, steps, what the peak is made of\n"
    "  takt run model.takt --input in_0.bin --output-dir out\n"
    "  takt bench model.takt --json\n"
    "  takt compare model.takt other.takt --input in_0.bin\n"
    "\n"
    "takt <verb> --help teaches each verb.\n";

int Main(int argc, char** argv) {
  CLI::App app("Takt: converts neural networks to plans in which everything is decided, and runs them.", "takt");
  app.set_version_flag("--version", std::string("takt ") + TAKT_VERSION);
  app.require_subcommand(1);
  app.footer(std::string(kExamples) + kExitCodes);
  Action action;
  AddConvert(app, action);
  AddInspect(app, action);
  AddRun(app, action);
  AddBench(app, action);
  AddCompare(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUsage;
  }
  try {
    return action();
  } catch (const InputError& error) {
    std::fprintf(stderr, "takt: %s\n", error.what());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "takt: out of memory; the input asks for more than this machine has\n");
  }
  return kInputFault;
}

}  // namespace
}  // namespace takt::cli

int main(int argc, char** argv) { return takt::cli::Main(argc, argv); }
