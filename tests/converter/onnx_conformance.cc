// Runs the test cases that ONNX itself publishes through conversion and engine.  onnx_conformance FOLDER LIST [CASE]
//
// FOLDER/<group>/<case>/{model.onnx, test_data_set_*/{input,output}_*.pb}. A case passes if every output has the
// expected type, shape and values. LIST names what is out of scope, with reasons: operators, and cases of others. A
// listed operator that is supported, or a listed case that passes, is a failure, as is any other case that does not
// pass.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "converter/backend/convert.h"
#include "converter/frontend/onnx_operators.h"
#include "converter/frontend/onnx_tensor.h"
#include "converter/ir/constants.h"
#include "tests/support/plan_runner.h"

namespace {

namespace fs = std::filesystem;
using takt::ir::Tensor;

// Those of ONNX's own test runner.
constexpr double kRelative = 1e-3;
constexpr double kAbsolute = 1e-7;

const char* const kGroups[] = {"node", "simple", "pytorch-converted", "pytorch-operator"};

template <typename Message>
Message ReadProto(const fs::path& path) {
  Message message;
  std::ifstream file(path, std::ios::binary);
  if (!message.ParseFromIstream(&file)) throw std::runtime_error("cannot read " + path.string());
  return message;
}

Tensor ReadTensor(const fs::path& path, std::string& wrong) {
  Tensor tensor;
  const std::string reason = takt::frontend::ReadOnnxTensor(ReadProto<onnx::TensorProto>(path), "", tensor);
  if (wrong.empty()) wrong = reason;
  return tensor;
}

std::vector<fs::path> Sorted(const fs::path& folder) {
  std::vector<fs::path> paths(fs::directory_iterator(folder), {});
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// Which inputs are fixed to the case's values: shapes, axes and the like are inputs in ONNX.
enum class Fix { kNone, kIntegersAndScalars, kAllButFirst, kAll };

std::vector<bool> FixInputs(Fix fix, const std::vector<onnx::TensorProto>& inputs, onnx::ModelProto& model) {
  std::vector<bool> fixed(inputs.size());
  for (size_t i = fix == Fix::kAll ? 0 : 1; i < inputs.size() && fix != Fix::kNone; ++i) {
    int64_t count = 1;
    for (int64_t dim : inputs[i].dims()) count *= dim;
    const bool small = count == 1 || inputs[i].data_type() != onnx::TensorProto::FLOAT;
    if (fix == Fix::kIntegersAndScalars && !small) continue;
    onnx::TensorProto* initializer = model.mutable_graph()->add_initializer();
    *initializer = inputs[i];
    initializer->set_name(model.graph().input(static_cast<int>(i)).name());
    fixed[i] = true;
  }
  return fixed;
}

bool Close(double got, double want) {
  if (std::isnan(want)) return std::isnan(got);
  return got == want || std::fabs(got - want) <= kAbsolute + kRelative * std::fabs(want);
}

std::string CompareOutput(const std::vector<uint8_t>& got, const Tensor& want) {
  if (got.size() != want.data->size()) {
    return "has " + std::to_string(got.size()) + " bytes instead of " + std::to_string(want.data->size());
  }
  if (want.type != takt::DataType::kFloat32) return got == *want.data ? "" : "differs";
  const std::vector<float> expected = takt::ir::Elements<float>(want);
  for (size_t i = 0; i < expected.size(); ++i) {
    float value = 0;
    std::memcpy(&value, &got[4 * i], 4);
    if (Close(static_cast<double>(value), static_cast<double>(expected[i]))) continue;
    return "element " + std::to_string(i) + " is " + std::to_string(value) + " instead of " +
           std::to_string(expected[i]);
  }
  return "";
}

/// Empty if the data set's outputs come out; otherwise what went wrong. `converted` tells the two kinds apart.
std::string RunSet(const onnx::ModelProto& model, const fs::path& set, Fix fix, bool& converted) {
  std::vector<onnx::TensorProto> protos;
  std::vector<Tensor> outputs;
  std::string wrong;
  for (const fs::path& path : Sorted(set)) {
    if (path.filename().string().rfind("input_", 0) == 0) protos.push_back(ReadProto<onnx::TensorProto>(path));
    if (path.filename().string().rfind("output_", 0) == 0) outputs.push_back(ReadTensor(path, wrong));
  }
  if (!wrong.empty()) return "output " + wrong;
  onnx::ModelProto fixed = model;
  const std::vector<bool> is_fixed = FixInputs(fix, protos, fixed);
  const std::string bytes = fixed.SerializeAsString();
  const takt::Conversion made = takt::ConvertOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                                                  set.parent_path().filename().string(), {}, {});
  converted = !made.plan.empty();
  for (const takt::Diagnostic& diagnostic : made.diagnostics.all()) {
    if (diagnostic.severity == takt::Severity::kError) return diagnostic.ToString();
  }
  std::vector<std::vector<uint8_t>> inputs;
  for (size_t i = 0; i < protos.size(); ++i) {
    if (is_fixed[i]) continue;
    Tensor tensor;
    wrong = takt::frontend::ReadOnnxTensor(protos[i], "", tensor);
    if (!wrong.empty()) return "input " + wrong;
    inputs.push_back(*tensor.data);
  }
  takt::test::PlanRunner runner(made.plan);
  const auto results = runner.Run(inputs);
  if (results.size() != outputs.size()) return "has another number of outputs";
  for (size_t i = 0; i < outputs.size(); ++i) {
    const takt::TensorInfo info = runner.net().output(static_cast<uint32_t>(i));
    if (info.type != outputs[i].type ||
        !std::equal(info.dims.begin(), info.dims.end(), outputs[i].dims.begin(), outputs[i].dims.end())) {
      return "output " + std::to_string(i) + " has another type or shape";
    }
    wrong = CompareOutput(results[i], outputs[i]);
    if (!wrong.empty()) return "output " + std::to_string(i) + " " + wrong;
  }
  return "";
}

std::string RunCase(const onnx::ModelProto& model, const fs::path& folder) {
  std::string wrong = "has no data";
  for (const fs::path& set : Sorted(folder)) {
    if (set.filename().string().rfind("test_data_set_", 0) != 0) continue;
    for (Fix fix : {Fix::kNone, Fix::kIntegersAndScalars, Fix::kAllButFirst, Fix::kAll}) {
      bool converted = false;
      wrong = RunSet(model, set, fix, converted);
      if (converted || wrong.empty()) break;
    }
    if (!wrong.empty()) return wrong;
  }
  return wrong;
}

/// What is out of scope, with reasons: lines "group/case reason" and "operator reason"; "#" starts a comment.
std::map<std::string, std::string> ReadList(const std::string& path) {
  std::map<std::string, std::string> list;
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  for (std::string line; std::getline(file, line);) {
    const size_t space = line.find(' ');
    if (!line.empty() && line[0] != '#' && space != std::string::npos)
      list[line.substr(0, space)] = line.substr(space + 1);
  }
  return list;
}

/// The first operator of a model that the list names, or nothing.
std::string ListedOperator(const onnx::GraphProto& graph, const std::map<std::string, std::string>& list) {
  for (const auto& node : graph.node()) {
    if (list.count(node.op_type())) return node.op_type();
  }
  return "";
}

struct Counts {
  int passed = 0, failed = 0, out_of_scope = 0;
};

/// Empty if the case passes.
std::string WhyNot(const fs::path& folder, const onnx::ModelProto& model) {
  try {
    return RunCase(model, folder);
  } catch (const std::exception& error) {
    return error.what();
  }
}

int Run(const fs::path& data, const std::map<std::string, std::string>& list, const std::string& only) {
  std::map<std::string, int> reasons;
  Counts total;
  for (const std::string& name : takt::frontend::OnnxOperators()) {
    if (!list.count(name)) continue;
    std::printf("FAILED %s: is listed as out of scope (%s), and is supported\n", name.c_str(), list.at(name).c_str());
    ++total.failed;
  }
  for (const char* group : kGroups) {
    Counts counts;
    for (const fs::path& folder : Sorted(data / group)) {
      const std::string name = std::string(group) + "/" + folder.filename().string();
      if (!only.empty() && name.find(only) == std::string::npos) continue;
      const auto model = ReadProto<onnx::ModelProto>(folder / "model.onnx");
      const std::string listed = list.count(name) ? name : ListedOperator(model.graph(), list);
      const std::string wrong = listed.empty() || listed == name ? WhyNot(folder, model) : "operator";
      if (wrong.empty() == listed.empty()) {
        ++(listed.empty() ? counts.passed : counts.out_of_scope);
        if (!listed.empty()) ++reasons[list.at(listed)];
        continue;
      }
      ++counts.failed;
      const std::string why =
          listed.empty() ? wrong : "is listed as out of scope (" + list.at(listed) + "), and passes";
      std::printf("FAILED %s: %s\n", name.c_str(), why.c_str());
    }
    std::printf("%-18s %4d passed, %3d failed, %3d out of scope\n", group, counts.passed, counts.failed,
                counts.out_of_scope);
    total.passed += counts.passed;
    total.failed += counts.failed;
  }
  for (const auto& [reason, count] : reasons) std::printf("out of scope: %3d %s\n", count, reason.c_str());
  std::printf("%d passed, %d failed\n", total.passed, total.failed);
  return total.failed > 0 || total.passed == 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "onnx_conformance FOLDER LIST [CASE]\n"), 2;
  if (!fs::exists(argv[1])) return std::printf("SKIPPED: %s is absent (package libonnx-testdata)\n", argv[1]), 77;
  return Run(argv[1], ReadList(argv[2]), argc > 3 ? argv[3] : "");
}
