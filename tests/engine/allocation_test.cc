// From the start of Open to the end of Invoke, nobody calls the heap (promise P3): the samples on each port. tests/ops
// does the same with every op.
#include <gtest/gtest.h>

#include "tests/support/heap_trap.h"
#include "tests/support/sample_net.h"

namespace takt {
namespace {

TEST(AllocationTrap, Sees) {
  ASSERT_TRUE(test::HeapTrapWorks());
  int* volatile made = nullptr;
  EXPECT_EQ(test::HeapCallsDuring([&] { made = new int; }), 1);
  EXPECT_EQ(test::HeapCallsDuring([&] { delete made; }), 1);
}

class AllocationTest : public testing::TestWithParam<test::SampleCase> {};
INSTANTIATE_TEST_SUITE_P(Ports, AllocationTest, testing::ValuesIn(test::SampleCases()),
                         [](const auto& sample) { return sample.param.name; });

TEST_P(AllocationTest, NoneFromOpenToTheEndOfInvoke) {
  test::SampleNet sample(GetParam());
  test::AlignedBytes input(size_t{1} << 12);
  Status bound, ran, rebound, ran_again;
  EXPECT_EQ(test::HeapCallsDuring([&] {
              bound = sample.Bind();
              ran = sample.net().Invoke();
              rebound = sample.net().RebindInput(0, input.span());
              ran_again = sample.net().Invoke();
            }),
            0);
  for (const Status status : {bound, ran, ran_again}) EXPECT_EQ(status, Status());
  const bool may_move = sample.net().plan().job_count() == 0;
  EXPECT_EQ(rebound.ok(), may_move);
}

}  // namespace
}  // namespace takt
