// filter_bank, filter_bank_square_root: none. spectral_subtraction: smoothing, one_minus_smoothing,
// alternate_smoothing, alternate_one_minus_smoothing, min_signal_remaining, smoothing_bits, bits, clamping; inputs x
// and the noise, outputs y and the next noise. filter_bank_log: scale, correction_bits. pcan: snr_shift.
#include <cmath>

#include "converter/frontend/custom_options.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/op_def.h"
#include "converter/ops/quantized_params.h"
#include "converter/ops/signal_states.h"

namespace takt::ir {
namespace {

using frontend::CustomOptions;
using frontend::TfliteNode;

/// Reason why operands are not rows of `types`, in order; empty if they are.
std::string CheckRows(const Graph& graph, const Node& node, std::initializer_list<DataType> types) {
  size_t i = 0;
  for (const DataType type : types) {
    const Tensor& t = graph.tensor(node.inputs[i++]);
    if (t.type != type || t.dims.size() != 1)
      return "operand " + std::to_string(i - 1) + " " + DimsText(t.dims) + " is no row of the type that it takes";
  }
  return "";
}

std::string InferFilterBank(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  using enum DataType;
  std::string reason = CheckRows(graph, node, {kUint32, kInt16, kInt16, kInt16, kInt16, kInt16});
  if (!reason.empty()) return reason;
  const int32_t channels = graph.tensor(node.inputs[3]).dims[0] - 1;
  for (size_t i = 1; i < 6; ++i)
    if (!graph.tensor(node.inputs[i]).is_constant()) return "its weights and channels must be constants";
  if (channels < 1) return "it has no channel";
  outputs = {{kUint64, {channels}}};
  return "";
}

void ImportFilterBank(TfliteNode& node) {
  if (!node.CheckArity(6, 6, 1)) return;
  const auto channels = CustomOptions(node).Int("num_channels", 1, INT16_MAX);
  if (!channels) return;
  if (node.tensor(node.output(0)).dims != std::vector<int32_t>{static_cast<int32_t>(*channels)})
    return node.Error("gives another number of channels than its option says", node.output(0));
  node.Add(Op::kFilterBank, {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4), node.input(5)});
}

std::string InferSquareRoot(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  std::string reason = CheckRows(graph, node, {DataType::kUint64});
  if (!reason.empty()) return reason;
  const Tensor& bits = graph.tensor(node.inputs[1]);
  if (bits.type != DataType::kInt32 || bits.element_count() != 1) return "operand 1 must be one int32";
  outputs = {{DataType::kUint32, graph.tensor(node.inputs[0]).dims}};
  return "";
}

void ImportSquareRoot(TfliteNode& node) {
  if (node.CheckArity(2, 2, 1)) node.Add(Op::kFilterBankSquareRoot, {node.input(0), node.input(1)});
}

template <typename Params>
void LowerWithoutParams(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  step.Set(node.op, Numerics::kAny, Params(), node.inputs, node.outputs);
}

std::string InferSubtraction(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  std::string reason = CheckRows(graph, node, {DataType::kUint32, DataType::kUint32});
  if (!reason.empty()) return reason;
  const Tensor& x = graph.tensor(node.inputs[0]);
  if (graph.tensor(node.inputs[1]).dims != x.dims) return "its noise differs from its operand in shape";
  outputs = {{x.type, x.dims}, {x.type, x.dims}};
  return "";
}

void LowerSubtraction(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const auto value = [&node](const char* key) { return static_cast<uint32_t>(node.Int(key)); };
  const schema::SpectralSubtractionParams params(
      value("smoothing"), value("one_minus_smoothing"), value("alternate_smoothing"),
      value("alternate_one_minus_smoothing"), value("min_signal_remaining"),
      static_cast<uint8_t>(value("smoothing_bits")), static_cast<uint8_t>(value("bits")), value("clamping") != 0, 0);
  step.Set(node.op, Numerics::kAny, params, node.inputs, node.outputs);
}

/// Its second output is the noise that it keeps.
void ImportSubtraction(TfliteNode& node) {
  if (!node.CheckArity(1, 1, 2)) return;
  CustomOptions options(node);
  std::map<std::string, Attribute> attributes;
  const auto read = [&](const char* option, const char* key, int64_t low, int64_t high) {
    if (const auto value = options.Int(option, low, high)) attributes[key] = *value;
  };
  for (const char* key : {"smoothing", "one_minus_smoothing", "alternate_smoothing", "alternate_one_minus_smoothing",
                          "min_signal_remaining"})
    read(key, key, INT32_MIN, INT32_MAX);
  read("smoothing_bits", "smoothing_bits", 0, 31);
  read("spectral_subtraction_bits", "bits", 0, 63);
  read("clamping", "clamping", 0, 1);
  if (attributes.size() != 8) return;
  const TensorId noise = node.NewTensor(node.tensor(node.output(1)), "/noise");
  node.graph().states.push_back({noise, node.output(1)});
  node.Add(Op::kSpectralSubtraction, {node.input(0), noise}, std::move(attributes));
}

std::string InferLog(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  std::string reason = CheckRows(graph, node, {DataType::kUint32});
  if (reason.empty()) outputs = {{DataType::kInt16, graph.tensor(node.inputs[0]).dims}};
  return reason;
}

void LowerLog(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  constexpr int kSegments = 128;
  std::vector<int16_t> table;
  for (int i = 0; i <= kSegments; ++i) {
    const double x = static_cast<double>(i) / kSegments;
    const auto entry = RoundComputed(65536.0 * (std::log2(1 + x) - x));
    if (!entry) return step.Error("a table entry is too close to a rounding tie to be the same on every host");
    table.push_back(static_cast<int16_t>(*entry));
  }
  const TensorId id = step.Constant("log", DataType::kInt16, {kSegments + 1}, table);
  const uint8_t reserved[3] = {};
  const schema::FilterBankLogParams params(static_cast<uint32_t>(node.Int("scale")),
                                           static_cast<uint8_t>(node.Int("correction_bits")),
                                           flatbuffers::span<const uint8_t, 3>(reserved));
  step.Set(node.op, Numerics::kAny, params, {node.inputs[0], id}, node.outputs);
}

void ImportLog(TfliteNode& node) {
  if (!node.CheckArity(1, 1, 1)) return;
  CustomOptions options(node);
  const auto bits = options.Int("input_correction_bits", 0, 31),
             scale = options.Int("output_scale", INT32_MIN, INT32_MAX);
  if (bits && scale) node.Add(Op::kFilterBankLog, {node.input(0)}, {{"scale", *scale}, {"correction_bits", *bits}});
}

std::string InferPcan(const Graph& graph, const Node& node, std::vector<TensorType>& outputs) {
  std::string reason = CheckRows(graph, node, {DataType::kUint32, DataType::kUint32, DataType::kInt16});
  if (!reason.empty()) return reason;
  const Tensor& x = graph.tensor(node.inputs[0]);
  if (graph.tensor(node.inputs[1]).dims != x.dims) return "its noise differs from its operand in shape";
  if (graph.tensor(node.inputs[2]).dims[0] < 125) return "its table has less than 125 gains";
  outputs = {{x.type, x.dims}};
  return "";
}

void LowerPcan(const Node&, backend::StepBuilder& step) {
  const Node node = step.node();
  const schema::PcanParams params(static_cast<uint8_t>(node.Int("snr_shift")));
  step.Set(node.op, Numerics::kAny, params, node.inputs, node.outputs);
}

void ImportPcan(TfliteNode& node) {
  if (!node.CheckArity(3, 3, 1)) return;
  if (const auto shift = CustomOptions(node).Int("snr_shift", 0, 63))
    node.Add(Op::kPcan, {node.input(0), node.input(1), node.input(2)}, {{"snr_shift", *shift}});
}

constexpr AttributeRule kSubtractionAttributes[] = {{"smoothing", AttributeKind::kInt, true},
                                                    {"one_minus_smoothing", AttributeKind::kInt, true},
                                                    {"alternate_smoothing", AttributeKind::kInt, true},
                                                    {"alternate_one_minus_smoothing", AttributeKind::kInt, true},
                                                    {"min_signal_remaining", AttributeKind::kInt, true},
                                                    {"smoothing_bits", AttributeKind::kInt, true},
                                                    {"bits", AttributeKind::kInt, true},
                                                    {"clamping", AttributeKind::kInt, true}};
constexpr AttributeRule kLogAttributes[] = {{"scale", AttributeKind::kInt, true},
                                            {"correction_bits", AttributeKind::kInt, true}};
constexpr AttributeRule kPcanAttributes[] = {{"snr_shift", AttributeKind::kInt, true}};
constexpr TfliteImport kFilterBank[] = {{32, "SignalFilterBank", ImportFilterBank}};
constexpr TfliteImport kSquareRoot[] = {{32, "SignalFilterBankSquareRoot", ImportSquareRoot}};
constexpr TfliteImport kSubtraction[] = {{32, "SignalFilterBankSpectralSubtraction", ImportSubtraction}};
constexpr TfliteImport kLog[] = {{32, "SignalFilterBankLog", ImportLog}};
constexpr TfliteImport kPcan[] = {{32, "SignalPCAN", ImportPcan}};

}  // namespace

extern const OpDef kFilterBankDef, kFilterBankSquareRootDef, kSpectralSubtractionDef, kFilterBankLogDef, kPcanDef;
const OpDef kFilterBankDef = {
    Op::kFilterBank, {}, InferFilterBank, LowerWithoutParams<schema::FilterBankParams>, kFilterBank};
const OpDef kFilterBankSquareRootDef = {Op::kFilterBankSquareRoot,
                                        {},
                                        InferSquareRoot,
                                        LowerWithoutParams<schema::FilterBankSquareRootParams>,
                                        kSquareRoot};
const OpDef kSpectralSubtractionDef = {Op::kSpectralSubtraction, kSubtractionAttributes, InferSubtraction,
                                       LowerSubtraction, kSubtraction};
const OpDef kFilterBankLogDef = {Op::kFilterBankLog, kLogAttributes, InferLog, LowerLog, kLog};
const OpDef kPcanDef = {Op::kPcan, kPcanAttributes, InferPcan, LowerPcan, kPcan};

}  // namespace takt::ir
