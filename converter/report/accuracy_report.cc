#include "converter/report/accuracy_report.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/report/html.h"

namespace takt::report {
namespace {

constexpr double kWidth = 1060, kLeft = 330, kRow = 18;
constexpr double kMostDb = 80;  ///< At the right end of the bars.

std::vector<size_t> Ranks(const AccuracyReport& report) {
  std::vector<size_t> ranks(report.layers.size());
  const std::vector<size_t> order = report.ByDamage();
  for (size_t i = 0; i < order.size(); ++i) ranks[order[i]] = i + 1;
  return ranks;
}

std::string Verdict(const AccuracyReport& report) {
  const LayerAccuracy* bad = report.FirstBad();
  if (bad == nullptr) return absl::StrFormat("no layer is below %g dB", report.least_db);
  return absl::StrFormat("first bad layer: step %d (%s), %.1f dB, below %g dB", bad->step, bad->name,
                         bad->total.SqnrDb(), report.least_db);
}

double BarWidth(double db) {
  return (kWidth - kLeft) * std::clamp(db, 0.0, kMostDb) / kMostDb;
}

std::string Bars(const AccuracyReport& report) {
  const double height = kRow * static_cast<double>(report.layers.size());
  std::string svg = SvgHead(kWidth + 24, height + kRow + 4, "signal to noise of each layer");
  for (double db = 0; db <= kMostDb; db += 20) {
    const double x = kLeft + BarWidth(db);
    svg += SvgLine(x, 0, x, height);
    svg += SvgText(x, height + 14, "middle", absl::StrFormat("%g dB", db), "dim");
  }
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const LayerAccuracy& layer = report.layers[i];
    const double y = kRow * static_cast<double>(i);
    const bool bad = layer.total.SqnrDb() < report.least_db;
    svg += SvgText(kLeft - 6, y + 13, "end", absl::StrCat(layer.step, " ", layer.name.substr(0, 40)));
    absl::StrAppendFormat(
        &svg,
        "<rect x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"%g\" fill=\"#cdd9e8\"/>\n"
        "<rect x=\"%g\" y=\"%g\" width=\"%.1f\" height=\"%g\" fill=\"%s\"><title>%s: %.1f dB, own %.1f "
        "dB</title></rect>\n",
        kLeft, y + 2, BarWidth(layer.own.SqnrDb()), kRow - 4, kLeft, y + 5, BarWidth(layer.total.SqnrDb()), kRow - 10,
        bad ? "#e15759" : "#4e79a7", EscapeHtml(layer.name), layer.total.SqnrDb(), layer.own.SqnrDb());
  }
  const double bound = kLeft + BarWidth(report.least_db);
  absl::StrAppendFormat(&svg, "<path d=\"M%.1f 0V%g\" stroke=\"#e15759\" stroke-dasharray=\"4 3\"/>\n", bound, height);
  return svg + "</svg>\n";
}

std::string Table(const AccuracyReport& report) {
  const std::vector<size_t> ranks = Ranks(report);
  std::string html =
      "<div class=\"wide\"><table><tr><th>step</th><th class=\"text\">type</th><th>SQNR, dB</th><th>own, dB</th>"
      "<th>damage</th><th>cosine</th><th>max error</th><th class=\"text\">layer</th></tr>\n";
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const LayerAccuracy& layer = report.layers[i];
    absl::StrAppendFormat(&html,
                          "<tr><td>%d</td><td class=\"text\">%s</td><td>%.1f</td><td>%.1f</td><td>%d</td><td>%.6f</td>"
                          "<td>%.4g</td><td class=\"text\">%s</td></tr>\n",
                          layer.step, layer.type, layer.total.SqnrDb(), layer.own.SqnrDb(), ranks[i],
                          layer.total.Cosine(), layer.total.max_error, EscapeHtml(layer.name));
  }
  return html + "</table></div>\n";
}

}  // namespace

const LayerAccuracy* AccuracyReport::FirstBad() const {
  const auto bad =
      std::ranges::find_if(layers, [&](const LayerAccuracy& layer) { return layer.total.SqnrDb() < least_db; });
  return bad == layers.end() ? nullptr : &*bad;
}

std::vector<size_t> AccuracyReport::ByDamage() const {
  std::vector<size_t> order(layers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return layers[a].own.SqnrDb() < layers[b].own.SqnrDb(); });
  return order;
}

std::string AccuracyText(const AccuracyReport& report) {
  std::string text = absl::StrFormat("%d samples\n%5s %-8s %9s %9s %7s %9s %11s  %s\n", report.samples, "step", "type",
                                     "SQNR, dB", "own, dB", "damage", "cosine", "max error", "layer");
  const std::vector<size_t> ranks = Ranks(report);
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const LayerAccuracy& layer = report.layers[i];
    absl::StrAppendFormat(&text, "%5d %-8s %9.1f %9.1f %7d %9.6f %11.4g  %s%s\n", layer.step, layer.type,
                          layer.total.SqnrDb(), layer.own.SqnrDb(), ranks[i], layer.total.Cosine(),
                          layer.total.max_error, layer.name, layer.total.SqnrDb() < report.least_db ? "  <-" : "");
  }
  for (const std::string& name : report.unmatched) absl::StrAppend(&text, "without a counterpart: ", name, "\n");
  return absl::StrCat(text, "own: the layer alone, on exact inputs; damage: rank, the lowest own SQNR first\n",
                      Verdict(report), "\n");
}

nlohmann::ordered_json AccuracyJson(const AccuracyReport& report) {
  const std::vector<size_t> ranks = Ranks(report);
  nlohmann::ordered_json layers = nlohmann::ordered_json::array();
  for (size_t i = 0; i < report.layers.size(); ++i) {
    const LayerAccuracy& layer = report.layers[i];
    layers.push_back({{"step", layer.step},
                      {"name", layer.name},
                      {"type", layer.type},
                      {"sqnr_db", layer.total.SqnrDb()},
                      {"own_sqnr_db", layer.own.SqnrDb()},
                      {"damage_rank", ranks[i]},
                      {"cosine", layer.total.Cosine()},
                      {"max_error", layer.total.max_error}});
  }
  const LayerAccuracy* bad = report.FirstBad();
  return {{"samples", report.samples},
          {"layers", layers},
          {"unmatched", report.unmatched},
          {"min_sqnr_db", report.least_db},
          {"first_bad_step", bad == nullptr ? nlohmann::ordered_json() : nlohmann::ordered_json(bad->step)}};
}

std::string AccuracyHtml(const AccuracyReport& report) {
  const std::string title = absl::StrCat(report.plan, " against ", report.model);
  std::string html = absl::StrCat(HtmlHead(title), "<h1>", EscapeHtml(title), "</h1>\n");
  absl::StrAppendFormat(&html, "<p>%d samples; %s.</p>\n", report.samples, EscapeHtml(Verdict(report)));
  absl::StrAppend(
      &html,
      "<h2>Signal to quantization noise</h2>\n<p class=\"note\">Dark: errors of earlier layers included. "
      "Pale: the layer alone, on exact inputs. Red: below the limit, which is dashed.</p>\n<div class=\"wide\">",
      Bars(report),
      "</div>\n<h2>Layers</h2>\n<p class=\"note\">Own: the layer alone. Damage: rank, the lowest own SQNR "
      "first.</p>\n",
      Table(report));
  for (const std::string& name : report.unmatched)
    absl::StrAppend(&html, "<p class=\"note\">Without a counterpart: ", EscapeHtml(name), "</p>\n");
  return html + HtmlTail();
}

}  // namespace takt::report
