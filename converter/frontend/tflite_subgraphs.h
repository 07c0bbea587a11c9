// What the importers of one TFLite file's subgraphs share.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_SUBGRAPHS_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_SUBGRAPHS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/base/diagnostics.h"
#include "converter/frontend/tflite_file.h"
#include "converter/frontend/tflite_importer.h"
#include "converter/frontend/tflite_variables.h"
#include "converter/ir/op_def.h"

namespace takt::frontend {

struct TfliteSubgraphs {
  const TfliteFile& file;
  const ImportOptions& options;
  Diagnostics& diagnostics;
  VariableUses variables;
  std::vector<int> open = {};  ///< Subgraphs that are being imported, outermost first.
  int count = 0;               ///< Imports so far; a subgraph is imported for each operator that calls it.

  /// See SubgraphReader (tflite_node.h).
  std::string Refusal(int64_t subgraph) const;
  std::vector<bool> PassedThrough(int subgraph) const;
};

/// The import row of an operator, nullptr if there is none. Custom operators go by their name.
const ir::TfliteImport* FindImport(int builtin, const flatbuffers::String* custom);
/// Names of all import rows.
std::string SupportedOperators();

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_SUBGRAPHS_H_
