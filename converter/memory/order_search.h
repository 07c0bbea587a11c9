// In which order to run tasks so that the most bytes alive at one time are fewest.
#ifndef TAKT_CONVERTER_MEMORY_ORDER_SEARCH_H_
#define TAKT_CONVERTER_MEMORY_ORDER_SEARCH_H_

#include <cstdint>
#include <vector>

namespace takt::memory {

/// Tasks in an order that runs. A value lives from its first writer to its last reader; an input from the start, an
/// output to the end.
struct OrderProblem {
  struct Value {
    int64_t bytes = 0;
    bool input = false;
    bool output = false;
  };
  struct Task {
    std::vector<int> reads;
    std::vector<int> writes;
    std::vector<int> after;     ///< Tasks that must come before, all of lower index.
    std::vector<int> in_place;  ///< Values read whose memory writes[0] takes over if one of them dies here.
    int64_t scratch = 0;
  };
  std::vector<Value> values;
  std::vector<Task> tasks;
};

/// Most bytes alive during one task.
int64_t OrderPeak(const OrderProblem& problem, const std::vector<int>& order);

/// The order with the lowest peak, found among all sets of finished tasks within a fixed budget; beyond it the better
/// of the given order and a greedy one. The given order (0, 1, …) is kept unless another has a lower peak. Ties are
/// broken by index: the same problem gives the same order.
std::vector<int> LowestPeakOrder(const OrderProblem& problem);

}  // namespace takt::memory

#endif  // TAKT_CONVERTER_MEMORY_ORDER_SEARCH_H_
