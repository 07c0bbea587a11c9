// What changed between two profiles, whether a latency test lets that pass, and why it changed.
#ifndef TAKT_CONVERTER_REPORT_COMPARISON_H_
#define TAKT_CONVERTER_REPORT_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "converter/report/profile.h"

namespace takt::report {

/// Instruction counts of one build may differ by this share.
inline constexpr double kInstructionTolerance = 0.005;

enum class Verdict { kSame, kChanged, kAdvisory, kNotCompared };

/// A quantity of both profiles. Only kChanged fails a test; kAdvisory and kNotCompared have their reason in `note`.
struct TotalChange {
  std::string name;
  std::optional<uint64_t> before, after;  ///< None: kNotCompared.
  Verdict verdict = Verdict::kSame;
  std::string note;
};

/// A step whose cycles, kernel, tiling, placement or traffic differ. No cycles: not in that profile, or not known
/// there.
struct StepChange {
  std::string name;
  std::optional<uint64_t> before, after;
  std::vector<std::string> why;
};

struct Comparison {
  /// Why the two are not the same thing before and after a change: "target ethos-u55-256 -> ethos-u55-128".
  std::vector<std::string> subjects;
  std::vector<TotalChange> totals;
  std::string unit = "cycles";    ///< Of steps.
  std::vector<StepChange> steps;  ///< By name, in the order of the later profile; steps that are gone come last.

  bool failed() const;
};

/// Model, target, cycles and bytes have to be equal, instruction counts nearly, for one build; wall time only advises.
/// `not_counted`: why `after` has no instructions.
Comparison Compare(const Profile& before, const Profile& after, const std::string& not_counted = "");

/// Probability that two sets of samples of one distribution differ in rank as much as these (Mann-Whitney U, two-sided,
/// normal approximation with ties). 1 if either is empty.
double MannWhitneyP(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b);

std::string ComparisonText(const Comparison& comparison);
std::string ComparisonMarkdown(const std::string& name, const Comparison& comparison);
/// A test suite with a case for the subject and one a total.
std::string ComparisonJUnit(const std::string& name, const Comparison& comparison);
/// The same suite where nothing could be compared.
std::string ErrorJUnit(const std::string& name, const std::string& message);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_COMPARISON_H_
