#include "converter/npu/trace.h"

#include <algorithm>
#include <deque>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "absl/strings/str_cat.h"
#include "converter/npu/buffer_use.h"
#include "converter/npu/step_profile.h"
#include "converter/npu/step_times.h"

namespace takt::npu {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kLayerTrack = kPipes, kHostTrack = kPipes + 1;  // tracks below them are the pipes
constexpr uint64_t kBandwidthBins = 512;

class Tracer {
 public:
  Tracer(const Compilation& c, const Machine& machine)
      : c_(c), m_(machine), cycle_(static_cast<double>(uint64_t{1} << machine.tick_shift)) {
    Describe("process_name", 0, {{"name", machine.name}});
    NameTrack(kHostTrack, "host", 0);
    NameTrack(kLayerTrack, "layers", 1);
    for (int p = 0; p < kPipes; ++p) NameTrack(p, PipeName(static_cast<Pipe>(p)), 2 + p);
  }

  void AddSteps(const std::vector<StepProfile>& steps) {
    for (const StepProfile& s : steps) {
      Slice(s.host() ? kHostTrack : kLayerTrack, absl::StrCat(s.op, " ", s.name), static_cast<double>(s.begin),
            static_cast<double>(s.cycles),
            {{"bound_by", s.bound_by()},
             {"macs", s.activity.macs},
             {"bytes", s.activity.Bytes()},
             {"first_command", s.start}});
    }
  }
  /// Job `job`, submitted at cycle `start`.
  void AddJob(size_t job, uint64_t start);
  /// In the order of time.
  std::string Finish();

 private:
  /// A moment in a slice, which an arrow begins or ends in.
  struct Moment {
    int track;
    double at;
  };

  void Describe(const char* what, int track, Json args) {
    events_.push_back({{"ph", "M"}, {"pid", 0}, {"tid", track}, {"name", what}, {"args", std::move(args)}});
  }
  void NameTrack(int track, const std::string& name, int order) {
    Describe("thread_name", track, {{"name", name}});
    Describe("thread_sort_index", track, {{"sort_index", order}});
  }
  void Slice(int track, const std::string& name, double at, double length, Json args) {
    events_.push_back({{"ph", "X"},
                       {"pid", 0},
                       {"tid", track},
                       {"name", name},
                       {"ts", at},
                       {"dur", length},
                       {"args", std::move(args)}});
  }
  void Count(const std::string& name, double at, double value) {
    events_.push_back({{"ph", "C"}, {"pid", 0}, {"name", name}, {"ts", at}, {"args", {{"value", value}}}});
  }
  double At(Ticks t) const { return static_cast<double>(start_) + static_cast<double>(t) / cycle_; }
  void AddSpan(const Span& span);
  void AddArrow(const Moment& from, const Moment& to);
  void AddArrowEnd(const char* phase, const Moment& moment);
  Moment EndOf(const Span& span) const {
    return {static_cast<int>(span.command.pipe), At(span.free) - 0.5 / cycle_};  // within, not where the next begins
  }
  void AddTraffic(const Span& span);
  void AddIssue();
  void CountBuffers(const BufferUse& use);
  void CountBandwidth();

