// conv2d, conv2d_add; rules shared with other ops.
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
namespace ops {

Status CheckOperands(const KernelCall& call, std::span<const DataType> types, bool strided) {
  const size_t count = call.inputs.size() + call.outputs.size();
  if (count != types.size()) return BadOperand(static_cast<uint32_t>(count));
  uint32_t i = 0;
  for (const DataType type : types) {
    const TensorRef& t = i < call.inputs.size() ? call.inputs[i] : call.outputs[i - call.inputs.size()];
    if (t.type != type || t.rank > kMaxRank || (t.strides != nullptr && !strided)) return BadOperand(i);
    if (i >= call.inputs.size() && t.constant) return BadOperand(i);
    for (int d = 0; d < t.rank; ++d)
      if (t.dims[d] < 1) return BadOperand(i);
    ++i;
  }
  return {};
}

bool SameShape(const TensorRef& a, const TensorRef& b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; ++i)
    if (a.dims[i] != b.dims[i]) return false;
  return true;
}

bool ClampOk(const schema::Clamp& clamp, DataType type) {
  const float lo = clamp.min(), hi = clamp.max();
  if (!(lo <= hi)) return false;
  if (type == DataType::kFloat32) return true;
  const float least = type == DataType::kUint8 ? 0.0f : type == DataType::kInt8 ? -128.0f : -32768.0f;
  const float most = least + (type == DataType::kInt16 ? 65535.0f : 255.0f);
  return lo >= least && hi <= most && static_cast<float>(static_cast<int32_t>(lo)) == lo &&
         static_cast<float>(static_cast<int32_t>(hi)) == hi;
}

Status CheckContraction(const KernelCall& call, Numerics numerics) {
  using enum DataType;
  if (call.inputs.size() < 3) return BadOperand(static_cast<uint32_t>(call.inputs.size()));
  const DataType type = call.inputs[0].type, bias = call.inputs[2].type;
  if (!TypeOk(numerics, type)) return BadOperand(0);
  if (numerics == Numerics::kAny) return CheckOperands(call, {kFloat32, kFloat32, kFloat32, kFloat32});
  const DataType requantization = numerics == Numerics::kFp32Rne ? kFloat32 : kInt32;
  if (type == kInt8) return CheckOperands(call, {kInt8, kInt8, kInt32, requantization, kInt8});
  const bool narrow = numerics == Numerics::kTflite && bias == kInt32;
  return CheckOperands(call, {kInt16, kInt8, narrow ? kInt32 : kInt64, requantization, kInt16});
}

Status CheckRequantization(const KernelCall& call, uint32_t index, int32_t channels, Numerics numerics) {
  const TensorRef& t = call.inputs[index];
  const bool fp32 = numerics == Numerics::kFp32Rne;
  if (t.rank != (fp32 ? 1 : 2) || t.dims[0] != channels || (!fp32 && t.dims[1] != 2)) return BadOperand(index);
  if (!t.constant) return BadConstant(index);
  for (int32_t c = 0; c < channels; ++c) {
    const bool ok = fp32 ? ScaleOk(t.as<const float>()[c])
                         : MultiplierOk(t.as<const int32_t>()[2 * c], t.as<const int32_t>()[2 * c + 1]);
    if (!ok) return BadConstant(index);
  }
  return {};
}

bool WindowAxisOk(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t dilation, int64_t before,
                  int64_t after) {
  return stride > 0 && dilation > 0 && in + before + after <= INT32_MAX / 2 &&
         (out - 1) * stride + (kernel - 1) * dilation + 1 <= in + before + after;
}

bool WindowOk(const schema::Window2d& w, const TensorRef& x, const TensorRef& y, int32_t kernel_h, int32_t kernel_w) {
  return WindowAxisOk(x.dims[1], y.dims[1], kernel_h, w.stride_h(), w.dilation_h(), w.pad_top(), w.pad_bottom()) &&
         WindowAxisOk(x.dims[2], y.dims[2], kernel_w, w.stride_w(), w.dilation_w(), w.pad_left(), w.pad_right());
}

}  // namespace ops

using namespace ops;

static Status CheckConv(const KernelCall& call, const schema::Conv2dParams& p, Numerics numerics, uint64_t& work) {
  const TensorRef &x = call.inputs[0], &w = call.inputs[1], &y = call.outputs[0];
  if (x.rank != 4) return BadOperand(0);
  if (w.rank != 4 || x.dims[3] % w.dims[3] != 0 || w.dims[0] % (x.dims[3] / w.dims[3]) != 0) return BadOperand(1);
  if (y.rank != 4 || y.dims[0] != x.dims[0] || y.dims[3] != w.dims[0])
    return BadOperand(static_cast<uint32_t>(call.inputs.size()));
  if (!WindowOk(p.window(), x, y, w.dims[1], w.dims[2])) return BadParams();
  TAKT_TRY(CheckContractionParams(call, w.dims[0], numerics, p));
  AddWork(work, y.size(), w.size() / static_cast<uint32_t>(w.dims[0]));
  return {};
}

Status CheckConv2d(const KernelCall& call, Numerics numerics, uint64_t& work) {
  TAKT_TRY(CheckContraction(call, numerics));
  return CheckConv(call, call.params<schema::Conv2dParams>(), numerics, work);
}

Status CheckConv2dAdd(const KernelCall& call, Numerics numerics, uint64_t& work) {
  using enum DataType;
  TAKT_TRY(
      CheckOperands(call, {kInt8, kInt8, kInt32, numerics == Numerics::kFp32Rne ? kFloat32 : kInt32, kInt8, kInt8}));
  const auto& p = call.params<schema::Conv2dAddParams>();
  if (!SameShape(call.inputs[4], call.outputs[0])) return BadOperand(4);
  if (!AddOk(p.add(), numerics, kInt8)) return BadParams();
  return CheckConv(call, p.conv(), numerics, work);
}

}  // namespace takt
