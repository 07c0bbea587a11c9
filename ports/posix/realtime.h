// What a real-time thread does once, before its first Invoke: memory that does not fault, a core and a priority of its
// own.
#ifndef TAKT_PORTS_POSIX_REALTIME_H_
#define TAKT_PORTS_POSIX_REALTIME_H_

#include <cstddef>
#include <span>

#include "engine/hal/platform.h"

namespace takt::posix {

struct RealtimeOptions {
  bool lock_memory = true;                ///< No page of this process, of now or later, leaves memory (mlockall).
  int cpu = -1;                           ///< The only core that this thread runs on; -1: any.
  int priority = 0;                       ///< Of SCHED_FIFO, 1 to 99; 0: the scheduling stays.
  size_t stack_bytes = size_t{64} << 10;  ///< Of this thread's stack that are touched now; at most 1 MB.
};

/// errno of what was not done; 0: done, or not asked for. EPERM: the process may not (CAP_SYS_NICE, CAP_IPC_LOCK or
/// their rlimits).
struct RealtimeResult {
  int lock = 0, cpu = 0, priority = 0;
  bool ok() const { return lock == 0 && cpu == 0 && priority == 0; }
};

/// Does what it can for the calling thread.
RealtimeResult EnterRealtime(const RealtimeOptions& options);

/// Touches each page, so that none faults later; the contents stay.
void Prefault(std::span<std::byte> bytes);

/// Nanoseconds of CLOCK_MONOTONIC, without a system call where the kernel offers a vDSO.
Clock MonotonicClock();

/// A plan file in memory, read-only and shared with the page cache. Its bytes are page-aligned, as Plan::Open wants.
class MappedFile {
 public:
  MappedFile() = default;
  ~MappedFile() { Unmap(); }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  /// errno, 0 if it is mapped; all pages are read in. The file must not shrink while it is mapped, so replace plans by
  /// renaming. EINVAL: an empty file, or no regular one.
  int Map(const char* path);
  void Unmap();
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace takt::posix

#endif  // TAKT_PORTS_POSIX_REALTIME_H_
