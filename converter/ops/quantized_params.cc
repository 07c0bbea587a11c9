#include "converter/ops/quantized_params.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "converter/base/saturate.h"

namespace takt::ir {
namespace {

void TypeRange(DataType type, double& min, double& max) {
  switch (type) {
    case DataType::kInt8:
      min = -128, max = 127;
      return;
    case DataType::kUint8:
      min = 0, max = 255;
      return;
    case DataType::kInt16:
      min = -32768, max = 32767;
      return;
    default:
      min = std::numeric_limits<float>::lowest(), max = std::numeric_limits<float>::max();
      return;
  }
}

int8_t Narrow(int32_t shift) {
  return static_cast<int8_t>(shift);
}

}  // namespace

FixedMultiplier QuantizeMultiplier(double real) {
  if (real == 0.0 || std::isnan(real)) return {};
  if (std::isinf(real)) return {std::numeric_limits<int32_t>::max(), 30};
  int shift = 0;
  const double fraction = std::frexp(real, &shift);
  auto fixed = static_cast<int64_t>(std::round(fraction * 2147483648.0));
  if (fixed == (int64_t{1} << 31)) {
    fixed /= 2;
    ++shift;
  }
  if (shift < -31) return {};
  if (shift > 30) return {std::numeric_limits<int32_t>::max(), 30};
  return {static_cast<int32_t>(fixed), shift};
}

float ScaleOf(const Tensor& tensor) {
  return tensor.quantization && !tensor.quantization->scales.empty() ? tensor.quantization->scales[0] : 0.0f;
}

int32_t ZeroPointOf(const Tensor& tensor) {
  return tensor.quantization && !tensor.quantization->zero_points.empty() ? tensor.quantization->zero_points[0] : 0;
}

bool SameQuantization(const Tensor& a, const Tensor& b) {
  return a.type == b.type && ScaleOf(a) == ScaleOf(b) && ZeroPointOf(a) == ZeroPointOf(b);
}

bool IsInteger(DataType type) {
  return type == DataType::kInt8 || type == DataType::kUint8 || type == DataType::kInt16;
}

int32_t StoredValue(double value, const Tensor& tensor) {
  const float quotient = static_cast<float>(value) / ScaleOf(tensor);
  const double stored = std::round(static_cast<double>(quotient)) + ZeroPointOf(tensor);
  return Saturated<int32_t>(stored);
}

int32_t SaturatedValue(double value, const Tensor& tensor) {
  double low = 0;
  double high = 0;
  TypeRange(tensor.type, low, high);
  return static_cast<int32_t>(std::clamp<double>(StoredValue(value, tensor), low, high));
}

std::optional<double> RoundComputed(double value) {
  const double distance = std::fabs(std::fabs(value - std::trunc(value)) - 0.5);
  const double margin = std::max(1.0, std::fabs(value)) * 0x1p-48;  // 16 units in the last place
  if (distance > 0 && distance < margin) return std::nullopt;
  return std::nearbyint(value);
}

void ActivationRange(const std::string& activation, double& min, double& max) {
  min = std::numeric_limits<float>::lowest();
  max = std::numeric_limits<float>::max();
  if (activation == "relu" || activation == "relu6") min = 0;
  if (activation == "relu6") max = 6;
  if (activation == "relu_n1_to_1") min = -1, max = 1;
}

schema::Clamp StoredClamp(double min, double max, const Tensor& output) {
  double low = 0;
  double high = 0;
  TypeRange(output.type, low, high);
  if (!IsInteger(output.type) || ScaleOf(output) == 0.0f) {
    return {static_cast<float>(std::max(low, min)), static_cast<float>(std::min(high, max))};
  }
  if (min > std::numeric_limits<float>::lowest()) low = SaturatedValue(min, output);
  if (max < std::numeric_limits<float>::max()) high = SaturatedValue(max, output);
  return {static_cast<float>(low), static_cast<float>(high)};
}

schema::Clamp StoredClamp(const std::string& activation, const Tensor& output) {
  double min = 0;
  double max = 0;
  ActivationRange(activation, min, max);
  return StoredClamp(min, max, output);
}

float CheckedScale(float scale, backend::StepBuilder& step) {
  if (!(scale < 256.0f)) {
    step.Error("requantization scale " + std::to_string(scale) +
               " is not below 256; choose a larger output scale when the model is quantized");
    return 1.0f;
  }
  return std::max(scale, 0x1p-32f);
}

bool CheckQuantized(backend::StepBuilder& step) {
  const auto check = [&](TensorId id) {
    if (id == kNoTensor) return true;
    const Tensor& t = step.tensor(id);
    if (!IsInteger(t.type)) return true;
    if (ScaleOf(t) > 0.0f && std::isfinite(ScaleOf(t))) return true;
    step.Error("an integer tensor without a quantization scale; quantize the model with scales for every tensor", id);
    return false;
  };
  bool ok = true;
  for (TensorId id : step.node().inputs) ok = check(id) && ok;
  for (TensorId id : step.node().outputs) ok = check(id) && ok;
  return ok;
}

TensorId ContractionRequantization(backend::StepBuilder& step, float output_scale, bool float_product) {
  const Tensor& input = step.tensor(step.node().inputs[0]);
  const Tensor& weights = step.tensor(step.node().inputs[1]);
  const auto channels = static_cast<size_t>(step.tensor(step.node().inputs[2]).element_count());
  const std::vector<float>& scales = weights.quantization->scales;
  if (scales.size() != 1 && scales.size() != channels) {
    step.Error("weights have " + std::to_string(scales.size()) + " scales for " + std::to_string(channels) +
                   " output channels; one or one per channel is allowed",
               step.node().inputs[1]);
    return kNoTensor;
  }
  const float in = ScaleOf(input);
  const auto count = static_cast<int32_t>(channels);
  if (step.numerics() == Numerics::kTflite) {
    std::vector<int32_t> values;
    for (size_t c = 0; c < channels; ++c) {
      const float w = scales.size() == 1 ? scales[0] : scales[c];
      const double product = float_product && scales.size() == 1 ? static_cast<double>(in * w)
                                                                 : static_cast<double>(in) * static_cast<double>(w);
      const FixedMultiplier m = QuantizeMultiplier(product / static_cast<double>(output_scale));
      values.push_back(m.multiplier);
      values.push_back(m.shift);
    }
    return step.Constant("requantization", DataType::kInt32, {count, 2}, values);
  }
  std::vector<float> values;
  for (size_t c = 0; c < channels; ++c) {
    const float w = scales.size() == 1 ? scales[0] : scales[c];
    values.push_back(CheckedScale(in * w / output_scale, step));
  }
  return step.Constant("requantization", DataType::kFloat32, {count}, values);
}

TensorId ContractionRequantization(backend::StepBuilder& step, const Tensor& output, bool float_product) {
  return ContractionRequantization(step, ScaleOf(output), float_product);
}

schema::AddParams MakeAddParams(backend::StepBuilder& step, ScaleZero a, ScaleZero b, const Tensor& output,
                                const std::string& activation, bool subtract) {
  const auto function = subtract ? schema::AddFunction::subtract : schema::AddFunction::add;
  const schema::Clamp clamp = StoredClamp(activation, output);
  if (!IsInteger(output.type)) return {clamp, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, function, 0};
  const auto az = static_cast<int16_t>(a.zero_point);
  const auto bz = static_cast<int16_t>(b.zero_point);
  const auto oz = static_cast<int16_t>(ZeroPointOf(output));
  if (step.numerics() == Numerics::kTflite) {
    const int left = output.type == DataType::kInt16 ? 15 : 20;
    // TFLite divides in double for add, in float for subtract.
    const float twice = 2.0f * std::max(a.scale, b.scale);
    const auto ratio = [subtract](float x, float y) {
      return QuantizeMultiplier(subtract ? static_cast<double>(x / y)
                                         : static_cast<double>(x) / static_cast<double>(y));
    };
    const FixedMultiplier am = ratio(a.scale, twice);
    const FixedMultiplier bm = ratio(b.scale, twice);
    const FixedMultiplier om = ratio(twice, static_cast<float>(1 << left) * ScaleOf(output));
    return {clamp,
            am.multiplier,
            bm.multiplier,
            om.multiplier,
            Narrow(am.shift),
            Narrow(bm.shift),
            Narrow(om.shift),
            static_cast<int8_t>(left),
            az,
            bz,
            oz,
            function,
            0};
  }
  const float ar = a.scale / ScaleOf(output);
  const float br = b.scale / ScaleOf(output);
  // requantize_insertion leaves ratios in [2^-10, 2^8).
  const int shift = 20 - std::ilogb(std::max(ar, br));
  const auto am = static_cast<int32_t>(std::nearbyint(std::ldexp(ar, shift)));
  auto bm = static_cast<int32_t>(std::nearbyint(std::ldexp(br, shift)));
  if (subtract) bm = -bm;
  return {clamp, am, bm, 0, 0, 0, Narrow(shift), 0, az, bz, oz, function, 0};
}

Numerics StepNumerics(const backend::StepBuilder& step, TensorId tensor) {
  return IsInteger(step.tensor(tensor).type) ? step.numerics() : Numerics::kAny;
}

}  // namespace takt::ir
