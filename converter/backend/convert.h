// The whole conversion: model bytes in, plan bytes and a report out. `takt convert` is a thin layer over this.
#ifndef TAKT_CONVERTER_BACKEND_CONVERT_H_
#define TAKT_CONVERTER_BACKEND_CONVERT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/backend/step_costs.h"
#include "converter/base/diagnostics.h"
#include "converter/frontend/onnx_importer.h"
#include "converter/ir/graph.h"
#include "converter/npu/compiler.h"
#include "converter/quant/quantizer.h"
#include "engine/core/kernel.h"

namespace takt {

/// Quantization of a float model (converter/quant).
struct Calibration {
  /// The samples, once the graph's inputs are known; nothing, and errors, if they do not fit.
  std::function<std::optional<quant::Samples>(const ir::Graph& graph, Diagnostics& diagnostics)> open;
  quant::Options options;
};

/// Choices of a conversion; the defaults are what most people want.
struct ConvertOptions {
  Numerics numerics = Numerics::kFp32Rne;
  std::string target = "host";                         ///< One of TargetNames(); ignored if there is a machine.
  std::optional<npu::Machine> machine = std::nullopt;  ///< Compiles for the emulated NPU.
  std::optional<backend::StepCosts> costs{};           ///< Of a CPU's kernels; a machine has its own.
  /// Bound of a step, and so of how late a cancelled or preempted run stops; wants a machine or costs.
  uint64_t max_step_us = 0;   ///< 0: none.
  bool keep_tensors = false;  ///< No pass that eliminates a tensor: each source tensor can be compared.
  bool debug = false;         ///< Adds the debug table: source of every step and tensor.
  /// States are updated in place where they can be: fewer bytes, but a run that is cut short loses them.
  bool state_in_place = false;
  /// Shapes of graph inputs by name, for dimensions that the model leaves open.
  std::map<std::string, std::vector<int32_t>> shapes{};
  /// Of a TFLite file, by key; empty: the first subgraph.
  std::string signature{};
  /// Of each loop whose number of trips does not follow from constants; 0: such a loop is an error.
  uint32_t max_trips = 0;
  /// Called after each stage with its name and the graph as it stands.
  std::function<void(const std::string& stage, const ir::Graph& graph)> on_stage{};
  /// Quantizes the model to int8; the numerics must be fp32_rne.
  std::optional<Calibration> calibration{};
};

/// What a conversion made. `plan` is empty if `diagnostics` has errors.
struct Conversion {
  std::vector<uint8_t> plan;
  ir::Graph graph;  ///< As lowered.
  Diagnostics diagnostics;
  npu::Compilation npu;    ///< Jobs, if a machine was given.
  quant::Report accuracy;  ///< Of a quantization.
};

/// Converts a TFLite model. Deterministic: the same bytes in give the same bytes out on every host. Never throws.
Conversion ConvertTflite(std::span<const uint8_t> model, const std::string& model_name, const ConvertOptions& options);

/// Converts an ONNX model; as ConvertTflite.
Conversion ConvertOnnx(std::span<const uint8_t> model, const std::string& model_name, const frontend::OnnxOptions& onnx,
                       const ConvertOptions& options);

/// The same from a graph that is imported already (any that ir::Verify accepts); the plan carries the hash of `model`.
Conversion ConvertGraph(ir::Graph graph, std::span<const uint8_t> model, const ConvertOptions& options);

}  // namespace takt

#endif  // TAKT_CONVERTER_BACKEND_CONVERT_H_
