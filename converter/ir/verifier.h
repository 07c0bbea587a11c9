// Checks that a graph is well formed; importers must make it so, passes must leave it so.
#ifndef TAKT_CONVERTER_IR_VERIFIER_H_
#define TAKT_CONVERTER_IR_VERIFIER_H_

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"

namespace takt::ir {

/// Reports each broken rule, at the source node that it concerns: ids, order, one origin for each tensor, arity,
/// attributes, the ops' shape rules, constants' bytes, quantization, views within their bases.
bool Verify(const Graph& graph, Diagnostics& diagnostics);

/// The rules of one node alone: arity, attributes, types and shapes. Its operands' ids must be in range.
bool VerifyNode(const Graph& graph, int node, Diagnostics& diagnostics);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_IR_VERIFIER_H_
