// What backends nccl and direct have in common (runtime/gpu), over a fake driver, a fake NCCL and
// emulated kernels.

#include "runtime/backend/gpu/call_history.h"
#include "runtime/backend/gpu/card.h"
#include "runtime/backend/nccl/platform.h"
#include "runtime/base/env.h"
#include "test/conformance/emulated_peers.h"
#include "test/runtime/gpu_ranks.h"
#include "test/support/fakes/nccl.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace coll::rt {
namespace {

using test::contains;
using test::Rank;

class GpuBackend : public test::GpuRanks, public testing::WithParamInterface<const char *> {
protected:
  GpuBackend() : GpuRanks(GetParam()) {}
  ~GpuBackend() override {
    EXPECT_EQ(nccl.liveObjects(), 0);
    EXPECT_EQ(nccl.misuse(), "");
  }

  dl::FakeNccl nccl;
  nccl::ScopedPlatform ncclPlatform{{&cuda.table(), &nccl.table()}};
  direct::ScopedPlatform directPlatform{test::emulatedPeers(cuda.table())};
};

INSTANTIATE_TEST_SUITE_P(Backends, GpuBackend, testing::Values("nccl", "direct"),
                         [](const auto &info) { return std::string(info.param); });

TEST_P(GpuBackend, RefusesMemoryOfOthers) {
  expectAll(run(options(2), [&](Rank &me) {
    std::vector<float> host(8);
    EXPECT_TRUE(contains(me.group.run(sum(host.data(), 8)),
                         std::string("host memory; ") + GetParam() + " takes"));
    Status status = me.group.run(sum(floats(1 - me.rank, std::vector<float>(8)), 8));
    EXPECT_EQ(status.code(), kCollInvalidCall);
    EXPECT_TRUE(contains(status, "memory of GPU " + std::to_string(1 - me.rank)));
    EXPECT_TRUE(contains(status, "train.py:7:1"));
    EXPECT_TRUE(contains(status, "on rank " + std::to_string(me.rank)));
    return Status();
  }));
}

// No member waits for one that has no memory or another size, and the job continues.
TEST_P(GpuBackend, RefusesElementsThatAreNotAligned) {
  expectAll(run(options(2), [&](Rank &me) {
    float *data = floats(me.rank, {1, 1, 1});
    Call call = sum(data + 1, 1);
    call.src = reinterpret_cast<char *>(data) + 2;
    const Status refused = me.group.run(call);
    EXPECT_EQ(refused.code(), kCollInvalidCall);
    EXPECT_TRUE(contains(refused, "all_reduce sum f32 x 1 (op 3 at train.py:7:1) on rank " +
                                      std::to_string(me.rank)))
        << refused.toString();
    EXPECT_TRUE(contains(refused, "the source begins 2 bytes after a multiple of 4"))
        << refused.toString();
    return me.group.run(sum(data + 1, 1));
  }));
}

TEST_P(GpuBackend, WhoHasLeftMakesNoCalls) {
  for (const Status &status : run(options(2), [&](Rank &me) {
         Call call = sum(floats(me.rank, {1}), 1);
         Status status = me.group.run(call);
         me.endpoint.leave();
         return status.ok() ? me.group.run(call) : status;
       }))
    EXPECT_TRUE(contains(status, "has left the job")) << status.toString();
}

// Users should free it earlier, but need not.
TEST_P(GpuBackend, MemoryMayOutliveTheJob) {
  std::vector<std::unique_ptr<Registration>> left[2];
  expectAll(run(options(2), [&](Rank &me) {
    float *data = floats(me.rank, {1});
    for (bool isUsers : {true, false}) {
      auto made = isUsers ? me.group.registerMemory(data, 4) : me.group.allocate(64);
      if (!made)
        return made.status();
      left[me.rank].push_back(made.take());
    }
    return me.group.run(sum(data, 1));
  }));
  for (auto &ofRank : left)
    ofRank.clear();
  expectAll(run(options(2), [&](Rank &me) { return me.group.run(sum(floats(me.rank, {1}), 1)); }));
}

TEST_P(GpuBackend, MemoryOfAGroupIsOfAllOrOfNone) {
  expectAll(run(options(2), [&](Rank &me) {
    Status status = me.group.run(sum(floats(me.rank, {1}), 1));
    if (me.rank == 1 && GetParam() == std::string("nccl"))
      nccl.failNext("memAlloc", dl::kNcclUnhandledCudaError);
    else if (me.rank == 1)
      cuda.failNext("memAlloc", dl::kCudaOutOfMemory);
    if (status.ok())
      status = me.group.run(Call()); // a barrier
    // Whoever comes first.
    Status refused = me.group.allocate(64 << 20).status();
    EXPECT_TRUE(contains(refused, "rank ") && contains(refused, "MemAlloc")) << refused.toString();
    refused = me.group.allocate(64 + me.rank).status();
    EXPECT_EQ(refused.code(), kCollMismatch);
    EXPECT_TRUE(contains(refused, "sizes of symmetric memory differ")) << refused.message();
    EXPECT_EQ(me.group.allocate(-me.rank).status().code(), kCollInvalidCall);
    return status.ok() ? me.group.run(sum(floats(me.rank, {1}), 1)) : status;
  }));
}

TEST_P(GpuBackend, AnEndpointIsGivenOnce) {
  Result<std::unique_ptr<Backend>> backend = createBackend(GetParam(), options(2));
  ASSERT_TRUE(backend.ok());
  EXPECT_TRUE((*backend)->endpoint(1).ok());
  EXPECT_EQ((*backend)->endpoint(1).status().code(), kCollInvalidCall);
  EXPECT_EQ((*backend)->endpoint(2).status().code(), kCollInvalidCall);
}

// The call has returned and waits on the GPU, and no thread watches it; its stream must end
// nevertheless.
TEST_P(GpuBackend, WhoLeavesAfterAFailureOfOthersLeavesNothingOnTheGpu) {
  std::atomic<int> launched = 0;
  run(options(3), [&](Rank &me) {
    dl::CudaStream on = stream();
    Call call = sum(floats(me.rank, {1}), 1);
    call.stream = on;
    Status status = me.group.run(call);
    if (status.ok())
      status = me.endpoint.synchronize(on);
    EXPECT_TRUE(status.ok()) << status.toString();
    if (me.rank == 0) {
      while (launched < 2)
        std::this_thread::yield();
      me.endpoint.abort({kCollPeer, "rank 0 is not what it was"});
    } else {
      EXPECT_TRUE(me.group.run(call).ok());
      ++launched;
      while (me.endpoint.health().ok())
        std::this_thread::yield();
    }
    me.endpoint.leave();
    EXPECT_EQ(cuda.table().streamDestroy(on), dl::kCudaSuccess); // waits for what is there
    return status;
  });
  if (GetParam() == std::string("nccl")) {
    EXPECT_EQ(nccl.calls("commDestroy"), 0);
  }
}

// For example a send after a receive: otherwise the ranks would wait for each other in turn.
TEST_P(GpuBackend, AStartedCallDoesNotWaitForWhatComesLaterOnItsStream) {
  std::atomic<bool> isBlocked{false}, isSent{false};
  expectAll(run(options(2, 20'000'000), [&](Rank &me) {
    float *data = floats(me.rank, {me.rank == 0 ? 7.0f : 0});
    Call call = sum(data, 1);
    call.kind = me.rank == 0 ? OpKind::Send : OpKind::Recv;
    call.peer = 1 - me.rank;
    if (me.rank == 0) {
      while (!isBlocked)
        std::this_thread::yield();
      Status sent = me.group.run(call);
      isSent = true;
      return sent;
    }
    dl::CudaStream on = stream();
    call.stream = on;
    Result<Request *> started = me.group.start(call);
    EXPECT_EQ(dl::FakeCuda::enqueue(on, [&] { return [&] { return isSent.load(); }; }), 0);
    isBlocked = true;
    Status outcome = started ? me.endpoint.wait(*started) : started.status();
    if (outcome.ok())
      outcome = me.endpoint.synchronize(on);
    EXPECT_EQ(*data, 7);
    (void)cuda.table().streamDestroy(on);
    return outcome;
  }));
}

// Between two ranks, f32.
Call transfer(const Rank &me, float *data, int64_t tag) {
  Call call;
  call.kind = me.rank == 0 ? OpKind::Send : OpKind::Recv;
  call.dtype = kCollF32;
  call.count = 1;
  call.src = call.dst = data;
  call.peer = 1 - me.rank;
  call.tag = tag;
  return call;
}

TEST_P(GpuBackend, StartedTransfersOfATagMeetInTheirOrder) {
  constexpr int kRounds = 200;
  expectAll(run(options(2), [&](Rank &me) {
    float *one = floats(me.rank, {0}), *two = floats(me.rank, {0});
    for (int i = 0; i < kRounds; ++i) {
      *one = me.rank == 0 ? static_cast<float>(2 * i) : -1;
      *two = me.rank == 0 ? static_cast<float>(2 * i + 1) : -1;
      Result<Request *> first = me.group.start(transfer(me, one, 5)),
                        second = me.group.start(transfer(me, two, 5));
      for (Result<Request *> *request : {&second, &first})
        if (Status status = *request ? me.endpoint.wait(**request) : request->status();
            !status.ok())
          return status;
      EXPECT_EQ(*one, 2 * i);
      EXPECT_EQ(*two, 2 * i + 1);
    }
    return Status();
  }));
}

// The peer receives the message before it allocates.
TEST_P(GpuBackend, WhatIsInFlightGoesOnWhileMembersAllocate) {
  expectAll(run(options(2, 20'000'000), [&](Rank &me) {
    float *data = floats(me.rank, {me.rank == 0 ? 3.0f : 0});
    const Call call = transfer(me, data, 1);
    Result<Request *> sent = nullptr;
    if (me.rank == 0)
      sent = me.group.start(call);
    else if (Status received = me.group.run(call); !received.ok())
      return received;
    Result<std::unique_ptr<Registration>> memory = me.group.allocate(64);
    EXPECT_EQ(*data, 3);
    if (!memory || !sent)
      return memory ? sent.status() : memory.status();
    return me.rank == 0 ? me.endpoint.wait(*sent) : Status();
  }));
}

// More calls than may be on streams without having been compared, so that the first must be
// compared.
TEST_P(GpuBackend, ARankMayBeFarAheadOfTheOthers) {
  const ScopedEnv all("COLL_NCCL_CHECK", "2"), allHere("COLL_DIRECT_CHECK", "2");
  expectAll(run(options(2), [&](Rank &me) {
    dl::CudaStream on = stream();
    float *data = floats(me.rank, std::vector<float>(64, 1));
    if (me.rank == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    Status status;
    for (int64_t count = 1; count <= 50 && status.ok(); ++count) {
      Call call = sum(data, count); // like none before
      call.stream = on;
      status = me.group.run(call);
    }
    if (status.ok())
      status = me.endpoint.synchronize(on);
    EXPECT_EQ(data[49], 2);
    (void)cuda.table().streamDestroy(on);
    return status;
  }));
}

// The call's peer makes it last, on a separate stream, after more calls than a rank may be ahead of
// its GPU.
TEST_P(GpuBackend, CallsOnAStreamDoNotWaitForThoseOfAnother) {
  expectAll(run(options(2, 30'000'000), [&](Rank &me) {
    std::unique_ptr<Communicator> other = me.endpoint.communicator({1, 0}).take();
    dl::CudaStream apart = stream(), on = stream();
    float *data = floats(me.rank, {1}), *many = floats(me.rank, {0});
    Call alone = sum(data, 1), call = sum(many, 1);
    alone.stream = apart;
    call.stream = on;
    Status status = other->run(alone); // the first of its kind is compared
    const auto make = [&](int calls) {
      for (int i = 0; i < calls && status.ok(); ++i)
        status = me.group.run(call);
    };
    make(30);
    if (me.rank == 0 && status.ok())
      status = other->run(alone); // the 32nd, which is marked
    make(10 * 32);
    if (me.rank == 1 && status.ok())
      status = other->run(alone);
    for (dl::CudaStream used : {on, apart}) {
      if (status.ok())
        status = me.endpoint.synchronize(used);
      (void)cuda.table().streamDestroy(used);
    }
    EXPECT_EQ(data[0], 4);
    return status;
  }));
}

TEST_P(GpuBackend, AGraphReplaysItsCalls) {
  expectAll(run(options(2), [&](Rank &me) {
    const dl::Cuda &driver = cuda.table();
    dl::CudaStream on = stream();
    float *data = floats(me.rank, {1});
    Call call = sum(data, 1);
    // A group makes its first call outside of a capture; one of another group is still under way.
    Status status = me.group.run(call);
    float *beside = floats(me.rank, {1});
    std::unique_ptr<Communicator> other = me.endpoint.communicator({1, 0}).take();
    Result<Request *> started = other->start(sum(beside, 1));
    call.stream = on;
    EXPECT_EQ(driver.streamBeginCapture(on, dl::kCudaCaptureThreadLocal), 0);
    for (int i = 0; i < 3 && status.ok(); ++i)
      status = me.group.run(call);
    dl::CudaGraph graph = nullptr;
    dl::CudaGraphExec exec = nullptr;
    EXPECT_EQ(driver.streamEndCapture(on, &graph), 0);
    EXPECT_EQ(driver.graphInstantiate(&exec, graph, 0), 0);
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(driver.graphLaunch(exec, on), 0);
    Status done = me.endpoint.synchronize(on);
    EXPECT_EQ(data[0], 128);
    if (done.ok())
      done = started ? me.endpoint.wait(*started) : started.status();
    EXPECT_EQ(beside[0], 2);
    (void)driver.graphExecDestroy(exec);
    (void)driver.graphDestroy(graph);
    (void)driver.streamDestroy(on);
    return status.ok() ? done : status;
  }));
}

constexpr OpKind kMovedInPlace[] = {OpKind::ReduceScatter, OpKind::AllToAll, OpKind::Permute,
                                    OpKind::AllGather,     OpKind::Gather,   OpKind::Scatter};

// Two members move data in place. Returns the content of {10, 11, 12, 13} at position 0 and {20, …}
// at position 1 afterwards.
std::vector<float> movedInPlace(OpKind kind, int position) {
  const float own = 10 * static_cast<float>(position + 1), other = 30 - own;
  const bool isFirst = position == 0;
  switch (kind) {
  case OpKind::ReduceScatter:
    return isFirst ? std::vector<float>{30, 32} : std::vector<float>{34, 36};
  case OpKind::AllToAll:
    return isFirst ? std::vector<float>{10, 11, 20, 21} : std::vector<float>{12, 13, 22, 23};
  case OpKind::Permute:
    return {other, other + 1, other + 2, other + 3};
  case OpKind::AllGather:
    return {10, 11, 20, 21};
  case OpKind::Gather:
    return isFirst ? std::vector<float>{own} : std::vector<float>{10, 11, 20, 21};
  default:
    return isFirst ? std::vector<float>{20, 21} : std::vector<float>{22, 23};
  }
}

// Calls in place need scratch memory, which no call before the capture has requested.
TEST_P(GpuBackend, AGraphReplaysCallsInPlace) {
  expectAll(run(options(2), [&](Rank &me) {
    const dl::Cuda &driver = cuda.table();
    std::unique_ptr<Communicator> group = me.endpoint.communicator({1, 0}).take();
    Call call;
    call.kind = OpKind::Init;
    Status status = group->run(call);
    dl::CudaStream on = stream();
    call.stream = on;
    const int32_t pairs[] = {0, 1, 1, 0};
    call.pairs = pairs;
    call.numPairs = 2;
    call.root = 1;
    const float first = 10 * static_cast<float>(group->position() + 1);
    for (OpKind kind : kMovedInPlace) {
      float *data = floats(me.rank, {first, first + 1, first + 2, first + 3});
      call.kind = kind;
      call.count = call.dstCount = kind == OpKind::Permute ? 4 : 2;
      call.src = call.dst = data;
      if (kind == OpKind::Gather && group->position() == 0)
        call.dst = nullptr;
      dl::CudaGraph graph = nullptr;
      dl::CudaGraphExec exec = nullptr;
      EXPECT_EQ(driver.streamBeginCapture(on, dl::kCudaCaptureThreadLocal), 0);
      if (status.ok())
        status = group->run(call);
      EXPECT_EQ(driver.streamEndCapture(on, &graph), 0) << kindName(kind);
      EXPECT_EQ(driver.graphInstantiate(&exec, graph, 0), 0);
      EXPECT_EQ(driver.graphLaunch(exec, on), 0);
      if (Status done = me.endpoint.synchronize(on); status.ok())
        status = done;
      const std::vector<float> expected = movedInPlace(kind, group->position());
      EXPECT_EQ(std::vector<float>(data, data + expected.size()), expected) << kindName(kind);
      (void)driver.graphExecDestroy(exec);
      (void)driver.graphDestroy(graph);
    }
    (void)driver.streamDestroy(on);
    return status;
  }));
}

TEST(CallHistory, KnowsWhatIsLikeAnEarlierCall) {
  Call call;
  call.kind = OpKind::AllReduce;
  call.count = 7;
  gpu::CallHistory mine, theirs;
  EXPECT_TRUE(mine.note(signatureOf(call), -1));
  EXPECT_TRUE(theirs.note(signatureOf(call), -1));
  call.site.op = 12; // another place in the program, or another program
  EXPECT_FALSE(mine.note(signatureOf(call), -1));
  call.site.op = 13;
  EXPECT_FALSE(theirs.note(signatureOf(call), -1));
  EXPECT_EQ(mine.hash(), theirs.hash());
  EXPECT_TRUE(mine.note(signatureOf(call), 64)) << "elsewhere in symmetric memory";
  EXPECT_TRUE(theirs.note(signatureOf(call), 64));
  call.count = 8;
  EXPECT_TRUE(mine.note(signatureOf(call), -1));
  call.reduction = kCollMax;
  EXPECT_TRUE(theirs.note(signatureOf(call), -1));
  EXPECT_EQ(mine.hash(), theirs.hash()) << "of the calls before";
  (void)mine.note(signatureOf(call), -1);
  (void)theirs.note(signatureOf(call), -1);
  EXPECT_NE(mine.hash(), theirs.hash());
  int due = 0;
  for (int i = 0; i < 1024; ++i) {
    (void)mine.note(signatureOf(call), -1);
    due += mine.isDue();
  }
  EXPECT_EQ(due, 4);
  std::vector<gpu::Card> cards = {gpu::cardOf(call), gpu::cardOf(call)};
  EXPECT_TRUE(gpu::compareCards(cards, {0, 1}).ok());
  cards[1].history = 1;
  Status differ = gpu::compareCards(cards, {0, 1});
  EXPECT_EQ(differ.code(), kCollMismatch);
  EXPECT_TRUE(contains(differ, "earlier calls of group [0, 1] differed")) << differ.message();
}

} // namespace
} // namespace coll::rt
