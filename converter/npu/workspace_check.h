// Proof that a job reads no byte of its workspaces before it has written it.
#ifndef TAKT_CONVERTER_NPU_WORKSPACE_CHECK_H_
#define TAKT_CONVERTER_NPU_WORKSPACE_CHECK_H_

#include <span>

#include "ports/npu_emu/model/micro_op.h"

namespace takt::npu {

/// For a stream that CheckStream passes, so that accesses which conflict happen in the order of its commands.
/// `unwritten[i]`: bytes of base i if nothing is in it when the job starts, otherwise 0. kMalformedPlan at kNpuUnready
/// with the byte offset of the first command that copies from there what no command before it has copied there.
Status CheckWorkspaces(const Stream& stream, std::span<const uint64_t> unwritten);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_WORKSPACE_CHECK_H_
