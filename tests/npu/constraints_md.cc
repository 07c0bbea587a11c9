// Prints converter/npu/CONSTRAINTS.md.
#include <cstdio>

#include "converter/npu/layer.h"

namespace {

constexpr char kHead[] =
    "# What runs on the NPU\n"
    "\n"
    "Made of the predicates in `layer.cc` and of the machine's rules (`ports/npu_emu/model/machine_rules.inc`) by the\n"
    "target `bless_npu_constraints`; a test compares.\n"
    "\n"
    "A step runs on the NPU if all of these hold and a tile of it fits the machine's buffers. Otherwise it stays on "
    "the\n"
    "host: the conversion names the first one that it breaks, and what it costs there.\n"
    "\n";

constexpr char kMachine[] =
    "\n"
    "A machine's description is refused, with one of these texts, unless:\n"
    "\n";

}  // namespace

int main() {
  std::printf("%s", kHead);
  for (const char* text : takt::npu::ConstraintTexts()) std::printf("- %s\n", text);
  std::printf("%s", kMachine);
#define TAKT_MACHINE_RULE(name, text) std::printf("- %s\n", text);
#include "ports/npu_emu/model/machine_rules.inc"
#undef TAKT_MACHINE_RULE
  return 0;
}
