// What quantization costs, tensor by tensor.
#ifndef TAKT_CONVERTER_QUANT_ACCURACY_H_
#define TAKT_CONVERTER_QUANT_ACCURACY_H_

#include "converter/quant/quantizer.h"

namespace takt::quant {

/// Runs both graphs on the first `count` samples; `quantized` may still have its float ops between quantizations.
/// Tensors are matched by name.
Report Compare(const ir::Graph& real, const ir::Graph& quantized, const Samples& samples, size_t count,
               Diagnostics& diagnostics);

}  // namespace takt::quant

#endif  // TAKT_CONVERTER_QUANT_ACCURACY_H_
