/* C API: one plan and its interpreter in storage of the caller. No heap. One thread at a time, except takt_cancel.
   Null where a pointer is needed gives TAKT_INVALID_ARGUMENT; calls out of order give TAKT_INVALID_STATE. */
#ifndef TAKT_ENGINE_C_TAKT_H_
#define TAKT_ENGINE_C_TAKT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The bits of takt::Status: code | site << 8 | step << 16 | detail << 32. 0 is success. */
typedef uint64_t takt_status;

/** takt::StatusCode. */
enum takt_status_code {
  TAKT_OK = 0,
  TAKT_MALFORMED_PLAN,
  TAKT_UNSUPPORTED_VERSION,
  TAKT_HASH_MISMATCH,
  TAKT_SIGNATURE_MISMATCH,
  TAKT_LIMIT_EXCEEDED,
  TAKT_ARENA_TOO_SMALL,
  TAKT_MISALIGNED,
  TAKT_INVALID_ARGUMENT,
  TAKT_INVALID_STATE,
  TAKT_NO_KERNEL,
  TAKT_UNSUPPORTED,
  TAKT_DEADLINE_EXCEEDED,
  TAKT_CANCELLED,
  TAKT_DEVICE_FAULT,
  TAKT_INTERNAL
};

/** Whose fault, which rule (engine/base/sites.inc), where (65535: no step), and how much or which. */
static inline unsigned takt_code(takt_status s) {
  return (unsigned)(s & 0xFF);
}
static inline unsigned takt_site(takt_status s) {
  return (unsigned)(s >> 8 & 0xFF);
}
static inline unsigned takt_step_of(takt_status s) {
  return (unsigned)(s >> 16 & 0xFFFF);
}
static inline uint32_t takt_detail(takt_status s) {
  return (uint32_t)(s >> 32);
}

/** Opaque. Zero it or open it before any other call; not copyable once open. */
typedef struct takt_net {
  uint64_t storage[192];
} takt_net;

typedef struct takt_span {
  void* data;
  size_t bytes;
} takt_span;

/** A row of a port's kernel table (takt::Kernel); ports define them. */
struct takt_kernel;

/** `now` returns ticks, rising. */
typedef struct takt_clock {
  uint64_t (*now)(void* context);
  void* context;
} takt_clock;

/** Whether `signature` (64 bytes, Ed25519 by `takt sign`) of `message` is right and its key trusted; 0: no. `key_id`:
   the first 8 bytes of the public key's SHA-256. `key` is that of the options. */
typedef int (*takt_verify)(void* key, const uint8_t* key_id, const uint8_t* message, size_t message_bytes,
                           const uint8_t* signature);

/** takt::PlanOptions. Zeros are the defaults. */
typedef struct takt_open_options {
  int skip_hash;           /**< Do not compare the file with its SHA-256. */
  int check_constants_crc; /**< Compare each constant with its CRC-32. */
  uint64_t max_work;       /**< Inner iterations of one invocation; 0: the default. */
  takt_verify verify; /**< Not NULL: refuse a plan that is not signed or that it does not accept; wants the hash. */
  void* key;          /**< For `verify`: what it trusts. */
} takt_open_options;

#define TAKT_NO_DEADLINE UINT64_MAX

/** Checks a plan: 16-aligned bytes, kept by the caller. `options` may be NULL. */
takt_status takt_open(takt_net* net, const void* plan, size_t bytes, const takt_open_options* options);
/** Bytes of arena `i` of the plan, or of the runtime arena if `i` is the number of arenas. */
takt_status takt_arena_bytes(takt_net* net, const struct takt_kernel* const* kernels, size_t kernel_count, size_t i,
                             size_t* bytes);
/** Binds. `arenas`: in the plan's order, then the runtime arena, 64-aligned; `arena_count` counts that too. The arenas,
    rows and the clock's context outlive the use of `net`. `clock` may be NULL if there are no deadlines. */
takt_status takt_init(takt_net* net, const takt_span* arenas, size_t arena_count,
                      const struct takt_kernel* const* kernels, size_t kernel_count, const takt_clock* clock);
/** Runs all steps, starting none at or after `deadline` (ticks of the clock). */
takt_status takt_invoke(takt_net* net, uint64_t deadline);
/** Ends the run under way before its next step, or else the next run. Async-signal-safe. */
void takt_cancel(takt_net* net);
/** Gives each state its initial value, between runs. State is saved and restored by copying the state arena. */
takt_status takt_reset_state(takt_net* net);

typedef enum takt_step_result { TAKT_DONE = 0, TAKT_MORE, TAKT_WAITING, TAKT_FAILED } takt_step_result;
/** Step-wise execution: takt_begin, then takt_step until it is neither TAKT_MORE nor TAKT_WAITING. */
takt_status takt_begin(takt_net* net);
/** Runs at most `budget` steps; on TAKT_FAILED, `status` (may be NULL) says why. */
takt_step_result takt_step(takt_net* net, uint32_t budget, takt_status* status);

/** Memory of input or output `i`; {NULL, 0} if there is none. Valid after takt_init. */
takt_span takt_input(takt_net* net, size_t i);
takt_span takt_output(takt_net* net, size_t i);

#ifdef __cplusplus
}
#endif

#endif /* TAKT_ENGINE_C_TAKT_H_ */
