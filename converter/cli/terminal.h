// What the CLI shows to people at a terminal, and never to scripts.
#ifndef TAKT_CONVERTER_CLI_TERMINAL_H_
#define TAKT_CONVERTER_CLI_TERMINAL_H_

#include <string>
#include <vector>

namespace takt::cli {

/// Whether stdout is a terminal that wants colour (NO_COLOR is honoured).
bool ColourWanted();

/// One line on stderr that says what long work is at; nothing unless stderr is a terminal. Gone at the end.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Show(const std::string& text);

 private:
  bool wanted_;
};

/// The candidate that `word` may be a misspelling of; empty if none is near.
std::string Nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace takt::cli

#endif  // TAKT_CONVERTER_CLI_TERMINAL_H_
