// Files and messages of the CLI. A fault of the input is an InputError, which main() prints and turns into exit code 1.
#ifndef TAKT_CONVERTER_CLI_FILES_H_
#define TAKT_CONVERTER_CLI_FILES_H_

#include <cstdint>
#include <span>
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

/// The bytes of a regular, non-empty file; throws InputError.
std::vector<uint8_t> ReadFile(const std::string& path);

/// Writes beside `path` and renames, so that the file is whole or absent; throws InputError.
void WriteFileAtomically(const std::string& path, std::span<const uint8_t> bytes);
void WriteFileAtomically(const std::string& path, std::string_view text);

/// Makes the folder and its parents; throws InputError.
void MakeFolder(const std::string& path);

/// "plan.takt: arena too small: <rule> (step 3, detail 160)"
std::string StatusText(const std::string& subject, Status status);
/// Throws InputError unless ok.
void Require(const std::string& subject, Status status);

/// Whether stdout is a terminal that wants colour (NO_COLOR is honoured).
bool ColourWanted();

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_FILES_H_
