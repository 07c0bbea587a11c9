#include "converter/cli/subject.h"

#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "converter/cli/files.h"
#include "converter/cli/session.h"

namespace takt::cli {
namespace {

ConvertedModel ConvertOrThrow(const ModelOptions& model) {
  ConvertedModel converted = ConvertModel(model);
  if (converted.made.diagnostics.ok()) return converted;
  std::vector<std::string> reasons;
  for (const Diagnostic& diagnostic : converted.made.diagnostics.all()) reasons.push_back(diagnostic.ToString());
  throw InputError(absl::StrCat(model.file, ": not converted\n", absl::StrJoin(reasons, "\n")));
}

}  // namespace

std::vector<uint8_t> LoadPlan(const ModelOptions& model) {
  std::vector<uint8_t> bytes = ReadModelOrPlan(model);
  return IsPlan(bytes) ? bytes : ConvertOrThrow(model).made.plan;
}

Subject LoadSubject(const ModelOptions& model, const std::string& port, bool layers) {
  std::vector<uint8_t> bytes = ReadModelOrPlan(model);
  if (IsPlan(bytes)) {
    const PlanFile file(model.file, bytes);
    Subject subject{std::move(bytes), report::ProfilePlan(file.plan(), file.plan(), PlanNeed(file, port))};
    subject.profile.model = std::filesystem::path(model.file).filename().string();
    return subject;
  }
  const ConvertedModel converted = ConvertOrThrow(model);
  ModelOptions with_names = model;
  with_names.convert.debug = layers;
  const PlanFile file(model.file, converted.made.plan);
  const PlanFile named(model.file, ConvertOrThrow(with_names).made.plan);
  Subject subject{converted.made.plan, report::ProfilePlan(file.plan(), named.plan(), PlanNeed(file, port))};
  if (converted.machine && layers)
    report::AddLayers(converted.made.graph, converted.made.npu, converted.machine->table, subject.profile);
  subject.profile.model = std::filesystem::path(model.file).filename().string();
  return subject;
}

report::Profile LoadBaseline(const std::string& path, const std::string& port, bool& layers) {
  const std::vector<uint8_t> bytes = ReadFile(path);
  layers = !IsPlan(bytes);
  if (!layers) {
    const PlanFile file(path, bytes);
    return report::ProfilePlan(file.plan(), file.plan(), PlanNeed(file, port));
  }
  std::string problem;
  auto profile = report::ParseProfile({bytes.begin(), bytes.end()}, problem);
  if (!profile)
    throw InputError(absl::StrCat(path, ": is neither a plan nor a baseline: ", problem, "; restore the file, or ",
                                  BlessText(path, "MODEL", "WHY")));
  return *profile;
}

std::string BlessText(const std::string& baseline, const std::string& subject, const std::string& reason) {
  return absl::StrCat("run takt baseline update ", baseline, " ", subject, " --reason '", reason,
                      "' with the options of its conversion (of takt_add_latency_test: TAKT_REASON='", reason,
                      "' cmake --build BUILD --target bless_latency)");
}

std::string BuildText() {
  return absl::StrCat(TAKT_BUILD, ", callgrind");
}

std::string HostText() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(": ");
    if (absl::StartsWith(line, "model name") && colon != std::string::npos)
      return absl::StrCat(line.substr(colon + 2), ", ", TAKT_BUILD);
  }
  return TAKT_BUILD;
}

}  // namespace takt::cli
