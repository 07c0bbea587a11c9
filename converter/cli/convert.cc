// takt convert
#include "converter/backend/convert.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "converter/backend/target.h"
#include "converter/cli/calibration.h"
#include "converter/cli/emit.h"
#include "converter/cli/files.h"
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
  std::string model, output, emit_c, emit_kernels, print_ir, input_layout = "nchw";
  std::vector<std::string> shapes;
  CalibrationOptions calibration;
  ConvertOptions convert;
  NpuOptions npu;
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
  options.convert.on_stage = [&](const std::string& stage, const ir::Graph& graph) {
    progress.Show(absl::StrCat(options.model, ": ", stage, " done"));
    if (options.print_ir != "all" && options.print_ir != "after:" + stage) return;
    std::printf("after %s:\n%s\n", stage.c_str(), ir::PrintGraph(graph, ir::ConstantText::kDigest).c_str());
  };
}

/// "name=1x3x224x224" of --shape.
void ReadShape(const std::string& text, ConvertOptions& options) {
  const size_t equals = text.rfind('=');
  std::vector<int32_t> dims;
  for (absl::string_view part : absl::StrSplit(equals == std::string::npos ? "" : text.substr(equals + 1), 'x')) {
    int32_t dim = 0;
    if (!absl::SimpleAtoi(part, &dim) || dim < 1)
      throw InputError(absl::StrCat("--shape ", text, ": write it as name=1x3x224x224"));
    dims.push_back(dim);
  }
  options.shapes[text.substr(0, equals)] = dims;
}

/// A file whose name ends in .onnx is ONNX, any other TFLite.
Conversion ConvertModel(const std::vector<uint8_t>& model, const Options& options) {
  const std::filesystem::path path(options.model);
  if (path.extension() != ".onnx") return ConvertTflite(model, path.filename().string(), options.convert);
  frontend::OnnxOptions onnx;
  onnx.folder = path.parent_path().string();
  onnx.nhwc_inputs = options.input_layout == "nhwc";
  onnx.shapes = options.convert.shapes;
  return ConvertOnnx(model, path.filename().string(), onnx, options.convert);
}

/// Cores and machines.
std::vector<std::string> Targets() {
  std::vector<std::string> names = TargetNames();
  std::ranges::copy(npu::PresetNames(), std::back_inserter(names));
  return names;
}

Conversion Convert(Options& options) {
  const std::vector<uint8_t> model = ReadFile(options.model);
  if (IsPlan(model))
    throw InputError(absl::StrCat(options.model, ": is a plan already; takt inspect shows it, takt run runs it"));
  ProgressLine progress;
  WatchStages(options, progress);
  for (const std::string& shape : options.shapes) ReadShape(shape, options.convert);
  return ConvertModel(model, options);
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

int Run(Options& options) {
  options.convert.calibration = MakeCalibration(options.calibration);
  if (options.convert.calibration && options.convert.numerics == Numerics::kTflite) {
    throw InputError("--calibrate quantizes for the default numerics; leave --numerics tflite out");
  }
  options.convert.debug = options.convert.debug || options.convert.keep_tensors;
  const auto machine = ResolveMachine(options.npu, options.convert.target);
  if (machine) options.convert.machine = machine->table;
  const Conversion made = Convert(options);
  if (!made.diagnostics.ok()) {
    if (options.json)
      std::printf("%s\n", nlohmann::ordered_json{{"diagnostics", DiagnosticsJson(made.diagnostics)}}.dump(2).c_str());
    PrintDiagnostics(made.diagnostics);
    throw InputError(absl::StrCat(options.model, ": not converted; nothing was written"));
  }
  const PlanFile file(options.output, made.plan);
  std::vector<OutputFile> files;
  if (!options.emit_c.empty()) files = EmitC(file, options.emit_c);
  if (!options.emit_kernels.empty()) files.push_back(EmitKernels(file.plan(), options.emit_kernels));
  files.push_back({options.output, made.plan});
  if (machine) std::ranges::copy(NpuFiles(options.npu, made, machine->table), std::back_inserter(files));
  const Requirements need = PlanNeed(file, "reference");
  WriteFiles(files);
  if (options.json) {
    nlohmann::ordered_json json = report::PlanJson(file.plan(), need);
    json["diagnostics"] = DiagnosticsJson(made.diagnostics);
    if (machine) json["npu"] = npu::ReportJson(made.graph, made.npu, *machine);
    if (!made.accuracy.tensors.empty()) json["accuracy"] = AccuracyJson(made.accuracy);
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    PrintDiagnostics(made.diagnostics);
    std::printf("%s -> %s\n%s", options.model.c_str(), options.output.c_str(),
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
  verb->add_option("model", options->model, "The .tflite or .onnx file")->required();
  verb->add_option("-o,--output", options->output, "The .takt file to write")->required();
  AddNumericsOption(*verb, options->convert.numerics);
  verb->add_option("--shape", options->shapes,
                   "Dims of an input that the model leaves open: name=1x3x224x224; once for each")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  AddCalibrationOptions(*verb, options->calibration);
  verb->add_option("--input-layout", options->input_layout, "Order of dimensions in which ONNX images are bound")
      ->check(CLI::IsMember({"nchw", "nhwc"}))
      ->capture_default_str();
  verb->add_option("--target", options->convert.target, "What the plan is for: " + absl::StrJoin(Targets(), ", "))
      ->check(CLI::IsMember(Targets()))
      ->capture_default_str();
  AddNpuOptions(*verb, options->npu);
  verb->add_flag("--debug", options->convert.debug, "Adds the sources of steps and tensors (compare needs them)");
  verb->add_flag("--keep-tensors", options->convert.keep_tensors,
                 "Eliminates no tensor, so that each can be compared; adds --debug");
  verb->add_option("--emit-c", options->emit_c, "Folder (or .c file) for the plan as a C array and a header");
  verb->add_option("--emit-kernels", options->emit_kernels, "File for the constexpr list of the kernels it needs");
  verb->add_flag("--print-ir{all}", options->print_ir,
                 "Prints the graph after each stage, or with =after:STAGE after one (import, a pass, lower)");
  verb->add_flag("--json", options->json, "Report as JSON");
  verb->footer(
      std::string("Examples:\n"
                  "  takt convert kws.tflite -o kws.takt\n"
                  "  takt convert kws.tflite -o kws.takt --numerics tflite --keep-tensors   # for takt compare\n"
                  "  takt convert resnet.onnx -o resnet.takt --shape input=1x3x224x224 --input-layout nhwc\n"
                  "  takt convert kws.tflite -o kws.takt --target ethos-u55-128 --set array.width=4\n"
                  "  takt convert kws.tflite -o kws.takt --emit-c firmware/ --emit-kernels firmware/kernels.h\n"
                  "Either all files are written, or none.\n") +
      kExitCodes);
  verb->callback([options, &action] { action = [options] { return Run(*options); }; });
}

}  // namespace takt::cli
