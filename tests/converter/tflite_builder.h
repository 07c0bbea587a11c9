// Writes small TFLite files, right or wrong, for tests of the importer.
#ifndef TAKT_TESTS_CONVERTER_TFLITE_BUILDER_H_
#define TAKT_TESTS_CONVERTER_TFLITE_BUILDER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "schema/tflite_generated.h"

namespace takt::test {

using Sparsity = std::function<flatbuffers::Offset<tflite::SparsityParameters>(flatbuffers::FlatBufferBuilder&)>;

struct TfliteTensor {
  std::string name;
  tflite::TensorType type = tflite::TensorType::INT8;
  std::vector<int32_t> shape = {};
  std::vector<uint8_t> data = {};  ///< Empty: not a constant.
  std::vector<float> scales = {};
  std::vector<int64_t> zero_points = {};
  int32_t axis = 0;
  std::vector<int32_t> signature = {};
  bool variable = false;
  Sparsity sparsity = nullptr;
  std::optional<uint32_t> buffer = std::nullopt;  ///< In place of the one that holds `data`.
};

using Options = std::function<flatbuffers::Offset<void>(flatbuffers::FlatBufferBuilder&)>;

struct TfliteOperator {
  tflite::BuiltinOperator code = tflite::BuiltinOperator::ADD;
  std::vector<int32_t> inputs = {};
  std::vector<int32_t> outputs = {};
  tflite::BuiltinOptions options_type = tflite::BuiltinOptions::NONE;
  Options options = nullptr;
  std::string custom = {};  ///< Name of a custom operator.
  std::vector<uint8_t> custom_options = {};
};

struct TfliteModel {
  std::vector<TfliteTensor> tensors;
  std::vector<TfliteOperator> operators;
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
  int subgraphs = 1;  ///< The first, so many times.
};

inline std::vector<uint8_t> WriteTflite(const TfliteModel& model) {
  flatbuffers::FlatBufferBuilder fbb;
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers = {tflite::CreateBuffer(fbb)};
  std::vector<flatbuffers::Offset<tflite::Tensor>> tensors;
  for (const TfliteTensor& t : model.tensors) {
    uint32_t buffer = 0;
    if (!t.data.empty()) {
      buffer = static_cast<uint32_t>(buffers.size());
      buffers.push_back(tflite::CreateBufferDirect(fbb, &t.data));
    }
    buffer = t.buffer.value_or(buffer);
    flatbuffers::Offset<tflite::QuantizationParameters> quantization;
    if (!t.scales.empty()) {
      quantization = tflite::CreateQuantizationParametersDirect(fbb, nullptr, nullptr, &t.scales, &t.zero_points,
                                                                tflite::QuantizationDetails::NONE, 0, t.axis);
    }
    tensors.push_back(tflite::CreateTensorDirect(fbb, &t.shape, t.type, buffer, t.name.c_str(), quantization,
                                                 t.variable, t.sparsity ? t.sparsity(fbb) : 0,
                                                 t.signature.empty() ? nullptr : &t.signature));
  }
  std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes;
  std::vector<flatbuffers::Offset<tflite::Operator>> operators;
  for (const TfliteOperator& op : model.operators) {
    const auto options = op.options ? op.options(fbb) : flatbuffers::Offset<void>();
    operators.push_back(tflite::CreateOperatorDirect(fbb, static_cast<uint32_t>(codes.size()), &op.inputs, &op.outputs,
                                                     op.options_type, options, &op.custom_options));
    codes.push_back(
        tflite::CreateOperatorCodeDirect(fbb, 0, op.custom.empty() ? nullptr : op.custom.c_str(), 1, op.code));
  }
  const auto subgraph = tflite::CreateSubGraphDirect(fbb, &tensors, &model.inputs, &model.outputs, &operators);
  const std::vector<flatbuffers::Offset<tflite::SubGraph>> subgraphs(static_cast<size_t>(model.subgraphs), subgraph);
  tflite::FinishModelBuffer(fbb, tflite::CreateModelDirect(fbb, 3, &codes, &subgraphs, nullptr, &buffers));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

}  // namespace takt::test

#endif  // TAKT_TESTS_CONVERTER_TFLITE_BUILDER_H_
