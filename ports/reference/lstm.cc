// lstm
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "engine/ops/checks.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/kernel_util/recurrent.h"
#include "ports/reference/kernels.h"

namespace takt::reference {
namespace {

using schema::GateFunction;
using schema::LstmParams;

/// Stored values of `E` without an activation.
template <typename E>
schema::Clamp FullRange() {
  return {static_cast<float>(std::numeric_limits<E>::lowest()), static_cast<float>(std::numeric_limits<E>::max())};
}

// The arithmetic of a cell. Memory: of c; Sum: what gates are functions of; Factor: of peepholes and normalization;
// kOne: 1 as a gate's value; Contraction and Stage: the output stages of the projection and of what precedes it.

struct RealSums {
  using Sum = float;
  using Factor = float;
  static constexpr bool kRefines = true;

  static float WithPeephole(float sum, float factor, float c, uint16_t) { return sum + factor * c; }
  static void Normalize(float* sums, const float* factors, const float* offsets, int32_t count, uint16_t) {
    NormalizeSums(sums, factors, offsets, count);
  }
};

struct FloatCell : Float32, RealSums {
  using Memory = float;
  using Contraction = Float32;
  using Stage = Float32;
  static constexpr float kOne = 1.0f;

  const LstmParams& p;

  FloatCell(const LstmParams& params, const int32_t*) : Float32(params.cell(), 0), p(params) {}
  float Added(float x, float h, uint16_t) const { return x + h; }
  float Function(GateFunction f, float sum) const { return ApplyGate(f, Float32(p.sum(), 0).Clamped(sum)); }
  float Next(float forget, float c, float input, float candidate) const {
    return Clamped(forget * c + input * candidate);
  }
  float Output(float output, float c) const { return output * ApplyGate(p.cell_function(), c); }
};

/// Gates are integers of 2^-15, up to 1 itself; sums are real.
template <typename E, typename Acc>
struct Fp32RneCell : Fp32RneOf<E, Acc>, RealSums {
  using Memory = int16_t;
  using Contraction = Fp32RneOf<E, Acc>;
  using Stage = Fp32RneOf<E, uint32_t>;
  static constexpr int32_t kOne = 1 << 15;

  const LstmParams& p;
  const int32_t* table;

  Fp32RneCell(const LstmParams& params, const int32_t* logistic)
      : Fp32RneOf<E, Acc>(params.cell(), 0), p(params), table(logistic) {}
  float Added(Acc x, Acc h, uint16_t gate) const {
    using Signed = std::make_signed_t<Acc>;
    const float a = static_cast<float>(static_cast<Signed>(x)) * p.input()->Get(gate)->scale();
    const float b = static_cast<float>(static_cast<Signed>(h)) * p.recurrent()->Get(gate)->scale();
    return a + b;
  }
  int32_t Value(GateFunction f, float x) const {
    const int32_t v = InTableUnits(x);
    return f == GateFunction::logistic ? LogisticFp32Rne(table, v) : TanhFp32Rne(table, v);
  }
  int32_t Function(GateFunction f, float sum) const {
    return Value(f, ClampFloat(sum, p.sum().min(), p.sum().max()) * 12288.0f);
  }
  int16_t Next(int32_t forget, int16_t c, int32_t input, int32_t candidate) const {
    const float a = static_cast<float>(forget * c) * p.forget().scale();
    const float b = static_cast<float>(input * candidate) * p.update().scale();
    return static_cast<int16_t>(RoundToEven(ClampFloat(a + b, this->lo, this->hi)));
  }
  uint32_t Output(int32_t output, int16_t c) const {
    return static_cast<uint32_t>(output * Value(p.cell_function(), static_cast<float>(c) * p.function().scale()));
  }
};

/// TFLite Micro's: each product saturates before it is added; gates are Q15, by table.
template <typename E, typename Acc>
struct TfliteCell : TfliteOf<E, Acc> {
  using Memory = int16_t;
  using Sum = int16_t;
  using Factor = int32_t;
  static constexpr bool kRefines = false;
  using Contraction = TfliteOf<E, Acc>;
  using Stage = TfliteOf<E, uint32_t>;
  static constexpr int32_t kOne = 32767;

