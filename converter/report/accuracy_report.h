// What quantization costs, layer by layer: a float model and a plan of it on the same inputs.
#ifndef TAKT_CONVERTER_REPORT_ACCURACY_REPORT_H_
#define TAKT_CONVERTER_REPORT_ACCURACY_REPORT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "converter/quant/error_sums.h"

namespace takt::report {

struct LayerAccuracy {
  uint32_t step = 0;  ///< Of the plan.
  std::string name;
  std::string type;        ///< Of the result, e.g. int8.
  quant::ErrorSums total;  ///< Errors of earlier layers included.
  quant::ErrorSums own;    ///< Each layer reads the float model's values, as exact as its inputs can hold them.
};

struct AccuracyReport {
  std::string model, plan;
  size_t samples = 0;
  double least_db = 0;                 ///< A layer below is bad.
  std::vector<LayerAccuracy> layers;   ///< In the order of computation.
  std::vector<std::string> unmatched;  ///< Results of the plan without a counterpart in the float model.

  /// The first layer whose total is below least_db, or nullptr.
  const LayerAccuracy* FirstBad() const;
  /// Indices of layers, the one with the lowest own SQNR first; equal ones in order.
  std::vector<size_t> ByDamage() const;
};

/// A table in the order of computation, with each layer's rank by damage.
std::string AccuracyText(const AccuracyReport& report);
/// Infinite SQNR (no error at all) is null.
nlohmann::ordered_json AccuracyJson(const AccuracyReport& report);
/// A page without scripts or other files: SQNR of each layer as bars, and the table.
std::string AccuracyHtml(const AccuracyReport& report);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_ACCURACY_REPORT_H_
