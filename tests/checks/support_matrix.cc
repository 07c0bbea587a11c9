// Prints schema/OPS.md: each op with its kernels' types, the NPU's class, and the operators of TFLite and ONNX that
// its file reads. Everything comes from the op table, the ports' rows and the importers' rows.
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "converter/frontend/tflite_refusals.h"
#include "converter/ir/op_def.h"
#include "engine/core/op.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"
#include "schema/tflite_generated.h"

namespace takt {
namespace {

std::string Name(DataType type) {
  return schema::EnumNameDataType(static_cast<schema::DataType>(type));
}

std::string Join(const std::vector<std::string>& parts, const char* between = ", ") {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

/// "float32, int8 (fp32_rne, tflite), float32 to int32": input 0, and output 0 where it differs.
std::string Types(Op op, KernelTable kernels) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> numerics;
  for (const Kernel* kernel : kernels) {
    if (kernel->key.op != op) continue;
    const DataType in = kernel->key.types[0], out = kernel->key.types[2];
    const std::string types = in == out ? Name(in) : Name(in) + " to " + Name(out);
    if (numerics.count(types) == 0) order.push_back(types);
    std::vector<std::string>& of = numerics[types];
    if (kernel->key.numerics != Numerics::kAny)
      of.push_back(schema::EnumNameNumerics(static_cast<schema::Numerics>(kernel->key.numerics)));
  }
  for (std::string& types : order)
    if (!numerics[types].empty()) types += " (" + Join(numerics[types]) + ")";
  return Join(order);
}

const char* ClassName(ir::NpuClass npu) {
  switch (npu) {
    case ir::NpuClass::kContraction:
      return "contraction";
    case ir::NpuClass::kPool:
      return "pool";
    case ir::NpuClass::kElementwise:
      return "elementwise";
    case ir::NpuClass::kMove:
      return "move";
    case ir::NpuClass::kNone:
      break;
  }
  return "";
}

void PrintRow(const ir::OpDef& def) {
  std::vector<std::string> tflite, onnx;
  for (const ir::TfliteImport& import : def.tflite) tflite.push_back(import.name);
  for (const ir::OnnxImport& import : def.onnx)
    if (onnx.empty() || onnx.back() != import.op_type) onnx.push_back(import.op_type);
  const bool graph_only = static_cast<int>(def.op) >= static_cast<int>(Op::kGraphOpBase);
  const std::string types = graph_only ? "views and copies" : Types(def.op, reference::AllKernels());
  std::printf("| %s | %s | %s | %s | %s |\n", OpName(def.op), types.c_str(), ClassName(def.npu), Join(tflite).c_str(),
              Join(onnx).c_str());
}

void PrintRefusals() {
  std::printf("\n## Builtin operators of TFLite that are refused\n\n| operators | because |\n|---|---|\n");
  for (const frontend::TfliteRefusal& refusal : frontend::TfliteRefusals()) {
    std::vector<std::string> names;
    for (int code = refusal.first; code <= refusal.last; ++code)
      names.push_back(tflite::EnumNameBuiltinOperator(static_cast<tflite::BuiltinOperator>(code)));
    std::printf("| %s | %s |\n", Join(names).c_str(), refusal.reason);
  }
}

}  // namespace
}  // namespace takt

int main() {
  std::printf(
      "# Operators\n\n"
      "Written by the target `bless_support_matrix`; a test compares. `takt inspect MODEL` says of a model, operator "
      "by\n"
      "operator, whether it converts. An operator may also become several steps of other rows, and one on integers "
      "may\n"
      "be computed in float32, which the conversion names.\n\n"
      "- reference: element types of input 0, and of output 0 where it differs; in parentheses the numerics, none "
      "where\n"
      "  rounding does not enter. int8 and uint8 of a model are both int8 here. Weights of int8 and, in TFLite files,\n"
      "  int4, float16 and sparse ones are read.\n"
      "- npu_emu: the class as which the emulated NPU takes the op, if its machine has it; other steps stay on the "
      "host.\n"
      "- TFLite, ONNX: the operators that become this op.\n\n"
      "| op | reference | npu_emu | TFLite | ONNX |\n|---|---|---|---|---|\n");
  for (const takt::ir::OpDef* def : takt::ir::AllOpDefs()) takt::PrintRow(*def);
  takt::PrintRefusals();
}
