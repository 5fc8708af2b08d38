// What is special about backend direct: streams, symmetric memory, refusals, what ends its
// kernels. Over a fake driver and emulated kernels; the conformance suite has the rest, and
// direct_processes_test.cc the jobs of several processes.

#include "runtime/backend.h"
#include "runtime/backend/direct/platform.h"
#include "runtime/backend/direct/pool.h"
#include "runtime/base/env.h"
#include "runtime/dl/fake_cuda.h"
#include "test/conformance/emulated_peers.h"

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace coll::rt {
namespace {

constexpr int64_t kPatientUs = 60'000'000;

struct Rank {
  Endpoint &endpoint;
  Communicator &group;
  int rank;
};

class DirectBackend : public testing::Test {
protected:
  DirectBackend() : cuda(4), platform(test::emulatedPeers(cuda.table())) {}
  ~DirectBackend() override { EXPECT_EQ(cuda.misuse(), ""); }

  static BackendOptions options(int ranks, int64_t timeoutUs = kPatientUs) {
    BackendOptions made;
    made.numRanks = ranks;
    made.timeoutUs = timeoutUs;
    return made;
  }

  // Runs the body on all ranks at once and gives what each returns.
  std::vector<Status> run(const BackendOptions &options, const std::function<Status(Rank &)> &body,
                          const char *name = "direct") {
    std::vector<Status> all(static_cast<size_t>(options.numRanks));
    Result<std::unique_ptr<Backend>> backend = createBackend(name, options);
    if (!backend)
      return std::vector<Status>(all.size(), backend.status());
    std::vector<std::unique_ptr<Endpoint>> endpoints;
    std::vector<int> world;
    for (int rank = 0; rank < options.numRanks; ++rank) {
      endpoints.push_back((*backend)->endpoint(rank).take());
      endpoints.back()->enter();
      world.push_back(rank);
    }
    std::vector<std::thread> threads;
    for (int rank = 0; rank < options.numRanks; ++rank)
      threads.emplace_back([&, rank] {
        auto i = static_cast<size_t>(rank);
        std::unique_ptr<Communicator> group = endpoints[i]->communicator(world).take();
        Rank me = {*endpoints[i], *group, rank};
        cuda.setCurrent(rank % 4);
        all[i] = body(me);
        endpoints[i]->leave();
      });
    for (std::thread &thread : threads)
      thread.join();
    return all;
  }
  void expectAll(const std::vector<Status> &all) {
    for (const Status &status : all)
      EXPECT_TRUE(status.ok()) << status.toString();
  }

  // f32 on the rank's GPU.
  float *floats(int rank, std::vector<float> values) {
    auto *data = static_cast<float *>(cuda.allocate(values.size() * 4, rank % 4));
    std::memcpy(data, values.data(), values.size() * 4);
    return data;
  }
  static Call sum(float *data, int64_t count) {
    Call call;
    call.kind = OpKind::AllReduce;
    call.count = count;
    call.src = call.dst = data;
    call.site.op = 3;
    call.site.loc = "train.py:7:1";
    return call;
  }
  dl::CudaStream stream() {
    dl::CudaStream made = nullptr;
    EXPECT_EQ(cuda.table().streamCreate(&made, 0), dl::kCudaSuccess);
    return made;
  }

  dl::FakeCuda cuda;
  direct::ScopedPlatform platform;
};

bool contains(const Status &status, const std::string &text) {
  return status.message().find(text) != std::string::npos;
}

// A table of routes that sends GPU memory to direct.
class AskForDirect {
public:
  AskForDirect() {
    std::ofstream(path_) << R"({"format": "coll routes", "version": 1,
                               "routes": [{"memory": "gpu", "backend": "direct"}]})";
  }
  ~AskForDirect() { std::filesystem::remove(path_); }

private:
  std::string path_ = testing::TempDir() + "direct_routes_" + std::to_string(getpid());
  ScopedEnv env_{"COLL_ROUTES", path_.c_str()};
};

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

TEST_F(DirectBackend, RefusesMemoryOfOthers) {
  expectAll(run(options(2), [&](Rank &me) {
    std::vector<float> host(8);
    EXPECT_TRUE(contains(me.group.run(sum(host.data(), 8)), "host memory; direct takes"));
    Status status = me.group.run(sum(floats(1 - me.rank, std::vector<float>(8)), 8));
    EXPECT_EQ(status.code(), kCollInvalidCall);
    EXPECT_TRUE(contains(status, "memory of GPU " + std::to_string(1 - me.rank)));
    EXPECT_TRUE(contains(status, "train.py:7:1"));
    EXPECT_TRUE(contains(status, "on rank " + std::to_string(me.rank)));
    return Status();
  }));
}

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
  AskForDirect table;
  expectAll(run(
      options(2),
      [](Rank &me) {
        int32_t host = 1;
        Call call;
        call.kind = OpKind::AllReduce;
        call.dtype = kCollI32;
        call.count = 1;
        call.src = call.dst = &host;
        Status summed = me.group.run(call);
        EXPECT_EQ(host, 2);
        return summed;
      },
      "auto"));
}

