#include "tests/support/heap_trap.h"

#include <atomic>
#include <cstddef>

namespace {
std::atomic<bool> armed;
std::atomic<int> calls;
}  // namespace

#ifndef TAKT_SANITIZED
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
#endif  // TAKT_SANITIZED

namespace takt::test {

bool HeapTrapWorks() {
#ifdef TAKT_SANITIZED
  return false;
#else
  return true;
#endif
}
void ArmHeapTrap() {
  calls = 0;
  armed = true;
}
int DisarmHeapTrap() {
  armed = false;
  return calls;
}

}  // namespace takt::test
