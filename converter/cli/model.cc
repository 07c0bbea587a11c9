#include "converter/cli/model.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iterator>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "converter/backend/target.h"
#include "converter/cli/files.h"
#include "converter/cli/session.h"
#include "converter/cli/step_costs.h"

namespace takt::cli {
namespace {

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

/// "name=1,2,3" of --constant.
void ReadConstant(const std::string& text, frontend::OnnxOptions& options) {
  const size_t equals = text.rfind('=');
  std::vector<double> values;
  for (absl::string_view part : absl::StrSplit(equals == std::string::npos ? "" : text.substr(equals + 1), ',')) {
    double value = 0;
    if (!absl::SimpleAtod(part, &value))
      throw InputError(absl::StrCat("--constant ", text, ": write it as name=16000"));
    values.push_back(value);
  }
  options.constants[text.substr(0, equals)] = values;
}

/// Cores and machines.
std::vector<std::string> Targets() {
  std::vector<std::string> names = TargetNames();
  std::ranges::copy(npu::PresetNames(), std::back_inserter(names));
  return names;
}

}  // namespace

void AddNumericsOption(CLI::App& verb, Numerics& numerics) {
  const auto set = [&numerics](const std::string& name) {
    numerics = name == "tflite" ? Numerics::kTflite : Numerics::kFp32Rne;
  };
  verb.add_option_function<std::string>("--numerics", set, "Arithmetic of integer steps (engine/NUMERICS.md)")
      ->check(CLI::IsMember({"fp32_rne", "tflite"}))
      ->default_str("fp32_rne");
}

void AddImportOptions(CLI::App& verb, ModelOptions& options) {
  verb.add_option("--shape", options.shapes,
                  "Dims of an input that the model leaves open: name=1x3x224x224; once for each")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--constant", options.constants,
                  "Values of an ONNX input that becomes a constant: name=16000; once for each")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--signature", options.convert.signature,
                  "Key of the TFLite signature to convert (otherwise the first subgraph)");
  verb.add_option("--max-trips", options.convert.max_trips,
                  "Bound of each loop whose number of trips depends on data; a run that wants more fails");
  verb.add_option("--input-layout", options.input_layout, "Order of dimensions in which ONNX images are bound")
      ->check(CLI::IsMember({"nchw", "nhwc"}))
      ->capture_default_str();
}

void AddModelOptions(CLI::App& verb, ModelOptions& options) {
  const auto before = static_cast<ptrdiff_t>(verb.get_options().size());
  AddNumericsOption(verb, options.convert.numerics);
  AddImportOptions(verb, options);
  AddCalibrationOptions(verb, options.calibration);
  verb.add_option("--target", options.convert.target, "What the plan is for: " + absl::StrJoin(Targets(), ", "))
      ->check(CLI::IsMember(Targets()))
      ->capture_default_str();
  AddMachineOptions(verb, options.npu);
  verb.add_option("--max-step-us", options.convert.max_step_us,
                  "Cuts jobs and steps so that none takes longer, for deadlines and preemption")
      ->check(CLI::Range(1, 1000000000));
  verb.add_option("--costs", options.costs, "What steps cost on a CPU target: the file of takt bench --write-costs");
  const std::vector<CLI::Option*> all = verb.get_options();
  options.conversion.assign(all.begin() + before, all.end());
}

std::vector<uint8_t> ReadModelOrPlan(const ModelOptions& options) {
  std::vector<uint8_t> bytes = ReadFile(options.file);
  if (!IsPlan(bytes)) return bytes;
  for (const CLI::Option* option : options.conversion) {
    if (option->count() == 0) continue;
    throw UsageError(absl::StrCat(options.file, ": is a plan, and ", option->get_name(),
                                  " says how to convert a model: leave it out, or give the model"));
  }
  return bytes;
}

/// A file whose name ends in .onnx is ONNX, any other TFLite.
ConvertedModel ConvertModel(ModelOptions options) {
  ConvertOptions& convert = options.convert;
  convert.calibration = MakeCalibration(options.calibration);
  if (convert.calibration && convert.numerics == Numerics::kTflite)
    throw InputError("--calibrate quantizes for the default numerics; leave --numerics tflite out");
  ConvertedModel converted;
  converted.machine = ResolveMachine(options.npu, convert.target);
  if (converted.machine) convert.machine = converted.machine->table;
  if (converted.machine && !options.costs.empty())
    throw InputError("--costs is for CPU targets; a machine states what steps of its host cost");
  if (!options.costs.empty()) convert.costs = LoadStepCosts(options.costs, convert.target);
  if (convert.max_step_us != 0 && !converted.machine && !convert.costs) {
    throw InputError(absl::StrCat("--max-step-us wants the cost of steps, which is not known of target ",
                                  convert.target, "; give --costs (takt bench --write-costs makes it), or an NPU"));
  }
  const std::vector<uint8_t> model = ReadFile(options.file);
  if (IsPlan(model))
    throw InputError(absl::StrCat(options.file, ": is a plan already; takt inspect shows it, takt run runs it"));
  for (const std::string& shape : options.shapes) ReadShape(shape, convert);
  const std::filesystem::path path(options.file);
  if (path.extension() != ".onnx") {
    if (!options.constants.empty()) throw InputError("--constant is for ONNX models");
    converted.made = ConvertTflite(model, path.filename().string(), convert);
    return converted;
  }
  frontend::OnnxOptions onnx;
  onnx.folder = path.parent_path().string();
  onnx.nhwc_inputs = options.input_layout == "nhwc";
  onnx.shapes = convert.shapes;
  for (const std::string& constant : options.constants) ReadConstant(constant, onnx);
  converted.made = ConvertOnnx(model, path.filename().string(), onnx, convert);
  return converted;
}

}  // namespace takt::cli
