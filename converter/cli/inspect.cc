// takt inspect
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/backend/convert.h"
#include "converter/cli/files.h"
#include "converter/cli/model.h"
#include "converter/cli/session.h"
#include "converter/cli/terminal.h"
#include "converter/cli/verbs.h"
#include "converter/frontend/operator_list.h"
#include "converter/report/model_report.h"
#include "converter/report/plan_report.h"

namespace takt::cli {
namespace {

struct Options : ModelOptions {
  std::string port = "reference", svg, disassembly;
  bool json = false;
};

bool IsOnnx(const std::string& path) {
  return std::filesystem::path(path).extension() == ".onnx";
}

int InspectPlan(const Options& options, const std::vector<uint8_t>& bytes) {
  const PlanFile file(options.file, bytes);
  const Requirements need = PlanNeed(file, options.port);
  std::vector<OutputFile> files;
  if (!options.svg.empty()) files.push_back(TextFile(options.svg, report::MemoryMapSvg(file.plan())));
  if (!options.disassembly.empty()) files.push_back(DisassemblyFile(options.disassembly, file.plan()));
  WriteFiles(files);
  if (options.json) {
    std::printf("%s\n", report::PlanJson(file.plan(), need).dump(2).c_str());
    return kDone;
  }
  std::printf("%s: %s\n", options.file.c_str(), report::SummaryText(file.plan(), need).c_str());
  std::printf("%s\n", report::StepsText(file.plan()).c_str());
  for (uint32_t i = 0; i < file.plan().arena_count(); ++i) {
    std::printf("%s\n", report::MemoryMapText(file.plan(), i, ColourWanted()).c_str());
  }
  return kDone;
}

/// What an operator that can't be read becomes is not known; all are listed, those that the importer refuses with why.
int InspectModel(Options& options, const std::vector<uint8_t>& bytes) {
  if (!options.svg.empty() || !options.disassembly.empty())
    throw UsageError(absl::StrCat(options.file, ": is a model; --svg and --disassembly show a plan: convert it first"));
  const bool is_onnx = IsOnnx(options.file);
  std::optional<ir::Graph> imported;
  options.convert.on_stage = [&](const std::string&, const ir::Graph& graph) {
    if (!imported.has_value()) imported = graph;
  };
  const Conversion made = ConvertModel(options).made;
  const auto operators = is_onnx ? frontend::OnnxOperatorList(bytes) : frontend::TfliteOperatorList(bytes);
  if (operators.empty() && !imported.has_value()) {
    std::vector<std::string> reasons;
    for (const Diagnostic& diagnostic : made.diagnostics.all()) reasons.push_back(diagnostic.ToString());
    throw InputError(absl::StrCat(options.file, ": can't be imported\n", absl::StrJoin(reasons, "\n")));
  }
  const report::ModelReport model =
      report::ReportModel(operators, imported.has_value() ? &*imported : nullptr, made.diagnostics);
  if (options.json) {
    std::printf("%s\n", report::ModelJson(model).dump(2).c_str());
  } else {
    std::printf("%s: %s", options.file.c_str(), report::ModelText(model).c_str());
  }
  return kDone;
}

int Run(Options& options) {
  const std::vector<uint8_t> bytes = ReadModelOrPlan(options);
  const bool is_model = IsTfliteModel(bytes) || IsOnnx(options.file);
  return is_model ? InspectModel(options, bytes) : InspectPlan(options, bytes);
}

}  // namespace

void AddInspect(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("inspect", "Shows what a plan or a model is made of");
  auto options = std::make_shared<Options>();
  verb->add_option("file", options->file, "A .takt plan, or a .tflite or .onnx model")->required();
  verb->add_option("--port", options->port, "Kernels whose runtime arena is stated")->capture_default_str();
  AddModelOptions(*verb, *options);
  verb->add_option("--svg", options->svg, "File for the plan's memory map as a picture");
  AddDisassemblyOption(*verb, options->disassembly);
  verb->add_flag("--json", options->json, "As JSON: arenas, steps, tensors; of a model: ops");
  verb->footer(
      std::string("Examples:\n"
                  "  takt inspect kws.takt           # arenas, steps, memory map, peak\n"
                  "  takt inspect kws.takt --json\n"
                  "  takt inspect kws.takt --svg map.svg\n"
                  "  takt inspect kws.takt --disassembly kws.txt   # the command that a fault names by its offset\n"
                  "  takt inspect kws.tflite         # op by op: does it convert, into what, and if not, why?\n") +
      kExitCodes);
  verb->callback([options, &action] { action = [options] { return Run(*options); }; });
}

}  // namespace takt::cli
