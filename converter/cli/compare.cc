// takt compare
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/cli/capture.h"
#include "converter/cli/files.h"
#include "converter/cli/layers.h"
#include "converter/cli/session.h"
#include "converter/cli/verbs.h"

namespace takt::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string plan, other, golden, html, port = "reference", other_port = "reference";
  InputOptions inputs;
  LayerOptions layers;
  double tolerance = 0;
  bool json = false;
};

struct Row {
  uint32_t step;
  std::string name;
  int32_t source;
  Difference difference;
};

struct Comparison {
  std::vector<Row> rows;
  std::vector<std::string> eliminated;  ///< Tensors of the source that the plan does not have: passes removed them.
  std::vector<std::string> unmatched;   ///< Tensors of the plan without a counterpart.
};

std::string GoldenPath(const std::string& folder, int32_t source) {
  return (fs::path(folder) / absl::StrCat("t", source, ".bin")).string();
}

/// Source tensors t of which the folder has t<t>.bin.
std::set<int32_t> GoldenTensors(const std::string& folder) {
  if (!fs::is_directory(folder)) throw InputError(absl::StrCat(folder, ": is no folder; name one with t<i>.bin"));
  std::set<int32_t> tensors;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string stem = entry.path().stem().string();
    int32_t tensor = 0;
    if (entry.path().extension() == ".bin" && stem.starts_with("t") && absl::SimpleAtoi(stem.substr(1), &tensor))
      tensors.insert(tensor);
  }
  if (tensors.empty()) throw InputError(absl::StrCat(folder, ": has no t<i>.bin, i a tensor of the source model"));
  return tensors;
}

Captured Golden(const std::string& folder, const Captured& ours) {
  const std::string path = GoldenPath(folder, ours.source);
  Captured golden = ours;
  golden.bytes = ReadFile(path);
  if (golden.bytes.size() != ours.bytes.size()) {
    throw InputError(absl::StrCat(path, ": has ", golden.bytes.size(), " bytes, tensor ", ours.source,
                                  " of the plan has ", ours.bytes.size(),
                                  "; the golden files must come from the same model"));
  }
  return golden;
}

Comparison CompareToGolden(const std::string& folder, const std::vector<Captured>& captured) {
  Comparison comparison;
  std::set<int32_t> left = GoldenTensors(folder);
  const std::set<int32_t> golden = left;
  for (const Captured& ours : captured) {
    if (!golden.contains(ours.source)) continue;
    left.erase(ours.source);
    comparison.rows.push_back({ours.step, ours.name, ours.source, Compare(ours, Golden(folder, ours))});
  }
  for (int32_t tensor : left) comparison.eliminated.push_back(absl::StrCat("t", tensor));
  return comparison;
}

/// By their origins if both plans have a debug table, else by position.
Comparison ComparePlans(const std::vector<Captured>& ours, const std::vector<Captured>& theirs, bool by_origin) {
  Comparison comparison;
  std::vector<int> matches = MatchTensors(ours, theirs);
  std::set<int32_t> left;
  for (const Captured& their : theirs) {
    if (by_origin && their.source >= 0) left.insert(their.source);
  }
  for (size_t i = 0; i < ours.size(); ++i) {
    if (!by_origin) matches[i] = i < theirs.size() && theirs[i].elements == ours[i].elements ? static_cast<int>(i) : -1;
    left.erase(ours[i].source);
    if (matches[i] < 0) {
      comparison.unmatched.push_back(absl::StrCat("step ", ours[i].step, " (", ours[i].name, ")"));
    } else {
      comparison.rows.push_back(
          {ours[i].step, ours[i].name, ours[i].source, Compare(ours[i], theirs[static_cast<size_t>(matches[i])])});
    }
  }
  for (int32_t tensor : left) comparison.eliminated.push_back(absl::StrCat("t", tensor));
  return comparison;
}

/// Without --input and --random, the golden folder's own files of the graph's inputs.
InputOptions GoldenInputs(const Options& options, const Plan& plan) {
  InputOptions inputs = options.inputs;
  if (!inputs.files.empty() || inputs.seed.has_value()) return inputs;
  for (uint32_t i = 0; i < plan.input_count(); ++i) {
    inputs.files.push_back(GoldenPath(options.golden, plan.tensor_origin(plan.input(i).tensor).source));
  }
  return inputs;
}

Comparison MakeComparison(const Options& options) {
  Session session(options.plan, options.port);
  const Plan& plan = session.plan();
  if (!options.golden.empty()) {
    if (!plan.has_debug())
      throw InputError(absl::StrCat(options.plan, ": has no debug table; convert with --keep-tensors"));
    const auto inputs = LoadInputs(plan, GoldenInputs(options, plan));
    return CompareToGolden(options.golden, CaptureTensors(options.plan, session, inputs));
  }
  Session other(options.other, options.other_port);
  const auto inputs = LoadInputs(plan, options.inputs);
  const auto other_inputs = LoadInputs(other.plan(), options.inputs);
  return ComparePlans(CaptureTensors(options.plan, session, inputs), CaptureTensors(options.other, other, other_inputs),
                      plan.has_debug() && other.plan().has_debug());
}

