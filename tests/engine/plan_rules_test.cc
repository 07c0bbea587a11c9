// Each rule of a plan, broken once: what Open says, and that no site is without a row.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string_view>
#include <utility>

#include "engine/plan/plan.h"
#include "engine/plan/trailer.h"
#include "tests/support/plan_builder.h"

namespace takt {
namespace {

using test::PlanSpec;
using enum StatusCode;
constexpr uint16_t kNoStep = Status::kNoStep;

struct Case {
  PlanSpec spec = test::OneOfEverything();
  PlanOptions options;
  std::function<void(std::vector<uint8_t>&)> edit;  ///< Of the packed file.
  size_t shift = 0;                                 ///< Of the file's address.
};

struct Row {
  const char* rule;
  Status expected;
  void (*breaks)(Case&);
};

schema::Tensor View(uint32_t offset, uint16_t base, uint16_t strides = 0xFFFF) {
  return schema::Tensor(offset, base, 0, strides, schema::DataType::int8, 1);
}
Status Broken(Site site, uint32_t detail = 0, uint16_t step = kNoStep) {
  return {kMalformedPlan, site, detail, step};
}
size_t Trailer(const std::vector<uint8_t>& file) {
  return file.size() - sizeof(PlanTrailer);
}

// Tensors of OneOfEverything.
enum : uint16_t { x, c, s, a, b, d, e, f, y, h, stream };

const Row kRows[] = {
    {"at least a trailer", Broken(Site::kPlanSize, 40), [](Case& k) { k.edit = [](auto& v) { v.resize(40); }; }},
    {"16-aligned bytes", {kMisaligned, Site::kPlanAlignment, 8}, [](Case& k) { k.shift = 8; }},
    {"magic", Broken(Site::kPlanTrailer), [](Case& k) { k.edit = [](auto& v) { v[Trailer(v)] ^= 1; }; }},
    {"whole file", Broken(Site::kPlanTrailer),
     [](Case& k) { k.edit = [](auto& v) { v.erase(v.begin() + 64, v.begin() + 128); }; }},
    {"hash", {kHashMismatch, Site::kPlanHash}, [](Case& k) { k.edit = [](auto& v) { v[100] ^= 1; }; }},
    {"a signature where one is wanted",
     {kSignatureMismatch, Site::kPlanSignature},
     [](Case& k) { k.options.verify.accept = [](void*, const SignedPlan&) { return true; }; }},
    {"well-formed metadata", Broken(Site::kPlanMetadata),
     [](Case& k) { k.edit = [](auto& v) { v[0] = 0xFF, test::Rehash(v); }; }},
    {"file identifier", Broken(Site::kPlanMetadata),
     [](Case& k) { k.edit = [](auto& v) { v[4] = 'X', test::Rehash(v); }; }},
    {"major version", {kUnsupportedVersion, Site::kPlanVersion, 9}, [](Case& k) { k.spec.major = 9; }},
    {"devices", Broken(Site::kPlanVectors, 4), [](Case& k) { k.spec.devices = kMaxDevices + 1; }},
    {"arenas", Broken(Site::kPlanVectors, 5), [](Case& k) { k.spec.arenas.resize(kMaxArenas + 1, k.spec.arenas[0]); }},
    {"tensors", Broken(Site::kPlanVectors, 9), [](Case& k) { k.spec.tensors.clear(); }},
    {"lives", Broken(Site::kPlanVectors, 10), [](Case& k) { k.spec.lives.resize(12); }},
    {"steps", Broken(Site::kPlanVectors, 12), [](Case& k) { k.spec.steps.clear(); }},
    {"params", Broken(Site::kPlanVectors, 14), [](Case& k) { k.spec.missing_params = 1; }},
    {"states", Broken(Site::kPlanVectors, 16), [](Case& k) { k.spec.states.resize(257); }},
    {"costs", Broken(Site::kPlanVectors, 19), [](Case& k) { k.spec.costs.resize(3); }},
    {"limit of tensors", {kLimitExceeded, Site::kPlanLimits, 11}, [](Case& k) { k.options.limits.tensors = 10; }},
    {"limit of steps", {kLimitExceeded, Site::kPlanLimits, 10}, [](Case& k) { k.options.limits.steps = 9; }},
    {"limit of work", {kLimitExceeded, Site::kPlanLimits, UINT32_MAX}, [](Case& k) { k.options.limits.work = 999; }},
    {"arena alignment is a power of two", Broken(Site::kPlanArena),
     [](Case& k) { k.spec.arenas[0] = schema::Arena(160, 0, 24, schema::ArenaKind::activation, 0); }},
    {"arena kind", Broken(Site::kPlanArena),
     [](Case& k) { k.spec.arenas[0] = schema::Arena(160, 0, 16, static_cast<schema::ArenaKind>(4), 0); }},
    {"constants lie in the segment", Broken(Site::kPlanConstant), [](Case& k) { k.spec.segment.resize(15); }},
    {"constants are aligned", Broken(Site::kPlanConstant),
     [](Case& k) { k.spec.constants[0] = schema::Constant(8, 8, 0, schema::Layout::neutral, 0, 0); }},
    {"CRC of constants",
     {kHashMismatch, Site::kPlanConstantCrc, 0},
     [](Case& k) { k.options.check_constants_crc = true, k.spec.segment[3] ^= 1; }},
    {"element type", Broken(Site::kPlanTensorShape, a),
     [](Case& k) { k.spec.tensors[a] = schema::Tensor(48, 0, 0, 0xFFFF, schema::DataType::none, 1); }},
    {"rank", Broken(Site::kPlanTensorShape, a),
     [](Case& k) { k.spec.tensors[a] = schema::Tensor(48, 0, 0, 0xFFFF, schema::DataType::int8, 7); }},
    {"dims exist", Broken(Site::kPlanTensorShape, a),
     [](Case& k) { k.spec.tensors[a] = schema::Tensor(48, 0, 2, 0xFFFF, schema::DataType::int8, 1); }},
    {"dims are not negative", Broken(Site::kPlanTensorShape, x), [](Case& k) { k.spec.dims[0] = -1; }},
    {"bytes do not overflow", Broken(Site::kPlanTensorShape, a),
     [](Case& k) {
       k.spec.dims = {16, 1, 65536, 65536};
       k.spec.tensors[a] = schema::Tensor(48, 0, 2, 0xFFFF, schema::DataType::int8, 2);
     }},
    {"strides exist", Broken(Site::kPlanTensorShape, a), [](Case& k) { k.spec.tensors[a] = View(48, 0, 0); }},
    {"strides are not negative", Broken(Site::kPlanTensorShape, a),
     [](Case& k) { k.spec.strides = {-1}, k.spec.tensors[a] = View(48, 0, 0); }},
    {"tensors lie in their arena", Broken(Site::kPlanTensorBounds, h),
     [](Case& k) { k.spec.tensors[h] = View(145, 0); }},
    {"tensors lie in their constant", Broken(Site::kPlanTensorBounds, stream),
     [](Case& k) { k.spec.tensors[stream] = View(1, 1); }},
    {"bases exist", Broken(Site::kPlanTensorBounds, a), [](Case& k) { k.spec.tensors[a] = View(0, 2); }},
    {"offsets suit the type", Broken(Site::kPlanTensorBounds, y),
     [](Case& k) { k.spec.tensors[y] = schema::Tensor(130, 0, 1, 0xFFFF, schema::DataType::float32, 1); }},
    {"tensors come by first use", Broken(Site::kPlanTensorOrder, c),
     [](Case& k) { k.spec.lives[x] = schema::Live(1, 2, x); }},
    {"lives end in the plan", Broken(Site::kPlanTensorOrder, h),
     [](Case& k) { k.spec.lives[h] = schema::Live(8, 10, h); }},
    {"a root comes before its views", Broken(Site::kPlanTensorOrder, a),
     [](Case& k) { k.spec.lives[a] = schema::Live(0, 3, b); }},
    {"jobs have a device", Broken(Site::kPlanJob, 0), [](Case& k) { k.spec.jobs[0].device = 1; }},
    {"jobs have a stream", Broken(Site::kPlanJob, 0), [](Case& k) { k.spec.jobs[0].stream = 1; }},
    {"job bases are tensors", Broken(Site::kPlanJob, 0), [](Case& k) { k.spec.jobs[0].bases[0] = 11; }},
    {"job ranges lie in their base", Broken(Site::kPlanJob, 0),
     [](Case& k) { k.spec.jobs[0].ranges[0] = schema::JobRange(1, 16, 0, false); }},
    {"jobs do not write constants", Broken(Site::kPlanJob, 0), [](Case& k) { k.spec.jobs[0].bases[1] = stream; }},
    {"steps name jobs", Broken(Site::kPlanJob, 1, 3),
     [](Case& k) { k.spec.steps[3] = test::Step(schema::Params::Wait, schema::WaitParams(0, 1), 0, 0, 0); }},
    {"known ops", Broken(Site::kPlanStepTag, 200, 0),
     [](Case& k) { k.spec.steps[0].tag = static_cast<schema::Params>(200); }},
    {"known numerics", Broken(Site::kPlanStepTag, static_cast<uint32_t>(Op::kCopy), 0),
     [](Case& k) { k.spec.steps[0].numerics = static_cast<schema::Numerics>(3); }},
    {"arity of ops", Broken(Site::kPlanStepArity, 3, 0), [](Case& k) { k.spec.steps[0].inputs = 2; }},
    {"operands exist", Broken(Site::kPlanStepArity, 2, 9), [](Case& k) { k.spec.steps[9].first_operand = 14; }},
    {"operands are tensors", Broken(Site::kPlanStepOperand, 1, 0), [](Case& k) { k.spec.operands[1] = 11; }},
    {"constants are not written", Broken(Site::kPlanStepOperand, 1, 0), [](Case& k) { k.spec.operands[1] = stream; }},
    {"strided operands", Broken(Site::kPlanStepStride, 0, 0),
     [](Case& k) {
       k.spec.strides = {1}, k.spec.tensors[x] = View(0, 0, 0);
       k.spec.steps[0] = test::Step(schema::Params::Clamp, schema::ClampParams(schema::Clamp(-1, 1)), 0);
     }},
    {"operands are live", Broken(Site::kPlanStepLive, x, 7), [](Case& k) { k.spec.operands[9] = x; }},
    {"job bases are live", Broken(Site::kPlanStepLive, a, 3), [](Case& k) { k.spec.lives[a] = schema::Live(0, 2, a); }},
    {"copies are not in place", Broken(Site::kPlanStepInPlace, 1, 0), [](Case& k) { k.spec.operands[1] = x; }},
    {"bodies end in the plan", Broken(Site::kPlanControl, 0, 4),
     [](Case& k) { k.spec.steps[4] = test::Step(schema::Params::Loop, schema::LoopParams(6, 3), 4, 1, 0); }},
    {"conditions are booleans", Broken(Site::kPlanControl, 0, 4), [](Case& k) { k.spec.operands[4] = d; }},
    {"a loop's values live in its body or over all of it", Broken(Site::kPlanLoop, d, 5),
     [](Case& k) { k.spec.lives[d] = schema::Live(2, 5, d); }},
    {"a loop's condition lives over all of it", Broken(Site::kPlanLoop, c, 4),
     [](Case& k) { k.spec.lives[c] = schema::Live(0, 5, c); }},
    {"what a loop carries lives over all of it", Broken(Site::kPlanLoop, f, 5),
     [](Case& k) { std::swap(k.spec.steps[5].first_operand, k.spec.steps[6].first_operand); }},
    {"jobs are waited for", Broken(Site::kPlanFlight, 0, 4),
     [](Case& k) { k.spec.steps[3] = {.first_operand = 2}, k.spec.lives[x] = schema::Live(0, 3, x); }},
    {"jobs are submitted", Broken(Site::kPlanFlight, 0, 3), [](Case& k) { k.spec.steps[1] = {.first_operand = 0}; }},
    {"what a job reads is not written", Broken(Site::kPlanFlight, 0, 2), [](Case& k) { k.spec.operands[3] = a; }},
    {"what a job writes is not written", Broken(Site::kPlanFlight, 0, 2), [](Case& k) { k.spec.operands[3] = b; }},
    {"what a job writes is not read", Broken(Site::kPlanFlight, 0, 2), [](Case& k) { k.spec.operands[2] = b; }},
    {"live tensors do not overlap", Broken(Site::kPlanOverlap, h),
     [](Case& k) { k.spec.tensors[h] = View(16 * y, 0); }},
    {"live tensors are counted", Broken(Site::kPlanTooManyLive, 256),
     [](Case& k) {
       k.spec = test::CopyChain(1);
       k.spec.tensors.resize(257, View(0, 0));
       k.spec.lives.assign(257, schema::Live(0, 0, 0));
       k.spec.tensors[1] = View(16, 0);
     }},
    {"inputs are live at the start", Broken(Site::kPlanBinding, 0), [](Case& k) { k.spec.inputs[0].tensor = b; }},
    {"outputs are live at the end", Broken(Site::kPlanBinding, 0), [](Case& k) { k.spec.outputs[0].tensor = e; }},
    {"states are tensors", Broken(Site::kPlanState, 0),
     [](Case& k) { k.spec.states[0] = schema::State(stream, 0xFFFF, 0xFFFF); }},
    {"states live for ever", Broken(Site::kPlanState, 0),
     [](Case& k) { k.spec.states[0] = schema::State(a, 0xFFFF, 0xFFFF); }},
    {"shadows are of equal bytes", Broken(Site::kPlanState, 0),
     [](Case& k) { k.spec.states[0] = schema::State(s, c, 0xFFFF); }},
    {"shadows are committed", Broken(Site::kPlanState, 0),
     [](Case& k) { k.spec.states[0] = schema::State(s, e, 0xFFFF); }},
    {"initial values are constants", Broken(Site::kPlanState, 0),
     [](Case& k) { k.spec.states[0] = schema::State(s, h, x); }},
    {"initial values are of equal bytes", Broken(Site::kPlanState, 0),
     [](Case& k) {
       k.spec.states[0] = schema::State(s, h, stream);
       k.spec.tensors[stream] = schema::Tensor(0, 1, 1, 0xFFFF, schema::DataType::int8, 1);
     }},
    {"only the commit writes a shadowed state", Broken(Site::kPlanState, 0),
     [](Case& k) { k.spec.operands[3] = s, k.spec.operands[5] = s; }},
    {"a name for each step", Broken(Site::kPlanTarget, 0), [](Case& k) { k.spec.named_steps = 9; }},
    {"an origin for each tensor", Broken(Site::kPlanTarget, 1), [](Case& k) { k.spec.named_tensors = 10; }},
};

Status OpenCase(const Case& k) {
  const test::PlanBytes file = k.spec.Pack();
  std::vector<uint8_t> bytes(file.view().begin(), file.view().end());
  if (k.edit) k.edit(bytes);
  std::vector<uint8_t> shifted(k.shift, 0);
  shifted.insert(shifted.end(), bytes.begin(), bytes.end());
  test::PlanBytes placed(shifted);
  return Plan().Open(placed.view().subspan(k.shift), k.options);
}

TEST(PlanRules, OneOfEverythingOpens) {
  EXPECT_EQ(OpenCase({}), Status());
}

TEST(PlanRules, EachBreachIsNamed) {
  for (const Row& row : kRows) {
    Case k;
    row.breaks(k);
    const Status status = OpenCase(k);
    EXPECT_EQ(status, row.expected) << row.rule << ": " << StatusCodeName(status.code()) << ", "
                                    << SiteText(status.site()) << ", step " << status.step() << ", detail "
                                    << status.detail();
  }
}

/// A new site fails here until it has a row.
TEST(PlanRules, EverySiteHasARow) {
  std::set<Site> seen;
  for (const Row& row : kRows) seen.insert(row.expected.site());
  constexpr std::pair<Site, std::string_view> kSites[] = {
#define TAKT_SITE(name, text) {Site::name, #name},
#include "engine/base/sites.inc"
#undef TAKT_SITE
  };
  for (const auto& [site, name] : kSites) EXPECT_EQ(seen.contains(site), name.starts_with("kPlan")) << name;
}

TEST(PlanRules, ASignedPlanOpensIfItsKeyIsTrusted) {
  Case k;
  k.edit = [](auto& v) {
    v[Trailer(v) + offsetof(PlanTrailer, key_id)] = 7;
    v[Trailer(v) + offsetof(PlanTrailer, signature)] = 1;
  };
  k.options.verify.accept = [](void* trusted, const SignedPlan& plan) {
    return plan.key_id[0] == *static_cast<uint8_t*>(trusted) && plan.signature[0] == 1 && plan.header.size() == 24 &&
           plan.domain == "takt plan v1";
  };
  uint8_t trusted = 7;
  k.options.verify.context = &trusted;
  EXPECT_EQ(OpenCase(k), Status());
  trusted = 8;
  EXPECT_EQ(OpenCase(k), Status(kSignatureMismatch, Site::kPlanSignature));
  k.options.sha256 = nullptr;
  EXPECT_EQ(OpenCase(k), Status(kInvalidArgument, Site::kPlanSignature));
}

TEST(PlanRules, AnInPlaceOpNeedsASharedRoot) {
  PlanSpec spec = test::CopyChain(1);
  spec.steps[0] = test::Step(schema::Params::Clamp, schema::ClampParams(schema::Clamp(-1, 1)), 0);
  spec.tensors[1] = View(0, 0);
  EXPECT_EQ(Plan().Open(spec.Pack().view()), Broken(Site::kPlanOverlap, 1));
  spec.lives[1] = schema::Live(0, 0, 0);
  EXPECT_EQ(Plan().Open(spec.Pack().view()), Status());
}

}  // namespace
}  // namespace takt
