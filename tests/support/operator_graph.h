// One operator of a source model as a graph of its own.
#ifndef TAKT_TESTS_SUPPORT_OPERATOR_GRAPH_H_
#define TAKT_TESTS_SUPPORT_OPERATOR_GRAPH_H_

#include <vector>

#include "converter/ir/graph.h"

namespace takt::test {

/// A graph per operator of an imported model, in order: the nodes that the importer made of it, with their constants.
/// What they read and do not write are its inputs (in order of first use), what others read or the model returns its
/// outputs. `Tensor::source` is kept.
std::vector<ir::Graph> SplitByOperator(const ir::Graph& graph);

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_OPERATOR_GRAPH_H_
