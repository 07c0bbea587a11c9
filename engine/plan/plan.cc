#include "engine/plan/plan.h"

#include <cstring>

#include "engine/core/kernel.h"
#include "engine/plan/plan_validator.h"
#include "engine/plan/trailer.h"
#include "schema/plan_generated.h"

namespace takt {
namespace {

constexpr uint16_t kDense = 0xFFFF;

template <typename V>
uint32_t Count(const V* v) {
  return v != nullptr ? v->size() : 0;
}

std::string_view View(const flatbuffers::String* s) {
  return s != nullptr ? std::string_view(s->c_str(), s->size()) : std::string_view();
}

template <typename T>
std::span<const T> View(const flatbuffers::Vector<const T*>* v) {  // Of structs.
  return v != nullptr ? std::span<const T>(reinterpret_cast<const T*>(v->Data()), v->size()) : std::span<const T>();
}

template <typename T>
std::span<const T> View(const flatbuffers::Vector<T>* v) {
  return v != nullptr ? std::span<const T>(reinterpret_cast<const T*>(v->Data()), v->size()) : std::span<const T>();
}

BindingView View(const schema::Binding* b) {
  return {View(b->name()), b->tensor(), b->consumable(), b->scale(), b->zero_point()};
}

using Bindings = flatbuffers::Vector<flatbuffers::Offset<schema::Binding>>;
std::optional<uint32_t> Find(const Bindings* bindings, std::string_view name) {
  for (uint32_t i = 0; i < Count(bindings); ++i) {
    if (View(bindings->Get(i)->name()) == name) return i;
  }
  return std::nullopt;
}

/// The hash of `body`, and the signature where it is wanted.
Status CheckTrailer(std::span<const std::byte> body, const PlanTrailer& trailer, const PlanOptions& options) {
  const bool sign = options.verify.accept != nullptr;
  if (options.sha256 == nullptr) return sign ? Status(StatusCode::kInvalidArgument, Site::kPlanSignature) : Status();
  uint8_t digest[32];
  options.sha256(body, digest);
  if (std::memcmp(digest, trailer.sha256, sizeof(digest)) != 0) return {StatusCode::kHashMismatch, Site::kPlanHash};
  if (!sign) return {};
  uint8_t key = 0;
  for (const uint8_t b : trailer.key_id) key |= b;
  const SignedPlan message{trailer.key_id, kSignatureDomain,
                           std::as_bytes(std::span(&trailer, 1)).first(offsetof(PlanTrailer, sha256)), trailer.sha256,
                           trailer.signature};
  if (key == 0 || !options.verify.accept(options.verify.context, message)) {
    return {StatusCode::kSignatureMismatch, Site::kPlanSignature};
  }
  return {};
}

}  // namespace

Status Plan::Open(std::span<const std::byte> bytes, const PlanOptions& options) {
  *this = Plan();
  const uint64_t total = bytes.size();
  if (total < sizeof(PlanTrailer) + 8 || total > UINT32_MAX) {
    return {StatusCode::kMalformedPlan, Site::kPlanSize, static_cast<uint32_t>(total)};
  }
  if (const auto low = reinterpret_cast<uintptr_t>(bytes.data()) & (kConstantAlignment - 1); low != 0) {
    return {StatusCode::kMisaligned, Site::kPlanAlignment, static_cast<uint32_t>(low)};
  }
  PlanTrailer trailer;
  const uint64_t body = total - sizeof(trailer);
  std::memcpy(&trailer, bytes.data() + body, sizeof(trailer));
  if (std::memcmp(trailer.magic, kTrailerMagic, sizeof(kTrailerMagic)) != 0 || trailer.reserved != 0 ||
      trailer.total_bytes != total || trailer.metadata_bytes > body || SegmentOffset(trailer.metadata_bytes) > body ||
      trailer.metadata_bytes < 8) {
    return {StatusCode::kMalformedPlan, Site::kPlanTrailer};
  }
  TAKT_TRY(CheckTrailer(bytes.first(static_cast<size_t>(body)), trailer, options));
  const uint64_t tables = 64 + 4 * uint64_t{options.limits.steps} + 4 * uint64_t{options.limits.tensors};
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), trailer.metadata_bytes, 8,
                                 static_cast<flatbuffers::uoffset_t>(tables < 1000000 ? tables : 1000000));
  if (!schema::VerifyPlanBuffer(verifier)) return {StatusCode::kMalformedPlan, Site::kPlanMetadata};
  Plan opened;
  opened.root_ = schema::GetPlan(bytes.data());
  opened.bytes_ = bytes;
  opened.metadata_bytes_ = trailer.metadata_bytes;
  const auto segment = static_cast<size_t>(SegmentOffset(trailer.metadata_bytes));
  opened.segment_ = bytes.subspan(segment, static_cast<size_t>(body) - segment);
  opened.accepted_ = options.limits;
  opened.LookUp();
  TAKT_TRY(PlanValidator::Run(opened, options));
  *this = opened;
  return {};
}

