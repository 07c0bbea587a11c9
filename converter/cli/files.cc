#include "converter/cli/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "engine/core/op.h"

namespace takt::cli {

namespace fs = std::filesystem;

std::vector<uint8_t> ReadFile(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) throw InputError(absl::StrCat(path, ": no such file; check the path"));
  if (fs::is_directory(status)) throw InputError(absl::StrCat(path, ": is a folder; name a file in it"));
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw InputError(absl::StrCat(path, ": can't be opened: ", std::strerror(errno), "; check its permissions"));
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) throw InputError(absl::StrCat(path, ": reading failed; check the disk"));
  if (bytes.empty()) throw InputError(absl::StrCat(path, ": is empty; a file with content is needed"));
  return bytes;
}

namespace {

void MakeFolder(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return;
  fs::create_directories(folder, error);
  if (error)
    throw InputError(
        absl::StrCat(folder.string(), ": can't be made a folder: ", error.message(), "; name a writable folder"));
}

/// A file that is open; it closes itself.
struct Descriptor {
  explicit Descriptor(int opened) : fd(opened) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd;
};

bool WriteAll(int fd, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    bytes = bytes.subspan(static_cast<size_t>(std::max<ssize_t>(written, 0)));
  }
  return ::fsync(fd) == 0 || errno == EINVAL;  // Pipes and devices have no disk.
}

/// Devices and pipes are written to; replaced by a file they would be lost.
bool IsStream(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  return fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
}

/// Behind links, so that what they point to is replaced.
std::string RealPath(const std::string& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path : real.string();
}

void WriteFile(const std::string& path, const OutputFile& content) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, content.secret ? 0600 : 0666));
  if (file.fd < 0) {
    throw InputError(
        absl::StrCat(content.path, ": can't be written: ", std::strerror(errno), "; name a file in a writable folder"));
  }
  if (!WriteAll(file.fd, content.bytes))
    throw InputError(absl::StrCat(content.path, ": writing failed: ", std::strerror(errno), "; check free space"));
}

/// After it, a rename in the folder outlives a loss of power.
void SyncFolder(const fs::path& folder) {
  const Descriptor opened(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.fd >= 0) ::fsync(opened.fd);
}

/// Files that are removed unless they were renamed.
struct Temporaries {
  std::vector<std::string> paths;

  ~Temporaries() {
    std::error_code ignored;
    for (const std::string& path : paths) fs::remove(path, ignored);
  }
};

}  // namespace

OutputFile TextFile(std::string path, std::string_view text) {
  return {std::move(path), {text.begin(), text.end()}, false};
}

void WriteFiles(const std::vector<OutputFile>& files) {
  std::error_code error;
  Temporaries temporaries;
  std::vector<std::string> places;
  for (const OutputFile& file : files) {
    if (IsStream(file.path)) continue;
    if (fs::is_directory(file.path, error))
      throw InputError(absl::StrCat(file.path, ": is a folder; name the file to write"));
    MakeFolder(fs::path(file.path).parent_path());
    places.push_back(RealPath(file.path));
    temporaries.paths.push_back(absl::StrCat(places.back(), ".tmp", ::getpid()));
    WriteFile(temporaries.paths.back(), file);
  }
  for (size_t i = 0; i < places.size(); ++i) {
    fs::rename(temporaries.paths[i], places[i], error);
    if (error) throw InputError(absl::StrCat(places[i], ": can't be replaced: ", error.message()));
    SyncFolder(fs::path(places[i]).parent_path());
  }
  for (const OutputFile& file : files)
    if (IsStream(file.path)) WriteFile(file.path, file);
}

std::string StatusText(const std::string& subject, Status status) {
  std::string text = absl::StrCat(subject, ": ", StatusCodeName(status.code()), ": ", SiteText(status.site()), " (");
  if (status.step() != Status::kNoStep) absl::StrAppend(&text, "step ", status.step(), ", ");
  absl::StrAppend(&text, "detail ", status.detail());
  if (status.code() == StatusCode::kNoKernel) absl::StrAppend(&text, ": ", OpName(static_cast<Op>(status.detail())));
  return text + ")";
}

void Require(const std::string& subject, Status status) {
  if (!status.ok()) throw InputError(StatusText(subject, status));
}

}  // namespace takt::cli
