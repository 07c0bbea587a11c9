#include "converter/report/comparison.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace takt::report {
namespace {

constexpr double kSignificant = 0.01;

TotalChange Exact(std::string name, uint64_t before, uint64_t after) {
  return {std::move(name), before, after, before == after ? Verdict::kSame : Verdict::kChanged, ""};
}

TotalChange CompareInstructions(const InstructionCount& before, const std::optional<InstructionCount>& after,
                                const std::string& not_counted) {
  TotalChange total = {"instructions", before.count, std::nullopt, Verdict::kNotCompared, not_counted};
  if (!after) return total;
  total.after = after->count;
  if (before.build != after->build) {
    total.note = absl::StrCat("the baseline is of ", before.build, ", this is ", after->build);
    return total;
  }
  total.verdict = Verdict::kSame;
  const double change = std::fabs(static_cast<double>(after->count) - static_cast<double>(before.count));
  if (change > kInstructionTolerance * static_cast<double>(before.count)) total.verdict = Verdict::kChanged;
  return total;
}

uint64_t Median(std::vector<uint64_t> samples) {
  if (samples.empty()) return 0;
  const auto middle = samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

TotalChange CompareWall(const WallTime& before, const WallTime& after) {
  TotalChange total = {"median ns", Median(before.samples), Median(after.samples), Verdict::kAdvisory, ""};
  if (before.host != after.host) {
    total.note = absl::StrCat("baseline is of another host or build (", before.host, ")");
    return total;
  }
  const double p = MannWhitneyP(before.samples, after.samples);
  total.note =
      absl::StrFormat("%s (Mann-Whitney p = %.2g)", p < kSignificant ? "differs" : "no difference can be told", p);
  return total;
}

void Differ(std::vector<std::string>& why, const char* what, const std::string& before, const std::string& after) {
  if (before != after)
    why.push_back(absl::StrCat(what, " ", before.empty() ? "none" : before, " -> ", after.empty() ? "none" : after));
}

void CompareTraffic(std::vector<std::string>& why, const StepProfile& before, const StepProfile& after) {
  std::set<std::string> memories;
  for (const StepProfile* step : {&before, &after}) {
    for (const auto& [memory, bytes] : step->traffic) memories.insert(memory);
  }
  const auto bytes = [](const StepProfile& step, const std::string& memory) {
    const auto found = step.traffic.find(memory);
    return found == step.traffic.end() ? uint64_t{0} : found->second;
  };
  for (const std::string& memory : memories) {
    const uint64_t from = bytes(before, memory), to = bytes(after, memory);
    if (from != to) why.push_back(absl::StrCat("traffic of ", memory, " ", from, " -> ", to, " bytes"));
  }
}

std::vector<StepChange> CompareSteps(const Profile& before, const Profile& after) {
  std::map<std::string, const StepProfile*> old;
  for (const StepProfile& step : before.steps) old[step.name] = &step;
  std::vector<StepChange> changes;
  for (const StepProfile& step : after.steps) {
    const auto found = old.find(step.name);
    if (found == old.end()) {
      changes.push_back({step.name, std::nullopt, step.cycles, {"new: " + step.kernel}});
      continue;
    }
    const StepProfile& was = *found->second;
    old.erase(found);
    StepChange change{step.name, was.cycles, step.cycles, {}};
    Differ(change.why, "kernel", was.kernel, step.kernel);
    Differ(change.why, "tile", was.tiling, step.tiling);
    Differ(change.why, "placement", was.placement, step.placement);
    CompareTraffic(change.why, was, step);
    if (change.why.empty() && change.before != change.after)
      change.why.push_back("same kernel, tile and traffic: the machine's timing, or what runs beside it");
    if (!change.why.empty()) changes.push_back(std::move(change));
  }
  for (const StepProfile& step : before.steps) {
    if (old.contains(step.name)) changes.push_back({step.name, step.cycles, std::nullopt, {"gone: " + step.kernel}});
  }
  return changes;
}

/// Figures of another model or machine say nothing about a change, however they differ.
std::vector<std::string> CompareSubjects(const Profile& before, const Profile& after) {
  std::vector<std::string> subjects;
  if (!before.model.empty() && !after.model.empty()) Differ(subjects, "model", before.model, after.model);
  if (!before.source_sha256.empty() && !after.source_sha256.empty())
    Differ(subjects, "SHA-256 of the model", before.source_sha256, after.source_sha256);
  Differ(subjects, "target", before.target, after.target);
  if (before.cycles.has_value() != after.cycles.has_value())
    subjects.push_back(absl::StrCat("cycles only ", before.cycles ? "before" : "after", ", so none are compared"));
  return subjects;
}

}  // namespace

bool Comparison::failed() const {
  return !subjects.empty() ||
         std::ranges::any_of(totals, [](const TotalChange& total) { return total.verdict == Verdict::kChanged; });
}

double MannWhitneyP(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  if (a.empty() || b.empty()) return 1;
  std::vector<std::pair<uint64_t, bool>> all;
  for (const uint64_t sample : a) all.emplace_back(sample, true);
  for (const uint64_t sample : b) all.emplace_back(sample, false);
  std::sort(all.begin(), all.end());
  double ranks = 0, ties = 0;
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end < all.size() && all[end].first == all[i].first) ++end;
    const double rank = static_cast<double>(i + 1 + end) / 2, equal = static_cast<double>(end - i);
    for (size_t k = i; k < end; ++k) ranks += all[k].second ? rank : 0;
    ties += equal * equal * equal - equal;
    i = end;
  }
  const auto n = static_cast<double>(a.size()), m = static_cast<double>(b.size()), sum = n + m;
  const double u = ranks - n * (n + 1) / 2, mean = n * m / 2;
  const double variance = n * m / 12 * (sum + 1 - ties / (sum * (sum - 1)));
  if (variance <= 0) return 1;
  return std::erfc(std::max(std::fabs(u - mean) - 0.5, 0.0) / std::sqrt(2 * variance));
}

Comparison Compare(const Profile& before, const Profile& after, const std::string& not_counted) {
  Comparison comparison;
  comparison.subjects = CompareSubjects(before, after);
  std::vector<TotalChange>& totals = comparison.totals;
  if (before.cycles && after.cycles) totals.push_back(Exact("cycles", *before.cycles, *after.cycles));
  totals.push_back(Exact("plan bytes", before.plan_bytes, after.plan_bytes));
  std::map<std::string, std::pair<uint64_t, uint64_t>> arenas;
  for (const auto& [name, bytes] : before.arenas) arenas[name].first = bytes;
  for (const auto& [name, bytes] : after.arenas) arenas[name].second = bytes;
  for (const auto& [name, bytes] : arenas) totals.push_back(Exact(name + " bytes", bytes.first, bytes.second));
  if (before.instructions) totals.push_back(CompareInstructions(*before.instructions, after.instructions, not_counted));
  if (before.wall && after.wall) totals.push_back(CompareWall(*before.wall, *after.wall));
  comparison.steps = CompareSteps(before, after);
  return comparison;
}

}  // namespace takt::report
