#include "converter/ir/size_limits.h"

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "schema/plan_generated.h"

namespace takt::ir {

std::string WhyTooLarge(const std::vector<int32_t>& dims) {
  int64_t count = 1;
  for (const int32_t dim : dims) {
    if (dim > 0 && count > kMostElements / dim)
      return "tensor " + DimsText(dims) + " has more than 2^30 elements; it may have at most that";
    if (dim > 0) count *= dim;
  }
  return "";
}

std::string WhyNotMade(DataType type, const std::vector<int64_t>& dims) {
  constexpr int64_t kBeyond = int64_t{1} << 48;  // From here on the count no longer matters.
  absl::int128 count = 1;
  bool negative = false;
  for (const int64_t dim : dims) {
    negative = negative || dim < 0;
    count = std::min<absl::int128>(count * dim, kBeyond);
  }
  if (!negative && count <= kMostMadeElements) return "";
  const std::string bytes = negative ? ""
                                     : absl::StrCat(count == kBeyond ? " over " : " ",
                                                    static_cast<int64_t>(count) * BitWidth(type) / 8, " bytes,");
  return absl::StrCat("would make a constant [", absl::StrJoin(dims, ", "), "] of ",
                      schema::EnumNameDataType(static_cast<schema::DataType>(type)), ",", bytes,
                      " from a few numbers; it may have at most 2^24 elements");
}

}  // namespace takt::ir
