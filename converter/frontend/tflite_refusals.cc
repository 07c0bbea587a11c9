#include "converter/frontend/tflite_refusals.h"

#include "schema/tflite_generated.h"

namespace takt::frontend {
namespace {

constexpr TfliteRefusal Range(tflite::BuiltinOperator first, tflite::BuiltinOperator last, const char* reason) {
  return {static_cast<int>(first), static_cast<int>(last), reason};
}
constexpr TfliteRefusal One(tflite::BuiltinOperator code, const char* reason) {
  return Range(code, code, reason);
}

using enum tflite::BuiltinOperator;
constexpr char kStrings[] = "it works on strings or hashes; look them up before the model, and feed what is found";
constexpr char kRandom[] = "its values are random, and a plan gives the same bytes each time; feed them as an input";
constexpr char kStableHlo[] = "it is StableHLO, not TFLite; export the model with TFLite's builtin operators";
constexpr TfliteRefusal kRefusals[] = {
    One(HASHTABLE_LOOKUP, kStrings),
    One(LSH_PROJECTION, kStrings),
    One(CONCAT_EMBEDDINGS, kStrings),
    One(SKIP_GRAM, kStrings),
    One(CALL, "TFLite has no kernel for it; export the model anew"),
    One(EMBEDDING_LOOKUP_SPARSE, "its result's shape depends on data; use EMBEDDING_LOOKUP and SEGMENT_SUM"),
    One(DELEGATE, "it belongs to another runtime's accelerator; take the model from before that was applied"),
    One(PLACEHOLDER_FOR_GREATER_OP_CODES, "it is no operator; the file is damaged"),
    Range(HASHTABLE, HASHTABLE_SIZE, kStrings),
    One(RANDOM_STANDARD_NORMAL, kRandom),
    One(RANDOM_UNIFORM, kRandom),
    One(MULTINOMIAL, kRandom),
    One(BITCAST, "it depends on how a machine stores numbers; use CAST"),
    Range(STABLEHLO_LOGISTIC, STABLEHLO_TRANSPOSE, kStableHlo),
    One(DILATE, "no exporter of TFLite makes it; use PAD and RESHAPE"),
    One(STABLEHLO_RNG_BIT_GENERATOR, kRandom),
    One(REDUCE_WINDOW, "no exporter of TFLite makes it; use AVERAGE_POOL_2D or MAX_POOL_2D"),
    Range(STABLEHLO_COMPOSITE, STABLEHLO_CASE, kStableHlo)};

}  // namespace

std::span<const TfliteRefusal> TfliteRefusals() {
  return kRefusals;
}

std::string RefusalOf(int code) {
  for (const TfliteRefusal& r : kRefusals)
    if (code >= r.first && code <= r.last) return r.reason;
  return "";
}

}  // namespace takt::frontend
