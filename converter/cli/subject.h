// What bench and baseline measure: a plan, or a model that is converted for it.
#ifndef TAKT_CONVERTER_CLI_SUBJECT_H_
#define TAKT_CONVERTER_CLI_SUBJECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "converter/cli/model.h"
#include "converter/report/comparison.h"
#include "converter/report/profile.h"

namespace takt::cli {

struct Subject {
  std::vector<uint8_t> plan;
  report::Profile profile;  ///< Without instructions and wall time.
};

/// The bytes of a plan, or of the plan that a model becomes. Throws InputError.
std::vector<uint8_t> LoadPlan(const ModelOptions& model);

/// `model.file` may be a plan. With `layers`, a model's profile has the
/// names of its nodes and the layers of its jobs, which no plan has. Throws InputError.
Subject LoadSubject(const ModelOptions& model, const std::string& port, bool layers);

/// A baseline, or a plan as one (`layers` then says that it lacks them). Throws InputError.
report::Profile LoadBaseline(const std::string& path, const std::string& port, bool& layers);

/// What makes a baseline: "run takt baseline update …".
std::string BlessText(const std::string& baseline, const std::string& subject, const std::string& reason);

/// Compiler and flags of this program, and how it counts: only equal ones give equal counts.
std::string BuildText();
/// Processor and build.
std::string HostText();

/// Instructions of one invocation with random inputs, counted by callgrind. Nothing where there is no valgrind. Throws
/// InputError if it fails.
std::optional<report::InstructionCount> CountInstructions(const std::vector<uint8_t>& plan, const std::string& port);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_SUBJECT_H_
