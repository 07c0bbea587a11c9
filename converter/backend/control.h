// Control flow as a plan has it: one list of steps with control steps among them.
#ifndef TAKT_CONVERTER_BACKEND_CONTROL_H_
#define TAKT_CONVERTER_BACKEND_CONTROL_H_

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"

namespace takt::backend {

/// Puts the bodies of `if` and `while` nodes between skip_if and loop nodes (attributes `count`; `count`, `max_trips`).
/// From then on a tensor may have several writers: both bodies of an if, or the place of a value that a loop carries.
/// An error where control is nested deeper than a plan allows.
void FlattenControl(ir::Graph& graph, Diagnostics& diagnostics);

}  // namespace takt::backend

#endif  // TAKT_CONVERTER_BACKEND_CONTROL_H_
