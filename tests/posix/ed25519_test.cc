// Signed plans with real signatures.
#include "ports/posix/ed25519.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/plan_builder.h"

namespace takt {
namespace {

/// "9d61…" as bytes.
template <size_t N>
std::array<uint8_t, N> FromHex(const std::string& hex) {
  std::array<uint8_t, N> bytes = {};
  for (size_t i = 0; i < N; ++i) bytes[i] = static_cast<uint8_t>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

posix::Seed SeedOf(uint8_t first) {
  posix::Seed seed = {};
  seed[0] = first;
  return seed;
}

test::PlanBytes SignedBy(const posix::Seed& seed) {
  test::PlanBytes file = test::CopyChain(1).Pack();
  auto& trailer = *reinterpret_cast<PlanTrailer*>(file.bytes().data() + file.bytes().size() - sizeof(PlanTrailer));
  std::ranges::copy(posix::KeyIdOf(posix::PublicKeyOf(seed)), trailer.key_id);
  const SignedPlan plan{trailer.key_id, kSignatureDomain,
                        std::as_bytes(std::span(&trailer, 1)).first(offsetof(PlanTrailer, sha256)), trailer.sha256,
                        trailer.signature};
  std::ranges::copy(posix::Sign(seed, plan), trailer.signature);
  return file;
}

class Ed25519Test : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(posix::InitEd25519()); }

  Status Open(std::span<const uint8_t> file) {
    posix::Ed25519Verifier verifier(trusted_);
    PlanOptions options;
    options.verify = verifier.verifier();
    return Plan().Open(file, options);
  }

  std::vector<posix::PublicKey> trusted_ = {posix::PublicKeyOf(SeedOf(1)), posix::PublicKeyOf(SeedOf(2))};
};

// RFC 8032, 7.1, test 1.
TEST_F(Ed25519Test, KeysAreThoseOfTheStandard) {
  const auto seed = FromHex<32>("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60");
  EXPECT_EQ(posix::PublicKeyOf(seed), FromHex<32>("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"));
}

TEST_F(Ed25519Test, EachTrustedKeyOpensItsPlans) {
  EXPECT_EQ(Open(SignedBy(SeedOf(1)).view()), Status());
  EXPECT_EQ(Open(SignedBy(SeedOf(2)).view()), Status());
  const Status refused(StatusCode::kSignatureMismatch, Site::kPlanSignature);
  EXPECT_EQ(Open(SignedBy(SeedOf(3)).view()), refused);
  EXPECT_EQ(Open(test::CopyChain(1).Pack().view()), refused) << "a plan without signature";
}

TEST_F(Ed25519Test, NoPlanOpensWithAnyBitChanged) {
  test::PlanBytes file = SignedBy(SeedOf(1));
  for (size_t i = 0; i < file.bytes().size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      file.bytes()[i] ^= static_cast<uint8_t>(1 << bit);
      EXPECT_NE(Open(file.view()), Status()) << "byte " << i << ", bit " << bit;
      file.bytes()[i] ^= static_cast<uint8_t>(1 << bit);
    }
  }
  EXPECT_EQ(Open(file.view()), Status());
}

/// A hash that fits does not replace a signature.
TEST_F(Ed25519Test, ARehashedChangeIsRefused) {
  test::PlanBytes file = SignedBy(SeedOf(1));
  file.bytes()[file.bytes().size() - sizeof(PlanTrailer) - 1] ^= 1;
  test::Rehash(file.bytes());
  EXPECT_EQ(Open(file.view()), Status(StatusCode::kSignatureMismatch, Site::kPlanSignature));
}

TEST_F(Ed25519Test, SecretsAreWiped) {
  posix::Seed seed = posix::MakeSeed();
  EXPECT_NE(seed, posix::Seed());
  EXPECT_NE(seed, posix::MakeSeed());
  posix::Wipe(seed);
  EXPECT_EQ(seed, posix::Seed());
}

}  // namespace
}  // namespace takt
