// Tiles with AVX2; those of int16 features are the portable loops. Products of two values at once (vpmaddwd): operands
// are pairs of neighbours along the sum. Built with -mavx2 -O3 on x86-64 only; chosen at run time.
#include <immintrin.h>

#include <cstring>

#include "ports/kernel_util/tile_loops.h"

namespace takt {
namespace {

constexpr int32_t kChannels = 8;  // output channels of a register
constexpr int32_t kPixels = 6;    // that share the weights just loaded

inline __m256i Load(const void* p) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(p));
}
inline void Store(void* p, __m256i v) {
  _mm256_storeu_si256(static_cast<__m256i*>(p), v);
}
inline int32_t Pair(const int16_t* p) {
  int32_t pair;
  std::memcpy(&pair, p, sizeof(pair));
  return pair;
}

inline __m256i Widen(const int8_t* p) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}

/// As Center; of the last register, what is done already is done again.
inline void CenterFast(const int8_t* from, int32_t n, int32_t zero_point, int16_t* to) {
  const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(zero_point));
  int32_t i = 0;
  for (; i + 16 <= n; i += 16) Store(to + i, _mm256_sub_epi16(Widen(from + i), zero));
  if (i == n) return;
  if (n >= 16) {
    Store(to + n - 16, _mm256_sub_epi16(Widen(from + n - 16), zero));
  } else {
    Center(from + i, n - i, zero_point, to + i);
  }
}

/// GatherColumn with CenterFast for windows that lie inside the box.
inline void GatherFast(const TileWindow& t, const int8_t* x, int32_t oy, int32_t ox, int16_t* column) {
  const int64_t y = int64_t{oy} * t.stride_h - t.pad_top, at = int64_t{ox} * t.stride_w - t.pad_left;
  const bool inside = y >= 0 && at >= 0 && y + int64_t{t.kernel_h - 1} * t.dilation_h < t.height &&
                      at + int64_t{t.kernel_w - 1} * t.dilation_w < t.width;
  if (!inside) return GatherColumn(t, x, oy, ox, column);
  const int8_t* row = x + static_cast<ptrdiff_t>(y) * t.x_row + static_cast<ptrdiff_t>(at) * t.x_pixel;
  const bool is_run = t.dilation_w == 1 && t.x_pixel == t.channels;  // a row of cells is one run
  const int32_t runs = is_run ? 1 : t.kernel_w, length = is_run ? t.kernel_w * t.channels : t.channels;
  for (int32_t ky = 0; ky < t.kernel_h; ++ky, row += ptrdiff_t{t.dilation_h} * t.x_row) {
    const int8_t* cell = row;
    for (int32_t r = 0; r < runs; ++r, cell += ptrdiff_t{t.dilation_w} * t.x_pixel, column += length)
      CenterFast(cell, length, t.x_zero_point, column);
  }
}

/// Whether the columns of neighbouring outputs follow each other in the box as they do in the scratch.
inline bool IsDense(const TileWindow& t) {
  return t.kernel_h == 1 && t.kernel_w == 1 && t.stride_h == 1 && t.stride_w == 1 && t.pad_top == 0 &&
         t.pad_left == 0 && t.x_pixel == t.channels && t.x_row == ptrdiff_t{t.out_width} * t.channels &&
         t.out_height <= t.height && t.out_width <= t.width && t.channels % 2 == 0;
}

/// Eight rows of weights, less their zero point, as [pair along k][row][2]; an odd k ends with a zero.
void PackRows(const int8_t* w, int32_t k, int32_t zero_point, int16_t* packed) {
  const __m128i zero = _mm_set1_epi16(static_cast<int16_t>(zero_point));
  int32_t i = 0;
  for (; i + 8 <= k; i += 8, packed += 8 * kChannels) {
    __m256i rows[4];  // rows r and r + 4, four pairs of each
    for (int r = 0; r < 4; ++r) {
      const auto eight = [&](int row) {
        const int8_t* from = w + ptrdiff_t{row} * k + i;
        return _mm_sub_epi16(_mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))), zero);
      };
      rows[r] = _mm256_inserti128_si256(_mm256_castsi128_si256(eight(r)), eight(r + 4), 1);
    }
    const __m256i low01 = _mm256_unpacklo_epi32(rows[0], rows[1]), low23 = _mm256_unpacklo_epi32(rows[2], rows[3]);
    const __m256i high01 = _mm256_unpackhi_epi32(rows[0], rows[1]), high23 = _mm256_unpackhi_epi32(rows[2], rows[3]);
    Store(packed, _mm256_unpacklo_epi64(low01, low23));
    Store(packed + 2 * kChannels, _mm256_unpackhi_epi64(low01, low23));
    Store(packed + 4 * kChannels, _mm256_unpacklo_epi64(high01, high23));
    Store(packed + 6 * kChannels, _mm256_unpackhi_epi64(high01, high23));
  }
  for (; i < k; i += 2, packed += 2 * kChannels) {
    for (int32_t row = 0; row < kChannels; ++row) {
      const int8_t* from = w + ptrdiff_t{row} * k + i;
      packed[2 * row] = static_cast<int16_t>(from[0] - zero_point);
      packed[2 * row + 1] = static_cast<int16_t>(i + 1 < k ? from[1] - zero_point : 0);
    }
  }
}

