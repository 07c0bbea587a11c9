// Sparse constants of TFLite files.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_SPARSE_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_SPARSE_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "converter/ir/graph.h"
#include "schema/tflite_generated.h"

namespace takt::frontend {

/// The bytes of a tensor of `dims`, whose elements have `element` bytes, with the stored `values` in place and zeros
/// elsewhere. Gives the reason (a sentence) why the description does not fit, or nothing.
std::string ExpandSparse(const tflite::SparsityParameters& sparsity, const std::vector<int32_t>& dims, size_t element,
                         std::span<const uint8_t> values, ir::Bytes& dense);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_SPARSE_H_
