// The order of a plan's steps.
#ifndef TAKT_CONVERTER_MEMORY_SCHEDULE_H_
#define TAKT_CONVERTER_MEMORY_SCHEDULE_H_

#include <vector>

#include "converter/backend/step_builder.h"
#include "converter/ir/graph.h"

namespace takt::memory {

/// The same steps, in an order that lowers the peak of the activation arena; as given if none does. Every step still
/// comes after those whose results it reads.
std::vector<backend::StepSpec> ScheduleSteps(const ir::Graph& graph, std::vector<backend::StepSpec> steps);

}  // namespace takt::memory

#endif  // TAKT_CONVERTER_MEMORY_SCHEDULE_H_