void Plan::LookUp() {
  tensors_ = View(root_->tensors()).data();
  lives_ = View(root_->lives()).data();
  dims_ = View(root_->dims()).data();
  strides_ = View(root_->strides()).data();
  operands_ = View(root_->operands()).data();
  steps_ = View(root_->steps()).data();
  step_count_ = Count(root_->steps());
  tensor_count_ = Count(root_->tensors());
  arena_tensor_count_ = Count(root_->lives());
  arena_count_ = Count(root_->arenas());
}

uint16_t Plan::major() const {
  return root_->major();
}
uint16_t Plan::minor() const {
  return root_->minor();
}
uint32_t Plan::step_count() const {
  return step_count_;
}
uint32_t Plan::tensor_count() const {
  return tensor_count_;
}
uint32_t Plan::arena_tensor_count() const {
  return arena_tensor_count_;
}
uint32_t Plan::arena_count() const {
  return arena_count_;
}
uint32_t Plan::constant_count() const {
  return Count(root_->constants());
}
uint32_t Plan::input_count() const {
  return Count(root_->inputs());
}
uint32_t Plan::output_count() const {
  return Count(root_->outputs());
}
uint32_t Plan::state_count() const {
  return Count(root_->states());
}
uint32_t Plan::job_count() const {
  return Count(root_->jobs());
}

uint32_t Plan::commit_step() const {
  uint32_t at = step_count();
  for (bool commits = true; commits; at -= commits) {
    commits = false;
    if (at == 0) break;
    const StepView s = step(at - 1);
    for (uint32_t i = 0; s.op == Op::kCopy && i < state_count(); ++i) {
      commits = commits || (s.outputs[0] == state(i).tensor && s.inputs[0] == state(i).shadow);
    }
  }
  return at;
}

static_assert(sizeof(schema::SubmitParams) == sizeof(schema::WaitParams));
uint16_t StepView::device() const {
  return static_cast<const schema::SubmitParams*>(params)->device();
}
uint16_t StepView::job() const {
  return static_cast<const schema::SubmitParams*>(params)->job();
}

StepView Plan::step(uint32_t i) const {
  const schema::Step* s = steps_ + i;
  const uint16_t* first = operands_ + s->first_operand();
  return {static_cast<Op>(root_->params_type()->Get(i)),
          static_cast<Numerics>(s->numerics()),
          root_->params()->Get(i),
          {first, s->inputs()},
          {first + s->inputs(), s->outputs()},
          s->scratch() != 0 ? first[s->inputs() + s->outputs()] : kNoTensor};
}

TensorView Plan::tensor(uint32_t i) const {
  const schema::Tensor* t = tensors_ + i;
  const bool constant = t->base() >= arena_count_;
  return {dims_ + t->dims(),
          t->strides() == kDense ? nullptr : strides_ + t->strides(),
          t->offset(),
          static_cast<uint16_t>(constant ? t->base() - arena_count_ : t->base()),
          static_cast<DataType>(t->type()),
          t->rank(),
          constant};
}

uint32_t TensorView::bytes() const {
  uint64_t n = 1;
  for (int k = 0; k < rank; ++k) n *= static_cast<uint32_t>(dims[k]);
  return static_cast<uint32_t>((n * BitWidth(type) + 7) / 8);
}