TEST_F(DirectBackend, OutOfMemoryNamesThePool) {
  cuda.failNext("memAlloc", dl::kCudaOutOfMemory, /*skip=*/1);
  Status status = createBackend("direct", options(2)).status();
  EXPECT_TRUE(contains(status, "rank 1: a pool of")) << status.message();
  EXPECT_TRUE(contains(status, "OUT_OF_MEMORY")) << status.message();
}

TEST_F(DirectBackend, AnEndpointIsGivenOnce) {
  Result<std::unique_ptr<Backend>> backend = createBackend("direct", options(2));
  ASSERT_TRUE(backend.ok());
  EXPECT_TRUE((*backend)->endpoint(1).ok());
  EXPECT_EQ((*backend)->endpoint(1).status().code(), kCollInvalidCall);
  EXPECT_EQ((*backend)->endpoint(2).status().code(), kCollInvalidCall);
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

TEST_F(DirectBackend, AGraphReplaysItsCalls) {
  expectAll(run(options(2), [&](Rank &me) {
    const dl::Cuda &driver = cuda.table();
    dl::CudaStream on = stream();
    float *data = floats(me.rank, {1});
    Call call = sum(data, 1);
    Status status = me.group.run(call);
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
    (void)driver.graphExecDestroy(exec);
    (void)driver.graphDestroy(graph);
    (void)driver.streamDestroy(on);
    return status.ok() ? done : status;
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

// Each is like one before it, so only the kernels compare them.
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

TEST_F(DirectBackend, SizesOfSymmetricMemoryHaveToAgree) {
  for (const Status &status :
       run(options(2), [&](Rank &me) { return me.group.allocate(64 + me.rank).status(); })) {
    EXPECT_EQ(status.code(), kCollMismatch);
    EXPECT_TRUE(contains(status, "sizes of symmetric memory differ")) << status.message();
  }
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

TEST_F(DirectBackend, OneMembersLackOfMemoryReachesAll) {
  expectAll(run(options(2), [&](Rank &me) {
    Status status = me.group.run(sum(floats(me.rank, {1}), 1));
    if (me.rank == 1)
      cuda.failNext("memAlloc", dl::kCudaOutOfMemory);
    if (status.ok())
      status = me.group.run(Call()); // a barrier
    // Whoever comes first.
    Status refused = me.group.allocate(1 << 10).status();
    EXPECT_TRUE(contains(refused, "rank ") && contains(refused, ": cuMemAlloc"))
        << refused.toString();
    return status;
  }));
}

//===-- what ends kernels -------------------------------------------------------===//

// The peer never calls; nobody looks at the stream but the driver.
TEST_F(DirectBackend, AKernelEndsByItselfAtTheDeadline) {
  ScopedEnv unchecked("COLL_DIRECT_CHECK", "0");
  std::vector<Status> all = run(options(2, 1'000'000), [&](Rank &me) {
    float *data = floats(me.rank, {1});
    Status status = me.group.run(sum(data, 1));
    if (me.rank == 1 || !status.ok()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
      return status;
    }
    dl::CudaStream on = stream();
    Call call = sum(data, 1);
    call.stream = on;
    status = me.group.run(call);
    EXPECT_TRUE(status.ok()) << status.toString();
    EXPECT_EQ(cuda.table().streamSynchronize(on), dl::kCudaSuccess);
    status = me.endpoint.synchronize(on);
    (void)cuda.table().streamDestroy(on);
    return status;
  });
  EXPECT_EQ(all[0].code(), kCollTimeout) << all[0].toString();
  EXPECT_TRUE(contains(all[0], "rank 1 did not come within")) << all[0].message();
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
  AskForDirect table;
  expectAll(run(
      options(3),
      [&](Rank &me) {
        float *data = floats(me.rank, {1});
        Call call = sum(data, 1);
        call.order = kCollOrderRank; // which NCCL has not
        Status summed = me.group.run(call);
        EXPECT_EQ(data[0], 3);
        EXPECT_TRUE(me.group.allocate(16).ok());
        return summed;
      },
      "auto"));
}

} // namespace
} // namespace coll::rt
