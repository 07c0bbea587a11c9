// The allocation trap: from the start of Open to the end of Invoke, nobody calls the heap (promise P3).
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "converter/backend/convert.h"
#include "engine/core/interpreter.h"
#include "ports/reference/kernels.h"

// glibc's own entry points, behind the names that this program takes over.
extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);
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

TEST(AllocationTest, TheTrapSees) {
  int* volatile made = nullptr;
  EXPECT_EQ(CallsDuring([&] { made = new int; }), 1);
  EXPECT_EQ(CallsDuring([&] { delete made; }), 1);
}

TEST(AllocationTest, NoneFromOpenToTheEndOfInvoke) {
  std::ifstream file(std::filesystem::path(TAKT_SAMPLES_DIR) / "fashion/fashion.tflite", std::ios::binary);
  const std::vector<uint8_t> model{std::istreambuf_iterator<char>(file), {}};
  const Conversion made = ConvertTflite(model, "fashion", {});
  ASSERT_FALSE(made.plan.empty());
  struct alignas(64) Memory {
    std::byte plan[1 << 18], activation[1 << 18], runtime[1 << 14];
  };
  const auto memory = std::make_unique<Memory>();
  ASSERT_LE(made.plan.size(), sizeof(memory->plan));
  std::memcpy(memory->plan, made.plan.data(), made.plan.size());
  const std::span<const std::byte> bytes = std::span(memory->plan).first(made.plan.size());
  const std::span<std::byte> arenas[] = {memory->activation};
  Status opened, bound, ran;
  EXPECT_EQ(CallsDuring([&] {
              Plan plan;
              opened = plan.Open(bytes);
              Requirements need;
              (void)ComputeRequirements(plan, reference::AllKernels(), need);
              Interpreter net;
              bound = net.Init(plan, {.arenas = arenas,
                                      .runtime = memory->runtime,
                                      .kernels = reference::AllKernels(),
                                      .devices = {},
                                      .platform = {}});
              ran = net.Invoke();
            }),
            0);
  EXPECT_EQ(opened, Status());
  EXPECT_EQ(bound, Status());
  EXPECT_EQ(ran, Status());
}

}  // namespace
}  // namespace takt
