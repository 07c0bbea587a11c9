// TFLite operators whose result follows from shapes and constants alone: constants of the graph.
#ifndef TAKT_CONVERTER_OPS_SHAPE_CONSTANTS_H_
#define TAKT_CONVERTER_OPS_SHAPE_CONSTANTS_H_

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

void ImportShape(frontend::TfliteNode& node);
void ImportRank(frontend::TfliteNode& node);
void ImportZerosLike(frontend::TfliteNode& node);
void ImportFill(frontend::TfliteNode& node);
void ImportRange(frontend::TfliteNode& node);
void ImportBroadcastArgs(frontend::TfliteNode& node);
void ImportUnique(frontend::TfliteNode& node);
/// Constants are read dense.
void ImportDensify(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_SHAPE_CONSTANTS_H_
