/* A plan and kernels for c_api_test.c. */
#ifndef TAKT_TESTS_ENGINE_C_API_PLAN_H_
#define TAKT_TESTS_ENGINE_C_API_PLAN_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct takt_plan_bytes {
  const void* data;
  size_t bytes;
} takt_plan_bytes;

takt_plan_bytes c_api_plan(void);
const struct takt_kernel* const* c_api_kernels(void);
size_t c_api_kernel_count(void);

#ifdef __cplusplus
}
#endif

#endif /* TAKT_TESTS_ENGINE_C_API_PLAN_H_ */
