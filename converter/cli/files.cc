#include "converter/cli/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace takt::cli {

namespace fs = std::filesystem;

std::vector<uint8_t> ReadFile(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw InputError(absl::StrCat(path, ": no such file; check the path"));
  if (fs::is_directory(status)) throw InputError(absl::StrCat(path, ": is a folder; name a file in it"));
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(absl::StrCat(path, ": can't be opened: ", std::strerror(errno), "; check its permissions"));
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw InputError(absl::StrCat(path, ": reading failed; check the disk"));
  if (bytes.empty()) throw InputError(absl::StrCat(path, ": is empty; a file with content is needed"));
  return bytes;
}

void WriteFileAtomically(const std::string& path, std::span<const uint8_t> bytes) {
  std::error_code error;
  if (fs::is_directory(path, error)) throw InputError(absl::StrCat(path, ": is a folder; name the file to write"));
  const std::string temporary = absl::StrCat(path, ".tmp", ::getpid());
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    if (!file) {
      throw InputError(absl::StrCat(path, ": can't be written: ", std::strerror(errno),
                                    "; the folder must exist and be writable"));
    }
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.flush();
    if (!file) {
      file.close();
      fs::remove(temporary, error);
      throw InputError(absl::StrCat(path, ": writing failed; check free space"));
    }
  }
  fs::rename(temporary, path, error);
  if (error) {
    const std::string reason = error.message();
    fs::remove(temporary, error);
    throw InputError(absl::StrCat(path, ": can't be replaced: ", reason));
  }
}

void WriteFileAtomically(const std::string& path, std::string_view text) {
  WriteFileAtomically(path, std::span(reinterpret_cast<const uint8_t*>(text.data()), text.size()));
}

void MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error || !fs::is_directory(path)) {
    throw InputError(absl::StrCat(path, ": can't be made a folder", error ? ": " + error.message() : "",
                                  "; name a writable folder"));
  }
}

std::string StatusText(const std::string& subject, Status status) {
  std::string text = absl::StrCat(subject, ": ", StatusCodeName(status.code()), ": ", SiteText(status.site()), " (");
  if (status.step() != Status::kNoStep) absl::StrAppend(&text, "step ", status.step(), ", ");
  absl::StrAppend(&text, "detail ", status.detail(), ")");
  return text;
}

void Require(const std::string& subject, Status status) {
  if (!status.ok()) throw InputError(StatusText(subject, status));
}

bool ColourWanted() { return ::isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr; }

}  // namespace takt::cli
