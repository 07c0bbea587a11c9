// What a plan decided, for people and for scripts. Plans are open.
#ifndef TAKT_CONVERTER_REPORT_PLAN_REPORT_H_
#define TAKT_CONVERTER_REPORT_PLAN_REPORT_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/core/interpreter.h"
#include "engine/plan/plan.h"

namespace takt::report {

/// The step at which most bytes of an arena are live (rounded up to its alignment), and what lies in it then.
struct Peak {
  int step = -1;
  int64_t bytes = 0;
  std::vector<uint16_t> tensors;  ///< Largest first; of tensors that share memory, the largest only.
};

/// "int8[1,49,10,1]"
std::string TensorText(const TensorView& tensor);
/// "activation", or "activation.1" for a second one of the kind.
std::string ArenaName(const Plan& plan, uint32_t arena);
/// "conv2d"; with the source's name if the plan has a debug table.
std::string StepName(const Plan& plan, uint32_t step);
/// "sram": a memory of the plan's target.
std::string MemoryName(const Plan& plan, uint32_t memory);
/// How often each step runs at most: the product of the trips of the loops around it.
std::vector<uint64_t> MostRuns(const Plan& plan);
Peak FindPeak(const Plan& plan, uint32_t arena);

/// Arenas (the runtime arena of `need` last), steps, tensors, inputs, outputs, sizes: the object behind every --json.
nlohmann::ordered_json PlanJson(const Plan& plan, const Requirements& need);
/// Names, types, dims, bytes and quantization of the graph's outputs.
nlohmann::ordered_json OutputsJson(const Plan& plan);
/// Arenas with peak, lower bound and gap; constants; file.
std::string SummaryText(const Plan& plan, const Requirements& need);
std::string StepsText(const Plan& plan);
/// Steps from left to right, addresses from top to bottom, a letter for each tensor; then what the peak is made of.
/// At most 80 columns wide.
std::string MemoryMapText(const Plan& plan, uint32_t arena, bool colour);
/// The same for all arenas as a picture, one rectangle a tensor.
std::string MemoryMapSvg(const Plan& plan);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_PLAN_REPORT_H_
