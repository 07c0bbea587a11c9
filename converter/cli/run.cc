// takt run
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"
#include "converter/cli/session.h"
#include "converter/cli/terminal.h"
#include "converter/cli/verbs.h"
#include "converter/report/plan_report.h"

namespace takt::cli {
namespace {

struct Options {
  std::string plan, folder, port = "reference";
  InputOptions inputs;
  int repeat = 1;
  bool json = false;
};

/// Invocation 0 writes out_<i>.bin, a later one out_s<turn>_<i>.bin.
std::vector<OutputFile> Outputs(const Options& options, Session& session, int turn) {
  std::vector<OutputFile> files;
  for (uint32_t i = 0; i < session.plan().output_count(); ++i) {
    const auto bytes = session.net().output(i).bytes;
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    const std::string name = turn == 0 ? absl::StrCat("out_", i, ".bin") : absl::StrCat("out_s", turn, "_", i, ".bin");
    files.push_back({(std::filesystem::path(options.folder) / name).string(), {data, data + bytes.size()}});
  }
  return files;
}

int Run(const Options& options) {
  Session session(options.plan, options.port);
  const auto inputs = LoadInputs(session.plan(), options.inputs);
  std::vector<std::string> written;
  ProgressLine progress;
  for (int turn = 0; turn < options.repeat; ++turn) {
    progress.Show(absl::StrCat("invocation ", turn + 1, " of ", options.repeat));
    SetInputs(session.net(), inputs);
    Require(options.plan, session.net().Invoke());
    const std::vector<OutputFile> files = Outputs(options, session, turn);
    WriteFiles(files);
    for (const OutputFile& file : files) written.push_back(file.path);
  }
  if (options.json) {
    const nlohmann::ordered_json json = {
        {"port", options.port}, {"outputs", report::OutputsJson(session.plan())}, {"files", written}};
    std::printf("%s\n", json.dump(2).c_str());
    return kDone;
  }
  std::printf("%u outputs x %d in %s\n", session.plan().output_count(), options.repeat, options.folder.c_str());
  return kDone;
}

}  // namespace

void AddRun(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("run", "Runs a plan on inputs from files");
  auto options = std::make_shared<Options>();
  verb->add_option("plan", options->plan, "The .takt file")->required();
  AddInputOptions(*verb, options->inputs);
  verb->add_option("--output-dir", options->folder, "Folder for out_<i>.bin")->required();
  verb->add_option("--port", options->port, "Kernels to run on")->capture_default_str();
  verb->add_option("--repeat", options->repeat, "Invocations; state is kept; later ones write out_s<n>_<i>.bin")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  verb->add_flag("--json", options->json,
                 "As JSON: the outputs' names, types, dims, quantization, and the files written");
  verb->footer(
      std::string(
          "Examples:\n"
          "  takt run kws.takt --input in_0.bin --output-dir out\n"
          "  takt run two_inputs.takt --input a.npy --input b.npy --output-dir out\n"
          "  takt run kws.takt --random 1 --output-dir out --repeat 3   # out_0.bin, out_s1_0.bin, out_s2_0.bin\n"
          "Outputs are raw little-endian tensor bytes, in graph order.\n") +
      kExitCodes);
  verb->callback([options, &action] { action = [options] { return Run(*options); }; });
}

}  // namespace takt::cli