uint32_t TensorView::extent() const {
  if (strides == nullptr) return bytes();
  uint32_t extent = BitWidth(type) / 8;
  for (int k = 0; k < rank; ++k) {
    if (dims[k] == 0) return 0;
    extent += static_cast<uint32_t>(dims[k] - 1) * static_cast<uint32_t>(strides[k]);
  }
  return extent;
}

ArenaView Plan::arena(uint32_t i) const {
  const schema::Arena* a = root_->arenas()->Get(i);
  return {a->bytes(), a->lower_bound(), a->alignment(), static_cast<ArenaKind>(a->kind()), a->memory()};
}

ConstantView Plan::constant(uint32_t i) const {
  const schema::Constant* c = root_->constants()->Get(i);
  return {segment_.subspan(c->offset(), c->bytes()), c->crc32(), static_cast<Layout>(c->layout()), c->memory()};
}

LiveView Plan::live(uint32_t i) const {
  const schema::Live* l = lives_ + i;
  return {l->first(), l->last(), l->root()};
}

BindingView Plan::input(uint32_t i) const {
  return View(root_->inputs()->Get(i));
}
BindingView Plan::output(uint32_t i) const {
  return View(root_->outputs()->Get(i));
}

StateView Plan::state(uint32_t i) const {
  const schema::State* s = root_->states()->Get(i);
  return {s->tensor(), s->shadow(), s->initial()};
}

JobView Plan::job(uint32_t i) const {
  const schema::Job* j = root_->jobs()->Get(i);
  return {j->device(), j->stream(), View(j->bases()), Count(j->ranges()), j->retryable()};
}

JobRangeView Plan::job_range(uint32_t job, uint32_t i) const {
  const schema::JobRange* r = root_->jobs()->Get(job)->ranges()->Get(i);
  return {r->offset(), r->bytes(), r->base(), r->write()};
}

std::optional<uint32_t> Plan::FindInput(std::string_view name) const {
  return Find(root_->inputs(), name);
}
std::optional<uint32_t> Plan::FindOutput(std::string_view name) const {
  return Find(root_->outputs(), name);
}
std::span<const uint64_t> Plan::costs() const {
  return View(root_->costs());
}

Limits Plan::limits() const {
  const schema::Limits* l = root_->limits();
  return l != nullptr ? Limits{l->work(), l->tensors(), l->steps()} : Limits{0, 0, 0};
}

bool Plan::weights_reach_minimum() const {
  return root_->weights_reach_minimum();
}
std::string_view Plan::producer() const {
  return View(root_->producer());
}
std::span<const uint8_t> Plan::source_sha256() const {
  return View(root_->source_sha256());
}

std::string_view Plan::target_name() const {
  return root_->target() ? View(root_->target()->name()) : std::string_view();
}
uint64_t Plan::clock_hz() const {
  return root_->target() ? root_->target()->clock_hz() : 0;
}
std::span<const uint8_t> Plan::machine() const {
  return root_->target() ? View(root_->target()->machine()) : std::span<const uint8_t>();
}
uint32_t Plan::memory_count() const {
  return root_->target() ? Count(root_->target()->memories()) : 0;
}
MemoryView Plan::memory(uint32_t i) const {
  const schema::Memory* m = root_->target()->memories()->Get(i);
  return {View(m->name()), m->bytes()};
}
uint32_t Plan::device_count() const {
  return root_->target() ? Count(root_->target()->devices()) : 0;
}
std::string_view Plan::device_name(uint32_t i) const {
  return View(root_->target()->devices()->Get(i));
}

bool Plan::has_debug() const {
  return root_->debug() != nullptr;
}
StepOriginView Plan::step_origin(uint32_t step) const {
  if (!has_debug() || step >= Count(root_->debug()->steps())) return {};
  const schema::StepOrigin* o = root_->debug()->steps()->Get(step);
  return {View(o->nodes()), View(o->name())};
}
TensorOriginView Plan::tensor_origin(uint32_t tensor) const {
  if (!has_debug() || tensor >= Count(root_->debug()->tensors())) return {-1, 0, 0};
  const schema::TensorOrigin* o = root_->debug()->tensors()->Get(tensor);
  return {o->source(), o->scale(), o->zero_point()};
}

}  // namespace takt
