// What quantization costs, tensor by tensor.
#ifndef TAKT_CONVERTER_QUANT_ACCURACY_H_
#define TAKT_CONVERTER_QUANT_ACCURACY_H_

#include "converter/quant/quantizer.h"

namespace takt::quant {

/// The graph with integer ops in place of quantized float ones, without notes: the conversion itself fuses once more.
ir::Graph Fused(ir::Graph quantized);

/// Runs both graphs on the first `count` samples; `quantized` may still have its float ops between quantizations.
/// Tensors are matched by name.
std::vector<TensorAccuracy> Compare(const ir::Graph& real, const ir::Graph& quantized, const Samples& samples,
                                    size_t count, Diagnostics& diagnostics);

/// SQNR of all outputs together, in dB, on the first `count` samples; outputs of both are float32.
double OutputSqnrDb(const ir::Graph& real, const ir::Graph& quantized, const Samples& samples, size_t count,
                    Diagnostics& diagnostics);

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_ACCURACY_H_
