#include "converter/frontend/tflite_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/frontend/tflite_sparse.h"
#include "converter/ir/size_limits.h"

namespace takt::frontend {
namespace {

constexpr int64_t kMaxTensorBytes = int64_t{1} << 31;
constexpr uint32_t kMaxRank = 6;
constexpr int kUint8Shift = 128;

DataType TypeOf(tflite::TensorType type) {
  switch (type) {
    case tflite::TensorType::FLOAT32:
    case tflite::TensorType::COMPLEX64:  // Pairs, along a dimension of their own.
      return DataType::kFloat32;
    case tflite::TensorType::FLOAT16:
      return DataType::kFloat16;
    case tflite::TensorType::INT4:
      return DataType::kInt4;
    case tflite::TensorType::INT8:
      return DataType::kInt8;
    case tflite::TensorType::UINT8:
      return DataType::kUint8;
    case tflite::TensorType::INT16:
      return DataType::kInt16;
    case tflite::TensorType::INT32:
      return DataType::kInt32;
    case tflite::TensorType::UINT32:
      return DataType::kUint32;
    case tflite::TensorType::INT64:
      return DataType::kInt64;
    case tflite::TensorType::UINT64:
      return DataType::kUint64;
    case tflite::TensorType::BOOL:
      return DataType::kBool;
    default:
      return DataType::kNone;
  }
}

/// A copy of a vector. FlatBuffers' verifier checks that it lies in the file, but not that its elements are aligned.
template <typename T>
std::vector<T> Values(const flatbuffers::Vector<T>* vector) {
  std::vector<T> values(vector == nullptr ? 0 : vector->size());
  if (!values.empty()) std::memcpy(values.data(), vector->Data(), values.size() * sizeof(T));
  return values;
}

bool ZeroPointFits(int64_t zero_point, DataType type) {
  switch (type) {
    case DataType::kInt4:
      return zero_point >= -8 && zero_point <= 7;
    case DataType::kInt8:
      return zero_point >= INT8_MIN && zero_point <= INT8_MAX;
    case DataType::kUint8:
      return zero_point >= 0 && zero_point <= UINT8_MAX;
    case DataType::kInt16:
      return zero_point >= INT16_MIN && zero_point <= INT16_MAX;
    default:
      return zero_point >= INT32_MIN && zero_point <= INT32_MAX;
  }
}

void ShiftToInt8(ir::Tensor& tensor) {
  tensor.type = DataType::kInt8;
  for (int32_t& zero_point : tensor.quantization->zero_points) zero_point -= kUint8Shift;
  if (!tensor.is_constant()) return;
  ir::Bytes shifted = *tensor.data;
  for (uint8_t& byte : shifted) byte ^= 0x80;
  tensor.data = std::make_shared<const ir::Bytes>(std::move(shifted));
}

/// Two values a byte, the first in the low half.
void UnpackInt4(ir::Tensor& tensor) {
  ir::Bytes wide;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    const int half = (*tensor.data)[static_cast<size_t>(i / 2)] >> (i % 2 * 4) & 15;
    wide.push_back(static_cast<uint8_t>(half < 8 ? half : half - 16));
  }
  tensor.type = DataType::kInt8;
  tensor.data = std::make_shared<const ir::Bytes>(std::move(wide));
}

float HalfToFloat(uint16_t half) {
  const int exponent = half >> 10 & 31;
  const double fraction = half & 1023;
  double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  if (exponent == 31) value = fraction == 0 ? HUGE_VAL : std::nan("");
  return static_cast<float>((half & 0x8000) != 0 ? -value : value);
}

void WidenToFloat32(ir::Tensor& tensor) {
  ir::Bytes wide;
  for (size_t i = 0; i + 1 < tensor.data->size(); i += 2) {
    const float value = HalfToFloat(static_cast<uint16_t>((*tensor.data)[i] | (*tensor.data)[i + 1] << 8));
    const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
    wide.insert(wide.end(), bytes, bytes + sizeof(value));
  }
  tensor.type = DataType::kFloat32;
  tensor.data = std::make_shared<const ir::Bytes>(std::move(wide));
}

}  // namespace

