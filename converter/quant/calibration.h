// What samples say of a float graph's tensors.
#ifndef TAKT_CONVERTER_QUANT_CALIBRATION_H_
#define TAKT_CONVERTER_QUANT_CALIBRATION_H_

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "converter/quant/quantizer.h"

namespace takt::quant {

/// Inputs of a node, from the first on, that are activations: all, or a contraction's first.
size_t ActivationInputs(const ir::Node& node);
/// Whether the node computes in float32 and has an integer form: its op has one, and a contraction's weights and bias
/// are constants.
bool HasIntegerForm(const ir::Graph& graph, const ir::Node& node);

class Observations {
 public:
  /// Runs all samples, and observes each tensor that a node with an integer form reads or writes, and the graph's
  /// inputs and outputs. Nothing, and errors, if there is no sample or a value is not finite.
  static std::optional<Observations> Make(const ir::Graph& graph, const Samples& samples, const Options& options,
                                          Diagnostics& diagnostics);

  /// Whether the tensor can be quantized.
  bool Has(ir::TensorId id) const { return tensors_.count(id) != 0; }
  /// Whether a node, a concatenation whose result no integer node reads, stays float so that parts of very different
  /// range, as the heads of a detector are, keep scales of their own.
  bool SeparatesHeads(const ir::Node& node) const { return separated_.count(node.outputs[0]) != 0; }
  /// The encoding of a tensor in the type of `precision`, which is none of float.
  ir::Quantization Encoding(ir::TensorId id, Precision precision) const;
  /// Means along the last dimension.
  const std::vector<double>& ChannelMeans(ir::TensorId id) const { return tensors_.at(id).channel_means; }
  /// Largest magnitudes along the last dimension.
  const std::vector<float>& ChannelRanges(ir::TensorId id) const { return tensors_.at(id).channel_ranges; }

 private:
  struct Tensor {
    Range range;
    bool softmax = false;                  ///< The result of one, whose encoding its kernels fix.
    ir::TensorId same_as = ir::kNoTensor;  ///< Shares the quantization of that tensor.
    std::vector<double> channel_means;
    std::vector<float> channel_ranges;
  };

  ir::TensorId Root(ir::TensorId id) const;
  void SeparateHeads(const ir::Graph& graph, Diagnostics& diagnostics);
  void UniteShared(const ir::Graph& graph);

  std::map<ir::TensorId, Tensor> tensors_;
  std::set<ir::TensorId> separated_;  ///< Results of nodes that stay float.
};

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_CALIBRATION_H_
