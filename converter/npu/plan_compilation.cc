#include "converter/npu/plan_compilation.h"

#include <map>

#include "absl/strings/str_cat.h"
#include "converter/npu/emitter.h"
#include "converter/npu/step_times.h"
#include "ports/npu_emu/model/checker.h"

namespace takt::npu {
namespace {

/// A layer's work is known by its first command that is no copy; a move stores without one.
std::optional<LayerKind> KindOf(const Command& command) {
  switch (command.op) {
    case MicroOp::kCopy:
      return command.pipe == Pipe::kStore ? std::optional(LayerKind::kMove) : std::nullopt;
    case MicroOp::kContract:
      return LayerKind::kConvolution;
    case MicroOp::kDepthwise:
      return LayerKind::kDepthwise;
    case MicroOp::kPool:
      return LayerKind::kPool;
    case MicroOp::kAdd:
      return LayerKind::kAdd;
    default:
      return std::nullopt;
  }
}

/// `commands` were proved.
std::vector<CompiledLayer> FindLayers(std::span<const std::byte> commands) {
  std::vector<CompiledLayer> layers;
  bool begun = false;
  uint32_t first = 0;
  for (uint32_t at = 0;;) {
    const Command command = DecodeChecked(commands, at);
    if (command.op == MicroOp::kEnd) return layers;
    if (const auto kind = KindOf(command); kind && !begun) {
      CompiledLayer& layer = layers.emplace_back();
      layer.layer.kind = *kind, layer.layer.type = command.type;
      layer.tiling = {0, 0, 0, 0, true, 0};
      layer.first_command = first;
      begun = true;
    }
    at += 4 + 4 * command.words;
    if (command.op == MicroOp::kSet && command.as<Set>().event == kStoredEvent) {
      begun = false;
      first = at;
    }
  }
}

class Reader {
 public:
  Reader(const Plan& plan, PlanCompilation& made) : plan_(plan), made_(made) {}

  bool ReadJob(uint16_t job, const std::string& name, std::string& reason) {
    const JobView view = plan_.job(job);
    const auto bytes = plan_.constant(view.stream).bytes;
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    CompiledJob compiled;
    Stream stream;
    Status status = OpenStream(bytes, stream);
    if (status.ok()) status = Prove(view, stream);
    if (status.ok()) status = Evaluate(stream, made_.machine.table, compiled.timing);
    if (!status.ok()) {
      reason = absl::StrCat("job ", job, ": ", SiteText(status.site()));
      return false;
    }
    compiled.layers = FindLayers(stream.commands);
    if (compiled.layers.empty()) compiled.layers.emplace_back();
    for (size_t i = 0; i < compiled.layers.size(); ++i)
      compiled.layers[i].node = AddNode(Op::kNone, absl::StrCat(name, " layer ", i));
    made_.compilation.jobs.push_back(std::move(compiled));
    made_.compilation.device.jobs.push_back({{data, data + bytes.size()}, {}, {}});
    return true;
  }

  int AddNode(Op op, const std::string& name) {
    ir::Node node;
    node.op = op;
    node.name = name;
    made_.graph.nodes.push_back(std::move(node));
    return static_cast<int>(made_.graph.nodes.size()) - 1;
  }

 private:
  /// As the device does before a job runs: a plan that opens may still hold any stream.
  Status Prove(const JobView& view, const Stream& stream) const {
    std::vector<BaseLimits> bases;
    for (const uint16_t id : view.bases) {
      const TensorView tensor = plan_.tensor(id);
      bases.push_back({tensor.bytes(), !tensor.constant});
    }
    std::vector<std::byte> marks(MarkBytes(made_.machine.table));
    uint64_t work = 0;
    return CheckStream(stream, made_.machine.table, bases, marks, work);
  }

  const Plan& plan_;
  PlanCompilation& made_;
};

}  // namespace

std::optional<PlanCompilation> ReadCompilation(const Plan& plan, const std::string& name, std::string& reason) {
  PlanCompilation made;
  Machine table;
  if (plan.device_count() != 1 || plan.device_name(0) != kDeviceName || plan.costs().size() != plan.step_count()) {
    reason = "the plan is not for an emulated NPU, whose time is known: convert with such a --target";
    return std::nullopt;
  }
  if (const Status status = ReadMachine(plan.machine(), table); !status.ok()) {
    reason = SiteText(status.site());
    return std::nullopt;
  }
  const std::string told = absl::StrCat("see the description of ", table.name, "; a plan does not tell");
  made.machine = {table, {told}, {}};
  if (table.validated != 0) made.machine.validated_against.push_back(told);
  made.graph.name = name;
  Reader reader(plan, made);
  std::map<uint16_t, size_t> submits;  // The last one of each job of the plan.
  for (uint32_t s = 0; s < plan.step_count(); ++s) {
    const StepView view = plan.step(s);
    std::string origin(plan.step_origin(s).name);
    backend::StepSpec step;
    if (view.op == Op::kSubmit) {
      submits[view.job()] = made.compilation.jobs.size();
      if (origin.empty()) origin = absl::StrCat("job ", view.job());
      if (!reader.ReadJob(view.job(), origin, reason)) return std::nullopt;
    }
    step.op = view.op;
    if (IsDeviceStep(step)) SetJob(step, submits[view.job()]);
    step.node = reader.AddNode(view.op, origin);
    made.compilation.steps.push_back(std::move(step));
    made.compilation.device.costs.push_back(plan.costs()[s]);
  }
  return made;
}

}  // namespace takt::npu
