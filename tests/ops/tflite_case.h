// A TFLite file of one operator with small values, read, converted and run.
#ifndef TAKT_TESTS_OPS_TFLITE_CASE_H_
#define TAKT_TESTS_OPS_TFLITE_CASE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/data_type.h"
#include "tests/converter/tflite_builder.h"

namespace takt::test {

using Code = tflite::BuiltinOperator;
using Kind = tflite::BuiltinOptions;
using Shape = std::vector<int32_t>;

/// An input: the values 1, 2, .. of the case's type, or a constant.
struct Input {
  Shape shape;
  std::vector<double> constant = {};
  DataType type = DataType::kNone;  ///< kNone: the case's.
};
inline Input X(Shape shape) {
  return {std::move(shape)};
}
/// Constants of int32, and of the case's type.
inline Input Int32s(Shape shape, std::vector<double> values) {
  return {std::move(shape), std::move(values), DataType::kInt32};
}
inline Input Int32s(std::vector<double> values) {
  const auto count = static_cast<int32_t>(values.size());
  return Int32s({count}, std::move(values));
}
inline Input Scalar(double value) {
  return Int32s({}, {value});
}
inline Input Same(Shape shape, std::vector<double> values) {
  return {std::move(shape), std::move(values)};
}

struct Output {
  Shape shape;
  std::vector<double> values;
  DataType type = DataType::kNone;
};

struct DataCase {
  const char* name;
  Code code;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  Kind kind = Kind::NONE;
  Options options = nullptr;
};

/// The file, where the case's type is `type` (int8 with scale 1).
TfliteModel ModelOf(const DataCase& c, DataType type);
/// Expects the case's outputs.
void RunData(const DataCase& c, DataType type);
/// Expects that the file is refused with a message that contains `message`.
void ExpectRefused(const DataCase& c, DataType type, const std::string& message);

}  // namespace takt::test

#endif  // TAKT_TESTS_OPS_TFLITE_CASE_H_
