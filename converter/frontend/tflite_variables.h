// Resource variables of a TFLite graph (VAR_HANDLE, READ_VARIABLE, ASSIGN_VARIABLE, CALL_ONCE) as states.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_VARIABLES_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_VARIABLES_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "converter/frontend/tflite_file.h"
#include "converter/frontend/tflite_importer.h"
#include "converter/ir/graph.h"

namespace takt::frontend {

class TfliteNode;

/// Operators come in the file's order: a variable has the value of the last assignment before, or that of the
/// invocation before. One that nothing assigns outside of CALL_ONCE is a constant.
class TfliteVariables {
 public:
  TfliteVariables(const TfliteFile& file, const ImportOptions& options, Diagnostics& diagnostics)
      : file_(file), options_(options), diagnostics_(diagnostics) {}

  /// Finds handles, assignments and initial values of a subgraph, before any operator is imported.
  void Scan(const tflite::SubGraph& subgraph, const std::string& graph_name);
  bool IsHandle(int32_t tensor) const { return handles_.count(tensor) != 0; }

  void Read(TfliteNode& node);
  void Assign(TfliteNode& node);
  /// After the last operator: the values of the next invocation.
  void Finish(ir::Graph& graph);

 private:
  struct Variable {
    ir::TensorId state = ir::kNoTensor;    ///< Its value before the invocation.
    ir::TensorId current = ir::kNoTensor;  ///< After the operators so far.
    std::optional<ir::Tensor> initial;
    bool assigned = false;
  };
  using Handles = std::map<int32_t, std::string>;

  tflite::BuiltinOperator Code(const tflite::Operator& op) const;
  Handles FindHandles(const tflite::SubGraph& subgraph) const;
  void ReadInitial(int64_t subgraph, const ModelLocation& where);
  Variable* Find(TfliteNode& node);
  bool MakeState(TfliteNode& node, ir::TensorId like, Variable& variable);

  const TfliteFile& file_;
  const ImportOptions& options_;
  Diagnostics& diagnostics_;
  Handles handles_;
  std::map<std::string, Variable> variables_;
};

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_VARIABLES_H_
