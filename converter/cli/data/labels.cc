#include "converter/cli/data/labels.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "converter/cli/data/idx.h"
#include "converter/cli/data/npy.h"
#include "converter/cli/files.h"

namespace takt::cli {

std::vector<int64_t> LabelsOf(const std::string& path, const Array& array) {
  constexpr double kMost = int64_t{1} << 53;  // Up to which doubles have every integer.
  std::vector<int64_t> labels;
  for (const double value : Numbers(path, array, 0, array.elements())) {
    if (!(std::fabs(value) <= kMost) || value != std::floor(value))
      throw InputError(absl::StrCat(path, ": holds ", value, ", which is no label; labels are whole numbers"));
    labels.push_back(static_cast<int64_t>(value));
  }
  return labels;
}

std::vector<int64_t> ReadLabels(const std::string& path) {
  const std::vector<uint8_t> bytes = ReadPlainOrGzip(path);
  std::vector<int64_t> labels;
  if (IsNpy(bytes)) return LabelsOf(path, ReadNpy(path, bytes));
  if (IsIdx(bytes)) return LabelsOf(path, ReadIdx(path, bytes));
  const absl::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  size_t line = 0;
  for (const absl::string_view row : absl::StrSplit(text, '\n')) {
    ++line;
    const absl::string_view field = absl::StripAsciiWhitespace(row.substr(row.rfind(',') + 1));
    int64_t label = 0;
    if (absl::SimpleAtoi(field, &label)) {
      labels.push_back(label);
    } else if (!field.empty() && line != 1) {
      throw InputError(absl::StrCat(path, ": line ", line, " ends with '", std::string(field), "', which is no label"));
    }
  }
  if (labels.empty()) throw InputError(absl::StrCat(path, ": holds no labels: idx, .npy, or one number a line"));
  return labels;
}

}  // namespace takt::cli
