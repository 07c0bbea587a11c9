#include "tests/npu/validation/residual.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace takt::npu::validation {
namespace {

std::vector<double> AbsoluteErrors(const std::vector<Row>& rows) {
  std::vector<double> errors;
  for (const Row& row : rows) {
    if (row.counts) errors.push_back(std::fabs(row.Error()));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

}  // namespace

double MeanError(const std::vector<Row>& rows) {
  const std::vector<double> errors = AbsoluteErrors(rows);
  double sum = 0;
  for (const double e : errors) sum += e;
  return errors.empty() ? 0 : sum / static_cast<double>(errors.size());
}

double ErrorQuantile(const std::vector<Row>& rows, double q) {
  const std::vector<double> errors = AbsoluteErrors(rows);
  if (errors.empty()) return 0;
  return errors[std::min(errors.size() - 1, static_cast<size_t>(q * static_cast<double>(errors.size())))];
}

Cells ReadCsv(const std::filesystem::path& path) {
  Cells rows;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) {
      const size_t first = cell.find_first_not_of(' ');
      cells.push_back(first == std::string::npos ? "" : cell.substr(first));
    }
    rows.push_back(cells);
  }
  return rows;
}

}  // namespace takt::npu::validation
