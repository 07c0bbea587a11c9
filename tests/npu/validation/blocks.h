// Arm's Vela estimates a layer as whole blocks of outputs. Which blocks it takes is published with its source
// (ethos-u-vela, architecture_allocator); what one costs is for this project's array to say.
#ifndef TAKT_TESTS_NPU_VALIDATION_BLOCKS_H_
#define TAKT_TESTS_NPU_VALIDATION_BLOCKS_H_

#include "converter/npu/layer.h"

namespace takt::npu::validation {

/// Outputs that a ublock machine computes at once.
struct Block {
  uint32_t height = 0, width = 0, depth = 0;
};

/// The block that fetches fewest bytes per output, of those that fit the shared RAM; depth 0: none does.
Block ChooseBlock(const Machine& machine, const Layer& layer);

/// Cycles of a convolution in blocks that all cost as a whole one: the slower of array and output stage, and one block
/// of the other to fill the pipeline. Memory never waits.
double WholeBlockCycles(const Machine& machine, const Layer& layer, const Block& block);

}  // namespace takt::npu::validation

#endif  // TAKT_TESTS_NPU_VALIDATION_BLOCKS_H_
