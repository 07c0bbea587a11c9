#include "ports/posix/realtime.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

namespace takt::posix {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kMaxStack = size_t{1} << 20;

/// Touches the stack below the caller's frame.
[[gnu::noinline]] void PrefaultStack(size_t bytes) {
  std::byte stack[kMaxStack];
  volatile std::byte* touched = stack;
  bytes = bytes < kMaxStack ? bytes : kMaxStack;
  for (size_t i = 0; i < bytes; i += kPage) touched[kMaxStack - 1 - i] = std::byte{0};
}

int Pin(int cpu) {
  if (cpu >= CPU_SETSIZE) return EINVAL;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  return pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

}  // namespace

RealtimeResult EnterRealtime(const RealtimeOptions& options) {
  RealtimeResult result;
  if (options.lock_memory && mlockall(MCL_CURRENT | MCL_FUTURE) != 0) result.lock = errno;
  if (options.cpu >= 0) result.cpu = Pin(options.cpu);
  if (options.priority > 0) {
    const sched_param wanted = {.sched_priority = options.priority};
    result.priority = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
  }
  PrefaultStack(options.stack_bytes);
  return result;
}

void Prefault(std::span<std::byte> bytes) {
  volatile std::byte* data = bytes.data();
  for (size_t i = 0; i < bytes.size(); i += kPage) data[i] = data[i];
  if (!bytes.empty()) data[bytes.size() - 1] = data[bytes.size() - 1];
}

Clock MonotonicClock() {
  return {[](void*) {
            timespec now = {};
            clock_gettime(CLOCK_MONOTONIC, &now);
            return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
          },
          nullptr};
}

int MappedFile::Map(const char* path) {
  Unmap();
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno;
  struct stat info = {};
  int error = fstat(fd, &info) != 0 ? errno : 0;
  if (error == 0 && (!S_ISREG(info.st_mode) || info.st_size <= 0)) error = EINVAL;
  const auto size = static_cast<size_t>(info.st_size);
  void* data = error == 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0) : MAP_FAILED;
  if (error == 0 && data == MAP_FAILED) error = errno;
  close(fd);
  if (error == 0) bytes_ = {static_cast<const std::byte*>(data), size};
  return error;
}

void MappedFile::Unmap() {
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
  bytes_ = {};
}

}  // namespace takt::posix
