// Tiles with AVX2. Products of two values at once (vpmaddwd): operands are pairs of neighbours along the sum. Built
// with -mavx2 -O3 on x86-64 only; chosen at run time.
#include <immintrin.h>

#include <cstring>

#include "ports/kernel_util/tile_loops.h"

namespace takt {
namespace {

constexpr int32_t kChannels = 8;  // output channels of a register
constexpr int32_t kPixels = 4;    // that share the weights just loaded

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

/// Eight rows of weights, less their zero point, as [pair along k][row][2]; an odd k ends with a zero.
void PackRows(const int8_t* w, int32_t k, int32_t zero_point, int16_t* packed) {
  const __m128i zero = _mm_set1_epi16(static_cast<int16_t>(zero_point));
  for (int32_t row = 0; row < kChannels; ++row, w += k) {
    int16_t* to = packed + 2 * row;
    int32_t i = 0;
    for (; i + 8 <= k; i += 8, to += 8 * kChannels) {
      const __m128i eight =
          _mm_sub_epi16(_mm_cvtepi8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(w + i))), zero);
      const int32_t pairs[4] = {_mm_extract_epi32(eight, 0), _mm_extract_epi32(eight, 1), _mm_extract_epi32(eight, 2),
                                _mm_extract_epi32(eight, 3)};
      for (int32_t j = 0; j < 4; ++j) std::memcpy(to + 2 * kChannels * j, &pairs[j], sizeof(pairs[j]));
    }
    for (; i < k; i += 2, to += 2 * kChannels) {
      to[0] = static_cast<int16_t>(w[i] - zero_point);
      to[1] = static_cast<int16_t>(i + 1 < k ? w[i + 1] - zero_point : 0);
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

void ContractAvx2(const TileWindow& t, const int8_t* x, const int8_t* w, uint32_t* acc, TileScratch scratch) {
  const int32_t blocks = t.out_channels / kChannels;
  if (blocks == 0) return Contract(t, x, w, acc, scratch);
  const int32_t k = t.kernel_h * t.kernel_w * t.channels, pairs = (k + 1) / 2, rest = blocks * kChannels;
  const ptrdiff_t block = ptrdiff_t{2} * kChannels * pairs;
  for (int32_t b = 0; b < blocks; ++b) {
    PackRows(w + ptrdiff_t{b} * kChannels * k, k, t.w_zero_point, scratch.weights + b * block);
  }
  int16_t* rows = scratch.weights + blocks * block;  // of the channels that fill no register
  Center(w + ptrdiff_t{rest} * k, (t.out_channels - rest) * k, t.w_zero_point, rows);
  const int32_t pixels = t.out_height * t.out_width;
  for (int32_t first = 0; first < pixels; first += kPixels, acc += ptrdiff_t{kPixels} * t.out_channels) {
    const int32_t count = pixels - first < kPixels ? pixels - first : kPixels;
    for (int32_t p = 0; p < count; ++p) {
      int16_t* column = scratch.column + ptrdiff_t{2} * pairs * p;
      GatherColumn(t, x, (first + p) / t.out_width, (first + p) % t.out_width, column);
      if (k % 2 != 0) column[k] = 0;
      for (int32_t oc = rest; oc < t.out_channels; ++oc) {
        uint32_t& sum = acc[ptrdiff_t{p} * t.out_channels + oc];
        sum = (t.accumulate ? sum : 0) + DotOne(column, rows + ptrdiff_t{oc - rest} * k, k);
      }
    }
    if (count == kPixels) {
      Blocks<kPixels>(scratch.column, pairs, scratch.weights, blocks, acc, t.out_channels, t.accumulate);
      continue;
    }
    for (int32_t p = 0; p < count; ++p) {
      Blocks<1>(scratch.column + ptrdiff_t{2} * pairs * p, pairs, scratch.weights, blocks,
                acc + ptrdiff_t{p} * t.out_channels, t.out_channels, t.accumulate);
    }
  }
}

/// Sixteen channels of one output, all taps from (y, x) of the box on.
void DepthwiseSixteen(const TileWindow& t, const int8_t* x, const int8_t* w, int64_t y, int64_t at, uint32_t* acc) {
  const __m256i x_zero = _mm256_set1_epi16(static_cast<int16_t>(t.x_zero_point)),
                w_zero = _mm256_set1_epi16(static_cast<int16_t>(t.w_zero_point));
  const auto widen = [](const int8_t* p, __m256i zero) {
    return _mm256_sub_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), zero);
  };
  __m256i even = _mm256_setzero_si256(), odd = even;  // channels 0-3, 8-11 and 4-7, 12-15
  for (int32_t ky = 0; ky < t.kernel_h; ++ky, y += t.dilation_h) {
    if (y < 0 || y >= t.height) continue;
    int64_t column = at;
    for (int32_t kx = 0; kx < t.kernel_w; ++kx, column += t.dilation_w) {
      if (column < 0 || column >= t.width) continue;
      const __m256i a = widen(x + y * t.x_row + column * t.x_pixel, x_zero);
      const __m256i b = widen(w + (ptrdiff_t{ky} * t.kernel_w + kx) * t.channels, w_zero);
      const __m256i low = _mm256_mullo_epi16(a, b), high = _mm256_mulhi_epi16(a, b);
      even = _mm256_add_epi32(even, _mm256_unpacklo_epi16(low, high));
      odd = _mm256_add_epi32(odd, _mm256_unpackhi_epi16(low, high));
    }
  }
  __m256i first = _mm256_permute2x128_si256(even, odd, 0x20), second = _mm256_permute2x128_si256(even, odd, 0x31);
  if (t.accumulate) {
    first = _mm256_add_epi32(first, Load(acc));
    second = _mm256_add_epi32(second, Load(acc + 8));
  }
  Store(acc, first);
  Store(acc + 8, second);
}

void DepthwiseAvx2(const TileWindow& t, const int8_t* x, const int8_t* w, uint32_t* acc) {
  const int32_t whole = t.channels / 16 * 16;
  for (int32_t oy = 0; oy < t.out_height; ++oy) {
    const int64_t y = int64_t{oy} * t.stride_h - t.pad_top;
    for (int32_t ox = 0; ox < t.out_width; ++ox, acc += t.channels) {
      const int64_t at = int64_t{ox} * t.stride_w - t.pad_left;
      for (int32_t c = 0; c < whole; c += 16) DepthwiseSixteen(t, x + c, w + c, y, at, acc + c);
      DepthwisePixel(t, x, w, y, at, whole, acc);
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
const TileKernels kAvx2Tiles = {&ContractAvx2, &DepthwiseAvx2, &RequantizeAvx2};

}  // namespace takt
