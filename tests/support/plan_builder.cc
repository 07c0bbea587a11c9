#include "tests/support/plan_builder.h"

#include <cstring>

#include "engine/base/sha256.h"
#include "engine/plan/trailer.h"

namespace takt::test {

PlanBytes::PlanBytes(const std::vector<uint8_t>& bytes) : store_(bytes.size() + 64), size_(bytes.size()) {
  std::memcpy(this->bytes().data(), bytes.data(), size_);
}

std::span<uint8_t> PlanBytes::bytes() {
  const size_t skip = (64 - reinterpret_cast<uintptr_t>(store_.data()) % 64) % 64;
  return {store_.data() + skip, size_};
}

namespace {

using Fbb = flatbuffers::FlatBufferBuilder;

flatbuffers::Offset<void> Params(Fbb& fbb, const StepSpec& s) {
  switch (s.tag) {
    case schema::Params::SkipIf: return fbb.CreateStruct(schema::SkipIfParams(s.count)).Union();
    case schema::Params::Loop: return fbb.CreateStruct(schema::LoopParams(s.count, s.max_trips)).Union();
    case schema::Params::Clamp: return fbb.CreateStruct(schema::ClampParams(schema::Clamp(-1, 1))).Union();
    default: return fbb.CreateStruct(schema::CopyParams(0)).Union();
  }
}

flatbuffers::Offset<flatbuffers::Vector<flatbuffers::Offset<schema::Binding>>> Bindings(Fbb& fbb,
                                                                                     const std::vector<BindingSpec>& specs) {
  std::vector<flatbuffers::Offset<schema::Binding>> out;
  for (const BindingSpec& b : specs) out.push_back(schema::CreateBinding(fbb, fbb.CreateString(b.name), b.tensor));
  return fbb.CreateVector(out);
}

std::vector<uint8_t> Metadata(const PlanSpec& spec) {
  Fbb fbb;
  std::vector<flatbuffers::Offset<schema::Step>> steps;
  for (const StepSpec& s : spec.steps) {
    const auto params = Params(fbb, s);
    steps.push_back(schema::CreateStep(fbb, s.tag, params, s.first_operand, s.inputs, s.outputs, schema::Numerics::any, s.scratch));
  }
  const auto arenas = fbb.CreateVectorOfStructs(spec.arenas);
  const auto constants = fbb.CreateVectorOfStructs(spec.constants);
  const auto dims = fbb.CreateVector(spec.dims);
  const auto strides = fbb.CreateVector(spec.strides);
  const auto tensors = fbb.CreateVectorOfStructs(spec.tensors);
  const auto lives = fbb.CreateVectorOfStructs(spec.lives);
  const auto operands = fbb.CreateVector(spec.operands);
  const auto step_vector = fbb.CreateVector(steps);
  const auto states = fbb.CreateVectorOfStructs(spec.states);
  const auto inputs = Bindings(fbb, spec.inputs);
  const auto outputs = Bindings(fbb, spec.outputs);
  schema::PlanBuilder plan(fbb);
  plan.add_major(spec.major);
  plan.add_arenas(arenas);
  plan.add_constants(constants);
  plan.add_dims(dims);
  plan.add_strides(strides);
  plan.add_tensors(tensors);
  plan.add_lives(lives);
  plan.add_operands(operands);
  plan.add_steps(step_vector);
  plan.add_states(states);
  plan.add_inputs(inputs);
  plan.add_outputs(outputs);
  schema::FinishPlanBuffer(fbb, plan.Finish());
  return {fbb.GetBufferPointer(), fbb.GetBufferPointer() + fbb.GetSize()};
}

}  // namespace

PlanBytes PlanSpec::Pack() const {
  std::vector<uint8_t> file = Metadata(*this);
  PlanTrailer trailer = {};
  std::memcpy(trailer.magic, kTrailerMagic, sizeof(trailer.magic));
  trailer.metadata_bytes = static_cast<uint32_t>(file.size());
  file.resize(SegmentOffset(trailer.metadata_bytes));
  file.insert(file.end(), segment.begin(), segment.end());
  trailer.total_bytes = file.size() + sizeof(trailer);
  Sha256(std::as_bytes(std::span(file)), trailer.sha256);
  const auto* raw = reinterpret_cast<const uint8_t*>(&trailer);
  file.insert(file.end(), raw, raw + sizeof(trailer));
  return PlanBytes(file);
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

}  // namespace takt::test
