// Writes the fuzzers' seeds: make_corpus tests/fuzz/corpus
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "schema/tflite_generated.h"
#include "tests/support/try_plan.h"

namespace {

namespace tflite = takt::tflite;
using flatbuffers::FlatBufferBuilder;

void Write(const std::filesystem::path& path, std::span<const uint8_t> bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

flatbuffers::Offset<tflite::Tensor> Tensor(FlatBufferBuilder& fbb, std::vector<int32_t> shape, tflite::TensorType type,
                                           uint32_t buffer, const char* name, float scale, int64_t zero_point) {
  const std::vector<float> scales = {scale};
  const std::vector<int64_t> zero_points = {zero_point};
  const auto quantization = tflite::CreateQuantizationParametersDirect(fbb, nullptr, nullptr, &scales, &zero_points);
  return tflite::CreateTensorDirect(fbb, &shape, type, buffer, name, quantization);
}

/// int8 x[1, 8] -> fully connected, 4 units -> softmax.
std::vector<uint8_t> Classifier() {
  FlatBufferBuilder fbb;
  const std::vector<uint8_t> weights(32, 3), bias(16, 0);
  const std::vector<flatbuffers::Offset<tflite::Buffer>> buffers = {
      tflite::CreateBuffer(fbb), tflite::CreateBufferDirect(fbb, &weights), tflite::CreateBufferDirect(fbb, &bias)};
  const std::vector<flatbuffers::Offset<tflite::Tensor>> tensors = {
      Tensor(fbb, {1, 8}, tflite::TensorType::INT8, 0, "x", 0.5f, 0),
      Tensor(fbb, {4, 8}, tflite::TensorType::INT8, 1, "w", 0.25f, 0),
      Tensor(fbb, {4}, tflite::TensorType::INT32, 2, "b", 0.125f, 0),
      Tensor(fbb, {1, 4}, tflite::TensorType::INT8, 0, "h", 0.5f, 3),
      Tensor(fbb, {1, 4}, tflite::TensorType::INT8, 0, "y", 1.0f / 256, -128)};
  const std::vector<int32_t> first = {0, 1, 2}, hidden = {3}, input = {0}, output = {4};
  const std::vector<flatbuffers::Offset<tflite::Operator>> operators = {
      tflite::CreateOperatorDirect(
          fbb, 0, &first, &hidden, tflite::BuiltinOptions::FullyConnectedOptions,
          tflite::CreateFullyConnectedOptions(fbb, tflite::ActivationFunctionType::RELU).Union()),
      tflite::CreateOperatorDirect(fbb, 1, &hidden, &output, tflite::BuiltinOptions::SoftmaxOptions,
                                   tflite::CreateSoftmaxOptions(fbb, 1.0f).Union())};
  const std::vector<flatbuffers::Offset<tflite::OperatorCode>> codes = {
      tflite::CreateOperatorCodeDirect(fbb, 9, nullptr, 1, tflite::BuiltinOperator::FULLY_CONNECTED),
      tflite::CreateOperatorCodeDirect(fbb, 25, nullptr, 1, tflite::BuiltinOperator::SOFTMAX)};
  const std::vector<flatbuffers::Offset<tflite::SubGraph>> graphs = {
      tflite::CreateSubGraphDirect(fbb, &tensors, &input, &output, &operators, "main")};
  tflite::FinishModelBuffer(fbb, tflite::CreateModelDirect(fbb, 3, &codes, &graphs, "seed", &buffers));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "make_corpus DIR\n"), 2;
  const std::filesystem::path to = argv[1];
  Write(to / "plan/small_net.takt", takt::test::SmallNet().Pack().view());
  Write(to / "plan/one_of_everything.takt", takt::test::OneOfEverything().Pack().view());
  Write(to / "plan/copy_chain.takt", takt::test::CopyChain(3).Pack().view());
  Write(to / "tflite/classifier.tflite", Classifier());
  return 0;
}
