// Pieces of HTML pages without scripts or other files, and of the pictures in them.
#ifndef TAKT_CONVERTER_REPORT_HTML_H_
#define TAKT_CONVERTER_REPORT_HTML_H_

#include <cstdint>
#include <string>
#include <vector>

namespace takt::report {

/// Text as it stands in HTML and SVG, attributes included.
std::string EscapeHtml(const std::string& text);
/// From the doctype to the opened body; `title` as plain text. The page follows the reader's light or dark scheme.
std::string HtmlHead(const std::string& title);
std::string HtmlTail();

/// "8,237,730"
std::string Grouped(uint64_t n);
/// "560.2 KiB"; below 10 KiB in bytes.
std::string ByteText(uint64_t bytes);

/// The opening tag of a picture; "</svg>" closes it. `label` is what it shows, for readers that cannot see it.
std::string SvgHead(double width, double height, const std::string& label);
/// `anchor`: start, middle or end. `kind`: class of the page's style, such as "dim", or "on" for text on a fill.
std::string SvgText(double x, double y, const std::string& anchor, const std::string& text, const char* kind = "");
std::string SvgLine(double x1, double y1, double x2, double y2);

/// Pictures over time share these, so that they lie under each other.
inline constexpr double kChartLeft = 90, kChartWidth = 960, kChartRight = 60;

/// From 0 to `end`; a tick has a label, and perhaps another one below.
struct Axis {
  struct Tick {
    double at;
    std::string label, below;
  };
  double end = 1;
  std::string unit;
  std::vector<Tick> ticks;

  double X(double at) const { return kChartLeft + kChartWidth * at / end; }
};
/// Distance of at most `count` round ticks, 1, 2 or 5 times a power of ten.
double RoundStep(double end, int count);
/// Cycles, and the time that they take.
Axis CycleAxis(uint64_t cycles, uint64_t clock_hz);
/// Grid lines from `top` to `bottom`, and the labels under them: 30 in all.
std::string SvgAxis(const Axis& axis, double top, double bottom);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_HTML_H_
