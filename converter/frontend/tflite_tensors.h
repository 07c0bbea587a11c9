// Reads tensors of a TFLite subgraph: type, shape, quantization, constant data.
#ifndef TAKT_CONVERTER_FRONTEND_TFLITE_TENSORS_H_
#define TAKT_CONVERTER_FRONTEND_TFLITE_TENSORS_H_

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "converter/base/diagnostics.h"
#include "converter/frontend/tflite_importer.h"
#include "converter/ir/graph.h"
#include "schema/tflite_generated.h"

namespace takt::frontend {

/// uint8 tensors with a quantization become int8: 128 less in each value and zero point, so that real values stay.
/// Constants of float16 become float32, sparse ones dense.
class TfliteTensorReader {
 public:
  /// `file` holds `model`; both and `options` outlive the reader.
  /// `names`: of tensors that go by another name than the file's.
  TfliteTensorReader(std::span<const uint8_t> file, const tflite::Model& model, const ImportOptions& options,
                     Diagnostics& diagnostics, std::map<int32_t, std::string> names = {})
      : file_(file), model_(model), options_(options), diagnostics_(diagnostics), names_(std::move(names)) {}

  /// Tensor `index` of the subgraph. `user` is the place of the first operator that names it. Reports every broken
  /// rule; false if there was one.
  bool Read(const tflite::Tensor& source, int index, ModelLocation user, ir::Tensor& tensor);
  /// Whether a tensor that was read leaves dimensions open in the file, beside those that the options give.
  bool has_open_dimension() const { return has_open_dimension_; }

 private:
  bool ReadType(const tflite::Tensor& source, ir::Tensor& tensor);
  bool ReadDims(const tflite::Tensor& source, ir::Tensor& tensor);
  bool ReadQuantization(const tflite::Tensor& source, ir::Tensor& tensor);
  bool ReadData(const tflite::Tensor& source, ir::Tensor& tensor);
  /// Always false.
  bool Error(std::string message);

  std::span<const uint8_t> file_;
  const tflite::Model& model_;
  const ImportOptions& options_;
  Diagnostics& diagnostics_;
  std::map<int32_t, std::string> names_;
  ModelLocation where_;
  bool has_open_dimension_ = false;
};

/// After errors: asks for the shape of each graph input that leaves dimensions behind the first open and records 1 for
/// them, which exporters do where they do not know.
void RequireShapes(const tflite::SubGraph& subgraph, const ir::Graph& graph, const ImportOptions& options,
                   Diagnostics& diagnostics);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_TFLITE_TENSORS_H_
