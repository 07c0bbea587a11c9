#include "converter/cli/capture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "converter/cli/files.h"
#include "converter/report/plan_report.h"

namespace takt::cli {
namespace {

template <typename T>
double Load(const std::vector<uint8_t>& bytes, uint64_t i) {
  T value;
  std::memcpy(&value, &bytes[i * sizeof(T)], sizeof(T));
  return static_cast<double>(value);
}

}  // namespace

double Captured::Stored(uint64_t i) const {
  switch (type) {
    case DataType::kFloat32: return Load<float>(bytes, i);
    case DataType::kInt8: return Load<int8_t>(bytes, i);
    case DataType::kInt16: return Load<int16_t>(bytes, i);
    case DataType::kInt32: return Load<int32_t>(bytes, i);
    case DataType::kUint32: return Load<uint32_t>(bytes, i);
    case DataType::kInt64: return Load<int64_t>(bytes, i);
    case DataType::kUint64: return Load<uint64_t>(bytes, i);
    case DataType::kFloat16: return Load<uint16_t>(bytes, i);
    case DataType::kInt4: return (bytes[i / 2] >> (i % 2 * 4) & 15) - ((bytes[i / 2] >> (i % 2 * 4) & 8) << 1);
    default: return Load<uint8_t>(bytes, i);
  }
}

double Captured::Real(uint64_t i) const {
  return scale == 0 ? Stored(i) : static_cast<double>(scale) * (Stored(i) - zero_point);
}

std::vector<Captured> CaptureSteps(const std::string& path, Session& session,
                                   const std::vector<std::vector<uint8_t>>& inputs) {
  std::vector<Captured> captured;
  Interpreter& net = session.net();
  const Plan& plan = session.plan();
  SetInputs(net, inputs);
  Require(path, net.Begin());
  for (Progress progress = Progress::kMore; progress != Progress::kDone;) {
    const uint32_t step = net.cursor();
    progress = net.Step(1);
    if (progress == Progress::kFailed) Require(path, net.status());
    if (progress == Progress::kWaiting || step >= plan.step_count()) continue;
    for (uint16_t tensor : plan.step(step).outputs) {
      if (plan.tensor(tensor).strides != nullptr || plan.tensor(tensor).constant) continue;
      const TensorOriginView origin = plan.tensor_origin(tensor);
      const auto bytes = net.tensor(tensor);
      Captured one{step, report::StepName(session.file().root(), step), origin.source, plan.tensor(tensor).type,
                   origin.scale, origin.zero_point, {}};
      one.bytes.resize(bytes.size());
      std::memcpy(one.bytes.data(), bytes.data(), bytes.size());
      captured.push_back(std::move(one));
    }
  }
  return captured;
}

Difference Compare(const Captured& a, const Captured& b) {
  Difference difference;
  difference.elements = a.Elements();
  const bool stored = a.type == b.type;
  double ab = 0, aa = 0, bb = 0;
  for (uint64_t i = 0; i < difference.elements; ++i) {
    const double x = stored ? a.Stored(i) : a.Real(i), y = stored ? b.Stored(i) : b.Real(i);
    double delta = std::fabs(x - y);
    if (x == y || (std::isnan(x) && std::isnan(y))) delta = 0;
    if (std::isnan(delta)) delta = std::numeric_limits<double>::infinity();
    difference.max = std::max(difference.max, delta);
    difference.count += delta != 0 ? 1 : 0;
    ab += a.Real(i) * b.Real(i), aa += a.Real(i) * a.Real(i), bb += b.Real(i) * b.Real(i);
  }
  difference.cosine = aa == 0 || bb == 0 ? (aa == bb ? 1 : 0) : ab / std::sqrt(aa * bb);
  return difference;
}

}  // namespace takt::cli
