#include "converter/quant/quantizer.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "converter/ir/op_def.h"
#include "converter/quant/accuracy.h"
#include "converter/quant/equalization.h"
#include "converter/quant/insertion.h"
#include "converter/quant/normalization.h"
#include "converter/quant/sensitivity.h"

namespace takt::quant {
namespace {

using ir::TensorId;

/// Graph inputs that only a quantization reads, and outputs that are dequantized, become integer.
void MakeIntegerIo(ir::Graph& graph) {
  for (TensorId& id : graph.inputs) {
    const std::vector<int> readers = graph.ConsumersOf(id);
    if (readers.size() != 1 || graph.nodes[static_cast<size_t>(readers[0])].op != Op::kQuantize) continue;
    const TensorId stored = graph.nodes[static_cast<size_t>(readers[0])].outputs[0];
    graph.tensor(stored).name = graph.tensor(id).name;
    graph.nodes.erase(graph.nodes.begin() + readers[0]);
    id = stored;
  }
  for (TensorId& id : graph.outputs) {
    const int producer = graph.ProducerOf(id);
    if (producer < 0 || graph.nodes[static_cast<size_t>(producer)].op != Op::kDequantize) continue;
    const TensorId stored = graph.nodes[static_cast<size_t>(producer)].inputs[0];
    if (graph.IsOutput(stored)) continue;
    graph.tensor(stored).name = graph.tensor(id).name;
    id = stored;
  }
}

/// Names what stays float for want of an integer form.
void NoteFloatOps(const ir::Graph& graph, Diagnostics& diagnostics) {
  for (const ir::Node& node : graph.nodes) {
    if (HasIntegerForm(graph, node) || graph.tensor(node.outputs[0]).type != DataType::kFloat32) continue;
    const bool contraction = ir::FindOpDef(node.op).quant == ir::QuantRule::kContraction;
    diagnostics.Note({graph.name, node.sources.empty() ? -1 : node.sources[0], node.name, ""},
                     contraction ? "stays float: its weights or bias are not constant"
                                 : std::string("stays float: ") + OpName(node.op) + " has no integer form");
  }
}

std::vector<Precision> Wanted(const ir::Graph& graph, const Options& options) {
  return std::vector<Precision>(graph.nodes.size(), options.precision);
}

ir::Graph Insert(const ir::Graph& graph, const Observations& observations, const std::vector<Precision>& wanted,
                 const Options& options) {
  return InsertQuantizations(graph, observations, AssignPrecisions(graph, observations, wanted), options);
}

/// Replaces graph and observations by equalized ones if that is measured to be better.
void TryEqualization(ir::Graph& graph, Observations& observations, const Samples& samples, const Options& options,
                     Diagnostics& diagnostics) {
  ir::Graph equalized = graph;
  const size_t pairs = Equalize(equalized, observations);
  if (pairs == 0) return diagnostics.Note({graph.name, -1, "", ""}, "has no pair of layers to equalize");
  auto observed = Observations::Make(equalized, samples, options, diagnostics);
  if (!observed) return;
  const auto sqnr = [&](const ir::Graph& real, const Observations& seen) {
    return OutputSqnrDb(real, Insert(real, seen, Wanted(real, options), options), samples, options.compared_samples,
                        diagnostics);
  };
  const double before = sqnr(graph, observations), after = sqnr(equalized, *observed);
  diagnostics.Note({graph.name, -1, "", ""},
                   absl::StrFormat("equalization of %d pairs of layers %s: outputs %.1f dB above the noise with it, "
                                   "%.1f dB without",
                                   pairs, after > before ? "is kept" : "is left out, it gains nothing", after, before));
  if (after <= before) return;
  graph = std::move(equalized);
  observations = std::move(*observed);
}

/// What the constraint of weights costs.
void NotePairs(const ir::Graph& real, const Observations& observations, const std::vector<Precision>& wanted,
               const Samples& samples, const Options& options, Diagnostics& diagnostics) {
  Options freely = options;
  freely.pair_weights = false;
  const auto sqnr = [&](const Options& with) {
    return OutputSqnrDb(real, Insert(real, observations, wanted, with), samples, options.compared_samples, diagnostics);
  };
  diagnostics.Note({real.name, -1, "", ""},
                   absl::StrFormat("weights obey the constraint of pairs: outputs %.1f dB above the noise, %.1f dB "
                                   "without it",
                                   sqnr(options), sqnr(freely)));
}

}  // namespace

Report Quantize(ir::Graph& graph, const Samples& samples, const Options& options, Diagnostics& diagnostics) {
  if (options.normalization) FoldNormalization(graph, *options.normalization, diagnostics);
  if (!diagnostics.ok()) return {};
  auto observations = Observations::Make(graph, samples, options, diagnostics);
  if (!observations) return {};
  NoteFloatOps(graph, diagnostics);
  if (options.equalize) TryEqualization(graph, *observations, samples, options, diagnostics);
  if (!diagnostics.ok()) return {};
  const ir::Graph real = graph;
  Report report;
  std::vector<Precision> wanted = Wanted(real, options);
  if (options.max_loss) wanted = ChoosePrecisions(real, *observations, samples, options, report.damages, diagnostics);
  if (!diagnostics.ok()) return {};
  graph = Insert(real, *observations, wanted, options);
  if (options.pair_weights) NotePairs(real, *observations, wanted, samples, options, diagnostics);
  report.tensors = Compare(real, graph, samples, options.compared_samples, diagnostics);
  if (options.io != DataType::kFloat32) MakeIntegerIo(graph);
  return report;
}

}  // namespace takt::quant
