// The memory map of a plan on any axis of time, with what lies inside of the plan's tensors.
#ifndef TAKT_CONVERTER_REPORT_MEMORY_MAP_H_
#define TAKT_CONVERTER_REPORT_MEMORY_MAP_H_

#include <string>
#include <vector>

#include "converter/report/html.h"
#include "engine/plan/plan.h"

namespace takt::report {

/// Where the plan's steps lie on an axis; the end of the last one comes last.
struct MapTime {
  Axis axis;
  std::vector<double> starts;
};

/// Bytes [begin, end) of an arena that something holds.
struct MapBox {
  uint32_t arena = 0;
  uint64_t begin = 0, end = 0;
  double from = 0, until = 0;
  std::string colour, label, title;
};

/// As MemoryMapSvg of plan_report.h, on another axis. `boxes` lie on the plan's tensors, which then are outlines.
std::string MemoryMapSvg(const Plan& plan, const MapTime& time, const std::vector<MapBox>& boxes);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_MEMORY_MAP_H_
