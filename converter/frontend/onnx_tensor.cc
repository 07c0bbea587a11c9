#include "converter/frontend/onnx_tensor.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "converter/ir/constants.h"
#include "converter/ir/size_limits.h"

namespace takt::frontend {
namespace {

using onnx::TensorProto;
constexpr size_t kMaxBytes = std::numeric_limits<int32_t>::max();

float FromHalf(uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const float sign = bits >> 15 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction ? std::nanf("") : sign * HUGE_VALF;
  return sign * (exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                               : std::ldexp(static_cast<float>(fraction + 1024), exponent - 25));
}

float FromBfloat(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Bytes of one element in the file; 0 for types that are not read.
size_t Width(int32_t type) {
  switch (type) {
    case TensorProto::FLOAT:
    case TensorProto::INT32:
    case TensorProto::UINT32:
      return 4;
    case TensorProto::INT8:
    case TensorProto::UINT8:
    case TensorProto::BOOL:
      return 1;
    case TensorProto::INT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return 2;
    case TensorProto::INT64:
    case TensorProto::UINT64:
    case TensorProto::DOUBLE:
      return 8;
    default:
      return 0;
  }
}

template <typename To, typename Field>
ir::Bytes Narrowed(const Field& field) {
  std::vector<To> values;
  values.reserve(static_cast<size_t>(field.size()));
  for (auto value : field) values.push_back(static_cast<To>(value));
  return ir::ToBytes(values);
}

/// Elements that are stored in a field of their type rather than as raw bytes.
ir::Bytes TypedBytes(const TensorProto& source) {
  switch (source.data_type()) {
    case TensorProto::FLOAT:
      return Narrowed<float>(source.float_data());
    case TensorProto::DOUBLE:
      return Narrowed<double>(source.double_data());
    case TensorProto::INT64:
      return Narrowed<int64_t>(source.int64_data());
    case TensorProto::UINT64:
      return Narrowed<uint64_t>(source.uint64_data());
    case TensorProto::UINT32:
      return Narrowed<uint32_t>(source.uint64_data());
    case TensorProto::INT32:
      return Narrowed<int32_t>(source.int32_data());
    case TensorProto::INT16:
    case TensorProto::FLOAT16:
    case TensorProto::BFLOAT16:
      return Narrowed<uint16_t>(source.int32_data());
    default:
      return Narrowed<uint8_t>(source.int32_data());
  }
}

/// The file that external data names, links followed: one in the model's folder or below it.
std::string Locate(const std::string& location, const std::string& folder, std::filesystem::path& path) {
  const std::filesystem::path relative = std::filesystem::path(location).lexically_normal();
  const std::string rule = "names external data '" + location + "'; it must be a file beside or below the model";
  if (location.empty() || relative.is_absolute() || *relative.begin() == "..") return rule;
  std::error_code error;
  const auto root = std::filesystem::canonical(folder.empty() ? "." : folder, error);
  if (!error) path = std::filesystem::canonical(root / relative, error);
  if (error || !std::filesystem::is_regular_file(path, error)) {
    return "needs its data from " + (std::filesystem::path(folder) / relative).string() +
           ", which can't be read; put that file beside the model";
  }
  const bool inside = std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
  return inside ? "" : rule + ", not a link to one elsewhere";
}

std::string ExternalBytes(const TensorProto& source, const std::string& folder, size_t expected, ir::Bytes& bytes) {
  std::string location;
  uint64_t offset = 0;
  for (const auto& entry : source.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = std::strtoull(entry.value().c_str(), nullptr, 10);
  }
  std::filesystem::path path;
  std::string wrong = Locate(location, folder, path);
  if (!wrong.empty()) return wrong;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "needs its data from " + path.string() + ", which can't be read";
  const auto size = static_cast<uint64_t>(file.tellg());
  if (offset > size || expected > size - offset) {
    return "needs " + std::to_string(expected) + " bytes at " + std::to_string(offset) + " of " + path.string() +
           ", which has " + std::to_string(size) + "; the file is cut off or belongs to another model";
  }
  bytes.resize(expected);
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(expected));
  return file ? "" : "could not read " + path.string();
}

template <typename From, typename Convert>
ir::Bytes ToFloat(const ir::Bytes& bytes, Convert convert) {
  ir::Tensor raw;
  raw.data = std::make_shared<const ir::Bytes>(bytes);
  std::vector<float> values;
  for (From value : ir::Elements<From>(raw)) values.push_back(convert(value));
  return ir::ToBytes(values);
}

struct TypePair {
  int32_t onnx;
  DataType type;
};
/// Where several have one type, the exact one comes first.
constexpr TypePair kTypes[] = {{TensorProto::FLOAT, DataType::kFloat32},   {TensorProto::DOUBLE, DataType::kFloat32},
                               {TensorProto::FLOAT16, DataType::kFloat32}, {TensorProto::BFLOAT16, DataType::kFloat32},
                               {TensorProto::INT8, DataType::kInt8},       {TensorProto::UINT8, DataType::kUint8},
                               {TensorProto::INT16, DataType::kInt16},     {TensorProto::INT32, DataType::kInt32},
                               {TensorProto::INT64, DataType::kInt64},     {TensorProto::BOOL, DataType::kBool},
                               {TensorProto::UINT32, DataType::kUint32},   {TensorProto::UINT64, DataType::kUint64}};

}  // namespace

DataType OnnxType(int32_t type) {
  for (const TypePair& pair : kTypes)
    if (pair.onnx == type) return pair.type;
  return DataType::kNone;
}

int32_t OnnxElementType(DataType type) {
  for (const TypePair& pair : kTypes)
    if (pair.type == type) return pair.onnx;
  return TensorProto::UNDEFINED;
}

std::string OnnxTypeName(int32_t type) {
  return TensorProto::DataType_IsValid(type) ? TensorProto::DataType_Name(static_cast<TensorProto::DataType>(type))
                                             : std::to_string(type);
}

namespace {

/// What the tensor's elements take; gives the reason why it can't be read, or nothing.
std::string StoredBytes(const TensorProto& source, size_t& bytes) {
  const size_t width = Width(source.data_type());
  if (width == 0) return "has elements of type " + OnnxTypeName(source.data_type()) + ", which are not supported";
  if (source.has_segment()) return "is stored in segments, which are not supported";
  ir::Tensor tensor;
  for (const int64_t dim : source.dims()) {
    if (dim < 0) return "has dimension " + std::to_string(dim) + "; dimensions are not negative";
    tensor.dims.push_back(ir::Dim(dim));
  }
  std::string wrong = ir::WhyTooLarge(tensor.dims);
  bytes = static_cast<size_t>(tensor.element_count()) * width;
  if (wrong.empty() && bytes > kMaxBytes) wrong = "has " + std::to_string(bytes) + " bytes; a tensor has at most 2 GiB";
  return wrong;
}

}  // namespace

std::string InlineExternalData(const std::string& folder, TensorProto& tensor) {
  if (tensor.data_location() != TensorProto::EXTERNAL) return "";
  size_t expected = 0;
  ir::Bytes bytes;
  std::string wrong = StoredBytes(tensor, expected);
  if (wrong.empty()) wrong = ExternalBytes(tensor, folder, expected, bytes);
  if (!wrong.empty()) return wrong;
  tensor.set_raw_data(bytes.data(), bytes.size());
  tensor.clear_data_location();
  tensor.clear_external_data();
  return "";
}

std::string ReadOnnxTensor(const TensorProto& source, const std::string& folder, ir::Tensor& tensor) {
  size_t expected = 0;
  std::string wrong = StoredBytes(source, expected);
  if (!wrong.empty()) return wrong;
  tensor.name = source.name();
  for (int64_t dim : source.dims()) tensor.dims.push_back(static_cast<int32_t>(dim));
  ir::Bytes bytes;
  if (source.data_location() == TensorProto::EXTERNAL) {
    wrong = ExternalBytes(source, folder, expected, bytes);
    if (!wrong.empty()) return wrong;
  } else if (source.has_raw_data()) {
    bytes.assign(source.raw_data().begin(), source.raw_data().end());
  } else {
    bytes = TypedBytes(source);
  }
  if (bytes.size() != expected) {
    return "has " + std::to_string(bytes.size()) + " bytes; its shape needs " + std::to_string(expected);
  }
  switch (source.data_type()) {
    case TensorProto::DOUBLE:
      bytes = ToFloat<double>(bytes, [](double v) { return static_cast<float>(v); });
      break;
    case TensorProto::FLOAT16:
      bytes = ToFloat<uint16_t>(bytes, FromHalf);
      break;
    case TensorProto::BFLOAT16:
      bytes = ToFloat<uint16_t>(bytes, FromBfloat);
      break;
    default:
      break;
  }
  tensor.type = OnnxType(source.data_type());
  tensor.data = std::make_shared<const ir::Bytes>(std::move(bytes));
  return "";
}

}  // namespace takt::frontend
