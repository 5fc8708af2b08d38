// Backend auto without a table that asks for direct: which calls go to direct anyway, and what
// prevents it. Over a fake driver, a fake NCCL and emulated kernels.

#include "runtime/backend/auto/routes.h"
#include "runtime/backend/backend.h"
#include "runtime/backend/direct/direct.h"
#include "runtime/backend/direct/unasked.h"
#include "runtime/backend/nccl/platform.h"
#include "runtime/backend/net/net.h"
#include "runtime/backend/threads/threads.h"
#include "runtime/base/env.h"
#include "runtime/kernels/peer/plan.h"
#include "test/conformance/emulated_peers.h"
#include "test/runtime/gpu_ranks.h"
#include "test/runtime/processes.h"
#include "test/runtime/scoped_routes.h"
#include "test/support/fakes/nccl.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <thread>

namespace coll::rt {
namespace {

using test::Rank;

class AutoDirect : public test::GpuRanks {
protected:
  AutoDirect()
      : GpuRanks("auto"), platform(test::emulatedPeers(cuda.table())),
        ncclPlatform({&cuda.table(), &nccl.table()}) {}
  ~AutoDirect() override { EXPECT_EQ(nccl.misuse(), ""); }

  // Sums a small message, checks the result, and returns true if NCCL made it.
  bool goesToNccl(int ranks) {
    const int64_t before = nccl.calls("allReduce");
    expectAll(run(options(ranks), [&](Rank &me) {
      float *data = floats(me.rank, {1, 1, 1, 1});
      Status summed = me.group.run(sum(data, 4));
      EXPECT_EQ(data[3], static_cast<float>(ranks));
      return summed;
    }));
    return nccl.calls("allReduce") > before;
  }

