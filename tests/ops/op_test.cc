#include "tests/ops/op_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "converter/backend/step_cuts.h"
#include "converter/ir/op_def.h"
#include "converter/npu/machine_json.h"
#include "schema/plan_generated.h"
#include "tests/ops/plan_run.h"
#include "tests/support/unit_costs.h"

namespace takt::test {
namespace {

constexpr uint32_t kSeed = 20250;

uint32_t Draw(uint32_t& state) {
  return (state = state * 1664525u + 1013904223u) >> 8;
}

bool IsQuantized(const Operand& t) {
  return !t.scales.empty();
}

/// Index of the scale of element `i`.
size_t ChannelOf(const Operand& t, size_t i) {
  if (t.scales.size() < 2) return 0;
  size_t inner = 1;
  for (size_t d = static_cast<size_t>(t.axis) + 1; d < t.dims.size(); ++d) inner *= static_cast<size_t>(t.dims[d]);
  return i / inner % t.scales.size();
}

Filled Fill(const Operand& t, uint32_t& state) {
  Filled f;
  f.dims = t.dims;
  const size_t count = Values(t.dims).v.size();
  for (size_t i = 0; i < count; ++i) {
    double q = t.lo + (t.hi - t.lo) * (Draw(state) * 0x1p-24);
    if (Draw(state) % 8 == 0) q = Draw(state) % 2 == 0 ? t.lo : t.hi;
    if (t.type != DataType::kFloat32) q = std::nearbyint(q);
    if (!t.fixed.empty()) q = t.fixed[i % t.fixed.size()];
    if (t.type == DataType::kFloat32) q = static_cast<double>(static_cast<float>(q));
    f.stored.push_back(q);
    f.centered.push_back(q - t.zero_point);
    f.real.push_back((q - t.zero_point) * (IsQuantized(t) ? t.scale(ChannelOf(t, i)) : 1.0));
  }
  return f;
}

/// The case on float32: operands hold the real values.
OpCase AsFloat(OpCase c, Inputs& in) {
  for (size_t i = 0; i < in.size(); ++i) {
    Operand& t = c.inputs[i];
    if (t.type == DataType::kFloat32 || t.type == DataType::kNone) continue;
    for (double& v : in[i].real) v = static_cast<double>(static_cast<float>(v));
    in[i].stored = in[i].centered = in[i].real;
    t = {.type = DataType::kFloat32, .dims = t.dims, .scales = {}, .constant = t.constant, .fixed = {}};
  }
  for (Operand& t : c.outputs)
    if (IsQuantized(t)) t = Float(t.dims);
  return c;
}

ir::TensorId AddOperand(ir::Graph& graph, const Operand& t, const std::string& name) {
  ir::Tensor tensor;
  tensor.name = name;
  tensor.type = t.type;
  tensor.dims = t.dims;
  if (IsQuantized(t))
    tensor.quantization = ir::Quantization{t.scales, std::vector<int32_t>(t.scales.size(), t.zero_point), t.axis};
  return graph.AddTensor(std::move(tensor));
}

/// The graph of one node, whose outputs must be what the shape rule says.
ir::Graph BuildGraph(Op op, const OpCase& c, const Inputs& in) {
  ir::Graph graph;
  graph.name = "test";
  ir::Node node;
  node.op = op;
  node.name = OpName(op);
  node.attributes = c.attributes;
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    if (c.inputs[i].type == DataType::kNone) {
      node.inputs.push_back(ir::kNoTensor);
      continue;
    }
    const ir::TensorId id = AddOperand(graph, c.inputs[i], "in" + std::to_string(i));
    node.inputs.push_back(id);
    if (c.inputs[i].constant)
      graph.tensor(id).data = std::make_shared<const ir::Bytes>(Pack(c.inputs[i].type, in[i].stored));
    else
      graph.inputs.push_back(id);
  }
  for (size_t i = 0; i < c.outputs.size(); ++i) {
    node.outputs.push_back(AddOperand(graph, c.outputs[i], "out" + std::to_string(i)));
    graph.outputs.push_back(node.outputs.back());
  }
  std::vector<ir::TensorType> types;
  EXPECT_EQ(ir::FindOpDef(op).infer(graph, node, types), "");
  EXPECT_EQ(types.size(), c.outputs.size());
  for (size_t i = 0; i < types.size() && i < c.outputs.size(); ++i) {
    EXPECT_EQ(types[i].type, c.outputs[i].type);
    EXPECT_EQ(types[i].dims, c.outputs[i].dims);
    graph.tensor(node.outputs[i]).dims = types[i].dims;
  }
  graph.nodes.push_back(std::move(node));
  return graph;
}

Conversion Convert(ir::Graph graph, Numerics numerics) {
  ConvertOptions options;
  options.numerics = numerics;
  Conversion result = ConvertGraph(std::move(graph), {}, options);
  for (const Diagnostic& d : result.diagnostics.all())
    if (d.severity == Severity::kError) ADD_FAILURE() << d.ToString();
  return result;
}

int64_t Modulo32(double acc) {
  return static_cast<int32_t>(static_cast<uint32_t>(static_cast<int64_t>(std::round(acc))));
}

/// Range of stored values: the type's, within the activation's.
void StoredBounds(const OpCase& c, const Operand& t, double& lo, double& hi) {
  double real_lo = 0, real_hi = 0;
  ActivationBounds(c, real_lo, real_hi);
  lo = -128, hi = 127;
  if (t.type == DataType::kInt16) lo = -32768, hi = 32767;
  if (t.type == DataType::kUint8) lo = 0, hi = 255;
  if (t.type == DataType::kInt32) lo = INT32_MIN, hi = INT32_MAX;
  if (std::isfinite(real_lo)) lo = std::clamp(std::round(real_lo / t.scale()) + t.zero_point, lo, hi);
  if (std::isfinite(real_hi)) hi = std::clamp(std::round(real_hi / t.scale()) + t.zero_point, lo, hi);
}

/// Index of element `i` in the last axis.
size_t ChannelAt(const Values& y, size_t i) {
  return y.dims.empty() ? 0 : i % static_cast<size_t>(y.dims.back());
}

/// One output against the oracle's, for one arithmetic.
class Comparison {
 public:
  Comparison(const OpTraits& traits, const OpCase& c, const Operand& output, Numerics numerics)
      : traits_(traits), case_(c), output_(output), numerics_(numerics) {}

