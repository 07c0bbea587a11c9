// The nodes of a body in the graph that holds it.
#ifndef TAKT_CONVERTER_IR_INLINE_H_
#define TAKT_CONVERTER_IR_INLINE_H_

#include <map>
#include <string>
#include <vector>

#include "converter/ir/graph.h"

namespace takt::ir {

/// Copies a body into `graph` any number of times; its constants come once.
class Inliner {
 public:
  /// Both outlive the inliner; `graph` is not the body.
  Inliner(const Graph& body, Graph& graph) : body_(body), graph_(graph) {}

  /// Appends the body's nodes, which read `arguments` as its inputs (tensors of `graph` without strides) and write
  /// `results` as its outputs, to `nodes`. Its other tensors are new, named with `suffix`.
  void Append(const std::vector<TensorId>& arguments, const std::vector<TensorId>& results, const std::string& suffix,
              std::vector<Node>& nodes);

 private:
  const Graph& body_;
  Graph& graph_;
  std::map<TensorId, TensorId> constants_;
};

/// A tensor like output `i` of `body`.
TensorId AddOutputOf(const Graph& body, size_t i, const std::string& suffix, Graph& graph);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_IR_INLINE_H_