  const LstmParams& p;
  const int32_t* table;

  TfliteCell(const LstmParams& params, const int32_t* logistic)
      : TfliteOf<E, Acc>(params.cell(), 0), p(params), table(logistic) {}
  template <typename A>
  static int32_t Saturated(A acc, const schema::Rescale& r) {
    return RequantizeTflite(acc, r.multiplier(), r.shift(), 0, -32768, 32767);
  }
  int16_t Added(Acc x, Acc h, uint16_t gate) const {
    const int32_t sum = Saturated(x, *p.input()->Get(gate)) + Saturated(h, *p.recurrent()->Get(gate));
    return static_cast<int16_t>(ClampInt(sum, -32768, 32767));
  }
  int32_t Value(GateFunction f, int32_t x) const {
    return f == GateFunction::logistic ? LogisticTflite(table, x) : TanhTflite(table, x);
  }
  int32_t Function(GateFunction f, int16_t sum) const { return Value(f, 3 * sum); }
  int16_t Next(int32_t forget, int16_t c, int32_t input, int32_t candidate) const {
    const int32_t kept = Saturated(static_cast<uint32_t>(forget * c), p.forget());
    const int32_t added = Saturated(static_cast<uint32_t>(input * candidate), p.update());
    return static_cast<int16_t>(ClampInt(ClampInt(kept + added, -32768, 32767), this->lo, this->hi));
  }
  uint32_t Output(int32_t output, int16_t c) const {
    const int32_t shift = p.function().shift(), round = shift > 0 ? 1 << (shift - 1) : 0;
    return static_cast<uint32_t>(output * Value(p.cell_function(), (c * p.function().multiplier() + round) >> shift));
  }
};

/// TFLite's, which has all parts: each product saturates after it is added; gates are Q15, by fixed point.
struct TfliteFullCell : TfliteOf<int8_t, uint32_t> {
  using Memory = int16_t;
  using Sum = int16_t;
  using Factor = int32_t;
  using Contraction = TfliteOf<int8_t, uint32_t>;
  using Stage = Contraction;
  static constexpr int32_t kOne = 32767;
  static constexpr bool kRefines = true;

  const LstmParams& p;

  TfliteFullCell(const LstmParams& params, const int32_t*) : TfliteOf<int8_t, uint32_t>(params.cell(), 0), p(params) {}
  static int16_t Plus(int16_t sum, uint32_t acc, const schema::Rescale& r) {
    return fixed_point::Saturate<int16_t>(int64_t{MultiplyTflite(acc, r.multiplier(), r.shift())} + sum);
  }
  int16_t Added(uint32_t x, uint32_t h, uint16_t gate) const {
    return Plus(Plus(0, x, *p.input()->Get(gate)), h, *p.recurrent()->Get(gate));
  }
  int16_t WithPeephole(int16_t sum, int32_t factor, int16_t c, uint16_t which) const {
    return Plus(sum, static_cast<uint32_t>(factor) * static_cast<uint32_t>(c), *p.peephole()->Get(which));
  }
  void Normalize(int16_t* sums, const int32_t* factors, const int32_t* offsets, int32_t count, uint16_t gate) const {
    NormalizeSums(sums, factors, offsets, count, *p.normalization()->Get(gate), p.variance_guard()->Get(gate));
  }
  static int32_t Function(GateFunction f, int16_t sum) {
    return f == GateFunction::logistic ? fixed_point::Logistic(sum, 3) : fixed_point::Tanh(sum, 3);
  }
  int16_t Next(int32_t forget, int16_t c, int32_t input, int32_t candidate) const {
    const auto kept = static_cast<int16_t>(RoundingDivideByPowerOfTwo(forget * c, p.forget().shift()));
    const auto added = static_cast<int16_t>(RoundingDivideByPowerOfTwo(input * candidate, p.update().shift()));
    return static_cast<int16_t>(ClampInt(ClampInt(kept + added, -32768, 32767), lo, hi));
  }
  uint32_t Output(int32_t output, int16_t c) const {
    return static_cast<uint32_t>(output * fixed_point::Tanh(c, p.function().shift()));
  }
};

/// One cell and its operands.
template <typename Cell>
class Lstm {
 public:
  using Element = typename Cell::Element;
  using Weight = typename Cell::Weight;
  using Bias = typename Cell::Bias;
  using Memory = typename Cell::Memory;
  using Sum = typename Cell::Sum;
  using Factor = typename Cell::Factor;
  enum Gate : uint16_t { kInput, kForget, kCandidate, kOutput, kGates };