/// Sums of P columns with B registers of output channels.
template <int P, int B>
inline void Block(const int16_t* columns, int32_t pairs, const int16_t* packed, uint32_t* acc, ptrdiff_t acc_row,
                  bool accumulate) {
  __m256i sums[P][B];
  for (int p = 0; p < P; ++p) {
    for (int b = 0; b < B; ++b) {
      sums[p][b] = accumulate ? Load(acc + p * acc_row + b * kChannels) : _mm256_setzero_si256();
    }
  }
  const ptrdiff_t block = ptrdiff_t{2} * kChannels * pairs, column = ptrdiff_t{2} * pairs;
  for (int32_t i = 0; i < pairs; ++i) {
    __m256i w[B];
    for (int b = 0; b < B; ++b) w[b] = Load(packed + b * block + ptrdiff_t{2} * kChannels * i);
    for (int p = 0; p < P; ++p) {
      const __m256i x = _mm256_set1_epi32(Pair(columns + p * column + ptrdiff_t{2} * i));
      for (int b = 0; b < B; ++b) sums[p][b] = _mm256_add_epi32(sums[p][b], _mm256_madd_epi16(x, w[b]));
    }
  }
  for (int p = 0; p < P; ++p) {
    for (int b = 0; b < B; ++b) Store(acc + p * acc_row + b * kChannels, sums[p][b]);
  }
}

template <int P>
void Blocks(const int16_t* columns, int32_t pairs, const int16_t* packed, int32_t blocks, uint32_t* acc,
            ptrdiff_t acc_row, bool accumulate) {
  const ptrdiff_t block = ptrdiff_t{2} * kChannels * pairs;
  int32_t b = 0;
  for (; b + 2 <= blocks; b += 2) {
    Block<P, 2>(columns, pairs, packed + b * block, acc + ptrdiff_t{b} * kChannels, acc_row, accumulate);
  }
  if (b < blocks) Block<P, 1>(columns, pairs, packed + b * block, acc + ptrdiff_t{b} * kChannels, acc_row, accumulate);
}

constexpr decltype(&Blocks<1>) kBlocks[kPixels] = {&Blocks<1>, &Blocks<2>, &Blocks<3>,
                                                   &Blocks<4>, &Blocks<5>, &Blocks<6>};

void ContractAvx2(const TileWindow& t, const int8_t* x, const int8_t* w, uint32_t* acc, TileScratch scratch) {
  const int32_t blocks = t.out_channels / kChannels;
  const int32_t k = t.kernel_h * t.kernel_w * t.channels;
  if (blocks == 0 || k < 3) return Contract(t, x, w, acc, scratch);  // the scratch holds kPixels columns from 3 on
  const int32_t pairs = (k + 1) / 2, rest = blocks * kChannels;
  const ptrdiff_t block = ptrdiff_t{2} * kChannels * pairs;
  for (int32_t b = 0; b < blocks; ++b) {
    PackRows(w + ptrdiff_t{b} * kChannels * k, k, t.w_zero_point, scratch.weights + b * block);
  }
  int16_t* rows = scratch.weights + blocks * block;  // of the channels that fill no register
  Center(w + ptrdiff_t{rest} * k, (t.out_channels - rest) * k, t.w_zero_point, rows);
  const int32_t pixels = t.out_height * t.out_width;
  const bool dense = IsDense(t);
  for (int32_t first = 0; first < pixels; first += kPixels, acc += ptrdiff_t{kPixels} * t.out_channels) {
    const int32_t count = pixels - first < kPixels ? pixels - first : kPixels;
    if (dense) CenterFast(x + ptrdiff_t{first} * k, count * k, t.x_zero_point, scratch.column);
    for (int32_t p = 0; p < count; ++p) {
      int16_t* column = scratch.column + ptrdiff_t{2} * pairs * p;
      if (!dense) GatherFast(t, x, (first + p) / t.out_width, (first + p) % t.out_width, column);
      if (k % 2 != 0) column[k] = 0;
      for (int32_t oc = rest; oc < t.out_channels; ++oc) {
        uint32_t& sum = acc[ptrdiff_t{p} * t.out_channels + oc];
        sum = (t.accumulate ? sum : 0) + DotOne<int8_t>(column, rows + ptrdiff_t{oc - rest} * k, k);
      }
    }
    kBlocks[count - 1](scratch.column, pairs, scratch.weights, blocks, acc, t.out_channels, t.accumulate);
  }
}

