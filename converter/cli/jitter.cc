#include "converter/cli/jitter.h"

#include <sched.h>
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
/// By default Linux stops a SCHED_FIFO process that has run for 950 ms of a second (sched_rt_runtime_us).
constexpr uint64_t kRunNs = 800'000'000;
constexpr std::chrono::milliseconds kRest{100};

/// A child process that streams through 64 MB for as long as it lives; where there are several cores not on that of the
/// measurement, and of ordinary priority.
class NoisyNeighbour {
 public:
  explicit NoisyNeighbour(const cpu_set_t& cores) : child_(::fork()) {
    if (child_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    constexpr sched_param kNoPriority{};
    ::sched_setscheduler(0, SCHED_OTHER, &kNoPriority);  // it would inherit SCHED_FIFO, and never give a core back
    ::sched_setaffinity(0, sizeof(cores), &cores);
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

/// Calls `once` until the time is over. Room for the samples is made before: no page of it faults between two
/// invocations if memory is locked.
template <typename Once>
void Repeat(double seconds, std::initializer_list<std::vector<uint64_t>*> samples, Once once) {
  for (std::vector<uint64_t>* list : samples) list->reserve(kMostSamples);
  const uint64_t end = Now() + static_cast<uint64_t>(seconds * 1e9);
  uint64_t rest = Now() + kRunNs;
  for (size_t n = 0; n == 0 || (Now() < end && n < kMostSamples); ++n) {
    if (Now() > rest) {
      std::this_thread::sleep_for(kRest);
      once();
      for (std::vector<uint64_t>* list : samples) list->pop_back();  // what the pause cost is not steady
      rest = Now() + kRunNs;
    }
    once();
  }
}

/// Work without a memory access, system call or branch that could be mispredicted: what its time varies by comes from
/// the host alone.
class BareLoop {
 public:
  /// Of as many turns as take about `ns`.
  explicit BareLoop(uint64_t ns) {
    constexpr uint64_t kTrial = 1'000'000;
    turns_ = kTrial;
    (void)Once();
    turns_ = std::max<uint64_t>(kTrial * ns / std::max<uint64_t>(Once(), 1), 1);
  }
  uint64_t Once() {
    const uint64_t begin = Now();
    uint64_t x = seed_;
    for (uint64_t i = 0; i < turns_; ++i) x = (x << 13 ^ x) + (x >> 7);
    seed_ = x;
    return Now() - begin;
  }

 private:
  volatile uint64_t seed_ = 1;
  uint64_t turns_ = 0;
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
    Repeat(seconds, {&samples}, [&] { samples.push_back(Once()); });
    return samples;
  }

 private:
  std::string path_;
  Session session_;
  std::vector<std::vector<uint8_t>> inputs_;
};

/// Those that this process may run on but for `cpu`, if there are any.
cpu_set_t OtherCores(int cpu) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  ::sched_getaffinity(0, sizeof(cores), &cores);
  if (cpu >= 0 && cpu < CPU_SETSIZE && CPU_COUNT(&cores) > 1) CPU_CLR(cpu, &cores);
  return cores;
}

std::string Enter(const JitterOptions& options) {
  const posix::RealtimeResult result = posix::EnterRealtime(
      {.lock_memory = options.realtime, .cpu = options.cpu, .priority = options.realtime ? kFifoPriority : 0});
  if (result.cpu != 0) {
    throw InputError(absl::StrCat("--cpu ", options.cpu, ": ", std::strerror(result.cpu),
                                  "; name a core that this process may run on (taskset -cp $$ lists them)"));
  }
  std::string note;
  const auto add = [&](const char* what, int error) {
    if (error != 0) absl::StrAppend(&note, note.empty() ? "" : "; ", what, ": ", std::strerror(error));
  };
  add("memory is not locked", result.lock);
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
  const cpu_set_t others = OtherCores(how.cpu);
  jitter.note = Enter(how);
  Runner runner(path, plan, options);
  jitter.cold = runner.Once();
  for (int i = 0; i < options.warmup; ++i) (void)runner.Once();
  BareLoop loop(runner.Once());
  Repeat(how.seconds, {&jitter.steady, &jitter.bare_loop}, [&] {
    jitter.steady.push_back(runner.Once());
    jitter.bare_loop.push_back(loop.Once());
  });
  for (int i = 0; i < kIdleRuns; ++i) {
    std::this_thread::sleep_for(kIdle);
    jitter.after_idle.push_back(runner.Once());
  }
  const NoisyNeighbour neighbour(others);
  jitter.beside_noise = runner.For(std::max(how.seconds / 4, 0.1));
  return jitter;
}

nlohmann::ordered_json JitterJson(const Jitter& jitter) {
  nlohmann::ordered_json json = {{"cold_ns", jitter.cold},
                                 {"steady", PartJson(jitter.steady)},
                                 {"bare_loop", PartJson(jitter.bare_loop)},
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
  for (const char* part : {"steady", "bare_loop", "after_idle", "noisy_neighbour"}) {
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
  const uint64_t low = sorted.front(), span = std::max(sorted.back() - low + 1, uint64_t{1} << kBins);
  std::vector<Bin> bins{{low, 0}};
  for (uint64_t i = 1; i < kBins; ++i) bins.push_back({low + (span >> (kBins - i)), 0});
  for (uint64_t sample : sorted) {
    const auto above = std::find_if(bins.begin(), bins.end(), [&](const Bin& bin) { return bin.from_ns > sample; });
    ++std::prev(above)->count;
  }
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
