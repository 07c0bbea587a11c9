// Graph inputs and outputs as a plan can bind them.
#ifndef TAKT_CONVERTER_FRONTEND_GRAPH_IO_H_
#define TAKT_CONVERTER_FRONTEND_GRAPH_IO_H_

#include <set>
#include <string>

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"

namespace takt::frontend {

/// Appends a node that copies `value`, called `node_name`; gives the copy, whose name has `suffix`.
ir::TensorId AddCopy(ir::Graph& graph, ir::TensorId value, const std::string& suffix, std::string node_name);

/// Inputs and outputs whose ids are in `uint8_tensors` (read as int8) become uint8 again, with a requantize step
/// between. Outputs that are constants, graph inputs or outputs already become copies. Each step that is added is
/// noted.
void AdaptGraphIo(ir::Graph& graph, const std::set<ir::TensorId>& uint8_tensors, Diagnostics& diagnostics);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_GRAPH_IO_H_
