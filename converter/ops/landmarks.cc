#include "converter/ops/landmarks.h"

#include <string>
#include <utility>
#include <vector>

#include "converter/frontend/custom_options.h"
#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"

namespace takt::ir {
namespace {

using frontend::TfliteNode;
using Dims = std::vector<int32_t>;

/// Arithmetic on float32, written as it reads; operands broadcast.
class Expression {
 public:
  explicit Expression(TfliteNode& node) : node_(node) {}

  TensorId Binary(const char* function, TensorId a, TensorId b) const {
    return node_.Emit(Op::kBinary, {a, b}, {{"function", std::string(function)}});
  }
  TensorId Plus(TensorId a, TensorId b) const { return Binary("add", a, b); }
  TensorId Minus(TensorId a, TensorId b) const { return Binary("subtract", a, b); }
  TensorId Times(TensorId a, TensorId b) const { return Binary("multiply", a, b); }
  TensorId Moved(TensorId a, double by) const { return Plus(a, Number(by)); }
  TensorId Scaled(TensorId a, double by) const { return Times(a, Number(by)); }
  TensorId Number(double value) const { return node_.Scalar(static_cast<float>(value)); }
  TensorId Unary(const char* function, TensorId x) const {
    return node_.Emit(Op::kUnary, {x}, {{"function", std::string(function)}});
  }
  TensorId Product(TensorId a, TensorId b, bool transpose_b) const {
    return node_.Emit(Op::kBatchMatMul, {a, b}, {{"transpose_b", int64_t{transpose_b}}});
  }
  /// Of all cells along an axis, which stays as 1.
  TensorId Extreme(const char* function, TensorId x, int64_t axis) const {
    return node_.Emit(
        Op::kReduce, {x},
        {{"function", std::string(function)}, {"axes", std::vector<int64_t>{axis}}, {"keep_dims", int64_t{1}}});
  }
  TensorId Pick(TensorId x, int64_t axis, const std::vector<int32_t>& indices) const {
    const TensorId id = Constant(DataType::kInt32, {static_cast<int32_t>(indices.size())}, ToBytes(indices));
    return node_.Emit(Op::kGather, {x, id}, {{"axis", axis}});
  }
  TensorId Joined(std::vector<TensorId> parts, int64_t axis) const {
    return node_.Emit(Op::kConcatenation, std::move(parts), {{"axis", axis}});
  }
  TensorId Reals(Dims dims, const std::vector<float>& values) const {
    return Constant(DataType::kFloat32, std::move(dims), ToBytes(values));
  }
  TensorId Reshaped(TensorId x, Dims dims) const {
    Tensor shaped;
    shaped.type = node_.tensor(x).type;
    shaped.dims = std::move(dims);
    const TensorId id = node_.NewTensor(shaped, "/reshaped" + std::to_string(node_.graph().tensors.size()));
    node_.AddTo(Op::kReshape, {x}, {id});
    return id;
  }
  /// The two rows of a matrix [1, 4, 4] that move points (x, y, 1).
  TensorId PlaneRows(TensorId matrix) const { return Pick(Pick(matrix, 1, {0, 1}), 2, {0, 1, 3}); }

 private:
  TensorId Constant(DataType type, Dims dims, Bytes bytes) const {
    const std::string name = node_.tensor(node_.output(0)).name;
    return node_.graph().AddConstant(name + "/constant" + std::to_string(node_.graph().tensors.size()), type,
                                     std::move(dims), std::move(bytes));
  }

