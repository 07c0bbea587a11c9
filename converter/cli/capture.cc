#include "converter/cli/capture.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"
#include "converter/cli/sample_inputs.h"
#include "converter/report/plan_report.h"

namespace takt::cli {
namespace {

constexpr uint64_t kLongestWaitNs = 60'000'000'000;

template <typename T>
T Load(const std::vector<uint8_t>& bytes, uint64_t i) {
  T value;
  std::memcpy(&value, &bytes[i * sizeof(T)], sizeof(T));
  return value;
}

double FromHalf(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31)
    value = fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return (bits & 0x8000) != 0 ? -value : value;
}

/// Calls copy(offset of the dense bytes, offset of the view's, bytes) so that together they are the whole tensor.
template <typename Copy>
void ForEachPiece(const TensorView& view, size_t dense_bytes, const Copy& copy) {
  if (view.strides == nullptr) return copy(0, 0, dense_bytes);
  const size_t element = BitWidth(view.type) / 8;
  int32_t at[kMaxRank] = {};
  for (size_t dense = 0; dense < dense_bytes; dense += element) {
    size_t strided = 0;
    for (int k = 0; k < view.rank; ++k) strided += static_cast<size_t>(at[k]) * static_cast<size_t>(view.strides[k]);
    copy(dense, strided, element);
    for (int k = view.rank - 1; k >= 0 && ++at[k] == view.dims[k]; --k) at[k] = 0;
  }
}

/// Steps whose results are the values of their inputs, in another form.
bool OnlyConverts(Op op) {
  return op == Op::kQuantize || op == Op::kRequantize || op == Op::kDequantize;
}

class Recorder {
 public:
  explicit Recorder(Session& session) : session_(session), seen_(session.plan().tensor_count()) {}

  void Take(uint32_t step, uint16_t tensor) {
    const Plan& plan = session_.plan();
    const TensorView view = plan.tensor(tensor);
    if (view.constant || seen_[tensor]) return;
    seen_[tensor] = true;
    const TensorOriginView origin = plan.tensor_origin(tensor);
    Captured one{.tensor = tensor,
                 .step = step,
                 .name = report::StepName(plan, step),
                 .node = -1,
                 .dims = {view.dims, view.dims + view.rank},
                 .source = origin.source,
                 .type = view.type,
                 .scale = origin.scale,
                 .zero_point = origin.zero_point,
                 .elements = 1,
                 .bytes = std::vector<uint8_t>(plan.tensor_bytes(tensor))};
    const auto nodes = plan.step_origin(step).nodes;
    const auto outputs = plan.step(step).outputs;
    if (!nodes.empty() && std::ranges::count(outputs, tensor) != 0 && !OnlyConverts(plan.step(step).op))
      one.node = nodes.back();
    for (const int32_t dim : one.dims) one.elements *= static_cast<uint64_t>(dim);
    const std::span<const std::byte> memory = session_.net().tensor(tensor);
    if (!one.bytes.empty()) {
      ForEachPiece(view, one.bytes.size(), [&](size_t dense, size_t strided, size_t bytes) {
        std::memcpy(&one.bytes[dense], memory.data() + strided, bytes);
      });
    }
    captured_.push_back(std::move(one));
  }

  std::vector<Captured> Finish() {
    std::stable_sort(captured_.begin(), captured_.end(),
                     [](const Captured& a, const Captured& b) { return a.step < b.step; });
    return std::move(captured_);
  }

 private:
  Session& session_;
  std::vector<bool> seen_;
  std::vector<Captured> captured_;
};

/// One step, however long its device takes within reason.
Progress RunOneStep(const std::string& path, Interpreter& net) {
  const uint64_t deadline = Now() + kLongestWaitNs;
  while (true) {
    const Progress progress = net.Step(1);
    if (progress == Progress::kFailed) Require(path, net.status());
    if (progress != Progress::kWaiting) return progress;
    if (Now() > deadline)
      throw InputError(
          absl::StrCat(path, ": the device of step ", net.cursor(), " has been busy for 60 s; check the device"));
  }
}

}  // namespace

