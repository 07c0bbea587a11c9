// Host kernels by XNNPACK: the rows whose bytes equal the reference port's.
#ifndef TAKT_PORTS_XNNPACK_KERNELS_H_
#define TAKT_PORTS_XNNPACK_KERNELS_H_

#include "engine/core/kernel.h"

struct xnn_allocator;

namespace takt::xnnpack {

/// Once in a process, before threads use the rows; the one call that may use the heap. Steps that XNNPACK can't take
/// run on the row of `others` with their key. From now on XNNPACK takes memory from the runtime arena of the plan that
/// is being initialized; `library_users` serves whoever else in the process calls XNNPACK (nullptr: such calls fail).
/// Both outlive their use. kUnsupported (kInitKernel) if the CPU is too old, kInvalidState if the process has
/// initialized XNNPACK otherwise.
Status Initialize(KernelTable others, const xnn_allocator* library_users = nullptr);

/// Every row; none before Initialize. List them before `others`, which has the rest.
KernelTable Kernels();

/// Why a step runs on its row of `others`; nullptr: XNNPACK runs it. A string for people.
const char* Refusal(const KernelKey& key, const KernelCall& call);

}  // namespace takt::xnnpack

#endif  // TAKT_PORTS_XNNPACK_KERNELS_H_
