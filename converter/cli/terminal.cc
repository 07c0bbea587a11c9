#include "converter/cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>

namespace takt::cli {
namespace {

constexpr char kClearLine[] = "\r\033[K";

/// Levenshtein's distance.
size_t EditDistance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t k = 0; k < b.size(); ++k) {
      const size_t substituted = diagonal + (a[i] == b[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({substituted, row[k] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

bool ColourWanted() {
  const char* no_color = std::getenv("NO_COLOR");
  return ::isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || no_color[0] == '\0');
}

ProgressLine::ProgressLine() : wanted_(::isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (wanted_) std::fputs(kClearLine, stderr);
}

void ProgressLine::Show(const std::string& text) {
  if (wanted_) std::fprintf(stderr, "%s%s", kClearLine, text.c_str());
}

std::string Nearest(const std::string& word, const std::vector<std::string>& candidates) {
  std::string nearest;
  size_t least = std::max<size_t>(word.size() / 3, 1) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word, candidate);
    if (distance < least) least = distance, nearest = candidate;
  }
  return nearest;
}

}  // namespace takt::cli
