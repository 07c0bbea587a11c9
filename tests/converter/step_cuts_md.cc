// Prints converter/backend/STEP_CUTS.md.
#include <cstdio>

#include "converter/backend/step_cuts.h"

namespace {

constexpr char kHead[] =
    "# How steps are cut\n"
    "\n"
    "Made of the rules in `step_cuts.cc` by the target `bless_step_cuts`; a test compares, and the tests of each op\n"
    "(`tests/ops`) fail if its steps are cut and must not be, or the other way round.\n"
    "\n"
    "`--max-step-us` halves a step along the outermost such axis of its output, down to single indices, then along "
    "the\n"
    "next one, until the parts are within the bound. Parts read and write views of the step's tensors, or copies, "
    "where\n"
    "an op wants dense tensors and the views are not. Steps that update a state in place stay whole.\n"
    "\n"
    "| op | cut along |\n"
    "|---|---|\n";

constexpr char kTail[] =
    "\n"
    "| op | not cut, because |\n"
    "|---|---|\n";

void PrintRows(bool cuts) {
  for (int op = static_cast<int>(takt::kFirstKernelOp); op < static_cast<int>(takt::Op::kPlanOpEnd); ++op) {
    const takt::backend::CutRule rule = takt::backend::CutRuleOf(static_cast<takt::Op>(op));
    if (rule.text != nullptr && rule.cuts == cuts)
      std::printf("| %s | %s |\n", takt::OpName(static_cast<takt::Op>(op)), rule.text);
  }
}

}  // namespace

int main() {
  std::printf("%s", kHead);
  PrintRows(true);
  std::printf("%s", kTail);
  PrintRows(false);
  return 0;
}