  explicit Lstm(const KernelCall& call)
      : p_(call.params<LstmParams>()),
        first_(p_.coupled() ? kForget : kInput),
        inputs_(call.inputs[0].dims[2]),
        outputs_(call.inputs[4].dims[1]),
        cells_(call.inputs[5].dims[1]),
        weights_(call.inputs[1].as<const Weight>()),
        recurrent_(call.inputs[2].as<const Weight>()),
        bias_(call.inputs[3].as<const Bias>()),
        sums_(reinterpret_cast<Sum*>(call.scratch.data())),
        cell_(p_, std::is_same_v<Element, float> ? nullptr : call.inputs[6].as<const int32_t>()) {
    size_t i = std::is_same_v<Element, float> ? 6 : 7;
    if (p_.peepholes()) peepholes_ = call.inputs[i++].as<const Factor>();
    if (p_.normalized()) normalization_ = call.inputs[i++].as<const Factor>();
    if (!p_.projected()) return;
    projection_ = call.inputs[i].as<const Weight>();
    projection_bias_ = call.inputs[i + 1].as<const Bias>();
    hidden_ = reinterpret_cast<Element*>(sums_ + (kGates - first_) * cells_);
  }

  /// h and c become those behind x.
  void Step(const Element* x, Element* h, Memory* c) const {
    for (uint16_t g = first_; g < kGates; ++g) AddProducts(g, x, h);
    for (uint16_t g = first_; g < kOutput; ++g) Refine(g, c);
    for (int32_t k = 0; k < cells_; ++k) {
      const auto forget = Value(kForget, k), candidate = Value(kCandidate, k);
      const auto input = p_.coupled() ? Cell::kOne - forget : Value(kInput, k);
      c[k] = cell_.Next(forget, c[k], input, candidate);
    }
    Refine(kOutput, c);
    Element* hidden = p_.projected() ? hidden_ : h;
    const typename Cell::Stage stage(p_.projected() ? FullRange<Element>() : p_.output(),
                                     p_.projected() ? p_.hidden_zero_point() : p_.output_zero_point());
    for (int32_t k = 0; k < cells_; ++k) hidden[k] = stage.One(cell_.Output(Value(kOutput, k), c[k]), p_.hidden());
    if (p_.projected()) Project(h);
  }

 private:
  Sum* SumsOf(uint16_t gate) const { return sums_ + (gate - first_) * cells_; }

  void AddProducts(uint16_t gate, const Element* x, const Element* h) const {
    using Acc = typename Cell::Accumulator;
    const int32_t row = (gate - first_) * cells_;
    for (int32_t k = row; k < row + cells_; ++k) {
      const Weight* w = weights_ + static_cast<size_t>(k) * static_cast<size_t>(inputs_);
      const Weight* r = recurrent_ + static_cast<size_t>(k) * static_cast<size_t>(outputs_);
      const Acc product = Dot(Cell::Start(bias_[k]), x, w, inputs_, p_.input_zero_point(), 0);
      sums_[k] =
          cell_.Added(Cell::Finish(product, bias_[k]), Dot(Acc{}, h, r, outputs_, p_.output_zero_point(), 0), gate);
    }
  }

  /// What peepholes and normalization make of a gate's sums.
  void Refine([[maybe_unused]] uint16_t gate, [[maybe_unused]] const Memory* c) const {
    if constexpr (Cell::kRefines) {
      Sum* sums = SumsOf(gate);
      if (p_.peepholes() && gate != kCandidate) {
        const auto which = static_cast<uint16_t>(gate == kOutput ? 2 : gate);
        const Factor* factors = peepholes_ + which * cells_;
        for (int32_t k = 0; k < cells_; ++k) sums[k] = cell_.WithPeephole(sums[k], factors[k], c[k], which);
      }
      if (!p_.normalized()) return;
      const Factor* factors = normalization_ + (gate - first_) * cells_;
      cell_.Normalize(sums, factors, factors + (kGates - first_) * cells_, cells_, gate);
    }
  }