  void Run(const Values& oracle, const Values* exact, const std::vector<double>& got) {
    ASSERT_EQ(oracle.v.size(), got.size());
    double square = 0;
    for (const double v : oracle.v) square += v * v;
    rms_ = std::sqrt(square / static_cast<double>(std::max<size_t>(1, oracle.v.size())));
    size_t wrong = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t channel = ChannelAt(oracle, i);
      std::string expected;
      const bool ok =
          exact != nullptr ? Equal(exact->v[i], got[i], expected) : Element(oracle.v[i], channel, got[i], expected);
      if (!ok && ++wrong <= 5) ADD_FAILURE() << "element " << i << " is " << got[i] << ", not " << expected;
    }
    EXPECT_EQ(wrong, 0u) << "of " << got.size() << " elements";
    // Two hundred times the values have as much wider ties.
    const size_t share = output_.type == DataType::kInt16 ? 30 : 200;
    EXPECT_LE(ties_, 1 + got.size() / share) << "too many elements were left out as near ties";
  }

 private:
  static bool Equal(double expected, double got, std::string& text) {
    text = std::to_string(expected);
    return expected == got;
  }

  bool Element(double oracle, size_t channel, double got, std::string& expected) {
    if (output_.type == DataType::kFloat32) return Near(oracle, got, expected);
    if (!IsQuantized(output_)) return Equal(oracle, got, expected);
    double lo = 0, hi = 0;
    StoredBounds(case_, output_, lo, hi);
    const double unit = traits_.unit != nullptr ? traits_.unit(case_, channel) : 1.0;
    const bool wide = case_.inputs[0].type == DataType::kInt16;
    if (traits_.unit != nullptr && !wide) oracle = static_cast<double>(Modulo32(oracle));
    const double value = oracle * (unit / output_.scale());
    const double bounded = std::clamp(value, lo - output_.zero_point, hi - output_.zero_point);
    const double rounded = std::nearbyint(bounded) + output_.zero_point;
    if (numerics_ == Numerics::kTflite && traits_.unit != nullptr) {
      const bool narrow = case_.inputs.size() > 2 && case_.inputs[2].type == DataType::kInt32;
      const auto multiply = wide && traits_.wide_sums && !narrow ? MultiplyByTflite15 : MultiplyByTflite;
      const int64_t q = multiply(static_cast<int64_t>(oracle), Multiplier(unit / output_.scale())) + output_.zero_point;
      return Equal(std::clamp(static_cast<double>(q), lo, hi), got, expected);
    }
    expected = std::to_string(bounded + output_.zero_point) + " rounded";
    const double within = numerics_ == Numerics::kTflite ? std::max(1.0, traits_.within) : traits_.within;
    if (within > 0) return std::fabs(rounded - got) <= within;
    const bool tie = std::fabs(std::fabs(bounded - std::trunc(bounded)) - 0.5) <= std::fabs(bounded) * 0x1p-20;
    if (!tie) return rounded == got;
    ++ties_;
    return std::fabs(bounded + output_.zero_point - got) < 0.75;
  }

