#include "converter/passes/pass.h"

#include "converter/ir/verifier.h"
#include "converter/passes/passes.h"

namespace takt::passes {
namespace {
void Quantize(ir::Graph& graph, PassContext& context) {
  if (!context.quantize) return;
  for (const ir::Node& node : graph.nodes) {
    if (node.bodies.empty()) continue;
    context.diagnostics.Error({graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""},
                              "is control flow that depends on data; quantization takes graphs without");
    return;
  }
  context.quantize(graph);
  FuseQuantization(graph, context);
  InsertRequantizes(graph, context);
  MergeRequantizes(graph, context);
}

constexpr Pass kPasses[] = {
    // First: the others see what control flow has become.
    {"control_folding", "Control flow that is known at conversion goes, loops get a bound", false, true, FoldControl},
    {"layout", "Transposes move towards the outputs until they cancel", true, true, SinkTransposes},
    {"function_fusion", "Arithmetic that makes up a function becomes that function", true, true, FuseFunctions},
    {"requantize_insertion", "Pools and adds of quantizations they do not bridge get a requantize", false, true,
     InsertRequantizes},
    {"activation_fusion", "A clamp joins the node that feeds it", true, true, FuseActivations},
    {"quantization_fusion", "A float op between quantizations becomes the integer op", false, false, FuseQuantization},
    {"constant_folding", "Nodes that read only constants become constants", false, true, FoldConstants},
    {"affine_folding", "A factor or term for each channel joins the contraction before it", true, true, FoldAffine},
    {"requantize_merging", "Chains of requantizes that one step equals on every value become that step", true, true,
     MergeRequantizes},
    {"pad_folding", "Padding becomes the pads of the convolution or maximum that reads it", true, true, FoldPads},
    {"dead_code", "Nodes and tensors that nothing reads go", true, true, EliminateDeadCode},
    {"quantization", "A float graph becomes int8 where a calibration asks for it", false, true, Quantize},
    {"residual_fusion", "An add joins the convolution that feeds it", true, true, FuseResiduals},
    {"transposes_left", "Names the transposes that are left", false, true, ReportTransposes},
    // Always: reshape, concatenation and slice have no kernels.
    {"view_elimination", "Reshapes, slices and concatenations become views and copies", false, true, EliminateViews},
};

/// Bodies are graphs of their own to every pass but quantization.
void RunOn(const Pass& pass, ir::Graph& graph, PassContext& context) {
  pass.run(graph, context);
  if (pass.run == Quantize) return;
  for (ir::Node& node : graph.nodes)
    for (ir::Graph& body : node.bodies) RunOn(pass, body, context);
}
}  // namespace

std::span<const Pass> AllPasses() {
  return kPasses;
}

void RunPasses(ir::Graph& graph, PassContext& context, bool keep_tensors,
               const std::function<void(const std::string& stage, const ir::Graph& graph)>& on_stage) {
  if (!ir::Verify(graph, context.diagnostics)) return;
  for (const Pass& pass : kPasses) {
    if (keep_tensors && pass.eliminates_tensors) continue;
    if (context.numerics == Numerics::kTflite && !pass.preserves_tflite_bytes) continue;
    RunOn(pass, graph, context);
    if (on_stage) on_stage(pass.name, graph);
    if (!ir::Verify(graph, context.diagnostics)) {
      context.diagnostics.Error({graph.name, -1, "", ""},
                                std::string("internal error: pass ") + pass.name + " broke the graph");
      return;
    }
  }
}

}  // namespace takt::passes