  TfliteNode& node_;
};

/// Version 2 of an operator of float32 operands, whose first has `rank`.
bool CheckOperator(TfliteNode& node, int inputs, size_t rank) {
  if (!node.CheckArity(inputs, inputs, 1)) return false;
  if (node.version() != 2)
    return node.Error("has version " + std::to_string(node.version()) + "; version 2 is supported"), false;
  for (int i = 0; i < inputs; ++i)
    if (node.tensor(node.input(i)).type != DataType::kFloat32) return node.Error("takes float32", node.input(i)), false;
  const Dims& dims = node.tensor(node.input(0)).dims;
  if (dims.size() == rank && dims[0] == 1) return true;
  node.Error("input of shape " + DimsText(dims) + " is not of rank " + std::to_string(rank) + " with a first 1",
             node.input(0));
  return false;
}

bool CheckMatrix(TfliteNode& node, int input) {
  const Dims& dims = node.tensor(node.input(input)).dims;
  if (dims == Dims{1, 4, 4}) return true;
  node.Error("has a matrix of shape " + DimsText(dims) + "; it must be [1, 4, 4]", node.input(input));
  return false;
}

struct Crop {
  std::vector<int32_t> subset;
  int32_t left = 0, right = 0;
  double rotation = 0, width = 0, height = 0, scale_x = 0, scale_y = 0;
};

std::optional<Crop> ReadCrop(TfliteNode& node, int32_t landmarks) {
  frontend::CustomOptions options(node);
  const auto subset = options.Ints("subset_idxs", 0, landmarks - 1);
  const auto left = options.Int("left_rotation_idx", 0, landmarks - 1);
  const auto right = options.Int("right_rotation_idx", 0, landmarks - 1);
  const auto width = options.Int("output_width", 1, 65535), height = options.Int("output_height", 1, 65535);
  const auto scale_x = options.Real("scale_x"), scale_y = options.Real("scale_y");
  const auto rotation = options.Real("target_rotation_radians");
  if (!subset || !left || !right || !width || !height || !scale_x || !scale_y || !rotation) return std::nullopt;
  if (subset->empty()) return node.Error("option 'subset_idxs' names no landmark; the file is damaged"), std::nullopt;
  return Crop{{subset->begin(), subset->end()},
              static_cast<int32_t>(*left),
              static_cast<int32_t>(*right),
              *rotation,
              static_cast<double>(*width),
              static_cast<double>(*height),
              *scale_x,
              *scale_y};
}

/// One coordinate of the rotated landmarks' box.
struct Extent {
  TensorId size, middle;
};
Extent ExtentOf(const Expression& e, TensorId points) {
  const TensorId high = e.Extreme("maximum", points, 1), low = e.Extreme("minimum", points, 1);
  return {e.Minus(high, low), e.Scaled(e.Plus(high, low), 0.5)};
}

}  // namespace

/// From the pixels of a crop to the image: the crop is the box around the landmarks of the subset, turned so that the
/// line from the left to the right landmark has the wanted direction: shift(middle) * rotate(-r) * scale *
/// shift(-half).
void ImportLandmarksToTransformMatrix(TfliteNode& node) {
  if (!CheckOperator(node, 1, 3)) return;
  const Dims dims = node.tensor(node.input(0)).dims;
  if (dims[2] < 2) return node.Error("has landmarks of " + std::to_string(dims[2]) + " coordinates", node.input(0));
  const auto crop = ReadCrop(node, dims[1]);
  if (!crop || !node.SetDims(0, {1, 4, 4})) return;
  node.Note("becomes about 50 steps: gathers, a rotation, a box and the product of four matrices");
  const Expression e(node);
  const auto column = [&](TensorId x, int32_t i) { return e.Pick(x, 2, {i}); };
  const TensorId ends = e.Pick(node.input(0), 1, {crop->left, crop->right});
  const TensorId along = e.Product(e.Reals({1, 1, 2}, {-1, 1}), ends, false);
  const TensorId angle = e.Binary("atan2", column(along, 1), column(along, 0));
  const TensorId rotation = e.Minus(e.Number(crop->rotation), angle);
  const TensorId c = e.Unary("cos", rotation), s = e.Unary("sin", rotation);
  const TensorId points = e.Pick(node.input(0), 1, crop->subset), px = column(points, 0), py = column(points, 1);
  const Extent x = ExtentOf(e, e.Minus(e.Times(c, px), e.Times(s, py)));
  const Extent y = ExtentOf(e, e.Plus(e.Times(s, px), e.Times(c, py)));
  const TensorId scale_x = e.Scaled(x.size, crop->scale_x / crop->width);
  const TensorId scale_y = e.Scaled(y.size, crop->scale_y / crop->height);
  const TensorId zero = e.Reals({1, 1, 1}, {0});
  /// A row from its first two elements and the middle's coordinate.
  const auto row = [&](TensorId a, TensorId b, TensorId middle) {
    const TensorId shift = e.Plus(e.Scaled(a, -crop->width / 2), e.Scaled(b, -crop->height / 2));
    return e.Joined({a, b, zero, e.Plus(middle, shift)}, 2);
  };
  const TensorId first =
      row(e.Times(c, scale_x), e.Times(s, scale_y), e.Plus(e.Times(c, x.middle), e.Times(s, y.middle)));
  const TensorId second =
      row(e.Scaled(e.Times(s, scale_x), -1), e.Times(c, scale_y), e.Minus(e.Times(c, y.middle), e.Times(s, x.middle)));
  const TensorId rest = e.Reals({1, 2, 4}, {0, 0, 1, 0, 0, 0, 0, 1});
  node.Add(Op::kConcatenation, {first, second, rest}, {{"axis", int64_t{1}}});
}

/// Each pixel's centre goes through the matrix; its value there is bilinear, and 0 outside of the input's centres.
void ImportTransformTensorBilinear(TfliteNode& node) {
  if (!CheckOperator(node, 2, 4) || !CheckMatrix(node, 1)) return;
  frontend::CustomOptions options(node);
  const auto width = options.Int("output_width", 1, 65535), height = options.Int("output_height", 1, 65535);
  if (!width || !height) return;
  const Dims in = node.tensor(node.input(0)).dims;
  const Dims out = {1, static_cast<int32_t>(*height), static_cast<int32_t>(*width), in[3]};
  if (int64_t{in[1]} * in[2] > 1 << 24)
    return node.Error("takes images of at most 2^24 pixels, whose places float32 can tell apart");
  if (!MayMake(node, DataType::kFloat32, {1, *height, *width, 3}, node.output(0))) return;
  if (!node.SetDims(0, out)) return;
  node.Note("becomes 4 gathers, with their weights and sums");
  const Expression e(node);
  const int32_t count = out[1] * out[2];
  std::vector<float> grid;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t row = i / out[2], column = i % out[2];
    for (const double v : {column + 0.5, row + 0.5, 1.0}) grid.push_back(static_cast<float>(v));
  }
  const TensorId at = e.Moved(e.Product(e.Reals({1, count, 3}, grid), e.PlaneRows(node.input(1)), true), -0.5);
  struct Axis {
    TensorId first, part, inside;
  };
  const auto axis = [&](int32_t i, int32_t size) {
    const TensorId v = e.Pick(at, 2, {i}), first = e.Unary("floor", v);
    const TensorId clamped = node.Emit(Op::kClamp, {v}, {{"min", 0.0}, {"max", static_cast<double>(size - 1)}});
    return Axis{first, e.Minus(v, first), node.Emit(Op::kCompare, {clamped, v}, {{"function", std::string("equal")}})};
  };
  const Axis x = axis(0, in[2]), y = axis(1, in[1]);
  const TensorId pixels = e.Reshaped(node.input(0), {in[1] * in[2], in[3]});
  const auto corner = [&](double dx, double dy) {
    const TensorId place = e.Plus(e.Scaled(e.Moved(y.first, dy), in[2]), e.Moved(x.first, dx));
    Tensor index;
    index.type = DataType::kInt32;
    index.dims = {1, count, 1};
    const TensorId id = node.NewTensor(index, "/place" + std::to_string(node.graph().tensors.size()));
    node.AddTo(Op::kCast, {place}, {id});
    return node.Emit(Op::kGather, {pixels, e.Reshaped(id, {1, count})}, {{"axis", int64_t{0}}});
  };
  const auto between = [&](TensorId a, TensorId b, TensorId part) { return e.Plus(a, e.Times(e.Minus(b, a), part)); };
  const TensorId value =
      between(between(corner(0, 0), corner(1, 0), x.part), between(corner(0, 1), corner(1, 1), x.part), y.part);
  const TensorId inside = node.Emit(Op::kLogic, {x.inside, y.inside}, {{"function", std::string("conjunction")}});
  node.Add(Op::kReshape, {node.Emit(Op::kSelect, {inside, value, e.Number(0)})});
}

