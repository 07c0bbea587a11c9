#include "converter/cli/keys.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace takt::cli {
namespace {

namespace fs = std::filesystem;

constexpr char kSecret[] = "takt-ed25519-secret";
constexpr char kPublic[] = "takt-ed25519-public";

void RequireOwnersOnly(const std::string& path) {
  std::error_code error;
  const fs::perms others = fs::perms::group_all | fs::perms::others_all;
  if ((fs::status(path, error).permissions() & others) != fs::perms::none)
    throw InputError(absl::StrCat(path, ": is a secret that others may read; chmod 600 ", path));
}

/// "KIND HEX\n"
std::array<uint8_t, 32> ReadKey(const std::string& path, absl::string_view kind) {
  std::array<uint8_t, 32> key;
  std::vector<uint8_t> bytes = ReadFile(path);
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const absl::string_view hex = text.substr(std::min(kind.size() + 1, text.size()), 2 * key.size());
  const bool well_formed = text.size() == kind.size() + 2 + 2 * key.size() && text.substr(0, kind.size()) == kind &&
                           text[kind.size()] == ' ' && text.back() == '\n' &&
                           std::all_of(hex.begin(), hex.end(), [](unsigned char c) { return std::isxdigit(c); });
  if (well_formed && kind == kSecret) RequireOwnersOnly(path);
  if (well_formed) {
    std::string raw = absl::HexStringToBytes(hex);
    std::ranges::copy(raw, key.begin());
    posix::Wipe({reinterpret_cast<uint8_t*>(raw.data()), raw.size()});
  }
  posix::Wipe(bytes);
  if (!well_formed) {
    throw InputError(absl::StrCat(path, ": is no key file of the kind '", kind, "'; takt keygen NAME makes NAME.key ",
                                  "(secret, for takt sign) and NAME.pub (public, for takt verify)"));
  }
  return key;
}

OutputFile KeyFile(const std::string& path, absl::string_view kind, std::span<const uint8_t> key, bool secret) {
  OutputFile file = TextFile(path, std::string(kind) + " " + Hex(key) + "\n");
  file.secret = secret;
  return file;
}

}  // namespace

std::string Hex(std::span<const uint8_t> bytes) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

SecretKey ReadSecretKey(const std::string& path) {
  return SecretKey(ReadKey(path, kSecret));
}

posix::PublicKey ReadPublicKey(const std::string& path) {
  return ReadKey(path, kPublic);
}

OutputFile SecretKeyFile(const std::string& path, const SecretKey& key) {
  return KeyFile(path, kSecret, key.seed, true);
}

OutputFile PublicKeyFile(const std::string& path, const posix::PublicKey& key) {
  return KeyFile(path, kPublic, key, false);
}

}  // namespace takt::cli
