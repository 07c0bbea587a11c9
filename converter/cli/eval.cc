// takt eval
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "converter/cli/data/labels.h"
#include "converter/cli/data/samples.h"
#include "converter/cli/files.h"
#include "converter/cli/sample_inputs.h"
#include "converter/cli/session.h"
#include "converter/cli/terminal.h"
#include "converter/cli/verbs.h"

namespace takt::cli {
namespace {

struct Options {
  std::vector<std::string> plans;
  SampleOptions samples;
  std::string labels, port = "reference";
  size_t top = 5;
  bool json = false;
};

struct Score {
  std::string plan;
  size_t first = 0, top = 0;                   ///< Samples whose label is the highest score; among the highest.
  size_t agreeing = 0;                         ///< Samples that the first plan classifies alike.
  std::vector<std::vector<size_t>> confusion;  ///< [label][prediction].
};

template <typename T>
std::vector<double> Doubles(const TensorInfo& tensor) {
  const std::span<T> values = tensor.as<T>();
  return {values.begin(), values.end()};
}

/// Only the order of scores counts: quantized ones stay as they are.
std::vector<double> Scores(const std::string& plan, const TensorInfo& output) {
  switch (output.type) {
    case DataType::kFloat32:
      return Doubles<float>(output);
    case DataType::kInt8:
      return Doubles<int8_t>(output);
    case DataType::kUint8:
      return Doubles<uint8_t>(output);
    case DataType::kInt16:
      return Doubles<int16_t>(output);
    case DataType::kInt32:
      return Doubles<int32_t>(output);
    default:
      throw InputError(absl::StrCat(plan, ": output '", std::string(output.name), "' holds no scores of classes"));
  }
}

/// Classes by falling score, equal ones by index.
std::vector<size_t> Ranking(const std::vector<double>& scores) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  return order;
}

/// The labels of all samples, each below `classes`.
std::vector<size_t> Labels(const Options& options, const Samples& samples, size_t classes) {
  const std::vector<int64_t> given = options.labels.empty() ? samples.labels() : ReadLabels(options.labels);
  const std::string path = options.labels.empty() ? options.samples.path : options.labels;
  if (given.empty()) throw InputError(absl::StrCat(path, ": has no labels of its own; name them with --labels FILE"));
  if (given.size() < samples.count() || (given.size() > samples.count() && !options.samples.most))
    throw InputError(absl::StrCat(path, ": has ", given.size(), " labels for ", samples.count(), " samples"));
  std::vector<size_t> labels;
  for (size_t i = 0; i < samples.count(); ++i) {
    if (given[i] < 0 || static_cast<uint64_t>(given[i]) >= classes)
      throw InputError(absl::StrCat(path, ": label ", given[i], " of sample ", i, " is none of ", classes, " classes"));
    labels.push_back(static_cast<size_t>(given[i]));
  }
  return labels;
}

/// Runs one plan over all samples; `first` is what the first plan answered, filled by it.
Score Evaluate(const Options& options, const std::string& path, std::vector<size_t>& first, size_t& count) {
  Session session(path, options.port);
  Samples samples(options.samples, InputShapes(session.net()));
  const size_t classes = session.net().output(0).dims.empty() ? 1 : Scores(path, session.net().output(0)).size();
  const std::vector<size_t> labels = Labels(options, samples, classes);
  Score score{.plan = path, .confusion = std::vector(classes, std::vector<size_t>(classes))};
  const bool leads = first.empty();
  ProgressLine progress;
  for (size_t i = 0; i < samples.count(); ++i) {
    if (i % 64 == 0) progress.Show(absl::StrCat(path, ": sample ", i, " of ", samples.count()));
    SetInputs(session.net(), StoredInputs(path, session.net(), samples.Load(i)));
    Require(path, session.net().Invoke());
    const std::vector<size_t> order = Ranking(Scores(path, session.net().output(0)));
    const auto rank = static_cast<size_t>(std::find(order.begin(), order.end(), labels[i]) - order.begin());
    score.first += rank == 0;
    score.top += rank < options.top;
    ++score.confusion[labels[i]][order[0]];
    if (leads) first.push_back(order[0]);
    score.agreeing += first[i] == order[0];
  }
  count = samples.count();
  return score;
}

void PrintConfusion(const Score& score) {
  std::printf("\n%s: label (row) and prediction (column)\n     ", score.plan.c_str());
  for (size_t c = 0; c < score.confusion.size(); ++c) std::printf("%6zu", c);
  for (size_t label = 0; label < score.confusion.size(); ++label) {
    std::printf("\n%5zu", label);
    for (const size_t n : score.confusion[label]) std::printf("%6zu", n);
  }
  std::printf("\n");
}

void Print(const Options& options, const std::vector<Score>& scores, size_t count) {
  const auto percent = [&](size_t n) { return 100.0 * static_cast<double>(n) / static_cast<double>(count); };
  std::printf("%zu samples\n%10s %10s %16s  plan\n", count, "top-1", absl::StrCat("top-", options.top).c_str(),
              "as the first");
  for (const Score& s : scores) {
    std::printf("%8.2f %% %8.2f %% %14.2f %%  %s\n", percent(s.first), percent(s.top), percent(s.agreeing),
                s.plan.c_str());
  }
  constexpr size_t kMostClasses = 20;  // Wider tables do not fit a terminal; --json has them.
  for (const Score& s : scores) {
    if (s.confusion.size() <= kMostClasses) PrintConfusion(s);
  }
}

int Run(const Options& options) {
  std::vector<Score> scores;
  std::vector<size_t> first;
  size_t count = 0;
  for (const std::string& plan : options.plans) scores.push_back(Evaluate(options, plan, first, count));
  if (!options.json) {
    Print(options, scores, count);
    return kDone;
  }
  nlohmann::ordered_json plans = nlohmann::ordered_json::array();
  for (const Score& s : scores) {
    plans.push_back(
        {{"plan", s.plan}, {"top_1", s.first}, {"top_k", s.top}, {"as_first", s.agreeing}, {"confusion", s.confusion}});
  }
  const nlohmann::ordered_json json = {{"samples", count}, {"k", options.top}, {"plans", plans}};
  std::printf("%s\n", json.dump(2).c_str());
  return kDone;
}

}  // namespace

