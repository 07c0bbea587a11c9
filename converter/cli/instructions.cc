// Instructions of one invocation: this program again, as a child of callgrind.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "converter/cli/files.h"
#include "converter/cli/subject.h"

namespace takt::cli {
namespace {

namespace fs = std::filesystem;

/// A folder that goes away.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "takt.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw InputError(name + ": can't be made; set TMPDIR to a writable folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const char* name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

/// Runs a program from PATH with its messages in a file; its exit code, -1 if there is no such program.
int RunProgram(std::vector<std::string> arguments, const std::string& log) {
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0) return -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

std::optional<report::InstructionCount> CountInstructions(const std::vector<uint8_t>& plan, const std::string& port) {
  const TemporaryFolder folder;
  const std::string file = folder / "counted.takt", log = folder / "log";
  WriteFiles({{file, plan}});
  const int code =
      RunProgram({"valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                  "--toggle-collect=takt::Interpreter::Invoke(unsigned long)", fs::read_symlink("/proc/self/exe"),
                  "run", file, "--random", "1", "--port", port, "--output-dir", folder / "out"},
                 log);
  if (code == -1) return std::nullopt;
  const std::vector<uint8_t> bytes = ReadFile(log);
  const std::string text(bytes.begin(), bytes.end());
  constexpr char kCollected[] = "Collected : ";
  const size_t at = text.find(kCollected);
  uint64_t count = 0;
  const size_t begin = at + sizeof(kCollected) - 1;
  if (code != 0 || at == std::string::npos ||
      !absl::SimpleAtoi(text.substr(begin, text.find('\n', begin) - begin), &count) || count == 0) {
    throw InputError("callgrind did not count the invocation:\n" + text);
  }
  return report::InstructionCount{count, BuildText()};
}

}  // namespace takt::cli
