// What a node can do with the graphs among its attributes.
#ifndef TAKT_CONVERTER_FRONTEND_ONNX_SUBGRAPHS_H_
#define TAKT_CONVERTER_FRONTEND_ONNX_SUBGRAPHS_H_

#include <optional>
#include <vector>

#include "converter/ir/graph.h"

namespace onnx {
class GraphProto;
}  // namespace onnx

namespace takt::frontend {

/// A graph among the attributes as the body of a node. What it reads of the graphs around it are inputs, behind its
/// own; constants of theirs are its own.
struct OnnxBody {
  ir::Graph graph;
  std::vector<ir::TensorId> captured;  ///< Of the graph around it, one for each of these inputs.
};

class OnnxSubgraphs {
 public:
  virtual ~OnnxSubgraphs() = default;

  /// Reads the nodes of `body` in the node's place, with `arguments` as its inputs. The values of its outputs
  /// (kNoTensor where an error was reported); nothing if it can't be read at all, which has been reported.
  virtual std::optional<std::vector<ir::TensorId>> Inline(const onnx::GraphProto& body,
                                                          const std::vector<ir::TensorId>& arguments) = 0;
  /// Reads `body` as a graph of its own whose inputs have the types of `inputs`. Nothing after an error.
  virtual std::optional<OnnxBody> ReadBody(const onnx::GraphProto& body, const std::vector<ir::Tensor>& inputs) = 0;
};

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_SUBGRAPHS_H_
