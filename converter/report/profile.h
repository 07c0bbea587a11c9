// What a plan costs, step by step, and why: what latency tests keep as their baseline.
#ifndef TAKT_CONVERTER_REPORT_PROFILE_H_
#define TAKT_CONVERTER_REPORT_PROFILE_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "converter/npu/compiler.h"
#include "engine/core/interpreter.h"
#include "engine/plan/plan.h"

namespace takt::report {

/// A step of the host, or a layer of a job; a job whose layers are not known is one entry.
struct StepProfile {
  std::string name;                         ///< Of its node in the source model, unique in the profile.
  std::string kernel;                       ///< What runs it: "conv2d int8 fp32_rne", "npu conv".
  std::string tiling;                       ///< Of a layer.
  std::string placement;                    ///< Of a step: where its outputs lie, "activation+4096".
  std::map<std::string, uint64_t> traffic;  ///< Bytes read and written, by memory.
  std::optional<uint64_t> cycles;           ///< Of the target; those of layers sum to their job's.
};

/// Machine instructions of one invocation on the host, which only the same build repeats.
struct InstructionCount {
  uint64_t count = 0;
  std::string build;
};
/// Nanoseconds of single invocations; `host` says of which processor and build.
struct WallTime {
  std::vector<uint64_t> samples;
  std::string host;
};

struct Profile {
  std::string model;  ///< Its file.
  std::string target;
  std::string source_sha256;  ///< Of the model, its start in hexadecimal; not in the text: models are trained again.
  uint64_t plan_bytes = 0;
  std::map<std::string, uint64_t> arenas;  ///< Bytes by name, the runtime arena among them.
  std::optional<uint64_t> cycles;          ///< Of the target; none if it has no calibration.
  std::vector<StepProfile> steps;
  std::optional<InstructionCount> instructions;
  std::optional<WallTime> wall;
  std::vector<std::string> reasons;  ///< Why a baseline was made and changed, the oldest first.
};

/// Of an open plan. `names` is the same plan with a debug table, for the steps' names; it may be `plan` itself.
Profile ProfilePlan(const Plan& plan, const Plan& names, const Requirements& need);
/// Replaces jobs by their layers.
void AddLayers(const ir::Graph& graph, const npu::Compilation& compilation, const npu::Machine& machine,
               Profile& profile);

/// JSON with one line a step.
std::string ProfileText(const Profile& profile);
/// What ProfileText wrote; nothing if the text is something else (`problem` says what).
std::optional<Profile> ParseProfile(const std::string& text, std::string& problem);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_PROFILE_H_