void Print(const Comparison& comparison, double tolerance) {
  std::printf("%5s %6s %12s %12s %10s  %s\n", "step", "tensor", "max diff", "differing", "cosine", "name");
  for (const Row& row : comparison.rows) {
    std::printf("%5u %6d %12g %12llu %10.7f  %s%s\n", row.step, row.source, row.difference.max,
                static_cast<unsigned long long>(row.difference.count), row.difference.cosine, row.name.c_str(),
                row.difference.max > tolerance ? "  <-" : "");
  }
  if (!comparison.eliminated.empty()) {
    std::printf("eliminated by passes (--keep-tensors keeps them): %s\n",
                absl::StrJoin(comparison.eliminated, " ").c_str());
  }
  for (const std::string& name : comparison.unmatched) std::printf("without a counterpart: %s\n", name.c_str());
}

nlohmann::ordered_json ComparisonJson(const Comparison& comparison, const Row* first) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : comparison.rows) {
    rows.push_back({{"step", row.step},
                    {"name", row.name},
                    {"source_tensor", row.source},
                    {"max_diff", row.difference.max},
                    {"differing", row.difference.count},
                    {"elements", row.difference.elements},
                    {"cosine", row.difference.cosine}});
  }
  nlohmann::ordered_json json = {
      {"tensors", rows}, {"eliminated", comparison.eliminated}, {"unmatched", comparison.unmatched}};
  json["first_diverging_step"] = first == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json(first->step);
  return json;
}

int RunLayers(const Options& options) {
  LayerOptions layers = options.layers;
  layers.model.file = options.plan;
  layers.plan = options.other;
  layers.port = options.other_port;
  const report::AccuracyReport report = CompareLayers(layers);
  if (!options.html.empty()) WriteFiles({TextFile(options.html, report::AccuracyHtml(report))});
  std::printf("%s", options.json ? absl::StrCat(report::AccuracyJson(report).dump(2), "\n").c_str()
                                 : report::AccuracyText(report).c_str());
  if (const report::LayerAccuracy* bad = report.FirstBad(); bad != nullptr) {
    throw InputError(absl::StrCat(layers.plan, ": first bad layer: step ", bad->step, " (", bad->name,
                                  "), below --min-sqnr ", layers.least_db));
  }
  return kDone;
}

int Run(const Options& options) {
  const Comparison comparison = MakeComparison(options);
  if (comparison.rows.empty())
    throw InputError("nothing to compare; convert both with --keep-tensors from the same model");
  const auto diverging = std::find_if(comparison.rows.begin(), comparison.rows.end(),
                                      [&](const Row& row) { return row.difference.max > options.tolerance; });
  const Row* first = diverging == comparison.rows.end() ? nullptr : &*diverging;
  if (options.json) {
    std::printf("%s\n", ComparisonJson(comparison, first).dump(2).c_str());
  } else {
    Print(comparison, options.tolerance);
  }
  if (first != nullptr) {
    throw InputError(absl::StrCat(options.plan, ": first diverging step: ", first->step, " (", first->name,
                                  "), tensor ", first->source, " differs by ", first->difference.max,
                                  ", more than --tolerance ", options.tolerance));
  }
  if (!options.json)
    std::printf("%zu tensors, none differs by more than %g\n", comparison.rows.size(), options.tolerance);
  return kDone;
}

}  // namespace

void AddCompare(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "compare", "Compares a plan tensor by tensor with golden ones, another plan or port, or its float model");
  auto options = std::make_shared<Options>();
  verb->add_option("plan", options->plan, "The .takt file; with --data the float model (.onnx, .tflite)")->required();
  auto* other = verb->add_option("other", options->other, "Another .takt file (the same one for another port)");
  verb->add_option("--golden", options->golden, "Folder with t<i>.bin, i a tensor of the source model")
      ->excludes(other);
  auto* data = AddSampleOptions(*verb, options->layers.samples, "--data",
                                "Runs a float model and a plan of it on samples, and says what each layer loses");
  data->needs(other);
  verb->add_option("--min-sqnr", options->layers.least_db,
                   "With --data: dB below which a layer is bad; if one is, the exit code is 1")
      ->needs(data)
      ->capture_default_str();
  verb->add_option("--html", options->html, "With --data: file for the report as a page")->needs(data);
  AddImportOptions(*verb, options->layers.model);
  AddInputOptions(*verb, options->inputs);
  verb->add_option("--port", options->port, "Kernels of the plan")->capture_default_str();
  verb->add_option("--other-port", options->other_port, "Kernels of the other plan")->capture_default_str();
  verb->add_option("--tolerance", options->tolerance, "Largest difference that exits with 0; beyond it with 1")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  verb->add_flag("--json", options->json, "As JSON: max_diff, cosine of each tensor, first_diverging_step");
  verb->footer(std::string("Examples:\n"
                           "  takt convert kws.tflite -o kws.takt --numerics tflite --keep-tensors\n"
                           "  takt compare kws.takt --golden golden_layers/kws/1    # the input, too, is its t<i>.bin\n"
                           "  takt compare kws.takt kws_fp32.takt --random 1 --tolerance 1\n"
                           "  takt compare kws.takt kws.takt --other-port reference --input in_0.bin\n"
                           "  takt compare net.onnx net.takt --data images.idx.gz --samples 100 --html report.html\n"
                           "Differences are in units of the stored values; in real values if the types differ.\n") +
               kExitCodes);
  verb->callback([options, &action] {
    if (options->other.empty() == options->golden.empty()) {
      throw CLI::ValidationError("compare", "name another plan or --golden FOLDER");
    }
    action = [options] { return options->layers.samples.path.empty() ? Run(*options) : RunLayers(*options); };
  });
}

}  // namespace takt::cli
