#include "converter/cli/jitter.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/cli/files.h"
#include "ports/posix/realtime.h"

namespace takt::cli {
namespace {

constexpr int kIdleRuns = 50;
constexpr std::chrono::milliseconds kIdle{20};
constexpr int kFifoPriority = 50;
constexpr size_t kMostSamples = size_t{1} << 22;

/// A child process that streams through 64 MB for as long as it lives.
class NoisyNeighbour {
 public:
  NoisyNeighbour() : child_(::fork()) {
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    constexpr size_t kBytes = size_t{64} << 20;
    std::vector<char> bytes(kBytes);
    for (char value = 0;; ++value) std::memset(bytes.data(), value, kBytes);
  }
  ~NoisyNeighbour() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  NoisyNeighbour(const NoisyNeighbour&) = delete;
  NoisyNeighbour& operator=(const NoisyNeighbour&) = delete;

 private:
  const pid_t child_;
};

/// Invokes one plan over and over.
class Runner {
 public:
  Runner(const std::string& path, const std::vector<uint8_t>& plan, const MeasureOptions& options)
      : path_(path), session_(path, plan, options.port), inputs_(MeasuredInputs(session_.plan(), options.inputs)) {}

  uint64_t Once() {
    SetInputs(session_.net(), inputs_);
    const uint64_t begin = Now();
    const Status status = session_.net().Invoke();
    const uint64_t end = Now();
    Require(path_, status);
    return end - begin;
  }
  std::vector<uint64_t> For(double seconds) {
    std::vector<uint64_t> samples;
    samples.reserve(kMostSamples);  // No page of it faults between two invocations if memory is locked.
    const uint64_t end = Now() + static_cast<uint64_t>(seconds * 1e9);
    do {
      samples.push_back(Once());
    } while (Now() < end && samples.size() < kMostSamples);
    return samples;
  }

 private:
  std::string path_;
  Session session_;
  std::vector<std::vector<uint8_t>> inputs_;
};

std::string Enter(const JitterOptions& options) {
  const posix::RealtimeResult result = posix::EnterRealtime(
      {.lock_memory = options.realtime, .cpu = options.cpu, .priority = options.realtime ? kFifoPriority : 0});
  std::string note;
  const auto add = [&](const char* what, int error) {
    if (error != 0) absl::StrAppend(&note, note.empty() ? "" : "; ", what, ": ", std::strerror(error));
  };
  add("memory is not locked", result.lock);
  add("not pinned", result.cpu);
  add("not SCHED_FIFO", result.priority);
  return note;
}

nlohmann::ordered_json PartJson(std::vector<uint64_t> samples) {
  std::sort(samples.begin(), samples.end());
  const uint64_t p50 = Percentile(samples, 500), p999 = Percentile(samples, 999);
  return {{"count", samples.size()},
          {"p50_ns", p50},
          {"p99_ns", Percentile(samples, 990)},
          {"p99_9_ns", p999},
          {"max_ns", samples.back()},
          {"p99_9_to_p50", static_cast<double>(p999) / static_cast<double>(std::max<uint64_t>(p50, 1))}};
}

}  // namespace

Jitter MeasureJitter(const std::string& path, const std::vector<uint8_t>& plan, const MeasureOptions& options,
                     const JitterOptions& how) {
  Jitter jitter;
  jitter.note = Enter(how);
  Runner runner(path, plan, options);
  jitter.cold = runner.Once();
  for (int i = 0; i < options.warmup; ++i) (void)runner.Once();
  jitter.steady = runner.For(how.seconds);
  for (int i = 0; i < kIdleRuns; ++i) {
    std::this_thread::sleep_for(kIdle);
    jitter.after_idle.push_back(runner.Once());
  }
  const NoisyNeighbour neighbour;
  jitter.beside_noise = runner.For(std::max(how.seconds / 4, 0.1));
  return jitter;
}

nlohmann::ordered_json JitterJson(const Jitter& jitter) {
  nlohmann::ordered_json json = {{"cold_ns", jitter.cold},
                                 {"steady", PartJson(jitter.steady)},
                                 {"after_idle", PartJson(jitter.after_idle)},
                                 {"noisy_neighbour", PartJson(jitter.beside_noise)}};
  std::vector<uint64_t> sorted = jitter.steady;
  std::sort(sorted.begin(), sorted.end());
  for (const Bin& bin : Histogram(sorted))
    json["histogram"].push_back({{"from_ns", bin.from_ns}, {"count", bin.count}});
  if (!jitter.note.empty()) json["note"] = jitter.note;
  return json;
}

std::string JitterText(const Jitter& jitter) {
  const nlohmann::ordered_json json = JitterJson(jitter);
  std::string text =
      absl::StrFormat("%-16s %9s %11s %11s %11s %11s  p99.9/p50\n", "ns", "count", "p50", "p99", "p99.9", "max");
  absl::StrAppendFormat(&text, "%-16s %9d %11d\n", "cold", 1, jitter.cold);
  for (const char* part : {"steady", "after_idle", "noisy_neighbour"}) {
    const auto& row = json[part];
    absl::StrAppendFormat(&text, "%-16s %9d %11d %11d %11d %11d  %.3f\n", part, row["count"].get<uint64_t>(),
                          row["p50_ns"].get<uint64_t>(), row["p99_ns"].get<uint64_t>(), row["p99_9_ns"].get<uint64_t>(),
                          row["max_ns"].get<uint64_t>(), row["p99_9_to_p50"].get<double>());
  }
  std::vector<uint64_t> sorted = jitter.steady;
  std::sort(sorted.begin(), sorted.end());
  absl::StrAppend(&text, "steady:\n", HistogramText(Histogram(sorted)));
  if (!jitter.note.empty()) absl::StrAppend(&text, jitter.note, "\n");
  return text;
}

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

}  // namespace takt::cli
