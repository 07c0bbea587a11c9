#include "tests/engine/c_api_plan.h"

#include "engine/plan/signed_message.h"
#include "ports/reference/kernels.h"
#include "tests/support/try_plan.h"

takt_plan_bytes c_api_plan() {
  static const takt::test::PlanBytes file = takt::test::SmallNet().Pack();
  return {file.view().data(), file.view().size()};
}
takt_plan_bytes c_api_signed_plan(uint8_t key) {
  static takt::test::PlanBytes file = takt::test::SmallNet().Pack();
  const std::span<uint8_t> bytes = file.bytes();
  auto& trailer = *reinterpret_cast<takt::PlanTrailer*>(bytes.data() + bytes.size() - sizeof(takt::PlanTrailer));
  std::ranges::fill(trailer.key_id, key);
  takt::SignedMessage message;
  const auto header = std::as_bytes(std::span(&trailer, 1)).first(offsetof(takt::PlanTrailer, sha256));
  if (!takt::Join({trailer.key_id, takt::kSignatureDomain, header, trailer.sha256, trailer.signature}, message))
    return {};
  for (size_t i = 0; i < sizeof(trailer.signature); ++i) trailer.signature[i] = message[i] ^ key;
  return {bytes.data(), bytes.size()};
}
const takt_kernel* const* c_api_kernels() {
  return reinterpret_cast<const takt_kernel* const*>(takt::reference::AllKernels().data());
}
size_t c_api_kernel_count() {
  return takt::reference::AllKernels().size();
}
