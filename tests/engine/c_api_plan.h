/* A plan and kernels for c_api_test.c. */
#ifndef TAKT_TESTS_ENGINE_C_API_PLAN_H_
#define TAKT_TESTS_ENGINE_C_API_PLAN_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_plan_bytes {
  const void* data;
  size_t bytes;
} takt_plan_bytes;

takt_plan_bytes c_api_plan(void);
/* Signed, so to speak: the signature is the start of the message, each byte XOR `key`; the key's id is 8 times `key`.
 */
takt_plan_bytes c_api_signed_plan(uint8_t key);
const struct takt_kernel* const* c_api_kernels(void);
size_t c_api_kernel_count(void);

#ifdef __cplusplus
}
#endif

#endif /* TAKT_TESTS_ENGINE_C_API_PLAN_H_ */
