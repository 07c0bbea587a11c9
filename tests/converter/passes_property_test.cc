// Every pass, alone, leaves every output of every model bit for bit as it was, in both numerics.
#include <gtest/gtest.h>

#include <random>

#include "converter/frontend/tflite_importer.h"
#include "converter/passes/evaluate.h"
#include "converter/passes/pass.h"
#include "tests/converter/model_files.h"

namespace takt {
namespace {

/// The graph with random constants in place of its inputs.
ir::Graph WithInputs(ir::Graph graph, uint32_t seed) {
  std::mt19937 random(seed);
  for (ir::TensorId id : graph.inputs) {
    ir::Tensor& input = graph.tensor(id);
    ir::Bytes bytes(static_cast<size_t>(input.byte_size()));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    if (input.type == DataType::kFloat32) {
      for (size_t i = 3; i < bytes.size(); i += 4)
        bytes[i] = static_cast<uint8_t>(0x3f | (bytes[i] & 0x80));  // |x| < 2
    }
    input.data = std::make_shared<const ir::Bytes>(std::move(bytes));
  }
  graph.inputs.clear();
  return graph;
}

TEST(PassesProperty, OutputsStayBitForBit) {
  int changed = 0;
  for (const std::string& path : test::ModelFiles()) {
    Diagnostics diagnostics;
    const auto graph = frontend::ImportTflite(test::ReadBytes(path), path, diagnostics);
    if (!graph) continue;
    for (const Numerics numerics : {Numerics::kTflite, Numerics::kFp32Rne}) {
      std::optional<std::vector<ir::Bytes>> want;
      for (const passes::Pass& pass : passes::AllPasses()) {
        if (numerics == Numerics::kTflite && !pass.preserves_tflite_bytes) continue;
        ir::Graph rewritten = *graph;
        passes::PassContext context{numerics, diagnostics};
        pass.run(rewritten, context);
        if (rewritten == *graph) continue;
        if (!want) want = passes::Evaluate(WithInputs(*graph, 1), numerics);
        if (!want) break;  // An op that these numerics don't have.
        EXPECT_EQ(passes::Evaluate(WithInputs(rewritten, 1), numerics), want) << path << " after " << pass.name;
        ++changed;
      }
    }
  }
  EXPECT_GT(changed, 0);
}

}  // namespace
}  // namespace takt