  bool Near(double oracle, double got, std::string& expected) const {
    expected = std::to_string(oracle);
    return std::fabs(oracle - got) <= 1e-5 * std::max(std::fabs(oracle), rms_);
  }

  const OpTraits& traits_;
  const OpCase& case_;
  const Operand& output_;
  Numerics numerics_;
  double rms_ = 0;
  size_t ties_ = 0;
};

OpCase WithDims(OpCase c, const Results& oracle) {
  for (size_t i = 0; i < oracle.size(); ++i) c.outputs[i].dims = oracle[i].dims;
  return c;
}

/// Real values of accumulators, and the activation, which is output 0's (others are states).
void AsReal(const OpTraits& traits, const OpCase& c, Results& oracle) {
  double lo = 0, hi = 0;
  ActivationBounds(c, lo, hi);
  for (Values& y : oracle) {
    for (size_t i = 0; i < y.v.size(); ++i) {
      if (traits.unit != nullptr) y[i] *= traits.unit(c, ChannelAt(y, i));
      if (&y == &oracle[0]) y[i] = std::clamp(y[i], lo, hi);
    }
  }
}

int64_t StepsOf(Op op, const std::vector<uint8_t>& plan) {
  const auto* tags = schema::GetPlan(plan.data())->params_type();
  return std::count(tags->begin(), tags->end(), static_cast<schema::Params>(op));
}

/// The same bytes from short steps, as far as they can be cut so. Whether those of `op` were.
bool RunInParts(Op op, const ir::Graph& graph, Numerics numerics, const std::vector<uint8_t>& plan,
                const std::vector<std::vector<uint8_t>>& inputs, const std::vector<std::vector<uint8_t>>& outputs,
                const std::string& name) {
  bool cut = false;
  for (const uint64_t share : {2, 4, 32}) {
    ConvertOptions options;
    options.numerics = numerics;
    options.costs = UnitCosts();
    options.max_step_us = schema::GetPlan(plan.data())->limits()->work() / share + 1;
    const Conversion parts = ConvertGraph(graph, {}, options);
    if (!parts.plan.empty()) {
      EXPECT_EQ(RunOnPorts(parts.plan, inputs, name + ", in parts"), outputs) << "in steps of " << options.max_step_us;
      cut = cut || StepsOf(op, parts.plan) != StepsOf(op, plan);
    }
    for (const Diagnostic& d : parts.diagnostics.all()) {
      if (d.severity != Severity::kError) continue;
      EXPECT_NE(d.message.find("--max-step-us allows"), std::string::npos) << d.ToString();
    }
  }
  return cut;
}

bool IsOf(DataType type, const OpCase& c) {
  return c.inputs[0].type == type && c.outputs[0].type == type;
}

/// Moves take any type.
bool IsMoved(Op op) {
  return op == Op::kCopy || op == Op::kTranspose || op == Op::kConcatenation || op == Op::kSlice || op == Op::kPad;
}

constexpr DataType kNpuTypes[] = {DataType::kInt8, DataType::kInt16};

