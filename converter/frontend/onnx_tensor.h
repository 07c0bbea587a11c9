// ONNX's tensors and types as those of the graph.
#ifndef TAKT_CONVERTER_FRONTEND_ONNX_TENSOR_H_
#define TAKT_CONVERTER_FRONTEND_ONNX_TENSOR_H_

#include <cstdint>
#include <string>

#include "converter/ir/graph.h"

namespace onnx {
class TensorProto;
}

namespace takt::frontend {

/// The type in which values of an ONNX element type are computed: float32 for double, float16 and bfloat16; kNone for
/// types that the graph does not have.
DataType OnnxType(int32_t element_type);
/// The element type of which OnnxType gives `type`, exactly.
int32_t OnnxElementType(DataType type);
/// "FLOAT16"
std::string OnnxTypeName(int32_t element_type);

/// Fills name, type, dims and data; bytes outside of the file are read from `folder`. Double, float16 and bfloat16
/// become float32. Gives the reason (a sentence) why a tensor can't be read, or nothing.
std::string ReadOnnxTensor(const onnx::TensorProto& source, const std::string& folder, ir::Tensor& tensor);
/// Brings bytes that lie in another file of `folder` into the tensor itself, with the same errors.
std::string InlineExternalData(const std::string& folder, onnx::TensorProto& tensor);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_ONNX_TENSOR_H_
