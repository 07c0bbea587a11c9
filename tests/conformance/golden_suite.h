// What the tests on golden models share: a parameter per model, found in the shared folder.
#ifndef TAKT_TESTS_CONFORMANCE_GOLDEN_SUITE_H_
#define TAKT_TESTS_CONFORMANCE_GOLDEN_SUITE_H_

#include <gtest/gtest.h>

#include <string>

#include "converter/backend/convert.h"
#include "tests/support/golden.h"

namespace takt::test {

/// Why a model can't be converted: the errors, one a line; empty if it can.
std::string Refusal(const Conversion& conversion);

/// Fails the test, naming `what`, unless got is within `tolerance` of want (unit: Deviation::worst).
Deviation ExpectWithin(DataType type, const Bytes& got, const Bytes& want, double tolerance, const std::string& what);

class GoldenSuite : public testing::TestWithParam<GoldenModel> {
 protected:
  /// Converts the model; one that is refused skips the test with the words of the refusal.
  Conversion ConvertOrSkip(const ConvertOptions& options);
};

/// Test names of models: "seanet_add0".
std::string GoldenName(const testing::TestParamInfo<GoldenModel>& info);

}  // namespace takt::test

/// One instance for each of `models`; none if there is no shared folder (RequiredModels says so).
#define TAKT_INSTANTIATE_GOLDEN_SUITE(Suite, models)    \
  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Suite); \
  INSTANTIATE_TEST_SUITE_P(Models, Suite, testing::ValuesIn(models), GoldenName)

#endif  // TAKT_TESTS_CONFORMANCE_GOLDEN_SUITE_H_
