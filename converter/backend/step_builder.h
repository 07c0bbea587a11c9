// From a node to a plan step: operands in the plan's order, params struct, constants that the step needs.
#ifndef TAKT_CONVERTER_BACKEND_STEP_BUILDER_H_
#define TAKT_CONVERTER_BACKEND_STEP_BUILDER_H_

#include <cstring>
#include <string>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"
#include "engine/core/kernel.h"

namespace takt::backend {

/// A step before it is written: the union tag is `op`, `params` the bytes of its struct.
struct StepSpec {
  Op op = Op::kNone;
  Numerics numerics = Numerics::kAny;
  std::vector<uint8_t> params;
  std::vector<ir::TensorId> inputs;
  std::vector<ir::TensorId> outputs;
  ir::TensorId scratch = ir::kNoTensor;  ///< Bytes that the kernel wants during the step (AddScratch).
  int node = -1;                         ///< Index in the graph.
};

/// Steps behind a control step that it skips or repeats; 0 for other steps.
uint32_t ScopeLength(const StepSpec& step);
/// Of a control step.
void SetScopeLength(StepSpec& step, uint32_t length);
/// How often the steps in a control step's scope run at most.
uint32_t MostTrips(const StepSpec& step);

/// What an op's `lower` writes to. New constants become tensors of the graph.
class StepBuilder {
 public:
  StepBuilder(ir::Graph& graph, int node, Numerics numerics, Diagnostics& diagnostics)
      : graph_(graph), numerics_(numerics), diagnostics_(diagnostics) {
    spec_.node = node;
  }

  ir::Graph& graph() { return graph_; }
  const ir::Tensor& tensor(ir::TensorId id) const { return graph_.tensor(id); }
  /// The conversion's numerics for integer steps.
  Numerics numerics() const { return numerics_; }

  /// Sets op, params and operands; `numerics` is that of the step (kAny where rounding does not enter).
  template <typename Params>
  void Set(Op op, Numerics numerics, const Params& params, std::vector<ir::TensorId> inputs,
           std::vector<ir::TensorId> outputs) {
    spec_.op = op;
    spec_.numerics = numerics;
    spec_.params.resize(sizeof(Params));
    std::memcpy(spec_.params.data(), &params, sizeof(Params));
    spec_.inputs = std::move(inputs);
    spec_.outputs = std::move(outputs);
  }

  /// A constant of the step, named after the node.
  template <typename T>
  ir::TensorId Constant(const std::string& suffix, DataType type, std::vector<int32_t> dims,
                        const std::vector<T>& values) {
    ir::Bytes bytes(values.size() * sizeof(T));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return graph_.AddConstant(node().name + "/" + suffix, type, std::move(dims), std::move(bytes));
  }

  const ir::Node& node() const { return graph_.nodes[static_cast<size_t>(spec_.node)]; }
  /// What is wrong, the rule, the remedy; located at the node.
  void Error(std::string message, ir::TensorId tensor = ir::kNoTensor);
  const StepSpec& spec() const { return spec_; }

 private:
  ir::Graph& graph_;
  Numerics numerics_;
  Diagnostics& diagnostics_;
  StepSpec spec_;
};

/// All steps of a graph in its node order; errors go to `diagnostics`.
std::vector<StepSpec> LowerGraph(ir::Graph& graph, Numerics numerics, Diagnostics& diagnostics);
/// Lets states be updated in place where the step that makes their next value allows it and nothing else reads them; a
/// note says how many bytes that saves.
void UpdateStatesInPlace(ir::Graph& graph, const std::vector<StepSpec>& steps, Diagnostics& diagnostics);
/// The plan's last steps: each copies the next value of a state to its place, unless it is there.
std::vector<StepSpec> LowerStates(const ir::Graph& graph);

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_STEP_BUILDER_H_
