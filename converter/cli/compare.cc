// takt compare
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/str_cat.h"
#include "converter/cli/capture.h"
#include "converter/cli/files.h"
#include "converter/cli/session.h"
#include "converter/cli/verbs.h"

namespace takt::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string plan, other, golden, port = "reference", other_port = "reference";
  InputOptions inputs;
  double tolerance = -1;
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
  std::vector<std::string> unmatched;
};

std::string GoldenPath(const std::string& folder, int32_t source) {
  return (fs::path(folder) / absl::StrCat("t", source, ".bin")).string();
}

Comparison CompareToGolden(const std::string& folder, const std::vector<Captured>& captured) {
  Comparison comparison;
  std::set<std::string> used;
  for (const Captured& ours : captured) {
    const std::string path = GoldenPath(folder, ours.source);
    if (ours.source < 0 || !fs::exists(path)) continue;
    Captured golden = ours;
    golden.bytes = ReadFile(path);
    if (golden.bytes.size() != ours.bytes.size()) {
      throw InputError(absl::StrCat(path, ": has ", golden.bytes.size(), " bytes, tensor ", ours.source, " of the plan has ",
                                    ours.bytes.size(), "; the golden files must come from the same model"));
    }
    used.insert(fs::path(path).filename().string());
    comparison.rows.push_back({ours.step, ours.name, ours.source, Compare(ours, golden)});
  }
  std::set<std::string> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("t") && name.ends_with(".bin") && !used.contains(name)) left.insert(name);
  }
  comparison.unmatched.assign(left.begin(), left.end());
  return comparison;
}

/// By source tensor if both plans have a debug table, else by position.
Comparison ComparePlans(const std::vector<Captured>& ours, const std::vector<Captured>& theirs, bool by_source) {
  Comparison comparison;
  for (size_t i = 0; i < ours.size(); ++i) {
    const Captured* match = nullptr;
    if (!by_source && i < theirs.size()) match = &theirs[i];
    for (size_t k = 0; by_source && ours[i].source >= 0 && k < theirs.size(); ++k) {
      if (theirs[k].source == ours[i].source) match = &theirs[k];
    }
    if (match == nullptr || match->Elements() != ours[i].Elements()) {
      comparison.unmatched.push_back(absl::StrCat("step ", ours[i].step, " (", ours[i].name, ")"));
    } else {
      comparison.rows.push_back({ours[i].step, ours[i].name, ours[i].source, Compare(ours[i], *match)});
    }
  }
  return comparison;
}

Comparison MakeComparison(const Options& options) {
  Session session(options.plan, options.port);
  const auto inputs = LoadInputs(session.plan(), options.inputs);
  const bool debug = session.plan().has_debug();
  if (!options.golden.empty()) {
    if (!fs::is_directory(options.golden)) throw InputError(absl::StrCat(options.golden, ": is no folder; name one with t<i>.bin"));
    if (!debug) throw InputError(absl::StrCat(options.plan, ": has no debug table; convert with --debug"));
    return CompareToGolden(options.golden, CaptureSteps(options.plan, session, inputs));
  }
  Session other(options.other, options.other_port);
  const auto other_inputs = LoadInputs(other.plan(), options.inputs);
  return ComparePlans(CaptureSteps(options.plan, session, inputs), CaptureSteps(options.other, other, other_inputs),
                      debug && other.plan().has_debug());
}

void Print(const Comparison& comparison, double tolerance) {
  std::printf("%5s %6s %12s %12s %10s  %s\n", "step", "tensor", "max diff", "differing", "cosine", "name");
  for (const Row& row : comparison.rows) {
    std::printf("%5u %6d %12g %12llu %10.7f  %s%s\n", row.step, row.source, row.difference.max,
                static_cast<unsigned long long>(row.difference.count), row.difference.cosine, row.name.c_str(),
                row.difference.max > tolerance ? "  <-" : "");
  }
  for (const std::string& name : comparison.unmatched) {
    std::printf("not compared: %s (eliminated by a pass: convert with --keep-tensors --debug)\n", name.c_str());
  }
}

int Run(const Options& options) {
  const Comparison comparison = MakeComparison(options);
  const double tolerance = std::max(options.tolerance, 0.0);
  const Row* first = nullptr;
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Row& row : comparison.rows) {
    if (first == nullptr && row.difference.max > tolerance) first = &row;
    rows.push_back({{"step", row.step},
                    {"name", row.name},
                    {"source_tensor", row.source},
                    {"max_diff", row.difference.max},
                    {"differing", row.difference.count},
                    {"elements", row.difference.elements},
                    {"cosine", row.difference.cosine}});
  }
  if (rows.empty()) throw InputError("nothing to compare; convert both with --debug --keep-tensors from the same model");
  if (options.json) {
    nlohmann::ordered_json json = {{"steps", rows}, {"not_compared", comparison.unmatched}};
    json["first_diverging_step"] = first == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json(first->step);
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    Print(comparison, tolerance);
    if (first == nullptr) std::printf("no step differs by more than %g\n", tolerance);
    if (first != nullptr) std::printf("first diverging step: %u (%s)\n", first->step, first->name.c_str());
  }
  if (first != nullptr && options.tolerance >= 0) {
    throw InputError(absl::StrCat("step ", first->step, " differs by ", first->difference.max, ", more than --tolerance ", tolerance));
  }
  return kDone;
}

}  // namespace

void AddCompare(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("compare", "Compares a plan step by step with golden tensors or another plan");
  auto options = std::make_shared<Options>();
  verb->add_option("plan", options->plan, "The .takt file")->required();
  auto* other = verb->add_option("other", options->other, "Another .takt file (the same one for another port)");
  verb->add_option("--golden", options->golden, "Folder with t<i>.bin, i a tensor of the source model")->excludes(other);
  AddInputOptions(*verb, options->inputs);
  verb->add_option("--port", options->port, "Kernels of the plan")->capture_default_str();
  verb->add_option("--other-port", options->other_port, "Kernels of the other plan")->capture_default_str();
  verb->add_option("--tolerance", options->tolerance, "Largest difference that exits with 0 (default: all do)")
      ->check(CLI::NonNegativeNumber);
  verb->add_flag("--json", options->json, "As JSON: max_diff, cosine of each step, first_diverging_step");
  verb->footer(std::string("Examples:\n"
                           "  takt convert kws.tflite -o kws.takt --numerics tflite --debug --keep-tensors\n"
                           "  takt compare kws.takt --golden golden/kws --input in_0.bin --tolerance 0\n"
                           "  takt compare kws.takt kws_fp32.takt --input in_0.bin\n"
                           "Differences are in units of the stored values; in real values if the types differ.\n") +
               kExitCodes);
  verb->callback([options, &action] {
    if (options->other.empty() == options->golden.empty()) {
      throw CLI::ValidationError("compare", "name another plan or --golden FOLDER");
    }
    action = [options] { return Run(*options); };
  });
}

}  // namespace takt::cli
