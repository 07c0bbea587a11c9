#include "tests/support/plan_builder.h"

#include "engine/base/crc32.h"
#include "engine/base/sha256.h"
#include "engine/plan/trailer.h"

namespace takt::test {

PlanBytes::PlanBytes(std::span<const uint8_t> bytes) : store_(bytes.size() + 64), size_(bytes.size()) {
  if (size_ != 0) std::memcpy(this->bytes().data(), bytes.data(), size_);
}

std::span<uint8_t> PlanBytes::bytes() {
  const size_t skip = (64 - reinterpret_cast<uintptr_t>(store_.data()) % 64) % 64;
  return {store_.data() + skip, size_};
}

namespace {

using Fbb = flatbuffers::FlatBufferBuilder;

flatbuffers::Offset<void> MakeParams(Fbb& fbb, const StepSpec& s) {
  fbb.StartStruct(s.alignment);
  fbb.PushBytes(s.params.data(), s.params.size());
  return fbb.EndStruct();
}

flatbuffers::Offset<schema::Binding> MakeBinding(Fbb& fbb, const BindingSpec& b) {
  return schema::CreateBinding(fbb, fbb.CreateString(b.name), b.tensor, b.consumable);
}

flatbuffers::Offset<schema::Job> MakeJob(Fbb& fbb, const JobSpec& j) {
  const auto bases = fbb.CreateVector(j.bases);
  return schema::CreateJob(fbb, j.device, j.stream, bases, fbb.CreateVectorOfStructs(j.ranges));
}

template <typename Spec, typename Make>
auto Tables(Fbb& fbb, const std::vector<Spec>& specs, const Make& make) {
  std::vector<decltype(make(fbb, specs[0]))> out;
  out.reserve(specs.size());
  for (const Spec& s : specs) out.push_back(make(fbb, s));
  return fbb.CreateVector(out);
}

flatbuffers::Offset<schema::Target> MakeTarget(Fbb& fbb, int devices) {
  std::vector<flatbuffers::Offset<flatbuffers::String>> names(static_cast<size_t>(devices), fbb.CreateString("npu"));
  return schema::CreateTarget(fbb, 0, 0, fbb.CreateVector(names));
}

flatbuffers::Offset<schema::Debug> MakeDebug(Fbb& fbb, int steps, int tensors) {
  std::vector<flatbuffers::Offset<schema::StepOrigin>> origins(
      static_cast<size_t>(steps), schema::CreateStepOrigin(fbb, 0, fbb.CreateString("step")));
  const std::vector<schema::TensorOrigin> sources(static_cast<size_t>(tensors));
  const auto step_vector = steps != 0 ? fbb.CreateVector(origins) : 0;
  const auto tensor_vector = tensors != 0 ? fbb.CreateVectorOfStructs(sources) : 0;
  return schema::CreateDebug(fbb, step_vector, tensor_vector);
}

std::vector<uint8_t> Metadata(const PlanSpec& spec) {
  Fbb fbb;
  const std::vector<StepSpec> complete(spec.steps.begin(),
                                       spec.steps.end() - static_cast<ptrdiff_t>(spec.missing_params));
  const auto params = Tables(fbb, complete, MakeParams);
  std::vector<schema::Params> tag_values;
  tag_values.reserve(complete.size());
  for (const StepSpec& s : complete) tag_values.push_back(s.tag);
  std::vector<schema::Step> step_values;
  for (const StepSpec& s : spec.steps)
    step_values.emplace_back(s.first_operand, s.inputs, s.outputs, s.numerics, s.scratch);
  const auto tags = fbb.CreateVector(tag_values);
  const auto steps = fbb.CreateVectorOfStructs(step_values);
  const auto jobs = Tables(fbb, spec.jobs, MakeJob);
  const auto inputs = Tables(fbb, spec.inputs, MakeBinding);
  const auto outputs = Tables(fbb, spec.outputs, MakeBinding);
  const auto target = MakeTarget(fbb, spec.devices);
  const auto debug = MakeDebug(fbb, spec.named_steps, spec.named_tensors);
  const auto arenas = fbb.CreateVectorOfStructs(spec.arenas);
  const auto constants = fbb.CreateVectorOfStructs(spec.constants);
  const auto dims = fbb.CreateVector(spec.dims);
  const auto strides = fbb.CreateVector(spec.strides);
  const auto tensors = fbb.CreateVectorOfStructs(spec.tensors);
  const auto lives = fbb.CreateVectorOfStructs(spec.lives);
  const auto operands = fbb.CreateVector(spec.operands);
  const auto states = fbb.CreateVectorOfStructs(spec.states);
  const auto costs = fbb.CreateVector(spec.costs);
  schema::FinishPlanBuffer(fbb, schema::CreatePlan(fbb, spec.major, 0, 0, 0, target, arenas, constants, dims, strides,
                                                   tensors, lives, operands, steps, tags, params, jobs, states, inputs,
                                                   outputs, costs, &spec.limits, false, debug));
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

}  // namespace

uint16_t PlanSpec::AddConstant(std::span<const uint8_t> bytes) {
  segment.resize((segment.size() + kConstantAlignment - 1) / kConstantAlignment * kConstantAlignment);
  constants.emplace_back(static_cast<uint32_t>(segment.size()), static_cast<uint32_t>(bytes.size()),
                         Crc32(std::as_bytes(bytes)), schema::Layout::neutral, uint8_t{0}, uint16_t{0});
  segment.insert(segment.end(), bytes.begin(), bytes.end());
  return static_cast<uint16_t>(constants.size() - 1);
}

PlanBytes PlanSpec::Pack() const {
  std::vector<uint8_t> file = Metadata(*this);
  PlanTrailer trailer = {};
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(trailer.magic));
  trailer.metadata_bytes = static_cast<uint32_t>(file.size());
  file.resize(SegmentOffset(trailer.metadata_bytes));
  file.insert(file.end(), segment.begin(), segment.end());
  trailer.total_bytes = file.size() + sizeof(trailer);
  const auto* raw = reinterpret_cast<const uint8_t*>(&trailer);
  file.insert(file.end(), raw, raw + sizeof(trailer));
  Rehash(file);
  return PlanBytes(file);
}

void Rehash(std::span<uint8_t> file) {
  const auto body = file.first(file.size() - sizeof(PlanTrailer));
  Sha256(std::as_bytes(body), file.data() + body.size() + offsetof(PlanTrailer, sha256));
}

PlanSpec CopyChain(int steps) {
  PlanSpec spec;
  spec.arenas = {schema::Arena(static_cast<uint32_t>(16 * (steps + 1)), 32, 16, schema::ArenaKind::activation, 0)};
  spec.dims = {16};
  for (int i = 0; i <= steps; ++i) {
    const auto at = static_cast<uint16_t>(i);
    spec.tensors.push_back(schema::Tensor(static_cast<uint32_t>(16 * i), 0, 0, 0xFFFF, schema::DataType::int8, 1));
    spec.lives.push_back(schema::Live(i == 0 ? uint16_t{0} : static_cast<uint16_t>(i - 1),
                                      static_cast<uint16_t>(i == steps ? i - 1 : i), at));
    spec.operands.push_back(at);
    if (i < steps) spec.steps.push_back({.first_operand = at});
  }
  spec.inputs = {{"x", 0}};
  spec.outputs = {{"y", static_cast<uint16_t>(steps)}};
  return spec;
}

PlanSpec OneOfEverything() {
  enum : uint16_t { x, c, s, a, b, d, e, f, y, h, stream };
  PlanSpec spec;
  spec.arenas = {schema::Arena(160, 160, 16, schema::ArenaKind::activation, 0)};
  spec.dims = {16, 1};
  constexpr uint16_t kLives[][2] = {{0, 2}, {0, 6}, {0, 9}, {0, 3}, {1, 7}, {2, 6}, {4, 8}, {5, 6}, {7, 9}, {8, 9}};
  for (uint16_t t = x; t <= h; ++t) {
    spec.tensors.emplace_back(16u * t, uint16_t{0}, uint16_t{t == c}, uint16_t{0xFFFF},
                              t == c ? schema::DataType::boolean : schema::DataType::int8, uint8_t{1});
    spec.lives.emplace_back(kLives[t][0], kLives[t][1], t);
  }
  spec.AddConstant(std::vector<uint8_t>(16, 0x5A));
  spec.tensors.emplace_back(0u, uint16_t{1}, uint16_t{0}, uint16_t{0xFFFF}, schema::DataType::int8, uint8_t{1});
  spec.operands = {x, a, x, d, c, d, f, f, e, b, y, e, h, h, s};
  spec.devices = 1;
  spec.jobs = {{.bases = {a, b}, .ranges = {schema::JobRange(0, 16, 0, false), schema::JobRange(0, 16, 1, true)}}};
  spec.steps = {{.first_operand = 0},
                Step(schema::Params::Submit, schema::SubmitParams(0, 0), 0, 0, 0),
                {.first_operand = 2},
                Step(schema::Params::Wait, schema::WaitParams(0, 0), 0, 0, 0),
                Step(schema::Params::Loop, schema::LoopParams(2, 3), 4, 1, 0),
                {.first_operand = 5},
                {.first_operand = 7},
                {.first_operand = 9},
                {.first_operand = 11},
                {.first_operand = 13}};
  spec.states = {schema::State(s, h, 0xFFFF)};
  spec.inputs = {{"x", x}, {"c", c}};
  spec.outputs = {{"y", y}};
  spec.costs.assign(10, 1);
  spec.limits = schema::Limits(1000, 11, 10);
  spec.named_steps = 10;
  spec.named_tensors = 11;
  return spec;
}

}  // namespace takt::test
