// Drawn windows, cut to drawn bounds down to what one cell of the output takes: no step is longer, and the bytes are
// those of the whole step, on every port.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "converter/backend/convert.h"
#include "converter/ir/op_def.h"
#include "converter/ir/text.h"
#include "engine/core/scheduler.h"
#include "tests/ops/op_test.h"
#include "tests/ops/plan_run.h"
#include "tests/support/messages.h"
#include "tests/support/unit_costs.h"

namespace takt::test {
namespace {

using Bytes = std::vector<uint8_t>;

class Draw {
 public:
  explicit Draw(uint32_t seed) : random_(seed) {}
  int32_t operator()(int32_t least, int32_t most) {
    return least + static_cast<int32_t>(random_() % static_cast<uint32_t>(most - least + 1));
  }
  /// Small numbers, of any type.
  Bytes Values(DataType type, const Dims& dims) {
    std::vector<double> values(Product(dims, 0, dims.size()));
    for (double& v : values) v = (*this)(-100, 100);
    return Pack(type, values);
  }

 private:
  std::mt19937 random_;
};

/// A graph of one node over a drawn image, and the work of one cell of its output.
class Windowed {
 public:
  Windowed(Op op, DataType type, Draw& draw) : op_(op), type_(type), draw_(draw) {
    graph_.name = "drawn";
    node_.op = op;
    node_.name = OpName(op);
    const int32_t rank = op == Op::kConv3d ? 3 : 2, groups = draw(1, 3), depth = draw(1, 4);
    const int32_t channels = groups * (IsPool() ? depth : draw(1, 4));
    dims_ = {draw(1, 2)};
    for (int i = 0; i < rank; ++i) AddAxis();
    dims_.push_back(op == Op::kDepthwiseConv2d ? groups : groups * depth);
    SetWindow(rank);
    AddInput(dims_);
    if (!IsPool()) AddWeights(channels, op == Op::kDepthwiseConv2d ? 1 : depth);
    Finish();
  }

  const ir::Graph& graph() const { return graph_; }
  uint64_t cell_work() const { return cell_work_; }
  const std::vector<Bytes>& inputs() const { return inputs_; }

 private:
  bool IsPool() const { return op_ == Op::kAveragePool2d || op_ == Op::kMaxPool2d || op_ == Op::kMaxPoolArgmax2d; }

  /// Often of one row, under a tall kernel.
  void AddAxis() {
    const int64_t kernel = draw_(1, 4), dilation = IsPool() ? 1 : draw_(1, 2), reach = (kernel - 1) * dilation;
    const int64_t before = draw_(0, static_cast<int32_t>(std::min<int64_t>(reach, 3)));
    const int64_t after = draw_(0, static_cast<int32_t>(std::min<int64_t>(reach, 3)));
    const int64_t least = op_ == Op::kTransposeConv2d ? 1 : std::max<int64_t>(1, reach + 1 - before - after);
    dims_.push_back(static_cast<int32_t>(least) + draw_(0, 1) * draw_(0, 6));
    kernel_.push_back(kernel);
    strides_.push_back(draw_(1, 3));
    dilations_.push_back(dilation);
    before_.push_back(op_ == Op::kTransposeConv2d ? std::min<int64_t>(before, reach / 2) : before);
    after_.push_back(op_ == Op::kTransposeConv2d ? std::min<int64_t>(after, reach / 2) : after);
    cell_work_ *= static_cast<uint64_t>(kernel);
  }

  void SetWindow(int32_t rank) {
    Ints pads = before_;
    pads.insert(pads.end(), after_.begin(), after_.end());
    node_.attributes = {{"strides", strides_}, {"pads", pads}, {"activation", std::string("none")}};
    if (IsPool()) node_.attributes["kernel"] = kernel_;
    if (!IsPool()) node_.attributes["dilations"] = dilations_;
    if (op_ != Op::kTransposeConv2d) return;
    Ints output;
    for (size_t i = 0; i < static_cast<size_t>(rank); ++i)
      output.push_back((dims_[i + 1] - 1) * strides_[i] + (kernel_[i] - 1) * dilations_[i] + 1 - before_[i] -
                       after_[i]);
    node_.attributes["size"] = output;
  }

