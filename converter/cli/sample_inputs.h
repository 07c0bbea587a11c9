// Real values as a plan's tensors store them.
#ifndef TAKT_CONVERTER_CLI_SAMPLE_INPUTS_H_
#define TAKT_CONVERTER_CLI_SAMPLE_INPUTS_H_

#include <span>
#include <string>
#include <vector>

#include "converter/cli/data/samples.h"
#include "engine/core/interpreter.h"

namespace takt::cli {

/// Names and dims of the inputs that samples have to fit.
std::vector<InputShape> InputShapes(const Interpreter& net);

/// float32 as they are; of quantized types round(value / scale) + zero_point, saturated. Empty: neither of these.
std::vector<uint8_t> StoredBytes(DataType type, float scale, int32_t zero_point, std::span<const float> values);

/// Bytes of every input for the values of one sample; throws InputError, which names `plan` and the input.
std::vector<std::vector<uint8_t>> StoredInputs(const std::string& plan, const Interpreter& net,
                                               const std::vector<std::vector<float>>& values);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_SAMPLE_INPUTS_H_
