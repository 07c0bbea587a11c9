// What a conversion has to say: many findings per run, each naming model:node:tensor, what is wrong and what is
// allowed.
#ifndef TAKT_CONVERTER_BASE_DIAGNOSTICS_H_
#define TAKT_CONVERTER_BASE_DIAGNOSTICS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace takt {

/// Place in a source model. Empty or negative parts are unknown.
struct ModelLocation {
  std::string model;
  int node = -1;
  std::string node_name;  ///< "CONV_2D"
  std::string tensor;

  /// "model.tflite:3(CONV_2D):tensor"
  std::string ToString() const;
};

enum class Severity { kNote, kWarning, kError };

struct Diagnostic {
  Severity severity;
  ModelLocation where;
  std::string message;  ///< What is wrong, the rule, the remedy.

  std::string ToString() const;
};

/// Collects; the first error does not stop the importer from finding the second.
class Diagnostics {
 public:
  void Note(ModelLocation where, std::string message) { Add(Severity::kNote, std::move(where), std::move(message)); }
  void Warning(ModelLocation where, std::string message) {
    Add(Severity::kWarning, std::move(where), std::move(message));
  }
  void Error(ModelLocation where, std::string message) { Add(Severity::kError, std::move(where), std::move(message)); }

  /// Leaves the first `count` findings.
  void Forget(size_t count);

  bool ok() const { return errors_ == 0; }
  size_t error_count() const { return errors_; }
  const std::vector<Diagnostic>& all() const { return all_; }

 private:
  void Add(Severity severity, ModelLocation where, std::string message);

  std::vector<Diagnostic> all_;
  size_t errors_ = 0;
};

}  // namespace takt

#endif  // TAKT_CONVERTER_BASE_DIAGNOSTICS_H_
