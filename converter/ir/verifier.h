// Checks that a graph is well formed; passes must leave it so.
#ifndef TAKT_CONVERTER_IR_VERIFIER_H_
#define TAKT_CONVERTER_IR_VERIFIER_H_

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"

namespace takt::ir {

/// Reports each broken rule: ids, order, single producer, arity, attributes, types, constants' bytes, quantization.
bool Verify(const Graph& graph, Diagnostics& diagnostics);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_IR_VERIFIER_H_
