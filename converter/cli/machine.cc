// takt bench --target, takt trace, takt report
#include "converter/cli/machine.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/cli/files.h"
#include "converter/cli/session.h"
#include "converter/cli/verbs.h"
#include "converter/npu/plan_compilation.h"
#include "converter/npu/report.h"
#include "converter/npu/trace.h"
#include "converter/report/html_report.h"

namespace takt::cli {
namespace {

bool NamesMachine(const ModelOptions& options) {
  return !options.npu.machine.empty() || npu::PresetJson(options.convert.target).has_value();
}

/// Throws InputError unless the target is a machine and the model converts.
ConvertedModel Compile(const ModelOptions& options) {
  if (!NamesMachine(options)) {
    throw InputError(absl::StrCat("--target ", options.convert.target,
                                  " is no machine whose time is known; choose one of: ",
                                  absl::StrJoin(npu::PresetNames(), ", "), ", or give --machine"));
  }
  ConvertedModel converted = ConvertModel(options);
  for (const Diagnostic& d : converted.made.diagnostics.all()) {
    if (d.severity != Severity::kNote) std::fprintf(stderr, "%s\n", d.ToString().c_str());
  }
  if (!converted.made.diagnostics.ok()) throw InputError(absl::StrCat(options.file, ": not converted"));
  return converted;
}

struct Options {
  ModelOptions model;
  std::string output;
};

/// A model compiled for a machine, or a plan, which brings its machine.
struct Compiled {
  std::vector<uint8_t> plan;
  ir::Graph graph;
  npu::Compilation npu;
  npu::MachineDescription machine;
};

Compiled Load(const ModelOptions& options) {
  std::vector<uint8_t> bytes = ReadModelOrPlan(options);
  if (!IsPlan(bytes)) {
    ConvertedModel c = Compile(options);
    return {std::move(c.made.plan), std::move(c.made.graph), std::move(c.made.npu), std::move(*c.machine)};
  }
  const PlanFile file(options.file, bytes);
  std::string reason;
  auto read = npu::ReadCompilation(file.plan(), std::filesystem::path(options.file).filename().string(), reason);
  if (!read) throw InputError(absl::StrCat(options.file, ": ", reason));
  return {std::move(bytes), std::move(read->graph), std::move(read->compilation), std::move(read->machine)};
}

int Trace(Options& options) {
  const Compiled c = Load(options.model);
  WriteFiles({TextFile(options.output, npu::TraceJson(c.graph, c.npu, c.machine.table))});
  std::printf("%s -> %s: open it in ui.perfetto.dev or chrome://tracing; 1 us is a cycle\n", options.model.file.c_str(),
              options.output.c_str());
  return kDone;
}

int Report(Options& options) {
  const Compiled c = Load(options.model);
  const PlanFile file(options.model.file, c.plan);
  WriteFiles({TextFile(options.output, report::HtmlReport(file.plan(), c.graph, c.npu, c.machine))});
  std::printf("%s -> %s\n", options.model.file.c_str(), options.output.c_str());
  return kDone;
}

void AddFileVerb(CLI::App& app, Action& action, const char* name, const char* what, const char* output,
                 const char* example, int (*run)(Options&)) {
  CLI::App* verb = app.add_subcommand(name, what);
  auto options = std::make_shared<Options>();
  verb->add_option("model", options->model.file, "The .tflite or .onnx file, or a .takt plan for a machine")
      ->required();
  verb->add_option("-o,--output", options->output, output)->required();
  AddModelOptions(*verb, options->model);
  verb->footer(absl::StrCat("Examples:\n  ", example, "\n", kExitCodes));
  verb->callback([options, run, &action] { action = [options, run] { return run(*options); }; });
}

}  // namespace

bool ForMachine(const ModelOptions& options) {
  const std::vector<uint8_t> bytes = ReadModelOrPlan(options);
  return IsPlan(bytes) ? PlanFile(options.file, bytes).plan().device_count() != 0 : NamesMachine(options);
}

int BenchOnMachine(const ModelOptions& options, bool json) {
  const Compiled c = Load(options);
  if (json) {
    std::printf("%s\n", npu::ReportJson(c.graph, c.npu, c.machine).dump(2).c_str());
  } else {
    std::printf("%s on %s", options.file.c_str(), npu::ReportText(c.graph, c.npu, c.machine).c_str());
  }
  return kDone;
}

void AddTrace(CLI::App& app, Action& action) {
  AddFileVerb(app, action, "trace", "Shows what every pipe of a machine does when, as a trace for Perfetto or Chrome",
              "The .json file to write",
              "takt trace kws.tflite --target ethos-u55-128 -o kws.json\n  takt trace kws.takt -o kws.json", &Trace);
}

void AddReport(CLI::App& app, Action& action) {
  AddFileVerb(app, action, "report",
              "Writes one HTML page: memory map, timeline, roofline and steps of a model on a machine",
              "The .html file to write",
              "takt report kws.tflite --target ethos-u55-128 -o kws.html\n  takt report kws.takt -o kws.html", &Report);
}

}  // namespace takt::cli
