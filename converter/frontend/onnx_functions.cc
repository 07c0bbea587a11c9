#include "converter/frontend/onnx_functions.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <exception>
#include <map>

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

/// Attributes that name one of the function's take its value at the node, or the schema's default; without either they
/// are absent.
void ResolveAttributes(const NodeProto& node, const OpSchema* schema, NodeProto& inner) {
  std::map<std::string, onnx::AttributeProto> given;
  if (schema != nullptr) {
    for (const auto& [name, attribute] : schema->attributes()) {
      if (attribute.default_value.has_name()) given[name] = attribute.default_value;
    }
  }
  for (const auto& attribute : node.attribute()) given[attribute.name()] = attribute;
  google::protobuf::RepeatedPtrField<onnx::AttributeProto> resolved;
  for (const auto& attribute : inner.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      *resolved.Add() = attribute;
    } else if (const auto found = given.find(attribute.ref_attr_name()); found != given.end()) {
      *resolved.Add() = found->second;
      resolved.rbegin()->set_name(attribute.name());
    }
  }
  inner.mutable_attribute()->Swap(&resolved);
}

/// Gives the values of `inner` their names in the graph.
void Rename(const std::map<std::string, std::string>& names, const std::string& prefix, NodeProto& inner) {
  const auto rename = [&](std::string& name) {
    if (name.empty()) return;
    const auto found = names.find(name);
    name = found != names.end() ? found->second : prefix + name;
  };
  for (std::string& name : *inner.mutable_input()) rename(name);
  for (std::string& name : *inner.mutable_output()) rename(name);
}

bool HasGraphs(const NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const auto& a) { return a.has_g() || a.graphs_size() > 0; });
}

}  // namespace

bool HasFunctionBody(const onnx::ModelProto& model, const NodeProto& node, int opset) {
  const OpSchema* schema = Schema(node, opset);
  return ModelFunction(model, node) != nullptr ||
         (schema != nullptr && (schema->HasFunction() || schema->HasContextDependentFunction()));
}

std::optional<FunctionBody> ExpandFunction(const onnx::ModelProto& model, const NodeProto& node, int opset,
                                           const std::vector<ir::Tensor>& inputs, const std::string& prefix) {
  FunctionProto function;
  const OpSchema* schema = Schema(node, opset);
  if (const FunctionProto* own = ModelFunction(model, node)) {
    function = *own;
  } else if (schema != nullptr && schema->HasFunction()) {
    function = *schema->GetFunction();
  } else if (schema == nullptr || !schema->HasContextDependentFunction() ||
             !BuildFor(*schema, node, inputs, function)) {
    return std::nullopt;
  }
  FunctionBody body;
  body.opset = opset;
  for (const auto& import : function.opset_import()) {
    if (IsStandardDomain(import.domain())) body.opset = static_cast<int>(import.version());
  }
  std::map<std::string, std::string> names;
  for (int i = 0; i < function.input_size(); ++i)
    names[function.input(i)] = i < node.input_size() ? node.input(i) : std::string();
  for (int i = 0; i < function.output_size() && i < node.output_size(); ++i) {
    if (!node.output(i).empty()) names[function.output(i)] = node.output(i);
  }
  for (const NodeProto& inner : function.node()) {
    if (HasGraphs(inner)) return std::nullopt;  // Their values would need new names too.
    body.nodes.push_back(inner);
    ResolveAttributes(node, schema, body.nodes.back());
    Rename(names, prefix, body.nodes.back());
  }
  return body;
}

}  // namespace takt::frontend