bool TfliteTensorReader::Error(std::string message) {
  diagnostics_.Error(where_, std::move(message));
  return false;
}

bool TfliteTensorReader::ReadType(const tflite::Tensor& source, ir::Tensor& tensor) {
  tensor.type = TypeOf(source.type());
  if (tensor.type != DataType::kNone) return true;
  const char* type = tflite::EnumNameTensorType(source.type());
  return Error(
      absl::StrCat("has type ", *type == 0 ? std::to_string(static_cast<int>(source.type())) : std::string(type),
                   "; supported are float32, int8, uint8, int16, int32, int64, uint32, uint64, bool and int4 constants "
                   "(quantize the model to int8)"));
}

bool TfliteTensorReader::ReadDims(const tflite::Tensor& source, ir::Tensor& tensor) {
  const std::vector<int32_t> recorded = Values(source.shape());
  const std::vector<int32_t> signature = Values(source.shape_signature());
  const auto open = [&](size_t i) { return signature.size() == recorded.size() && signature[i] < 0; };
  tensor.dims = recorded;
  if (const auto given = options_.shapes.find(tensor.name); given != options_.shapes.end()) {
    bool fits = given->second.size() == recorded.size();
    for (size_t i = 0; fits && i < recorded.size(); ++i) fits = open(i) || given->second[i] == recorded[i];
    if (!fits) return Error("is given a shape that differs from the model's where the model leaves no dimension open");
    tensor.dims = given->second;
  } else {
    for (size_t i = 0; i < recorded.size(); ++i) has_open_dimension_ |= open(i);
  }
  if (source.type() == tflite::TensorType::COMPLEX64) tensor.dims.push_back(2);
  if (tensor.dims.size() > kMaxRank)
    return Error(absl::StrCat("has rank ", tensor.dims.size(), "; allowed are up to 6"));
  for (int32_t dim : tensor.dims) {
    if (dim < 0) {
      return Error(absl::StrCat("has dimension ", dim,
                                "; dimensions are not negative (export the model with a fixed shape, or give "
                                "--shape NAME=DIMS for an input that leaves it open)"));
    }
  }
  if (const std::string wrong = ir::WhyTooLarge(tensor.dims); !wrong.empty()) return Error(wrong);
  if (tensor.byte_size() > kMaxTensorBytes) return Error("is larger than 2 GiB; a tensor has at most that");
  return true;
}

bool TfliteTensorReader::ReadQuantization(const tflite::Tensor& source, ir::Tensor& tensor) {
  const tflite::QuantizationParameters* q = source.quantization();
  if (q == nullptr || q->scale() == nullptr || q->scale()->size() == 0) return true;
  ir::Quantization out;
  out.scales = Values(q->scale());
  const size_t count = out.scales.size();
  std::vector<int64_t> zero_points = Values(q->zero_point());
  if (zero_points.size() <= 1) zero_points.assign(count, zero_points.empty() ? 0 : zero_points[0]);
  if (zero_points.size() != count) {
    return Error(absl::StrCat("has ", count, " scales and ", zero_points.size(), " zero points; they come in pairs"));
  }
  bool ok = true;
  for (size_t i = 0; ok && i < count; ++i) {
    if (!std::isfinite(out.scales[i]) || out.scales[i] <= 0) {
      ok = Error(
          absl::StrCat("has scale ", out.scales[i], "; scales are finite and positive (quantize the model again)"));
    }
    if (!ZeroPointFits(zero_points[i], tensor.type)) {
      ok = Error(
          absl::StrCat("has zero point ", zero_points[i], ", which its type does not hold (quantize the model again)"));
    }
    out.zero_points.push_back(static_cast<int32_t>(zero_points[i]));
  }
  if (ok && count > 1) {
    // Old converters wrote the weights' axis into biases: a vector has one axis only.
    out.axis = tensor.dims.size() == 1 ? 0 : q->quantized_dimension();
    if (out.axis < 0 || static_cast<size_t>(out.axis) >= tensor.dims.size() ||
        static_cast<size_t>(tensor.dims[static_cast<size_t>(out.axis)]) != count) {
      ok = Error(absl::StrCat("has ", count, " scales along dimension ", out.axis,
                              ", which has another size or does not exist"));
    }
  }
  tensor.quantization = std::move(out);
  return ok;
}

