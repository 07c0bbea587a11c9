#include "converter/cli/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
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

#include "absl/strings/match.h"
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
  Descriptor(Descriptor&& other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
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

Descriptor Create(const std::string& path, const OutputFile& content) {
  return Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, content.secret ? 0600 : 0666));
}

void WriteFile(const Descriptor& file, const OutputFile& content) {
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

constexpr char kTemporary[] = ".takt-tmp";  // Then the writer's process.

/// A file that is written beside its place; it is removed unless it was renamed. While its writer lives it is locked,
/// which says so even to processes that can't see each other.
class Temporary {
 public:
  Temporary(const std::string& place, const OutputFile& content)
      : path_(absl::StrCat(place, kTemporary, ::getpid())), file_(Locked(path_, content)) {}
  Temporary(Temporary&& other) noexcept = default;
  ~Temporary() {
    std::error_code ignored;
    if (file_.fd >= 0) fs::remove(path_, ignored);
  }
  const std::string& path() const { return path_; }
  const Descriptor& file() const { return file_; }

 private:
  /// A sweep may have removed the file between its making and its locking: then another one.
  static Descriptor Locked(const std::string& path, const OutputFile& content) {
    for (;;) {
      Descriptor file = Create(path, content);
      struct stat status = {};
      if (file.fd < 0 || ::flock(file.fd, LOCK_EX) != 0 || ::fstat(file.fd, &status) != 0 || status.st_nlink != 0)
        return file;
    }
  }

  std::string path_;
  Descriptor file_;
};

/// Removes temporaries of `place` whose writers were killed.
void Sweep(const fs::path& place) {
  const std::string prefix = place.filename().string() + kTemporary;
  std::error_code error;
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path(".");
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const bool ours =
        absl::StartsWith(name, prefix) && name.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
    if (!ours) continue;
    const Descriptor file(::open(entry->path().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    std::error_code ignored;
    if (file.fd >= 0 && ::flock(file.fd, LOCK_EX | LOCK_NB) == 0) fs::remove(entry->path(), ignored);
  }
}

}  // namespace

OutputFile TextFile(std::string path, std::string_view text) {
  return {std::move(path), {text.begin(), text.end()}, false};
}

void WriteFiles(const std::vector<OutputFile>& files) {
  std::error_code error;
  std::vector<Temporary> temporaries;
  std::vector<std::string> places;
  for (const OutputFile& file : files) {
    if (IsStream(file.path)) continue;
    if (fs::is_directory(file.path, error))
      throw InputError(absl::StrCat(file.path, ": is a folder; name the file to write"));
    MakeFolder(fs::path(file.path).parent_path());
    places.push_back(RealPath(file.path));
    Sweep(places.back());
    WriteFile(temporaries.emplace_back(places.back(), file).file(), file);
  }
  for (size_t i = 0; i < places.size(); ++i) {
    fs::rename(temporaries[i].path(), places[i], error);
    if (error) throw InputError(absl::StrCat(places[i], ": can't be replaced: ", error.message()));
    SyncFolder(fs::path(places[i]).parent_path());
  }
  for (const OutputFile& file : files)
    if (IsStream(file.path)) WriteFile(Create(file.path, file), file);
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
