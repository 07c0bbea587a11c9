#include "converter/npu/workspace_check.h"

#include <gtest/gtest.h>

#include "tests/npu/npu_fixture.h"

namespace takt::npu {
namespace {

constexpr uint64_t kBytes = 4096;

void Store(StreamWriter& w, uint32_t at, uint32_t bytes) {
  w.Emit(Pipe::kStore, Move(At(Buffer::kFeature), Base(1, at), bytes));
}
void Load(StreamWriter& w, uint32_t at, uint32_t bytes) {
  w.Emit(Pipe::kLoad, Move(Base(1, at), At(Buffer::kFeature), bytes));
}
Status Check(const StreamWriter& w, std::vector<uint64_t> unwritten = {0, kBytes}) {
  return CheckWorkspaces(Built(w).stream, unwritten);
}

TEST(Workspaces, AreReadAfterTheyWereWritten) {
  StreamWriter w;
  Store(w, 100, 300);
  Store(w, 400, 1);
  Load(w, 101, 300);
  EXPECT_TRUE(Check(w).ok());
}

TEST(Workspaces, OneByteThatNothingWroteIsFound) {
  for (const uint32_t at : {99u, 101u}) {
    StreamWriter w;
    Store(w, 100, 300);
    const uint32_t load = w.position();
    Load(w, at, 300);
    const Status status = Check(w);
    EXPECT_EQ(status.site(), Site::kNpuUnready);
    EXPECT_EQ(status.detail(), load);
    EXPECT_TRUE(Check(w, {0, 0}).ok());  // a tensor of other steps
  }
}

TEST(Workspaces, WritingLaterIsTooLate) {
  StreamWriter w;
  Load(w, 0, 64);
  Store(w, 0, 64);
  EXPECT_EQ(Check(w).detail(), 0u);
}

/// Two of four channels of each pixel.
TEST(Workspaces, HolesBetweenRowsAreFound) {
  const auto half = [](StreamWriter& w, uint32_t first) {
    w.Emit(Pipe::kStore, Copy{.from = At(Buffer::kFeature),
                              .to = Base(1, first),
                              .planes = 3,
                              .rows = 5,
                              .row_bytes = 2,
                              .from_row = 2,
                              .to_row = 4,
                              .from_plane = 10,
                              .to_plane = 20});
  };
  StreamWriter w;
  half(w, 0);
  StreamWriter whole = w;
  half(whole, 2);
  Load(w, 0, 60), Load(whole, 0, 60);
  EXPECT_EQ(Check(w).site(), Site::kNpuUnready);
  EXPECT_TRUE(Check(whole).ok());
}

TEST(Workspaces, LoopsAreFollowed) {
  for (const uint32_t trips : {3u, 4u}) {
    StreamWriter w;
    w.Emit(Pipe::kCommand, Loop{.trips = trips});
    Copy copy = Move(At(Buffer::kFeature), Base(1), 16);
    copy.to.step = 1;
    w.Emit(Pipe::kStore, copy);
    w.Emit(Pipe::kCommand, Step{.index = 1, .bytes = 16});
    w.Emit(Pipe::kCommand, Next{});
    Load(w, 0, 64);
    EXPECT_EQ(Check(w).ok(), trips == 4);
  }
}

}  // namespace
}  // namespace takt::npu
