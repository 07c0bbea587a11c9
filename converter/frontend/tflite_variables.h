// Resource variables of a TFLite file (VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, CALL_ONCE) as states, and as values
// that the bodies of IF and WHILE take and give.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_VARIABLES_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_VARIABLES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "converter/frontend/tflite_file.h"
#include "converter/frontend/tflite_importer.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/graph.h"

namespace takt::frontend {

/// What a file does with a variable in the subgraphs that run in an invocation.
struct VariableUse {
  std::optional<ir::Tensor> initial;
  bool assigned = false;  ///< Outside of CALL_ONCE; if not, the variable is a constant.
};
/// By container and name.
using VariableUses = std::map<std::string, VariableUse>;
/// Of subgraph `entry` and all that it calls.
VariableUses FindVariableUses(const TfliteFile& file, int entry, const ImportOptions& options,
                              Diagnostics& diagnostics);

/// The variables of one subgraph. Operators come in the file's order: a variable has the value of the last assignment
/// before, or that of the invocation before.
class TfliteVariables {
 public:
  /// Finds the subgraph's handles. `uses` are the file's and outlive this.
  TfliteVariables(const TfliteFile& file, const tflite::SubGraph& subgraph, const VariableUses& uses);

  bool IsHandle(int32_t tensor) const { return handles_.count(tensor) != 0; }

  void Read(TfliteNode& node);
  void Assign(TfliteNode& node);
  /// For a body that uses the variable, whose value is like `value` there: the value before the body runs. kNoTensor
  /// after an error, which is reported.
  ir::TensorId Before(TfliteNode& node, const std::string& name, const ir::Tensor& value);
  /// What the body leaves.
  void Set(const std::string& name, ir::TensorId value) { variables_[name].current = value; }

  /// After the last operator of a graph that a plan is made of: the values of the next invocation.
  void MakeStates(ir::Graph& graph);
  /// After the last operator of a body: what it takes and gives. Neither is among the graph's inputs and outputs yet.
  std::map<std::string, BodyVariable> OfBody(ir::Graph& graph);

 private:
  struct Variable {
    ir::TensorId before = ir::kNoTensor;   ///< Its value before the first operator.
    ir::TensorId current = ir::kNoTensor;  ///< After the operators so far.
  };

  const std::string* Find(TfliteNode& node) const;
  bool Use(TfliteNode& node, const std::string& name, const ir::Tensor& value, ir::TensorId culprit);

  std::map<int32_t, std::string> handles_;
  const VariableUses& uses_;
  std::map<std::string, Variable> variables_;  ///< Those used so far, but constants.
};

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_VARIABLES_H_
