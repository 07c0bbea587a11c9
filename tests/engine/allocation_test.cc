// The allocation trap: from the start of Open to the end of Invoke, nobody calls the heap (promise P3).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include "converter/backend/convert.h"
#include "engine/core/interpreter.h"
#include "tests/support/ports.h"

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

class AllocationTest : public testing::TestWithParam<test::KernelPort> {};
INSTANTIATE_TEST_SUITE_P(Ports, AllocationTest, testing::ValuesIn(test::KernelPorts()),
                         [](const auto& port) { return std::string(port.param.name); });

TEST_P(AllocationTest, NoneFromOpenToTheEndOfInvoke) {
  std::ifstream file(std::filesystem::path(TAKT_SAMPLES_DIR) / "fashion/fashion.tflite", std::ios::binary);
  const std::vector<uint8_t> model{std::istreambuf_iterator<char>(file), {}};
  const Conversion made = ConvertTflite(model, "fashion", {});
  ASSERT_FALSE(made.plan.empty());
  struct alignas(64) Memory {
    std::byte plan[1 << 18], activation[1 << 18], runtime[1 << 20], input[1 << 12];
  };
  const auto memory = std::make_unique<Memory>();
  ASSERT_LE(made.plan.size(), sizeof(memory->plan));
  std::memcpy(memory->plan, made.plan.data(), made.plan.size());
  const std::span<const std::byte> bytes = std::span(memory->plan).first(made.plan.size());
  const std::span<std::byte> arenas[] = {memory->activation};
  const KernelTable kernels = GetParam().kernels;
  Status opened, bound, ran, rebound, ran_again;
  EXPECT_EQ(CallsDuring([&] {
              Plan plan;
              opened = plan.Open(bytes);
              Requirements need;
              (void)ComputeRequirements(plan, kernels, need);
              Interpreter net;
              bound = net.Init(
                  plan,
                  {.arenas = arenas, .runtime = memory->runtime, .kernels = kernels, .devices = {}, .platform = {}});
              ran = net.Invoke();
              rebound = net.RebindInput(0, memory->input);
              ran_again = net.Invoke();
            }),
            0);
  for (const Status status : {opened, bound, ran, rebound, ran_again}) EXPECT_EQ(status, Status());
}

}  // namespace
}  // namespace takt