/// What machines take, as far as a case breaks no constraint (converter/npu/CONSTRAINTS.md).
bool IsForNpu(Op op) {
  using enum Op;
  constexpr Op kOps[] = {kConv2d, kConv2dAdd, kDepthwiseConv2d, kFullyConnected, kAveragePool2d, kMaxPool2d,
                         kAdd,    kCopy,      kTranspose,       kConcatenation,  kSlice,         kPad};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

/// A machine with a dot product and one with a cube. Nothing is so dear as their hosts: what they can take, they do.
const std::vector<npu::Machine>& Machines() {
  static const std::vector<npu::Machine> machines = [] {
    std::vector<npu::Machine> all;
    for (const char* name : {"ethos-u55-32", "davinci-tiny"}) {
      Diagnostics diagnostics;
      all.push_back(npu::ParseMachine(*npu::PresetJson(name), name, {}, diagnostics).value().table);
      all.back().host.cycles_per_step = (1 << 20) - 1;
    }
    return all;
  }();
  return machines;
}

/// The same bytes from the emulated NPU. Whether a machine took any of it.
bool RunOnMachines(const ir::Graph& graph, Numerics numerics, const std::vector<std::vector<uint8_t>>& inputs,
                   const std::vector<std::vector<uint8_t>>& outputs) {
  bool taken = false;
  for (const npu::Machine& machine : Machines()) {
    ConvertOptions options;
    options.numerics = numerics;
    options.machine = machine;
    const Conversion made = ConvertGraph(graph, {}, options);
    EXPECT_FALSE(made.plan.empty());
    if (made.plan.empty() || made.npu.jobs.empty()) continue;
    EXPECT_EQ(RunOnNpu(made.plan, inputs), outputs) << "on machine " << (&machine - Machines().data());
    taken = true;
  }
  return taken;
}

/// What was done with a case beside running it.
struct Ran {
  bool by_machine = false;
  bool in_parts = false;
};

/// The op of the step that the traits' node becomes.
Op StepOf(const OpTraits& traits) {
  return traits.step != Op::kNone ? traits.step : traits.op;
}

Ran RunCase(const OpTraits& traits, OpCase c, const Inputs& in, Numerics numerics, const std::string& name) {
  SCOPED_TRACE(name);
  Results oracle = traits.oracle(c, in);
  EXPECT_EQ(oracle.size(), c.outputs.size());
  if (oracle.size() != c.outputs.size()) return {};
  const auto exact_oracle = numerics == Numerics::kTflite ? traits.tflite : traits.fp32_rne;
  const bool is_float = c.outputs[0].type == DataType::kFloat32;
  const Results exact = exact_oracle != nullptr && !is_float ? exact_oracle(c, in) : Results();
  c = WithDims(std::move(c), oracle);
  if (is_float) AsReal(traits, c, oracle);
  const ir::Graph graph = BuildGraph(traits.op, c, in);
  std::vector<std::vector<uint8_t>> inputs;
  for (size_t i = 0; i < in.size(); ++i)
    if (c.inputs[i].type != DataType::kNone && !c.inputs[i].constant)
      inputs.push_back(Pack(c.inputs[i].type, in[i].stored));
  const std::vector<uint8_t> plan = Convert(graph, numerics).plan;
  if (plan.empty()) return {};
  const auto outputs = RunOnPorts(plan, inputs, name);

  if (outputs.size() != c.outputs.size()) return {};  // RunOnPorts has reported why.
  Ran ran;
  ran.in_parts = RunInParts(StepOf(traits), graph, numerics, plan, inputs, outputs, name);
  for (size_t i = 0; i < outputs.size(); ++i)
    Comparison(traits, c, c.outputs[i], numerics)
        .Run(oracle[i], exact.empty() ? nullptr : &exact[i], Unpack(c.outputs[i].type, outputs[i]));
  const bool typed = std::any_of(std::begin(kNpuTypes), std::end(kNpuTypes), [&](DataType t) { return IsOf(t, c); });
  ran.by_machine =
      IsForNpu(traits.op) && (typed || IsMoved(traits.op)) && RunOnMachines(graph, numerics, inputs, outputs);
  return ran;
}

/// What converter/backend/STEP_CUTS.md says of an op is so.
void ExpectCut(Op op, bool in_parts) {
  if (op >= Op::kPlanOpEnd) return;  // Becomes copies.
  const backend::CutRule rule = backend::CutRuleOf(op);
  EXPECT_NE(rule.text, nullptr) << OpName(op)
                                << ": converter/backend/step_cuts.cc says neither how it is cut nor why not";
  EXPECT_EQ(in_parts, rule.cuts) << OpName(op) << (in_parts ? " was cut" : ": no case was cut");
}

}  // namespace