bool TfliteTensorReader::ReadData(const tflite::Tensor& source, ir::Tensor& tensor) {
  if (tensor.element_count() == 0) tensor.data = std::make_shared<const ir::Bytes>();
  if (source.buffer() == 0 || tensor.is_constant()) return true;
  if (model_.buffers() == nullptr || source.buffer() >= model_.buffers()->size()) {
    return Error(absl::StrCat("names buffer ", source.buffer(), ", which is missing; the file is damaged"));
  }
  const tflite::Buffer& buffer = *model_.buffers()->Get(source.buffer());
  std::span<const uint8_t> bytes;
  if (buffer.data() != nullptr && buffer.data()->size() > 0) {
    bytes = {buffer.data()->Data(), buffer.data()->size()};
  } else if (buffer.offset() > 1 || buffer.size() > 1) {
    if (buffer.offset() > file_.size() || buffer.size() > file_.size() - buffer.offset()) {
      return Error("has its data at " + std::to_string(buffer.offset()) +
                   ", past the end of the file; the file is cut short");
    }
    bytes = file_.subspan(static_cast<size_t>(buffer.offset()), static_cast<size_t>(buffer.size()));
  }
  if (bytes.empty()) return true;
  if (source.sparsity() != nullptr) {
    if (BitWidth(tensor.type) < 8) return Error("is sparse, of int4 elements; export the model dense");
    ir::Bytes dense;
    const std::string reason = ExpandSparse(*source.sparsity(), tensor.dims, BitWidth(tensor.type) / 8, bytes, dense);
    if (!reason.empty()) return Error(reason);
    tensor.data = std::make_shared<const ir::Bytes>(std::move(dense));
    return true;
  }
  if (static_cast<int64_t>(bytes.size()) != tensor.byte_size()) {
    return Error(absl::StrCat("has ", bytes.size(), " bytes of data; its shape needs ", tensor.byte_size()));
  }
  tensor.data = std::make_shared<const ir::Bytes>(bytes.begin(), bytes.end());
  return true;
}

bool TfliteTensorReader::Read(const tflite::Tensor& source, int index, ModelLocation user, ir::Tensor& tensor) {
  tensor.source = index;
  tensor.name = source.name() != nullptr && source.name()->size() > 0 ? source.name()->str() : absl::StrCat("t", index);
  if (const auto name = names_.find(index); name != names_.end()) tensor.name = name->second;
  where_ = std::move(user);
  where_.tensor = tensor.name;
  if (!ReadType(source, tensor)) return false;
  const bool shaped = ReadDims(source, tensor);
  const bool quantized = shaped && ReadQuantization(source, tensor);
  const bool filled = shaped && ReadData(source, tensor);
  if (!quantized || !filled) return false;
  if (tensor.type == DataType::kUint8 && tensor.quantization) ShiftToInt8(tensor);
  if (tensor.type == DataType::kInt4 && tensor.is_constant()) UnpackInt4(tensor);
  if (tensor.type == DataType::kFloat16 && tensor.is_constant()) WidenToFloat32(tensor);
  return true;
}

void RequireShapes(const tflite::SubGraph& subgraph, const ir::Graph& graph, const ImportOptions& options,
                   Diagnostics& diagnostics) {
  for (const ir::TensorId id : graph.inputs) {
    const ir::Tensor& input = graph.tensor(id);
    const std::vector<int32_t> dims = Values(subgraph.tensors()->Get(static_cast<uint32_t>(id))->shape_signature());
    bool placeholder = false;
    for (size_t i = 1; i < dims.size() && i < input.dims.size(); ++i) placeholder |= dims[i] < 0 && input.dims[i] == 1;
    if (!placeholder || options.shapes.count(input.name) != 0) continue;
    diagnostics.Error({graph.name, -1, "", input.name},
                      absl::StrCat("leaves dimensions open (", absl::StrJoin(dims, "x"), "), and the recorded ",
                                   ir::DimsText(input.dims), " do not work; give them: --shape ", input.name, "=DIMS"));
  }
}

}  // namespace takt::frontend
