// Two networks on one core: an image every 1/30 s, and every 1/50 s audio features that must not wait for it.
//
//   two_models CAMERA_PLAN AUDIO_PLAN [CAMERA_HZ AUDIO_HZ]      plans with step costs (--costs, or --target of an NPU
//   machine)
//
// First on a virtual clock, where each step takes exactly what its plan says; exit code 1 if a deadline is missed
// there. Then a second on this host's clock, where misses only inform.
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "engine/core/scheduler.h"
#include "samples/network.h"

namespace {

using samples::Network;

/// Where a camera or a microphone would put its data.
void SetInput(void*, takt::Interpreter& net) {
  std::ranges::fill(net.input(0).bytes, std::byte{0});
}

struct Source {
  const char* name;
  double hz;
  uint64_t period = 0, due = 0;
};
constexpr int kAudio = 1;  // The camera comes first.

/// Releases what is due; the time of the next release.
uint64_t ReleaseDue(takt::Scheduler& scheduler, std::span<Source, 2> sources, uint64_t now) {
  for (uint32_t i = 0; i < 2; ++i) {
    for (; sources[i].due <= now; sources[i].due += sources[i].period) scheduler.ReleaseAt(i, sources[i].due);
  }
  return std::min(sources[0].due, sources[1].due);
}

/// Deadline = period; audio is the more urgent. Returns the misses, releases without a run included.
template <typename Advance>
uint32_t Simulate(std::span<Network, 2> networks, std::span<Source, 2> sources, takt::Clock clock, uint64_t ticks_per_s,
                  double seconds, Advance advance) {
  takt::Task tasks[2];
  const uint64_t start = clock.Now(), end = start + static_cast<uint64_t>(seconds * static_cast<double>(ticks_per_s));
  for (int i = 0; i < 2; ++i) {
    sources[i].period = static_cast<uint64_t>(static_cast<double>(ticks_per_s) / sources[i].hz);
    sources[i].due = start;
    tasks[i].net = &networks[i].net;
    tasks[i].priority = i == kAudio ? 2 : 1;
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
  for (int i = 0; i < 2; ++i) {
    const takt::TaskStats& s = tasks[i].stats;
    std::printf(
        "  %-6s %5.0f Hz: %5u runs, %u missed, %u without a run, preempted %u times, worst response %.3f of %.3f ms\n",
        sources[i].name, sources[i].hz, s.completed, s.missed, s.overrun, s.preempted,
        1e3 * static_cast<double>(s.worst_response) / static_cast<double>(ticks_per_s), 1e3 / sources[i].hz);
    misses += s.missed + s.overrun + s.failed;
  }
  return misses;
}

/// A clock that stands still but for what the steps cost.
struct VirtualClock {
  uint64_t ticks = 0;
  takt::Clock clock() {
    return {[](void* self) { return static_cast<VirtualClock*>(self)->ticks; }, this};
  }
};

int Run(char** argv, double camera_hz, double audio_hz) {
  VirtualClock time;
  Network networks[2];
  Source sources[2] = {{"camera", camera_hz}, {"audio", audio_hz}};
  for (int i = 0; i < 2; ++i) {
    if (const takt::Status status = networks[i].Load(argv[1 + i], time.clock()); !status.ok()) {
      std::fprintf(stderr, "%s: %s\n", argv[1 + i], takt::SiteText(status.site()));
      return 2;
    }
    if (networks[i].plan.costs().empty()) {
      std::fprintf(stderr, "%s: states no costs; convert it with --costs, or --target of an NPU machine\n",
                   argv[1 + i]);
      return 2;
    }
  }
  const uint64_t hz = networks[0].plan.clock_hz();
  std::printf("virtual clock of %.0f MHz, 300 images; the camera's longest step takes %.3f ms\n",
              static_cast<double>(hz) / 1e6,
              1e3 * static_cast<double>(takt::LongestStep(networks[0].plan)) / static_cast<double>(hz));
  const uint32_t misses =
      Simulate(networks, sources, time.clock(), hz, 300 / camera_hz, [&](takt::Turn turn, uint64_t next) {
        if (turn.activity == takt::Activity::kRan) {
          time.ticks += networks[turn.task].plan.costs()[turn.step];
        } else {
          time.ticks = next;
        }
      });
  std::printf("this host's clock, 1 s (advisory)\n");
  (void)Simulate(networks, sources, takt::posix::MonotonicClock(), 1000000000, 1, [](takt::Turn, uint64_t) {});
  return misses == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "two_models CAMERA_PLAN AUDIO_PLAN [CAMERA_HZ AUDIO_HZ]\n");
    return 2;
  }
  const double camera_hz = argc == 5 ? std::atof(argv[3]) : 30, audio_hz = argc == 5 ? std::atof(argv[4]) : 50;
  return Run(argv, std::max(camera_hz, 0.1), std::max(audio_hz, 0.1));
}
