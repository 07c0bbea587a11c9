// Ed25519 by libsodium: who may sign plans (PlanOptions::verify), and signing them.
#ifndef TAKT_PORTS_POSIX_ED25519_H_
#define TAKT_PORTS_POSIX_ED25519_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/plan/plan.h"
#include "engine/plan/trailer.h"

namespace takt::posix {

using PublicKey = std::array<uint8_t, 32>;
using Seed = std::array<uint8_t, 32>;  ///< The secret that the key pair derives from (RFC 8032).
using KeyId = std::array<uint8_t, 8>;
using Signature = std::array<uint8_t, 64>;

/// The first 8 bytes of the key's SHA-256.
KeyId KeyIdOf(const PublicKey& key);

/// Accepts plans that one of `trusted` signed. Both the keys and this object outlive the Open that uses `verifier()`;
/// shared between threads freely. No heap.
class Ed25519Verifier {
 public:
  explicit Ed25519Verifier(std::span<const PublicKey> trusted) : trusted_(trusted) {}
  Verifier verifier();

 private:
  static bool Accept(void* self, const SignedPlan& plan);
  std::span<const PublicKey> trusted_;
};

/// Once in a process, before the functions below; false if libsodium cannot start (no source of randomness).
bool InitEd25519();
Seed MakeSeed();
PublicKey PublicKeyOf(const Seed& seed);
/// Of what Open hands to a verifier; `plan.key_id` and `plan.signature` are not read.
Signature Sign(const Seed& seed, const SignedPlan& plan);
/// Overwrites a secret so that no compiler leaves that out.
void Wipe(std::span<uint8_t> secret);

}  // namespace takt::posix

#endif  // TAKT_PORTS_POSIX_ED25519_H_
