#include "converter/report/html.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace takt::report {
namespace {

constexpr char kStyle[] =
    "<style>body{font:14px sans-serif;margin:2em auto;max-width:1100px;color:#222}h2{margin-top:2em}"
    "table{border-collapse:collapse}td,th{padding:2px 10px;text-align:right;border-bottom:1px solid #ddd}"
    "td:nth-child(2),td:last-child,th:nth-child(2),th:last-child{text-align:left}"
    "svg{max-width:100%;height:auto}.note{color:#666}</style>";

}  // namespace

std::string EscapeHtml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else {
      out += c;
    }
  }
  return out;
}

std::string HtmlHead(const std::string& title) {
  return absl::StrCat("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>", EscapeHtml(title),
                      "</title>", kStyle, "</head><body>\n");
}

std::string HtmlTail() {
  return "</body></html>\n";
}

std::string SvgHead(double width, double height) {
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
      "font-family=\"monospace\" font-size=\"11\">\n",
      width, height, width, height);
}

std::string SvgText(double x, double y, const std::string& anchor, const std::string& text) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, EscapeHtml(text));
}

}  // namespace takt::report
