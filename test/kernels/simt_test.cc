// Tests of the emulation itself: correct kernels must work, and wrong ones must fail.

#include "runtime/kernels/simt/simt.h"

#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

namespace coll::kernels::simt {
namespace {

TEST(Simt, EveryThreadRunsOnce) {
  std::vector<int> seen(3 * 64, 0);
  run({3, 64, 0}, [&](char *) { ++seen[blockIndex() * blockThreads() + threadIndex()]; });
  EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), 0), 3 * 64);
  EXPECT_EQ(*std::min_element(seen.begin(), seen.end()), 1);
}

TEST(Simt, ShufflesAndBallots) {
  run({2, 64, 0}, [](char *) {
    for (uint32_t round = 0; round < 50; ++round) {
      const uint32_t from = (lane() * 7 + round) % kWarpThreads;
      ASSERT_EQ(shuffle(lane() + 100 * round, from), from + 100 * round);
      ASSERT_EQ(shuffle(uint64_t{lane()} << 40, from), uint64_t{from} << 40);
      ASSERT_EQ(shuffleUp(lane(), 3), lane() < 3 ? lane() : lane() - 3);
      ASSERT_EQ(ballot(lane() % 3 == 0), 0x49249249u);
    }
  });
}

TEST(Simt, BarriersOrderSharedMemory) {
  run({2, 96, 96 * sizeof(uint32_t)}, [](char *shared) {
    auto *values = reinterpret_cast<uint32_t *>(shared);
    for (uint32_t round = 0; round < 20; ++round) {
      values[threadIndex()] = threadIndex() + round;
      syncBlock();
      const uint32_t other = (threadIndex() + 33) % blockThreads();
      ASSERT_EQ(values[other], other + round);
      syncBlock();
    }
  });
}

TEST(Simt, ThreadsThatEndedAreNotWaitedFor) {
  uint32_t before = 0, after = 0;
  run({1, 64, 0}, [&](char *) {
    if (threadIndex() % 2)
      return;
    syncWarp();
    ++before; // threads take turns: they are fibers of one
    syncBlock();
    ASSERT_EQ(before, 32u);
    ++after;
  });
  EXPECT_EQ(after, 32u);
}

// A fiber that polls lets the other fibers and the host run.
TEST(Simt, PollsTheHost) {
  uint32_t ready = 0, answer = 0;
  std::thread host([&] {
    while (loadAcquire(&answer) == 0)
      std::this_thread::yield();
    storeRelease(&ready, 1);
  });
  run({2, 32, 0}, [&](char *) {
    if (threadIndex() == 0) {
      storeRelease(&answer, 1);
      while (loadAcquire(&ready) == 0)
        pause();
    }
    syncWarp();
  });
  host.join();
}

struct alignas(128) BulkShared {
  char stage[64];
  Barrier barrier;
};

TEST(Simt, BulkCopiesArriveWhenWaitedFor) {
  alignas(16) char from[64], to[64] = {};
  std::iota(from, from + 64, char{1});
  run({1, 32, sizeof(BulkShared)}, [&](char *memory) {
    auto *shared = reinterpret_cast<BulkShared *>(memory);
    if (lane() == 0) {
      barrierInit(&shared->barrier);
      barrierExpect(&shared->barrier, 64);
      bulkLoad(shared->stage, from, 64, &shared->barrier);
      EXPECT_NE(shared->stage[0], from[0]) << "a load that nobody waited for";
    }
    syncWarp();
    barrierWait(&shared->barrier, 0);
    EXPECT_EQ(shared->stage[lane()], from[lane()]);
    syncWarp();
    if (lane() == 0) {
      bulkStore(to, shared->stage, 64);
      bulkCommit();
      EXPECT_EQ(to[0], 0) << "a store that nobody waited for";
      bulkWait<0>();
      EXPECT_EQ(to[63], from[63]);
      barrierInvalidate(&shared->barrier);
    }
  });
}

using SimtDeathTest = testing::Test;

TEST(SimtDeathTest, Deadlock) {
  EXPECT_DEATH(run({1, 32, 0},
                   [](char *) {
                     if (lane() == 0)
                       while (true)
                         syncWarp();
                     syncBlock();
                     syncWarp();
                     syncBlock();
                   }),
               "deadlock");
}

TEST(SimtDeathTest, UnalignedBulkCopy) {
  alignas(16) static char from[32];
  EXPECT_DEATH(run({1, 32, sizeof(BulkShared)},
                   [](char *memory) {
                     auto *shared = reinterpret_cast<BulkShared *>(memory);
                     barrierInit(&shared->barrier);
                     bulkLoad(shared->stage, from + 4, 16, &shared->barrier);
                   }),
               "not aligned");
}

TEST(SimtDeathTest, BulkStoreThatIsNeverWaitedFor) {
  alignas(16) static char to[32];
  EXPECT_DEATH(run({1, 32, sizeof(BulkShared)},
                   [](char *memory) {
                     bulkStore(to, memory, 16);
                     bulkCommit();
                   }),
               "ended before its bulk stores");
}

} // namespace
} // namespace coll::kernels::simt
