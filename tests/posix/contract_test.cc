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

#include "tests/support/sample_net.h"

namespace takt {
namespace {

/// A sample after its first run.
struct Net : test::SampleNet {
  explicit Net(const test::SampleCase& sample) : SampleNet(sample) {
    EXPECT_EQ(Bind(), Status());
    EXPECT_EQ(net().Invoke(), Status());
  }

  /// Runs with a deadline, and step by step.
  bool Run() {
    bool ok = true;
    for (int i = 0; i < 20; ++i) {
      ok = ok && net().Invoke(kNoDeadline - 1).ok() && net().Begin().ok();
      for (Progress p = Progress::kMore; ok && (p == Progress::kMore || p == Progress::kWaiting);) p = net().Step(1);
      ok = ok && net().status().ok();
    }
    return ok;
  }
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

class ContractTest : public testing::TestWithParam<test::SampleCase> {};
INSTANTIATE_TEST_SUITE_P(Ports, ContractTest, testing::ValuesIn(test::SampleCases()),
                         [](const auto& sample) { return sample.param.name; });

TEST_P(ContractTest, InvokeMakesNoSystemCall) {
  Net n(GetParam());
  const int status = WithoutSystemCalls([&] { return n.Run(); });
  ASSERT_TRUE(WIFEXITED(status)) << "killed by signal " << WTERMSIG(status) << ": it made a system call";
  if (WEXITSTATUS(status) == kNoFilter) GTEST_SKIP() << "this kernel has no seccomp filters";
  EXPECT_EQ(WEXITSTATUS(status), kRan);
}

TEST(ContractProofTest, TheFilterSeesSystemCalls) {
  const int status = WithoutSystemCalls([] { return getppid() > 0; });
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoFilter) GTEST_SKIP() << "this kernel has no seccomp filters";
  EXPECT_TRUE(WIFSIGNALED(status));
}

int64_t MinorFaults() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

TEST_P(ContractTest, InvokeFaultsNoPageAfterTheFirstRun) {
  Net n(GetParam());
  (void)MinorFaults();
  const int64_t before = MinorFaults();
  EXPECT_TRUE(n.Run());
  EXPECT_EQ(MinorFaults(), before);
}

TEST(ContractProofTest, FaultsAreSeen) {
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
