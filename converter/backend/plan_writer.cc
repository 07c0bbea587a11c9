#include "converter/backend/plan_writer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "engine/base/crc32.h"
#include "engine/base/sha256.h"
#include "engine/plan/plan.h"
#include "engine/plan/trailer.h"
#include "schema/plan_generated.h"

namespace takt::backend {
namespace {

using flatbuffers::FlatBufferBuilder;
using ir::TensorId;
constexpr uint16_t kDense = 0xFFFF;

class Writer {
 public:
  explicit Writer(const PlanInput& input) : in_(input), activations_(input.arenas) {
    if (activations_.empty()) activations_ = {{0, input.placement.peak_bytes, input.placement.lower_bound_bytes}};
  }
  std::vector<uint8_t> Write(Diagnostics& diagnostics);

 private:
  void AddArenas();
  void AddArenaTensors();
  void AddConstants();
  void AddConstant(TensorId id, std::vector<uint8_t>& block);
  void AddBlock(const std::vector<uint8_t>& block);
  flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Job>>> AddJobs();
  bool Overlap(TensorId a, TensorId b) const;
  bool Retryable(const JobSpec& job) const;
  void AddTensor(TensorId id, uint32_t offset, uint16_t base);
  template <typename T>
  static uint16_t Pooled(std::vector<T>& pool, const std::vector<T>& values);
  flatbuffers::Offset<flatbuffers::Vector<const schema::State*>> AddStates();
  flatbuffers::Offset<void> AddParams(const StepSpec& spec);
  void AddStep(const StepSpec& spec);
  flatbuffers::Offset<schema::Binding> AddBinding(TensorId id);
  flatbuffers::Offset<schema::Debug> AddDebug();
  flatbuffers::Offset<schema::Target> AddTarget();
  bool FitsFormat(Diagnostics& diagnostics) const;

