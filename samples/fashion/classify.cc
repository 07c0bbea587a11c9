// Classifies Fashion-MNIST images with a plan and draws them in the terminal.
//
//   classify fashion.takt IMAGES [COUNT]   one raw image of 28x28 bytes, or the first COUNT (1) of an idx file
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>

#include "engine/core/interpreter.h"
#include "engine/plan/plan.h"
#include "ports/reference/kernels.h"
#include "samples/fashion/idx.h"

namespace {

constexpr const char* kNames[10] = {"T-shirt", "trouser", "pullover", "dress", "coat",
                                    "sandal",  "shirt",   "sneaker",  "bag",   "ankle boot"};
constexpr size_t kAlignment = 64;

/// Aligned bytes; an application on a device has static arrays instead.
class Buffer {
 public:
  explicit Buffer(size_t size)
      : data_(static_cast<std::byte*>(std::aligned_alloc(kAlignment, (size / kAlignment + 1) * kAlignment))),
        size_(size) {
    if (data_ == nullptr) std::abort();
  }
  std::span<std::byte> span() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
  size_t size_;
};

int Fail(const char* what, takt::Status status) {
  std::fprintf(stderr, "%s: %s, %s (detail %u)\n", what, takt::StatusCodeName(status.code()),
               takt::SiteText(status.site()), static_cast<unsigned>(status.detail()));
  return 1;
}

void Draw(const uint8_t* image) {
  static const char* const kShades[] = {" ", "░", "▒", "▓", "█"};
  for (size_t y = 0; y < fashion::kSide; ++y) {
    for (size_t x = 0; x < fashion::kSide; ++x) {
      const char* shade = kShades[(image[y * fashion::kSide + x] * 4 + 127) / 255];
      std::printf("%s%s", shade, shade);
    }
    std::printf("\n");
  }
}

/// The image as the input wants it: floats in [0, 1], or these in the input's quantization.
void SetInput(const takt::TensorInfo& input, const uint8_t* image) {
  const std::span<float> floats = input.as<float>();
  for (size_t i = 0; i < floats.size(); ++i) floats[i] = static_cast<float>(image[i]) / 255.0f;
  const std::span<int8_t> stored = input.as<int8_t>();
  for (size_t i = 0; i < stored.size(); ++i) {
    const float level = std::nearbyint(static_cast<float>(image[i]) / 255.0f / input.scale);
    stored[i] = static_cast<int8_t>(std::clamp(static_cast<int>(level) + input.zero_point, -128, 127));
  }
}

std::array<float, 10> Probabilities(const takt::TensorInfo& output) {
  std::array<float, 10> result = {};
  std::ranges::copy(output.as<float>(), result.begin());
  const std::span<const int8_t> stored = output.as<int8_t>();
  for (size_t i = 0; i < stored.size(); ++i)
    result[i] = output.scale * static_cast<float>(stored[i] - output.zero_point);
  return result;
}

/// Runs the images one by one, and prints what they are and how long it took.
takt::Status Classify(takt::Interpreter& net, const uint8_t* images, size_t count) {
  std::vector<double> times_us(count);
  for (size_t n = 0; n < count; ++n) {
    const uint8_t* image = images + n * fashion::kPixels;
    SetInput(net.input(0), image);
    const auto start = std::chrono::steady_clock::now();
    TAKT_TRY(net.Invoke());
    times_us[n] = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();

    const std::array<float, 10> scores = Probabilities(net.output(0));
    size_t order[10];
    std::iota(order, order + 10, size_t{0});
    std::stable_sort(order, order + 10, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    Draw(image);
    for (size_t i = 0; i < 3; ++i) {
      std::printf("%5.1f %%  %s\n", 100.0 * static_cast<double>(scores[order[i]]), kNames[order[i]]);
    }
  }
  std::sort(times_us.begin(), times_us.end());
  std::printf("latency: median %.0f us, worst %.0f us of %zu runs (reference kernels)\n", times_us[count / 2],
              times_us.back(), count);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: classify PLAN IMAGES [COUNT]\n");
    return 2;
  }
  const std::vector<uint8_t> file = fashion::ReadFile(argv[1]);
  const std::vector<uint8_t> images = fashion::Images(argv[2]);
  const size_t wanted = argc == 4 ? static_cast<size_t>(std::max(1, std::atoi(argv[3]))) : 1;
  const size_t count = std::min(wanted, images.size() / fashion::kPixels);
  if (count == 0) {
    std::fprintf(stderr, "no images in %s\n", argv[2]);
    return 1;
  }

  // A plan, and memory as it asks for.
  const Buffer bytes(file.size());
  std::copy_n(reinterpret_cast<const std::byte*>(file.data()), file.size(), bytes.span().data());
  takt::Plan plan;
  if (const takt::Status s = plan.Open(std::span<const std::byte>(bytes.span())); !s.ok()) return Fail(argv[1], s);
  const takt::KernelTable kernels = takt::reference::AllKernels();
  takt::Requirements need;
  if (const takt::Status s = takt::ComputeRequirements(plan, kernels, need); !s.ok()) return Fail("requirements", s);
  std::vector<Buffer> arenas;
  std::vector<std::span<std::byte>> spans;
  for (uint32_t i = 0; i < need.arena_count; ++i) {
    arenas.emplace_back(need.arenas[i].bytes);
    spans.push_back(arenas.back().span());
    std::printf("arena %u: %u bytes\n", static_cast<unsigned>(i), static_cast<unsigned>(need.arenas[i].bytes));
  }
  std::printf("runtime: %u bytes\n", static_cast<unsigned>(need.runtime.bytes));
  const Buffer runtime(need.runtime.bytes);
  takt::InitOptions options;
  options.arenas = spans;
  options.runtime = runtime.span();
  options.kernels = kernels;
  takt::Interpreter net;
  if (const takt::Status s = net.Init(plan, options); !s.ok()) return Fail("Init", s);
  const bool floats = net.input(0).type == takt::DataType::kFloat32;
  const size_t width = floats ? sizeof(float) : 1;
  if (net.input(0).bytes.size() != fashion::kPixels * width || net.output(0).bytes.size() != 10 * width) {
    std::fprintf(stderr, "%s is not a plan of this sample\n", argv[1]);
    return 1;
  }

  if (const takt::Status s = Classify(net, images.data(), count); !s.ok()) return Fail("Invoke", s);
  return 0;
}
