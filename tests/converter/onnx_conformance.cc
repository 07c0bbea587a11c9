// Runs the test cases that ONNX itself publishes through conversion and engine.  onnx_conformance FOLDER LIST [CASE]
//
// FOLDER/<group>/<case>/{model.onnx, test_data_set_*/{input,output}_*.pb}. A case passes if every output has the
// expected type, shape and values; it is passed over if an operator has no import function, with that as the reason.
// LIST names the cases that are out of scope, with reasons; one of them that passes is a failure, as is any other case
// that does not.
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "converter/backend/convert.h"
#include "converter/frontend/onnx_fold.h"
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

/// How many of the inputs behind the first are fixed to the case's values: shapes, axes and the like are inputs in
/// ONNX.
enum class Fix { kNone, kIntegersAndScalars, kAll };

void FixInputs(Fix fix, const std::vector<onnx::TensorProto>& inputs, onnx::ModelProto& model) {
  for (size_t i = 1; i < inputs.size() && fix != Fix::kNone; ++i) {
    int64_t count = 1;
    for (int64_t dim : inputs[i].dims()) count *= dim;
    const bool small = count == 1 || inputs[i].data_type() != onnx::TensorProto::FLOAT;
    if (fix == Fix::kIntegersAndScalars && !small) continue;
    onnx::TensorProto* initializer = model.mutable_graph()->add_initializer();
    *initializer = inputs[i];
    initializer->set_name(model.graph().input(static_cast<int>(i)).name());
  }
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
  FixInputs(fix, protos, fixed);
  const std::string bytes = fixed.SerializeAsString();
  const takt::Conversion made = takt::ConvertOnnx({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                                                  set.parent_path().filename().string(), {}, {});
  converted = !made.plan.empty();
  for (const takt::Diagnostic& diagnostic : made.diagnostics.all()) {
    if (diagnostic.severity == takt::Severity::kError) return diagnostic.ToString();
  }
  std::vector<std::vector<uint8_t>> inputs;
  for (size_t i = 0; i < protos.size(); ++i) {
    if (fixed.graph().initializer_size() > model.graph().initializer_size() &&
        std::any_of(fixed.graph().initializer().begin() + model.graph().initializer_size(),
                    fixed.graph().initializer().end(),
                    [&](const auto& t) { return t.name() == fixed.graph().input(static_cast<int>(i)).name(); })) {
      continue;
    }
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
    for (Fix fix : {Fix::kNone, Fix::kIntegersAndScalars, Fix::kAll}) {
      bool converted = false;
      wrong = RunSet(model, set, fix, converted);
      if (converted || wrong.empty()) break;
    }
    if (!wrong.empty()) return wrong;
  }
  return wrong;
}

/// An operator without import function, or nothing.
std::string UnsupportedOperator(const onnx::GraphProto& graph, const std::set<std::string>& supported) {
  for (const auto& node : graph.node()) {
    if (!supported.count(node.op_type())) return node.op_type();
  }
  return "";
}

/// Lines "group/case reason"; "#" starts a comment.
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

struct Counts {
  int passed = 0, failed = 0, out_of_scope = 0, unsupported = 0;
};

int Run(const fs::path& data, std::map<std::string, std::string> list, const std::string& only) {
  const std::vector<std::string> operators = takt::frontend::OnnxOperators();
  std::set<std::string> supported(operators.begin(), operators.end());
  for (const auto& fold : takt::frontend::OnnxFolds()) {
    if (std::string("Constant") == fold.op_type || std::string("Shape") == fold.op_type ||
        std::string("Size") == fold.op_type) {
      supported.insert(fold.op_type);
    }
  }
  std::map<std::string, int> missing;
  std::map<std::string, int> reasons;
  Counts total;
  for (const char* group : kGroups) {
    Counts counts;
    for (const fs::path& folder : Sorted(data / group)) {
      const std::string name = std::string(group) + "/" + folder.filename().string();
      if (!only.empty() && name.find(only) == std::string::npos) continue;
      const auto model = ReadProto<onnx::ModelProto>(folder / "model.onnx");
      const std::string unsupported = UnsupportedOperator(model.graph(), supported);
      if (!unsupported.empty()) {
        ++missing[unsupported];
        ++counts.unsupported;
        continue;
      }
      std::string wrong;
      try {
        wrong = RunCase(model, folder);
      } catch (const std::exception& error) {
        wrong = error.what();
      }
      const auto excused = list.find(name);
      if (excused != list.end()) {
        if (wrong.empty())
          std::printf("FAILED %s: is listed as out of scope (%s), and passes\n", name.c_str(), excused->second.c_str());
        wrong.empty() ? ++counts.failed : ++counts.out_of_scope;
        ++reasons[excused->second];
      } else {
        if (!wrong.empty()) std::printf("FAILED %s: %s\n", name.c_str(), wrong.c_str());
        wrong.empty() ? ++counts.passed : ++counts.failed;
      }
    }
    std::printf("%-18s %4d passed, %3d failed, %3d out of scope, %3d with an operator that is not supported\n", group,
                counts.passed, counts.failed, counts.out_of_scope, counts.unsupported);
    total.passed += counts.passed;
    total.failed += counts.failed;
  }
  for (const auto& [reason, count] : reasons) std::printf("out of scope: %3d %s\n", count, reason.c_str());
  for (const auto& [op, count] : missing) std::printf("not supported: %3d %s\n", count, op.c_str());
  std::printf("%d passed, %d failed\n", total.passed, total.failed);
  return total.failed > 0 || total.passed == 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "onnx_conformance FOLDER LIST [CASE]\n"), 2;
  if (!fs::exists(argv[1])) return std::printf("SKIPPED: %s is absent (package libonnx-testdata)\n", argv[1]), 77;
  return Run(argv[1], ReadList(argv[2]), argc > 3 ? argv[3] : "");
}
