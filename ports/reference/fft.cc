// rfft, inverse_rfft: a real transform of n values by a complex one of n / 2, whose stages have radix 4, 2, 3 and 5 in
// this order from the outermost. Decimation in time; integers are fractions of one and each stage divides by its radix,
// so that nothing overflows. Sums are modulo 2^(bits of T).
#include <limits>
#include <type_traits>

#include "engine/ops/checks.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

template <typename T>
struct Integer {
  using Wide = std::conditional_t<sizeof(T) == 2, int32_t, int64_t>;
  using Unsigned = std::make_unsigned_t<Wide>;
  static T Sum(T a, T b) { return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); }
  static T Negative(T a) { return static_cast<T>(0u - static_cast<uint32_t>(a)); }
  static Unsigned Exact(T a, T b) { return static_cast<Unsigned>(Wide{a} * b); }
  static T Round(Unsigned product) {
    constexpr int kBits = 8 * sizeof(T) - 1;
    return static_cast<T>(static_cast<Wide>(product + (Unsigned{1} << (kBits - 1))) >> kBits);
  }
  static T Product(T a, T b) { return Round(Exact(a, b)); }
  static T Real(T ar, T ai, T br, T bi) { return Round(Exact(ar, br) - Exact(ai, bi)); }
  static T Imaginary(T ar, T ai, T br, T bi) { return Round(Exact(ar, bi) + Exact(ai, br)); }
  static T Divide(T a, int n) { return Product(a, static_cast<T>(std::numeric_limits<T>::max() / n)); }
  static T Half(T a) { return static_cast<T>(a >> 1); }
  /// Those of int16 do not wrap before they are halved.
  static T HalfSum(T a, T b) {
    return static_cast<T>(static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)) >> 1);
  }
  static T HalfDifference(T a, T b) {
    return static_cast<T>(static_cast<int32_t>(static_cast<uint32_t>(a) - static_cast<uint32_t>(b)) >> 1);
  }
  static T Scaled(T a, uint32_t) { return a; }
};

struct Float {
  static float Sum(float a, float b) { return a + b; }
  static float Negative(float a) { return -a; }
  static float Product(float a, float b) { return a * b; }
  static float Real(float ar, float ai, float br, float bi) { return ar * br - ai * bi; }
  static float Imaginary(float ar, float ai, float br, float bi) { return ar * bi + ai * br; }
  static float Divide(float a, int) { return a; }
  static float Half(float a) { return a * 0.5f; }
  static float HalfSum(float a, float b) { return (a + b) * 0.5f; }
  static float HalfDifference(float a, float b) { return (a - b) * 0.5f; }
  static float Scaled(float a, uint32_t length) { return a / static_cast<float>(length); }
};

template <typename T>
using Arithmetic = std::conditional_t<std::is_same_v<T, float>, Float, Integer<T>>;

template <typename T>
struct Complex {
  using A = Arithmetic<T>;
  T r, i;

  friend Complex operator+(Complex a, Complex b) { return {A::Sum(a.r, b.r), A::Sum(a.i, b.i)}; }
  friend Complex operator-(Complex a, Complex b) { return a + Complex{A::Negative(b.r), A::Negative(b.i)}; }
  friend Complex operator*(Complex a, Complex b) {
    return {A::Real(a.r, a.i, b.r, b.i), A::Imaginary(a.r, a.i, b.r, b.i)};
  }
  Complex Over(int n) const { return {A::Divide(r, n), A::Divide(i, n)}; }
  Complex Half() const { return {A::Half(r), A::Half(i)}; }
  Complex Times(T s) const { return {A::Product(r, s), A::Product(i, s)}; }
  Complex Conjugate() const { return {r, A::Negative(i)}; }
  Complex TimesI() const { return {A::Negative(i), r}; }
};

template <typename T>
class Transform {
 public:
  using C = Complex<T>;

  Transform(uint32_t size, const C* twiddles, bool inverse) : size_(size), twiddles_(twiddles), inverse_(inverse) {
    for (const uint32_t radix : {4u, 2u, 3u, 5u})
      for (; size % radix == 0; size /= radix) radices_[stages_++] = radix;
  }

