// Writes small TFLite files, right or wrong, for tests of the importer.
#ifndef TAKT_TESTS_CONVERTER_TFLITE_BUILDER_H_
#define TAKT_TESTS_CONVERTER_TFLITE_BUILDER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
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

/// A tensor of zero point 0: int8, or of rank 1 int32, a bias.
inline TfliteTensor QuantizedTensor(const char* name, std::vector<int32_t> shape, std::vector<uint8_t> data,
                                    float scale) {
  TfliteTensor made;
  made.name = name;
  if (shape.size() == 1) made.type = tflite::TensorType::INT32;
  made.shape = std::move(shape);
  made.data = std::move(data);
  made.scales = {scale};
  made.zero_points = {0};
  return made;
}

using Options = std::function<flatbuffers::Offset<void>(flatbuffers::FlatBufferBuilder&)>;

struct TfliteOperator {
  tflite::BuiltinOperator code = tflite::BuiltinOperator::ADD;
  std::vector<int32_t> inputs = {};
  std::vector<int32_t> outputs = {};
  tflite::BuiltinOptions options_type = tflite::BuiltinOptions::NONE;
  Options options = nullptr;
  std::string custom = "";  ///< Name of a CUSTOM operator, and its options' bytes.
  std::vector<uint8_t> custom_options = {};
  int32_t version = 1;
  std::vector<int32_t> intermediates = {};  ///< Tensors of values inside the operator.
};

struct TfliteSubgraph {
  std::vector<TfliteTensor> tensors = {};
  std::vector<TfliteOperator> operators = {};
  std::vector<int32_t> inputs = {};
  std::vector<int32_t> outputs = {};
};

/// Names of tensors of a subgraph.
struct TfliteSignature {
  std::string key;
  uint32_t subgraph = 0;
  std::vector<std::pair<std::string, uint32_t>> inputs = {}, outputs = {};
};

/// The first subgraph, and others behind it.
struct TfliteModel : TfliteSubgraph {
  std::vector<TfliteSubgraph> others = {};
  std::vector<TfliteSignature> signatures = {};
};

class TfliteWriter {
 public:
  std::vector<uint8_t> Write(const TfliteModel& model) {
    buffers_ = {tflite::CreateBuffer(fbb_)};
    std::vector<flatbuffers::Offset<tflite::SubGraph>> subgraphs = {Add(model)};
    for (const TfliteSubgraph& other : model.others) subgraphs.push_back(Add(other));
    std::vector<flatbuffers::Offset<tflite::SignatureDef>> signatures;
    for (const TfliteSignature& s : model.signatures) {
      const auto inputs = Add(s.inputs), outputs = Add(s.outputs);
      signatures.push_back(
          tflite::CreateSignatureDefDirect(fbb_, &inputs, &outputs, s.key.c_str(), nullptr, s.subgraph));
    }
    tflite::FinishModelBuffer(fbb_, tflite::CreateModelDirect(fbb_, 3, &codes_, &subgraphs, nullptr, &buffers_, nullptr,
                                                              nullptr, &signatures));
    return {fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize()};
  }

 private:
  std::vector<flatbuffers::Offset<tflite::TensorMap>> Add(const std::vector<std::pair<std::string, uint32_t>>& names) {
    std::vector<flatbuffers::Offset<tflite::TensorMap>> maps;
    for (const auto& [name, tensor] : names) maps.push_back(tflite::CreateTensorMapDirect(fbb_, name.c_str(), tensor));
    return maps;
  }

  flatbuffers::Offset<tflite::Tensor> Add(const TfliteTensor& t) {
    uint32_t buffer = 0;
    if (!t.data.empty()) {
      buffer = static_cast<uint32_t>(buffers_.size());
      buffers_.push_back(tflite::CreateBufferDirect(fbb_, &t.data));
    }
    buffer = t.buffer.value_or(buffer);
    flatbuffers::Offset<tflite::QuantizationParameters> quantization;
    if (!t.scales.empty()) {
      quantization = tflite::CreateQuantizationParametersDirect(fbb_, nullptr, nullptr, &t.scales, &t.zero_points,
                                                                tflite::QuantizationDetails::NONE, 0, t.axis);
    }
    return tflite::CreateTensorDirect(fbb_, &t.shape, t.type, buffer, t.name.c_str(), quantization, t.variable,
                                      t.sparsity ? t.sparsity(fbb_) : 0, t.signature.empty() ? nullptr : &t.signature);
  }

  flatbuffers::Offset<tflite::Operator> Add(const TfliteOperator& op) {
    const auto options = op.options ? op.options(fbb_) : flatbuffers::Offset<void>();
    const auto code = op.custom.empty() ? op.code : tflite::BuiltinOperator::CUSTOM;
    const auto made = tflite::CreateOperatorDirect(
        fbb_, static_cast<uint32_t>(codes_.size()), &op.inputs, &op.outputs, op.options_type, options,
        op.custom_options.empty() ? nullptr : &op.custom_options, tflite::CustomOptionsFormat::FLEXBUFFERS, nullptr,
        op.intermediates.empty() ? nullptr : &op.intermediates);
    codes_.push_back(
        tflite::CreateOperatorCodeDirect(fbb_, 0, op.custom.empty() ? nullptr : op.custom.c_str(), op.version, code));
    return made;
  }

  flatbuffers::Offset<tflite::SubGraph> Add(const TfliteSubgraph& graph) {
    std::vector<flatbuffers::Offset<tflite::Tensor>> tensors;
    for (const TfliteTensor& t : graph.tensors) tensors.push_back(Add(t));
    std::vector<flatbuffers::Offset<tflite::Operator>> operators;
    for (const TfliteOperator& op : graph.operators) operators.push_back(Add(op));
    return tflite::CreateSubGraphDirect(fbb_, &tensors, &graph.inputs, &graph.outputs, &operators);
  }

  flatbuffers::FlatBufferBuilder fbb_;
  std::vector<flatbuffers::Offset<tflite::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes_;
};

inline std::vector<uint8_t> WriteTflite(const TfliteModel& model) {
  return TfliteWriter().Write(model);
}

}  // namespace takt::test

#endif  // TAKT_TESTS_CONVERTER_TFLITE_BUILDER_H_
