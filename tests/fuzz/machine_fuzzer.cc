// Any bytes as a machine description: parsed; the table is one that devices accept.
#include <cstdlib>
#include <string>

#include "converter/npu/machine_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  takt::Diagnostics diagnostics;
  // An override in the first line, if there is one: the command line's words come from outside, too.
  std::string text(reinterpret_cast<const char*>(data), size);
  std::vector<std::string> overrides;
  if (text.starts_with("--set ")) {
    const size_t end = text.find('\n');
    overrides.push_back(text.substr(6, end == std::string::npos ? end : end - 6));
    text.erase(0, end == std::string::npos ? text.size() : end + 1);
  }
  const auto machine = takt::npu::ParseMachine(text, "fuzz", overrides, diagnostics);
  if (!machine) {
    if (diagnostics.ok()) std::abort();  // Nothing is refused without a reason.
    return 0;
  }
  takt::npu::Machine read;
  const std::span table(reinterpret_cast<const uint8_t*>(&machine->table), sizeof(machine->table));
  if (!takt::npu::ReadMachine(table, read).ok()) std::abort();
  return 0;
}