void AddEval(CLI::App& app, Action& action) {
  CLI::App* verb = app.add_subcommand("eval", "Accuracy of classifiers on labelled samples, side by side");
  auto options = std::make_shared<Options>();
  verb->add_option("plans", options->plans, "One or more .takt files; the first output holds a score a class")
      ->required();
  AddSampleOptions(*verb, options->samples, "--data", "Samples")->required();
  verb->add_option("--labels", options->labels,
                   "Their labels: idx (perhaps compressed), .npy, or text with one a line (the last field of a CSV). "
                   "Default: the folders of classes, or the array 'labels' or 'y' of an .npz");
  verb->add_option("--top", options->top, "Also count labels among the K highest scores")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  verb->add_option("--port", options->port, "Kernels to run on")->capture_default_str();
  verb->add_flag("--json", options->json, "As JSON: counts and confusion matrix (label, prediction) of each plan");
  verb->footer(std::string("Examples:\n"
                           "  takt eval float.takt int8.takt --data t10k-images.idx.gz --labels t10k-labels.idx.gz\n"
                           "  takt eval net.takt --data photos --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225\n"
                           "  takt eval net.takt --data test.npz --samples 500 --json   # arrays x and y\n"
                           "Pixels (pictures, arrays of uint8) become v / 255 before --mean and --std.\n") +
               kExitCodes);
  verb->callback([options, &action] { action = [options] { return Run(*options); }; });
}

}  // namespace takt::cli
