// An order in which the operators of a file can run.
#ifndef TAKT_CONVERTER_FRONTEND_OPERATOR_ORDER_H_
#define TAKT_CONVERTER_FRONTEND_OPERATOR_ORDER_H_

#include <cstdint>
#include <vector>

namespace takt::frontend {

struct OperandIds {
  std::vector<int32_t> inputs;
  std::vector<int32_t> outputs;
};

/// Indices of `operators` so that each comes after those that write what it reads; the file's order where that leaves a
/// choice. Negative ids are absent. Operators on a cycle, or behind one, are missing from the result.
std::vector<int> OrderOperators(const std::vector<OperandIds>& operators);

}  // namespace takt::frontend

#endif  // TAKT_CONVERTER_FRONTEND_OPERATOR_ORDER_H_