constexpr int32_t kMaxTaps = 25;  // 5 x 5
constexpr int32_t kTapPairs = (kMaxTaps + 1) / 2;
constexpr int32_t kDepthwise = 16;  // channels of a register of int16

/// Sixteen channels, as vpunpck leaves them: 0-3 and 8-11, then 4-7 and 12-15.
struct Halves {
  __m256i first, second;
};
inline Halves Interleave(__m256i a, __m256i b) {
  return {_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)};
}

/// Sixteen channels of a depthwise kernel: weights less their zero point, two taps in a pair; what x's zero point adds.
struct DepthwiseWeights {
  Halves pairs[kTapPairs];
  Halves start;

  DepthwiseWeights(const TileWindow& t, const int8_t* w, int32_t taps) {
    const __m256i zero = _mm256_set1_epi16(static_cast<int16_t>(t.w_zero_point));
    const __m256i minus = _mm256_set1_epi16(static_cast<int16_t>(-t.x_zero_point));
    start = {_mm256_setzero_si256(), _mm256_setzero_si256()};
    for (int32_t tap = 0; tap < taps; tap += 2) {
      const int8_t* at = w + ptrdiff_t{tap} * t.channels;
      const __m256i second = tap + 1 < taps ? _mm256_sub_epi16(Widen(at + t.channels), zero) : _mm256_setzero_si256();
      const Halves pair = Interleave(_mm256_sub_epi16(Widen(at), zero), second);
      start.first = _mm256_add_epi32(start.first, _mm256_madd_epi16(minus, pair.first));
      start.second = _mm256_add_epi32(start.second, _mm256_madd_epi16(minus, pair.second));
      pairs[tap / 2] = pair;
    }
  }
};

/// One output of sixteen channels; cell(tap) is what lies under it. kPairs: of taps, known to the compiler; 0: `pairs`.
template <int kPairs, typename Cell>
inline void DepthwiseOutput(const DepthwiseWeights& w, Cell cell, int32_t pairs, bool accumulate, uint32_t* acc) {
  Halves sums = w.start;
  for (int32_t p = 0; p < (kPairs != 0 ? kPairs : pairs); ++p) {
    const Halves x = Interleave(Widen(cell(2 * p)), Widen(cell(2 * p + 1)));
    sums.first = _mm256_add_epi32(sums.first, _mm256_madd_epi16(x.first, w.pairs[p].first));
    sums.second = _mm256_add_epi32(sums.second, _mm256_madd_epi16(x.second, w.pairs[p].second));
  }
  __m256i low = _mm256_permute2x128_si256(sums.first, sums.second, 0x20);
  __m256i high = _mm256_permute2x128_si256(sums.first, sums.second, 0x31);
  if (accumulate) {
    low = _mm256_add_epi32(low, Load(acc));
    high = _mm256_add_epi32(high, Load(acc + 8));
  }
  Store(acc, low);
  Store(acc + 8, high);
}

/// The taps of a window as offsets from its first cell; an odd number's partner, of weight 0, is the first cell.
struct DepthwiseTaps {
  int32_t pairs = 0;
  ptrdiff_t offsets[2 * kTapPairs] = {};

  explicit DepthwiseTaps(const TileWindow& t) {
    int32_t tap = 0;
    for (int32_t ky = 0; ky < t.kernel_h; ++ky) {
      for (int32_t kx = 0; kx < t.kernel_w; ++kx)
        offsets[tap++] = ky * t.dilation_h * t.x_row + kx * t.dilation_w * t.x_pixel;
    }
    pairs = (tap + 1) / 2;
  }
};

