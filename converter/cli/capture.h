// The value of every tensor of a run, taken while its memory holds it, and how two values differ.
#ifndef TAKT_CONVERTER_CLI_CAPTURE_H_
#define TAKT_CONVERTER_CLI_CAPTURE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/cli/session.h"

namespace takt::cli {

struct Captured {
  uint32_t step;  ///< That wrote it; of a graph input or a view: the first that reads it.
  std::string name;
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
/// writes right after it, graph inputs and views before the first step that reads them.
std::vector<Captured> CaptureTensors(const std::string& path, Session& session,
                                     const std::vector<std::vector<uint8_t>>& inputs);
/// Both have the same number of elements.
Difference Compare(const Captured& a, const Captured& b);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_CAPTURE_H_
