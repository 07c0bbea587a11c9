// The allocation trap: from the start of Open to the end of Invoke, nobody calls the heap (promise P3).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "tests/support/sample_net.h"

// glibc's own entry points, behind the names that this program takes over.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): the names are glibc's.
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
// NOLINTEND(bugprone-reserved-identifier)
}

namespace {
std::atomic<bool> armed;
std::atomic<int> calls;
void Count() {
  calls += armed;
}
}  // namespace

// operator new and delete of libstdc++ end here.
extern "C" {
void* malloc(size_t n) {
  return Count(), __libc_malloc(n);
}
void* calloc(size_t n, size_t m) {
  return Count(), __libc_calloc(n, m);
}
void* realloc(void* p, size_t n) {
  return Count(), __libc_realloc(p, n);
}
void* aligned_alloc(size_t a, size_t n) {
  return Count(), __libc_memalign(a, n);
}
void* memalign(size_t a, size_t n) {
  return Count(), __libc_memalign(a, n);
}
int posix_memalign(void** p, size_t a, size_t n) {
  return Count(), *p = __libc_memalign(a, n), *p == nullptr;
}
void free(void* p) {
  Count(), __libc_free(p);
}
}

namespace takt {
namespace {

int CallsDuring(const auto& work) {
  calls = 0;
  armed = true;
  work();
  armed = false;
  return calls;
}

TEST(AllocationTrap, Sees) {
  int* volatile made = nullptr;
  EXPECT_EQ(CallsDuring([&] { made = new int; }), 1);
  EXPECT_EQ(CallsDuring([&] { delete made; }), 1);
}

class AllocationTest : public testing::TestWithParam<test::SampleCase> {};
INSTANTIATE_TEST_SUITE_P(Ports, AllocationTest, testing::ValuesIn(test::SampleCases()),
                         [](const auto& sample) { return sample.param.name; });

TEST_P(AllocationTest, NoneFromOpenToTheEndOfInvoke) {
  test::SampleNet sample(GetParam());
  test::AlignedBytes input(size_t{1} << 12);
  Status bound, ran, rebound, ran_again;
  EXPECT_EQ(CallsDuring([&] {
              bound = sample.Bind();
              ran = sample.net().Invoke();
              rebound = sample.net().RebindInput(0, input.span());
              ran_again = sample.net().Invoke();
            }),
            0);
  for (const Status status : {bound, ran, ran_again}) EXPECT_EQ(status, Status());
  const bool may_move = sample.net().plan().job_count() == 0;
  EXPECT_EQ(rebound.ok(), may_move);
}

}  // namespace
}  // namespace takt
