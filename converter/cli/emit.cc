#include "converter/cli/emit.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "converter/report/plan_report.h"

namespace takt::cli {
namespace {

namespace fs = std::filesystem;

/// A C identifier made of a file's stem.
std::string Identifier(const std::string& path) {
  std::string name = fs::path(path).stem().string();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 ? absl::StrCat("plan_", name) : name;
}

std::string ArrayText(const std::string& name, std::span<const std::byte> bytes) {
  std::string text = absl::StrFormat(
      "// Made by takt convert --emit-c. The plan, aligned so that it runs in place.\n#include \"%s.h\"\n\n"
      "__attribute__((aligned(64))) const unsigned char %s_plan[%d] = {",
      name, name, bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    absl::StrAppend(&text, i % 24 == 0 ? "\n" : "", static_cast<int>(bytes[i]), ",");
  }
  return text + "\n};\n";
}

std::string HeaderText(const std::string& name, const PlanFile& file) {
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const Requirements need = PlanNeed(file, "reference");
  std::string text = absl::StrFormat(
      "// Made by takt convert --emit-c. Sizes are for the reference port's kernels.\n"
      "#ifndef TAKT_%s_PLAN_H_\n#define TAKT_%s_PLAN_H_\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
      "extern const unsigned char %s_plan[%d];\n#ifdef __cplusplus\n}\n\nnamespace takt_%s {\n",
      upper, upper, name, file.plan().bytes().size(), name);
  absl::StrAppendFormat(&text, "inline constexpr unsigned kPlanBytes = %d;\n", file.plan().bytes().size());
  absl::StrAppendFormat(&text, "inline constexpr unsigned kArenaCount = %d;\n", need.arena_count);
  for (uint32_t i = 0; i < need.arena_count; ++i) {
    std::string arena = report::ArenaName(file.plan(), i);
    std::replace(arena.begin(), arena.end(), '.', '_');
    arena[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(arena[0])));
    absl::StrAppendFormat(&text, "inline constexpr unsigned k%sBytes = %d;\n", arena, need.arenas[i].bytes);
    absl::StrAppendFormat(&text, "inline constexpr unsigned k%sAlignment = %d;\n", arena, need.arenas[i].alignment);
  }
  absl::StrAppendFormat(&text, "inline constexpr unsigned kRuntimeBytes = %d;\n", need.runtime.bytes);
  absl::StrAppendFormat(&text, "inline constexpr unsigned kRuntimeAlignment = %d;\n", need.runtime.alignment);
  return absl::StrCat(text, "}  // namespace takt_", name, "\n#endif\n\n#endif\n");
}

}  // namespace

std::vector<OutputFile> EmitC(const PlanFile& file, const std::string& where) {
  fs::path source(where);
  if (source.extension() != ".c") source /= Identifier(file.path()) + ".c";
  const std::string name = Identifier(source.string());
  const fs::path header = source.parent_path() / (name + ".h");
  return {TextFile(source.string(), ArrayText(name, file.plan().bytes())),
          TextFile(header.string(), HeaderText(name, file))};
}

OutputFile EmitKernels(const Plan& plan, const std::string& path) {
  std::set<std::string> names;
  for (uint32_t i = 0; i < plan.step_count(); ++i) {
    const StepView step = plan.step(i);
    if (step.op < kFirstKernelOp) continue;
    const std::string name = ReferenceKernelName(KeyOf(plan, step));
    if (name.empty())
      throw InputError(absl::StrCat("step ", i, " (", OpName(step.op), "): the reference port has no kernel for it"));
    names.insert(name);
  }
  std::string list;
  for (const std::string& name : names) absl::StrAppend(&list, "    &", name, ",\n");
  return TextFile(path,
                  absl::StrCat("// Made by takt convert --emit-kernels: exactly the kernels that the plan needs.\n"
                               "#pragma once\n\n#include \"ports/reference/kernels.h\"\n\n"
                               "inline constexpr const takt::Kernel* kPlanKernels[] = {\n",
                               list, "};\n"));
}

}  // namespace takt::cli
