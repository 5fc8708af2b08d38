// Tests of what is specific to backend direct: streams, symmetric memory, refusals, and what ends
// its kernels. Over a fake driver and emulated kernels. gpu_backend_test.cc tests what it has in
// common with backend nccl, direct_processes_test.cc jobs of several processes, the conformance
// suite the rest.

#include "runtime/backend/direct/platform.h"
#include "runtime/backend/direct/pool.h"
#include "runtime/base/env.h"
#include "test/conformance/emulated_peers.h"
#include "test/runtime/gpu_ranks.h"
#include "test/runtime/scoped_routes.h"

#include <chrono>
#include <future>
#include <gtest/gtest.h>
#include <thread>

namespace coll::rt {
namespace {

using test::contains;
using test::Rank;

class DirectBackend : public test::GpuRanks {
protected:
  DirectBackend() : GpuRanks("direct"), platform(test::emulatedPeers(cuda.table())) {}

  direct::ScopedPlatform platform;
};

constexpr const char *kAllToDirect = R"({"memory": "gpu", "backend": "direct"})";

TEST(DirectPool, GivesTheFirstPlaceThatFits) {
  direct::Pool pool;
  EXPECT_FALSE(pool.take(1));
  pool.addChunk(5 * 4096);
  direct::Pool::Slice first = *pool.take(1), second = *pool.take(2 * 4096);
  EXPECT_EQ(first.offset, 0);
  EXPECT_EQ(second.offset, 4096);
  EXPECT_FALSE(pool.take(3 * 4096));
  EXPECT_EQ(pool.take(2 * 4096)->offset, 3 * 4096);
  pool.give(second);
  EXPECT_EQ(pool.take(4097)->offset, 4096);
  pool.addChunk(4096);
  EXPECT_EQ(pool.take(10)->chunk, 1);
  EXPECT_EQ(pool.account().chunks, 2);
  EXPECT_EQ(pool.account().slices, 4);
  EXPECT_EQ(pool.account().used, pool.account().bytes);
}

//===-- refusals ----------------------------------------------------------------===//

TEST_F(DirectBackend, TakesUpToEightRanksWhichMayShareGpus) {
  Status status = createBackend("direct", options(9)).status();
  EXPECT_EQ(status.code(), kCollUnsupported);
  EXPECT_TRUE(contains(status, "up to 8 ranks, not 9"));
  expectAll(run(options(8), [&](Rank &me) {
    float *data = floats(me.rank, {1});
    Status summed = me.group.run(sum(data, 1));
    EXPECT_EQ(data[0], 8);
    return summed;
  }));
}

TEST_F(DirectBackend, WithoutPeerAccessItIsRefusedAndAutoGoesWithout) {
  cuda.failNext("contextEnablePeerAccess", 217);
  Status status = createBackend("direct", options(2)).status();
  EXPECT_EQ(status.code(), kCollUnsupported);
  EXPECT_TRUE(contains(status, "cannot reach the memory of GPU")) << status.message();
  cuda.failNext("deviceCanAccessPeer", 217);
  test::ScopedRoutes table(kAllToDirect);
  expectAll(runOn("auto", options(2), [](Rank &me) {
    int32_t host = 1;
    Call call;
    call.kind = OpKind::AllReduce;
    call.dtype = kCollI32;
    call.count = 1;
    call.src = call.dst = &host;
    Status summed = me.group.run(call);
    EXPECT_EQ(host, 2);
    return summed;
  }));
}

TEST_F(DirectBackend, OutOfMemoryNamesThePool) {
  cuda.failNext("memAlloc", dl::kCudaOutOfMemory, /*skip=*/1, /*times=*/2);
  Status status = createBackend("direct", options(2)).status();
  EXPECT_TRUE(contains(status, "rank 1: a pool of")) << status.message();
  EXPECT_TRUE(contains(status, "OUT_OF_MEMORY")) << status.message();
}

TEST_F(DirectBackend, AGroupOfOneCopies) {
  expectAll(run(options(1), [&](Rank &me) {
    for (OpKind kind : {OpKind::AllReduce, OpKind::Reduce, OpKind::Broadcast, OpKind::AllGather,
                        OpKind::Gather, OpKind::Scatter, OpKind::ReduceScatter, OpKind::AllToAll})
      for (const bool inPlace : {false, true}) {
        float *data = floats(me.rank, {1, 2, 3, 4, 0, 0, 0, 0});
        Call call = sum(data, 2);
        call.kind = kind;
        call.outer = call.dstOuter = call.dstCount = 2;
        call.dst = inPlace ? data : data + 4;
        COLL_RETURN_IF_ERROR(me.group.run(call));
        EXPECT_EQ(std::vector<float>(data, data + 8),
                  inPlace ? std::vector<float>({1, 2, 3, 4, 0, 0, 0, 0})
                          : std::vector<float>({1, 2, 3, 4, 1, 2, 3, 4}))
            << kindName(kind);
      }
    return me.group.run(Call());
  }));
}

//===-- streams -----------------------------------------------------------------===//

TEST_F(DirectBackend, CallsOfAGroupFollowOneAnotherOnAllStreams) {
  cuda.delayCopies(3);
  expectAll(run(options(4), [&](Rank &me) {
    std::vector<dl::CudaStream> streams = {stream(), stream()};
    float *data = floats(me.rank, {1, 2});
    Status status;
    for (size_t i = 0; i < 4 && status.ok(); ++i) {
      Call call = sum(data, 2);
      call.stream = streams[i % 2];
      status = me.group.run(call);
    }
    for (dl::CudaStream on : streams)
      if (status.ok())
        status = me.endpoint.synchronize(on);
    EXPECT_EQ(data[0], 256);
    EXPECT_EQ(data[1], 512);
    for (dl::CudaStream on : streams)
      (void)cuda.table().streamDestroy(on);
    return status;
  }));
}

// The driver may give the handle of a destroyed stream to the next one.
TEST_F(DirectBackend, AStreamOfTheSameHandleIsAnotherStream) {
  expectAll(run(options(1), [&](Rank &me) {
    auto waits = [&] { return cuda.calls("streamWaitEvent"); };
    Call call = sum(floats(me.rank, {1}), 1);
    Status status;
    for (int round = 0; round < 3 && status.ok(); ++round) {
      dl::CudaStream on = stream();
      call.stream = on;
      const int64_t before = waits();
      status = me.group.run(call);
      EXPECT_EQ(waits(), before + (round > 0));
      for (int again = 0; again < 2 && status.ok(); ++again)
        status = me.group.run(call);
      EXPECT_EQ(waits(), before + (round > 0));
      EXPECT_EQ(me.endpoint.synchronize(on).code(), kCollOk);
      (void)cuda.table().streamDestroy(on);
    }
    return status;
  }));
}

TEST_F(DirectBackend, ACaptureDoesNotForgetTheCallBeforeIt) {
  cuda.delayCopies(20);
  expectAll(run(options(2), [&](Rank &me) {
    const dl::Cuda &driver = cuda.table();
    dl::CudaStream early = stream(), captured = stream(), late = stream();
    float *ones = floats(me.rank, {1}), *data = floats(me.rank, {0}), *other = floats(me.rank, {0});
    Call call = sum(data, 1);
    Status status = me.group.run(call);
    auto on = [&](dl::CudaStream where, float *what) {
      call.src = call.dst = what;
      call.stream = where;
      if (status.ok())
        status = me.group.run(call);
    };
    EXPECT_EQ(driver.memcpyAsync(reinterpret_cast<dl::CudaAddress>(data),
                                 reinterpret_cast<dl::CudaAddress>(ones), 4, early),
              0);
    on(early, data);
    dl::CudaGraph graph = nullptr;
    EXPECT_EQ(driver.streamBeginCapture(captured, dl::kCudaCaptureThreadLocal), 0);
    on(captured, other);
    EXPECT_EQ(driver.streamEndCapture(captured, &graph), 0);
    on(late, data);
    Status done = me.endpoint.synchronize(late);
    EXPECT_EQ(data[0], 4);
    EXPECT_EQ(me.endpoint.synchronize(early).code(), kCollOk);
    (void)driver.graphDestroy(graph);
    for (dl::CudaStream each : {early, captured, late})
      (void)driver.streamDestroy(each);
    return status.ok() ? done : status;
  }));
}

// Allocating there could make the driver wait for the GPU, and so for a kernel that waits for this
// rank's kernel.
TEST_F(DirectBackend, NothingIsMadeBetweenCallsOfMembers) {
  expectAll(run(options(3), [&](Rank &me) {
    auto made = [&] {
      return cuda.calls("streamCreate") + cuda.calls("eventCreate") + cuda.calls("memAlloc") +
             cuda.calls("memHostAlloc");
    };
    Call call = sum(floats(me.rank, {1}), 1);
    call.kind = OpKind::Reduce;
    call.dst = floats(me.rank, {0});
    Status status = me.group.run(Call()); // a barrier
    const int64_t before = made();
    for (int i = 0; i < 3 && status.ok(); ++i)
      status = me.group.run(call);
    EXPECT_EQ(made(), before);
    return status;
  }));
}

TEST_F(DirectBackend, MismatchOnAStreamIsToldWhenItIsWaitedFor) {
  for (const char *check : {"2", "1", "0"}) {
    ScopedEnv checks("COLL_DIRECT_CHECK", check);
    std::vector<Status> all = run(options(2), [&](Rank &me) {
      dl::CudaStream on = stream();
      float *data = floats(me.rank, std::vector<float>(8));
      Status status = me.group.run(sum(data, 1)); // the group's first, which is always compared
      Call call = sum(data, 4 + me.rank);
      call.stream = on;
      if (status.ok())
        status = me.group.run(call);
      Status done = me.endpoint.synchronize(on);
      (void)cuda.table().streamDestroy(on);
      return status.ok() ? done : status;
    });
    for (const Status &status : all)
      EXPECT_TRUE(*check != '0' ? contains(status, "rank 1 calls all_reduce sum f32 x 5")
                                : contains(status, "makes another call"))
          << status.toString();
  }
}

// Each call has the same form as an earlier one, so only the kernels compare them.
TEST_F(DirectBackend, KnownCallsThatDifferAreFoundByTheKernels) {
  std::vector<Status> all = run(options(2), [&](Rank &me) {
    float *data = floats(me.rank, std::vector<float>(8));
    Status status = me.group.run(sum(data, 4));
    if (status.ok())
      status = me.group.run(sum(data, 5));
    return status.ok() ? me.group.run(sum(data, 4 + me.rank)) : status;
  });
  for (const Status &status : all)
    EXPECT_TRUE(contains(status, "makes another call")) << status.toString();
}

//===-- symmetric memory --------------------------------------------------------===//

TEST_F(DirectBackend, SymmetricAndUsersMemory) {
  expectAll(run(options(3), [&](Rank &me) {
    Result<std::unique_ptr<Registration>> made = me.group.allocate(64);
    if (!made)
      return made.status();
    EXPECT_EQ((*made)->kind(), "symmetric memory by peer access");
    auto *data = static_cast<float *>((*made)->data());
    data[4] = 2;
    Status first = me.group.run(sum(data + 4, 1));
    EXPECT_EQ(data[4], 6);
    Result<std::unique_ptr<Registration>> users =
        me.group.registerMemory(floats(me.rank, {1, 1, 1}) + 1, 8);
    if (!users)
      return users.status();
    EXPECT_EQ((*users)->kind(), "user buffer by peer access");
    auto *own = static_cast<float *>((*users)->data());
    Status second = me.group.run(sum(own, 2));
    EXPECT_EQ(own[1], 3);
    return first.ok() ? second : first;
  }));
}

// Small memory comes from the pool, large memory in blocks; neither may grow with the number of
// allocations.
TEST_F(DirectBackend, WhatWasGivenBackIsUsedAgain) {
  expectAll(run(options(2), [&](Rank &me) {
    for (const int64_t bytes : {int64_t(1) << 20, int64_t(40) << 20}) {
      int64_t before = 0;
      for (int turn = 0; turn < 20; ++turn) {
        Result<std::unique_ptr<Registration>> made = me.group.allocate(bytes - 4096 * (turn % 3));
        if (!made)
          return made.status();
        auto *data = static_cast<float *>((*made)->data());
        data[7] = static_cast<float>(turn + me.rank);
        COLL_RETURN_IF_ERROR(me.group.run(sum(data + 7, 1)));
        EXPECT_EQ(data[7], 2 * turn + 1);
        made->reset();
        COLL_RETURN_IF_ERROR(me.group.run(Call())); // a barrier: all have given it back
        if (turn == 2)
          before = cuda.liveAllocations();
        if (turn == 19) {
          EXPECT_EQ(cuda.liveAllocations(), before) << bytes;
        }
        COLL_RETURN_IF_ERROR(me.group.run(Call()));
      }
    }
    return Status();
  }));
}

// A replay of the graph writes to the memory of the captured call.
TEST_F(DirectBackend, MemoryOfCapturedCallsIsNotGivenToOthers) {
  expectAll(run(options(2), [&](Rank &me) {
    const dl::Cuda &driver = cuda.table();
    dl::CudaStream on = stream();
    std::unique_ptr<Registration> first = me.group.allocate(4096).take();
    Call call = sum(static_cast<float *>(first->data()), 1);
    call.stream = on;
    EXPECT_EQ(driver.streamBeginCapture(on, dl::kCudaCaptureThreadLocal), 0);
    Status captured = me.group.run(call);
    dl::CudaGraph graph = nullptr;
    EXPECT_EQ(driver.streamEndCapture(on, &graph), 0);
    const void *was = first->data();
    first.reset();
    std::unique_ptr<Registration> second = me.group.allocate(4096).take();
    EXPECT_NE(second->data(), was);
    (void)driver.graphDestroy(graph);
    (void)driver.streamDestroy(on);
    return captured;
  }));
}

// A slice of the pool must not be given away while a call that uses it is on the GPU.
TEST_F(DirectBackend, MemoryThatIsInUseIsNotGivenToOthers) {
  cuda.delayCopies(50);
  expectAll(run(options(2), [&](Rank &me) {
    dl::CudaStream on = stream();
    std::unique_ptr<Registration> first = me.group.allocate(4096).take();
    Call call = sum(static_cast<float *>(first->data()), 1024);
    call.stream = on;
    COLL_RETURN_IF_ERROR(me.group.run(call));
    const void *was = first->data();
    first.reset();
    std::unique_ptr<Registration> second = me.group.allocate(4096).take();
    EXPECT_NE(second->data(), was);
    COLL_RETURN_IF_ERROR(me.endpoint.synchronize(on));
    EXPECT_EQ(cuda.table().contextSynchronize(), dl::kCudaSuccess); // the group's own stream, too
    std::unique_ptr<Registration> third = me.group.allocate(4096).take();
    EXPECT_EQ(third->data(), was);
    (void)cuda.table().streamDestroy(on);
    return Status();
  }));
}

TEST_F(DirectBackend, SizesThatNoMemoryHasAreRefused) {
  expectAll(run(options(2), [&](Rank &me) {
    float *data = floats(me.rank, {1, 1});
    EXPECT_EQ(me.group.registerMemory(data + 1, INT64_MAX).status().code(), kCollInvalidCall);
    Status refused = me.group.allocate(INT64_MAX).status();
    EXPECT_TRUE(contains(refused, "no GPU has 9223372036854775807 bytes")) << refused.toString();
    return me.group.run(sum(data, 2));
  }));
}

// A buffer that is registered twice stays registered as long as one of the registrations lives.
TEST_F(DirectBackend, ARegistrationEndsItselfAlone) {
  expectAll(run(options(2), [&](Rank &me) {
    float *data = floats(me.rank, {1, 1}), *other = floats(me.rank, {1, 1});
    // The other rank registers another buffer.
    auto first = me.group.registerMemory(me.rank == 0 ? data : other, 8).take();
    auto second = me.group.registerMemory(data, 8).take();
    first.reset();
    Status status = me.group.run(sum(data, 2));
    EXPECT_EQ(data[1], 2);
    return status;
  }));
}

TEST_F(DirectBackend, PlacesInSymmetricMemoryHaveToAgree) {
  for (const Status &status : run(options(2), [&](Rank &me) {
         std::unique_ptr<Registration> memory = me.group.allocate(64).take();
         return me.group.run(sum(static_cast<float *>(memory->data()) + me.rank, 1));
       })) {
    EXPECT_EQ(status.code(), kCollMismatch);
    EXPECT_TRUE(contains(status, "places in symmetric memory differ")) << status.message();
  }
}

//===-- what ends kernels -------------------------------------------------------===//

// The peer never calls, and only the driver looks at the stream.
TEST_F(DirectBackend, AKernelEndsByItselfAtTheDeadline) {
  ScopedEnv unchecked("COLL_DIRECT_CHECK", "0");
  std::promise<void> ended;
  std::vector<Status> all = run(options(2, 3'000'000), [&](Rank &me) {
    float *data = floats(me.rank, {1});
    Status status = me.group.run(sum(data, 1));
    if (me.rank == 1) {
      (void)ended.get_future().wait_for(std::chrono::minutes(1));
      return status;
    }
    dl::CudaStream on = stream();
    Call call = sum(data, 1);
    call.stream = on;
    status = me.group.run(call);
    EXPECT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(cuda.table().streamSynchronize(on), dl::kCudaSuccess);
    status = me.endpoint.synchronize(on);
    ended.set_value();
    (void)cuda.table().streamDestroy(on);
    return status;
  });
  EXPECT_EQ(all[0].code(), kCollTimeout) << all[0].toString();
  EXPECT_TRUE(contains(all[0], "rank 1 did not come within")) << all[0].message();
  EXPECT_TRUE(contains(all[0], "whose last call here is all_reduce sum f32 x 1 (op 3)"))
      << all[0].message();
}

TEST_F(DirectBackend, AnAbortEndsKernelsOfOtherRanks) {
  ScopedEnv unchecked("COLL_DIRECT_CHECK", "0");
  std::vector<Status> all = run(options(2), [&](Rank &me) {
    float *data = floats(me.rank, {1});
    Status status = me.group.run(sum(data, 1));
    if (me.rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      me.endpoint.abort({kCollDevice, "the coffee is out"});
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      return status;
    }
    dl::CudaStream on = stream();
    Call call = sum(data, 1);
    call.stream = on;
    status = me.group.run(call);
    EXPECT_EQ(cuda.table().streamSynchronize(on), dl::kCudaSuccess);
    status = me.endpoint.synchronize(on);
    (void)cuda.table().streamDestroy(on);
    return status;
  });
  EXPECT_TRUE(contains(all[0], "the coffee is out")) << all[0].toString();
  // A new job in the same process works.
  expectAll(run(options(2), [&](Rank &me) { return me.group.run(sum(floats(me.rank, {1}), 1)); }));
}

TEST_F(DirectBackend, AutoPutsItOnTopWhereTheTableAsksForIt) {
  test::ScopedRoutes table(kAllToDirect);
  expectAll(runOn("auto", options(3), [&](Rank &me) {
    float *data = floats(me.rank, {1});
    Call call = sum(data, 1);
    call.order = kCollOrderRank; // which NCCL has not
    Status summed = me.group.run(call);
    EXPECT_EQ(data[0], 3);
    EXPECT_TRUE(me.group.allocate(16).ok());
    return summed;
  }));
}

} // namespace
} // namespace coll::rt
