// Values of a graph without inputs, computed as the engine would: lowered, checked, run by the reference port.
#ifndef TAKT_CONVERTER_PASSES_EVALUATE_H_
#define TAKT_CONVERTER_PASSES_EVALUATE_H_

#include <optional>
#include <vector>

#include "converter/ir/graph.h"
#include "engine/core/kernel.h"

namespace takt::passes {

/// The bytes of each graph output; nothing if a step cannot be lowered or run (the conversion itself will say why).
std::optional<std::vector<ir::Bytes>> Evaluate(ir::Graph graph, Numerics numerics);

/// `node` of `graph` alone, as a graph of its own with the node's outputs; its inputs must be constants.
ir::Graph IsolateNode(const ir::Graph& graph, const ir::Node& node);

}  // namespace takt::passes

#endif  // TAKT_CONVERTER_PASSES_EVALUATE_H_
