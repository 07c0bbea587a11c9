// fp32_rne operator by operator: each is fed with golden values and stays within one unit of the golden result.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "converter/ir/constants.h"
#include "tests/conformance/golden_suite.h"
#include "tests/support/operator_graph.h"
#include "tests/support/plan_runner.h"

namespace takt::test {
namespace {

struct Tally {
  uint64_t operators = 0;
  uint64_t elements = 0;
  uint64_t differing = 0;

  double share() const { return elements == 0 ? 0 : static_cast<double>(differing) / static_cast<double>(elements); }
  void Add(const Tally& other) {
    operators += other.operators, elements += other.elements, differing += other.differing;
  }
};

using Numbers = std::vector<float>;
/// By op and type of its output: "conv2d int8".
using Tallies = std::map<std::string, Tally>;

/// The golden values that are known in a case: layers, and the graph's own inputs and outputs (first invocation).
std::map<int32_t, Bytes> KnownTensors(const GoldenModel& model, const GoldenCase& golden, const ir::Graph& graph) {
  std::map<int32_t, Bytes> known = model.Layers(golden);
  const auto add = [&](const std::vector<ir::TensorId>& ids, const std::vector<Bytes>& values) {
    for (size_t i = 0; i < ids.size(); ++i) known[graph.tensor(ids[i]).source] = values.at(i);
  };
  add(graph.inputs, model.Inputs(golden));
  add(graph.outputs, model.Outputs(golden));
  return known;
}

/// The values of `ids`, or nothing if one of them is not known.
std::optional<std::vector<Bytes>> Select(const std::map<int32_t, Bytes>& known, const ir::Graph& graph,
                                         const std::vector<ir::TensorId>& ids) {
  std::vector<Bytes> values;
  for (const ir::TensorId id : ids) {
    const auto value = known.find(graph.tensor(id).source);
    if (value == known.end()) return std::nullopt;
    values.push_back(value->second);
  }
  return values;
}

const char* TypeName(DataType type) {
  switch (type) {
    case DataType::kFloat32:
      return "float32";
    case DataType::kInt8:
      return "int8";
    case DataType::kInt16:
      return "int16";
    default:
      return "other";
  }
}

/// The operator on real values.
ir::Graph RealOperator(ir::Graph op) {
  for (ir::Tensor& t : op.tensors) {
    if (t.type == DataType::kFloat32) continue;
    if (t.is_constant()) t.data = std::make_shared<const ir::Bytes>(ir::ToBytes(*ir::RealValues(t)));
    t.type = DataType::kFloat32;
    t.quantization.reset();
  }
  for (ir::State& state : op.states) state.initial = ir::kNoTensor;
  return op;
}

/// The real values of stored ones.
Numbers Real(ir::Tensor tensor, const Bytes& stored) {
  tensor.data = std::make_shared<const ir::Bytes>(stored);
  return *ir::RealValues(tensor);
}

/// Distances of an operator's outputs to the real values, fed with the same inputs, in units of the outputs: of the
/// golden ones, and of ours.
struct Distance {
  double golden = 0, ours = 0;
};

void AddDistance(const ir::Graph& op, const std::vector<Bytes>& inputs, const std::vector<Bytes>& golden,
                 const std::vector<Bytes>& ours, Distance& sum) {
  const Conversion made = ConvertGraph(RealOperator(op), {}, {});
  ASSERT_EQ(Refusal(made), "");
  std::vector<Bytes> real_inputs;
  for (size_t i = 0; i < inputs.size(); ++i)
    real_inputs.push_back(ir::ToBytes(Real(op.tensor(op.inputs[i]), inputs[i])));
  const std::vector<Bytes> real = PlanRunner(made.plan).Run(real_inputs);
  for (size_t i = 0; i < real.size(); ++i) {
    const ir::Tensor& tensor = op.tensor(op.outputs[i]);
    Numbers exact(real[i].size() / sizeof(float));
    std::memcpy(exact.data(), real[i].data(), real[i].size());
    const Bytes ends = tensor.type == DataType::kInt8 ? Bytes{0x80, 0x7F} : Bytes{0x00, 0x80, 0xFF, 0x7F};
    const Numbers range = Real(tensor, ends);
    for (float& v : exact) v = std::clamp(v, range[0], range[1]);
    const auto square = [&](const Bytes& stored) {
      const Numbers values = Real(tensor, stored);
      double total = 0;
      for (size_t k = 0; k < exact.size(); ++k) {
        const double d =
            static_cast<double>(values[k] - exact[k]) / static_cast<double>(tensor.quantization->scales[0]);
        total += d * d;
      }
      return total / static_cast<double>(exact.size());
    };
    sum.golden += square(golden[i]), sum.ours += square(ours[i]);
  }
}

void RunOperator(const GoldenModel& model, const ir::Graph& graph, const ir::Graph& op, Tallies& tallies) {
  std::optional<PlanRunner> runner;
  Distance distance;
  for (const GoldenCase& golden : model.cases) {
    const auto known = KnownTensors(model, golden, graph);
    const auto inputs = Select(known, op, op.inputs);
    const auto outputs = Select(known, op, op.outputs);
    if (!inputs || !outputs) continue;
    if (!runner) {
      const Conversion made = ConvertGraph(op, {}, {});
      ASSERT_EQ(Refusal(made), "") << model.name;
      runner.emplace(made.plan);
    }
    EXPECT_TRUE(runner->net().ResetState().ok());
    const std::vector<Bytes> got = runner->Run(*inputs);
    if (op.nodes.back().op == Op::kLstm && op.tensor(op.outputs[0]).type != DataType::kFloat32)
      AddDistance(op, *inputs, *outputs, got, distance);
    for (size_t i = 0; i < got.size(); ++i) {
      const ir::Tensor& tensor = op.tensor(op.outputs[i]);
      const double tolerance = tensor.type == DataType::kFloat32 ? 1e-5 : 1;
      const std::string what = model.name + ", case " + golden.label + ", " + tensor.name;
      // Steps of an lstm add up: what counts is the distance to the real values.
      const Deviation deviation = distance.golden > 0
                                      ? Compare(tensor.type, got[i], outputs->at(i))
                                      : ExpectWithin(tensor.type, got[i], outputs->at(i), tolerance, what);
      tallies[std::string(OpName(op.nodes.back().op)) + " " + TypeName(tensor.type)].Add(
          {1, deviation.count, deviation.differing});
    }
  }
  if (distance.golden == 0) return;
  std::printf("%s: mean square distance of an lstm to its real values: golden %.4f, fp32_rne %.4f\n",
              model.name.c_str(), distance.golden, distance.ours);
  EXPECT_LE(distance.ours, distance.golden) << model.name;
}

void Print(const Tallies& tallies) {
  std::printf("%-28s %9s %12s %12s %9s\n", "op", "runs", "elements", "differing", "share");
  for (const auto& [op, tally] : tallies) {
    std::printf("%-28s %9llu %12llu %12llu %8.4f %%\n", op.c_str(), static_cast<unsigned long long>(tally.operators),
                static_cast<unsigned long long>(tally.elements), static_cast<unsigned long long>(tally.differing),
                100 * tally.share());
  }
}

TEST(DefaultNumerics, IsWithinOneUnitOfEachGoldenLayer) {
  const std::vector<GoldenModel> models = FindGoldenModels();
  if (models.empty()) GTEST_SKIP() << "no goldens in " << SharedDir() << "; set TAKT_SHARED_DIR";
  Tallies tallies;
  for (const GoldenModel& model : models) {
    ir::Graph graph;
    const auto keep = [&](const std::string& stage, const ir::Graph& now) { graph = stage == "import" ? now : graph; };
    const Conversion made = ConvertTflite(ReadFile(model.file), model.name, {.on_stage = keep});
    if (const std::string refusal = Refusal(made); !refusal.empty()) {
      std::printf("skipped %s:%s\n", model.name.c_str(), refusal.c_str());
      continue;
    }
    for (const ir::Graph& op : SplitByOperator(graph)) RunOperator(model, graph, op, tallies);
  }
  Tally pooled;
  for (const char* op : {"conv2d int8", "depthwise_conv2d int8", "fully_connected int8", "add int8"}) {
    EXPECT_GT(tallies[op].elements, 0u) << op;
    pooled.Add(tallies[op]);
  }
  tallies["conv, depthwise, fc, add"] = pooled;
  Print(tallies);
  EXPECT_LE(pooled.share(), 0.005);
}

}  // namespace
}  // namespace takt::test
