// logic, select
#include "engine/ops/checks.h"
#include "ports/kernel_util/walk.h"
#include "ports/reference/kernels.h"
#include "schema/plan_generated.h"

namespace takt::reference {
namespace {

void RunPair(const KernelCall& call) {
  using enum schema::LogicFunction;
  const schema::LogicFunction function = call.params<schema::LogicParams>().function();
  ForEachPair<uint8_t>(call, [function](uint8_t a, uint8_t b) -> uint8_t {
    const bool x = a != 0, y = b != 0;
    return function == conjunction ? x && y : function == disjunction ? x || y : x != y;
  });
}

void RunNot(const KernelCall& call) {
  const auto* in = call.inputs[0].as<const uint8_t>();
  auto* out = call.outputs[0].as<uint8_t>();
  const uint32_t size = call.outputs[0].size();
  for (uint32_t i = 0; i < size; ++i) out[i] = in[i] == 0;
}

/// E: an unsigned integer of the element's width.
template <typename E>
void RunSelect(const KernelCall& call) {
  const Walk<3> walk = BroadcastWalk<3>(call);
  E* out = call.outputs[0].as<E>();
  ForEachRow(walk, [&](const ptrdiff_t(&at)[3]) {
    const uint8_t* condition = call.inputs[0].as<const uint8_t>() + at[0];
    const E *a = call.inputs[1].as<const E>() + at[1], *b = call.inputs[2].as<const E>() + at[2];
    for (int32_t i = 0; i < walk.row(); ++i, condition += walk.step(0), a += walk.step(1), b += walk.step(2))
      *out++ = *condition != 0 ? *a : *b;
  });
}

using enum DataType;
constexpr Kernel LogicRow(DataType second, void (*run)(const KernelCall&)) {
  return {{Op::kLogic, Numerics::kAny, Layout::kNeutral, {kBool, second, kBool}}, &CheckLogic<Numerics::kAny>, run};
}
template <typename E>
constexpr Kernel SelectRow(DataType type) {
  return {{Op::kSelect, Numerics::kAny, Layout::kNeutral, {kBool, type, type}},
          &CheckSelect<Numerics::kAny>,
          &RunSelect<E>};
}

}  // namespace

constexpr Kernel kLogicBool = LogicRow(kBool, &RunPair);
constexpr Kernel kLogicNotBool = LogicRow(kNone, &RunNot);
constexpr Kernel kSelectFloat32 = SelectRow<uint32_t>(kFloat32);
constexpr Kernel kSelectInt8 = SelectRow<uint8_t>(kInt8);
constexpr Kernel kSelectUint8 = SelectRow<uint8_t>(kUint8);
constexpr Kernel kSelectInt16 = SelectRow<uint16_t>(kInt16);
constexpr Kernel kSelectInt32 = SelectRow<uint32_t>(kInt32);
constexpr Kernel kSelectInt64 = SelectRow<uint64_t>(kInt64);
constexpr Kernel kSelectBool = SelectRow<uint8_t>(kBool);

}  // namespace takt::reference
