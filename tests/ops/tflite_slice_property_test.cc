// STRIDED_SLICE of TFLite with drawn indices, strides of both signs and masks, against a walk of each dimension.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/ops/tflite_case.h"

namespace takt::test {
namespace {

struct Draw {
  std::mt19937 random;
  int32_t operator()(int32_t least, int32_t most) {
    return least + static_cast<int32_t>(random() % static_cast<uint32_t>(most - least + 1));
  }
  bool OneIn(uint32_t n) { return random() % n == 0; }
};

/// One dimension of the slice: what the file says, and the cells that it means.
struct Part {
  int32_t begin, end, stride;
  bool from_start, to_end, one;
  std::vector<int32_t> cells;
};

Part DrawPart(Draw& draw, int32_t size) {
  Part p{draw(-size - 1, size),
         draw(-size - 1, size + 1),
         draw(1, 3) * (draw.OneIn(3) ? -1 : 1),
         draw.OneIn(4),
         draw.OneIn(3),
         draw.OneIn(5),
         {}};
  if (p.one) {
    p.begin = draw(-size, size - 1);
    p.from_start = false;
    p.cells = {p.begin < 0 ? p.begin + size : p.begin};
    return p;
  }
  // As a loop would run: from the first cell while before the last, only cells that exist.
  const int32_t low = p.stride > 0 ? 0 : -1, high = p.stride > 0 ? size : size - 1;
  const auto place = [&](int32_t index) { return std::clamp(index < 0 ? index + size : index, low, high); };
  int32_t at = p.from_start ? (p.stride > 0 ? low : high) : place(p.begin);
  const int32_t stop = p.to_end ? (p.stride > 0 ? high : low) : place(p.end);
  for (; p.stride > 0 ? at < stop : at > stop; at += p.stride) p.cells.push_back(at);
  return p;
}

TEST(TfliteStridedSlice, EqualsAWalk) {
  int tried = 0;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    Draw draw{std::mt19937(seed)};
    const size_t rank = 1 + seed % 4;
    Shape shape, out;
    std::vector<Part> parts;
    std::vector<double> begin, end, stride;
    int32_t masks[3] = {};
    for (size_t d = 0; d < rank; ++d) {
      shape.push_back(draw(1, 5));
      parts.push_back(DrawPart(draw, shape[d]));
      const Part& p = parts.back();
      begin.push_back(p.begin);
      end.push_back(p.end);
      stride.push_back(p.stride);
      masks[0] |= p.from_start << d;
      masks[1] |= p.to_end << d;
      masks[2] |= p.one << d;
      if (!p.one) out.push_back(static_cast<int32_t>(p.cells.size()));
    }
    if (std::any_of(parts.begin(), parts.end(), [](const Part& p) { return p.cells.empty(); })) continue;
    std::vector<double> values = {0};  // Flat indices, dimension by dimension.
    for (size_t d = 0; d < rank; ++d) {
      std::vector<double> next;
      for (const double v : values)
        for (const int32_t cell : parts[d].cells) next.push_back(v * shape[d] + cell);
      values = std::move(next);
    }
    for (double& v : values) v += 1;  // The input counts from 1.
    const std::string name = "seed " + std::to_string(seed);
    RunData({name.c_str(),
             Code::STRIDED_SLICE,
             {X(shape), Int32s(begin), Int32s(end), Int32s(stride)},
             {{out, values}},
             Kind::StridedSliceOptions,
             [masks](auto& fbb) {
               return tflite::CreateStridedSliceOptions(fbb, masks[0], masks[1], 0, 0, masks[2]).Union();
             }},
            DataType::kInt32);
    ++tried;
  }
  EXPECT_GT(tried, 60);
}

}  // namespace
}  // namespace takt::test
