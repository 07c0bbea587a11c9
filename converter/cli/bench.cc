// takt bench
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/cli/files.h"
#include "converter/cli/jitter.h"
#include "converter/cli/machine.h"
#include "converter/cli/measure.h"
#include "converter/cli/refusals.h"
#include "converter/cli/session.h"
#include "converter/cli/step_costs.h"
#include "converter/cli/subject.h"
#include "converter/cli/verbs.h"
#include "converter/report/plan_report.h"

namespace takt::cli {
namespace {

constexpr int kTraced = 20;

struct Options {
  std::vector<std::string> files;
  ModelOptions subject;
  MeasureOptions measure;
  JitterOptions jitter;
  std::string write_costs, against, junit, markdown;
  bool json = false;
  std::vector<const CLI::Option*> host;  ///< They say how to measure on this host.
};

void RefuseHostOptions(const Options& options) {
  for (const CLI::Option* option : options.host) {
    if (option->count() != 0)
      throw UsageError(absl::StrCat(option->get_name(), " is for measurements on this host, and the cycles of ",
                                    options.subject.file, " are computed: leave it out"));
  }
}

struct Measured {
  std::vector<uint64_t> sorted;     ///< Nanoseconds of each invocation, ascending.
  std::vector<uint64_t> step_sums;  ///< Nanoseconds by step, over all of them (traced apart).
};

/// Times whole invocations without a trace, then some with one, for the shares of steps.
Measured Measure(const Options& options, const std::vector<uint8_t>& plan) {
  Measured measured;
  measured.sorted = MeasureWall(options.subject.file, plan, options.measure);
  std::sort(measured.sorted.begin(), measured.sorted.end());
  const int traced = std::min(options.measure.iterations, kTraced);
  for (const auto& times : MeasureSteps(options.subject.file, plan, options.measure, traced))
    measured.step_sums.push_back(std::accumulate(times.begin(), times.end(), uint64_t{0}));
  return measured;
}

nlohmann::ordered_json BenchJson(const Options& options, const PlanFile& file, const Measured& measured) {
  const auto& sorted = measured.sorted;
  uint64_t total = 0, step_total = 0;
  for (uint64_t sample : sorted) total += sample;
  for (uint64_t sum : measured.step_sums) step_total += sum;
  nlohmann::ordered_json json = {{"plan", options.subject.file},
                                 {"port", options.measure.port},
                                 {"iterations", options.measure.iterations},
                                 {"warmup", options.measure.warmup},
                                 {"min_ns", sorted.front()},
                                 {"p50_ns", Percentile(sorted, 500)},
                                 {"p90_ns", Percentile(sorted, 900)},
                                 {"p99_ns", Percentile(sorted, 990)},
                                 {"max_ns", sorted.back()},
                                 {"mean_ns", total / sorted.size()}};
  for (const Bin& bin : Histogram(sorted))
    json["histogram"].push_back({{"from_ns", bin.from_ns}, {"count", bin.count}});
  json["steps"] = nlohmann::ordered_json::array();
  for (uint32_t i = 0; i < measured.step_sums.size(); ++i) {
    const double share =
        step_total == 0 ? 0 : static_cast<double>(measured.step_sums[i]) / static_cast<double>(step_total);
    nlohmann::ordered_json step = {{"index", i}, {"name", report::StepName(file.plan(), i)}, {"share", share}};
    const std::string refusal = PortRefusal(options.measure.port, file.plan(), i);
    if (!refusal.empty()) step["on_reference"] = refusal;
    json["steps"].push_back(step);
  }
  return json;
}

/// What the subject is compared with.
std::string SuiteName(const Options& options) {
  return std::filesystem::path(options.against).stem().string();
}

/// The table, and its files.
void Print(const Options& options, const report::Comparison& comparison) {
  const std::string name = SuiteName(options);
  std::vector<OutputFile> files;
  if (!options.junit.empty()) files.push_back(TextFile(options.junit, report::ComparisonJUnit(name, comparison)));
  if (!options.markdown.empty())
    files.push_back(TextFile(options.markdown, report::ComparisonMarkdown(name, comparison)));
  WriteFiles(files);
  std::printf("%s", report::ComparisonText(comparison).c_str());
}

/// The subject on a port: who runs each step, its median nanoseconds, samples of whole invocations.
report::Profile OnPort(const Options& options, const Subject& subject, const std::string& port) {
  MeasureOptions measure = options.measure;
  measure.port = port;
  const PlanFile file(options.subject.file, subject.plan);
  report::Profile profile = subject.profile;
  profile.arenas["runtime"] = PlanNeed(file, port).runtime.bytes;
  profile.cycles.reset();
  profile.wall = {MeasureWall(options.subject.file, subject.plan, measure), HostText()};
  auto times = MeasureSteps(options.subject.file, subject.plan, measure, measure.iterations);
  for (uint32_t i = 0; i < times.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    report::StepProfile& step = profile.steps[i];
    if (!times[i].empty()) step.cycles = Percentile(times[i], 500);
    const std::string refusal = PortRefusal(port, file.plan(), i);
    absl::StrAppend(&step.kernel, " on ", refusal.empty() ? port : absl::StrCat("reference (", refusal, ")"));
  }
  return profile;
}

/// Prints how the subject runs on two ports of this host, which only advises.
int RunAgainstPort(const Options& options) {
  const Subject subject = LoadSubject(options.subject, options.measure.port, true);
  if (PlanFile(options.subject.file, subject.plan).plan().device_count() != 0)
    throw InputError("--against PORT compares kernels of this host: give a plan or model for a CPU");
  const report::Profile before = OnPort(options, subject, options.against);
  report::Comparison comparison = report::Compare(before, OnPort(options, subject, options.measure.port));
  comparison.unit = "median ns";
  Print(options, comparison);
  return kDone;
}

struct Gate {
  report::Comparison comparison;
  bool failed = false;
  std::string not_counted;  ///< Why instructions are not compared.
};

Gate CompareWithBaseline(const Options& options) {
  if (!std::filesystem::exists(options.against)) {
    throw InputError(absl::StrCat(options.against, ": is neither a file nor a port; for a first baseline, ",
                                  BlessText(options.against, options.subject.file, "first baseline")));
  }
  Gate gate;
  bool layers = false;
  const report::Profile before = LoadBaseline(options.against, options.measure.port, layers);
  Subject subject = LoadSubject(options.subject, options.measure.port, layers);
  report::Profile& after = subject.profile;
  if (before.instructions && before.instructions->build != BuildText()) {
    gate.not_counted = absl::StrCat("the baseline is of ", before.instructions->build, ", this is ", BuildText());
  } else if (before.instructions) {
    after.instructions = CountInstructions(subject.plan, options.measure.port);
    if (!after.instructions) gate.not_counted = "valgrind is not installed";
  }
  if (before.wall) after.wall = {MeasureWall(options.subject.file, subject.plan, options.measure), HostText()};
  gate.comparison = report::Compare(before, after, gate.not_counted);
  gate.failed = gate.comparison.failed() && layers;
  return gate;
}

/// CI reads the JUnit file of a run that could not compare, too.
Gate CompareOrReport(const Options& options) {
  try {
    return CompareWithBaseline(options);
  } catch (const InputError& error) {
    if (!options.junit.empty())
      WriteFiles({TextFile(options.junit, report::ErrorJUnit(SuiteName(options), error.what()))});
    throw;
  }
}

/// Prints what changed since the baseline; throws if a gate did.
int RunAgainst(const Options& options) {
  if (IsPort(options.against)) return RunAgainstPort(options);
  const Gate gate = CompareOrReport(options);
  Print(options, gate.comparison);
  if (gate.failed) {
    const std::vector<std::string>& subjects = gate.comparison.subjects;
    throw InputError(absl::StrCat(
        options.subject.file,
        subjects.empty() ? ": differs from " : ": is not what this baseline is of (give its model and options): ",
        options.against, "; if that is meant, ", BlessText(options.against, options.subject.file, "WHY")));
  }
  if (!gate.not_counted.empty()) std::fprintf(stderr, "instructions are not compared: %s\n", gate.not_counted.c_str());
  return kDone;
}

int RunJitter(const Options& options, const std::vector<uint8_t>& plan) {
  const Jitter jitter = MeasureJitter(options.subject.file, plan, options.measure, options.jitter);
  if (options.json) {
    std::printf("%s\n", JitterJson(jitter).dump(2).c_str());
  } else {
    std::printf("%s on %s\n%s", options.subject.file.c_str(), options.measure.port.c_str(), JitterText(jitter).c_str());
  }
  return kDone;
}

int Run(Options& options) {
  if (!options.write_costs.empty()) {
    Calibrate(options.files, options.subject, options.measure, options.write_costs);
    return kDone;
  }
  if (options.files.size() != 1) throw InputError("several models are measured only with --write-costs; give one");
  options.subject.file = options.files[0];
  if (!options.against.empty()) return RunAgainst(options);
  if (ForMachine(options.subject)) {
    RefuseHostOptions(options);
    return BenchOnMachine(options.subject, options.json);
  }
  const Subject subject = LoadSubject(options.subject, options.measure.port, false);
  if (options.jitter.seconds > 0) return RunJitter(options, subject.plan);
  const PlanFile file(options.subject.file, subject.plan);
  const Measured measured = Measure(options, subject.plan);
  const nlohmann::ordered_json json = BenchJson(options, file, measured);
  if (options.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return kDone;
  }
  std::printf("%s on %s: %d iterations after %d\n", options.subject.file.c_str(), options.measure.port.c_str(),
              options.measure.iterations, options.measure.warmup);
  for (const char* key : {"min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "mean_ns"}) {
    std::printf("%8s %12llu\n", key, static_cast<unsigned long long>(json[key].get<uint64_t>()));
  }
  std::printf("%s", HistogramText(Histogram(measured.sorted)).c_str());
  for (const auto& step : json["steps"]) {
    const std::string refusal = step.value("on_reference", "");
    std::printf("%4u %5.1f %%  %s%s\n", step["index"].get<uint32_t>(), 100 * step["share"].get<double>(),
                step["name"].get<std::string>().c_str(),
                refusal.empty() ? "" : absl::StrCat("  (reference port: ", refusal, ")").c_str());
  }
  return kDone;
}

}  // namespace

void AddBench(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand(
      "bench", "Measures the latency of a plan on this host, or tells the cycles on an emulated machine");
  auto options = std::make_shared<Options>();
  verb->add_option("plan", options->files,
                   "A .takt plan, or a model that is converted first; with --write-costs several")
      ->required();
  AddModelOptions(*verb, options->subject);
  const auto others = static_cast<ptrdiff_t>(verb->get_options().size());
  AddInputOptions(*verb, options->measure.inputs);
  verb->add_option("--port", options->measure.port, "Kernels to run on")->capture_default_str();
  verb->add_option("--warmup", options->measure.warmup, "Invocations before the first measured one")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  verb->add_option("--iterations", options->measure.iterations, "Measured invocations")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  auto* duration =
      verb->add_option("--duration", options->jitter.seconds,
                       "Seconds: jitter instead (tails, cold start, after idle, beside a noisy process; and of a "
                       "loop without memory accesses, in turns: the host's own)")
          ->check(CLI::Range(0.01, 86400.0));
  verb->add_option("--cpu", options->jitter.cpu, "The core to measure jitter on")
      ->check(CLI::NonNegativeNumber)
      ->needs(duration);
  verb->add_flag("--realtime", options->jitter.realtime, "Measures jitter with memory locked and SCHED_FIFO")
      ->needs(duration);
  const std::vector<CLI::Option*> all = verb->get_options();
  options->host.assign(all.begin() + others, all.end());
  verb->add_option("--write-costs", options->write_costs,
                   "File for what each kernel's steps cost on this host (for convert --costs), instead")
      ->excludes(duration);
  auto* against = verb->add_option("--against", options->against,
                                   "A baseline (.json), another plan or port: prints what changed, and why, instead");
  verb->add_option("--junit", options->junit, "File for the comparison as JUnit XML")->needs(against);
  verb->add_option("--markdown", options->markdown, "File for the comparison as Markdown")->needs(against);
  verb->add_flag("--json", options->json, "p50_ns, p90_ns, p99_ns, max_ns and each step's share as JSON");
  verb->footer(
      std::string(
          "Examples:\n"
          "  takt bench kws.takt\n"
          "  takt bench kws.takt --json --warmup 10 --iterations 1000\n"
          "  takt bench kws.tflite --target ethos-u55-128 --json   # cycles of the machine, not this host's time\n"
          "  takt bench kws_npu.takt                               # the same, of a plan for a machine\n"
          "  takt bench kws.tflite --target ethos-u55-128 --against kws.json   # fails if a cycle changed\n"
          "  takt bench new.takt --against old.takt\n"
          "  takt bench kws.takt --port xnnpack --against reference\n"
          "  takt bench kws.tflite vww.tflite --write-costs host.json   # then: takt convert ... --costs host.json\n"
          "Inputs are random (seed 1) unless --input or --random says otherwise.\n") +
      kExitCodes);
  verb->callback([options, &action] { action = [options] { return Run(*options); }; });
}

}  // namespace takt::cli
