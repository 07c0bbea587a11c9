#include "ports/posix/ed25519.h"

#include <sodium.h>

#include <algorithm>

#include "engine/base/sha256.h"
#include "engine/plan/signed_message.h"

namespace takt::posix {
namespace {

static_assert(crypto_sign_BYTES == sizeof(Signature) && crypto_sign_PUBLICKEYBYTES == sizeof(PublicKey) &&
              crypto_sign_SEEDBYTES == sizeof(Seed));

/// libsodium's secret key is seed and public key.
struct KeyPair {
  explicit KeyPair(const Seed& seed) { crypto_sign_seed_keypair(public_key.data(), secret, seed.data()); }
  ~KeyPair() { sodium_memzero(secret, sizeof(secret)); }
  KeyPair(const KeyPair&) = delete;
  KeyPair& operator=(const KeyPair&) = delete;

  PublicKey public_key;
  uint8_t secret[crypto_sign_SECRETKEYBYTES];
};

}  // namespace

KeyId KeyIdOf(const PublicKey& key) {
  uint8_t digest[32];
  Sha256(std::as_bytes(std::span(key)), digest);
  KeyId id;
  std::copy_n(digest, id.size(), id.begin());
  return id;
}

Verifier Ed25519Verifier::verifier() {
  return {&Ed25519Verifier::Accept, this};
}

bool Ed25519Verifier::Accept(void* self, const SignedPlan& plan) {
  SignedMessage message;
  if (!Join(plan, message)) return false;
  for (const PublicKey& key : static_cast<Ed25519Verifier*>(self)->trusted_) {
    if (!std::ranges::equal(KeyIdOf(key), plan.key_id)) continue;
    if (crypto_sign_verify_detached(plan.signature.data(), message.data(), message.size(), key.data()) == 0)
      return true;
  }
  return false;
}

bool InitEd25519() {
  return sodium_init() >= 0;
}

Seed MakeSeed() {
  Seed seed;
  randombytes_buf(seed.data(), seed.size());
  return seed;
}

PublicKey PublicKeyOf(const Seed& seed) {
  return KeyPair(seed).public_key;
}

Signature Sign(const Seed& seed, const SignedPlan& plan) {
  SignedMessage message = {};
  Signature signature = {};
  if (!Join(plan, message)) return signature;
  const KeyPair pair(seed);
  crypto_sign_detached(signature.data(), nullptr, message.data(), message.size(), pair.secret);
  return signature;
}

void Wipe(std::span<uint8_t> secret) {
  sodium_memzero(secret.data(), secret.size());
}

}  // namespace takt::posix
