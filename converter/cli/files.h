// Files and messages of the CLI. A fault of the input is an InputError, which main() prints and turns into an exit
// code.
#ifndef TAKT_CONVERTER_CLI_FILES_H_
#define TAKT_CONVERTER_CLI_FILES_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/status.h"

namespace takt::cli {

/// What is at fault, the rule, and the remedy, in one message.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line asks for what cannot be: exit code 2.
class UsageError : public InputError {
 public:
  using InputError::InputError;
};

/// The bytes of a regular, non-empty file; throws InputError.
std::vector<uint8_t> ReadFile(const std::string& path);

/// A file to be written.
struct OutputFile {
  std::string path;
  std::vector<uint8_t> bytes;
  bool secret = false;  ///< Only its owner may read it.
};
OutputFile TextFile(std::string path, std::string_view text);

/// Makes missing folders, writes every file beside its place and onto the disk, then renames one after the other: no
/// file is ever half written, even if power fails, and none is touched if one can't be written; but who dies between
/// two renames leaves some new and some old. What a writer that was killed left beside a file ("FILE.takt-tmp123") is
/// removed with the next write of that file. Behind a link, what it points to is replaced; devices and pipes are
/// written to. Throws InputError.
void WriteFiles(const std::vector<OutputFile>& files);

/// "plan.takt: arena too small: <rule> (step 3, detail 160)"
std::string StatusText(const std::string& subject, Status status);
/// Throws InputError unless ok.
void Require(const std::string& subject, Status status);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_FILES_H_
