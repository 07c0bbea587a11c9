/* The C API from C: the header is C99, a plan runs, wrong calls give statuses. Linked with c_api_plan.cc. */
#include <stdio.h>
#include <string.h>

#include "engine/c/takt.h"
#include "tests/engine/c_api_plan.h"

static int failures = 0;
#define EXPECT(condition)                                    \
  do {                                                       \
    if (!(condition)) {                                      \
      printf("%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                            \
    }                                                        \
  } while (0)

static uint64_t now(void* ticks) {
  return *(const uint64_t*)ticks;
}

/* 64-aligned memory without C11. */
static void* aligned(unsigned char* storage) {
  return storage + (64 - (size_t)storage % 64) % 64;
}

static unsigned char activation[1024], runtime[2048];

/* c_api_signed_plan's scheme; `key` is the byte that is trusted. */
static int verify(void* key, const uint8_t* key_id, const uint8_t* message, size_t message_bytes,
                  const uint8_t* signature) {
  const uint8_t trusted = *(const uint8_t*)key;
  size_t i;
  if (message_bytes != 12 + 24 + 32 || key_id[0] != trusted) return 0;
  for (i = 0; i < 64; ++i) {
    if (signature[i] != (message[i] ^ trusted)) return 0;
  }
  return 1;
}

static void signatures(takt_net* net) {
  uint8_t key = 0x5A;
  takt_open_options options;
  takt_plan_bytes plan = c_api_plan();
  memset(&options, 0, sizeof(options));
  options.verify = verify;
  options.key = &key;
  EXPECT(takt_code(takt_open(net, plan.data, plan.bytes, &options)) == TAKT_SIGNATURE_MISMATCH);
  plan = c_api_signed_plan(key);
  EXPECT(takt_open(net, plan.data, plan.bytes, &options) == 0);
  options.skip_hash = 1;
  EXPECT(takt_code(takt_open(net, plan.data, plan.bytes, &options)) == TAKT_INVALID_ARGUMENT);
  options.skip_hash = 0;
  key = 0x5B;
  EXPECT(takt_code(takt_open(net, plan.data, plan.bytes, &options)) == TAKT_SIGNATURE_MISMATCH);
  EXPECT(takt_code(takt_invoke(net, TAKT_NO_DEADLINE)) == TAKT_INVALID_STATE);
}

static void wrong_calls(takt_net* net, const takt_plan_bytes* plan, const takt_span* arenas) {
  size_t bytes = 0;
  EXPECT(takt_code(takt_open(NULL, plan->data, plan->bytes, NULL)) == TAKT_INVALID_ARGUMENT);
  EXPECT(takt_code(takt_open(net, NULL, 0, NULL)) == TAKT_MALFORMED_PLAN);
  EXPECT(takt_code(takt_init(net, arenas, 2, c_api_kernels(), c_api_kernel_count(), NULL)) == TAKT_INVALID_STATE);
  EXPECT(takt_code(takt_invoke(net, TAKT_NO_DEADLINE)) == TAKT_INVALID_STATE);
  EXPECT(takt_open(net, plan->data, plan->bytes, NULL) == 0);
  EXPECT(takt_code(takt_arena_bytes(net, NULL, 0, 0, &bytes)) == TAKT_NO_KERNEL);
  EXPECT(takt_code(takt_arena_bytes(net, c_api_kernels(), c_api_kernel_count(), 2, &bytes)) == TAKT_INVALID_ARGUMENT);
  EXPECT(takt_code(takt_arena_bytes(net, c_api_kernels(), c_api_kernel_count(), 0, NULL)) == TAKT_INVALID_ARGUMENT);
  EXPECT(takt_code(takt_init(net, NULL, 2, c_api_kernels(), c_api_kernel_count(), NULL)) == TAKT_INVALID_ARGUMENT);
  EXPECT(takt_code(takt_init(net, arenas, 1, c_api_kernels(), c_api_kernel_count(), NULL)) == TAKT_INVALID_ARGUMENT);
  EXPECT(takt_input(net, 0).data == NULL);
  EXPECT(takt_code(takt_invoke(net, TAKT_NO_DEADLINE)) == TAKT_INVALID_STATE);
}

int main(void) {
  takt_net net;
  takt_span arenas[2];
  takt_span input, output;
  takt_step_result step = TAKT_MORE;
  uint64_t ticks = 5;
  takt_clock clock;
  size_t bytes = 0;
  int steps = 0;
  const takt_plan_bytes plan = c_api_plan();

  arenas[0].data = aligned(activation);
  arenas[1].data = aligned(runtime);
  EXPECT(takt_open(&net, plan.data, plan.bytes, NULL) == 0);
  EXPECT(takt_arena_bytes(&net, c_api_kernels(), c_api_kernel_count(), 0, &bytes) == 0);
  arenas[0].bytes = bytes;
  EXPECT(takt_arena_bytes(&net, c_api_kernels(), c_api_kernel_count(), 1, &bytes) == 0);
  arenas[1].bytes = bytes - 1;
  signatures(&net);
  memset(&net, 0, sizeof(net));
  wrong_calls(&net, &plan, arenas);
  EXPECT(takt_code(takt_init(&net, arenas, 2, c_api_kernels(), c_api_kernel_count(), NULL)) == TAKT_ARENA_TOO_SMALL);
  EXPECT(takt_detail(takt_init(&net, arenas, 2, c_api_kernels(), c_api_kernel_count(), NULL)) == bytes);
  arenas[1].bytes = bytes;
  clock.now = now;
  clock.context = &ticks;
  EXPECT(takt_init(&net, arenas, 2, c_api_kernels(), c_api_kernel_count(), &clock) == 0);

  input = takt_input(&net, 0);
  output = takt_output(&net, 0);
  EXPECT(input.bytes == 32 && output.bytes == 18);
  EXPECT(takt_input(&net, 1).data == NULL && takt_output(&net, 1).data == NULL);
  memset(input.data, 1, input.bytes);
  EXPECT(takt_invoke(&net, TAKT_NO_DEADLINE) == 0);
  EXPECT(takt_code(takt_invoke(&net, 5)) == TAKT_DEADLINE_EXCEEDED);
  takt_cancel(&net);
  EXPECT(takt_code(takt_invoke(&net, TAKT_NO_DEADLINE)) == TAKT_CANCELLED);
  EXPECT(takt_begin(&net) == 0);
  while (step == TAKT_MORE && steps < 100) {
    step = takt_step(&net, 1, NULL);
    ++steps;
  }
  EXPECT(step == TAKT_DONE && steps == 8);
  return failures != 0;
}
