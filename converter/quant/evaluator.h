// Runs a graph with the reference kernels, every tensor in memory of its own so that it can be looked at.
#ifndef TAKT_CONVERTER_QUANT_EVALUATOR_H_
#define TAKT_CONVERTER_QUANT_EVALUATOR_H_

#include <optional>
#include <span>
#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"
#include "engine/core/kernel.h"

namespace takt::quant {

class Evaluator {
 public:
  /// Nothing, and errors, if a step can't be lowered or the reference port has no kernel for it.
  static std::optional<Evaluator> Make(const ir::Graph& graph, Diagnostics& diagnostics);

  /// Computes every tensor; `inputs` in graph order, of the inputs' sizes.
  void Run(const std::vector<ir::Bytes>& inputs);
  /// The value of a dense tensor of the graph given to Make after the last Run; empty for one that no step writes.
  std::span<const uint8_t> value(ir::TensorId id) const;
  /// The same of a float32 tensor.
  std::span<const float> floats(ir::TensorId id) const {
    const std::span<const uint8_t> bytes = value(id);
    return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
  }

 private:
  Evaluator() = default;
  bool Prepare(Diagnostics& diagnostics);
  void* Address(ir::TensorId id);

  ir::Graph graph_;
  std::vector<backend::StepSpec> steps_;
  std::vector<const Kernel*> kernels_;
  std::vector<ir::Bytes> memory_;  ///< By tensor; empty for views and constants.
};

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_EVALUATOR_H_