  const Compilation& c_;
  const Machine& m_;
  double cycle_;
  std::vector<Json> events_;
  // Of the job that is being added.
  uint64_t start_ = 0;
  size_t job_ = 0;
  Stream stream_;
  uint64_t arrows_ = 0;
  std::optional<Moment> last_[kPipes];                          ///< In the last slice of each pipe.
  std::map<uint32_t, std::deque<std::optional<Moment>>> sets_;  ///< What set an event that no Wait has taken.
  std::vector<Moment> waited_for_[kPipes];                      ///< By the next slice of a pipe, without delay.
  std::vector<std::vector<double>> moved_;                      ///< Bytes of every memory in every bin.
};

void Tracer::AddArrowEnd(const char* phase, const Moment& moment) {
  events_.push_back({{"ph", phase},
                     {"pid", 0},
                     {"tid", moment.track},
                     {"name", "event"},
                     {"cat", "event"},
                     {"id", arrows_},
                     {"ts", moment.at},
                     {"bp", "e"}});
}

void Tracer::AddArrow(const Moment& from, const Moment& to) {
  AddArrowEnd("s", from);
  AddArrowEnd("f", to);
  ++arrows_;
}

/// The command pipe: submission, then commands one after the other.
void Tracer::AddIssue() {
  const Timing& timing = c_.jobs[job_].timing;
  const Ticks first = timing.pipes[0].issue, last = timing.total - timing.pipes[0].drain;
  const auto slice = [&](const char* name, Ticks from, Ticks to) {
    if (from == to) return;
    Slice(0, name, At(from), static_cast<double>(to - from) / cycle_, {{"job", job_}, {"commands", timing.commands}});
  };
  slice("submit", 0, first);
  slice("issue", first, last);
}

/// Spreads a transfer's bytes evenly over the bins that it passes.
void Tracer::AddTraffic(const Span& span) {
  const Traffic traffic = TrafficOf(m_, stream_.header, span.command.as<Copy>());
  if (traffic.memory < 0 || span.free == span.start) return;
  const Ticks bin = CeilDiv(c_.jobs[job_].timing.total, kBandwidthBins);
  const double rate = static_cast<double>(traffic.bytes) / static_cast<double>(span.free - span.start);
  for (Ticks at = span.start; at < span.free;) {
    const Ticks end = std::min(span.free, (at / bin + 1) * bin);
    moved_[static_cast<size_t>(traffic.memory)][at / bin] += rate * static_cast<double>(end - at);
    at = end;
  }
}

/// Arrows go from the slice before a Set to the Wait that it ends, or to the slice after a Wait that took no time.
void Tracer::AddSpan(const Span& span) {
  const int track = static_cast<int>(span.command.pipe);
  const double length = static_cast<double>(span.free - span.start) / cycle_;
  if (span.command.op == MicroOp::kSet) {
    const uint32_t event = span.command.as<Set>().event;
    sets_[event].push_back(last_[track]);
    return;
  }
  if (span.command.op == MicroOp::kWait) {
    const uint32_t event = span.command.as<Wait>().event;
    const std::optional<Moment> from = sets_[event].front();
    sets_[event].pop_front();
    if (span.free == span.start) {
      if (from) waited_for_[track].push_back(*from);
      return;
    }
    if (from) AddArrow(*from, EndOf(span));
    return Slice(track, absl::StrCat("wait ", event), At(span.start), length, {{"command", span.position}});
  }
  if (span.command.op == MicroOp::kCopy) AddTraffic(span);
  Slice(track, FindMicroOp(static_cast<uint8_t>(span.command.op))->name, At(span.start), length,
        {{"job", job_}, {"command", span.position}, {"done", At(span.done)}});
  for (const Moment& from : waited_for_[track]) AddArrow(from, {track, At(span.start)});
  waited_for_[track].clear();
  last_[track] = EndOf(span);
}

void Tracer::CountBuffers(const BufferUse& use) {
  for (int b = 0; b < kBuffers; ++b) {
    const auto buffer = static_cast<Buffer>(b);
    for (const BufferUse::Level& level : use.Levels(buffer)) {
      Count(absl::StrCat(BufferName(buffer), " bytes in use"), At(level.at), static_cast<double>(level.bytes));
    }
  }
}

void Tracer::CountBandwidth() {
  const Ticks bin = CeilDiv(c_.jobs[job_].timing.total, kBandwidthBins);
  for (uint32_t i = 0; i < m_.memory_count; ++i) {
    for (size_t b = 0; b < moved_[i].size(); ++b) {
      Count(absl::StrCat(m_.memories[i].name, " bytes a cycle"), At(b * bin),
            moved_[i][b] * cycle_ / static_cast<double>(bin));
    }
  }
}

void Tracer::AddJob(size_t job, uint64_t start) {
  job_ = job, start_ = start;
  sets_.clear();
  for (int p = 0; p < kPipes; ++p) last_[p].reset(), waited_for_[p].clear();
  moved_.assign(m_.memory_count, std::vector<double>(kBandwidthBins + 1));
  (void)OpenStream(std::as_bytes(std::span(c_.device.jobs[job].stream)), stream_);
  BufferUse use;
  AddIssue();
  Replay(c_, job, m_, [&](const Span& span) {
    AddSpan(span);
    use.Add(span);
  });
  CountBuffers(use);
  CountBandwidth();
}

std::string Tracer::Finish() {
  const auto at = [](const Json& event) { return event.value("ts", 0.0); };
  std::ranges::stable_sort(events_, {}, at);
  return Json{{"displayTimeUnit", "ms"}, {"traceEvents", events_}}.dump();
}

}  // namespace

std::string TraceJson(const ir::Graph& graph, const Compilation& c, const Machine& machine) {
  Tracer tracer(c, machine);
  tracer.AddSteps(ProfileSteps(graph, c, machine));
  const StepTimes times(c, machine);
  for (size_t job = 0; job < c.jobs.size(); ++job) tracer.AddJob(job, times.job(job).start);
  return tracer.Finish();
}

}  // namespace takt::npu
