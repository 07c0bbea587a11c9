// Two convolutions that every emulated NPU takes, in a few hundred bytes.
#ifndef TAKT_TESTS_SUPPORT_SMALL_MODEL_H_
#define TAKT_TESTS_SUPPORT_SMALL_MODEL_H_

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "tests/converter/tflite_builder.h"

namespace takt::test {

/// int8 x[1, 8, 8, 4] -> convolution 3x3, 8 channels -> convolution 1x1, 4 channels.
inline std::vector<uint8_t> SmallModel() {
  std::mt19937 random(7);
  const auto bytes = [&](size_t n) {
    std::vector<uint8_t> data(n);
    for (uint8_t& byte : data) byte = static_cast<uint8_t>(random() % 255 - 127);
    return data;
  };
  const auto convolution = [](flatbuffers::FlatBufferBuilder& fbb) {
    return tflite::CreateConv2DOptions(fbb, tflite::Padding::SAME, 1, 1).Union();
  };
  const std::vector<uint8_t> none;
  TfliteModel model;
  model.tensors = {QuantizedTensor("x", {1, 8, 8, 4}, none, 0.5f),
                   QuantizedTensor("w", {8, 3, 3, 4}, bytes(288), 0.01f),
                   QuantizedTensor("b", {8}, std::vector<uint8_t>(32), 0.005f),
                   QuantizedTensor("h", {1, 8, 8, 8}, none, 0.5f),
                   QuantizedTensor("v", {4, 1, 1, 8}, bytes(32), 0.02f),
                   QuantizedTensor("c", {4}, std::vector<uint8_t>(16), 0.01f),
                   QuantizedTensor("y", {1, 8, 8, 4}, none, 0.5f)};
  for (int first : {0, 3}) {
    model.operators.push_back({.code = tflite::BuiltinOperator::CONV_2D,
                               .inputs = {first, first + 1, first + 2},
                               .outputs = {first + 3},
                               .options_type = tflite::BuiltinOptions::Conv2DOptions,
                               .options = convolution});
  }
  model.inputs = {0};
  model.outputs = {6};
  return WriteTflite(model);
}

}  // namespace takt::test

#endif  // TAKT_TESTS_SUPPORT_SMALL_MODEL_H_
