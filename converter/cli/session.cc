#include "converter/cli/session.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>
#include <random>

#include "absl/strings/str_cat.h"
#include "converter/cli/data/npy.h"
#include "converter/cli/files.h"
#include "converter/report/plan_report.h"
#include "schema/plan_generated.h"

namespace takt::cli {
namespace {

constexpr std::align_val_t kAlignment{64};

std::string InputText(const Plan& plan, uint32_t i) {
  const BindingView input = plan.input(i);
  const TensorView tensor = plan.tensor(input.tensor);
  return absl::StrCat("input ", i, " '", std::string(input.name), "' wants ", plan.tensor_bytes(input.tensor),
                      " bytes: ", report::TensorText(tensor));
}

std::vector<uint8_t> RandomInput(const Plan& plan, uint32_t tensor, std::mt19937_64& random) {
  std::vector<uint8_t> bytes(plan.tensor_bytes(tensor));
  if (plan.tensor(tensor).type == DataType::kFloat32) {
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      const float value = static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-52 - 1.0);
      std::memcpy(&bytes[i], &value, 4);
    }
  } else {
    const bool boolean = plan.tensor(tensor).type == DataType::kBool;
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(boolean ? random() & 1 : random() >> 56);
  }
  return bytes;
}

}  // namespace

AlignedBytes::AlignedBytes(size_t size)
    : data_(static_cast<std::byte*>(::operator new[](std::max<size_t>(size, 1), kAlignment))), size_(size) {
  std::memset(data_.get(), 0, size_);
}

void AlignedBytes::Free::operator()(std::byte* data) const {
  ::operator delete[](data, kAlignment);
}

bool IsTfliteModel(std::span<const uint8_t> file) {
  return file.size() >= 8 && std::memcmp(&file[4], "TFL3", 4) == 0;
}
bool IsPlan(std::span<const uint8_t> file) {
  return file.size() >= 8 && std::memcmp(&file[4], schema::PlanIdentifier(), 4) == 0;
}

PlanFile::PlanFile(const std::string& path) : PlanFile(path, ReadFile(path)) {}

PlanFile::PlanFile(const std::string& path, std::span<const uint8_t> bytes) : path_(path), bytes_(bytes.size()) {
  if (IsTfliteModel(bytes)) {
    throw InputError(absl::StrCat(path, ": is a TFLite model, where a plan is wanted; convert it first: takt convert ",
                                  path, " -o ", std::filesystem::path(path).replace_extension(".takt").string()));
  }
  std::memcpy(bytes_.span().data(), bytes.data(), bytes.size());
  Require(path, plan_.Open(std::span<const std::byte>(bytes_.span())));
}

std::vector<TensorRef> OperandRefs(const Plan& plan, const StepView& step) {
  std::vector<TensorRef> refs;
  for (const uint16_t id : step.operands()) {
    const TensorView t = plan.tensor(id);
    const std::byte* data = t.constant ? plan.constant(t.base).bytes.data() + t.offset : nullptr;
    refs.push_back({const_cast<std::byte*>(data), t.dims, t.strides, t.type, t.rank, t.constant});
  }
  return refs;
}

Requirements PlanNeed(const PlanFile& file, const std::string& port) {
  Requirements need;
  Require(file.path(), ComputeRequirements(file.plan(), PortKernels(port), need));
  return need;
}

Session::Session(const std::string& path, std::span<const uint8_t> plan_bytes, const std::string& port, Trace* trace)
    : file_(path, plan_bytes) {
  const Requirements need = PlanNeed(file_, port);
  std::vector<std::span<std::byte>> spans;
  for (uint32_t i = 0; i < need.arena_count; ++i) {
    arenas_.emplace_back(need.arenas[i].bytes);
    spans.push_back(arenas_.back().span());
  }
  runtime_ = AlignedBytes(need.runtime.bytes);
  InitOptions options;
  options.arenas = spans;
  options.runtime = runtime_.span();
  options.kernels = PortKernels(port);
  options.platform.clock.now = [](void*) { return Now(); };
  options.platform.most_job_ticks = UINT64_MAX;  // The device's time is virtual, this clock's is not.
  options.trace = trace;
  owned_ = OpenDevices(path, plan());
  for (const auto& owned : owned_) devices_.push_back(&owned->device());
  options.devices = devices_;
  Require(path, net_.Init(plan(), options));
}

void AddInputOptions(CLI::App& app, InputOptions& options) {
  auto* files =
      app.add_option("--input", options.files, "Raw little-endian bytes or .npy; once for each graph input, in order")
          ->expected(1)
          ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--random", options.seed, "Seed of random inputs instead of files")->excludes(files);
}

std::vector<std::vector<uint8_t>> LoadInputs(const Plan& plan, const InputOptions& options) {
  std::vector<std::vector<uint8_t>> inputs;
  std::mt19937_64 random(options.seed.value_or(0));
  if (!options.seed.has_value() && options.files.size() != plan.input_count()) {
    std::string text =
        absl::StrCat(options.files.size(), " --input given, the plan has ", plan.input_count(), " inputs");
    for (uint32_t i = 0; i < plan.input_count(); ++i) absl::StrAppend(&text, "\n  ", InputText(plan, i));
    throw InputError(absl::StrCat(text, "\ngive one --input for each, in this order, or --random SEED"));
  }
  for (uint32_t i = 0; i < plan.input_count(); ++i) {
    const uint16_t tensor = plan.input(i).tensor;
    if (options.seed.has_value()) {
      inputs.push_back(RandomInput(plan, tensor, random));
      continue;
    }
    std::vector<uint8_t> bytes = ReadFile(options.files[i]);
    if (IsNpy(bytes)) bytes = NpyData(options.files[i], bytes, plan.tensor(tensor).type);
    if (bytes.size() != plan.tensor_bytes(tensor)) {
      throw InputError(absl::StrCat(options.files[i], ": has ", bytes.size(), " bytes; ", InputText(plan, i)));
    }
    inputs.push_back(std::move(bytes));
  }
  return inputs;
}

void SetInputs(Interpreter& net, const std::vector<std::vector<uint8_t>>& inputs) {
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const auto bytes = net.input(i).bytes;
    std::memcpy(bytes.data(), inputs[i].data(), bytes.size());
  }
}

uint64_t Now() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
}

}  // namespace takt::cli
