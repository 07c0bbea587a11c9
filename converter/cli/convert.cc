// takt convert
#include "converter/backend/convert.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "converter/cli/calibration.h"
#include "converter/cli/emit.h"
#include "converter/cli/files.h"
#include "converter/cli/model.h"
#include "converter/cli/npu_options.h"
#include "converter/cli/session.h"
#include "converter/cli/terminal.h"
#include "converter/cli/verbs.h"
#include "converter/ir/text.h"
#include "converter/npu/report.h"
#include "converter/report/plan_report.h"

namespace takt::cli {
namespace {

struct Options {
  ModelOptions model;
  std::string output, emit_c, emit_kernels, print_ir, disassembly;
  bool json = false;
};

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "?";
}

nlohmann::ordered_json DiagnosticsJson(const Diagnostics& diagnostics) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    list.push_back({{"severity", SeverityName(diagnostic.severity)},
                    {"where", diagnostic.where.ToString()},
                    {"message", diagnostic.message}});
  }
  return list;
}

void PrintDiagnostics(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) std::fprintf(stderr, "%s\n", diagnostic.ToString().c_str());
}

/// Shows each stage at a terminal; prints the graph after it if wanted.
void WatchStages(Options& options, ProgressLine& progress) {
  options.model.convert.on_stage = [&](const std::string& stage, const ir::Graph& graph) {
    progress.Show(absl::StrCat(options.model.file, ": ", stage, " done"));
    if (options.print_ir != "all" && options.print_ir != "after:" + stage) return;
    std::printf("after %s:\n%s\n", stage.c_str(), ir::PrintGraph(graph, ir::ConstantText::kDigest).c_str());
  };
}

ConvertedModel Convert(Options& options) {
  ProgressLine progress;
  WatchStages(options, progress);
  return ConvertModel(options.model);
}

nlohmann::ordered_json AccuracyJson(const quant::Report& report) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const quant::TensorAccuracy& t : report.tensors) {
    list.push_back({{"tensor", t.tensor},
                    {"node", t.node},
                    {"sqnr_db", t.sqnr_db},
                    {"cosine", t.cosine},
                    {"max_error", t.max_error}});
  }
  return list;
}

nlohmann::ordered_json DamageJson(const quant::Report& report) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const quant::Damage& d : report.damages)
    list.push_back({{"tensor", d.tensor},
                    {"node", d.node},
                    {"output_sqnr_db", d.sqnr_db},
                    {"precision", PrecisionName(d.precision)}});
  return list;
}

int Run(Options& options) {
  ConvertOptions& convert = options.model.convert;
  convert.debug = convert.debug || convert.keep_tensors;
  auto [made, machine] = Convert(options);
  if (!made.diagnostics.ok()) {
    if (options.json)
      std::printf("%s\n", nlohmann::ordered_json{{"diagnostics", DiagnosticsJson(made.diagnostics)}}.dump(2).c_str());
    PrintDiagnostics(made.diagnostics);
    throw InputError(absl::StrCat(options.model.file, ": not converted; nothing was written"));
  }
  const PlanFile file(options.output, made.plan);
  std::vector<OutputFile> files;
  if (!options.emit_c.empty()) files = EmitC(file, options.emit_c);
  if (!options.emit_kernels.empty()) files.push_back(EmitKernels(file.plan(), options.emit_kernels));
  if (!options.disassembly.empty()) files.push_back(DisassemblyFile(options.disassembly, file.plan()));
  files.push_back({options.output, std::move(made.plan)});
  const Requirements need = PlanNeed(file, "reference");
  WriteFiles(files);
  if (options.json) {
    nlohmann::ordered_json json = report::PlanJson(file.plan(), need);
    json["diagnostics"] = DiagnosticsJson(made.diagnostics);
    if (machine) json["npu"] = npu::ReportJson(made.graph, made.npu, *machine);
    if (!made.accuracy.tensors.empty()) json["accuracy"] = AccuracyJson(made.accuracy);
    if (!made.accuracy.damages.empty()) json["damage"] = DamageJson(made.accuracy);
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    PrintDiagnostics(made.diagnostics);
    std::printf("%s -> %s\n%s", options.model.file.c_str(), options.output.c_str(),
                report::SummaryText(file.plan(), need).c_str());
    if (machine) std::printf("%s", npu::ReportText(made.graph, made.npu, *machine).c_str());
    std::printf("%s", AccuracyText(made.accuracy, 5).c_str());
  }
  return kDone;
}

}  // namespace

void AddConvert(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("convert", "Converts a TFLite or ONNX model to a plan");
  auto options = std::make_shared<Options>();
  verb->add_option("model", options->model.file, "The .tflite or .onnx file")->required();
  verb->add_option("-o,--output", options->output, "The .takt file to write")->required();
  AddModelOptions(*verb, options->model);
  AddDisassemblyOption(*verb, options->disassembly);
  verb->add_flag("--debug", options->model.convert.debug, "Adds the sources of steps and tensors (compare needs them)");
  verb->add_flag("--state-in-place", options->model.convert.state_in_place,
                 "Update states where they are: fewer bytes, but a run that is cut short loses them");
  verb->add_flag("--keep-tensors", options->model.convert.keep_tensors,
                 "Eliminates no tensor, so that each can be compared; adds --debug");
  verb->add_option("--emit-c", options->emit_c, "Folder (or .c file) for the plan as a C array and a header");
  verb->add_option("--emit-kernels", options->emit_kernels, "File for the constexpr list of the kernels it needs");
  verb->add_flag("--print-ir{all}", options->print_ir,
                 "Prints the graph after each stage, or with =after:STAGE after one (import, a pass, lower)");
  verb->add_flag("--json", options->json, "Report as JSON");
  verb->footer(
      std::string(
          "Examples:\n"
          "  takt convert kws.tflite -o kws.takt\n"
          "  takt convert kws.tflite -o kws.takt --numerics tflite --keep-tensors   # for takt compare\n"
          "  takt convert resnet.onnx -o resnet.takt --shape input=1x3x224x224 --input-layout nhwc\n"
          "  takt convert kws.tflite -o kws.takt --target ethos-u55-128 --set array.width=4\n"
          "  takt convert kws.tflite -o kws.takt --costs host.json --max-step-us 200   # of takt bench --write-costs\n"
          "  takt convert kws.tflite -o kws.takt --emit-c firmware/ --emit-kernels firmware/kernels.h\n"
          "Files are written only after all succeeded; each is replaced as a whole.\n") +
      kExitCodes);
  verb->callback([options, &action] { action = [options] { return Run(*options); }; });
}

}  // namespace takt::cli
