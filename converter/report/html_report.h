// A model on a machine, as one HTML page without scripts or other files.
#ifndef TAKT_CONVERTER_REPORT_HTML_REPORT_H_
#define TAKT_CONVERTER_REPORT_HTML_REPORT_H_

#include <string>

#include "converter/npu/machine_json.h"
#include "converter/npu/step_profile.h"
#include "engine/plan/plan.h"

namespace takt::report {

/// Summary, timeline of pipes, roofline, steps, memory map over time. The plan is open and made of `compilation`.
std::string HtmlReport(const Plan& plan, const ir::Graph& graph, const npu::Compilation& compilation,
                       const npu::MachineDescription& machine);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_HTML_REPORT_H_
