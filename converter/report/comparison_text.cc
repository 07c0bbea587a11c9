// Comparisons for terminals, for pull requests and for CI.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "converter/report/comparison.h"

namespace takt::report {
namespace {

const char* VerdictText(Verdict verdict) {
  switch (verdict) {
    case Verdict::kSame:
      return "same";
    case Verdict::kChanged:
      return "CHANGED";
    case Verdict::kAdvisory:
      return "advisory";
  }
  return "?";
}

/// "+12 (+1.3 %)"; empty if one is unknown.
std::string ChangeText(std::optional<uint64_t> before, std::optional<uint64_t> after) {
  if (!before || !after) return "";
  const auto change = static_cast<int64_t>(*after - *before);
  if (*before == 0) return absl::StrFormat("%+d", change);
  return absl::StrFormat("%+d (%+.2f %%)", change, 100.0 * static_cast<double>(change) / static_cast<double>(*before));
}

std::string NumberText(std::optional<uint64_t> number) {
  return number ? absl::StrCat(*number) : "-";
}

std::string StepsText(const Comparison& comparison) {
  std::string text;
  for (const StepChange& step : comparison.steps) {
    absl::StrAppendFormat(&text, "  %-28s %10s -> %-10s %s\n", step.name, NumberText(step.before),
                          NumberText(step.after), ChangeText(step.before, step.after));
    for (const std::string& why : step.why) absl::StrAppend(&text, "      ", why, "\n");
  }
  return text;
}

/// Names come from models: XML has no place for control characters.
std::string Escaped(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return absl::ascii_iscntrl(static_cast<unsigned char>(c)) && c != '\n'; },
      '?');
  return absl::StrReplaceAll(text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

/// No cell ends early.
std::string Cell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"\n", " "}});
}

}  // namespace

std::string ComparisonText(const Comparison& comparison) {
  std::string text;
  for (const TotalChange& total : comparison.totals) {
    absl::StrAppendFormat(&text, "%-20s %12d -> %-12d %-20s %s%s%s\n", total.name, total.before, total.after,
                          ChangeText(total.before, total.after), VerdictText(total.verdict),
                          total.note.empty() ? "" : ": ", total.note);
  }
  if (!comparison.steps.empty())
    absl::StrAppend(&text, "steps that changed (", comparison.unit, "):\n", StepsText(comparison));
  return text;
}

std::string ComparisonMarkdown(const std::string& name, const Comparison& comparison) {
  std::string text = absl::StrCat("### ", name, ": ", comparison.failed() ? "changed" : "same", "\n\n",
                                  "| | before | after | change | |\n|---|---:|---:|---:|---|\n");
  for (const TotalChange& total : comparison.totals) {
    absl::StrAppend(&text, "| ", Cell(total.name), " | ", total.before, " | ", total.after, " | ",
                    ChangeText(total.before, total.after), " | ", VerdictText(total.verdict),
                    total.note.empty() ? "" : ": ", Cell(total.note), " |\n");
  }
  if (comparison.steps.empty()) return text;
  absl::StrAppend(&text, "\n| step | ", comparison.unit,
                  " before | after | change | why |\n|---|---:|---:|---:|---|\n");
  for (const StepChange& step : comparison.steps) {
    absl::StrAppend(&text, "| ", Cell(step.name), " | ", NumberText(step.before), " | ", NumberText(step.after), " | ",
                    ChangeText(step.before, step.after), " | ", Cell(absl::StrJoin(step.why, "; ")), " |\n");
  }
  return text;
}

std::string ComparisonJUnit(const std::string& name, const Comparison& comparison) {
  size_t failures = 0;
  std::string cases;
  for (const TotalChange& total : comparison.totals) {
    const std::string values =
        absl::StrCat(total.before, " -> ", total.after, " ", ChangeText(total.before, total.after));
    absl::StrAppend(&cases, "  <testcase classname=\"", Escaped(name), "\" name=\"", Escaped(total.name), "\">");
    if (total.verdict == Verdict::kChanged) {
      ++failures;
      absl::StrAppend(&cases, "<failure message=\"", Escaped(values), "\">", Escaped(StepsText(comparison)),
                      "</failure>");
    } else if (total.verdict == Verdict::kAdvisory) {
      absl::StrAppend(&cases, "<system-out>", Escaped(absl::StrCat(values, "; ", total.note)), "</system-out>");
    }
    cases += "</testcase>\n";
  }
  return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"", Escaped(name), "\" tests=\"",
                      comparison.totals.size(), "\" failures=\"", failures, "\">\n", cases, "</testsuite>\n");
}

}  // namespace takt::report
