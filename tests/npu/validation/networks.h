// Networks given by the shapes of their layers, for references that publish no model file.
#ifndef TAKT_TESTS_NPU_VALIDATION_NETWORKS_H_
#define TAKT_TESTS_NPU_VALIDATION_NETWORKS_H_

#include <vector>

#include "converter/npu/layer.h"

namespace takt::npu::validation {

struct Network {
  ir::Graph graph;  ///< Holds the weights (zeros).
  std::vector<Layer> layers;
};

/// 224 x 224, stride in the 3x3 convolutions (v1.5), residual additions as layers of their own; `average`: the last
/// pool.
Network ResNet50(bool average = true);

/// Cycles of the layers in one job, each stored to memory and loaded by the next.
uint64_t Cycles(const Machine& machine, const Network& network);

/// A preset with changes; throws if it is none.
Machine Preset(const std::string& name, const std::vector<std::string>& overrides = {});

}  // namespace takt::npu::validation

#endif  // TAKT_TESTS_NPU_VALIDATION_NETWORKS_H_
