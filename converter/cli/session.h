// A plan with all that it takes to run it on this host: bytes, arenas, kernels of a port, inputs.
#ifndef TAKT_CONVERTER_CLI_SESSION_H_
#define TAKT_CONVERTER_CLI_SESSION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "converter/cli/devices.h"
#include "converter/cli/files.h"
#include "converter/cli/ports.h"
#include "converter/cli/verbs.h"
#include "engine/core/interpreter.h"
#include "engine/plan/plan.h"

namespace takt::cli {

/// Heap bytes at a 64-byte multiple.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  explicit AlignedBytes(size_t size);
  std::span<std::byte> span() const { return {data_.get(), size_}; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte[], Free> data_;
  size_t size_ = 0;
};

/// Whether a file starts as a TFLite model does.
bool IsTfliteModel(std::span<const uint8_t> file);
/// Whether a file starts as a plan does.
bool IsPlan(std::span<const uint8_t> file);

/// A plan, opened; throws InputError, which names `path`.
class PlanFile {
 public:
  explicit PlanFile(const std::string& path);
  PlanFile(const std::string& path, std::span<const uint8_t> bytes);
  const Plan& plan() const { return plan_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  AlignedBytes bytes_;
  Plan plan_;
};

/// Inputs, then outputs, as a kernel's functions of shapes see them: only constants have data.
std::vector<TensorRef> OperandRefs(const Plan& plan, const StepView& step);

/// What a plan needs to run on a port; throws InputError.
Requirements PlanNeed(const PlanFile& file, const std::string& port);

/// A plan ready to be invoked; throws InputError.
class Session {
 public:
  Session(const std::string& path, const std::string& port, Trace* trace = nullptr)
      : Session(path, ReadFile(path), port, trace) {}
  /// A plan from memory; `path` names it in messages.
  Session(const std::string& path, std::span<const uint8_t> plan, const std::string& port, Trace* trace = nullptr);
  const PlanFile& file() const { return file_; }
  const Plan& plan() const { return file_.plan(); }
  Interpreter& net() { return net_; }

 private:
  PlanFile file_;
  std::vector<AlignedBytes> arenas_;
  AlignedBytes runtime_;
  std::vector<std::unique_ptr<OwnedDevice>> owned_;
  std::vector<Device*> devices_;
  Interpreter net_;
};

/// Where inputs come from: files in graph order, or a seed.
struct InputOptions {
  std::vector<std::string> files;
  std::optional<uint64_t> seed;
};
void AddInputOptions(CLI::App& app, InputOptions& options);
/// Bytes of every input; throws InputError naming the input and what it expects.
std::vector<std::vector<uint8_t>> LoadInputs(const Plan& plan, const InputOptions& options);
/// Copies them into the arena; to be repeated before each invocation, as steps may reuse their memory.
void SetInputs(Interpreter& net, const std::vector<std::vector<uint8_t>>& inputs);

/// Nanoseconds of the host's steady clock.
uint64_t Now();

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_SESSION_H_
