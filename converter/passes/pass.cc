#include "converter/passes/pass.h"

#include "converter/ir/verifier.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {
constexpr Pass kPasses[] = {
    {"layout", true, true, SinkTransposes},
    {"pad_folding", true, true, FoldPads},
    {"residual_fusion", true, true, FuseResiduals},
    {"dead_code", true, true, EliminateDeadCode},
    {"transposes_left", false, true, ReportTransposes},
    // Always: reshape, concatenation and slice have no kernels.
    {"view_elimination", false, true, EliminateViews},
};
}  // namespace

std::span<const Pass> AllPasses() {
  return kPasses;
}

void RunPasses(ir::Graph& graph, PassContext& context, bool keep_tensors,
               const std::function<void(const std::string& stage, const ir::Graph& graph)>& on_stage) {
  for (const Pass& pass : kPasses) {
    if (keep_tensors && pass.eliminates_tensors) continue;
    if (context.numerics == Numerics::kTflite && !pass.preserves_tflite_bytes) continue;
    pass.run(graph, context);
    if (on_stage) on_stage(pass.name, graph);
    if (!ir::Verify(graph, context.diagnostics)) {
      context.diagnostics.Error({graph.name, -1, "", ""},
                                std::string("internal error: pass ") + pass.name + " broke the graph");
      return;
    }
  }
}

}  // namespace takt::passes
