// What Invoke never does (ports/posix/README.md): no system call, no page fault after the first run. That it never
// calls the heap is allocation_test's; that nothing could take a lock is check.symbols'.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <memory>

#include "engine/core/interpreter.h"
#include "ports/posix/realtime.h"
#include "ports/reference/kernels.h"

namespace takt {
namespace {

/// fashion.takt, mapped, with a clock and a trace, after its first run.
struct Net {
  struct alignas(64) Memory {
    std::byte activation[1 << 18], runtime[1 << 14];
  };

  Net() {
    EXPECT_EQ(file.Map(TAKT_FASHION_PLAN), 0);
    EXPECT_EQ(plan.Open(file.bytes()), Status());
    posix::Prefault(memory->activation);
    posix::Prefault(memory->runtime);
    EXPECT_EQ(net.Init(plan, {.arenas = arenas,
                              .runtime = memory->runtime,
                              .kernels = reference::AllKernels(),
                              .devices = {},
                              .platform = {.clock = posix::MonotonicClock()},
                              .trace = &trace}),
              Status());
    EXPECT_EQ(net.Invoke(), Status());
  }

  /// Runs with a deadline, and step by step.
  bool Run() {
    bool ok = true;
    for (int i = 0; i < 20; ++i) {
      ok = ok && net.Invoke(kNoDeadline - 1).ok() && net.Begin().ok();
      while (ok && net.Step(1) == Progress::kMore) {
      }
      ok = ok && net.status().ok();
    }
    return ok;
  }

  posix::MappedFile file;
  Plan plan;
  std::unique_ptr<Memory> memory = std::make_unique<Memory>();
  std::span<std::byte> arenas[1] = {memory->activation};
  TraceEvent events[64];
  Trace trace{events};
  Interpreter net;
};

/// From here on, any system call but the process's exit kills it.
bool ForbidSystemCalls() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program = {.len = sizeof(filter) / sizeof(*filter), .filter = filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

enum Exit : int { kRan = 0, kRunFailed = 1, kNoFilter = 2 };

/// How a child process ends that does `work` without system calls.
template <typename F>
int WithoutSystemCalls(F work) {
  const pid_t child = fork();
  if (child == 0) {
    if (!ForbidSystemCalls()) _exit(kNoFilter);
    _exit(work() ? kRan : kRunFailed);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(ContractTest, InvokeMakesNoSystemCall) {
  Net n;
  const int status = WithoutSystemCalls([&] { return n.Run(); });
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status) << ": it made a system call";
  if (WEXITSTATUS(status) == kNoFilter) GTEST_SKIP() << "this kernel has no seccomp filters";
  EXPECT_EQ(WEXITSTATUS(status), kRan);
}

TEST(ContractTest, TheFilterSeesSystemCalls) {
  const int status = WithoutSystemCalls([] { return getppid() > 0; });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoFilter) GTEST_SKIP() << "this kernel has no seccomp filters";
  EXPECT_TRUE(WIFSIGNALED(status));
}

int64_t MinorFaults() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST(ContractTest, InvokeFaultsNoPageAfterTheFirstRun) {
  Net n;
  (void)MinorFaults();
  const int64_t before = MinorFaults();
  EXPECT_TRUE(n.Run());
  EXPECT_EQ(MinorFaults(), before);
}

TEST(ContractTest, FaultsAreSeen) {
  const auto fresh = std::make_unique_for_overwrite<std::byte[]>(size_t{64} << 20);
  const int64_t before = MinorFaults();
  posix::Prefault({fresh.get(), size_t{64} << 20});
  EXPECT_GT(MinorFaults(), before);
}

TEST(RealtimeTest, SaysWhatItCouldNotDo) {
  EXPECT_TRUE(posix::EnterRealtime({.lock_memory = false, .stack_bytes = 4096}).ok());
  EXPECT_NE(posix::EnterRealtime({.lock_memory = false, .cpu = 1 << 20}).cpu, 0);
  EXPECT_NE(posix::EnterRealtime({.lock_memory = false, .priority = 1000}).priority, 0);
  const posix::RealtimeResult result = posix::EnterRealtime({.lock_memory = false, .cpu = sched_getcpu()});
  EXPECT_EQ(result.cpu, 0);
}

TEST(RealtimeTest, TheClockIsMonotonic) {
  const Clock clock = posix::MonotonicClock();
  uint64_t last = clock.Now();
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = clock.Now();
    EXPECT_GE(now, last);
    last = now;
  }
  EXPECT_GT(last, 0u);
}

TEST(RealtimeTest, MapRefusesWhatIsNoFile) {
  posix::MappedFile file;
  EXPECT_EQ(file.Map("/nowhere/plan.takt"), ENOENT);
  EXPECT_EQ(file.Map("/dev/null"), EINVAL);
  EXPECT_EQ(file.Map("/"), EINVAL);
  EXPECT_TRUE(file.bytes().empty());
}

}  // namespace
}  // namespace takt