/// x and y of each landmark go through the matrix; a third coordinate stays.
void ImportTransformLandmarks(TfliteNode& node) {
  if (!CheckOperator(node, 2, 3) || !CheckMatrix(node, 1)) return;
  const Dims dims = node.tensor(node.input(0)).dims;
  if (dims[2] != 2 && dims[2] != 3)
    return node.Error("has landmarks of " + std::to_string(dims[2]) + " coordinates; they have 2 or 3", node.input(0));
  if (!node.SetDims(0, dims)) return;
  if (!MayMake(node, DataType::kFloat32, {1, dims[1], 1}, node.output(0))) return;
  const Expression e(node);
  const TensorId x = node.input(0);
  const TensorId ones = e.Reals({1, dims[1], 1}, std::vector<float>(static_cast<size_t>(dims[1]), 1.0f));
  const TensorId points = e.Joined({dims[2] == 3 ? e.Pick(x, 2, {0, 1}) : x, ones}, 2);
  const TensorId rows = e.PlaneRows(node.input(1));
  if (dims[2] == 2) {
    node.Add(Op::kBatchMatMul, {points, rows}, {{"transpose_b", int64_t{1}}});
  } else {
    node.Add(Op::kConcatenation, {e.Product(points, rows, true), e.Pick(x, 2, {2})}, {{"axis", int64_t{2}}});
  }
}

}  // namespace takt::ir
