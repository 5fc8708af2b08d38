// The exchange by NCCL with which coll-perf moe compares its own: ranks on threads over fakes of
// the driver and of NCCL, every value checked.

#include "runtime/exchange/moe/platform.h"
#include "test/exchange/moe_emulated.h"
#include "test/support/fakes/nccl.h"
#include "tools/coll-perf/moe/nccl_peer.h"

#include <condition_variable>
#include <functional>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

namespace coll::perf {
namespace {

// Exchanges bytes between threads, once.
class Swapping {
public:
  explicit Swapping(int ranks) : all_(static_cast<size_t>(ranks)) {}
  NcclRanks::Swap of(int rank) {
    return [this, rank](const std::string &mine) -> Result<std::vector<std::string>> {
      std::unique_lock<std::mutex> lock(mutex_);
      all_[static_cast<size_t>(rank)] = mine;
      ++came_;
      changed_.notify_all();
      changed_.wait(lock, [&] { return came_ == all_.size(); });
      return all_;
    };
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> all_;
  size_t came_ = 0;
};

class MoePeerTest : public testing::Test {
protected:
  // Calls `body(peer or why there is none)` for each rank, each in its own thread.
  using Body = std::function<void(Result<std::unique_ptr<NcclMoePeer>>)>;
  void play(const MoeTask &task, const Body &body) {
    Swapping swapping(task.ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < task.ranks; ++rank)
      threads.emplace_back(
          [&, rank] { body(NcclMoePeer::create(task, rank, nccl_.table(), swapping.of(rank))); });
    for (std::thread &thread : threads)
      thread.join();
  }

  rt::dl::FakeCuda cuda_{4};
  rt::dl::FakeNccl nccl_;
  rt::ScopedMoePlatform platform_{rt::test::emulatedMoe(cuda_.table())};
};

MoeTask smallTask(int ranks, MoeSkew skew) {
  MoeTask task;
  task.ranks = ranks;
  task.tokens = 23;
  task.hidden = 144;
  task.topk = 3;
  task.experts = 4 * ranks;
  task.skew = skew;
  task.timeoutUs = 20'000'000;
  return task;
}

TEST_F(MoePeerTest, EveryValueIsThatOfTheExchange) {
  for (int ranks : {1, 2, 4})
    for (MoeSkew skew : {MoeSkew::Uniform, MoeSkew::Few, MoeSkew::One}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + nameOf(skew));
      const MoeTask task = smallTask(ranks, skew);
      play(task, [&](Result<std::unique_ptr<NcclMoePeer>> made) {
        ASSERT_TRUE(made.ok()) << made.status().toString();
        NcclMoePeer &peer = **made;
        EXPECT_EQ(peer.name(), "NCCL 2.28.9 send/recv, packed");
        const Result<int64_t> wrong = peer.check();
        ASSERT_TRUE(wrong.ok()) << wrong.status().toString();
        EXPECT_EQ(*wrong, 0);
        for (MoeCall call : task.calls)
          if (NcclMoePeer::has(call))
            EXPECT_TRUE(peer.call(call).ok()) << nameOf(call);
        EXPECT_TRUE(peer.synchronize().ok());
      });
      EXPECT_EQ(nccl_.liveObjects(), 0);
      EXPECT_EQ(nccl_.misuse(), "");
      EXPECT_EQ(cuda_.misuse(), "");
      EXPECT_EQ(cuda_.liveAllocations(), 0);
    }
}

// The largest possible number of rows, with fewer tokens than there is room for, and with all of
// them.
TEST_F(MoePeerTest, EveryValueIsThatOfTheLowLatencyMode) {
  for (int ranks : {1, 2, 4})
    for (MoeSkew skew : {MoeSkew::Uniform, MoeSkew::Few, MoeSkew::One}) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, " + nameOf(skew));
      MoeTask task = smallTask(ranks, skew);
      task.lowLatencyTokens = {5, task.tokens, 1};
      play(task, [&](Result<std::unique_ptr<NcclMoePeer>> made) {
        ASSERT_TRUE(made.ok()) << made.status().toString();
        NcclMoePeer &peer = **made;
        EXPECT_EQ(peer.name(), "NCCL 2.28.9 send/recv, packed, worst case");
        for (int tokens : task.lowLatencyTokens) {
          const Status used = peer.use(tokens);
          ASSERT_TRUE(used.ok()) << used.toString();
          const Result<int64_t> wrong = peer.check();
          ASSERT_TRUE(wrong.ok()) << wrong.status().toString();
          EXPECT_EQ(*wrong, 0) << tokens << " tokens";
        }
      });
      EXPECT_EQ(nccl_.misuse(), "");
      EXPECT_EQ(cuda_.misuse(), "");
    }
}

TEST_F(MoePeerTest, WhereNcclFailsItSaysSo) {
  nccl_.failNext("groupEnd", rt::dl::kNcclSystemError);
  play(smallTask(1, MoeSkew::Uniform), [](Result<std::unique_ptr<NcclMoePeer>> made) {
    ASSERT_TRUE(made.ok()) << made.status().toString();
    const Status status = (*made)->call(MoeCall::Dispatch);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(status.message().find("ncclGroupEnd"), std::string::npos) << status.toString();
  });
  EXPECT_EQ(nccl_.liveObjects(), 0);
}

TEST_F(MoePeerTest, MoreRanksThanGpusAreNone) {
  play(smallTask(5, MoeSkew::Uniform), [](Result<std::unique_ptr<NcclMoePeer>> made) {
    EXPECT_EQ(made.status().toString(),
              "unsupported: NCCL needs a GPU for each of the 5 ranks; there are 4");
  });
}

// A missing rank takes until the deadline, and then the work that was begun is ended.
TEST_F(MoePeerTest, ARankThatDoesNotComeIsATimeout) {
  MoeTask task = smallTask(2, MoeSkew::Uniform);
  task.timeoutUs = 200'000;
  std::mutex mutex;
  std::condition_variable changed;
  int ended = 0;
  play(task, [&](Result<std::unique_ptr<NcclMoePeer>> made) {
    ASSERT_TRUE(made.ok()) << made.status().toString();
    // NCCL connects ranks in their first call.
    EXPECT_TRUE((*made)->call(MoeCall::Combine).ok());
    Status met = (*made)->synchronize();
    // The other rank may arrive after the deadline.
    for (int i = 0; i < 300 && !met.ok(); ++i)
      met = (*made)->synchronize();
    EXPECT_TRUE(met.ok()) << met.toString();
    std::unique_lock<std::mutex> lock(mutex);
    if (ended++ > 0) {
      changed.wait(lock, [&] { return ended == 3; });
      return;
    }
    lock.unlock();
    EXPECT_TRUE((*made)->call(MoeCall::Combine).ok());
    EXPECT_EQ((*made)->synchronize().toString(), "timeout: NCCL's exchange has not ended");
    lock.lock();
    ended = 3;
    changed.notify_all();
  });
}

} // namespace
} // namespace coll::perf