  auto Value(uint16_t gate, int32_t k) const {
    return cell_.Function(gate == kCandidate ? p_.candidate_function() : p_.gate_function(), SumsOf(gate)[k]);
  }

  void Project(Element* h) const {
    const typename Cell::Contraction stage(p_.output(), p_.output_zero_point());
    for (int32_t i = 0; i < outputs_; ++i) {
      const Weight* w = projection_ + static_cast<size_t>(i) * static_cast<size_t>(cells_);
      const auto product = Dot(Cell::Start(projection_bias_[i]), hidden_, w, cells_, p_.hidden_zero_point(), 0);
      h[i] = stage.One(Cell::Finish(product, projection_bias_[i]), p_.projection());
    }
  }

  const LstmParams& p_;
  const uint16_t first_;
  const int32_t inputs_, outputs_, cells_;
  const Weight *weights_, *recurrent_;
  const Bias* bias_;
  const Factor* peepholes_ = nullptr;
  const Factor* normalization_ = nullptr;
  const Weight* projection_ = nullptr;
  const Bias* projection_bias_ = nullptr;
  Sum* sums_;
  Element* hidden_ = nullptr;
  Cell cell_;
};

template <typename Cell>
void RunLstm(const KernelCall& call) {
  using Element = typename Cell::Element;
  using Memory = typename Cell::Memory;
  const TensorRef &h0 = call.inputs[4], &c0 = call.inputs[5];
  auto* h = call.outputs[1].as<Element>();
  auto* c = call.outputs[2].as<Memory>();
  CopyState(h0, call.outputs[1]);
  CopyState(c0, call.outputs[2]);
  const Lstm<Cell> lstm(call);
  const int32_t outputs = h0.dims[1], cells = c0.dims[1];
  ForEachStep<Element>(call.inputs[0], call.outputs[0], call.params<LstmParams>(),
                       [&](const Element* x, Element* y, int32_t batch) {
                         Element* own = h + batch * outputs;
                         lstm.Step(x, own, c + batch * cells);
                         std::copy_n(own, outputs, y);
                       });
}

/// TFLite Micro has the plain cell alone.
void RunTflite8(const KernelCall& call) {
  const auto& p = call.params<LstmParams>();
  const bool plain = !p.coupled() && !p.peepholes() && !p.normalized() && !p.projected();
  plain ? RunLstm<TfliteCell<int8_t, uint32_t>>(call) : RunLstm<TfliteFullCell>(call);
}

/// The gates' sums of one row, and what is projected.
template <typename Cell>
KernelNeed NeedOfLstm(const KernelCall& call) {
  const auto& p = call.params<LstmParams>();
  const auto cells = static_cast<uint32_t>(call.inputs[5].dims[1]);
  const uint32_t sums = cells * (p.coupled() ? 3 : 4) * sizeof(typename Cell::Sum);
  const uint32_t hidden = p.projected() ? cells * sizeof(typename Cell::Element) : 0;
  return {.scratch = sums + hidden};
}

template <typename Cell>
constexpr Kernel Row(RunFunction run = &RunLstm<Cell>) {
  return {ContractionKey<Cell>(Op::kLstm), &CheckLstm<Cell::kNumerics>, run, &NeedOfLstm<Cell>};
}

}  // namespace

constexpr Kernel kLstmFloat32 = Row<FloatCell>();
constexpr Kernel kLstmInt8Fp32Rne = Row<Fp32RneCell<int8_t, uint32_t>>();
constexpr Kernel kLstmInt8Tflite = Row<TfliteCell<int8_t, uint32_t>>(&RunTflite8);
constexpr Kernel kLstmInt16Fp32Rne = Row<Fp32RneCell<int16_t, uint64_t>>();
constexpr Kernel kLstmInt16Tflite = Row<TfliteCell<int16_t, uint64_t>>();

}  // namespace takt::reference
