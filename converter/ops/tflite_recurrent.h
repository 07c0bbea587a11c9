// What the importers of TFLite's recurrent operators share.
#ifndef TAKT_CONVERTER_OPS_TFLITE_RECURRENT_H_
#define TAKT_CONVERTER_OPS_TFLITE_RECURRENT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "converter/frontend/tflite_node.h"
#include "converter/ir/graph.h"

namespace takt::ir {

/// Indices of an operator's inputs: the first of each kind, -1 where it has none of them.
struct LstmInputs {
  int weights, recurrent, peepholes, biases, projection, hidden, cell, normalization, aux;
};

/// Inputs [first, first + count), constants of `dims`, one below another, as float32 if `real`; absent ones are then
/// zeros.
std::optional<Tensor> Stack(frontend::TfliteNode& node, int first, int count, const std::vector<int32_t>& dims,
                            bool real);
/// Named after the operator's output plus `suffix`.
TensorId AddConstant(frontend::TfliteNode& node, Tensor constant, const char* suffix);

/// Operands of an lstm node behind its states, in place 6 to 8; the bias moves into the normalization, if there is one.
bool AddRefinements(frontend::TfliteNode& node, const LstmInputs& at, bool coupled, int32_t cells, Tensor& bias,
                    std::vector<TensorId>& inputs);
/// Scales of the gates' sums, which an integer normalization reads; none if the file does not give them.
std::vector<double> GateScales(const frontend::TfliteNode& node, bool coupled);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_TFLITE_RECURRENT_H_