  /// Where element `i` of the first stage comes from: the digits of i, reversed.
  uint32_t Source(uint32_t i) const {
    uint32_t source = 0, stride = 1, block = size_;
    for (uint32_t s = 0; s < stages_; ++s) {
      block /= radices_[s];
      source += i / block * stride;
      i %= block;
      stride *= radices_[s];
    }
    return source;
  }

  void Run(C* f) const {
    uint32_t m = 1;
    for (uint32_t s = stages_; s-- > 0;) {
      const uint32_t radix = radices_[s], stride = size_ / (m * radix);
      for (uint32_t block = 0; block < size_; block += m * radix)
        for (uint32_t k = 0; k < m; ++k) Butterfly(f + block + k, m, radix, stride, k);
      m *= radix;
    }
  }

 private:
  void Butterfly(C* f, uint32_t m, uint32_t radix, uint32_t stride, uint32_t k) const {
    C v[5];
    for (uint32_t q = 0; q < radix; ++q) {
      v[q] = f[q * m].Over(static_cast<int>(radix));
      if (q != 0) v[q] = v[q] * twiddles_[q * k * stride];
    }
    switch (radix) {
      case 2:
        f[0] = v[0] + v[1];
        f[m] = v[0] - v[1];
        return;
      case 3:
        return Combine3(f, m, v, twiddles_[stride * m].i);
      case 4:
        return Combine4(f, m, v);
      default:
        return Combine5(f, m, v, twiddles_[stride * m], twiddles_[2 * stride * m]);
    }
  }

  static void Combine3(C* f, uint32_t m, const C* v, T sine) {
    const C sum = v[1] + v[2], turned = (v[1] - v[2]).Times(sine).TimesI();
    const C middle = v[0] - sum.Half();
    f[0] = v[0] + sum;
    f[m] = middle + turned;
    f[2 * m] = middle - turned;
  }

  void Combine4(C* f, uint32_t m, const C* v) const {
    const C even = v[0] + v[2], odd = v[0] - v[2], sum = v[1] + v[3];
    const C turned = inverse_ ? (v[1] - v[3]).TimesI() : (v[3] - v[1]).TimesI();
    f[0] = even + sum;
    f[m] = odd + turned;
    f[2 * m] = even - sum;
    f[3 * m] = odd - turned;
  }

  static void Combine5(C* f, uint32_t m, const C* v, C a, C b) {
    const C sum14 = v[1] + v[4], difference14 = v[1] - v[4], sum23 = v[2] + v[3], difference23 = v[2] - v[3];
    const C near = v[0] + sum14.Times(a.r) + sum23.Times(b.r), far = v[0] + sum14.Times(b.r) + sum23.Times(a.r);
    const C turned = (difference14.Times(a.i) + difference23.Times(b.i)).TimesI();
    const C turned2 = (difference14.Times(b.i) - difference23.Times(a.i)).TimesI();
    f[0] = v[0] + (sum14 + sum23);
    f[m] = near + turned;
    f[2 * m] = far + turned2;
    f[3 * m] = far - turned2;
    f[4 * m] = near - turned;
  }

  uint32_t size_;
  const C* twiddles_;
  bool inverse_;
  uint32_t radices_[16] = {};
  uint32_t stages_ = 0;
};

/// The last dimension is a frame.
template <typename T>
struct Frames {
  uint32_t half;     ///< Complex numbers.
  uint32_t in, out;  ///< Elements of a frame.
  uint32_t count;
  const Complex<T>* twiddles;
  const Complex<T>* turns;  ///< Of the step between the complex and the real transform.

  explicit Frames(const KernelCall& call)
      : half(call.params<schema::FftParams>().length() / 2),
        in(Last(call.inputs[0])),
        out(Last(call.outputs[0])),
        count(call.inputs[0].size() / in),
        twiddles(call.inputs[1].as<const Complex<T>>()),
        turns(twiddles + half) {}
  static uint32_t Last(const TensorRef& t) { return static_cast<uint32_t>(t.dims[t.rank - 1]); }
};