/// Sixteen channels of all outputs. Cells outside the box are read as x's zero point.
template <int kPairs>
void DepthwiseChannels(const TileWindow& t, const DepthwiseTaps& taps, const int8_t* x, const int8_t* w,
                       uint32_t* acc) {
  const DepthwiseWeights weights(t, w, t.kernel_h * t.kernel_w);
  alignas(16) int8_t outside[kDepthwise];
  std::memset(outside, t.x_zero_point, sizeof(outside));
  for (int32_t oy = 0; oy < t.out_height; ++oy) {
    const int64_t y = int64_t{oy} * t.stride_h - t.pad_top;
    const bool rows_inside = y >= 0 && y + int64_t{t.kernel_h - 1} * t.dilation_h < t.height;
    for (int32_t ox = 0; ox < t.out_width; ++ox, acc += t.channels) {
      const int64_t at = int64_t{ox} * t.stride_w - t.pad_left;
      if (rows_inside && at >= 0 && at + int64_t{t.kernel_w - 1} * t.dilation_w < t.width) {
        const int8_t* first = x + y * t.x_row + at * t.x_pixel;
        const auto cell = [&](int32_t tap) { return first + taps.offsets[tap]; };
        DepthwiseOutput<kPairs>(weights, cell, taps.pairs, t.accumulate, acc);
        continue;
      }
      const auto cell = [&](int32_t tap) {
        const int64_t row = y + tap / t.kernel_w * t.dilation_h, column = at + tap % t.kernel_w * t.dilation_w;
        const bool inside = row >= 0 && row < t.height && column >= 0 && column < t.width;
        return inside ? x + row * t.x_row + column * t.x_pixel : outside;
      };
      DepthwiseOutput<0>(weights, cell, taps.pairs, t.accumulate, acc);
    }
  }
}

void DepthwiseAvx2(const TileWindow& t, const int8_t* x, const int8_t* w, uint32_t* acc) {
  const int64_t taps = int64_t{t.kernel_h} * t.kernel_w;
  if (taps > kMaxTaps) return Depthwise(t, x, w, acc);
  const int32_t whole = t.channels / kDepthwise * kDepthwise;
  const DepthwiseTaps offsets(t);
  const auto channels = offsets.pairs == 5 ? &DepthwiseChannels<5> : &DepthwiseChannels<0>;  // 3 x 3
  for (int32_t c = 0; c < whole; c += kDepthwise) channels(t, offsets, x + c, w + c, acc + c);
  if (whole == t.channels) return;
  for (int32_t oy = 0; oy < t.out_height; ++oy) {
    for (int32_t ox = 0; ox < t.out_width; ++ox, acc += t.channels) {
      DepthwisePixel(t, x, w, int64_t{oy} * t.stride_h - t.pad_top, int64_t{ox} * t.stride_w - t.pad_left, whole, acc);
    }
  }
}

/// vcvtps2dq rounds half to even, as RequantizeFp32Rne does.
void RequantizeAvx2(const TileOutput& out, const uint32_t* acc, const uint32_t* bias, const float* scales, int8_t* y) {
  const __m256 low = _mm256_set1_ps(out.low), high = _mm256_set1_ps(out.high);
  const __m256i zero = _mm256_set1_epi32(out.zero_point);
  const int32_t whole = out.channels / kChannels * kChannels;
  const TileOutput rest = {1, out.channels - whole, out.low, out.high, out.zero_point};
  for (int32_t p = 0; p < out.pixels; ++p, acc += out.channels, y += out.channels) {
    for (int32_t c = 0; c < whole; c += kChannels) {
      const __m256 sum = _mm256_cvtepi32_ps(_mm256_add_epi32(Load(acc + c), Load(bias + c)));
      const __m256 scaled = _mm256_mul_ps(sum, _mm256_loadu_ps(scales + c));
      const __m256i q = _mm256_add_epi32(_mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(scaled, low), high)), zero);
      const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
      _mm_storel_epi64(reinterpret_cast<__m128i*>(y + c), _mm_packs_epi16(words, words));
    }
    if (rest.channels > 0) kPortableTiles.requantize(rest, acc + whole, bias + whole, scales + whole, y + whole);
  }
}

}  // namespace

extern const TileKernels kAvx2Tiles;
const TileKernels kAvx2Tiles = {&ContractAvx2, &DepthwiseAvx2, &Contract<int16_t>, &Depthwise<int16_t>,
                                &RequantizeAvx2};

}  // namespace takt
