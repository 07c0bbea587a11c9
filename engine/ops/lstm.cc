// lstm
#include "engine/ops/check.h"
#include "engine/ops/checks.h"

namespace takt {
using namespace ops;
using schema::GateFunction;

namespace {

/// Sizes of a call whose operands have their ranks.
struct Sizes {
  int64_t steps, batches, inputs, outputs, cells, rows;
  Sizes(const KernelCall& call, const schema::LstmParams& p)
      : steps(call.inputs[0].dims[p.batch_major() ? 1 : 0]),
        batches(call.inputs[0].dims[p.batch_major() ? 0 : 1]),
        inputs(call.inputs[0].dims[2]),
        outputs(call.inputs[4].dims[1]),
        cells(call.inputs[5].dims[1]),
        rows(cells * (p.coupled() ? 3 : 4)) {}
};

/// More than TFLite Micro's cell: peepholes and so on.
bool IsExtended(const schema::LstmParams& p) {
  return p.coupled() || p.peepholes() || p.normalized() || p.projected();
}

Status CheckTypes(const KernelCall& call, const schema::LstmParams& p, Numerics numerics) {
  using enum DataType;
  const bool is_float = numerics == Numerics::kAny;
  const DataType type = is_float ? kFloat32 : call.inputs[0].type;
  const DataType weights = is_float ? kFloat32 : kInt8;
  const DataType bias = is_float ? kFloat32 : type == kInt16 ? kInt64 : kInt32;
  const DataType memory = is_float ? kFloat32 : kInt16;
  const DataType factors = numerics == Numerics::kTflite ? kInt32 : kFloat32;
  DataType types[kMaxOperands] = {type, weights, weights, bias, type, memory};
  size_t n = 6;
  if (!is_float) types[n++] = kInt32;
  if (p.peepholes()) types[n++] = factors;
  if (p.normalized()) types[n++] = factors;
  if (p.projected()) types[n++] = weights, types[n++] = bias;
  for (const DataType t : {type, type, memory}) types[n++] = t;
  return CheckOperands(call, std::span<const DataType>(types, n));
}

Status CheckShapes(const KernelCall& call, const schema::LstmParams& p, bool is_float) {
  for (const uint32_t i : {0u, 4u, 5u})
    if (call.inputs[i].rank != (i == 0 ? 3 : 2)) return BadOperand(i);
  const Sizes n(call, p);
  if (!HasShape(call.inputs[1], {n.rows, n.inputs})) return BadOperand(1);
  if (!HasShape(call.inputs[2], {n.rows, n.outputs})) return BadOperand(2);
  if (!HasShape(call.inputs[3], {n.rows})) return BadOperand(3);
  if (!HasShape(call.inputs[4], {n.batches, p.projected() ? n.outputs : n.cells})) return BadOperand(4);
  if (!HasShape(call.inputs[5], {n.batches, n.cells})) return BadOperand(5);
  uint32_t i = 6;
  if (!is_float) TAKT_TRY(CheckLogisticTable(call, i++));
  if (p.peepholes() && !HasShape(call.inputs[i++], {3, n.cells})) return BadOperand(i - 1);
  if (p.normalized() && !HasShape(call.inputs[i++], {2, n.rows})) return BadOperand(i - 1);
  if (p.projected() && !HasShape(call.inputs[i++], {n.outputs, n.cells})) return BadOperand(i - 1);
  if (p.projected() && !HasShape(call.inputs[i++], {n.outputs})) return BadOperand(i - 1);
  const TensorRef &x = call.inputs[0], &y = call.outputs[0];
  if (!HasShape(y, {x.dims[0], x.dims[1], n.outputs})) return BadOperand(i);
  if (!SameShape(call.inputs[4], call.outputs[1])) return BadOperand(i + 1);
  return SameShape(call.inputs[5], call.outputs[2]) ? Status() : BadOperand(i + 2);
}

/// Integers have a table for logistic and tanh.
bool FunctionOk(GateFunction f, bool is_float) {
  return is_float ? f <= GateFunction::relu6 : f == GateFunction::logistic || f == GateFunction::tanh;
}

bool StageOk(const schema::Rescale& stage, Numerics numerics) {
  return numerics == Numerics::kFp32Rne ? PositiveOk(stage.scale())
                                        : numerics == Numerics::kAny || MultiplierOk(stage.multiplier(), stage.shift());
}

/// TFLite's stages of an extended cell: c is a power of two, of which tanh takes up to 6 integer bits.
bool ExtendedStagesOk(const schema::LstmParams& p, int64_t cells) {
  const auto within = [](int32_t v, int32_t most) { return v >= 0 && v <= most; };
  if (!within(p.forget().shift(), 30) || !within(p.update().shift(), 30) || !within(p.function().shift(), 6))
    return false;
  for (uint16_t g = p.coupled() ? 1 : 0; g < 4; ++g) {
    if (p.normalized() && (!StageOk(*p.normalization()->Get(g), Numerics::kTflite) || p.variance_guard()->Get(g) < 1))
      return false;
    if (p.peepholes() && g < 3 && !StageOk(*p.peephole()->Get(g), Numerics::kTflite)) return false;
  }
  // The reciprocal of their number has 20 bits.
  return !p.normalized() || cells <= 1 << 20;
}

bool StagesOk(const schema::LstmParams& p, Numerics numerics, int64_t cells) {
  for (uint16_t g = p.coupled() ? 1 : 0; g < 4; ++g)
    if (!StageOk(*p.input()->Get(g), numerics) || !StageOk(*p.recurrent()->Get(g), numerics)) return false;
  if (!StageOk(p.hidden(), numerics) || (p.projected() && !StageOk(p.projection(), numerics))) return false;
  if (numerics == Numerics::kTflite && IsExtended(p)) return ExtendedStagesOk(p, cells);
  if (!StageOk(p.forget(), numerics) || !StageOk(p.update(), numerics)) return false;
  if (numerics != Numerics::kTflite) return StageOk(p.function(), numerics);
  // The product of c and the multiplier stays below 2^31.
  const schema::Rescale& f = p.function();
  return f.multiplier() >= 0 && f.multiplier() <= 32767 && f.shift() >= 0 && f.shift() <= 30;
}

}  // namespace

Status CheckLstm(const KernelCall& call, Numerics numerics, uint64_t& work) {
  const auto& p = call.params<schema::LstmParams>();
  const bool is_float = numerics == Numerics::kAny;
  const DataType type = call.inputs[0].type;
  if (!TypeOk(numerics, type)) return BadOperand(0);
  TAKT_TRY(CheckTypes(call, p, numerics));
  TAKT_TRY(CheckShapes(call, p, is_float));
  for (const GateFunction f : {p.gate_function(), p.candidate_function(), p.cell_function()})
    if (!FunctionOk(f, is_float)) return BadParams();
  if (!ClampOk(p.sum(), DataType::kFloat32) || !ClampOk(p.cell(), is_float ? type : DataType::kInt16) ||
      !ClampOk(p.output(), type))
    return BadParams();
  for (const int16_t zero_point : {p.input_zero_point(), p.hidden_zero_point(), p.output_zero_point()})
    if (!ZeroPointOk(zero_point, type)) return BadParams();
  // TFLite has no extended cells of int16 activations.
  if (numerics == Numerics::kTflite && type == DataType::kInt16 && IsExtended(p)) return BadOperand(0);
  const Sizes n(call, p);
  if (!StagesOk(p, numerics, n.cells)) return BadParams();
  const auto of = [](int64_t a, int64_t b) { return static_cast<uint64_t>(a) * static_cast<uint64_t>(b); };
  const uint64_t step = of(n.rows, n.inputs + n.outputs + 4) + of(n.cells, p.projected() ? n.outputs : 1);
  AddWork(work, of(n.steps, n.batches), step);
  return {};
}

}  // namespace takt
