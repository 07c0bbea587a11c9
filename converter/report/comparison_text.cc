// Comparisons for terminals, for pull requests and for CI.
#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
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
    case Verdict::kNotCompared:
      return "not compared";
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

constexpr char kOtherSubject[] = "not the same subject: ";

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

/// What became of a case that did not pass: "failure", "error" or "skipped".
std::string Outcome(const std::string& element, const std::string& message, const std::string& text = "") {
  return absl::StrCat("<", element, " message=\"", Escaped(message), "\">", Escaped(text), "</", element, ">");
}

class JUnitSuite {
 public:
  explicit JUnitSuite(const std::string& name) : name_(Escaped(name)) {}
  void Add(const std::string& name, const std::string& outcome) {
    absl::StrAppend(&cases_, "  <testcase classname=\"", name_, "\" name=\"", Escaped(name), "\">", outcome,
                    "</testcase>\n");
    ++count_;
    failures_ += absl::StartsWith(outcome, "<failure");
    errors_ += absl::StartsWith(outcome, "<error");
    skipped_ += absl::StartsWith(outcome, "<skipped");
  }
  std::string Text() const {
    return absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"", name_, "\" tests=\"", count_,
                        "\" failures=\"", failures_, "\" errors=\"", errors_, "\" skipped=\"", skipped_, "\">\n",
                        cases_, "</testsuite>\n");
  }

 private:
  std::string name_, cases_;
  int count_ = 0, failures_ = 0, errors_ = 0, skipped_ = 0;
};

}  // namespace

std::string ComparisonText(const Comparison& comparison) {
  std::string text;
  for (const std::string& subject : comparison.subjects) absl::StrAppend(&text, kOtherSubject, subject, "\n");
  for (const TotalChange& total : comparison.totals) {
    absl::StrAppendFormat(&text, "%-20s %12s -> %-12s %-20s %s%s%s\n", total.name, NumberText(total.before),
                          NumberText(total.after), ChangeText(total.before, total.after), VerdictText(total.verdict),
                          total.note.empty() ? "" : ": ", total.note);
  }
  if (!comparison.steps.empty())
    absl::StrAppend(&text, "steps that changed (", comparison.unit, "):\n", StepsText(comparison));
  return text;
}

std::string ComparisonMarkdown(const std::string& name, const Comparison& comparison) {
  std::string text = absl::StrCat("### ", name, ": ", comparison.failed() ? "changed" : "same", "\n\n");
  for (const std::string& subject : comparison.subjects) absl::StrAppend(&text, kOtherSubject, Cell(subject), "\n\n");
  text += "| | before | after | change | |\n|---|---:|---:|---:|---|\n";
  for (const TotalChange& total : comparison.totals) {
    absl::StrAppend(&text, "| ", Cell(total.name), " | ", NumberText(total.before), " | ", NumberText(total.after),
                    " | ", ChangeText(total.before, total.after), " | ", VerdictText(total.verdict),
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
  JUnitSuite suite(name);
  const std::string subjects = absl::StrJoin(comparison.subjects, "; ");
  suite.Add("subject", subjects.empty() ? "" : Outcome("failure", kOtherSubject + subjects));
  for (const TotalChange& total : comparison.totals) {
    const std::string values = absl::StrCat(NumberText(total.before), " -> ", NumberText(total.after), " ",
                                            ChangeText(total.before, total.after));
    switch (total.verdict) {
      case Verdict::kSame:
        suite.Add(total.name, "");
        break;
      case Verdict::kChanged:
        suite.Add(total.name, Outcome("failure", values, StepsText(comparison)));
        break;
      case Verdict::kNotCompared:
        suite.Add(total.name, Outcome("skipped", total.note));
        break;
      case Verdict::kAdvisory:
        suite.Add(total.name, absl::StrCat("<system-out>", Escaped(values + "; " + total.note), "</system-out>"));
    }
  }
  return suite.Text();
}

std::string ErrorJUnit(const std::string& name, const std::string& message) {
  JUnitSuite suite(name);
  suite.Add("subject", Outcome("error", message));
  return suite.Text();
}

}  // namespace takt::report
