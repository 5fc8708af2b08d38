// Backend threads beyond the conformance suite: small and large operations side by side.

#include "runtime/backend/backend.h"
#include "runtime/backend/threads/world.h"
#include "runtime/base/env.h"
#include "runtime/base/machine.h"

#include <atomic>
#include <chrono>
#include <ctime>
#include <functional>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

namespace coll::rt {
namespace {

void onRanks(int ranks, const std::function<void(Endpoint &, Communicator &, int)> &body,
             BackendOptions options = {}) {
  options.numRanks = ranks;
  Result<std::unique_ptr<Backend>> backend = createBackend("threads", options);
  ASSERT_TRUE(backend.ok());
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  std::vector<int> all;
  for (int rank = 0; rank < ranks; ++rank) {
    endpoints.push_back((*backend)->endpoint(rank).take());
    endpoints.back()->enter();
    all.push_back(rank);
  }
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Endpoint &endpoint = *endpoints[static_cast<size_t>(rank)];
      std::unique_ptr<Communicator> group = endpoint.communicator(all).take();
      body(endpoint, *group, rank);
      endpoint.leave();
    });
  for (std::thread &thread : threads)
    thread.join();
}

Call sumOf(std::vector<float> &src, std::vector<float> &dst) {
  Call call;
  call.kind = OpKind::AllReduce;
  call.count = static_cast<int64_t>(src.size());
  call.src = src.data();
  call.dst = dst.data();
  return call;
}

// "For ever" is no point in time that has passed.
TEST(ThreadsBackendTest, ADeadlineThatNeverComes) {
  BackendOptions options;
  options.timeoutUs = INT64_MAX;
  onRanks(
      2,
      [](Endpoint &, Communicator &group, int rank) {
        if (rank == 1)
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
        std::vector<float> src = {1}, dst = {0};
        Status status = group.run(sumOf(src, dst));
        EXPECT_TRUE(status.ok()) << status.toString();
        EXPECT_EQ(dst[0], 2);
      },
      options);
}

// More operations than there are places for, of all sizes, waited for backwards.
TEST(ThreadsBackendTest, ManyInFlightOfAllSizes) {
  const std::vector<size_t> sizes = {1, 6, 7, 500, 512, 513, 5000, 40'000};
  for (int ranks : {2, 3, 9})
    onRanks(ranks, [&](Endpoint &endpoint, Communicator &group, int rank) {
      std::vector<std::vector<float>> src, dst;
      std::vector<Request *> requests;
      for (size_t i = 0; i < 40; ++i) {
        src.emplace_back(sizes[i % sizes.size()], static_cast<float>(rank + 1) + float(i));
        dst.emplace_back(src.back().size());
      }
      for (size_t i = 0; i < src.size(); ++i)
        requests.push_back(group.start(sumOf(src[i], dst[i])).take());
      for (size_t i = src.size(); i-- > 0;) {
        ASSERT_TRUE(endpoint.wait(requests[i]).ok());
        float expected = float(ranks * (ranks + 1) / 2) + float(ranks) * float(i);
        ASSERT_EQ(dst[i], std::vector<float>(src[i].size(), expected)) << "operation " << i;
      }
    });
}

TEST(ThreadsBackendTest, RanksWithACoreEachPollForLongerUnlessToldOtherwise) {
  BackendOptions few, many;
  few.numRanks = 1;
  many.numRanks = numAllowedProcessors() + 1;
  EXPECT_EQ(threads::World(few).spinUs(), 2000);
  EXPECT_EQ(threads::World(few).earlySpinUs(), 20);
  EXPECT_EQ(threads::World(many).spinUs(), 20);
  ScopedEnv told("COLL_SPIN_US", "7");
  EXPECT_EQ(threads::World(few).spinUs(), 7);
  EXPECT_EQ(threads::World(many).spinUs(), 7);
}

int64_t threadCpuUs() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
}

// A rank that has a core polls for 2 ms; where that is in vain, it sleeps early in the next calls.
TEST(ThreadsBackendTest, ARankThatPollsInVainSleepsEarly) {
  constexpr int kCalls = 25;
  onRanks(2, [](Endpoint &, Communicator &group, int rank) {
    std::vector<float> src = {1}, dst = {0};
    const int64_t before = threadCpuUs();
    for (int i = 0; i < kCalls; ++i) {
      if (rank == 1)
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ASSERT_TRUE(group.run(sumOf(src, dst)).ok());
    }
    if (rank == 0) {
      EXPECT_LT(threadCpuUs() - before, kCalls * 1000);
    }
  });
}

