// Pieces of HTML pages without scripts or other files.
#ifndef TAKT_CONVERTER_REPORT_HTML_H_
#define TAKT_CONVERTER_REPORT_HTML_H_

#include <string>

namespace takt::report {

/// Text as it stands in HTML and SVG.
std::string EscapeHtml(const std::string& text);
/// From the doctype to the opened body; `title` as plain text.
std::string HtmlHead(const std::string& title);
std::string HtmlTail();

/// The opening tag of a picture; "</svg>" closes it.
std::string SvgHead(double width, double height);
/// `anchor`: start, middle or end.
std::string SvgText(double x, double y, const std::string& anchor, const std::string& text);

}  // namespace takt::report

#endif  // TAKT_CONVERTER_REPORT_HTML_H_