Values::Values(Dims d, double fill) : dims(std::move(d)) {
  size_t count = 1;
  for (const int32_t dim : dims) count *= static_cast<size_t>(dim);
  v.assign(count, fill);
}

Operand Operand::Constant() const {
  Operand t = *this;
  t.constant = true;
  return t;
}
Operand Operand::Range(double low, double high) const {
  Operand t = *this;
  t.lo = low, t.hi = high;
  return t;
}
Operand Operand::Fixed(std::vector<double> values) const {
  Operand t = *this;
  t.fixed = std::move(values);
  return t;
}
double Operand::scale(size_t channel) const {
  return scales.empty() ? 1.0 : static_cast<double>(scales[scales.size() == 1 ? 0 : channel]);
}

Operand Int8(Dims dims, float scale, int32_t zero_point) {
  return {.type = DataType::kInt8,
          .dims = std::move(dims),
          .scales = {scale},
          .zero_point = zero_point,
          .lo = -128,
          .hi = 127,
          .fixed = {}};
}
Operand Int16(Dims dims, float scale) {
  Operand t = Int8(std::move(dims), scale, 0);
  t.type = DataType::kInt16;
  return t.Range(-32768, 32767);
}
std::vector<OpCase> Wide(std::vector<OpCase> cases, DataType bias) {
  const auto widen = [bias](Operand& t) {
    if (t.type == DataType::kInt32) {
      t.type = bias;
      if (bias == DataType::kInt64) t = t.Range(200 * t.lo, 200 * t.hi);
    }
    if (t.type == DataType::kInt8 && !t.constant) {
      Operand wide = Int16(t.dims, t.scales[0] / 200);
      for (const double v : t.fixed) wide.fixed.push_back(v * 256);
      t = wide;
    }
  };
  for (OpCase& c : cases) {
    for (Operand& t : c.inputs) widen(t);
    for (Operand& t : c.outputs) widen(t);
  }
  return cases;
}
Operand Float(Dims dims, double lo, double hi) {
  return Plain(DataType::kFloat32, std::move(dims), lo, hi);
}
Operand Plain(DataType type, Dims dims, double lo, double hi) {
  return {.type = type, .dims = std::move(dims), .scales = {}, .lo = lo, .hi = hi, .fixed = {}};
}
Operand Weights(Dims dims, int axis, int32_t zero_point) {
  Operand t = Int8(std::move(dims), 0.0123f, zero_point).Constant();
  if (axis < 0) return t;
  t.axis = axis;
  const auto count = static_cast<size_t>(t.dims[static_cast<size_t>(axis)]);
  t.scales.clear();
  for (size_t i = 0; i < count; ++i) t.scales.push_back(0.0031f * static_cast<float>(1 + (i * 7) % 11));
  return t;
}
Operand Bias(int32_t count, double range) {
  return Plain(DataType::kInt32, {count}, -range, range).Constant();
}

void ActivationBounds(const OpCase& c, double& lo, double& hi) {
  const auto at = c.attributes.find("activation");
  const std::string name = at == c.attributes.end() ? "none" : std::get<std::string>(at->second);
  lo = name == "relu" || name == "relu6" ? 0 : name == "relu_n1_to_1" ? -1 : -std::numeric_limits<double>::infinity();
  hi = name == "relu6" ? 6 : name == "relu_n1_to_1" ? 1 : std::numeric_limits<double>::infinity();
}

double Saturated(const OpCase& c, const Operand& t, double stored) {
  double lo = 0, hi = 0;
  StoredBounds(c, t, lo, hi);
  return std::clamp(stored, lo, hi);
}

double OnGrid(const Operand& t, double real) {
  return IsQuantized(t) ? std::round(real / t.scale()) * t.scale() : real;
}

