#include "converter/report/html.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace takt::report {
namespace {

// Wins over the pictures' own attributes, which are for those that stand alone.
constexpr char kStyle[] = R"(<style>
:root{color-scheme:light dark;--ink:#1f2328;--paper:#fff;--dim:#59636e;--line:#d1d9e0;--bar:#b6d4f5;--heat:78,121,167}
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--paper:#14181d;--dim:#9aa4af;--line:#3a424b;--bar:#2b4f77;--heat:110,160,220}}
body{font:14px/1.45 system-ui,sans-serif;margin:0 auto;padding:1.5em;max-width:1300px;color:var(--ink);background:var(--paper)}
h1{font-size:1.6em;margin:.2em 0 .6em;overflow-wrap:anywhere}h2{font-size:1.2em;margin:2em 0 .3em}
.note,.dim{color:var(--dim)}.note{margin:.3em 0 .7em}
.wide{overflow-x:auto}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(12.5em,1fr));gap:.8em 1.2em;margin:1em 0}
.facts dt{color:var(--dim);font-size:.85em}.facts dd{margin:0;font-size:1.15em;font-variant-numeric:tabular-nums}
.facts small{color:var(--dim);font-size:.8em;display:block}
table{border-collapse:collapse;font-size:13px;font-variant-numeric:tabular-nums}
td,th{padding:2px 8px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{vertical-align:bottom}tfoot td{font-weight:600;border-bottom:0}
.text{text-align:left}
svg{display:block;width:100%;min-width:900px;height:auto}
svg text{fill:var(--ink)}svg .dim{fill:var(--dim)}svg .on{fill:#111}svg .grid{stroke:var(--line)}svg .frame{stroke:var(--dim)}
svg [data-hover]:hover{stroke:var(--ink);stroke-width:1.5}
.legend{display:flex;flex-wrap:wrap;gap:.2em 1.2em;margin:.4em 0}
.legend i{display:inline-block;width:.9em;height:.9em;margin-right:.4em;border-radius:2px;vertical-align:-.1em}
</style>)";

}  // namespace

std::string EscapeHtml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string HtmlHead(const std::string& title) {
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>"
      "<meta name=\"viewport\" content=\"width=device-width\"/><title>",
      EscapeHtml(title), "</title>", kStyle, "</head><body>\n");
}

std::string HtmlTail() {
  return "</body></html>\n";
}

std::string Grouped(uint64_t n) {
  std::string digits = absl::StrCat(n);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string ByteText(uint64_t bytes) {
  constexpr uint64_t kKib = 1 << 10, kMib = 1 << 20;
  if (bytes == 0 || (bytes < 10 * kKib && bytes % kKib != 0)) return absl::StrCat(Grouped(bytes), " B");
  if (bytes < kMib) return absl::StrFormat("%.4g KiB", static_cast<double>(bytes) / kKib);
  return absl::StrFormat("%.4g MiB", static_cast<double>(bytes) / kMib);
}

std::string SvgHead(double width, double height, const std::string& label) {
  return absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\" "
      "font-family=\"system-ui,sans-serif\" font-size=\"12\" role=\"img\" aria-label=\"%s\">\n",
      width, height, width, height, EscapeHtml(label));
}

std::string SvgText(double x, double y, const std::string& anchor, const std::string& text, const char* kind) {
  return absl::StrFormat("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y, anchor, kind,
                         EscapeHtml(text));
}

std::string SvgLine(double x1, double y1, double x2, double y2) {
  return absl::StrFormat("<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"#ccc\" class=\"grid\"/>\n", x1, y1, x2, y2);
}

double RoundStep(double end, int count) {
  const double least = end / count, power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

Axis CycleAxis(uint64_t cycles, uint64_t clock_hz) {
  Axis axis{std::max(1.0, static_cast<double>(cycles)), "cycles", {}};
  const double step = std::max(1.0, RoundStep(axis.end, 8));
  for (double at = 0; at <= axis.end; at += step) {
    axis.ticks.push_back(
        {at, Grouped(static_cast<uint64_t>(at)), absl::StrFormat("%.3g ms", at * 1e3 / static_cast<double>(clock_hz))});
  }
  return axis;
}

std::string SvgAxis(const Axis& axis, double top, double bottom) {
  std::string svg;
  for (const Axis::Tick& tick : axis.ticks) {
    const double x = axis.X(tick.at);
    svg += SvgLine(x, top, x, bottom + 3);
    svg += SvgText(x, bottom + 15, "middle", tick.label, "dim");
    if (!tick.below.empty()) svg += SvgText(x, bottom + 29, "middle", tick.below, "dim");
  }
  return svg + SvgText(kChartLeft - 8, bottom + 15, "end", axis.unit, "dim");
}

}  // namespace takt::report
