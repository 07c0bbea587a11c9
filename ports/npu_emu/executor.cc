#include "ports/npu_emu/executor.h"

#include <limits>

#include "engine/base/requantize.h"
#include "ports/kernel_util/arithmetic.h"
#include "ports/npu_emu/model/walker.h"

namespace takt::npu {
namespace {

class Executor {
 public:
  Executor(const Spaces& spaces, TileScratch scratch, const TileKernels& kernels)
      : spaces_(spaces), scratch_(scratch), kernels_(kernels) {}

  void Run(const Command& command, const Walker& walker);

 private:
  template <typename T>
  T* At(Address a, const Walker& walker) const {
    return reinterpret_cast<T*>(spaces_.first[a.space] + walker.Resolve(a));
  }
  void RunCopy(const Copy& op, const Walker& walker) const;
  template <typename T>
  void RunContraction(const T& op, Type type, const Walker& walker) const;
  template <typename E>
  void RunPool(const Pool& op, const Walker& walker) const;
  void RunRequantize(const Requantize& op, Type type, const Walker& walker) const;
  template <typename A>
  void RunAdd(const Add& op, const Walker& walker) const;

  const Spaces& spaces_;
  TileScratch scratch_;
  const TileKernels& kernels_;
};

template <typename T>
TileWindow WindowOf(const T& op, Type type) {
  const auto i = [](uint32_t v) { return static_cast<int32_t>(v); };
  const uint32_t row = op.x_row / FeatureBytes(type), pixel = op.x_pixel / FeatureBytes(type);
  return {i(op.height),       i(op.width),     i(op.channels),  ptrdiff_t{i(row)}, ptrdiff_t{i(pixel)},
          i(op.kernel_h),     i(op.kernel_w),  i(op.stride_h),  i(op.stride_w),    i(op.dilation_h),
          i(op.dilation_w),   i(op.pad_top),   i(op.pad_left),  i(op.out_height),  i(op.out_width),
          i(op.out_channels), op.x_zero_point, op.w_zero_point, op.accumulate != 0};
}

/// Rows of tiles are short: a call for each costs more than the copy. A row in its target's space may overlap it.
inline void CopyRow(std::byte* to, const std::byte* from, uint32_t n, bool apart) {
  struct Block {
    std::byte bytes[16];
  };
  constexpr uint32_t kBlock = sizeof(Block);
  if (!apart || n < kBlock || n > 16 * kBlock) {
    std::memmove(to, from, n);
    return;
  }
  Block block;
  const auto copy = [&](uint32_t at) {
    std::memcpy(&block, from + at, kBlock);
    std::memcpy(to + at, &block, kBlock);
  };
  for (uint32_t i = 0; i + kBlock < n; i += kBlock) copy(i);
  copy(n - kBlock);
}

/// Rows of single elements: a transpose.
template <typename T>
void CopyElements(const Copy& op, const std::byte* from, std::byte* to) {
  for (uint32_t plane = 0; plane < op.planes; ++plane, from += op.from_plane, to += op.to_plane) {
    const std::byte* f = from;
    std::byte* t = to;
    for (uint32_t row = 0; row < op.rows; ++row, f += op.from_row, t += op.to_row) {
      T element;
      std::memcpy(&element, f, sizeof(T));
      std::memcpy(t, &element, sizeof(T));
    }
  }
}

void Executor::RunCopy(const Copy& op, const Walker& walker) const {
  const auto* from = At<const std::byte>(op.from, walker);
  auto* to = At<std::byte>(op.to, walker);
  const bool apart = op.from.space != op.to.space;
  if (op.row_bytes == 1) return CopyElements<int8_t>(op, from, to);
  if (op.row_bytes == 2) return CopyElements<int16_t>(op, from, to);
  if (op.row_bytes == 4) return CopyElements<int32_t>(op, from, to);
  for (uint32_t plane = 0; plane < op.planes; ++plane, from += op.from_plane, to += op.to_plane) {
    for (uint32_t row = 0; row < op.rows; ++row) {
      CopyRow(to + size_t{row} * op.to_row, from + size_t{row} * op.from_row, op.row_bytes, apart);
    }
  }
}

template <typename T>
void Executor::RunContraction(const T& op, Type type, const Walker& walker) const {
  const TileWindow window = WindowOf(op, type);
  const auto* w = At<const int8_t>(op.w, walker);
  const auto run = [&](const auto* x, auto* acc, auto contract, auto depthwise) {
    if constexpr (T::kOp == MicroOp::kContract) {
      contract(window, x, w, acc, scratch_);
    } else {
      depthwise(window, x, w, acc);
    }
  };
  if (type == Type::kInt8) {
    run(At<const int8_t>(op.x, walker), At<uint32_t>(op.acc, walker), kernels_.contract, kernels_.depthwise);
  } else {
    run(At<const int16_t>(op.x, walker), At<uint64_t>(op.acc, walker), kernels_.contract_int16,
        kernels_.depthwise_int16);
  }
}

template <typename E>
void Executor::RunPool(const Pool& op, const Walker& walker) const {
  const auto* x = At<const E>(op.x, walker);
  auto* y = At<E>(op.y, walker);
  const auto stride = [](uint32_t bytes) { return static_cast<ptrdiff_t>(bytes / sizeof(E)); };
  const ptrdiff_t row = stride(op.x_row), pixel = stride(op.x_pixel);
  const auto i = [](uint32_t v) { return static_cast<int32_t>(v); };
  for (int32_t oy = 0; oy < i(op.out_height); ++oy) {
    const int32_t y0 = oy * i(op.stride_h) - i(op.pad_top);
    const Span1d ys(y0, i(op.height), i(op.kernel_h), 1);
    for (int32_t ox = 0; ox < i(op.out_width); ++ox) {
      const int32_t x0 = ox * i(op.stride_w) - i(op.pad_left);
      const Span1d xs(x0, i(op.width), i(op.kernel_w), 1);
      const int32_t n = ys.size() * xs.size();
      for (uint32_t c = 0; c < op.channels; ++c) {
        int32_t sum = 0, largest = std::numeric_limits<E>::min();
        for (int32_t ky = ys.begin; ky < ys.end; ++ky) {
          const E* cell = x + (y0 + ky) * row + (x0 + xs.begin) * pixel + c;
          for (int32_t kx = xs.begin; kx < xs.end; ++kx, cell += pixel) {
            sum += *cell;
            largest = *cell > largest ? *cell : largest;
          }
        }
        const int32_t average = (sum > 0 ? sum + n / 2 : sum - n / 2) / n;
        *y++ = static_cast<E>(ClampInt(op.function == 0 ? average : largest, op.low, op.high));
      }
    }
  }
}

/// y[p][c] = stage(acc[p][c] + bias[c], c), modulo what a Bias (unsigned) holds.
template <typename Bias, typename Sum, typename E, typename F>
void RunStage(const Requantize& op, const Sum* acc, const Bias* bias, E* y, F stage) {
  for (uint32_t p = 0; p < op.pixels; ++p, acc += op.channels, y += op.channels) {
    for (uint32_t c = 0; c < op.channels; ++c)
      y[c] = static_cast<E>(stage(static_cast<Bias>(static_cast<Bias>(acc[c]) + bias[c]), c));
  }
}

/// Tables come from the plan's constants, which nothing has checked: a shift is held in its range.
void Executor::RunRequantize(const Requantize& op, Type type, const Walker& walker) const {
  const auto* scales = At<const float>(op.table, walker);
  const auto* table = At<const int32_t>(op.table, walker);
  const auto low = static_cast<float>(op.low - op.zero_point), high = static_cast<float>(op.high - op.zero_point);
  const auto fp32 = [&](auto sum, uint32_t c) { return RequantizeFp32Rne(sum, scales[c], low, high, op.zero_point); };
  const auto tflite = [&](auto sum, uint32_t c) {
    const int32_t shift = ClampInt(table[2 * c + 1], -31, 30);
    return RequantizeTflite(sum, table[2 * c], shift, op.zero_point, op.low, op.high);
  };
  const bool rne = op.numerics == static_cast<uint32_t>(Stage::kFp32Rne);
  if (type == Type::kInt8) {
    const auto* acc = At<const uint32_t>(op.acc, walker);
    const auto* bias = At<const uint32_t>(op.bias, walker);
    auto* y = At<int8_t>(op.y, walker);
    if (!rne) return RunStage(op, acc, bias, y, tflite);
    const TileOutput out = {static_cast<int32_t>(op.pixels), static_cast<int32_t>(op.channels), low, high,
                            op.zero_point};
    return kernels_.requantize(out, acc, bias, scales, y);
  }
  const auto* acc = At<const uint64_t>(op.acc, walker);
  auto* y = At<int16_t>(op.y, walker);
  if (op.numerics == static_cast<uint32_t>(Stage::kTfliteNarrow))
    return RunStage(op, acc, At<const uint32_t>(op.bias, walker), y, tflite);
  const auto* bias = At<const uint64_t>(op.bias, walker);
  rne ? RunStage(op, acc, bias, y, fp32) : RunStage(op, acc, bias, y, tflite);
}

template <typename A>
void Executor::RunAdd(const Add& op, const Walker& walker) const {
  const schema::AddParams params(
      {static_cast<float>(op.low), static_cast<float>(op.high)}, op.a_multiplier, op.b_multiplier, op.output_multiplier,
      static_cast<int8_t>(op.a_shift), static_cast<int8_t>(op.b_shift), static_cast<int8_t>(op.output_shift),
      static_cast<int8_t>(op.left_shift), static_cast<int16_t>(op.a_zero_point), static_cast<int16_t>(op.b_zero_point),
      static_cast<int16_t>(op.output_zero_point), static_cast<schema::AddFunction>(op.function), 0);
  using E = typename A::Element;
  const auto *a = At<const E>(op.a, walker), *b = At<const E>(op.b, walker);
  auto* y = At<E>(op.y, walker);
  const size_t n = size_t{op.rows} * op.columns;
  for (size_t i = 0; i < n; ++i) y[i] = AddStored<A>(params, a[i], b[i]);
}

void Executor::Run(const Command& command, const Walker& walker) {
  const Type type = command.type;
  switch (command.op) {
    case MicroOp::kCopy:
      return RunCopy(command.as<Copy>(), walker);
    case MicroOp::kContract:
      return RunContraction(command.as<Contract>(), type, walker);
    case MicroOp::kDepthwise:
      return RunContraction(command.as<Depthwise>(), type, walker);
    case MicroOp::kPool: {
      const auto op = command.as<Pool>();
      return type == Type::kInt8 ? RunPool<int8_t>(op, walker) : RunPool<int16_t>(op, walker);
    }
    case MicroOp::kRequantize:
      return RunRequantize(command.as<Requantize>(), type, walker);
    case MicroOp::kAdd: {
      const auto op = command.as<Add>();
      const bool rne = op.numerics == static_cast<uint32_t>(Numerics::kFp32Rne);
      if (type == Type::kInt8) return rne ? RunAdd<Fp32Rne>(op, walker) : RunAdd<Tflite>(op, walker);
      return rne ? RunAdd<Fp32Rne16>(op, walker) : RunAdd<Tflite16Narrow>(op, walker);
    }
    default:
      return;
  }
}

}  // namespace

uint32_t ScratchBytes(const Machine& machine) {
  // int16 values: as many for columns as the widest weight buffer has bytes, twice as many for weights.
  const uint32_t w = machine.buffer(Buffer::kWeight), b = machine.buffer(Buffer::kWeightB);
  return 3 * 2 * (w > b ? w : b);
}

void Execute(const Stream& stream, const Spaces& spaces, TileScratch scratch, const TileKernels& kernels,
             const CommandHook& hook) {
  Executor executor(spaces, scratch, kernels);
  Walker walker(stream.commands);
  for (uint64_t n = 0;; ++n) {
    const Command command = walker.Next();
    if (command.op == MicroOp::kEnd || (hook.before != nullptr && !hook.before(hook.context, n, walker.position())))
      return;
    executor.Run(command, walker);
  }
}

}  // namespace takt::npu