size_t BroadcastIndex(const Dims& out, const Dims& in, size_t i) {
  size_t index = 0, step = 1;
  for (size_t d = 0; d < out.size(); ++d) {
    const auto size = static_cast<size_t>(out[out.size() - 1 - d]);
    const auto own = d < in.size() ? static_cast<size_t>(in[in.size() - 1 - d]) : 1;
    index += i % size % own * step;
    step *= own;
    i /= size;
  }
  return index;
}

Multiplier::Multiplier(double real) {
  const double fraction = std::frexp(real, &exponent);
  mantissa = std::llround(std::ldexp(fraction, 31));
  if (mantissa == int64_t{1} << 31) mantissa >>= 1, ++exponent;
}

int64_t MultiplyByTflite(int64_t acc, const Multiplier& m) {
  const int left = std::max(m.exponent, 0), right = std::max(-m.exponent, 0);
  const int64_t shifted = static_cast<int32_t>(static_cast<uint32_t>(acc) << left);
  // Nearest multiple of 2^-31, a tie goes up; then the nearest integer, a tie goes away from zero.
  const int64_t high = (shifted * m.mantissa + (int64_t{1} << 30)) >> 31;
  if (right == 0) return high;
  const int64_t half = int64_t{1} << (right - 1);
  return high >= 0 ? (high + half) >> right : -((-high + half) >> right);
}

int64_t MultiplyByTflite15(int64_t acc, const Multiplier& m) {
  const int64_t upper = std::min<int64_t>((m.mantissa + 0x8000) >> 16, 0x7FFF);
  const int right = 15 - m.exponent;
  return static_cast<int32_t>((acc * upper + (int64_t{1} << (right - 1))) >> right);
}

Conversion ConvertCase(const OpTraits& traits, const OpCase& c, Numerics numerics) {
  uint32_t state = kSeed;
  Inputs in;
  for (const Operand& t : c.inputs) in.push_back(Fill(t, state));
  return Convert(BuildGraph(traits.op, WithDims(c, traits.oracle(c, in)), in), numerics);
}

void RunCases(const OpTraits& traits, const std::vector<OpCase>& cases) {
  size_t taken[std::size(kNpuTypes)] = {};
  bool in_parts = false;
  for (size_t i = 0; i < cases.size(); ++i) {
    const OpCase& c = cases[i];
    const auto count = [&](const Ran& ran) {
      for (size_t t = 0; t < std::size(kNpuTypes); ++t) taken[t] += ran.by_machine && IsOf(kNpuTypes[t], c);
      in_parts = in_parts || ran.in_parts;
    };
    const uint32_t seed = kSeed + static_cast<uint32_t>(i);
    uint32_t state = seed;
    Inputs in;
    bool quantized = false;
    for (const Operand& t : c.inputs) {
      in.push_back(Fill(t, state));
      quantized = quantized || IsQuantized(t);
    }
    for (const Operand& t : c.outputs) quantized = quantized || IsQuantized(t);
    const auto name = [&](const char* arithmetic) {
      return std::string(OpName(traits.op)) + " case " + std::to_string(i) + ", " + arithmetic + ", seed " +
             std::to_string(seed);
    };
    count(RunCase(traits, c, in, Numerics::kFp32Rne, name(quantized ? "fp32_rne" : "any")));
    if (!quantized) continue;
    if (traits.also_tflite) count(RunCase(traits, c, in, Numerics::kTflite, name("tflite")));
    if (!traits.also_float) continue;
    Inputs real = in;
    const OpCase as_float = AsFloat(c, real);
    in_parts = RunCase(traits, as_float, real, Numerics::kFp32Rne, name("float32")).in_parts || in_parts;
  }
  ExpectCut(StepOf(traits), in_parts);
  for (size_t t = 0; t < std::size(kNpuTypes) && IsForNpu(traits.op); ++t) {
    const auto count =
        std::count_if(cases.begin(), cases.end(), [&](const OpCase& c) { return IsOf(kNpuTypes[t], c); });
    if (count > 2) {
      EXPECT_GT(taken[t], 0u) << "of " << count << " cases of " << BitWidth(kNpuTypes[t]) << " bits, by machines";
    }
  }
}

}  // namespace takt::test
