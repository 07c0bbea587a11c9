// The pictures of a report on a machine.
#ifndef TAKT_CONVERTER_REPORT_CHARTS_H_
#define TAKT_CONVERTER_REPORT_CHARTS_H_

#include <string>
#include <vector>

#include "converter/npu/step_profile.h"

namespace takt::report {

/// Of what a step computes: steps of one kind look alike in all pictures.
const char* KindColour(const npu::StepProfile& step);
/// "3 depthwise block_1/dw"
std::string StepTitle(const std::vector<npu::StepProfile>& steps, size_t i);
/// The kinds that occur, with their colours.
std::string KindLegend(const std::vector<npu::StepProfile>& steps);

/// Steps in order, and how busy each pipe is meanwhile.
std::string TimelineSvg(const npu::Compilation& compilation, const npu::Machine& machine,
                        const std::vector<npu::StepProfile>& steps);
/// MACs a cycle over MACs a byte, a dot a step; a roof for each memory.
std::string RooflineSvg(const npu::Machine& machine, const std::vector<npu::StepProfile>& steps);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_CHARTS_H_
