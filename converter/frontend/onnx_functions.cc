#include "converter/frontend/onnx_functions.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <exception>
#include <map>
#include <set>

#include "converter/frontend/onnx_contrib.h"
#include "converter/frontend/onnx_tensor.h"

namespace takt::frontend {
namespace {

using onnx::FunctionProto;
using onnx::NodeProto;
using onnx::OpSchema;

const FunctionProto* ModelFunction(const onnx::ModelProto& model, const NodeProto& node) {
  for (const FunctionProto& function : model.functions()) {
    if (function.name() == node.op_type() && function.domain() == node.domain()) return &function;
  }
  return nullptr;
}

const OpSchema* Schema(const NodeProto& node, int opset) {
  return IsStandardDomain(node.domain()) ? onnx::OpSchemaRegistry::Schema(node.op_type(), opset) : nullptr;
}

std::vector<onnx::TypeProto> Types(const std::vector<ir::Tensor>& inputs) {
  std::vector<onnx::TypeProto> types(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].type == DataType::kNone) continue;
    types[i].mutable_tensor_type()->set_elem_type(OnnxElementType(inputs[i].type));
    for (int32_t dim : inputs[i].dims) types[i].mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(dim);
  }
  return types;
}

/// The body that depends on attributes and types; false if the library finds none for them.
bool BuildFor(const OpSchema& schema, const NodeProto& node, const std::vector<ir::Tensor>& inputs,
              FunctionProto& function) {
  try {
    return schema.BuildContextDependentFunction(onnx::FunctionBodyBuildContextImpl(node, Types(inputs)), function);
  } catch (const std::exception&) {
    return false;  // Attributes that break the operator's rule.
  }
}

using Attributes = std::map<std::string, onnx::AttributeProto>;

/// The node's attributes, and the schema's defaults.
Attributes GivenAttributes(const NodeProto& node, const OpSchema* schema) {
  Attributes given;
  if (schema != nullptr) {
    for (const auto& [name, attribute] : schema->attributes()) {
      if (attribute.default_value.has_name()) given[name] = attribute.default_value;
    }
  }
  for (const auto& attribute : node.attribute()) given[attribute.name()] = attribute;
  return given;
}

/// Attributes that name one of the function's take its value at the node; without one they are absent.
void ResolveAttributes(const Attributes& given, NodeProto& inner) {
  google::protobuf::RepeatedPtrField<onnx::AttributeProto> resolved;
  for (const auto& attribute : inner.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      *resolved.Add() = attribute;
      if (!attribute.has_g()) continue;
      for (NodeProto& each : *resolved.rbegin()->mutable_g()->mutable_node()) ResolveAttributes(given, each);
    } else if (const auto found = given.find(attribute.ref_attr_name()); found != given.end()) {
      *resolved.Add() = found->second;
      resolved.rbegin()->set_name(attribute.name());
    }
  }
  inner.mutable_attribute()->Swap(&resolved);
}

}  // namespace

bool HasFunctionBody(const onnx::ModelProto& model, const NodeProto& node, int opset) {
  const OpSchema* schema = Schema(node, opset);
  return ModelFunction(model, node) != nullptr || IsContrib(node) ||
         (schema != nullptr && (schema->HasFunction() || schema->HasContextDependentFunction()));
}

std::optional<FunctionBody> ExpandFunction(const onnx::ModelProto& model, const NodeProto& node, int opset,
                                           const std::vector<ir::Tensor>& inputs) {
  FunctionProto function;
  const OpSchema* schema = Schema(node, opset);
  if (const FunctionProto* own = ModelFunction(model, node)) {
    function = *own;
  } else if (schema != nullptr && schema->HasFunction()) {
    function = *schema->GetFunction();
  } else if (schema == nullptr || !schema->HasContextDependentFunction() ||
             !BuildFor(*schema, node, inputs, function)) {
    return ExpandContrib(node, inputs);
  }
  FunctionBody body;
  body.opset = opset;
  for (const auto& import : function.opset_import()) {
    if (IsStandardDomain(import.domain())) body.opset = static_cast<int>(import.version());
  }
  const Attributes given = GivenAttributes(node, schema);
  std::set<std::string> absent;
  for (int i = 0; i < function.input_size(); ++i) {
    body.inputs.push_back(function.input(i));
    if (i >= node.input_size() || node.input(i).empty()) absent.insert(function.input(i));
  }
  body.outputs.assign(function.output().begin(), function.output().end());
  body.outputs.resize(std::min(body.outputs.size(), static_cast<size_t>(node.output_size())));
  for (size_t i = 0; i < body.outputs.size(); ++i)
    if (node.output(static_cast<int>(i)).empty()) body.outputs[i].clear();
  for (const NodeProto& inner : function.node()) {
    NodeProto& made = *body.nodes.Add();
    made = inner;
    ResolveAttributes(given, made);
    for (std::string& name : *made.mutable_input())
      if (absent.count(name)) name.clear();
  }
  return body;
}

}  // namespace takt::frontend
