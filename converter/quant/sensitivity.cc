#include "converter/quant/sensitivity.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

#include "absl/strings/str_format.h"
#include "converter/ir/op_def.h"
#include "converter/quant/accuracy.h"
#include "converter/quant/evaluator.h"
#include "converter/quant/insertion.h"

namespace takt::quant {
namespace {

constexpr size_t kLossSamples = 256;

size_t Highest(std::span<const float> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

class Chooser {
 public:
  Chooser(const ir::Graph& graph, const Observations& observations, const Samples& samples, const Options& options,
          Diagnostics& diagnostics)
      : graph_(graph), observations_(observations), samples_(samples), options_(options), diagnostics_(diagnostics) {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const bool own = ir::FindOpDef(graph.nodes[i].op).quant != ir::QuantRule::kShared;
      if (own && HasIntegerForm(graph, graph.nodes[i])) layers_.push_back({i, Damage{}});
    }
  }

  std::vector<Precision> Run(std::vector<Damage>& damages) {
    if (!RunFloat()) return {};
    const double before = Loss(Assign(0, Precision::kFloat));
    if (diagnostics_.ok() && before > Limit()) {
      Rank();
      MoveFewest();
      if (diagnostics_.ok()) Explain(before);
      for (const Layer& layer : layers_) damages.push_back(layer.damage);
    }
    return Assign(moved_, {});
  }

 private:
  struct Layer {
    size_t node;
    Damage damage;
  };
  bool in_db() const { return options_.max_loss->unit == MaxLoss::kDb; }
  /// Of Loss().
  double Limit() const { return in_db() ? -options_.max_loss->value : options_.max_loss->value; }

  /// What the float graph answers.
  bool RunFloat() {
    auto evaluator = Evaluator::Make(graph_, diagnostics_);
    if (!evaluator) return false;
    for (size_t s = 0; !in_db() && s < std::min(kLossSamples, samples_.count); ++s) {
      evaluator->Run(samples_.load(s));
      highest_.push_back(Highest(evaluator->floats(graph_.outputs[0])));
    }
    return true;
  }

  ir::Graph Insert(const std::vector<Precision>& precisions) const {
    return InsertQuantizations(graph_, observations_, AssignPrecisions(graph_, observations_, precisions), options_);
  }
  double SqnrDb(const std::vector<Precision>& precisions) {
    return OutputSqnrDb(graph_, Insert(precisions), samples_, options_.compared_samples, diagnostics_);
  }

  /// Percent of samples whose highest score is another, or -SQNR in dB.
  double Loss(const std::vector<Precision>& precisions) {
    if (in_db()) return -SqnrDb(precisions);
    const ir::Graph quantized = Fused(Insert(precisions));
    auto evaluator = Evaluator::Make(quantized, diagnostics_);
    size_t changed = 0;
    for (size_t s = 0; evaluator && s < highest_.size(); ++s) {
      evaluator->Run(samples_.load(s));
      changed += Highest(evaluator->floats(quantized.outputs[0])) != highest_[s];
    }
    return 100.0 * static_cast<double>(changed) / static_cast<double>(highest_.size());
  }

  /// The first `moved` layers in `precision` (none: each in its own), the others as the options want them.
  std::vector<Precision> Assign(size_t moved, std::optional<Precision> precision) const {
    std::vector<Precision> precisions(graph_.nodes.size(), options_.precision);
    for (size_t i = 0; i < moved; ++i) precisions[layers_[i].node] = precision.value_or(layers_[i].damage.precision);
    return precisions;
  }

  void Rank() {
    for (size_t i = 0; i < layers_.size() && diagnostics_.ok(); ++i) {
      Progress(absl::StrFormat("damage of layer %d of %d", i + 1, layers_.size()));
      const ir::Node& node = graph_.nodes[layers_[i].node];
      std::vector<Precision> alone(graph_.nodes.size(), Precision::kFloat);
      alone[layers_[i].node] = options_.precision;
      layers_[i].damage = {graph_.tensor(node.outputs[0]).name, node.sources.empty() ? -1 : node.sources[0],
                           SqnrDb(alone), options_.precision};
    }
    std::stable_sort(layers_.begin(), layers_.end(),
                     [](const Layer& a, const Layer& b) { return a.damage.sqnr_db < b.damage.sqnr_db; });
  }

  bool Within(const std::vector<Precision>& precisions) {
    Progress(absl::StrFormat("measuring a mix, %d of %d layers may have to be finer", moved_, layers_.size()));
    return Loss(precisions) <= Limit();
  }

  void MoveFewest() {
    size_t few = 0;  // Too few.
    moved_ = layers_.size();
    while (moved_ - few > 1 && diagnostics_.ok()) {
      const size_t middle = (few + moved_) / 2;
      (Within(Assign(middle, Precision::kFloat)) ? moved_ : few) = middle;
    }
    const bool narrow = options_.precision == Precision::kInt8;
    const bool wide = narrow && Within(Assign(moved_, Precision::kInt16));
    for (size_t i = 0; i < moved_; ++i) layers_[i].damage.precision = wide ? Precision::kInt16 : Precision::kFloat;
    for (size_t i = moved_; narrow && !wide && i-- > 0 && diagnostics_.ok();) {
      layers_[i].damage.precision = Precision::kInt16;
      if (!Within(Assign(moved_, {}))) layers_[i].damage.precision = Precision::kFloat;
    }
  }

  std::string LossText(double loss) const {
    return in_db() ? absl::StrFormat("an SQNR of %.1f dB", -loss)
                   : absl::StrFormat("%.2f %% of %d answers changed", loss, highest_.size());
  }

  void Explain(double before) {
    for (size_t i = 0; i < moved_; ++i) {
      const Damage& damage = layers_[i].damage;
      const ir::Node& node = graph_.nodes[layers_[i].node];
      diagnostics_.Note(
          {graph_.name, damage.node, node.name, damage.tensor},
          absl::StrFormat("computes in %s: quantized alone it leaves the outputs %.1f dB above the noise, "
                          "rank %d of %d layers by damage",
                          damage.precision == Precision::kInt16 ? "int16x8" : "float", damage.sqnr_db, i + 1,
                          layers_.size()));
    }
    const double after = Loss(Assign(moved_, {}));
    diagnostics_.Note({graph_.name, -1, "", ""},
                      absl::StrFormat("%d of %d layers are finer than asked for: %s with them, %s without", moved_,
                                      layers_.size(), LossText(after), LossText(before)));
    if (after > Limit()) {
      diagnostics_.Warning({graph_.name, -1, "", ""},
                           "the loss asked for is out of reach with inputs and outputs of this type; allow more, or "
                           "leave them float");
    }
  }

  void Progress(const std::string& text) const {
    if (options_.progress) options_.progress(text);
  }

  const ir::Graph& graph_;
  const Observations& observations_;
  const Samples& samples_;
  const Options& options_;
  Diagnostics& diagnostics_;
  std::vector<Layer> layers_;    ///< After Rank the worst first.
  size_t moved_ = 0;             ///< So many of them are finer.
  std::vector<size_t> highest_;  ///< Of the first output, a sample each.
};

}  // namespace

std::vector<Precision> ChoosePrecisions(const ir::Graph& graph, const Observations& observations,
                                        const Samples& samples, const Options& options, std::vector<Damage>& damages,
                                        Diagnostics& diagnostics) {
  return Chooser(graph, observations, samples, options, diagnostics).Run(damages);
}

}  // namespace takt::quant
