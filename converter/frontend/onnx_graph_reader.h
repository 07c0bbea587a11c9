// The nodes of an ONNX graph, one after another, as nodes of ours.
#ifndef TAKT_CONVERTER_FRONTEND_ONNX_GRAPH_READER_H_
#define TAKT_CONVERTER_FRONTEND_ONNX_GRAPH_READER_H_

#include <onnx/onnx_pb.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/frontend/onnx_importer.h"
#include "converter/frontend/onnx_node.h"
#include "converter/frontend/onnx_operators.h"
#include "converter/frontend/onnx_subgraphs.h"

namespace takt::frontend {

/// What all graphs of a file share.
struct OnnxFile {
  const onnx::ModelProto& model;
  const OnnxOptions& options;
  Diagnostics& diagnostics;
  int depth = 0;       ///< Of functions and graphs within graphs, as they are read.
  size_t inlined = 0;  ///< Nodes of functions and graphs so far.
  int node = -1;       ///< Of the main graph, which is being read.
};

/// Constants that only the import has read (shapes, weights in another layout) go.
void DropUnread(ir::Graph& graph);

class OnnxGraphReader : public OnnxSubgraphs {
 public:
  /// Adds to `graph`; `outer` reads the graph around it.
  OnnxGraphReader(OnnxFile& file, int opset, ir::Graph& graph, OnnxGraphReader* outer = nullptr);

  /// Gives a name to a value. kNoTensor: it could not be imported, and an error says why.
  void Define(const std::string& name, ir::TensorId id);
  /// The value that a name has here; nothing if nothing gives it one.
  std::optional<ir::TensorId> Find(const std::string& name);
  void ReadInitializers(const onnx::GraphProto& source);
  /// In an order that runs; those on a cycle are errors.
  void ReadNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);
  /// `id`, or a copy if it is no value that a node of this graph writes, or is an output already.
  ir::TensorId OwnOutput(ir::TensorId id);
  /// Adds a node of one input; its output is like `to`.
  ir::TensorId AddStep(Op op, ir::TensorId from, ir::Tensor to, const std::string& name);

  std::optional<std::vector<ir::TensorId>> Inline(const onnx::GraphProto& body,
                                                  const std::vector<ir::TensorId>& arguments) override;
  std::optional<OnnxBody> ReadBody(const onnx::GraphProto& body, const std::vector<ir::Tensor>& inputs) override;

 private:
  struct Scope {
    std::map<std::string, ir::TensorId> values;
    std::string prefix;     ///< Of the names of its tensors.
    bool function = false;  ///< Does not see the values around it.
    int opset = 0;
  };

  bool Enter(int nodes, Scope scope);
  std::vector<ir::TensorId> Leave(const std::vector<std::string>& names, const ModelLocation& where);
  ir::TensorId Capture(ir::TensorId outer);
  void ReadNode(const onnx::NodeProto& proto);
  void ReadOperands(const onnx::NodeProto& proto, std::vector<ir::TensorId>& inputs, bool& ready);
  bool Expand(const onnx::NodeProto& proto, const std::vector<ir::TensorId>& inputs);
  void Import(const onnx::NodeProto& proto, OnnxNode& node, const OnnxOperator& found);
  void SetOutputs(const onnx::NodeProto& proto, const std::vector<ir::TensorId>& values, size_t tensors_before);
  std::string NewPrefix(const std::string& what) const;
  ModelLocation At(const onnx::NodeProto& proto) const;

  OnnxFile& file_;
  ir::Graph& graph_;
  OnnxGraphReader* outer_;
  std::vector<Scope> scopes_;
  std::map<ir::TensorId, ir::TensorId> inner_;  ///< Of values of the graph around this one.
  std::vector<ir::TensorId> captured_;          ///< Those that are inputs.
};

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_GRAPH_READER_H_
