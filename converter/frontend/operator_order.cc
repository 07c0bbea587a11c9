#include "converter/frontend/operator_order.h"

#include <functional>
#include <map>
#include <queue>

namespace takt::frontend {

std::vector<int> OrderOperators(const std::vector<OperandIds>& operators) {
  std::map<int32_t, size_t> producer;
  for (size_t i = 0; i < operators.size(); ++i) {
    for (int32_t id : operators[i].outputs) producer.try_emplace(id, i);
  }
  std::vector<std::vector<size_t>> readers(operators.size());
  std::vector<size_t> missing(operators.size());
  for (size_t i = 0; i < operators.size(); ++i) {
    for (int32_t id : operators[i].inputs) {
      const auto written = producer.find(id);
      if (id < 0 || written == producer.end()) continue;
      readers[written->second].push_back(i);
      ++missing[i];
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < operators.size(); ++i) {
    if (missing[i] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    const size_t next = ready.top();
    ready.pop();
    order.push_back(static_cast<int>(next));
    for (size_t reader : readers[next]) {
      if (--missing[reader] == 0) ready.push(reader);
    }
  }
  return order;
}

}  // namespace takt::frontend
