// takt inspect
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "converter/backend/convert.h"
#include "converter/cli/files.h"
#include "converter/cli/session.h"
#include "converter/cli/verbs.h"
#include "converter/report/model_report.h"
#include "converter/report/plan_report.h"

namespace takt::cli {
namespace {

struct Options {
  std::string file, port = "reference";
  bool json = false;
};

int InspectPlan(const Options& options) {
  const PlanFile file(options.file);
  Requirements need;
  Require(options.file, ComputeRequirements(file.plan(), PortKernels(options.port), need));
  const uint64_t file_bytes = file.plan().bytes().size();
  if (options.json) {
    nlohmann::ordered_json json = report::PlanJson(file.root(), file_bytes);
    json["arenas"].push_back({{"name", "runtime"},
                              {"kind", "runtime"},
                              {"memory", "sram"},
                              {"bytes", need.runtime.bytes},
                              {"lower_bound", need.runtime.bytes},
                              {"alignment", need.runtime.alignment}});
    std::printf("%s\n", json.dump(2).c_str());
    return kDone;
  }
  std::printf("%s: %s", options.file.c_str(), report::SummaryText(file.root(), file_bytes).c_str());
  std::printf("arena %-12s in %-8s %9u bytes (%s)\n\n", "runtime", "sram", need.runtime.bytes, options.port.c_str());
  std::printf("%s\n", report::StepsText(file.root()).c_str());
  for (uint32_t i = 0; i < file.plan().arena_count(); ++i) {
    std::printf("%s\n", report::MemoryMapText(file.root(), i, ColourWanted()).c_str());
  }
  return kDone;
}

int InspectModel(const Options& options, const std::vector<uint8_t>& bytes) {
  ConvertOptions convert;
  convert.debug = true;
  std::optional<ir::Graph> imported;
  convert.on_stage = [&](const std::string&, const ir::Graph& graph) {
    if (!imported.has_value()) imported = graph;
  };
  const Conversion made = ConvertTflite(bytes, std::filesystem::path(options.file).filename().string(), convert);
  const report::ModelReport model = report::ReportModel(imported.has_value() ? *imported : made.graph, made.diagnostics);
  if (options.json) {
    std::printf("%s\n", report::ModelJson(model).dump(2).c_str());
  } else {
    std::printf("%s: %s", options.file.c_str(), report::ModelText(model).c_str());
  }
  return kDone;
}

int Run(const Options& options) {
  const std::vector<uint8_t> bytes = ReadFile(options.file);
  const bool is_model = bytes.size() >= 8 && std::memcmp(&bytes[4], "TFL3", 4) == 0;
  return is_model ? InspectModel(options, bytes) : InspectPlan(options);
}

}  // namespace

void AddInspect(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("inspect", "Shows what a plan or a model is made of");
  auto options = std::make_shared<Options>();
  verb->add_option("file", options->file, "A .takt plan or a .tflite model")->required();
  verb->add_option("--port", options->port, "Kernels whose runtime arena is stated")->capture_default_str();
  verb->add_flag("--json", options->json, "As JSON: arenas, steps, tensors; of a model: ops");
  verb->footer(std::string("Examples:\n"
                           "  takt inspect kws.takt           # arenas, steps, memory map, peak\n"
                           "  takt inspect kws.takt --json\n"
                           "  takt inspect kws.tflite         # op by op: does it convert?\n") +
               kExitCodes);
  verb->callback([options, &action] { action = [options] { return Run(*options); }; });
}

}  // namespace takt::cli
