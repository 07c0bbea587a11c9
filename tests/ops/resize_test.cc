// resize_bilinear, resize_nearest
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schema/plan_generated.h"
#include "tests/ops/op_test.h"

namespace takt::test {
namespace {

std::string Coordinates(const OpCase& c) {
  return std::get<std::string>(c.attributes.at("coordinates"));
}
double SizeOf(const OpCase& c, size_t axis) {
  return static_cast<double>(std::get<Ints>(c.attributes.at("size"))[axis]);
}

/// Where output cell i lies on an axis, as a fraction of whole numbers.
struct Place {
  double at, unit;
};
Place PlaceOf(const std::string& coordinates, double i, double in, double out) {
  if (coordinates == "half_pixel") return {(2 * i + 1) * in - out, 2 * out};
  if (coordinates == "align_corners" && out > 1) return {i * (in - 1), out - 1};
  return {i * in, out};
}

/// y[n, h, w, c] = f(h, w, value of x at (row, column)).
template <typename F>
Results ForEachCell(const OpCase& c, const Inputs& in, const std::vector<double>& x, F f) {
  const Dims& d = in[0].dims;
  const auto height = static_cast<int32_t>(SizeOf(c, 0)), width = static_cast<int32_t>(SizeOf(c, 1));
  Values y({d[0], height, width, d[3]});
  size_t i = 0;
  for (int32_t n = 0; n < d[0]; ++n)
    for (int32_t h = 0; h < height; ++h)
      for (int32_t w = 0; w < width; ++w)
        for (int32_t k = 0; k < d[3]; ++k)
          y[i++] = f(h, w, [&](double row, double column) {
            return x[static_cast<size_t>(
                ((n * d[1] + static_cast<int32_t>(row)) * d[2] + static_cast<int32_t>(column)) * d[3] + k)];
          });
  return {y};
}

/// The sum of the four cells' products with whole-numbered weights, over the product of both units.
template <typename F>
Results Bilinear(const OpCase& c, const Inputs& in, const std::vector<double>& x, F finish) {
  const double rows = in[0].dims[1], columns = in[0].dims[2];
  return ForEachCell(c, in, x, [&](int32_t h, int32_t w, auto value) {
    const Place p = PlaceOf(Coordinates(c), h, rows, SizeOf(c, 0)),
                q = PlaceOf(Coordinates(c), w, columns, SizeOf(c, 1));
    double sum = 0;
    for (double row = 0; row < rows; ++row) {
      // Tents around the cells; the border cells' reach outward without end.
      const double at = std::clamp(p.at, 0.0, (rows - 1) * p.unit), wy = p.unit - std::fabs(at - row * p.unit);
      for (double column = 0; wy > 0 && column < columns; ++column) {
        const double to = std::clamp(q.at, 0.0, (columns - 1) * q.unit), wx = q.unit - std::fabs(to - column * q.unit);
        if (wx > 0) sum += wy * wx * value(row, column);
      }
    }
    return finish(sum, p.unit * q.unit);
  });
}

Results BilinearReal(const OpCase& c, const Inputs& in) {
  return Bilinear(c, in, in[0].real, [](double sum, double unit) { return sum / unit; });
}
/// The quotient of whole numbers, ties to even: exact, as both are below 2^53.
Results BilinearFp32Rne(const OpCase& c, const Inputs& in) {
  return Bilinear(c, in, in[0].stored, [](double sum, double unit) { return std::nearbyint(sum / unit); });
}

/// TFLite's integer form: cells and weights of a position with 10 bits of fraction, which may lie outside of the axis.
struct Fixed {
  int64_t position, lower, upper;
  Fixed(const std::string& coordinates, int64_t i, int64_t in, int64_t out) {
    int64_t scale = ((1 << 10) * in + out / 2) / out;
    if (coordinates == "align_corners" && out > 1) scale = ((1 << 10) * (in - 1) + (out - 1) / 2) / (out - 1);
    position = coordinates == "half_pixel" ? i * scale + scale / 2 - (1 << 9) : i * scale;
    lower = std::max<int64_t>(position / (1 << 10), 0);
    upper = std::min<int64_t>((position + (1 << 10) - 1) / (1 << 10), in - 1);
  }
  int64_t second() const { return position - (1 << 10) * lower; }
  int64_t first() const { return (1 << 10) - second(); }
};
Results BilinearTflite(const OpCase& c, const Inputs& in) {
  return ForEachCell(c, in, in[0].stored, [&](int32_t h, int32_t w, auto value) {
    const Fixed y(Coordinates(c), h, in[0].dims[1], static_cast<int64_t>(SizeOf(c, 0)));
    const Fixed x(Coordinates(c), w, in[0].dims[2], static_cast<int64_t>(SizeOf(c, 1)));
    const auto cell = [&](int64_t row, int64_t column) {
      return static_cast<int64_t>(value(static_cast<double>(row), static_cast<double>(column)));
    };
    const int64_t sum =
        cell(y.lower, x.lower) * y.first() * x.first() + cell(y.upper, x.lower) * y.second() * x.first() +
        cell(y.lower, x.upper) * y.first() * x.second() + cell(y.upper, x.upper) * y.second() * x.second();
    return static_cast<double>((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
  });
}

/// The cell whose centre is nearest, or that the centre falls into; the cases' borders are exact in float.
Results Nearest(const OpCase& c, const Inputs& in) {
  const auto cell = [&](int32_t i, size_t axis) {
    const double size = in[0].dims[axis + 1], out = SizeOf(c, axis);
    if (Coordinates(c) == "half_pixel") return std::floor((i + 0.5) * size / out);
    const Place p = PlaceOf(Coordinates(c), i, size, out);
    return Coordinates(c) == "align_corners" ? std::min(std::round(p.at / p.unit), size - 1)
                                             : std::floor(p.at / p.unit);
  };
  return ForEachCell(c, in, in[0].real,
                     [&](int32_t h, int32_t w, auto value) { return value(cell(h, 0), cell(w, 1)); });
}

const OpTraits kBilinear = {
    .op = Op::kResizeBilinear, .oracle = BilinearReal, .fp32_rne = BilinearFp32Rne, .tflite = BilinearTflite};
const OpTraits kNearest = {.op = Op::kResizeNearest, .oracle = Nearest};

OpCase Case(Operand x, Ints size, const char* coordinates) {
  Operand y = x;
  y.dims = {};
  return {{std::move(x)}, {std::move(y)}, {{"size", std::move(size)}, {"coordinates", std::string(coordinates)}}};
}

Operand Int16(Dims dims) {
  Operand t = Int8(std::move(dims), 0.001f, 0).Range(-32768, 32767);
  t.type = DataType::kInt16;
  return t;
}

std::vector<OpCase> Cases(bool int16) {
  std::vector<OpCase> cases;
  for (const char* coordinates : {"asymmetric", "align_corners", "half_pixel"})
    for (const auto& [x, size] : std::vector<std::pair<Dims, Ints>>{{{1, 4, 4, 3}, {8, 8}},
                                                                    {{2, 3, 5, 2}, {7, 9}},
                                                                    {{1, 8, 6, 1}, {4, 3}},
                                                                    {{1, 9, 7, 4}, {1, 5}},
                                                                    {{1, 1, 1, 5}, {3, 2}},
                                                                    {{1, 5, 5, 2}, {5, 5}},
                                                                    {{1, 2, 3, 1}, {40, 33}}}) {
      cases.push_back(Case(int16 ? Int16(x) : Int8(x), size, coordinates));
    }
  return cases;
}

TEST(ResizeBilinear, EqualsOracle) {
  RunCases(kBilinear, Cases(false));
  RunCases(kBilinear, Cases(true));
}
TEST(ResizeNearest, EqualsOracle) {
  RunCases(kNearest, Cases(false));
  RunCases(kNearest, Cases(true));
}

TEST(Resizes, RejectWhatBreaksTheirRule) {
  using P = schema::ResizeParams;
  for (const OpTraits& traits : {kBilinear, kNearest})
    ExpectRejections(traits, Case(Int8({1, 4, 4, 2}), {3, 6}, "half_pixel"), Numerics::kFp32Rne,
                     {{"x of rank 4", Site::kOpOperands, [](MutableCall& m) { m.inputs[0].rank = 3; }},
                      {"output of rank 4", Site::kOpOperands, [](MutableCall& m) { m.outputs[0].rank = 3; }},
                      {"batch", Site::kOpOperands, [](MutableCall& m) { m.dims[1][0] = 2; }},
                      {"channels", Site::kOpOperands, [](MutableCall& m) { m.dims[1][3] = 3; }},
                      {"height of x", Site::kOpOperands, [](MutableCall& m) { m.dims[0][1] = 65537; }},
                      {"width of the output", Site::kOpOperands, [](MutableCall& m) { m.dims[1][2] = 65537; }},
                      {"coordinates", Site::kOpParams, [](MutableCall& m) {
                         m.params<P>().mutate_coordinates(static_cast<schema::ResizeCoordinates>(3));
                       }}});
}

}  // namespace
}  // namespace takt::test
