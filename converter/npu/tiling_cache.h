// Tilings that were chosen before.
#ifndef TAKT_CONVERTER_NPU_TILING_CACHE_H_
#define TAKT_CONVERTER_NPU_TILING_CACHE_H_

#include <array>
#include <map>
#include <string>

#include "converter/npu/tiling.h"

namespace takt::npu {

/// ChooseTiling for one machine and bound, once for layers of the same geometry whose operands lie in the same
/// memories. Moves, whose loops are many and which are few, are not kept.
class TilingCache {
 public:
  bool Choose(const Machine& machine, const Layer& layer, uint64_t most_cycles, Tiling& tiling, std::string& reason);

 private:
  using Key = std::array<uint32_t, 19>;
  struct Choice {
    bool found = false;
    Tiling tiling;
    std::string reason;
  };
  static Key KeyOf(const Layer& layer);

  std::map<Key, Choice> choices_;
};

}  // namespace takt::npu

#endif  // TAKT_CONVERTER_NPU_TILING_CACHE_H_
