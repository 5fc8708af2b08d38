// Backend direct between processes: memory that is shared by CUDA IPC and by descriptors, and the
// end of a process. Over a fake driver, whose GPU memory is shared memory, and emulated kernels, in
// real processes.

#include "runtime/backend/backend.h"
#include "runtime/backend/direct/links.h"
#include "runtime/backend/direct/platform.h"
#include "runtime/backend/direct/root_update.h"
#include "runtime/base/env.h"
#include "test/conformance/emulated_peers.h"
#include "test/runtime/processes.h"
#include "test/support/fakes/cuda.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace coll::rt {
namespace {

constexpr const char *kSecret = "a secret of this test's own";

// A rank in its process.
struct Rank {
  dl::FakeCuda &cuda;
  Endpoint &endpoint;
  Communicator &group;
  int rank;

  float *floats(std::vector<float> values) {
    auto *data = static_cast<float *>(cuda.allocate(values.size() * 4, rank));
    std::memcpy(data, values.data(), values.size() * 4);
    return data;
  }
};

Call sum(float *data, int64_t count) {
  Call call;
  call.kind = OpKind::AllReduce;
  call.count = count;
  call.src = call.dst = data;
  call.site.loc = "train.py:7:1";
  return call;
}

// Returns 0 if the body returned ok.
int child(BackendOptions options, const std::function<Status(Rank &)> &body) {
  dl::FakeCuda cuda(4);
  direct::ScopedPlatform platform(test::emulatedPeers(cuda.table()));
  Status outcome;
  {
    Result<std::unique_ptr<Backend>> backend = createBackend("direct", options);
    Result<std::unique_ptr<Endpoint>> endpoint =
        backend ? (*backend)->endpoint(options.job->rank)
                : Result<std::unique_ptr<Endpoint>>(backend.status());
    outcome = endpoint ? Status() : endpoint.status();
    if (endpoint) {
      std::vector<int> world;
      for (int rank = 0; rank < options.numRanks; ++rank)
        world.push_back(rank);
      (*endpoint)->enter();
      cuda.setCurrent(options.job->rank);
      std::unique_ptr<Communicator> group = (*endpoint)->communicator(world).take();
      Rank me = {cuda, **endpoint, *group, options.job->rank};
      outcome = body(me);
      group.reset();
      (*endpoint)->leave();
    }
  }
  if (outcome.ok() && !cuda.misuse().empty())
    outcome = Status::internal(cuda.misuse());
  if (!outcome.ok())
    std::fprintf(stderr, "rank %d: %s\n", options.job->rank, outcome.toString().c_str());
  return outcome.ok() ? 0 : 1;
}

// Returns the ranks' exit codes, or the negative number of the signal.
std::vector<int> runProcesses(int ranks, const std::function<Status(Rank &)> &body,
                              const std::function<int(int rank)> &gpuOf) {
  return test::runProcesses(ranks, [&](BackendOptions &options) {
    options.job->gpu = gpuOf(options.job->rank);
    return child(options, body);
  });
}
std::vector<int> runProcesses(int ranks, const std::function<Status(Rank &)> &body) {
  return runProcesses(ranks, body, [](int rank) { return rank; });
}

Status expect(bool holds, const char *what) {
  return holds ? Status() : Status::internal(std::string("wrong: ") + what);
}

// Collectives, a group of some ranks, transfers, and memory of the group, all over shared memory.
Status everything(Rank &me) {
  float *data = me.floats({1, static_cast<float>(me.rank)});
  COLL_RETURN_IF_ERROR(me.group.run(sum(data, 2)));
  COLL_RETURN_IF_ERROR(expect(data[0] == 3 && data[1] == 3, "sum of all"));
  if (me.rank != 1) {
    std::unique_ptr<Communicator> pair = me.endpoint.communicator({2, 0}).take();
    COLL_RETURN_IF_ERROR(pair->run(sum(data, 1)));
    COLL_RETURN_IF_ERROR(expect(data[0] == 6, "sum of two"));
  }
  Call transfer = sum(data, 1);
  transfer.kind = me.rank == 2 ? OpKind::Send : OpKind::Recv;
  transfer.peer = me.rank == 2 ? 1 : 2;
  if (me.rank != 0)
    COLL_RETURN_IF_ERROR(me.group.run(transfer));
  COLL_RETURN_IF_ERROR(expect(data[0] == 6, "what was sent"));
  for (int64_t bytes : {3 << 20, 48 << 20, 1 << 20, 47 << 20}) { // of the pool, and not
    Result<std::unique_ptr<Registration>> memory = me.group.allocate(bytes);
    if (!memory)
      return memory.status();
    auto *shared = static_cast<float *>((*memory)->data());
    shared[100] = 5;
    COLL_RETURN_IF_ERROR(me.group.run(sum(shared + 100, 1)));
    COLL_RETURN_IF_ERROR(expect(shared[100] == 15, "sum in symmetric memory"));
  }
  void *large = me.cuda.allocate(2 << 20, me.rank);
  Result<std::unique_ptr<Registration>> users = me.group.registerMemory(large, 1 << 20);
  return users ? expect((*users)->kind() == "user buffer by CUDA IPC", "kind") : users.status();
}

// p -= lr * (mean of gradients 1, 2, 3), by roots in three processes. Rank `ends` exits when the
// others are about to call.
Status optimizerStep(Rank &me, int ends = -1) {
  constexpr int64_t kCount = 1000;
  direct::RootUpdateOptions options;
  options.plan = kernels::planShards(kCount, 3).take();
  options.gradientElems = options.parameterElems = kCount;
  options.optimizer = kernels::Sgd{};
  auto update = direct::RootUpdate::create(me.group, me.rank, options);
  if (!update)
    return update.status();
  Result<std::unique_ptr<Registration>> memory = me.group.allocate(kCount * 4);
  if (!memory)
    return memory.status();
  auto *parameters = static_cast<float *>((*memory)->data());
  std::fill_n(parameters, kCount, 8.0f);
  float *gradients = me.floats(std::vector<float>(kCount, static_cast<float>(me.rank + 1)));
  COLL_RETURN_IF_ERROR((*update)->setStep({0.5f, 1, 1}, nullptr));
  COLL_RETURN_IF_ERROR(me.group.run(Call())); // everybody's parameters are 8
  if (me.rank == ends)
    raise(SIGKILL);
  COLL_RETURN_IF_ERROR(me.group.run((*update)->call(gradients, parameters, nullptr)));
  return expect(std::all_of(parameters, parameters + kCount, [](float p) { return p == 7; }),
                "parameters after a step");
}

class DirectProcesses : public testing::TestWithParam<const char *> {};

TEST_P(DirectProcesses, MakeAnOptimizersStep) {
  ScopedEnv memory("COLL_DIRECT_MEMORY", GetParam());
  EXPECT_EQ(runProcesses(3, [](Rank &me) { return optimizerStep(me); }), std::vector<int>(3, 0));
}

TEST_P(DirectProcesses, ShareMemory) {
  ScopedEnv memory("COLL_DIRECT_MEMORY", GetParam());
  EXPECT_EQ(runProcesses(3, everything), std::vector<int>(3, 0));
}

int64_t openDescriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

// A descriptor of memory whose creation failed would keep that memory.
TEST_P(DirectProcesses, MemoryThatOneCannotHaveIsGivenUpByAll) {
  ScopedEnv memory("COLL_DIRECT_MEMORY", GetParam());
  const std::string taking = GetParam() == std::string("ipc") ? "memAlloc" : "memCreate";
  auto body = [&](Rank &me) {
    COLL_RETURN_IF_ERROR(me.group.run(sum(me.floats({1}), 1)));
    int64_t before = 0;
    for (int turn = 0; turn < 3; ++turn) {
      if (me.rank == 1)
        me.cuda.failNext(taking, dl::kCudaOutOfMemory);
      Status refused = me.group.allocate(300 << 20).status();
      COLL_RETURN_IF_ERROR(expect(refused.message().find("rank 1: cuMem") != std::string::npos,
                                  refused.toString().c_str()));
      refused = me.group.allocate((64 + me.rank) << 20).status();
      COLL_RETURN_IF_ERROR(expect(refused.code() == kCollMismatch, refused.toString().c_str()));
      COLL_RETURN_IF_ERROR(me.group.run(Call())); // a barrier
      if (turn == 0)
        before = openDescriptors();
    }
    const int64_t kept = openDescriptors() - before;
    return expect(kept <= 0, ("descriptors kept: " + std::to_string(kept)).c_str());
  };
  EXPECT_EQ(runProcesses(3, body), std::vector<int>(3, 0));
}

constexpr char kChunk[] = "16777216"; // has the workspace and seven of these:
constexpr int64_t kPiece = 2 << 20;

using Registrations = std::vector<std::unique_ptr<Registration>>;
Result<Registrations> firstChunk(Rank &me) {
  Registrations all;
  for (int i = 0; i < 7; ++i) {
    Result<std::unique_ptr<Registration>> made = me.group.allocate(kPiece);
    if (!made)
      return made.status();
    all.push_back(made.take());
  }
  return all;
}

// One rank's chunk is then smaller than those of the others, and the next one has the usual size.
TEST_P(DirectProcesses, AChunkIsAsSmallAsWillDoWhereThereIsNoRoom) {
  ScopedEnv memory("COLL_DIRECT_MEMORY", GetParam());
  ScopedEnv pool("COLL_DIRECT_POOL_BYTES", kChunk);
  const std::string taking = GetParam() == std::string("ipc") ? "memAlloc" : "memCreate";
  auto body = [&](Rank &me) {
    Result<Registrations> first = firstChunk(me);
    if (!first)
      return first.status();
    const bool isFull = me.rank == 1;
    if (isFull)
      me.cuda.failNext(taking, dl::kCudaOutOfMemory);
    Registrations all;
    for (int64_t chunks : {isFull ? 2 : 1, isFull ? 1 : 0, 0}) {
      const int64_t before = me.cuda.calls(taking);
      Result<std::unique_ptr<Registration>> made = me.group.allocate(kPiece);
      if (!made)
        return made.status();
      COLL_RETURN_IF_ERROR(expect(me.cuda.calls(taking) == before + chunks, "chunks"));
      all.push_back(made.take());
      auto *shared = static_cast<float *>(all.back()->data());
      shared[1999] = static_cast<float>(all.size());
      COLL_RETURN_IF_ERROR(me.group.run(sum(shared + 1999, 1)));
      COLL_RETURN_IF_ERROR(
          expect(shared[1999] == 3 * static_cast<float>(all.size()), "sum in symmetric memory"));
    }
    return Status();
  };
  EXPECT_EQ(runProcesses(3, body), std::vector<int>(3, 0));
}

// The memory is that of the pool, so its descriptor is needed again.
TEST_P(DirectProcesses, AChunkThatCouldNotBeMappedIsMappedLater) {
  ScopedEnv memory("COLL_DIRECT_MEMORY", GetParam());
  ScopedEnv pool("COLL_DIRECT_POOL_BYTES", kChunk);
  const std::string opening = GetParam() == std::string("ipc") ? "ipcOpenMemHandle" : "memMap";
  auto body = [&](Rank &me) {
    Result<Registrations> first = firstChunk(me);
    if (!first)
      return first.status();
    // The first call of memMap is for its own block.
    if (me.rank == 1)
      me.cuda.failNext(opening, dl::kCudaOutOfMemory, opening == "memMap" ? 1 : 0);
    Status refused = me.group.allocate(kPiece).status();
    COLL_RETURN_IF_ERROR(expect(!refused.ok(), "one could not map it"));
    Result<std::unique_ptr<Registration>> mapped = me.group.allocate(kPiece);
    if (!mapped)
      return mapped.status();
    auto *shared = static_cast<float *>((*mapped)->data());
    shared[0] = 5;
    COLL_RETURN_IF_ERROR(me.group.run(sum(shared, 1)));
    return expect(shared[0] == 15, "sum in symmetric memory");
  };
  EXPECT_EQ(runProcesses(3, body), std::vector<int>(3, 0));
}

INSTANTIATE_TEST_SUITE_P(By, DirectProcesses, testing::Values("vmm", "ipc", "auto"));

TEST(DirectProcess, AllRefuseWhereOneHasNoGpu) {
  auto refused = [](Rank &) { return Status(); };
  EXPECT_EQ(runProcesses(2, refused, [](int rank) { return rank * 9; }), std::vector<int>(2, 1));
}

// The kernel of the others waits for a process that has ended, and no thread watches the stream.
TEST(DirectProcess, TheEndOfAProcessEndsTheOthersKernels) {
  ScopedEnv unchecked("COLL_DIRECT_CHECK", "0");
  auto body = [](Rank &me) {
    float *data = me.floats({1});
    // A rank that is late here may already see the end of rank 1.
    Status launched = me.group.run(sum(data, 1));
    if (me.rank == 1)
      raise(SIGKILL);
    if (launched.ok()) {
      dl::CudaStream stream = nullptr;
      (void)me.cuda.table().streamCreate(&stream, 0);
      Call call = sum(data, 1);
      call.stream = stream;
      launched = me.group.run(call);
      (void)me.cuda.table().streamSynchronize(stream);
      const Status status = me.endpoint.synchronize(stream);
      if (launched.ok())
        launched = status;
    }
    // It must not be the deadline of the call that ends it, however slow the machine is.
    const bool isTold = launched.code() == kCollPeer || launched.code() == kCollAborted;
    return expect(isTold && launched.message().find("rank 1") != std::string::npos,
                  launched.toString().c_str());
  };
  EXPECT_EQ(runProcesses(3, body), (std::vector<int>{0, -SIGKILL, 0}));
}

TEST(DirectProcess, TheEndOfAProcessEndsAnOptimizersStep) {
  auto body = [](Rank &me) {
    int64_t begin = net::nowUs();
    Status failed = optimizerStep(me); // here, too, a late rank may already see the end
    if (failed.ok() || me.rank == 1) {
      begin = net::nowUs();
      failed = optimizerStep(me, /*ends=*/1);
    }
    return expect(!failed.ok() && net::nowUs() - begin < 5'000'000 &&
                      failed.message().find("rank 1") != std::string::npos,
                  failed.toString().c_str());
  };
  EXPECT_EQ(runProcesses(3, body), (std::vector<int>{0, -SIGKILL, 0}));
}

//===-- links -------------------------------------------------------------------===//

TEST(DirectLinks, CarryDescriptorsAndFailures) {
  using direct::Links;
  std::unique_ptr<Links> links[2] = {Links::create(0, 2).take(), Links::create(1, 2).take()};
  std::vector<std::string> names = {links[0]->name(), links[1]->name()};
  net::Secret secret = net::Secret::create(kSecret).take();
  std::atomic<int> failures{0};
  std::string told;
  std::thread other([&] {
    EXPECT_TRUE(links[1]->connect(names, secret, 5'000'000, [&](const Status &) {}).ok());
  });
  EXPECT_TRUE(links[0]
                  ->connect(names, secret, 5'000'000,
                            [&](const Status &failure) {
                              told = failure.message();
                              ++failures;
                            })
                  .ok());
  other.join();
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  net::Fd in(ends[0]), out(ends[1]);
  EXPECT_TRUE(links[1]->give(0, 7, out).ok());
  net::Fd copy = links[0]->take(1, 7, 5'000'000).take();
  EXPECT_EQ(write(copy.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(in.get(), &byte, 1), 1);
  EXPECT_EQ(links[0]->take(1, 8, 1000).status().code(), kCollTimeout);
  links[1]->tellFailure({kCollDevice, "the coffee is out"});
  while (failures == 0)
    std::this_thread::yield();
  EXPECT_EQ(told, "rank 1 has failed: the coffee is out");
  std::thread farewell([&] { links[1]->farewell(5'000'000); });
  links[0]->farewell(5'000'000);
  farewell.join();
  EXPECT_EQ(links[0]->take(1, 9, 5'000'000).status().code(), kCollPeer);
}

TEST(DirectLinks, OthersThanThePeerAreSentAway) {
  using direct::Links;
  std::unique_ptr<Links> links[2] = {Links::create(0, 2).take(), Links::create(1, 2).take()};
  std::vector<std::string> names = {links[0]->name(), links[1]->name()};
  std::thread other([&] {
    Status status = links[1]->connect(names, net::Secret::create("not what it should be").take(),
                                      500'000, [](const Status &) {});
    EXPECT_NE(status.message().find("rank 0"), std::string::npos) << status.toString();
  });
  EXPECT_EQ(
      links[0]
          ->connect(names, net::Secret::create(kSecret).take(), 500'000, [](const Status &) {})
          .code(),
      kCollTimeout);
  other.join();
}

} // namespace
} // namespace coll::rt
