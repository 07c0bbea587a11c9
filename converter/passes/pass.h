// A rewrite of the graph, and the manager that runs passes in their one order and verifies the graph after each.
#ifndef TAKT_CONVERTER_PASSES_PASS_H_
#define TAKT_CONVERTER_PASSES_PASS_H_

#include <functional>
#include <span>
#include <string>

#include "converter/base/diagnostics.h"
#include "converter/ir/graph.h"
#include "engine/core/kernel.h"

namespace takt::passes {

struct PassContext {
  Numerics numerics = Numerics::kFp32Rne;
  Diagnostics& diagnostics;  ///< Every fallback, copy or requantization that a pass inserts is named here.
  uint32_t max_trips = 0;    ///< Of loops whose number of trips can't be counted; 0: none are allowed.
  /// Inserts quantizations into a float graph (converter/quant); empty: the graph stays as it is.
  std::function<void(ir::Graph& graph)> quantize{};
};

struct Pass {
  const char* name;
  const char* description;  ///< One line, for people.
  /// Whether it removes tensors of the source model (`--keep-tensors` leaves it out).
  bool eliminates_tensors;
  /// Whether every integer output keeps its bytes under `tflite` numerics (others run for fp32_rne only).
  bool preserves_tflite_bytes;
  void (*run)(ir::Graph& graph, PassContext& context);
};

/// The passes in the order in which they run.
std::span<const Pass> AllPasses();

/// Verifies the graph, then runs all passes that apply; after each calls `on_stage` and verifies again (an invalid
/// graph is an internal error that names the pass).
void RunPasses(ir::Graph& graph, PassContext& context, bool keep_tensors,
               const std::function<void(const std::string& stage, const ir::Graph& graph)>& on_stage);

}  // namespace takt::passes

#endif  // TAKT_CONVERTER_PASSES_PASS_H_
