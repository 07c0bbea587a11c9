#include "converter/cli/layers.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/str_cat.h"
#include "converter/cli/capture.h"
#include "converter/cli/sample_inputs.h"
#include "converter/cli/session.h"
#include "converter/cli/subject.h"
#include "converter/cli/terminal.h"
#include "schema/plan_generated.h"

namespace takt::cli {
namespace {

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

/// A plan and the samples as its inputs want them.
struct Runner {
  Runner(const std::string& file, std::span<const uint8_t> bytes, const LayerOptions& options)
      : path(file), session(path, bytes, options.port), samples(options.samples, InputShapes(session.net())) {
    if (!session.plan().has_debug())
      throw InputError(absl::StrCat(path, ": does not say which layers its steps are; convert with --debug"));
  }

  std::vector<Captured> Run(size_t sample, const std::function<void(uint32_t)>& before = {}) {
    return CaptureTensors(path, session, StoredInputs(path, session.net(), samples.Load(sample)), before);
  }

  std::string path;
  Session session;
  Samples samples;
};

void AddErrors(const Captured& want, const Captured& got, quant::ErrorSums& sums) {
  for (uint64_t i = 0; i < want.elements; ++i) sums.Add(want.Real(i), got.Real(i));
}

class Comparer {
 public:
  Comparer(Runner& real, Runner& stored) : real_(real), stored_(stored) {}

  void AddSample(size_t sample, report::AccuracyReport& report) {
    const std::vector<Captured> exact = real_.Run(sample);
    const std::vector<Captured> total = stored_.Run(sample);
    if (sample == 0) FindLayers(exact, total, report);
    const std::vector<Captured> own = stored_.Run(sample, [&](uint32_t step) {
      for (const uint16_t tensor : stored_.session.plan().step(step).inputs) {
        const auto found = captured_.find(tensor);
        if (found != captured_.end() && matches_[found->second] >= 0)
          StoreTensor(stored_.session, total[found->second], Counterpart(exact, found->second));
      }
    });
    for (size_t i = 0; i < layers_.size(); ++i) {
      const Captured& want = Counterpart(exact, layers_[i]);
      AddErrors(want, total[layers_[i]], report.layers[i].total);
      AddErrors(want, own[layers_[i]], report.layers[i].own);
    }
    ++report.samples;
  }

 private:
  const Captured& Counterpart(const std::vector<Captured>& exact, size_t i) const {
    return exact[static_cast<size_t>(matches_[i])];
  }

  /// Every run captures the same tensors in the same order.
  void FindLayers(const std::vector<Captured>& exact, const std::vector<Captured>& total,
                  report::AccuracyReport& report) {
    matches_ = MatchTensors(total, exact);
    for (size_t i = 0; i < total.size(); ++i) {
      captured_[total[i].tensor] = i;
      const bool result = total[i].node >= 0;
      if (matches_[i] >= 0 && result) {
        layers_.push_back(i);
        report.layers.push_back({total[i].step,
                                 total[i].name,
                                 schema::EnumNameDataType(static_cast<schema::DataType>(total[i].type)),
                                 {},
                                 {}});
      } else if (result) {
        report.unmatched.push_back(absl::StrCat("step ", total[i].step, " (", total[i].name, ")"));
      }
    }
  }

  Runner& real_;
  Runner& stored_;
  std::vector<int> matches_;             ///< Of each captured tensor of the plan.
  std::map<uint16_t, size_t> captured_;  ///< Index of a tensor of the plan among those captured.
  std::vector<size_t> layers_;           ///< Among those captured.
};

}  // namespace

report::AccuracyReport CompareLayers(const LayerOptions& options) {
  ModelOptions model = options.model;
  model.convert.debug = true;
  const std::vector<uint8_t> real_plan = LoadPlan(model);
  Runner stored(options.plan, ReadFile(options.plan), options);
  Runner real(model.file, real_plan, options);
  if (!std::ranges::equal(real.session.plan().source_sha256(), stored.session.plan().source_sha256())) {
    throw InputError(absl::StrCat(options.plan, ": was not made from ", model.file,
                                  "; layers are matched by their place in one model"));
  }
  report::AccuracyReport report{FileName(model.file), FileName(options.plan), 0, options.least_db, {}, {}};
  Comparer comparer(real, stored);
  ProgressLine progress;
  const size_t count = stored.samples.count();
  for (size_t i = 0; i < count; ++i) {
    progress.Show(absl::StrCat(options.plan, ": sample ", i, " of ", count));
    comparer.AddSample(i, report);
  }
  if (report.layers.empty())
    throw InputError(absl::StrCat(options.plan, ": no result of a step has a counterpart in ", model.file));
  return report;
}

}  // namespace takt::cli
