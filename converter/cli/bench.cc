// takt bench
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/cli/files.h"
#include "converter/cli/session.h"
#include "converter/cli/terminal.h"
#include "converter/cli/verbs.h"
#include "converter/report/plan_report.h"

namespace takt::cli {
namespace {

struct Options {
  std::string plan, port = "reference";
  InputOptions inputs;
  int warmup = 3, iterations = 100;
  bool json = false;
};

constexpr int kShowEvery = 64;

struct Measured {
  std::vector<uint64_t> sorted;     ///< Nanoseconds of each invocation, ascending.
  std::vector<uint64_t> step_sums;  ///< Nanoseconds by step, over all of them (traced apart).
};

/// The smallest sample that `permille` of all do not exceed.
uint64_t Percentile(const std::vector<uint64_t>& sorted, uint64_t permille) {
  const uint64_t rank = (sorted.size() * permille + 999) / 1000;
  return sorted[std::max<uint64_t>(rank, 1) - 1];
}

/// Times whole invocations without a trace, then as many of them again with one, for the shares of steps.
Measured Measure(const Options& options) {
  InputOptions input_options = options.inputs;
  if (input_options.files.empty() && !input_options.seed.has_value()) input_options.seed = 1;
  Measured measured;
  Session session(options.plan, options.port);
  const auto inputs = LoadInputs(session.plan(), input_options);
  ProgressLine progress;
  for (int i = -options.warmup; i < options.iterations; ++i) {
    if (i % kShowEvery == 0) progress.Show(absl::StrCat("invocation ", i, " of ", options.iterations));
    SetInputs(session.net(), inputs);
    const uint64_t begin = Now();
    const Status status = session.net().Invoke();
    const uint64_t end = Now();
    Require(options.plan, status);
    if (i >= 0) measured.sorted.push_back(end - begin);
  }
  std::sort(measured.sorted.begin(), measured.sorted.end());

  std::vector<TraceEvent> events(4096 + session.plan().step_count());
  Trace trace(events);
  Session traced(options.plan, options.port, &trace);
  measured.step_sums.resize(session.plan().step_count());
  for (int i = 0; i < std::min(options.iterations, 20); ++i) {
    trace.Clear();
    SetInputs(traced.net(), inputs);
    Require(options.plan, traced.net().Invoke());
    for (uint32_t k = 0; k < trace.size(); ++k) measured.step_sums[trace[k].step] += trace[k].end - trace[k].begin;
  }
  return measured;
}

struct Bin {
  uint64_t from_ns;
  uint64_t count;
};

/// Bins of equal width from the least to the largest sample.
std::vector<Bin> Histogram(const std::vector<uint64_t>& sorted) {
  constexpr uint64_t kBins = 12;
  const uint64_t low = sorted.front(), span = std::max<uint64_t>(sorted.back() - low + 1, kBins);
  std::vector<Bin> bins;
  for (uint64_t i = 0; i < kBins; ++i) bins.push_back({low + span * i / kBins, 0});
  for (uint64_t sample : sorted) ++bins[static_cast<size_t>((sample - low) * kBins / span)].count;
  return bins;
}

std::string HistogramText(const std::vector<Bin>& bins) {
  constexpr uint64_t kWidth = 50;
  uint64_t most = 0;
  for (const Bin& bin : bins) most = std::max(most, bin.count);
  std::string text;
  for (const Bin& bin : bins) {
    absl::StrAppendFormat(&text, "%12d ns | %-50s %d\n", bin.from_ns,
                          std::string((bin.count * kWidth + most - 1) / most, '#'), bin.count);
  }
  return text;
}

nlohmann::ordered_json BenchJson(const Options& options, const PlanFile& file, const Measured& measured) {
  const auto& sorted = measured.sorted;
  uint64_t total = 0, step_total = 0;
  for (uint64_t sample : sorted) total += sample;
  for (uint64_t sum : measured.step_sums) step_total += sum;
  nlohmann::ordered_json json = {{"plan", options.plan},
                                 {"port", options.port},
                                 {"iterations", options.iterations},
                                 {"warmup", options.warmup},
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
    json["steps"].push_back({{"index", i}, {"name", report::StepName(file.plan(), i)}, {"share", share}});
  }
  return json;
}

int Run(const Options& options) {
  const PlanFile file(options.plan);
  const Measured measured = Measure(options);
  const nlohmann::ordered_json json = BenchJson(options, file, measured);
  if (options.json) {
    std::printf("%s\n", json.dump(2).c_str());
    return kDone;
  }
  std::printf("%s on %s: %d iterations after %d\n", options.plan.c_str(), options.port.c_str(), options.iterations,
              options.warmup);
  for (const char* key : {"min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "mean_ns"}) {
    std::printf("%8s %12llu\n", key, static_cast<unsigned long long>(json[key].get<uint64_t>()));
  }
  std::printf("%s", HistogramText(Histogram(measured.sorted)).c_str());
  for (const auto& step : json["steps"]) {
    std::printf("%4u %5.1f %%  %s\n", step["index"].get<uint32_t>(), 100 * step["share"].get<double>(),
                step["name"].get<std::string>().c_str());
  }
  return kDone;
}

}  // namespace

void AddBench(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("bench", "Measures the latency of a plan on this host");
  auto options = std::make_shared<Options>();
  verb->add_option("plan", options->plan, "The .takt file")->required();
  AddInputOptions(*verb, options->inputs);
  verb->add_option("--port", options->port, "Kernels to run on")->capture_default_str();
  verb->add_option("--warmup", options->warmup, "Invocations before the first measured one")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  verb->add_option("--iterations", options->iterations, "Measured invocations")
      ->check(CLI::Range(1, 10000000))
      ->capture_default_str();
  verb->add_flag("--json", options->json, "p50_ns, p90_ns, p99_ns, max_ns and each step's share as JSON");
  verb->footer(std::string("Examples:\n"
                           "  takt bench kws.takt\n"
                           "  takt bench kws.takt --json --warmup 10 --iterations 1000\n"
                           "Inputs are random (seed 1) unless --input or --random says otherwise.\n") +
               kExitCodes);
  verb->callback([options, &action] { action = [options] { return Run(*options); }; });
}

}  // namespace takt::cli
