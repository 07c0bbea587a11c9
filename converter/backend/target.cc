#include "converter/backend/target.h"

namespace takt {
namespace {

constexpr Target kTargets[] = {
    {"host", "dram"},
    {"cortex-m4", "sram"},
    {"cortex-m55", "sram"},
};

}  // namespace

const Target* FindTarget(const std::string& name) {
  for (const Target& target : kTargets) {
    if (name == target.name) return &target;
  }
  return nullptr;
}

std::vector<std::string> TargetNames() {
  std::vector<std::string> names;
  for (const Target& target : kTargets) names.push_back(target.name);
  return names;
}

}  // namespace takt
