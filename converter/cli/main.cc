// takt <verb>: dispatch, exit codes, and the one place where faults become messages.
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/cli/files.h"
#include "converter/cli/terminal.h"
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
    "  takt eval float.takt int8.takt --data images.idx --labels labels.idx\n"
    "  takt sign model.takt --key release.key      # only plans that a trusted key signed open\n"
    "\n"
    "takt <verb> --help teaches each verb.\n";

/// What to say of a first argument that is no verb; empty if it is one, or an option.
std::string MisspeltVerb(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::vector<std::string> verbs;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (verb->get_name() == argv[1]) return "";
    verbs.push_back(verb->get_name());
  }
  const std::string nearest = Nearest(argv[1], verbs);
  return absl::StrCat("no verb '", argv[1], "'; ",
                      nearest.empty() ? "there are: " + absl::StrJoin(verbs, ", ") : "did you mean '" + nearest + "'?",
                      " (takt --help)");
}

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
  AddEval(app, action);
  AddBaseline(app, action);
  AddKeygen(app, action);
  AddSign(app, action);
  AddVerify(app, action);
  AddTrace(app, action);
  AddReport(app, action);
  if (const std::string hint = MisspeltVerb(app, argc, argv); !hint.empty()) {
    std::fprintf(stderr, "takt: %s\n", hint.c_str());
    return kWrongUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kWrongUsage;
  }
  return action();
}

}  // namespace
}  // namespace takt::cli

int main(int argc, char** argv) {
#ifdef M_MMAP_THRESHOLD
  mallopt(M_MMAP_THRESHOLD, 1 << 20);  // What weights took goes back to the system once they have another form.
#endif
  try {
    return takt::cli::Main(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "takt: out of memory; the input asks for more than this machine has\n");
  } catch (const takt::cli::UsageError& error) {
    std::fprintf(stderr, "takt: %s\n", error.what());
    return takt::cli::kWrongUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "takt: %s\n", error.what());
  }
  return takt::cli::kInputFault;
}
