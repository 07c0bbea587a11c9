#include "converter/cli/measure.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"
#include "converter/cli/terminal.h"

namespace takt::cli {
namespace {

constexpr int kShowEvery = 64;

}  // namespace

std::vector<std::vector<uint8_t>> MeasuredInputs(const Plan& plan, InputOptions options) {
  if (options.files.empty() && !options.seed.has_value()) options.seed = 1;
  return LoadInputs(plan, options);
}

std::vector<uint64_t> MeasureWall(const std::string& path, const std::vector<uint8_t>& plan,
                                  const MeasureOptions& options) {
  std::vector<uint64_t> samples;
  samples.reserve(static_cast<size_t>(options.iterations));
  Session session(path, plan, options.port);
  const auto inputs = MeasuredInputs(session.plan(), options.inputs);
  ProgressLine progress;
  for (int i = -options.warmup; i < options.iterations; ++i) {
    if (i % kShowEvery == 0) progress.Show(absl::StrCat("invocation ", i, " of ", options.iterations));
    SetInputs(session.net(), inputs);
    const uint64_t begin = Now();
    const Status status = session.net().Invoke();
    const uint64_t end = Now();
    Require(path, status);
    if (i >= 0) samples.push_back(end - begin);
  }
  return samples;
}

std::vector<std::vector<uint64_t>> MeasureSteps(const std::string& path, const std::vector<uint8_t>& plan,
                                                const MeasureOptions& options, int invocations) {
  std::vector<TraceEvent> events(4096 + PlanFile(path, plan).plan().step_count());
  Trace trace(events);
  Session session(path, plan, options.port, &trace);
  const auto inputs = MeasuredInputs(session.plan(), options.inputs);
  std::vector<std::vector<uint64_t>> times(session.plan().step_count());
  for (int i = -options.warmup; i < invocations; ++i) {
    trace.Clear();
    SetInputs(session.net(), inputs);
    Require(path, session.net().Invoke());
    for (uint32_t k = 0; i >= 0 && k < trace.size(); ++k) times[trace[k].step].push_back(trace[k].end - trace[k].begin);
  }
  return times;
}

uint64_t Percentile(const std::vector<uint64_t>& sorted, uint64_t permille) {
  const uint64_t rank = (sorted.size() * permille + 999) / 1000;
  return sorted[std::max<uint64_t>(rank, 1) - 1];
}

}  // namespace takt::cli