  ir::TensorId Add(DataType type, const Dims& dims, float scale) {
    ir::Tensor t;
    t.name = "t";
    t.type = type;
    t.dims = dims;
    if (type != DataType::kFloat32) t.quantization = ir::Quantization{{scale}, {0}, 0};
    return graph_.AddTensor(std::move(t));
  }
  void AddInput(const Dims& dims) {
    node_.inputs.push_back(Add(type_, dims, 0.5f));
    graph_.inputs.push_back(node_.inputs.back());
    inputs_.push_back(draw_.Values(type_, dims));
  }
  void AddConstant(DataType type, const Dims& dims, float scale) {
    node_.inputs.push_back(Add(type, dims, scale));
    graph_.tensor(node_.inputs.back()).data = std::make_shared<const ir::Bytes>(draw_.Values(type, dims));
  }
  void AddWeights(int32_t channels, int32_t depth) {
    const bool depthwise = op_ == Op::kDepthwiseConv2d;
    Dims dims = {depthwise ? 1 : channels};
    for (const int64_t k : kernel_) dims.push_back(static_cast<int32_t>(k));
    dims.push_back(depthwise ? channels : depth);
    cell_work_ *= static_cast<uint64_t>(depth);
    const bool is_float = type_ == DataType::kFloat32;
    AddConstant(is_float ? type_ : DataType::kInt8, dims, 0.25f);
    AddConstant(is_float ? type_ : DataType::kInt32, {channels}, 0.125f);
  }

  void Finish() {
    const bool add = op_ == Op::kConv2dAdd;
    if (add) {
      node_.attributes["add_activation"] = std::string("none");
      node_.attributes["conv_scale"] = 8.0;
      node_.attributes["conv_zero_point"] = int64_t{0};
      ir::Node plain = node_;
      plain.op = Op::kConv2d;
      std::vector<ir::TensorType> types;
      EXPECT_EQ(ir::FindOpDef(plain.op).infer(graph_, plain, types), "");
      AddInput(types[0].dims);
    }
    std::vector<ir::TensorType> types;
    EXPECT_EQ(ir::FindOpDef(op_).infer(graph_, node_, types), "");
    for (const ir::TensorType& t : types) {
      node_.outputs.push_back(Add(t.type, t.dims, IsPool() ? 0.5f : 8.0f));
      graph_.outputs.push_back(node_.outputs.back());
    }
    graph_.nodes.push_back(node_);
  }

  const Op op_;
  const DataType type_;
  Draw& draw_;
  ir::Graph graph_;
  ir::Node node_;
  Dims dims_;
  Ints kernel_, strides_, dilations_, before_, after_;
  uint64_t cell_work_ = 1;
  std::vector<Bytes> inputs_;
};

void ExpectSameInParts(const Windowed& drawn, Numerics numerics, uint64_t bound) {
  ConvertOptions options;
  options.numerics = numerics;
  options.costs = UnitCosts();
  const Conversion whole = ConvertGraph(drawn.graph(), {}, options);
  options.max_step_us = bound;
  const Conversion parts = ConvertGraph(drawn.graph(), {}, options);
  ASSERT_TRUE(whole.diagnostics.ok() && parts.diagnostics.ok()) << Messages(whole) << Messages(parts);
  ZonedBytes file(parts.plan);
  Plan plan;
  ASSERT_EQ(plan.Open(std::span<const std::byte>(file.span())), Status());
  EXPECT_LE(LongestStep(plan), bound);
  EXPECT_EQ(RunOnPorts(parts.plan, drawn.inputs()), RunOnPorts(whole.plan, drawn.inputs()));
}

TEST(StepSplitProperty, DrawnWindowsKeepTheirBytesAtAnyBound) {
  using enum Op;
  uint32_t seed = 0;
  for (const Op op : {kConv2d, kConv2dAdd, kDepthwiseConv2d, kConv3d, kTransposeConv2d, kAveragePool2d, kMaxPool2d,
                      kMaxPoolArgmax2d}) {
    for (int i = 0; i < 40; ++i) {
      Draw draw(++seed);
      const bool is_float = op == kMaxPoolArgmax2d || (op != kConv2dAdd && draw(0, 3) == 0);
      const Windowed drawn(op, is_float ? DataType::kFloat32 : DataType::kInt8, draw);
      const auto bound = drawn.cell_work() * static_cast<uint64_t>(draw(1, 12)) + 1;
      SCOPED_TRACE(std::string(OpName(op)) + ", seed " + std::to_string(seed) + ", bound " + std::to_string(bound) +
                   "\n" + ir::PrintGraph(drawn.graph(), ir::ConstantText::kDigest));
      ExpectSameInParts(drawn, draw(0, 1) == 0 && !is_float ? Numerics::kTflite : Numerics::kFp32Rne, bound);
      if (HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace takt::test