/// Even values are the real, odd ones the imaginary parts; their two spectra are taken apart in place.
template <typename T>
void RunRfft(const KernelCall& call) {
  using C = Complex<T>;
  using A = Arithmetic<T>;
  const Frames<T> n(call);
  const Transform<T> transform(n.half, n.twiddles, false);
  const T* x = call.inputs[0].as<const T>();
  C* y = call.outputs[0].as<C>();
  for (uint32_t frame = 0; frame < n.count; ++frame, x += n.in, y += n.half + 1) {
    const auto value = [&](uint32_t i) { return i < n.in ? x[i] : T{0}; };
    for (uint32_t i = 0; i < n.half; ++i) {
      const uint32_t at = 2 * transform.Source(i);
      y[i] = {value(at), value(at + 1)};
    }
    transform.Run(y);
    const C first = y[0].Over(2);
    y[0] = {A::Sum(first.r, first.i), T{0}};
    y[n.half] = {A::Sum(first.r, A::Negative(first.i)), T{0}};
    for (uint32_t k = 1; k <= n.half / 2; ++k) {
      const C a = y[k].Over(2), b = y[n.half - k].Conjugate().Over(2);
      const C even = a + b, odd = (a - b) * n.turns[k - 1];
      y[k] = {A::HalfSum(even.r, odd.r), A::HalfSum(even.i, odd.i)};
      y[n.half - k] = {A::HalfDifference(even.r, odd.r), A::HalfDifference(odd.i, even.i)};
    }
  }
}

template <typename T>
void RunInverse(const KernelCall& call) {
  using C = Complex<T>;
  using A = Arithmetic<T>;
  const Frames<T> n(call);
  const Transform<T> transform(n.half, n.twiddles, true);
  const C* x = call.inputs[0].as<const C>();
  T* y = call.outputs[0].as<T>();
  for (uint32_t frame = 0; frame < n.count; ++frame, x += n.half + 1, y += n.out) {
    const auto merged = [&](uint32_t i) {
      if (i == 0) return C{A::Sum(x[0].r, x[n.half].r), A::Sum(x[0].r, A::Negative(x[n.half].r))}.Over(2);
      const uint32_t k = i < n.half - i ? i : n.half - i;
      const C a = x[k].Over(2), b = x[n.half - k].Conjugate().Over(2);
      const C even = a + b, odd = (a - b) * n.turns[k - 1];
      return i < n.half - i ? even + odd : (even - odd).Conjugate();
    };
    C* packed = reinterpret_cast<C*>(y);
    for (uint32_t i = 0; i < n.half; ++i) packed[i] = merged(transform.Source(i));
    transform.Run(packed);
    for (uint32_t i = 0; i < n.out; ++i) y[i] = A::Scaled(y[i], n.out);
  }
}

template <typename T>
constexpr Kernel Row(Op op, Status (*check)(const KernelCall&, uint64_t&), void (*run)(const KernelCall&)) {
  return {{op, Numerics::kAny, Layout::kNeutral, {kDataTypeOf<T>, kDataTypeOf<T>, kDataTypeOf<T>}}, check, run};
}
template <typename T>
constexpr Kernel Forward() {
  return Row<T>(Op::kRfft, &CheckRfft<Numerics::kAny>, &RunRfft<T>);
}
template <typename T>
constexpr Kernel Backward() {
  return Row<T>(Op::kInverseRfft, &CheckInverseRfft<Numerics::kAny>, &RunInverse<T>);
}

}  // namespace

constexpr Kernel kRfftInt16 = Forward<int16_t>();
constexpr Kernel kRfftInt32 = Forward<int32_t>();
constexpr Kernel kRfftFloat32 = Forward<float>();
constexpr Kernel kInverseRfftInt16 = Backward<int16_t>();
constexpr Kernel kInverseRfftInt32 = Backward<int32_t>();
constexpr Kernel kInverseRfftFloat32 = Backward<float>();

}  // namespace takt::reference