  const PlanInput& in_;
  std::vector<memory::Arena> activations_;
  FlatBufferBuilder fbb_;
  std::map<TensorId, uint16_t> index_;
  std::map<std::pair<size_t, std::vector<uint8_t>>, flatbuffers::Offset<void>> structs_;  ///< By alignment and bytes.
  std::vector<TensorId> order_;
  std::vector<schema::Arena> arenas_;
  std::vector<schema::Tensor> tensors_;
  std::vector<schema::Live> lives_;
  std::vector<schema::Constant> constants_;
  std::vector<int32_t> dims_;
  std::vector<int32_t> strides_;
  std::vector<uint16_t> operands_;
  std::vector<schema::Step> steps_;
  std::vector<schema::Params> tags_;
  std::vector<flatbuffers::Offset<void>> params_;
  std::vector<uint8_t> segment_;
  bool reaches_minimum_ = false;
};

template <typename T>
uint16_t Writer::Pooled(std::vector<T>& pool, const std::vector<T>& values) {
  auto at = std::search(pool.begin(), pool.end(), values.begin(), values.end());
  const auto index = static_cast<uint16_t>(at - pool.begin());
  if (at == pool.end()) pool.insert(pool.end(), values.begin(), values.end());
  return index;
}

void Writer::AddTensor(TensorId id, uint32_t offset, uint16_t base) {
  const ir::Tensor& t = in_.graph.tensor(id);
  uint16_t strides = kDense;
  if (t.view && !t.view->strides.empty()) {
    strides = Pooled(strides_, std::vector<int32_t>(t.view->strides.begin(), t.view->strides.end()));
  }
  index_[id] = static_cast<uint16_t>(tensors_.size());
  order_.push_back(id);
  tensors_.emplace_back(offset, base, Pooled(dims_, t.dims), strides, static_cast<schema::DataType>(t.type),
                        static_cast<uint8_t>(t.dims.size()));
}

void Writer::AddArenas() {
  for (const memory::Arena& arena : activations_) {
    arenas_.emplace_back(static_cast<uint32_t>(arena.bytes), static_cast<uint32_t>(arena.lower_bound_bytes),
                         memory::kArenaAlignment, schema::ArenaKind::activation, static_cast<uint8_t>(arenas_.size()));
  }
  const auto state_bytes = static_cast<uint32_t>(in_.liveness.state_bytes);
  if (in_.graph.states.empty()) return;
  arenas_.emplace_back(state_bytes, state_bytes, memory::kArenaAlignment, schema::ArenaKind::state, 0);
}

void Writer::AddArenaTensors() {
  std::map<TensorId, uint16_t> roots;
  for (const auto& entry : in_.liveness.tensors) {
    const auto self = static_cast<uint16_t>(tensors_.size());
    const uint16_t root = roots.try_emplace(entry.root, self).first->second;
    size_t arena = activations_.size();  // of states
    int64_t block = 0;
    if (!entry.state) {
      block = in_.placement.offsets[entry.buffer];
      do --arena;
      while (block < activations_[arena].begin);
      block -= activations_[arena].begin;
    }
    AddTensor(entry.tensor, static_cast<uint32_t>(block + entry.offset), static_cast<uint16_t>(arena));
    lives_.emplace_back(static_cast<uint16_t>(entry.first), static_cast<uint16_t>(entry.last), root);
  }
}

void Writer::AddConstant(TensorId id, std::vector<uint8_t>& block) {
  const ir::Tensor& t = in_.graph.tensor(id);
  const size_t alignment = std::max<size_t>(1, BitWidth(t.type) / 8);
  block.resize((block.size() + alignment - 1) / alignment * alignment);
  AddTensor(id, static_cast<uint32_t>(block.size()), static_cast<uint16_t>(arenas_.size() + constants_.size()));
  block.insert(block.end(), t.data->begin(), t.data->end());
}

void Writer::AddConstants() {
  size_t most = 0;  // Of a big model's bytes, none is moved as the segment grows.
  for (const ir::Tensor& t : in_.graph.tensors)
    if (t.is_constant()) most += t.data->size() + kConstantAlignment;
  segment_.reserve(most);
  for (const StepSpec& spec : in_.steps) {
    std::vector<uint8_t> block;
    for (size_t i = 0; i < spec.inputs.size(); ++i) {
      const TensorId id = spec.inputs[i];
      const ir::Tensor& t = in_.graph.tensor(id);
      if (!t.is_constant()) continue;
      if (!index_.count(id)) AddConstant(id, block);
      if (i == 1 && spec.inputs.size() > 2 && t.type == DataType::kInt8) {
        reaches_minimum_ = reaches_minimum_ || std::find(t.data->begin(), t.data->end(), 0x80) != t.data->end();
      }
    }
    if (block.empty()) continue;
    AddBlock(block);
  }
  std::vector<uint8_t> initial;
  for (const ir::State& state : in_.graph.states)
    if (state.initial != ir::kNoTensor && !index_.count(state.initial)) AddConstant(state.initial, initial);
  if (!initial.empty()) AddBlock(initial);
}

void Writer::AddBlock(const std::vector<uint8_t>& block) {
  const auto crc = Crc32(std::as_bytes(std::span<const uint8_t>(block)));
  constants_.emplace_back(static_cast<uint32_t>(segment_.size()), static_cast<uint32_t>(block.size()), crc,
                          schema::Layout::neutral, uint8_t{0}, uint16_t{0});
  segment_.insert(segment_.end(), block.begin(), block.end());
  segment_.resize((segment_.size() + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment);
}

bool Writer::Overlap(TensorId a, TensorId b) const {
  const schema::Tensor &s = tensors_[index_.at(a)], &t = tensors_[index_.at(b)];
  return s.base() == t.base() && s.offset() < t.offset() + in_.graph.tensor(b).byte_size() &&
         t.offset() < s.offset() + in_.graph.tensor(a).byte_size();
}

/// What it reads is whole after it.
bool Writer::Retryable(const JobSpec& job) const {
  for (size_t w = 0; w < job.bases.size(); ++w) {
    for (size_t r = 0; r < job.bases.size(); ++r)
      if (job.written[w] && !job.written[r] && Overlap(job.bases[w], job.bases[r])) return false;
  }
  return true;
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Job>>> Writer::AddJobs() {
  std::vector<flatbuffers::Offset<schema::Job>> jobs;
  for (const JobSpec& job : in_.device.jobs) {
    const auto stream = static_cast<uint16_t>(constants_.size());
    AddBlock(job.stream);
    std::vector<uint16_t> bases;
    std::vector<schema::JobRange> ranges;
    for (size_t i = 0; i < job.bases.size(); ++i) {
      const auto bytes = static_cast<uint32_t>(in_.graph.tensor(job.bases[i]).byte_size());
      bases.push_back(index_.at(job.bases[i]));
      ranges.emplace_back(0, bytes, static_cast<uint8_t>(i), job.written[i]);
    }
    const auto base_vector = fbb_.CreateVector(bases);
    const auto range_vector = fbb_.CreateVectorOfStructs(ranges);
    jobs.push_back(schema::CreateJob(fbb_, 0, stream, base_vector, range_vector, Retryable(job)));
  }
  return jobs.empty() ? 0 : fbb_.CreateVector(jobs);
}

flatbuffers::Offset<flatbuffers::Vector<const schema::State*>> Writer::AddStates() {
  std::vector<schema::State> states;
  for (const ir::State& state : in_.graph.states) {
    const uint16_t initial = state.initial == ir::kNoTensor ? takt::kNoTensor : index_.at(state.initial);
    states.emplace_back(index_.at(state.tensor), state.in_place ? takt::kNoTensor : index_.at(state.next), initial);
  }
  return states.empty() ? 0 : fbb_.CreateVectorOfStructs(states);
}

/// Steps of the same bytes share one struct.
flatbuffers::Offset<void> Writer::AddParams(const StepSpec& spec) {
  const size_t size = spec.params.size();
  const size_t alignment = spec.op == Op::kPad ? 8 : size % 4 == 0 ? 4 : size % 2 == 0 ? 2 : 1;
  auto& params = structs_[{alignment, spec.params}];
  if (params.IsNull()) {
    fbb_.StartStruct(alignment);
    fbb_.PushBytes(spec.params.data(), size);
    params = fbb_.EndStruct();
  }
  return params;
}

void Writer::AddStep(const StepSpec& spec) {
  tags_.push_back(static_cast<schema::Params>(spec.op));
  params_.push_back(AddParams(spec));
  if (spec.op == Op::kSubmit || spec.op == Op::kWait) {  // the job's bases are its operands
    steps_.emplace_back();
    return;
  }
  const auto first = static_cast<uint16_t>(operands_.size());
  for (TensorId id : spec.inputs) operands_.push_back(index_.at(id));
  for (TensorId id : spec.outputs) operands_.push_back(index_.at(id));
  const bool scratch = spec.scratch != ir::kNoTensor;
  if (scratch) operands_.push_back(index_.at(spec.scratch));
  steps_.emplace_back(first, static_cast<uint8_t>(spec.inputs.size()), static_cast<uint8_t>(spec.outputs.size()),
                      static_cast<schema::Numerics>(spec.numerics), uint8_t{scratch});
}

flatbuffers::Offset<schema::Binding> Writer::AddBinding(TensorId id) {
  const ir::Tensor& t = in_.graph.tensor(id);
  const bool quantized = t.quantization && !t.quantization->scales.empty();
  const auto name = fbb_.CreateString(t.name);
  return schema::CreateBinding(fbb_, name, index_.at(id), false, quantized ? t.quantization->scales[0] : 0.0f,
                               quantized && !t.quantization->zero_points.empty() ? t.quantization->zero_points[0] : 0);
}

flatbuffers::Offset<schema::Debug> Writer::AddDebug() {
  std::vector<flatbuffers::Offset<schema::StepOrigin>> steps;
  for (const StepSpec& spec : in_.steps) {
    const ir::Node& node = in_.graph.nodes[static_cast<size_t>(spec.node)];
    const auto nodes = fbb_.CreateVector(std::vector<uint32_t>(node.sources.begin(), node.sources.end()));
    const auto name = fbb_.CreateString(node.name);
    steps.push_back(schema::CreateStepOrigin(fbb_, nodes, name));
  }
  std::vector<schema::TensorOrigin> tensors;
  for (TensorId id : order_) {
    const ir::Tensor& t = in_.graph.tensor(id);
    const bool quantized = t.quantization && !t.quantization->scales.empty();
    tensors.emplace_back(t.source, quantized ? t.quantization->scales[0] : 0.0f,
                         quantized && !t.quantization->zero_points.empty() ? t.quantization->zero_points[0] : 0);
  }
  const auto step_vector = fbb_.CreateVector(steps);
  return schema::CreateDebug(fbb_, step_vector, fbb_.CreateVectorOfStructs(tensors));
}

flatbuffers::Offset<schema::Target> Writer::AddTarget() {
  std::vector<flatbuffers::Offset<schema::Memory>> memories;
  for (size_t i = 0; i < activations_.size(); ++i) {
    const auto memory_name = fbb_.CreateString(i == 0 ? in_.target.memory : in_.device.second_memory);
    memories.push_back(schema::CreateMemory(fbb_, memory_name));
  }
  const auto memory_vector = fbb_.CreateVector(memories);
  const auto name = fbb_.CreateString(in_.target.name);
  const DevicePart& device = in_.device;
  const auto devices = device.devices.empty() ? 0 : fbb_.CreateVectorOfStrings(device.devices);
  const auto machine = device.machine.empty() ? 0 : fbb_.CreateVector(device.machine);
  return schema::CreateTarget(fbb_, name, memory_vector, devices, machine, device.clock_hz);
}

/// Indices were cut to 16 bits, offsets to 32, as they were made.
bool Writer::FitsFormat(Diagnostics& diagnostics) const {
  constexpr size_t kMaxIndex = 0xFFFF;
  struct Use {
    const char* what;
    size_t count, most;
  };
  const Use uses[] = {{"tensors", tensors_.size(), kMaxIndex - 1},
                      {"steps", in_.steps.size(), kMaxIndex - 1},
                      {"constants and arenas", constants_.size() + arenas_.size(), kMaxIndex},
                      {"values of dims", dims_.size(), kMaxIndex},
                      {"values of strides", strides_.size(), kMaxIndex},
                      {"operands", operands_.size(), kMaxIndex},
                      {"bytes of constants", segment_.size(), UINT32_MAX},
                      {"bytes of activations", static_cast<size_t>(in_.placement.peak_bytes), UINT32_MAX},
                      {"bytes of state", static_cast<size_t>(in_.liveness.state_bytes), UINT32_MAX}};
  bool fits = true;
  for (const Use& use : uses) {
    if (use.count <= use.most) continue;
    diagnostics.Error({in_.graph.name, -1, "", ""}, "needs " + std::to_string(use.count) + " " + use.what +
                                                        "; a plan has at most " + std::to_string(use.most) +
                                                        " (split the model)");
    fits = false;
  }
  return fits;
}

std::vector<uint8_t> Writer::Write(Diagnostics& diagnostics) {
  AddArenas();
  AddArenaTensors();
  AddConstants();
  for (const StepSpec& spec : in_.steps) AddStep(spec);
  if (!FitsFormat(diagnostics)) return {};
  std::vector<flatbuffers::Offset<schema::Binding>> inputs;
  std::vector<flatbuffers::Offset<schema::Binding>> outputs;
  for (TensorId id : in_.graph.inputs) inputs.push_back(AddBinding(id));
  for (TensorId id : in_.graph.outputs) outputs.push_back(AddBinding(id));
  uint8_t digest[32];
  Sha256(std::as_bytes(in_.model), digest);
  const auto producer = fbb_.CreateString("takt");
  const auto source = fbb_.CreateVector(digest, 32);
  const auto target = AddTarget();
  const auto jobs = AddJobs();
  const auto costs = in_.device.costs.empty() ? 0 : fbb_.CreateVector(in_.device.costs);
  const auto states = AddStates();
  const auto arena_vector = fbb_.CreateVectorOfStructs(arenas_);
  const auto constants = fbb_.CreateVectorOfStructs(constants_);
  const auto dims = fbb_.CreateVector(dims_);
  const auto strides = strides_.empty() ? 0 : fbb_.CreateVector(strides_);
  const auto tensors = fbb_.CreateVectorOfStructs(tensors_);
  const auto lives = fbb_.CreateVectorOfStructs(lives_);
  const auto operands = fbb_.CreateVector(operands_);
  const auto steps = fbb_.CreateVectorOfStructs(steps_);
  const auto tags = fbb_.CreateVector(tags_);
  const auto params = fbb_.CreateVector(params_);
  const auto input_vector = fbb_.CreateVector(inputs);
  const auto output_vector = fbb_.CreateVector(outputs);
  const auto debug = in_.debug ? AddDebug() : flatbuffers::Offset<schema::Debug>();
  const schema::Limits limits(in_.work, static_cast<uint32_t>(tensors_.size()), static_cast<uint32_t>(steps_.size()));
  fbb_.Finish(schema::CreatePlan(fbb_, kPlanMajor, kPlanMinor, producer, source, target, arena_vector, constants, dims,
                                 strides, tensors, lives, operands, steps, tags, params, jobs, states, input_vector,
                                 output_vector, costs, &limits, reaches_minimum_, debug),
              schema::PlanIdentifier());
  PlanTrailer trailer{};
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(trailer.magic));
  trailer.metadata_bytes = fbb_.GetSize();
  std::vector<uint8_t> file;
  file.reserve(SegmentOffset(trailer.metadata_bytes) + segment_.size() + sizeof(trailer));
  file.assign(fbb_.GetBufferPointer(), fbb_.GetBufferPointer() + fbb_.GetSize());
  file.resize(SegmentOffset(trailer.metadata_bytes));
  file.insert(file.end(), segment_.begin(), segment_.end());
  trailer.total_bytes = file.size() + sizeof(trailer);
  Sha256(std::as_bytes(std::span<const uint8_t>(file)), trailer.sha256);
  const auto* bytes = reinterpret_cast<const uint8_t*>(&trailer);
  file.insert(file.end(), bytes, bytes + sizeof(trailer));
  return file;
}

}  // namespace

std::vector<uint8_t> WritePlan(const PlanInput& input, Diagnostics& diagnostics) {
  return Writer(input).Write(diagnostics);
}

}  // namespace takt::backend
