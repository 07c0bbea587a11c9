// Key files of `takt keygen`: one line, the kind of key and its 32 bytes in hex.
#ifndef TAKT_CONVERTER_CLI_KEYS_H_
#define TAKT_CONVERTER_CLI_KEYS_H_

#include <span>
#include <string>

#include "converter/cli/files.h"
#include "ports/posix/ed25519.h"

namespace takt::cli {

/// The secret of a key pair, wiped at the end.
class SecretKey {
 public:
  explicit SecretKey(const posix::Seed& bytes) : seed(bytes) {}
  ~SecretKey() { posix::Wipe(seed); }
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;

  posix::Seed seed;
};

/// Throws InputError unless only its owner may read the file.
SecretKey ReadSecretKey(const std::string& path);
posix::PublicKey ReadPublicKey(const std::string& path);
OutputFile SecretKeyFile(const std::string& path, const SecretKey& key);
OutputFile PublicKeyFile(const std::string& path, const posix::PublicKey& key);

std::string Hex(std::span<const uint8_t> bytes);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_KEYS_H_
