// What tests of the quantizer share.
#ifndef TAKT_TESTS_CONVERTER_QUANT_QUANTIZE_H_
#define TAKT_TESTS_CONVERTER_QUANT_QUANTIZE_H_

#include <cmath>
#include <string>
#include <vector>

#include "converter/backend/convert.h"
#include "converter/ir/constants.h"
#include "tests/converter/onnx_builder.h"
#include "tests/support/messages.h"
#include "tests/support/plan_runner.h"

namespace takt::test {

/// Of one input of so many values in [-1, 1].
inline quant::Samples SomeSamples(size_t count, size_t values) {
  return {count, [=](size_t i) {
            return std::vector<ir::Bytes>{ir::ToBytes(Values(values, static_cast<uint32_t>(100 + i)))};
          }};
}

inline Calibration SomeCalibration(size_t count, size_t values, quant::Options options = {}) {
  return {[=](const ir::Graph&, Diagnostics&) { return SomeSamples(count, values); }, std::move(options)};
}

inline Conversion Quantized(const OnnxBuilder& b, const Calibration& calibration) {
  ConvertOptions options;
  options.calibration = calibration;
  return ConvertOnnx(b.Bytes(), "test.onnx", {}, options);
}

inline double SqnrDb(const std::vector<float>& want, const std::vector<float>& got) {
  double signal = 0;
  double noise = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    signal += std::pow(static_cast<double>(want[i]), 2);
    noise += std::pow(static_cast<double>(want[i]) - static_cast<double>(got[i]), 2);
  }
  return 10 * std::log10(signal / noise);
}

}  // namespace takt::test

#endif  // TAKT_TESTS_CONVERTER_QUANT_QUANTIZE_H_
