// Sparse constants of TFLite files.
#include "converter/frontend/tflite_sparse.h"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "converter/frontend/tflite_importer.h"
#include "converter/ir/constants.h"
#include "tests/converter/tflite_builder.h"

namespace takt::test {
namespace {

using Indices = std::vector<int32_t>;

struct Dimension {
  int32_t size = 0;
  std::optional<Indices> segments = std::nullopt;  ///< None: dense.
  Indices indices = {};
};

struct SparseCase {
  Indices dims, order, blocks;
  std::vector<Dimension> dimensions;
  std::vector<uint8_t> values;
};

/// Index vectors of 32, 16 or 8 bits.
flatbuffers::Offset<void> WriteIndices(flatbuffers::FlatBufferBuilder& fbb, const Indices& v, int bits) {
  if (bits == 8) {
    const std::vector<uint8_t> narrow(v.begin(), v.end());
    return tflite::CreateUint8VectorDirect(fbb, &narrow).Union();
  }
  if (bits == 16) {
    const std::vector<uint16_t> narrow(v.begin(), v.end());
    return tflite::CreateUint16VectorDirect(fbb, &narrow).Union();
  }
  return tflite::CreateInt32VectorDirect(fbb, &v).Union();
}

flatbuffers::Offset<tflite::SparsityParameters> Write(flatbuffers::FlatBufferBuilder& fbb, const SparseCase& c,
                                                      int bits = 32) {
  using Type = tflite::SparseIndexVector;
  const Type type = bits == 8 ? Type::Uint8Vector : bits == 16 ? Type::Uint16Vector : Type::Int32Vector;
  std::vector<flatbuffers::Offset<tflite::DimensionMetadata>> metadata;
  for (const Dimension& d : c.dimensions) {
    if (!d.segments) {
      metadata.push_back(tflite::CreateDimensionMetadata(fbb, tflite::DimensionType::DENSE, d.size));
      continue;
    }
    const auto segments = WriteIndices(fbb, *d.segments, bits), indices = WriteIndices(fbb, d.indices, bits);
    metadata.push_back(
        tflite::CreateDimensionMetadata(fbb, tflite::DimensionType::SPARSE_CSR, d.size, type, segments, type, indices));
  }
  return tflite::CreateSparsityParametersDirect(fbb, &c.order, &c.blocks, &metadata);
}

std::string Expand(const SparseCase& c, ir::Bytes& dense, int bits = 32) {
  flatbuffers::FlatBufferBuilder fbb;
  fbb.Finish(Write(fbb, c, bits));
  return frontend::ExpandSparse(*flatbuffers::GetRoot<tflite::SparsityParameters>(fbb.GetBufferPointer()), c.dims, 1,
                                c.values, dense);
}

const SparseCase kRows = {{3, 4}, {0, 1}, {}, {{3}, {0, Indices{0, 2, 2, 3}, {0, 3, 1}}}, {1, 2, 3}};
const SparseCase kBlocks = {
    {4, 4}, {0, 1, 2, 3}, {0, 1}, {{2}, {0, Indices{0, 1, 2}, {1, 0}}, {2}, {2}}, {1, 2, 3, 4, 5, 6, 7, 8}};

TEST(TfliteSparse, RowsColumnsAndBlocks) {
  SparseCase columns = kRows;  // The same matrix, by columns.
  columns.order = {1, 0};
  columns.dimensions = {{4}, {0, Indices{0, 1, 2, 2, 3}, {0, 2, 0}}};
  columns.values = {1, 3, 2};
  const ir::Bytes rows = {1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0};
  for (const int bits : {8, 16, 32}) {
    ir::Bytes dense;
    EXPECT_EQ(Expand(kRows, dense, bits), "");
    EXPECT_EQ(dense, rows);
    EXPECT_EQ(Expand(columns, dense, bits), "");
    EXPECT_EQ(dense, rows);
    EXPECT_EQ(Expand(kBlocks, dense, bits), "");
    EXPECT_EQ(dense, ir::Bytes({0, 0, 1, 2, 0, 0, 3, 4, 5, 6, 0, 0, 7, 8, 0, 0}));
  }
}

TEST(TfliteSparse, DamageIsNamed) {
  struct Damage {
    const char* what;
    SparseCase c;
    void (*damage)(SparseCase& c);
  };
  const std::vector<Damage> cases = {
      {"a value is missing", kRows, [](SparseCase& c) { c.values.pop_back(); }},
      {"a value is left", kRows, [](SparseCase& c) { c.values.push_back(9); }},
      {"a segment is missing", kRows, [](SparseCase& c) { c.dimensions[1].segments->pop_back(); }},
      {"a segment behind the indices", kRows, [](SparseCase& c) { c.dimensions[1].segments->back() = 9; }},
      {"an index outside", kRows, [](SparseCase& c) { c.dimensions[1].indices[1] = 4; }},
      {"a negative index", kRows, [](SparseCase& c) { c.dimensions[1].indices[0] = -1; }},
      {"indices that fall", kRows, [](SparseCase& c) { c.dimensions[1].indices[0] = 3; }},
      {"a dense size that is not the shape's", kRows, [](SparseCase& c) { c.dimensions[0].size = 1 << 30; }},
      {"a dimension twice", kRows, [](SparseCase& c) { c.order[1] = 0; }},
      {"a dimension outside", kRows, [](SparseCase& c) { c.order[1] = 2; }},
      {"a dimension without description", kRows, [](SparseCase& c) { c.dimensions.pop_back(); }},
      {"a block of no dimension", kBlocks, [](SparseCase& c) { c.blocks[1] = 2; }},
      {"two blocks of one dimension", kBlocks, [](SparseCase& c) { c.blocks[1] = 0; }},
      {"blocks that do not divide", kBlocks, [](SparseCase& c) { c.dimensions[3].size = 3; }},
      {"cells before blocks", kBlocks, [](SparseCase& c) { std::swap(c.order[1], c.order[2]); }},
  };
  for (const Damage& d : cases) {
    SparseCase c = d.c;
    d.damage(c);
    ir::Bytes dense;
    EXPECT_NE(Expand(c, dense).find("is sparse with"), std::string::npos) << d.what;
  }
}

TEST(TfliteSparse, AFewBytesDoNotBecomeManyMegabytes) {
  SparseCase c = kRows;
  c.dims = {1 << 15, 1 << 14};
  c.dimensions[0].size = 1 << 15;
  c.dimensions[1].segments = Indices((1 << 15) + 1, 0);
  c.dimensions[1].indices.clear();
  c.values.clear();
  ir::Bytes dense;
  EXPECT_EQ(Expand(c, dense), "is sparse and would take more than 256 MiB; export the model dense");
  EXPECT_TRUE(dense.empty());
}

TEST(TfliteSparse, DensifyGivesAConstant) {
  using enum tflite::TensorType;
  TfliteModel model;
  model.tensors = {
      {.name = "sparse", .type = INT8, .shape = {3, 4}, .data = kRows.values, .scales = {1}, .zero_points = {0}},
      {.name = "dense", .type = INT8, .shape = {3, 4}, .scales = {1}, .zero_points = {0}},
      {.name = "x", .type = INT8, .shape = {3, 4}, .scales = {1}, .zero_points = {0}},
      {.name = "y", .type = INT8, .shape = {3, 4}, .scales = {1}, .zero_points = {0}}};
  model.tensors[0].sparsity = [](auto& fbb) { return Write(fbb, kRows); };
  model.operators = {{tflite::BuiltinOperator::DENSIFY, {0}, {1}}, {tflite::BuiltinOperator::MAXIMUM, {2, 1}, {3}}};
  model.inputs = {2};
  model.outputs = {3};
  Diagnostics diagnostics;
  const auto graph = frontend::ImportTflite(WriteTflite(model), "m", diagnostics);
  ASSERT_TRUE(graph.has_value()) << diagnostics.all()[0].ToString();
  ASSERT_EQ(graph->nodes.size(), 1u);
  const ir::Tensor& dense = graph->tensor(graph->nodes[0].inputs[1]);
  ASSERT_TRUE(dense.is_constant());
  EXPECT_EQ(*dense.data, ir::Bytes({1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0}));
}

}  // namespace
}  // namespace takt::test
