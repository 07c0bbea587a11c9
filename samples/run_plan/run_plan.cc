// Runs a plan with the engine and the reference kernels alone: raw input tensors in, raw output tensors out.
//
//   run_plan PLAN OUTPUT_DIR INPUT...    writes OUTPUT_DIR/out_<i>.bin; the folder exists
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/interpreter.h"
#include "engine/plan/plan.h"
#include "ports/reference/kernels.h"

namespace {

constexpr size_t kAlignment = 64;  // No plan wants more.
struct alignas(kAlignment) Line {
  std::byte bytes[kAlignment];
};

/// Memory as plans and arenas want it; an application on a device has static arrays instead.
class Buffer {
 public:
  explicit Buffer(size_t size) : lines_(size / kAlignment + 1), size_(size) {}
  std::span<std::byte> span() { return std::as_writable_bytes(std::span(lines_)).first(size_); }

 private:
  std::vector<Line> lines_;
  size_t size_;
};

std::optional<std::vector<char>> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  return std::vector<char>(std::istreambuf_iterator<char>(file), {});
}

int Fail(const std::string& what, const char* why) {
  std::fprintf(stderr, "%s: %s\n", what.c_str(), why);
  return 1;
}
int Fail(const std::string& what, takt::Status status) {
  std::fprintf(stderr, "step %u, detail %u: %s\n", unsigned{status.step()}, static_cast<unsigned>(status.detail()),
               takt::StatusCodeName(status.code()));
  return Fail(what, takt::SiteText(status.site()));
}

/// Init, inputs, Invoke, outputs.
int Run(const takt::Plan& plan, const std::string& folder, std::span<char*> inputs) {
  takt::Requirements need;
  if (const takt::Status s = takt::ComputeRequirements(plan, takt::reference::AllKernels(), need); !s.ok())
    return Fail("requirements", s);
  std::vector<Buffer> memory;
  std::vector<std::span<std::byte>> arenas;
  memory.reserve(need.arena_count);
  for (uint32_t i = 0; i < need.arena_count; ++i) arenas.push_back(memory.emplace_back(need.arenas[i].bytes).span());
  Buffer runtime(need.runtime.bytes);
  takt::InitOptions options;
  options.arenas = arenas;
  options.runtime = runtime.span();
  options.kernels = takt::reference::AllKernels();
  takt::Interpreter net;
  if (const takt::Status s = net.Init(plan, options); !s.ok()) return Fail("Init", s);

  for (uint32_t i = 0; i < plan.input_count(); ++i) {
    const auto bytes = ReadFile(inputs[i]);
    const std::span<std::byte> input = net.input(i).bytes;
    if (!bytes || bytes->size() != input.size())
      return Fail(inputs[i], "is not readable, or not as long as the plan's input");
    std::ranges::copy(std::as_bytes(std::span(*bytes)), input.begin());
  }
  if (const takt::Status s = net.Invoke(); !s.ok()) return Fail("Invoke", s);
  for (uint32_t i = 0; i < plan.output_count(); ++i) {
    const std::string path = folder + "/out_" + std::to_string(i) + ".bin";
    const std::span<const std::byte> output = net.output(i).bytes;
    if (!std::ofstream(path, std::ios::binary)
             .write(reinterpret_cast<const char*>(output.data()), static_cast<std::streamsize>(output.size())))
      return Fail(path, "is not writable");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: run_plan PLAN OUTPUT_DIR INPUT...\n");
    return 2;
  }
  const auto file = ReadFile(argv[1]);
  if (!file) return Fail(argv[1], "is not readable");
  Buffer bytes(file->size());
  std::ranges::copy(std::as_bytes(std::span(*file)), bytes.span().begin());
  takt::Plan plan;
  if (const takt::Status s = plan.Open(std::span<const std::byte>(bytes.span())); !s.ok()) return Fail(argv[1], s);
  const std::span<char*> inputs(argv + 3, static_cast<size_t>(argc - 3));
  if (inputs.size() != plan.input_count()) return Fail(argv[1], "has another number of inputs");
  return Run(plan, argv[2], inputs);
}
