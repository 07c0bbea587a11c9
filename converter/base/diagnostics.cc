#include "converter/base/diagnostics.h"

#include <utility>

namespace takt {

std::string ModelLocation::ToString() const {
  std::string text = model;
  if (node >= 0) text += ":" + std::to_string(node);
  if (!node_name.empty()) text += "(" + node_name + ")";
  if (!tensor.empty()) text += ":" + tensor;
  return text;
}

std::string Diagnostic::ToString() const {
  const char* kind = severity == Severity::kError ? "error" : severity == Severity::kWarning ? "warning" : "note";
  const std::string place = where.ToString();
  return place + (place.empty() ? "" : ": ") + kind + ": " + message;
}

void Diagnostics::Forget(size_t count) {
  for (; all_.size() > count; all_.pop_back())
    if (all_.back().severity == Severity::kError) --errors_;
}

void Diagnostics::Add(Severity severity, ModelLocation where, std::string message) {
  if (severity == Severity::kError) ++errors_;
  all_.push_back({severity, std::move(where), std::move(message)});
}

}  // namespace takt
