// Signal operators of TFLite Micro whose state is a piece of their input: slices of the state and the input in a row.
#ifndef TAKT_CONVERTER_OPS_SIGNAL_STATES_H_
#define TAKT_CONVERTER_OPS_SIGNAL_STATES_H_

#include "converter/frontend/tflite_node.h"

namespace takt::ir {

/// A state like `model` (type and shape), zero at first, and its next value, which the caller's node writes.
State NewState(frontend::TfliteNode& node, const Tensor& model);

/// y is the input of `delay_length` samples before.
void ImportDelay(frontend::TfliteNode& node);
/// Overlapping frames, one for each step of the input; a flag tells whether all of them are complete.
void ImportFramer(frontend::TfliteNode& node);
/// The last frames in a row; a flag tells whether it is complete and its turn.
void ImportStacker(frontend::TfliteNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_SIGNAL_STATES_H_
