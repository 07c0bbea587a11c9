/* C API: one plan and its interpreter in storage of the caller. No heap. One thread at a time, except takt_cancel. */
#ifndef TAKT_ENGINE_C_TAKT_H_
#define TAKT_ENGINE_C_TAKT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The bits of takt::Status: code | site << 8 | step << 16 | detail << 32. 0 is success. */
typedef uint64_t takt_status;

/** Opaque; initialise with takt_open. Not copyable once open. */
typedef struct takt_net {
  uint64_t storage[192];
} takt_net;

typedef struct takt_span {
  void* data;
  size_t bytes;
} takt_span;

/** Checks a plan (16-aligned, kept by the caller); `check_hash` compares its SHA-256. */
takt_status takt_open(takt_net* net, const void* plan, size_t bytes, int check_hash);
/** Binds. `kernels`: `const takt::Kernel*` rows as a port's C++ header defines them; `arenas` in the plan's order, then
    the runtime arena, 64-aligned. `arena_count` includes the runtime arena. */
takt_status takt_init(takt_net* net, const takt_span* arenas, size_t arena_count, const void* const* kernels, size_t kernel_count);
/** Bytes of arena `i` of the plan, or of the runtime arena if `i` is the number of arenas. */
takt_status takt_arena_bytes(takt_net* net, const void* const* kernels, size_t kernel_count, size_t i, size_t* bytes);
takt_status takt_invoke(takt_net* net);
/** Async-signal-safe. */
void takt_cancel(takt_net* net);
/** Memory of input or output `i`; {NULL, 0} if there is none. Valid after takt_init. */
takt_span takt_input(takt_net* net, size_t i);
takt_span takt_output(takt_net* net, size_t i);

#ifdef __cplusplus
}
#endif

#endif /* TAKT_ENGINE_C_TAKT_H_ */