  dl::FakeNccl nccl;
  direct::ScopedPlatform platform;
  nccl::ScopedPlatform ncclPlatform;
};

TEST_F(AutoDirect, SmallCallsOfAllRanksGoThere) {
  // The pool size of jobs whose table asks for direct must not be used.
  ScopedEnv pool("COLL_DIRECT_POOL_BYTES", "1125899906842624");
  EXPECT_FALSE(goesToNccl(2));
  EXPECT_FALSE(goesToNccl(3));
  EXPECT_FALSE(goesToNccl(4));
}

TEST_F(AutoDirect, WhatIsLargeOrOfSomeGoesToNccl) {
  expectAll(run(options(3), [&](Rank &me) {
    float *data = floats(me.rank, std::vector<float>((128 << 8) + 1, 1));
    COLL_RETURN_IF_ERROR(me.group.run(sum(data, (128 << 8) + 1)));
    EXPECT_EQ(data[128 << 8], 3);
    if (me.rank < 2)
      COLL_RETURN_IF_ERROR(me.endpoint.communicator({0, 1}).take()->run(sum(data, 1)));
    COLL_RETURN_IF_ERROR(me.endpoint.communicator({2, 1, 0}).take()->run(sum(data, 1)));
    // A call that NCCL does not support fails whatever its size.
    Call ordered = sum(data, 1);
    ordered.order = kCollOrderRank;
    EXPECT_EQ(me.group.run(ordered).code(), kCollUnsupported);
    return Status();
  }));
  EXPECT_EQ(nccl.calls("allReduce"), 3 + 2 + 3);
}

TEST_F(AutoDirect, CapturedCallsGoToNccl) {
  expectAll(run(options(2), [&](Rank &me) {
    const dl::Cuda &driver = cuda.table();
    dl::CudaStream on = stream();
    float *data = floats(me.rank, {1});
    Call call = sum(data, 1);
    call.stream = on;
    Status status = me.group.run(call);
    EXPECT_EQ(driver.streamBeginCapture(on, dl::kCudaCaptureThreadLocal), 0);
    if (status.ok())
      status = me.group.run(call);
    dl::CudaGraph graph = nullptr;
    dl::CudaGraphExec exec = nullptr;
    EXPECT_EQ(driver.streamEndCapture(on, &graph), 0);
    EXPECT_EQ(driver.graphInstantiate(&exec, graph, 0), 0);
    EXPECT_EQ(driver.graphLaunch(exec, on), 0);
    Status done = me.endpoint.synchronize(on);
    EXPECT_EQ(data[0], 4);
    (void)driver.graphExecDestroy(exec);
    (void)driver.graphDestroy(graph);
    (void)driver.streamDestroy(on);
    return status.ok() ? done : status;
  }));
  EXPECT_EQ(nccl.calls("allReduce"), 2);
}

// A barrier has no memory that could decide its path.
TEST_F(AutoDirect, ABarrierOnAStreamComesInItsOrder) {
  std::atomic<bool> isOpen = false;
  expectAll(run(options(2), [&](Rank &me) {
    dl::CudaStream on = stream();
    if (me.rank == 0) {
      auto gate = [&isOpen]() -> dl::FakeCuda::Question { return [&] { return isOpen.load(); }; };
      EXPECT_EQ(dl::FakeCuda::enqueue(on, gate), dl::kCudaSuccess);
    }
    Call barrier;
    barrier.stream = on;
    Status status = me.group.run(barrier);
    if (me.rank == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      isOpen = true;
    }
    if (status.ok())
      status = me.endpoint.synchronize(on);
    EXPECT_TRUE(isOpen);
    (void)cuda.table().streamDestroy(on);
    return status;
  }));
}

// Memory is registered with the backend that makes the large calls.
TEST_F(AutoDirect, NcclKnowsTheMemoryOfTheGroup) {
  expectAll(run(options(2), [&](Rank &me) {
    Result<std::unique_ptr<Registration>> memory = me.group.allocate(64);
    if (!memory)
      return memory.status();
    EXPECT_EQ((*memory)->kind(), "symmetric window");
    auto *data = static_cast<float *>((*memory)->data());
    data[0] = 1;
    Status summed = me.group.run(sum(data, 1));
    EXPECT_EQ(data[0], 2);
    return summed;
  }));
  EXPECT_EQ(nccl.calls("allReduce"), 0);
}

TEST_F(AutoDirect, MembersThatDifferAreNamedOnEitherWay) {
  for (int64_t count : {4, 1 << 16})
    for (const Status &status : run(options(2), [&](Rank &me) {
           dl::CudaStream on = stream();
           Call call = sum(floats(me.rank, std::vector<float>(1 << 17)), count + me.rank);
           call.stream = on;
           Status called = me.group.run(call);
           Status done = me.endpoint.synchronize(on);
           (void)cuda.table().streamDestroy(on);
           return called.ok() ? done : called;
         })) {
      EXPECT_EQ(status.code(), kCollMismatch) << status.toString();
      EXPECT_NE(status.message().find("rank 1 calls all_reduce"), std::string::npos)
          << status.toString();
    }
}

//===-- what prevents direct ----------------------------------------------------===//

TEST_F(AutoDirect, NotWhereItWasNotTimed) {
  cuda.failNext("deviceGetPeerAttribute", 101); // no NVLink
  EXPECT_TRUE(goesToNccl(2));
  cuda.failNext("deviceCanAccessPeer", 217);
  EXPECT_TRUE(goesToNccl(2));
  cuda.failNext("memAlloc", dl::kCudaOutOfMemory);
  EXPECT_TRUE(goesToNccl(2));
  EXPECT_FALSE(goesToNccl(2));
}

TEST_F(AutoDirect, OnlyOnGpusLikeThose) {
  static const dl::Cuda *driver = nullptr;
  dl::Cuda other = cuda.table();
  driver = &cuda.table();
  EXPECT_TRUE(direct::servesUnasked(other, 0, 1).ok());
  other.deviceGetPeerAttribute = nullptr;
  EXPECT_EQ(direct::servesUnasked(other, 0, 1).message(),
            "direct: GPUs 0 and 1 are not connected by NVLink");
  other.deviceGetAttribute = [](int *value, int attribute, dl::CudaDevice device) {
    dl::CudaResult result = driver->deviceGetAttribute(value, attribute, device);
    if (device == 1 && attribute == dl::kCudaMultiprocessors)
      *value = 114;
    return result;
  };
  const std::string reason = direct::servesUnasked(other, 0, 1).message();
  EXPECT_NE(reason.find("GPU 1 has compute capability 9.0 and 114 multiprocessors"),
            std::string::npos)
      << reason;
}

TEST_F(AutoDirect, NotWhereATableSendsAllElsewhere) {
  test::ScopedRoutes routes(R"({"memory": "gpu", "backend": "nccl"})");
  EXPECT_TRUE(goesToNccl(2));
}

TEST(AutoDirectAlone, LargeJobsHaveToAsk) {
  BackendOptions options;
  options.numRanks = direct::kMostUnasked + 1;
  dl::FakeCuda cuda;
  direct::ScopedPlatform platform(test::emulatedPeers(cuda.table()));
  Result<direct::Offer> offer =
      direct::offerBackend(options, threads::createBackend(options).take(), Demand::ByDefault);
  ASSERT_TRUE(offer.ok()) << offer.status().toString();
  EXPECT_EQ(
      offer->refusal.message(),
      "rank 0: direct: without a route in COLL_ROUTES it serves jobs of up to 4 ranks, not 5");
}

// Without NCCL nothing shows that every rank has a GPU.
TEST(AutoDirectAlone, TouchesNoGpuWithoutNccl) {
  dl::FakeCuda cuda(2);
  direct::ScopedPlatform platform(test::emulatedPeers(cuda.table()));
  dl::FakeNccl nccl;
  nccl::ScopedPlatform none({&cuda.table(), &nccl.table()});
  BackendOptions options;
  options.numRanks = 3; // than GPUs
  Result<std::unique_ptr<Backend>> backend = createBackend("auto", options);
  EXPECT_TRUE(backend.ok()) << backend.status().toString();
  EXPECT_EQ(cuda.calls("primaryContextRetain"), 0);
}

//===-- between processes -------------------------------------------------------===//

// All ranks refuse for the same reason, and continue without direct.
void expectRefused(const std::function<Demand(int rank)> &demandOf,
                   const std::function<int(int rank)> &gpuOf, const std::string &reason) {
  auto child = [&](BackendOptions &options) {
    dl::FakeCuda cuda(2);
    direct::ScopedPlatform platform(test::emulatedPeers(cuda.table()));
    options.job->gpu = gpuOf(options.job->rank);
    Result<std::unique_ptr<Backend>> net = network::createBackend(options);
    if (!net)
      return 1;
    Result<direct::Offer> offer =
        direct::offerBackend(options, net.take(), demandOf(options.job->rank));
    if (!offer || offer->refusal.message().find(reason) == std::string::npos) {
      std::fprintf(stderr, "rank %d: %s\n", options.job->rank,
                   (offer ? offer->refusal : offer.status()).toString().c_str());
      return 2;
    }
    std::unique_ptr<Endpoint> endpoint = offer->backend->endpoint(options.job->rank).take();
    std::unique_ptr<Communicator> group = endpoint->communicator({0, 1}).take();
    endpoint->enter();
    float host = 1;
    Call call;
    call.kind = OpKind::AllReduce;
    call.count = 1;
    call.src = call.dst = &host;
    const bool works = group->run(call).ok() && host == 2;
    endpoint->leave();
    return works ? 0 : 3;
  };
  EXPECT_EQ(test::runProcesses(2, child), std::vector<int>(2, 0)) << reason;
}

TEST(AutoDirectProcesses, DemandsThatDifferAreRefused) {
  const auto own = [](int rank) { return rank; };
  expectRefused([](int rank) { return rank == 0 ? Demand::None : Demand::ByDefault; }, own,
                "rank 0: direct: no route of the table leads to it");
  expectRefused([](int rank) { return rank == 0 ? Demand::ByTable : Demand::ByDefault; }, own,
                "rank 0 and rank 1 have different routes");
}

TEST(AutoDirectProcesses, RanksThatShareAGpuHaveToAsk) {
  expectRefused([](int) { return Demand::ByDefault; }, [](int) { return 0; }, "ranks share a GPU");
}

//===-- room --------------------------------------------------------------------===//

// The kernel must leave 32 of an H200's multiprocessors free, so that a kernel of NCCL, which has
// at most 32 blocks, has room whichever of the two waits for the other. Packets need no rings.
void expectRoom(const Route &route, uint32_t size, int64_t bytes) {
  kernels::PeerGroup group;
  group.size = size;
  group.layout =
      kernels::workspaceLayout(size, direct::unaskedSizes(kernels::defaultWorkspaceSizes()));
  group.timeoutNs = 1;
  group.maxBlocks = kernels::residentBlocks(132, 1);
  alignas(512) static char memory[512];
  std::fill_n(group.workspace, size, static_cast<char *>(memory));
  group.control = reinterpret_cast<kernels::PeerControl *>(memory);
  const auto all = static_cast<uint64_t>(bytes);
  const bool gives = *route.kind == OpKind::ReduceScatter || *route.kind == OpKind::AllToAll;
  kernels::ReduceArgs sum;
  sum.src = sum.dst = memory;
  sum.count = (gives ? all / size : all) / 4;
  sum.dtype = kCollF32;
  kernels::CopyArgs copy;
  copy.src = copy.dst = memory;
  copy.srcRows = copy.dstRows = 1;
  copy.srcRowBytes = copy.dstRowBytes = gives ? all / size : all;
  for (group.rank = 0; group.rank < size; ++group.rank) {
    Result<kernels::PeerPlan> plan = *route.kind == OpKind::AllReduce ? planAllReduce(group, sum)
                                     : *route.kind == OpKind::ReduceScatter
                                         ? planReduceScatter(group, sum)
                                     : *route.kind == OpKind::Reduce    ? planReduce(group, sum)
                                     : *route.kind == OpKind::AllGather ? planAllGather(group, copy)
                                     : *route.kind == OpKind::AllToAll ? planAllToAll(group, copy)
                                                                       : planBroadcast(group, copy);
    ASSERT_TRUE(plan.ok()) << plan.status().toString();
    EXPECT_TRUE(plan->packets) << route.describe() << ": " << bytes << " bytes, " << size;
    EXPECT_LE(plan->blocks, 132u - 32u) << route.describe() << ": " << bytes << " bytes, " << size;
  }
}

TEST(UnaskedRoutes, LeaveRoomForAKernelOfNccl) {
  const Routes defaults = Routes::defaults();
  int routes = 0;
  for (const Route &route : defaults.all()) {
    if (route.backend != "direct")
      continue;
    ++routes;
    EXPECT_TRUE(route.isWorld && !route.isCaptured.value_or(true) && route.isGpu);
    for (uint32_t size = 2; size <= direct::kMostUnasked; ++size)
      for (int64_t bytes = 64; bytes <= *route.maxBytes; bytes += 1024)
        if (static_cast<int>(size) == route.ranks.value_or(static_cast<int>(size)))
          expectRoom(route, size, bytes);
  }
  EXPECT_GT(routes, 0);
}

} // namespace
} // namespace coll::rt
