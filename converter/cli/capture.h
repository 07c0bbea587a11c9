// The value of every tensor of a run, taken while its memory holds it, and how two values differ.
#ifndef TAKT_CONVERTER_CLI_CAPTURE_H_
#define TAKT_CONVERTER_CLI_CAPTURE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "converter/cli/session.h"

namespace takt::cli {

struct Captured {
  uint16_t tensor;  ///< Of the plan.
  uint32_t step;    ///< That wrote it; of a graph input or a view: the first that reads it.
  std::string name;
  /// Node of the source model whose result it is: the last that the step stands for. -1: unknown, an input, a view or
  /// the result of a step that only quantizes.
  int64_t node;
  std::vector<int32_t> dims;
  int32_t source;  ///< Tensor of the source model; -1: none or unknown.
  DataType type;
  float scale;
  int32_t zero_point;
  uint64_t elements;
  std::vector<uint8_t> bytes;  ///< Dense, row-major.

  double Stored(uint64_t i) const;
  double Real(uint64_t i) const;
};

/// `max`: largest |a - b|, infinite if one side only is NaN; in stored units if the types are equal, else in real
/// values.
struct Difference {
  double max = 0;
  double cosine = 1;
  uint64_t count = 0;
  uint64_t elements = 0;
};

/// Runs the plan once; throws InputError. Every arena tensor that a step reads or writes is captured once: what a step
/// writes right after it, graph inputs and views before the first step that reads them. `before` is called ahead of
/// each step, and may change what the step reads.
std::vector<Captured> CaptureTensors(const std::string& path, Session& session,
                                     const std::vector<std::vector<uint8_t>>& inputs,
                                     const std::function<void(uint32_t step)>& before = {});
/// For each of `ours` the index of its counterpart in `theirs`, or -1: the same tensor of the source model, or the
/// result of the same node, of the same dims. Both plans have a debug table, and come from one model.
std::vector<int> MatchTensors(const std::vector<Captured>& ours, const std::vector<Captured>& theirs);
/// Stores real values, `values` of the same dims, in the memory of an arena tensor, in its quantization. Nothing
/// happens if its type is none that samples are stored in.
void StoreTensor(Session& session, const Captured& tensor, const Captured& values);
/// Both have the same number of elements.
Difference Compare(const Captured& a, const Captured& b);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_CAPTURE_H_
