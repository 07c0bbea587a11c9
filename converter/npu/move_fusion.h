// Copies that vanish: whoever makes or reads their bytes does so where they belong.
#ifndef TAKT_CONVERTER_NPU_MOVE_FUSION_H_
#define TAKT_CONVERTER_NPU_MOVE_FUSION_H_

#include <vector>

#include "converter/npu/compiler.h"

namespace takt::npu {

/// Of a job's layers: one whose result is only copied into a part of a wider tensor (a concatenation) stores it there,
/// and those that read nothing but a copy of such a part (a slice) load it from there; a convolution
/// that reads few channels once loads them from an image whose channels lie apart. The move has no tiles then.
void FuseMoves(const ir::Graph& graph, const std::vector<backend::StepSpec>& steps, std::vector<CompiledLayer>& layers);

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_MOVE_FUSION_H_
