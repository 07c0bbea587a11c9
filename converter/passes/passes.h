// The passes, one a file.
#ifndef TAKT_CONVERTER_PASSES_PASSES_H_
#define TAKT_CONVERTER_PASSES_PASSES_H_

#include "converter/passes/pass.h"

namespace takt::passes {

/// Reshapes become dense views, or copies where the memory can't be shared; concatenations become copies into strided views.
void EliminateViews(ir::Graph& graph, PassContext& context);
/// Removes nodes whose outputs nothing reads.
void EliminateDeadCode(ir::Graph& graph, PassContext& context);

}  // namespace takt::passes

#endif  // TAKT_CONVERTER_PASSES_PASSES_H_
