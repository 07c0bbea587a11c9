// takt baseline update
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"
#include "converter/cli/measure.h"
#include "converter/cli/session.h"
#include "converter/cli/subject.h"
#include "converter/cli/verbs.h"

namespace takt::cli {
namespace {

struct Options {
  std::string baseline, reason, port = "reference";
  ModelOptions model;
  bool instructions = false, wall = false;
};

constexpr int kWallSamples = 40;

/// "cycles 123 -> 120: wider array"
std::string DatedReason(const report::Profile* before, const report::Profile& after, const std::string& reason) {
  if (!after.cycles) return reason;
  if (before == nullptr || !before->cycles) return absl::StrCat("cycles ", *after.cycles, ": ", reason);
  return absl::StrCat("cycles ", *before->cycles, " -> ", *after.cycles, ": ", reason);
}

int Update(const Options& options) {
  if (options.reason.empty()) {
    throw InputError(
        "no reason is given; say why the figures may change, with --reason 'WHY' or in the environment: "
        "TAKT_REASON='WHY' "
        "cmake --build BUILD --target bless_latency");
  }
  Subject subject = LoadSubject(options.model, options.port, true);
  report::Profile& profile = subject.profile;
  std::optional<report::Profile> before;
  if (std::filesystem::exists(options.baseline)) {
    bool layers = false;
    before = LoadBaseline(options.baseline, options.port, layers);
    if (!layers) throw InputError(options.baseline + ": is a plan; a baseline is a .json file");
  }
  if (options.instructions || (before && before->instructions)) {
    profile.instructions = CountInstructions(subject.plan, options.port);
    if (!profile.instructions) throw InputError("instructions are counted by valgrind, which is not installed");
  }
  if (options.wall || (before && before->wall)) {
    MeasureOptions measure;
    measure.port = options.port;
    measure.iterations = kWallSamples;
    profile.wall = {MeasureWall(options.model.file, subject.plan, measure), HostText()};
  }
  if (before) profile.reasons = before->reasons;
  profile.reasons.push_back(DatedReason(before ? &*before : nullptr, profile, options.reason));
  WriteFiles({TextFile(options.baseline, report::ProfileText(profile))});
  if (before) std::printf("%s", report::ComparisonText(report::Compare(*before, profile)).c_str());
  std::printf("%s: %s\n", options.baseline.c_str(), profile.reasons.back().c_str());
  return kDone;
}

}  // namespace

void AddBaseline(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("baseline", "Keeps the figures that latency tests compare with");
  verb->require_subcommand(1);
  CLI::App* update = verb->add_subcommand("update", "Writes the figures of a model or plan, and why they changed");
  auto options = std::make_shared<Options>();
  update->add_option("baseline", options->baseline, "The .json file to write")->required();
  update->add_option("model", options->model.file, "A .tflite or .onnx model, or a .takt plan")->required();
  update->add_option("--reason", options->reason, "Why; it is stored")->envname("TAKT_REASON");
  AddModelOptions(*update, options->model);
  update->add_option("--port", options->port, "Kernels of the host")->capture_default_str();
  update->add_flag("--instructions", options->instructions, "Counts the host's instructions, too (needs valgrind)");
  update->add_flag("--wall", options->wall, "Keeps samples of wall time, too");
  const std::string footer =
      std::string(
          "Examples:\n"
          "  takt baseline update kws.json kws.tflite --target ethos-u55-128 --reason 'first baseline'\n"
          "  takt baseline update kws-host.json kws.tflite --instructions --reason 'faster convolution'\n"
          "  takt bench kws.tflite --target ethos-u55-128 --against kws.json\n") +
      kExitCodes;
  verb->footer(footer);
  update->footer(footer);
  update->callback([options, &action] { action = [options] { return Update(*options); }; });
}

}  // namespace takt::cli
