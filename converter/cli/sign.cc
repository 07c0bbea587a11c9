// takt keygen, takt sign, takt verify
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "converter/cli/files.h"
#include "converter/cli/keys.h"
#include "converter/cli/session.h"
#include "converter/cli/verbs.h"
#include "engine/plan/trailer.h"

namespace takt::cli {
namespace {

void StartCrypto() {
  if (!posix::InitEd25519()) throw InputError("libsodium finds no source of randomness on this host");
}

int Keygen(const std::string& name) {
  StartCrypto();
  const SecretKey secret(posix::MakeSeed());
  const posix::PublicKey key = posix::PublicKeyOf(secret.seed);
  const std::vector<OutputFile> files = {SecretKeyFile(name + ".key", secret), PublicKeyFile(name + ".pub", key)};
  for (const OutputFile& file : files) {
    if (std::filesystem::exists(file.path))
      throw InputError(absl::StrCat(file.path, ": exists, and a lost key can't be made again; choose another name"));
  }
  WriteFiles(files);
  std::printf("key %s: %s.key signs (keep it secret), %s.pub verifies\n", Hex(posix::KeyIdOf(key)).c_str(),
              name.c_str(), name.c_str());
  return kDone;
}

PlanTrailer ReadTrailer(std::span<const uint8_t> plan) {
  PlanTrailer trailer;
  std::memcpy(&trailer, plan.data() + plan.size() - sizeof(trailer), sizeof(trailer));
  return trailer;
}

SignedPlan ToSign(const PlanTrailer& trailer) {
  const auto bytes = std::as_bytes(std::span(&trailer, 1));
  return {trailer.key_id, kSignatureDomain, bytes.first(offsetof(PlanTrailer, sha256)), trailer.sha256,
          trailer.signature};
}

int Sign(const std::string& path, const std::string& key_file, const std::string& output) {
  StartCrypto();
  const SecretKey secret = ReadSecretKey(key_file);
  std::vector<uint8_t> bytes = ReadFile(path);
  const PlanFile opened(path, bytes);  // No damaged plan gets a signature.
  const posix::PublicKey key = posix::PublicKeyOf(secret.seed);
  PlanTrailer trailer = ReadTrailer(bytes);
  std::ranges::copy(posix::KeyIdOf(key), trailer.key_id);
  std::ranges::copy(posix::Sign(secret.seed, ToSign(trailer)), trailer.signature);
  std::memcpy(bytes.data() + bytes.size() - sizeof(trailer), &trailer, sizeof(trailer));
  const std::string target = output.empty() ? path : output;
  WriteFiles({{target, std::move(bytes), false}});
  std::printf("%s: signed by key %s\n", target.c_str(), Hex(trailer.key_id).c_str());
  return kDone;
}

/// What Open's one error means for this plan and these keys.
std::string WhyRefused(const PlanTrailer& trailer, const std::vector<posix::PublicKey>& keys) {
  if (std::ranges::all_of(trailer.key_id, [](uint8_t byte) { return byte == 0; }))
    return "is not signed; sign it: takt sign PLAN --key NAME.key";
  std::vector<std::string> ids;
  for (const posix::PublicKey& key : keys) ids.push_back(Hex(posix::KeyIdOf(key)));
  const std::string signer = Hex(trailer.key_id);
  if (std::ranges::find(ids, signer) == ids.end()) {
    return absl::StrCat("was signed by key ", signer,
                        ", which is not trusted here; trusted: ", absl::StrJoin(ids, ", "));
  }
  return absl::StrCat("was changed after key ", signer,
                      " signed it, or someone else made the signature; do not use it");
}

int Verify(const std::string& path, const std::vector<std::string>& key_files, bool json) {
  StartCrypto();
  std::vector<posix::PublicKey> keys;
  for (const std::string& file : key_files) keys.push_back(ReadPublicKey(file));
  const std::vector<uint8_t> bytes = ReadFile(path);
  posix::Ed25519Verifier verifier(keys);
  PlanOptions options;
  options.verify = verifier.verifier();
  AlignedBytes aligned(bytes.size());
  std::memcpy(aligned.span().data(), bytes.data(), bytes.size());
  Plan plan;
  const Status status = plan.Open(std::span<const std::byte>(aligned.span()), options);
  if (status.code() == StatusCode::kSignatureMismatch)
    throw InputError(absl::StrCat(path, ": ", WhyRefused(ReadTrailer(bytes), keys)));
  Require(path, status);
  const std::string signer = Hex(ReadTrailer(bytes).key_id);
  if (json) {
    std::printf("%s\n", nlohmann::ordered_json{{"plan", path}, {"key_id", signer}}.dump(2).c_str());
  } else {
    std::printf("%s: whole, and signed by key %s\n", path.c_str(), signer.c_str());
  }
  return kDone;
}

}  // namespace

void AddKeygen(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("keygen", "Makes a pair of keys for signing plans");
  auto name = std::make_shared<std::string>();
  verb->add_option("name", *name, "NAME.key (secret) and NAME.pub (public) are written; neither may exist")->required();
  verb->footer(
      std::string("Examples:\n"
                  "  takt keygen release    # release.key stays where you sign; release.pub goes into devices\n"
                  "How to handle keys: ports/posix/README.md\n") +
      kExitCodes);
  verb->callback([name, &action] { action = [name] { return Keygen(*name); }; });
}

void AddSign(CLI::App& app, Action& action) {
  struct Options {
    std::string plan, key, output;
  };
  CLI::App* verb = app.add_subcommand("sign", "Signs a plan, in place or into another file");
  auto options = std::make_shared<Options>();
  verb->add_option("plan", options->plan, "The .takt file")->required();
  verb->add_option("--key", options->key, "The secret key (NAME.key)")->required();
  verb->add_option("-o,--output", options->output, "Where the signed plan goes, if not in place");
  verb->footer(std::string("Examples:\n"
                           "  takt sign kws.takt --key release.key\n"
                           "  takt sign kws.takt --key release.key -o kws-signed.takt\n"
                           "A signature that is there already is replaced.\n") +
               kExitCodes);
  verb->callback(
      [options, &action] { action = [options] { return Sign(options->plan, options->key, options->output); }; });
}

void AddVerify(CLI::App& app, Action& action) {
  struct Options {
    std::string plan;
    std::vector<std::string> keys;
    bool json = false;
  };
  CLI::App* verb = app.add_subcommand("verify", "Checks that a plan is whole and that a trusted key signed it");
  auto options = std::make_shared<Options>();
  verb->add_option("plan", options->plan, "The .takt file")->required();
  verb->add_option("--key", options->keys, "A public key (NAME.pub) that is trusted; once for each")
      ->required()
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb->add_flag("--json", options->json, "Who signed it, as JSON");
  verb->footer(std::string("Examples:\n"
                           "  takt verify kws.takt --key release.pub\n"
                           "  takt verify kws.takt --key release.pub --key old.pub\n") +
               kExitCodes);
  verb->callback(
      [options, &action] { action = [options] { return Verify(options->plan, options->keys, options->json); }; });
}

}  // namespace takt::cli
