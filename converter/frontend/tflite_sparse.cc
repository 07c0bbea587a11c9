#include "converter/frontend/tflite_sparse.h"

#include <cstring>

namespace takt::frontend {
namespace {

/// A copy of a vector, whose elements the file need not align.
template <typename T>
std::vector<int64_t> Wide(const flatbuffers::Vector<T>* vector) {
  std::vector<int64_t> values;
  for (size_t i = 0; vector != nullptr && i < vector->size(); ++i) {
    T value;
    std::memcpy(&value, vector->Data() + i * sizeof(T), sizeof(T));
    values.push_back(value);
  }
  return values;
}

std::vector<int64_t> Indices(tflite::SparseIndexVector type, const void* table) {
  switch (table == nullptr ? tflite::SparseIndexVector::NONE : type) {
    case tflite::SparseIndexVector::Int32Vector:
      return Wide(static_cast<const tflite::Int32Vector*>(table)->values());
    case tflite::SparseIndexVector::Uint16Vector:
      return Wide(static_cast<const tflite::Uint16Vector*>(table)->values());
    case tflite::SparseIndexVector::Uint8Vector:
      return Wide(static_cast<const tflite::Uint8Vector*>(table)->values());
    default:
      return {};
  }
}

/// One step of the walk: a dimension of blocks, or of cells in a block.
struct Level {
  bool sparse = false;
  int64_t size = 0;    ///< Cells of the dimension.
  int64_t stride = 0;  ///< Elements of the dense tensor from one cell to the next.
  std::vector<int64_t> segments, indices;
};

class Expansion {
 public:
  Expansion(const tflite::SparsityParameters& sparsity, const std::vector<int32_t>& dims) {
    ok_ = Read(sparsity, dims);
  }
  bool ok() const { return ok_; }

  bool Run(size_t element, std::span<const uint8_t> values, ir::Bytes& dense) {
    element_ = element;
    values_ = values;
    dense_ = &dense;
    return Walk(0, 0, 0) && values_.empty();
  }

 private:
  bool Read(const tflite::SparsityParameters& sparsity, const std::vector<int32_t>& dims) {
    const std::vector<int64_t> order = Wide(sparsity.traversal_order()), blocks = Wide(sparsity.block_map());
    const auto rank = static_cast<int64_t>(dims.size());
    const auto* metadata = sparsity.dim_metadata();
    const size_t count = dims.size() + blocks.size();
    if (metadata == nullptr || metadata->size() != count || order.size() != count || blocks.size() > dims.size())
      return false;
    std::vector<int64_t> block_size(dims.size(), 1), strides(dims.size(), 1);
    for (size_t d = dims.size(); d-- > 1;) strides[d - 1] = strides[d] * dims[d];
    std::vector<bool> seen(count, false);
    for (size_t i = 0; i < count; ++i) {
      const int64_t d = order[i];
      if (d < 0 || d >= static_cast<int64_t>(count) || seen[static_cast<size_t>(d)] || (d < rank) != (i < dims.size()))
        return false;
      seen[static_cast<size_t>(d)] = true;
      if (d < rank) continue;
      const int64_t of = blocks[static_cast<size_t>(d - rank)],
                    size = metadata->Get(static_cast<uint32_t>(i))->dense_size();
      if (of < 0 || of >= rank || size < 1 || block_size[static_cast<size_t>(of)] != 1 ||
          dims[static_cast<size_t>(of)] % size != 0)
        return false;
      block_size[static_cast<size_t>(of)] = size;
    }
    for (size_t i = 0; i < count; ++i) {
      const bool inner = order[i] >= rank;
      const auto d = static_cast<size_t>(inner ? blocks[static_cast<size_t>(order[i] - rank)] : order[i]);
      const tflite::DimensionMetadata& m = *metadata->Get(static_cast<uint32_t>(i));
      Level& level = levels_.emplace_back();
      level.sparse = m.format() == tflite::DimensionType::SPARSE_CSR;
      level.size = inner ? block_size[d] : dims[d] / block_size[d];
      level.stride = inner ? strides[d] : strides[d] * block_size[d];
      level.segments = Indices(m.array_segments_type(), m.array_segments());
      level.indices = Indices(m.array_indices_type(), m.array_indices());
      if (!level.sparse && m.dense_size() != level.size) return false;
    }
    return true;
  }

  /// `parent`: the place of this part among those of the level before. At most 12 levels deep.
  bool Walk(size_t depth, int64_t parent, int64_t at) {
    if (depth == levels_.size()) {
      if (values_.size() < element_) return false;
      std::memcpy(dense_->data() + static_cast<size_t>(at) * element_, values_.data(), element_);
      values_ = values_.subspan(element_);
      return true;
    }
    const Level& level = levels_[depth];
    if (!level.sparse) {
      for (int64_t i = 0; i < level.size; ++i)
        if (!Walk(depth + 1, parent * level.size + i, at + i * level.stride)) return false;
      return true;
    }
    const auto segment = static_cast<size_t>(parent);
    if (segment + 1 >= level.segments.size()) return false;
    int64_t last = -1;  // Indices of a segment rise, so no part is visited twice.
    for (int64_t i = level.segments[segment]; i < level.segments[segment + 1]; ++i) {
      if (i < 0 || i >= static_cast<int64_t>(level.indices.size())) return false;
      const int64_t index = level.indices[static_cast<size_t>(i)];
      if (index <= last || index >= level.size || !Walk(depth + 1, i, at + index * level.stride)) return false;
      last = index;
    }
    return true;
  }

  std::vector<Level> levels_;
  bool ok_ = false;
  size_t element_ = 0;
  std::span<const uint8_t> values_;
  ir::Bytes* dense_ = nullptr;
};

}  // namespace

std::string ExpandSparse(const tflite::SparsityParameters& sparsity, const std::vector<int32_t>& dims, size_t element,
                         std::span<const uint8_t> values, ir::Bytes& dense) {
  Expansion expansion(sparsity, dims);
  if (!expansion.ok()) return "is sparse with dimensions that do not fit its shape; the file is damaged";
  constexpr size_t kMostBytes = size_t{1} << 28;
  size_t bytes = element;
  for (const int32_t dim : dims) bytes *= static_cast<size_t>(dim);
  if (bytes > kMostBytes) return "is sparse and would take more than 256 MiB; export the model dense";
  dense.assign(bytes, 0);
  if (!expansion.Run(element, values, dense))
    return "is sparse with indices that do not fit its shape or its values; the file is damaged";
  return "";
}

}  // namespace takt::frontend
