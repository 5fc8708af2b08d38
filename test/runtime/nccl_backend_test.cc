// Tests of what is specific to backend nccl: streams, registration, NCCL's failures, and refusals.
// Over a fake driver and a fake NCCL. gpu_backend_test.cc tests what it has in common with backend
// direct, the conformance suite the rest.

#include "runtime/backend/nccl/aside.h"
#include "runtime/backend/nccl/platform.h"
#include "runtime/base/env.h"
#include "test/runtime/gpu_ranks.h"
#include "test/support/fakes/nccl.h"

#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <thread>

namespace coll::rt {
namespace {

using test::contains;
using test::Rank;

class NcclBackend : public test::GpuRanks {
protected:
  explicit NcclBackend(int version = 22809)
      : GpuRanks("nccl"), nccl(version), platform({&cuda.table(), &nccl.table()}) {}
  ~NcclBackend() override {
    EXPECT_EQ(nccl.liveObjects(), 0);
    EXPECT_EQ(nccl.misuse(), "");
  }

  dl::FakeNccl nccl;
  nccl::ScopedPlatform platform;
};

class OldNccl : public NcclBackend {
protected:
  OldNccl() : NcclBackend(21903) {}
};

//===-- what it takes -----------------------------------------------------------===//

TEST_F(NcclBackend, RefusesWhatNcclHasNot) {
  Result<std::unique_ptr<Backend>> backend = createBackend("nccl", options(2));
  ASSERT_TRUE(backend.ok()) << backend.status().toString();
  auto refusal = [&](CollDtype dtype, CollReduction reduction, CollOrder order, double scale) {
    Call call;
    call.kind = OpKind::AllReduce;
    call.dtype = dtype;
    call.reduction = reduction;
    call.order = order;
    call.scale = scale;
    return (*backend)->supports(call);
  };
  EXPECT_TRUE(refusal(kCollBf16, kCollAvg, kCollOrderAny, 1).ok());
  EXPECT_TRUE(refusal(kCollI64, kCollUmax, kCollOrderAny, 1).ok());
  EXPECT_TRUE(refusal(kCollI64, kCollAvg, kCollOrderAny, 1).ok());
  EXPECT_TRUE(refusal(kCollU8, kCollMin, kCollOrderAny, 1).ok());
  EXPECT_TRUE(refusal(kCollF32, kCollSum, kCollOrderAny, 0.5).ok());
  EXPECT_EQ(refusal(kCollI16, kCollSum, kCollOrderAny, 1).code(), kCollUnsupported);
  EXPECT_TRUE(contains(refusal(kCollI32, kCollXor, kCollOrderAny, 1), "no xor of i32"));
  EXPECT_TRUE(refusal(kCollF8E5M2, kCollSum, kCollOrderAny, 1).ok());
  EXPECT_TRUE(contains(refusal(kCollF8E5M2, kCollAvg, kCollOrderAny, 1), "no avg of f8e5m2"));
  EXPECT_TRUE(contains(refusal(kCollF32, kCollSum, kCollOrderRank, 1), "order"));
  EXPECT_EQ(refusal(kCollI32, kCollSum, kCollOrderAny, 2).code(), kCollUnsupported);
  Call wide;
  wide.kind = OpKind::AllReduce;
  wide.dtype = kCollBf16;
  wide.accumulation = kCollAccumulateF32;
  EXPECT_TRUE(contains((*backend)->supports(wide), "rounds each partial sum"));
  wide.reduction = kCollMax;
  EXPECT_TRUE((*backend)->supports(wide).ok());
}

TEST_F(NcclBackend, NeedsAGpuForEachRank) {
  Status status = createBackend("nccl", options(5)).status();
  EXPECT_EQ(status.code(), kCollUnsupported);
  EXPECT_TRUE(contains(status, "5 ranks, 4 GPUs")) << status.message();
}

TEST_F(NcclBackend, ScalesContributions) {
  expectAll(run(options(4), [&](Rank &me) {
    float *data = floats(me.rank, {1.0f + static_cast<float>(me.rank), 8});
    Call call = sum(data, 2);
    call.scale = 0.5;
    Status first = me.group.run(call);
    EXPECT_EQ(data[0], 5);
    EXPECT_EQ(data[1], 16);
    call.reduction = kCollAvg;
    call.scale = 2;
    Status second = me.group.run(call);
    EXPECT_EQ(data[0], 10);
    return first.ok() ? second : first;
  }));
}

TEST_F(OldNccl, HasNoSumsOfEightBitFloats) {
  Result<std::unique_ptr<Backend>> backend = createBackend("nccl", options(2));
  ASSERT_TRUE(backend.ok());
  Call call;
  call.kind = OpKind::AllReduce;
  call.dtype = kCollF8E5M2;
  EXPECT_TRUE(contains((*backend)->supports(call), "from 2.24"));
  call.kind = OpKind::Broadcast;
  EXPECT_TRUE((*backend)->supports(call).ok());
}

TEST_F(OldNccl, MovesBlocksWithoutItsAllToAll) {
  EXPECT_EQ(nccl.table().allToAll, nullptr);
  expectAll(run(options(4), [&](Rank &me) {
    float base = static_cast<float>(10 * me.rank);
    float *data = floats(me.rank, {base, base + 1, base + 2, base + 3});
    Call call = sum(data, 1);
    call.kind = OpKind::AllToAll;
    call.dstCount = 1;
    Status status = me.group.run(call);
    for (int i = 0; i < 4; ++i)
      EXPECT_EQ(data[i], static_cast<float>(10 * i + me.rank));
    return status;
  }));
}

//===-- streams -----------------------------------------------------------------===//

TEST_F(NcclBackend, CallsOnAStreamComeInItsOrder) {
  cuda.delayCopies(3);
  expectAll(run(options(4), [&](Rank &me) {
    const dl::Cuda &driver = cuda.table();
    dl::CudaStream on = stream();
    float *from = floats(me.rank, {1, 2}), *data = floats(me.rank, {0, 0});
    auto to = reinterpret_cast<dl::CudaAddress>(data);
    EXPECT_EQ(driver.memcpyAsync(to, reinterpret_cast<dl::CudaAddress>(from), 8, on), 0);
    Call call = sum(data, 2);
    call.stream = on;
    for (int i = 0; i < 3; ++i)
      if (Status status = me.group.run(call); !status.ok())
        return status;
    Result<Request *> last = me.group.start(call);
    if (!last)
      return last.status();
    Status waited = me.endpoint.wait(*last);
    float *copy = floats(me.rank, {0, 0});
    EXPECT_EQ(driver.memcpyAsync(reinterpret_cast<dl::CudaAddress>(copy), to, 8, on), 0);
    Status status = me.endpoint.synchronize(on);
    EXPECT_EQ(copy[0], 256);
    EXPECT_EQ(copy[1], 512);
    EXPECT_EQ(me.endpoint.inFlight(), 0);
    (void)driver.streamDestroy(on);
    return waited.ok() ? status : waited;
  }));
}

TEST_F(NcclBackend, BlocksThatInterleaveGoOverScratchInStreamOrder) {
  expectAll(run(options(2), [&](Rank &me) {
    dl::CudaStream on = stream();
    float mine = static_cast<float>(me.rank);
    float *src = floats(me.rank, {mine, mine + 10}), *dst = floats(me.rank, {0, 0, 0, 0});
    Call call = sum(src, 1);
    call.kind = OpKind::AllGather;
    call.dst = dst;
    call.outer = 2;
    call.stream = on;
    Status status = me.group.run(call);
    Status done = me.endpoint.synchronize(on);
    EXPECT_EQ(std::vector<float>(dst, dst + 4), (std::vector<float>{0, 1, 10, 11}));
    (void)cuda.table().streamDestroy(on);
    return status.ok() ? done : status;
  }));
}

// The host does not wait for the members of a call on a stream; it learns of a mismatch later.
TEST_F(NcclBackend, MismatchOnAStreamIsToldWhenItIsWaitedFor) {
  std::vector<Status> all = run(options(2), [&](Rank &me) {
    dl::CudaStream on = stream();
    float *data = floats(me.rank, std::vector<float>(8));
    Call call = sum(data, 4 + me.rank);
    call.stream = on;
    Status status = me.group.run(call);
    Status done = me.endpoint.synchronize(on);
    (void)cuda.table().streamDestroy(on);
    return status.ok() ? done : status;
  });
  for (const Status &status : all) {
    EXPECT_TRUE(contains(status, "counts differ")) << status.toString();
    EXPECT_TRUE(contains(status, "rank 1 calls all_reduce sum f32 x 5")) << status.toString();
  }
}

TEST_F(NcclBackend, WithoutComparisonOnlyTheFirstCallIsExchanged) {
  ScopedEnv off("COLL_NCCL_CHECK", "0");
  expectAll(run(options(3), [&](Rank &me) {
    float *data = floats(me.rank, {1});
    Status status;
    for (int i = 0; i < 3 && status.ok(); ++i)
      status = me.group.run(sum(data, 1));
    EXPECT_EQ(data[0], 27);
    return status;
  }));
}

TEST_F(NcclBackend, CommunicatorsNeedNotBlock) {
  ScopedEnv blocking("COLL_NCCL_BLOCKING", "0");
  expectAll(run(options(2), [&](Rank &me) {
    float *data = floats(me.rank, {1});
    Status status = me.group.run(sum(data, 1));
    EXPECT_EQ(data[0], 2);
    return status;
  }));
}

//===-- memory and groups -------------------------------------------------------===//

TEST_F(NcclBackend, RegistersAndAllocates) {
  expectAll(run(options(2), [&](Rank &me) {
    float *data = floats(me.rank, {3});
    Result<std::unique_ptr<Registration>> user = me.group.registerMemory(data, 4);
    Result<std::unique_ptr<Registration>> own = me.group.allocate(1000);
    if (!user || !own)
      return user ? own.status() : user.status();
    EXPECT_EQ((*user)->kind(), "user buffer");
    EXPECT_EQ((*own)->kind(), "symmetric window");
    auto *symmetric = static_cast<float *>((*own)->data());
    *symmetric = 2;
    Status first = me.group.run(sum(data, 1)), second = me.group.run(sum(symmetric, 1));
    EXPECT_EQ(*data, 6);
    EXPECT_EQ(*symmetric, 4);
    float host;
    EXPECT_EQ(me.group.registerMemory(&host, 4).status().code(), kCollInvalidCall);
    EXPECT_EQ(me.group.registerMemory(data, 0).status().code(), kCollInvalidCall);
    return first.ok() ? second : first;
  }));
}

TEST_F(OldNccl, AllocatesWithoutWindows) {
  expectAll(run(options(2), [&](Rank &me) {
    Result<std::unique_ptr<Registration>> own = me.group.allocate(64);
    if (!own)
      return own.status();
    EXPECT_EQ((*own)->kind(), "user buffer");
    return Status();
  }));
}

TEST_F(NcclBackend, GroupsThatAreKnownAreSplitFromTheWorld) {
  BackendOptions known = options(4);
  known.groups = {{0, 1}, {3, 2}};
  expectAll(run(known, [&](Rank &me) {
    std::vector<int> ranks = me.rank < 2 ? std::vector<int>{0, 1} : std::vector<int>{3, 2};
    Result<std::unique_ptr<Communicator>> half = me.endpoint.communicator(ranks);
    if (!half)
      return half.status();
    float *data = floats(me.rank, {static_cast<float>(me.rank)});
    Status status = (*half)->run(sum(data, 1));
    EXPECT_EQ(*data, me.rank < 2 ? 1 : 5);
    return status;
  }));
  // And what each rank works on, from those.
  EXPECT_EQ(nccl.calls("commSplit"), 2 * 4 + 2 * 4);
  EXPECT_EQ(nccl.calls("getUniqueId"), 1);
  known.groups = {{0, 7}};
  EXPECT_EQ(createBackend("nccl", known).status().code(), kCollInvalidCall);
}

//===-- failures ----------------------------------------------------------------===//

TEST_F(NcclBackend, AFailedStartIsNamedAndCanBeTriedAgain) {
  nccl.failNext("commInitRankConfig", dl::kNcclSystemError, /*skip=*/1);
  Status status = createBackend("nccl", options(3)).status();
  EXPECT_EQ(status.code(), kCollLink);
  EXPECT_TRUE(contains(status, "ncclCommInitRankConfig: system error")) << status.message();
  EXPECT_TRUE(contains(status, "rank 1")) << status.message();
  nccl.failNext("commSplit", dl::kNcclUnhandledCudaError);
  BackendOptions known = options(3);
  known.groups = {{0, 1}};
  EXPECT_EQ(createBackend("nccl", known).status().code(), kCollDevice);
  EXPECT_TRUE(createBackend("nccl", options(3)).ok());
}

// Whichever step of making a base communicator, or of splitting one from it, fails.
TEST_F(NcclBackend, AStartThatFailsLeavesNoCommunicator) {
  BackendOptions known = options(3);
  known.groups = {{0, 1}, {1, 2}};
  for (const char *step : {"commInitRankConfig", "commSplit", "commGetAsyncError"})
    for (int skip = 0; skip < 24; ++skip) {
      nccl.failNext(step, dl::kNcclSystemError, skip);
      (void)createBackend("nccl", known).status();
      EXPECT_EQ(nccl.liveObjects(), 0) << step << " " << skip;
      EXPECT_EQ(nccl.misuse(), "") << step << " " << skip;
    }
}

TEST_F(NcclBackend, AStartThatNeverEndsRunsIntoTheDeadline) {
  nccl.hangInit();
  Status status = createBackend("nccl", options(2, 100'000)).status();
  EXPECT_EQ(status.code(), kCollTimeout);
  EXPECT_TRUE(contains(status, "not ready within 100 ms")) << status.message();
}

// NCCL connects the members in the first call of a kind, and here does not return. The rank's
// thread returns nevertheless, and aborts it.
TEST_F(NcclBackend, AConnectionThatHangsRunsIntoTheDeadline) {
  nccl.hangConnect();
  auto begin = std::chrono::steady_clock::now();
  std::vector<Status> all = run(
      options(2, 4'000'000), [&](Rank &me) { return me.group.run(sum(floats(me.rank, {1}), 1)); });
  int timeouts = 0;
  for (const Status &status : all) {
    EXPECT_TRUE(status.code() == kCollTimeout || status.code() == kCollAborted)
        << status.toString();
    EXPECT_TRUE(contains(status, "on the GPU, though all members")) << status.toString();
    timeouts += status.code() == kCollTimeout;
  }
  EXPECT_GE(timeouts, 1);
  EXPECT_EQ(nccl.calls("commAbort"), 2 * 2); // with what it was split from
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// Members wait for each other in different groups, each for the first time.
TEST_F(NcclBackend, GroupsConnectInAnyOrder) {
  expectAll(run(options(2), [&](Rank &me) {
    std::unique_ptr<Communicator> other = me.endpoint.communicator({1, 0}).take();
    Communicator *first = me.rank ? other.get() : &me.group;
    Communicator *second = me.rank ? &me.group : other.get();
    for (int64_t count : {1, 2}) { // the second time over communicators that exist
      float *one = floats(me.rank, {1, 1}), *two = floats(me.rank, {3, 3});
      Result<Request *> early = first->start(sum(me.rank ? two : one, count));
      Result<Request *> late = second->start(sum(me.rank ? one : two, count));
      Status a = me.endpoint.wait(*early), b = me.endpoint.wait(*late);
      EXPECT_EQ(*one, 2);
      EXPECT_EQ(*two, 6);
      if (!a.ok() || !b.ok())
        return a.ok() ? b : a;
    }
    return Status();
  }));
}

// Both calls have occurred before, so they are not compared by default.
TEST_F(NcclBackend, KnownCallsThatDifferRunIntoTheDeadlineUnlessAllAreCompared) {
  auto body = [&](Rank &me) {
    float *data = floats(me.rank, std::vector<float>(8));
    for (int64_t count : {4, 5})
      if (Status status = me.group.run(sum(data, count)); !status.ok())
        return status;
    return me.group.run(sum(data, 4 + me.rank));
  };
  for (const Status &status : run(options(2, 4'000'000), body))
    EXPECT_TRUE(contains(status, "is like an earlier call")) << status.toString();
  ScopedEnv every("COLL_NCCL_CHECK", "2");
  for (const Status &status : run(options(2), body))
    EXPECT_TRUE(contains(status, "counts differ")) << status.toString();
}

// Every rank gets the failure, and a new backend works.
TEST_F(NcclBackend, ABrokenCommunicatorEndsTheJobAndIsRebuilt) {
  nccl.breakAfter(4, dl::kNcclRemoteError);
  auto body = [&](Rank &me) {
    float *data = floats(me.rank, {1});
    Status status;
    for (int i = 0; i < 4 && status.ok(); ++i)
      status = me.group.run(sum(data, 1));
    return status;
  };
  int peers = 0;
  for (const Status &status : run(options(3), body)) {
    EXPECT_TRUE(status.code() == kCollPeer || status.code() == kCollAborted) << status.toString();
    EXPECT_TRUE(contains(status, "remote process exited")) << status.toString();
    EXPECT_TRUE(contains(status, "train.py:7:1")) << status.toString();
    peers += status.code() == kCollPeer;
  }
  EXPECT_GE(peers, 1);
  expectAll(run(options(3), body));
}

TEST_F(NcclBackend, AHangOnTheGpuRunsIntoTheDeadline) {
  nccl.hangAfter(2);
  auto begin = std::chrono::steady_clock::now();
  std::vector<Status> all = run(options(2, 4'000'000), [&](Rank &me) {
    float *data = floats(me.rank, {1});
    Status first = me.group.run(sum(data, 1)), second = me.group.run(sum(data, 1));
    EXPECT_TRUE(first.ok()) << first.toString();
    EXPECT_EQ(me.group.run(sum(data, 1)).code(), kCollAborted);
    return second;
  });
  int timeouts = 0;
  for (const Status &status : all) {
    EXPECT_TRUE(status.code() == kCollTimeout || status.code() == kCollAborted)
        << status.toString();
    EXPECT_TRUE(contains(status, "on the GPU; whether all members")) << status.toString();
    timeouts += status.code() == kCollTimeout;
  }
  EXPECT_GE(timeouts, 1);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// Otherwise the driver would block in a launch, without deadline and without noticing failures.
TEST_F(NcclBackend, CallsOnAStreamDoNotRunAheadOfAGpuThatHangs) {
  nccl.hangAfter(40);
  std::vector<Status> all = run(options(2, 200'000), [&](Rank &me) {
    dl::CudaStream on = stream();
    Call call = sum(floats(me.rank, {0}), 1);
    call.stream = on;
    Status status;
    int calls = 0;
    for (; calls < 900 && status.ok(); ++calls)
      status = me.group.run(call);
    EXPECT_LT(calls, 500);
    (void)cuda.table().streamDestroy(on);
    return status;
  });
  for (const Status &status : all)
    EXPECT_TRUE(status.code() == kCollTimeout || status.code() == kCollAborted)
        << status.toString();
}

TEST_F(NcclBackend, AFailedLaunchIsNamed) {
  nccl.failNext("allReduce", dl::kNcclUnhandledCudaError, /*skip=*/2);
  std::vector<Status> all = run(options(2), [&](Rank &me) {
    float *data = floats(me.rank, {1});
    Status first = me.group.run(sum(data, 1));
    return first.ok() ? me.group.run(sum(data, 1)) : first;
  });
  EXPECT_TRUE(all[0].code() == kCollDevice || all[1].code() == kCollDevice);
  for (const Status &status : all) {
    EXPECT_TRUE(contains(status, "unhandled cuda error")) << status.toString();
    EXPECT_TRUE(contains(status, "op 3 at train.py:7:1")) << status.toString();
  }
}

TEST_F(NcclBackend, OutOfMemoryForScratchIsNamed) {
  std::vector<Status> all = run(options(2), [&](Rank &me) {
    float *data = floats(me.rank, std::vector<float>(8));
    Call call = sum(data, 2);
    call.kind = OpKind::ReduceScatter;
    call.outer = 2;
    if (me.rank == 0)
      cuda.failNext("memAlloc", dl::kCudaOutOfMemory);
    return me.group.run(call);
  });
  EXPECT_TRUE(all[0].code() == kCollDevice || all[1].code() == kCollDevice);
  for (const Status &status : all)
    EXPECT_TRUE(contains(status, "OUT_OF_MEMORY")) << status.toString();
}

TEST_F(NcclBackend, TwoTransfersCanComplete) {
  // The second send is met first; the first has not been asked for yet.
  expectAll(run(options(2), [&](Rank &me) {
    float *one = floats(me.rank, {me.rank == 0 ? 1.0f : 0}),
          *two = floats(me.rank, {me.rank == 0 ? 2.0f : 0});
    auto transfer = [&](float *data, int64_t tag) {
      Call call = sum(data, 1);
      call.kind = me.rank == 0 ? OpKind::Send : OpKind::Recv;
      call.peer = 1 - me.rank;
      call.tag = tag;
      return call;
    };
    if (me.rank == 0) {
      Result<Request *> early = me.group.start(transfer(one, 1));
      Status second = me.group.run(transfer(two, 2));
      Status first = me.endpoint.wait(*early);
      return second.ok() ? first : second;
    }
    Status second = me.group.run(transfer(two, 2)), first = me.group.run(transfer(one, 1));
    EXPECT_EQ(*one, 1);
    EXPECT_EQ(*two, 2);
    return second.ok() ? first : second;
  }));
}

//===-- calls on a thread of their own ------------------------------------------===//

constexpr int64_t kLongUs = 60'000'000;

// The thread on which a call ran.
std::thread::id runAside(nccl::Aside &aside) {
  std::thread::id ranOn;
  aside.start([&] {
    ranOn = std::this_thread::get_id();
    return Status(kCollTimeout, "the outcome");
  });
  EXPECT_TRUE(aside.waitUs(kLongUs));
  EXPECT_EQ(aside.take().code(), kCollTimeout);
  return ranOn;
}

TEST(NcclAside, CallsThatFollowEachOtherShareAThread) {
  nccl::Aside aside;
  EXPECT_TRUE(aside.done());
  const std::thread::id first = runAside(aside);
  EXPECT_NE(first, std::this_thread::get_id());
  EXPECT_EQ(runAside(aside), first);
}

TEST(NcclAside, ACallAfterARestRuns) {
  nccl::Aside aside;
  (void)runAside(aside);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100)); // its thread has ended
  EXPECT_NE(runAside(aside), std::thread::id());
}

TEST(NcclAside, ACallThatDoesNotReturnIsLeftAlone) {
  std::promise<void> returns;
  auto ended = std::make_shared<std::promise<void>>(); // used by the thread until it ends
  std::future<void> end = ended->get_future();
  {
    nccl::Aside aside;
    aside.start([returned = returns.get_future().share(), ended] {
      returned.wait();
      ended->set_value();
      return Status();
    });
    EXPECT_FALSE(aside.waitUs(1000));
  }
  returns.set_value();
  end.wait();
}

TEST(NcclLibrary, VersionsAndErrors) {
  EXPECT_EQ(dl::ncclVersionName(22809), "2.28.9");
  EXPECT_EQ(dl::ncclVersionName(21903), "2.19.3");
  EXPECT_EQ(dl::ncclVersionName(2804), "2.8.4");
  dl::FakeCuda cuda;
  dl::FakeNccl nccl;
  EXPECT_TRUE(dl::ncclStatus(nccl.table(), dl::kNcclInProgress, "x").ok());
  EXPECT_EQ(dl::ncclStatus(nccl.table(), dl::kNcclInvalidUsage, "x").code(), kCollInvalidCall);
  EXPECT_EQ(dl::ncclStatus(nccl.table(), dl::kNcclRemoteError, "x").code(), kCollPeer);
  EXPECT_EQ(dl::ncclStatus(nccl.table(), 99, "x").code(), kCollInternal);
}

} // namespace
} // namespace coll::rt