// The last to come starts its call and looks no more: the others are asleep and go on.
TEST(ThreadsBackendTest, LastToStartWakesTheOthers) {
  for (size_t count : {size_t(1), size_t(10'000)}) {
    std::atomic<int> done{0};
    onRanks(3, [&](Endpoint &endpoint, Communicator &group, int rank) {
      std::vector<float> src(count, 1.0f), dst(count);
      if (rank != 0) {
        ASSERT_TRUE(group.run(sumOf(src, dst)).ok());
        ++done;
        return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      Result<Request *> request = group.start(sumOf(src, dst));
      ASSERT_TRUE(request.ok());
      while (done < 2)
        std::this_thread::yield();
      ASSERT_TRUE(endpoint.wait(*request).ok());
    });
  }
}

// One member takes the call for a small one, the others for a large one.
TEST(ThreadsBackendTest, SmallAndLargeMismatchReachesEveryMember) {
  auto begin = std::chrono::steady_clock::now();
  for (int ranks : {2, 3, 9})
    onRanks(ranks, [](Endpoint &, Communicator &group, int rank) {
      std::vector<float> src(rank == 1 ? 8 : 100'000), dst(src.size());
      Status status = group.run(sumOf(src, dst));
      EXPECT_EQ(status.code(), kCollMismatch) << status.toString();
      EXPECT_NE(status.message().find("counts differ"), std::string::npos) << status.message();
    });
  // Long before the deadline.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(50));
}

// As many elements in each block, and another number of blocks.
TEST(ThreadsBackendTest, BlocksOfAnotherNumberMismatch) {
  onRanks(2, [](Endpoint &, Communicator &group, int rank) {
    std::vector<float> src(8), dst(16);
    Call call = sumOf(src, dst);
    call.kind = OpKind::AllGather;
    call.count = 4;
    call.outer = rank + 1;
    EXPECT_EQ(group.run(call).code(), kCollMismatch);
  });
}

TEST(ThreadsBackendTest, TheNumberOfRanksIsBounded) {
  BackendOptions options;
  options.numRanks = 1024;
  EXPECT_TRUE(createBackend("threads", options).ok());
  options.numRanks = 1025;
  EXPECT_EQ(createBackend("threads", options).status().code(), kCollUnsupported);
}

TEST(ThreadsBackendTest, ATimeoutIsOneMicrosecondAtLeast) {
  BackendOptions options;
  options.numRanks = 1;
  options.timeoutUs = 1;
  EXPECT_TRUE(createBackend("threads", options).ok());
  options.timeoutUs = 0;
  EXPECT_EQ(createBackend("threads", options).status().code(), kCollInvalidCall);
}

// The first member as well as any other.
TEST(ThreadsBackendTest, AMemberThatHasLeftIsNamed) {
  for (int leaver : {0, 1})
    onRanks(2, [&](Endpoint &, Communicator &group, int rank) {
      if (rank == leaver)
        return;
      std::vector<float> src = {1}, dst = {0};
      Status status = group.run(sumOf(src, dst));
      EXPECT_EQ(status.code(), kCollPeer) << status.toString();
      EXPECT_NE(status.message().find("rank " + std::to_string(leaver) + " has ended"),
                std::string::npos)
          << status.message();
    });
}

// A failure ends the job, not only the group that it is in.
TEST(ThreadsBackendTest, AMismatchEndsTheWaitOfARankOutsideOfTheGroup) {
  std::atomic<bool> done{false};
  BackendOptions options;
  options.timeoutUs = 20'000'000;
  onRanks(
      3,
      [&](Endpoint &endpoint, Communicator &group, int rank) {
        if (rank == 2) {
          float value = 0;
          Call call;
          call.kind = OpKind::Recv;
          call.count = 1;
          call.peer = 0;
          call.dst = &value;
          const Status status = group.run(call);
          EXPECT_EQ(status.code(), kCollAborted) << status.toString();
          EXPECT_NE(status.message().find("counts differ"), std::string::npos) << status.message();
          done = true;
          return;
        }
        std::vector<float> src(rank == 0 ? 3 : 4), dst(4);
        std::unique_ptr<Communicator> pair = endpoint.communicator({0, 1}).take();
        EXPECT_EQ(pair->run(sumOf(src, dst)).code(), kCollMismatch);
        while (!done)
          std::this_thread::yield();
      },
      options);
}

// What the peers have completed meanwhile is not in flight any more.
TEST(ThreadsBackendTest, ARankMayLeaveWithASendThatHasArrived) {
  std::atomic<bool> received{false};
  onRanks(2, [&](Endpoint &endpoint, Communicator &group, int rank) {
    float value = 7;
    Call call;
    call.kind = rank == 0 ? OpKind::Send : OpKind::Recv;
    call.count = 1;
    call.peer = 1 - rank;
    call.src = rank == 0 ? &value : nullptr;
    call.dst = rank == 0 ? nullptr : &value;
    if (rank == 0) {
      ASSERT_TRUE(group.start(call).ok());
      while (!received)
        std::this_thread::yield();
      return;
    }
    ASSERT_TRUE(group.run(call).ok());
    received = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(endpoint.health().ok()) << endpoint.health().toString();
  });
}

TEST(ThreadsBackendTest, ATimeoutCountsTheRanksThatItDoesNotName) {
  BackendOptions options;
  options.timeoutUs = 100'000;
  for (int ranks : {9, 11}) {
    std::atomic<bool> done{false};
    onRanks(
        ranks,
        [&](Endpoint &, Communicator &group, int rank) {
          while (rank != 0 && !done)
            std::this_thread::yield();
          if (rank != 0)
            return;
          std::vector<float> src = {1}, dst = {0};
          const Status status = group.run(sumOf(src, dst));
          done = true;
          EXPECT_EQ(status.code(), kCollTimeout) << status.toString();
          EXPECT_EQ(status.message().find(" and 2 more") != std::string::npos, ranks == 11)
              << status.message();
          EXPECT_EQ(status.message().find(" more") != std::string::npos, ranks == 11)
              << status.message();
        },
        options);
  }
}

// The chunks of an operation begin anywhere in blocks, also if these are short. A rank's elements
// are consecutive numbers from 10,000 times the rank on.
TEST(ThreadsBackendTest, ChunksCutShortBlocks) {
  constexpr int64_t kPiece = 2100; // elements of a rank for another
  constexpr int64_t kCounts[] = {1, 3, 4, 7, 60, 2100};
  auto numbers = [](int rank, int64_t count) {
    std::vector<float> all(static_cast<size_t>(count));
    std::iota(all.begin(), all.end(), static_cast<float>(10'000 * rank));
    return all;
  };
  auto callOf = [](OpKind kind, const std::vector<float> &src, std::vector<float> &dst,
                   int64_t count) {
    Call call;
    call.kind = kind;
    call.src = src.data();
    call.dst = dst.data();
    call.outer = kPiece / count;
    call.count = count;
    return call;
  };
  for (int ranks : {2, 3, 5})
    onRanks(ranks, [&](Endpoint &, Communicator &group, int rank) {
      const int64_t n = ranks;
      const std::vector<float> src = numbers(rank, n * kPiece);
      for (int64_t count : kCounts)
        for (int64_t dstCount : kCounts) {
          std::vector<float> dst(src.size()), wanted(src.size());
          Call call = callOf(OpKind::AllToAll, src, dst, count);
          call.dstOuter = kPiece / dstCount;
          call.dstCount = dstCount;
          for (int64_t from = 0; from < n; ++from)
            for (int64_t i = 0; i < kPiece; ++i)
              wanted[static_cast<size_t>((i / dstCount * n + from) * dstCount + i % dstCount)] =
                  static_cast<float>(10'000 * from + (i / count * n + rank) * count + i % count);
          const Status status = group.run(call);
          ASSERT_TRUE(status.ok()) << status.toString();
          ASSERT_EQ(dst, wanted) << "blocks of " << count << ", of " << dstCount;
        }
      for (int64_t count : kCounts) {
        std::vector<float> dst(static_cast<size_t>(kPiece)), wanted(dst);
        for (int64_t from = 0; from < n; ++from)
          for (int64_t i = 0; i < kPiece; ++i)
            wanted[static_cast<size_t>(i)] +=
                static_cast<float>(10'000 * from + (i / count * n + rank) * count + i % count);
        Status status = group.run(callOf(OpKind::ReduceScatter, src, dst, count));
        ASSERT_TRUE(status.ok()) << status.toString();
        ASSERT_EQ(dst, wanted) << "sums of blocks of " << count;

        const std::vector<float> own = numbers(rank, kPiece);
        dst.resize(src.size());
        wanted.resize(src.size());
        for (int64_t from = 0; from < n; ++from)
          for (int64_t i = 0; i < kPiece; ++i)
            wanted[static_cast<size_t>((i / count * n + from) * count + i % count)] =
                static_cast<float>(10'000 * from + i);
        status = group.run(callOf(OpKind::AllGather, own, dst, count));
        ASSERT_TRUE(status.ok()) << status.toString();
        ASSERT_EQ(dst, wanted) << "gathered blocks of " << count;
      }
    });
}

// Beyond the caches, in place and not: what is streamed is there when the call returns.
TEST(ThreadsBackendTest, LargerThanTheCaches) {
  onRanks(3, [](Endpoint &, Communicator &group, int rank) {
    std::vector<float> src(3'000'003, float(rank + 1)), dst(src.size());
    ASSERT_TRUE(group.run(sumOf(src, dst)).ok());
    EXPECT_EQ(dst, std::vector<float>(src.size(), 6.0f));
    Call call = sumOf(rank == 1 ? dst : src, dst);
    ASSERT_TRUE(group.run(call).ok());
    EXPECT_EQ(dst, std::vector<float>(src.size(), 10.0f));
  });
}

// A transfer that both sides carry out, beside one of a few bytes.
TEST(ThreadsBackendTest, LargeTransfers) {
  onRanks(2, [](Endpoint &endpoint, Communicator &group, int rank) {
    std::vector<float> mine(6'000'001, float(rank + 1)), theirs(mine.size());
    Call send = sumOf(mine, theirs);
    send.kind = OpKind::Send;
    send.peer = 1 - rank;
    Call recv = send;
    recv.kind = OpKind::Recv;
    Result<Request *> first = group.start(send);
    Result<Request *> second = group.start(recv);
    ASSERT_TRUE(first.ok() && second.ok());
    ASSERT_TRUE(endpoint.wait(*second).ok());
    ASSERT_TRUE(endpoint.wait(*first).ok());
    EXPECT_EQ(theirs, std::vector<float>(mine.size(), float(2 - rank)));
  });
}

} // namespace
} // namespace coll::rt
