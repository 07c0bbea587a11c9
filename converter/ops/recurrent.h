// What recurrent ops share: functions of gates, the shape of a sequence, and the importers of their operators.
#ifndef TAKT_CONVERTER_OPS_RECURRENT_H_
#define TAKT_CONVERTER_OPS_RECURRENT_H_

#include <optional>
#include <string>

#include "converter/frontend/onnx_node.h"
#include "converter/frontend/tflite_node.h"
#include "converter/ir/graph.h"
#include "schema/plan_generated.h"

namespace takt::ir {

/// The function that an attribute names: "identity", "logistic", "tanh", "relu", "relu_n1_to_1", "relu6".
std::optional<schema::GateFunction> FindGateFunction(const std::string& name);
/// Of attribute `key`, which the shape rule has checked.
schema::GateFunction GateFunctionOf(const Node& node, const char* key, const char* fallback);
/// Why the operands x [T, B, I] ([B, T, I] if batch_major), W [rows, I], R [rows, O], bias [rows], h [B, O] do not fit;
/// empty if they do.
std::string CheckSequence(const Graph& graph, const Node& node, int32_t rows);
/// Bounds of attribute `clip`: none if it is absent or 0.
schema::Clamp ClipOf(const Node& node, const char* key);

void ImportLstm(frontend::TfliteNode& node);
void ImportSequenceLstm(frontend::TfliteNode& node);
void ImportBidirectionalLstm(frontend::TfliteNode& node);
void ImportRnn(frontend::TfliteNode& node);
void ImportSequenceRnn(frontend::TfliteNode& node);
void ImportBidirectionalRnn(frontend::TfliteNode& node);

void ImportOnnxLstm(frontend::OnnxNode& node);
void ImportOnnxGru(frontend::OnnxNode& node);
void ImportOnnxRnn(frontend::OnnxNode& node);

}  // namespace takt::ir

#endif  // TAKT_CONVERTER_OPS_RECURRENT_H_
