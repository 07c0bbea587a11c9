// Three networks of two models on one core: an image every 1/30 s, every 1/50 s audio features that must not wait for
// it, and, with no hurry, the audio net again on the features of a vibration sensor, in the camera's memory.
//
//   two_models CAMERA_PLAN AUDIO_PLAN [CAMERA_HZ AUDIO_HZ]      plans with step costs (--costs, or --target of an NPU
//   machine)
//
// First on a virtual clock, where each step takes exactly what its plan says; exit code 1 if a deadline is missed
// there. Then a second on this host's clock, where misses only inform.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "engine/core/scheduler.h"
#include "samples/network.h"

namespace {

using samples::Network;

/// Where a camera or a microphone would put its data.
void SetInput(void*, takt::Interpreter& net) {
  std::ranges::fill(net.input(0).bytes, std::byte{0});
}

constexpr size_t kTasks = 3;
struct Source {
  const char* name;
  double hz;
  uint8_t priority;
  uint8_t group;  ///< Those of group 1 share an arena: none begins before the other has ended.
  uint64_t period = 0, due = 0;
};

/// Releases what is due; the time of the next release.
uint64_t ReleaseDue(takt::Scheduler& scheduler, std::span<Source, kTasks> sources, uint64_t now) {
  uint64_t next = UINT64_MAX;
  for (uint32_t i = 0; i < kTasks; ++i) {
    for (; sources[i].due <= now; sources[i].due += sources[i].period) scheduler.ReleaseAt(i, sources[i].due);
    next = std::min(next, sources[i].due);
  }
  return next;
}

/// Deadline = period. Returns the misses, releases without a run included.
template <typename Advance>
uint32_t Simulate(std::span<Network, kTasks> networks, std::span<Source, kTasks> sources, takt::Clock clock,
                  uint64_t ticks_per_s, double seconds, Advance advance) {
  takt::Task tasks[kTasks];
  const uint64_t start = clock.Now(), end = start + static_cast<uint64_t>(seconds * static_cast<double>(ticks_per_s));
  for (size_t i = 0; i < kTasks; ++i) {
    sources[i].period = static_cast<uint64_t>(static_cast<double>(ticks_per_s) / sources[i].hz);
    sources[i].due = start;
    tasks[i].net = &networks[i].net;
    tasks[i].priority = sources[i].priority;
    tasks[i].group = sources[i].group;
    tasks[i].deadline = sources[i].period;
    tasks[i].on_begin = SetInput;
  }
  takt::Scheduler scheduler;
  if (!scheduler.Init(tasks, clock).ok()) return 1;
  while (clock.Now() < end) {
    const uint64_t next = ReleaseDue(scheduler, sources, clock.Now());
    advance(scheduler.RunStep(), next);
  }
  uint32_t misses = 0;
  for (size_t i = 0; i < kTasks; ++i) {
    const takt::TaskStats& s = tasks[i].stats;
    std::printf(
        "  %-9s %5.0f Hz: %5u runs, %u missed, %u without a run, preempted %u times, worst response %.3f of %.3f ms\n",
        sources[i].name, sources[i].hz, s.completed, s.missed, s.overrun, s.preempted,
        1e3 * static_cast<double>(s.worst_response) / static_cast<double>(ticks_per_s), 1e3 / sources[i].hz);
    misses += s.missed + s.overrun + s.failed;
  }
  return misses;
}

int Fail(const char* path, const char* why) {
  std::fprintf(stderr, "%s: %s\n", path, why);
  return 2;
}

int Run(const char* camera, const char* audio, double camera_hz, double audio_hz) {
  samples::Npu npu;
  takt::npu::VirtualClock& time = npu.clock;  // Stands still but for what steps and jobs cost.
  Network networks[kTasks];
  Source sources[kTasks] = {{"camera", camera_hz, 1, 1}, {"audio", audio_hz, 2, 0}, {"vibration", 10, 1, 1}};
  const char* paths[kTasks] = {camera, audio, audio};
  for (size_t i = 0; i < kTasks; ++i) {
    Network* group = i == 2 ? &networks[0] : nullptr;
    if (const takt::Status status = networks[i].Load(paths[i], time.clock(), group, &npu); !status.ok())
      return Fail(paths[i], takt::SiteText(status.site()));
    if (networks[i].plan.costs().empty())
      return Fail(paths[i], "states no costs; convert it with --costs, or --target of an NPU machine");
    if (networks[i].plan.clock_hz() != networks[0].plan.clock_hz())
      return Fail(paths[i], "is for another clock than the camera's plan; convert both for one target");
  }
  std::printf("camera and vibration share an arena of %u bytes, which saves %u\n", networks[0].plan.arena(0).bytes,
              networks[2].plan.arena(0).bytes);
  if (npu.jobs != 0) std::printf("the networks' %d jobs run on one NPU\n", npu.jobs);
  const uint64_t hz = networks[0].plan.clock_hz();
  std::printf("virtual clock of %.0f MHz, 300 images; the camera's longest step takes %.3f ms\n",
              static_cast<double>(hz) / 1e6,
              1e3 * static_cast<double>(takt::LongestStep(networks[0].plan)) / static_cast<double>(hz));
  const uint32_t misses =
      Simulate(networks, sources, time.clock(), hz, 300 / camera_hz, [&](takt::Turn turn, uint64_t next) {
        if (turn.activity == takt::Activity::kIdle) time.AdvanceTo(next);
        if (turn.activity != takt::Activity::kRan) return;  // Polling a job moves the clock by itself.
        const takt::Plan& plan = networks[turn.task].plan;
        const takt::Op op = plan.step(turn.step).op;
        if (op != takt::Op::kSubmit && op != takt::Op::kWait) time.AdvanceTo(time.now() + plan.costs()[turn.step]);
      });
  std::printf("this host's clock, 1 s (advisory)\n");
  (void)Simulate(networks, sources, takt::posix::MonotonicClock(), 1000000000, 1, [](takt::Turn, uint64_t) {});
  return misses == 0 ? 0 : 1;
}

/// A number from 0.1 to 100000, and nothing behind it.
bool ReadRate(const char* text, double& hz) {
  const char* end = text + std::strlen(text);
  const std::from_chars_result read = std::from_chars(text, end, hz);
  return read.ec == std::errc() && read.ptr == end && hz >= 0.1 && hz <= 1e5;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "two_models CAMERA_PLAN AUDIO_PLAN [CAMERA_HZ AUDIO_HZ]\n");
    return 2;
  }
  double rates[2] = {30, 50};
  for (int i = 3; i < argc; ++i)
    if (!ReadRate(argv[i], rates[i - 3])) return Fail(argv[i], "is no rate; give runs per second, from 0.1 to 100000");
  return Run(argv[1], argv[2], rates[0], rates[1]);
}