double Captured::Stored(uint64_t i) const {
  switch (type) {
    case DataType::kFloat32:
      return Load<float>(bytes, i);
    case DataType::kInt8:
      return Load<int8_t>(bytes, i);
    case DataType::kInt16:
      return Load<int16_t>(bytes, i);
    case DataType::kInt32:
      return Load<int32_t>(bytes, i);
    case DataType::kUint32:
      return Load<uint32_t>(bytes, i);
    case DataType::kInt64:
      return static_cast<double>(Load<int64_t>(bytes, i));
    case DataType::kUint64:
      return static_cast<double>(Load<uint64_t>(bytes, i));
    case DataType::kFloat16:
      return FromHalf(Load<uint16_t>(bytes, i));
    case DataType::kInt4:
      return (bytes[i / 2] >> (i % 2 * 4) & 15) - ((bytes[i / 2] >> (i % 2 * 4) & 8) << 1);
    default:
      return Load<uint8_t>(bytes, i);
  }
}

double Captured::Real(uint64_t i) const {
  return scale == 0 ? Stored(i) : static_cast<double>(scale) * (Stored(i) - zero_point);
}

std::vector<Captured> CaptureTensors(const std::string& path, Session& session,
                                     const std::vector<std::vector<uint8_t>>& inputs,
                                     const std::function<void(uint32_t step)>& before) {
  Interpreter& net = session.net();
  const Plan& plan = session.plan();
  Recorder recorder(session);
  SetInputs(net, inputs);
  Require(path, net.Begin());
  for (Progress progress = Progress::kMore; progress != Progress::kDone;) {
    const uint32_t step = net.cursor();
    if (before) before(step);
    for (uint16_t tensor : plan.step(step).inputs) recorder.Take(step, tensor);
    progress = RunOneStep(path, net);
    for (uint16_t tensor : plan.step(step).outputs) recorder.Take(step, tensor);
  }
  for (uint32_t i = 0; i < plan.output_count(); ++i) recorder.Take(plan.step_count() - 1, plan.output(i).tensor);
  return recorder.Finish();
}

std::vector<int> MatchTensors(const std::vector<Captured>& ours, const std::vector<Captured>& theirs) {
  std::map<int32_t, int> by_source;
  std::map<int64_t, std::vector<int>> our_results, their_results;
  for (size_t i = 0; i < theirs.size(); ++i) {
    if (theirs[i].source >= 0) by_source[theirs[i].source] = static_cast<int>(i);
    if (theirs[i].node >= 0) their_results[theirs[i].node].push_back(static_cast<int>(i));
  }
  std::vector<int> matches(ours.size(), -1);
  for (size_t i = 0; i < ours.size(); ++i) {
    const auto found = by_source.find(ours[i].source);
    if (found != by_source.end()) {
      matches[i] = found->second;
    } else if (ours[i].node >= 0) {
      our_results[ours[i].node].push_back(static_cast<int>(i));
    }
  }
  // A node that has become several steps: one by one if both plans have as many, else what the last one gives.
  for (const auto& [node, results] : our_results) {
    const std::vector<int>& others = their_results[node];
    const size_t count = results.size() == others.size() ? results.size() : std::min<size_t>(others.size(), 1);
    for (size_t k = 1; k <= count; ++k)
      matches[static_cast<size_t>(results[results.size() - k])] = others[others.size() - k];
  }
  for (size_t i = 0; i < ours.size(); ++i) {
    if (matches[i] >= 0 && theirs[static_cast<size_t>(matches[i])].dims != ours[i].dims) matches[i] = -1;
  }
  return matches;
}

void StoreTensor(Session& session, const Captured& tensor, const Captured& values) {
  std::vector<float> reals(values.elements);
  for (uint64_t i = 0; i < values.elements; ++i) reals[i] = static_cast<float>(values.Real(i));
  const std::vector<uint8_t> bytes = StoredBytes(tensor.type, tensor.scale, tensor.zero_point, reals);
  const std::span<std::byte> memory = session.net().tensor(tensor.tensor);
  ForEachPiece(session.plan().tensor(tensor.tensor), bytes.size(), [&](size_t dense, size_t strided, size_t size) {
    if (size != 0) std::memcpy(memory.data() + strided, &bytes[dense], size);
  });
}

Difference Compare(const Captured& a, const Captured& b) {
  Difference difference;
  difference.elements = a.elements;
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
