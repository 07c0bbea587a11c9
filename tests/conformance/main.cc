// A test that was there at configuration and has no golden now is skipped, visibly: alone, it would pass as no test.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/support/golden.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  if (!GTEST_FLAG_GET(list_tests) && testing::UnitTest::GetInstance()->test_to_run_count() == 0)
    std::printf("[  SKIPPED ] no goldens in %s; set TAKT_SHARED_DIR\n", takt::test::SharedDir().c_str());
  return result;
}
