// The executor on GPU memory of ranks on several nodes: random reshards, byte for byte, over a fake
// driver, with ranks as threads and a network between those of different nodes; ranks that fail.

#include "runtime/exchange/reshard/nodes.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/socket.h"
#include "test/exchange/reshard_cases.h"
#include "test/exchange/tcp.h"
#include "test/support/fakes/cuda.h"
#ifdef COLL_HAVE_VERBS
#include "runtime/net/verbs/verbs.h"
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <thread>

namespace coll::rt::exchange::test {
namespace {

constexpr int kRanks = 6; // as randomSpec() numbers them

// Runs the kernel's reference when the stream reaches it.
Status emulate(const kernels::ReshardCopy &copy, void *stream) {
  COLL_RETURN_IF_ERROR(kernels::checkReshardCopy(copy));
  auto begin = [copy]() -> dl::FakeCuda::Question {
    const uint32_t count = copy.counts.remoteEntries + copy.counts.localEntries;
    if (copy.part == 0)
      kernels::reshardReference({{copy.entries, copy.entries + count}, copy.counts});
    return [] { return true; };
  };
  return dl::FakeCuda::enqueue(static_cast<dl::CudaStream>(stream), begin) == dl::kCudaSuccess
             ? Status()
             : Status(kCollDevice, "the fake driver takes no launch");
}

// Runs each rank in a thread.
void onRanks(const std::set<int> &ranks, const std::function<void(int)> &body) {
  std::vector<std::thread> threads;
  for (int rank : ranks)
    threads.emplace_back(body, rank);
  for (std::thread &thread : threads)
    thread.join();
}

const std::set<int> kAll = {0, 1, 2, 3, 4, 5};

// What a rank assumes that all have agreed on.
struct Belief {
  ReshardSpec spec;
  ReshardStrategy strategy = ReshardStrategy::Routed;
  ReshardDirection direction = ReshardDirection::Push;
};

struct Failing;

class ReshardNodesTest : public testing::Test {
protected:
  void SetUp() override {
    gpus_ = {dl::GpuContext::open(fake_.table(), 0).take(),
             dl::GpuContext::open(fake_.table(), 1).take()};
    for (int rank = 0; rank < kRanks; ++rank) {
      dl::CudaScope scope(fake_.table(), gpuOf(rank)->context());
      ASSERT_EQ(fake_.table().streamCreate(&streams_[rank], dl::kCudaStreamNonBlocking), 0);
    }
  }
  void TearDown() override {
    networks_.clear();
    for (int rank = 0; rank < kRanks; ++rank) {
      dl::CudaScope scope(fake_.table(), gpuOf(rank)->context());
      (void)fake_.table().streamDestroy(streams_[rank]);
    }
    gpus_.clear();
    EXPECT_EQ(fake_.misuse(), "");
    EXPECT_EQ(fake_.liveAllocations(), 0);
  }

  const std::shared_ptr<dl::GpuContext> &gpuOf(int rank) const {
    return gpus_[static_cast<size_t>(rank) % gpus_.size()];
  }
  void connect(const std::vector<int> &nodes, int64_t chunkBytes);
  void runCase(const ReshardSpec &spec, ReshardStrategy strategy, ReshardDirection direction,
               const GpuReshardOptions &options);
  void expectMismatch(const Belief &usual, const Belief &other);
  std::unique_ptr<NodesReshard> make(Failing &failing, int rank, dl::GpuMemory &memory);
  void runRandom(uint64_t seed, int layouts, int casesEach);

  dl::FakeCuda fake_{2};
  std::vector<std::shared_ptr<dl::GpuContext>> gpus_;
  dl::CudaStream streams_[kRanks] = {};
  std::unique_ptr<net::Transport> transport_ = net::createLoopbackTransport().take();
  std::vector<std::unique_ptr<ReshardNetwork>> networks_; // by rank
};

void ReshardNodesTest::connect(const std::vector<int> &nodes, int64_t chunkBytes) {
  networks_.clear();
  std::vector<net::Handle> handles;
  for (int rank = 0; rank < kRanks; ++rank) {
    auto made = ReshardNetwork::create(gpuOf(rank), rank,
                                       {transport_.get(), nodes, chunkBytes, 20'000'000});
    ASSERT_TRUE(made.ok()) << made.status().toString();
    networks_.push_back(made.take());
    handles.push_back(networks_.back()->handle());
  }
  onRanks(kAll, [&](int rank) {
    const Status status = networks_[static_cast<size_t>(rank)]->connect(handles);
    EXPECT_TRUE(status.ok()) << status.toString();
  });
}

void ReshardNodesTest::runCase(const ReshardSpec &spec, ReshardStrategy strategy,
                               ReshardDirection direction, const GpuReshardOptions &options) {
  Result<ReshardPlan> planned = planReshard(spec, strategy);
  ASSERT_TRUE(planned.ok()) << planned.status().toString();
  const ReshardPlan &plan = *planned;
  const bool pushes = direction == ReshardDirection::Push;
  std::set<int> ranks(plan.senders.begin(), plan.senders.end());
  ranks.insert(plan.receivers.begin(), plan.receivers.end());
  // Source, target, scratch; the GPU memory of the fake driver is host memory.
  std::map<int, std::array<dl::GpuMemory, 3>> memory;
  std::map<int, std::array<OwnBuffer, 3>> own;
  auto make = [&](int rank, size_t place, const Bytes &content) {
    memory[rank][place] = dl::GpuMemory::create(gpuOf(rank), dl::GpuMemory::Kind::Device,
                                                static_cast<int64_t>(content.size() + 1))
                              .take();
    std::copy(content.begin(), content.end(), memory[rank][place].device());
    own[rank][place] = {memory[rank][place].device(), static_cast<int64_t>(content.size()),
                        nullptr};
  };
  for (int rank : ranks) {
    if (const int i = plan.senderOf(rank); i >= 0)
      make(rank, 0,
           sourceOf(spec, static_cast<size_t>(i), plan.senderBytes[static_cast<size_t>(i)]));
    if (const int j = plan.receiverOf(rank); j >= 0) {
      make(rank, 1,
           Bytes(static_cast<size_t>(plan.receiverBytes[static_cast<size_t>(j)]), kUntouched));
      make(rank, 2, Bytes(static_cast<size_t>(plan.scratchBytes), kUntouched));
    }
  }
  std::map<int, std::unique_ptr<NodesReshard>> members;
  for (int rank : ranks) {
    auto &mine = own[rank];
    ReshardBuffers buffers{mine[0], mine[1], mine[2], direction, {}};
    const size_t place = !pushes ? 0 : strategy == ReshardStrategy::Gather ? 2 : 1;
    ReshardNetwork &network = *networks_[static_cast<size_t>(rank)];
    for (int peer : pushes ? plan.receivers : plan.senders)
      buffers.peers.push_back({own[peer][place].data, own[peer][place].bytes, nullptr, {}, 1});
    auto made = NodesReshard::create(plan, buffers, network, options, emulate);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    members[rank] = made.take();
  }
  // Runs twice, so that slots and tags are used again.
  for (int round = 0; round < 2; ++round)
    for (auto step : {&NodesReshard::run, &NodesReshard::slice})
      onRanks(ranks, [&](int rank) {
        const Status status = (*members[rank].*step)(streams_[rank]);
        EXPECT_TRUE(status.ok()) << "rank " << rank << ": " << status.toString();
        dl::CudaScope scope(fake_.table(), gpuOf(rank)->context());
        EXPECT_EQ(fake_.table().streamSynchronize(streams_[rank]), 0);
      });
  for (size_t j = 0; j < plan.receivers.size(); ++j) {
    const OwnBuffer &target = own[plan.receivers[j]][1];
    ASSERT_EQ(Bytes(target.data, target.data + target.bytes),
              expectedOf(spec, j, plan.receiverBytes[j]))
        << "receiver " << j;
  }
}

void ReshardNodesTest::runRandom(uint64_t seed, int layouts, int casesEach) {
  for (int layout = 0; layout < layouts; ++layout) {
    Random random(seed + static_cast<uint64_t>(layout));
    const int64_t count = 1 + below(random, 4);
    std::vector<int> nodes(kRanks);
    for (int &node : nodes)
      node = static_cast<int>(below(random, count));
    connect(nodes, 256 * (1 + below(random, 3)));
    for (int i = 0; i < casesEach && !HasFailure(); ++i) {
      CaseLimits limits;
      limits.alignedRows = true;
      const ReshardSpec spec = randomSpec(random, limits);
      const auto strategy =
          below(random, 4) == 0 ? ReshardStrategy::Gather : ReshardStrategy::Routed;
      const auto direction =
          below(random, 2) == 0 ? ReshardDirection::Push : ReshardDirection::Pull;
      const auto engine = static_cast<ReshardEngine>(below(random, 3));
      SCOPED_TRACE("layout " + std::to_string(layout) + ", case " + std::to_string(i) + ", " +
                   nameOf(strategy) + ", " + nameOf(direction) + ", " + nameOf(engine) + ": " +
                   describe(spec));
      runCase(spec, strategy, direction, {1, 0, engine});
    }
    if (HasFailure())
      return;
  }
}

TEST_F(ReshardNodesTest, RandomReshardsOverLoopback) { runRandom(60'000, 30, 10); }

TEST_F(ReshardNodesTest, RandomReshardsOverTcp) {
  transport_ = tcp();
  runRandom(70'000, 10, 10);
}

#ifdef COLL_HAVE_VERBS
// Over the machine's devices; the machine may be a slow emulated one.
TEST_F(ReshardNodesTest, RandomReshardsOverDevices) {
  auto secret = net::Secret::create("a secret of this test");
  auto transport = net::createVerbsTransport(net::VerbsOptions::fromEnv(), *secret);
  if (!transport.ok() && transport.status().code() == kCollUnsupported)
    GTEST_SKIP() << transport.status().message();
  ASSERT_TRUE(transport.ok()) << transport.status().toString();
  transport_ = transport.take();
  runRandom(80'000, 2, 3);
}
#endif

// The engines take the rows, the kernel the rest; only necessary bytes cross.
TEST_F(ReshardNodesTest, LongRowsAndBytesThatCross) {
  connect({0, 0, 1, 1, 1, 1}, 64 << 10);
  ReshardSpec spec;
  spec.dtype = kCollI8;
  spec.shape = {12, 4 * 40'000};
  for (int i = 0; i < 4; ++i) {
    spec.senders.push_back({i, {{3 * i, 0}, {3, 4 * 40'000}}, {}, 0});
    spec.receivers.push_back({i, {{0, 40'000 * i}, {12, 40'000}}, {}, 0});
  }
  runCase(spec, ReshardStrategy::Routed, ReshardDirection::Push, {});
  // Three rows to each of two ranks in both rounds, and once what three others compare.
  EXPECT_EQ(networks_[0]->bytesSent(), 2 * 2 * 3 * 40'000 + 3 * 8);
  EXPECT_EQ(networks_[5]->bytesSent(), 0);
}

//===-- what is wrong -----------------------------------------------------------------------===//

// Rows of ranks 0 and 1 go to rank 2, each on its own node; rank 3 is in no plan.
struct Failing {
  Failing() {
    spec.shape = {2, 1000};
    spec.senders = {{0, {{0, 0}, {1, 1000}}, {}, 0}, {1, {{1, 0}, {1, 1000}}, {}, 0}};
    spec.receivers = {{2, {{0, 0}, {2, 1000}}, {}, 0}};
    plan = planReshard(spec).take();
  }
  ReshardBuffers of(int rank) {
    ReshardBuffers buffers;
    if (rank < 2)
      buffers.source = {memory.data(), 4000, nullptr};
    else
      buffers.target = {memory.data(), 8000, nullptr};
    return buffers;
  }
  ReshardSpec spec;
  ReshardPlan plan;
  Bytes memory = Bytes(8000);
};

std::unique_ptr<NodesReshard> ReshardNodesTest::make(Failing &failing, int rank,
                                                     dl::GpuMemory &memory) {
  memory = dl::GpuMemory::create(gpuOf(rank), dl::GpuMemory::Kind::Device, 8000).take();
  ReshardBuffers buffers = failing.of(rank);
  (rank < 2 ? buffers.source : buffers.target).data = memory.device();
  auto made = NodesReshard::create(failing.plan, buffers, *networks_[static_cast<size_t>(rank)], {},
                                   emulate);
  EXPECT_TRUE(made.ok()) << made.status().toString();
  return made.ok() ? made.take() : nullptr;
}

// Rank 1 leaves instead of sending; the others report it.
TEST_F(ReshardNodesTest, ARankThatIsGoneIsNamedByAll) {
  transport_ = tcp();
  connect({0, 1, 2, 3, 3, 3}, 256);
  Failing failing;
  networks_[1].reset();
  onRanks({0, 2}, [&](int rank) {
    dl::GpuMemory memory;
    const std::unique_ptr<NodesReshard> reshard = make(failing, rank, memory);
    ASSERT_TRUE(reshard);
    Status status;
    while (status.ok()) // rank 0 may have sent all before it hears
      status = reshard->run(streams_[rank]);
    EXPECT_EQ(status.code(), kCollPeer) << status.toString();
    EXPECT_NE(status.message().find("rank 1 is gone"), std::string::npos) << status.message();
    // Later runs fail, too.
    EXPECT_EQ(reshard->run(streams_[rank]).code(), kCollPeer);
  });
}

// A failure of one rank's driver ends the others, which would otherwise wait for it.
TEST_F(ReshardNodesTest, ADriverThatFailsOneRankEndsAll) {
  connect({0, 1, 2, 3, 3, 3}, 256);
  Failing failing;
  std::atomic<int> ready{0};
  std::atomic<bool> hasFailed{false};
  onRanks({0, 1, 2}, [&](int rank) {
    dl::GpuMemory memory;
    const std::unique_ptr<NodesReshard> reshard = make(failing, rank, memory);
    ASSERT_TRUE(reshard);
    EXPECT_TRUE(reshard->run(streams_[rank]).ok());
    ++ready;
    const int64_t end = net::nowUs() + 60'000'000;
    while ((rank == 1 ? ready < 3 : !hasFailed) && net::nowUs() < end)
      std::this_thread::yield();
    if (rank == 1)
      fake_.failNext("eventRecord", dl::kCudaInvalidValue);
    const Status status = reshard->run(streams_[rank]);
    hasFailed = true;
    EXPECT_EQ(status.code(), kCollDevice) << status.toString();
    EXPECT_NE(status.message().find("cuEventRecord"), std::string::npos) << status.message();
    if (rank != 1) {
      EXPECT_NE(status.message().find("rank 1"), std::string::npos) << status.message();
    }
  });
}

// Memory of two ranks: source, target and scratch, one after the other.
using TwoMemories = std::array<dl::GpuMemory, 2>;
constexpr int64_t kSide = 512, kWhole = 2 * kSide, kRoom = 2 * kSide + kWhole;

ReshardBuffers buffersIn(const TwoMemories &memory, int rank, ReshardDirection direction) {
  char *mine = memory[static_cast<size_t>(rank)].device();
  ReshardBuffers buffers;
  buffers.source = {mine, kSide, nullptr};
  buffers.target = {mine + kSide, kSide, nullptr};
  buffers.scratch = {mine + 2 * kSide, kWhole, nullptr};
  buffers.direction = direction;
  for (const dl::GpuMemory &peer : memory)
    buffers.peers.push_back({peer.device() + 2 * kSide, kWhole, nullptr, {}, 1});
  return buffers;
}

// All ranks find the mismatch before a byte of the tensor has moved.
void ReshardNodesTest::expectMismatch(const Belief &usual, const Belief &other) {
  TwoMemories memory;
  for (size_t rank = 0; rank < 2; ++rank) {
    memory[rank] = dl::GpuMemory::create(gpus_[rank], dl::GpuMemory::Kind::Device, kRoom).take();
    std::fill_n(memory[rank].device(), kRoom, static_cast<char>(rank));
  }
  onRanks({0, 1}, [&](int rank) {
    const Belief &mine = rank == 0 ? usual : other;
    auto made = NodesReshard::create(planReshard(mine.spec, mine.strategy).take(),
                                     buffersIn(memory, rank, mine.direction),
                                     *networks_[static_cast<size_t>(rank)], {}, emulate);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    const Status status = (*made)->run(streams_[rank]);
    EXPECT_EQ(status.code(), kCollMismatch) << status.toString();
    for (const char *name : {"rank 0", "rank 1", "has another plan than"})
      EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
    EXPECT_EQ((*made)->run(streams_[rank]).code(), kCollMismatch); // it stays so
  });
  for (size_t rank = 0; rank < 2; ++rank) {
    const char *begin = memory[rank].device();
    EXPECT_EQ(std::count(begin, begin + kRoom, static_cast<char>(rank)), kRoom);
  }
}

TEST_F(ReshardNodesTest, PlansThatDifferAreFoundByAll) {
  Belief usual;
  usual.spec.shape = {4, 64};
  for (int i = 0; i < 2; ++i) {
    usual.spec.senders.push_back({i, {{2 * i, 0}, {2, 64}}, {}, 0});
    usual.spec.receivers.push_back({i, {{0, 32 * i}, {4, 32}}, {}, 0});
  }
  // The same number of bytes for each pair, but in columns.
  Belief turned = usual, gathered = usual, pulled = usual;
  for (Shard &receiver : turned.spec.receivers)
    receiver.strides = {1, 4};
  gathered.strategy = ReshardStrategy::Gather;
  pulled.direction = ReshardDirection::Pull;
  for (const Belief &other : {turned, gathered, pulled})
    for (int secondNode : {0, 1}) {
      connect({0, secondNode, 2, 2, 2, 2}, 256);
      expectMismatch(usual, other);
    }
}

TEST_F(ReshardNodesTest, BadArgumentsAreNamed) {
  auto create = [&](int rank, const ReshardNetworkOptions &options) {
    return ReshardNetwork::create(gpus_[0], rank, options).status().message();
  };
  EXPECT_EQ(create(0, {nullptr, {0, 1}}), "a reshard between nodes needs a transport");
  EXPECT_EQ(create(2, {transport_.get(), {0, 1}}), "rank 2 of 2");
  EXPECT_EQ(create(0, {transport_.get(), {0, 1}, 100}),
            "chunks of 100 bytes: multiples of 256 are possible");
  auto network = ReshardNetwork::create(gpus_[0], 0, {transport_.get(), {0, 1}}).take();
  Failing failing;
  EXPECT_EQ(
      NodesReshard::create(failing.plan, failing.of(0), *network, {}, emulate).status().message(),
      "the plan has rank 2, the network 2 ranks");
}

// Whichever call of the driver fails, nothing is left behind.
TEST(ReshardNetworkTest, ANetworkThatCannotBeMadeLeavesNothing) {
  auto transport = net::createLoopbackTransport().take();
  for (const char *call : {"streamCreate", "eventCreate", "memHostAlloc"})
    for (int skip = 0, failures = 0; failures == skip; ++skip) {
      dl::FakeCuda fake(1);
      {
        auto gpu = dl::GpuContext::open(fake.table(), 0).take();
        fake.failNext(call, dl::kCudaOutOfMemory, skip);
        auto made = ReshardNetwork::create(gpu, 0, {transport.get(), {0, 1, 1}});
        failures += !made.ok();
        EXPECT_TRUE(made.ok() || made.status().code() == kCollDevice);
        EXPECT_TRUE(made.ok() || skip < 16);
        EXPECT_TRUE(!made.ok() || skip > 0) << call;
      }
      EXPECT_EQ(fake.misuse(), "");
      EXPECT_EQ(fake.liveAllocations(), 0);
    }
}

TEST_F(ReshardNodesTest, ARunBeforeConnectIsRefused) {
  auto network = ReshardNetwork::create(gpus_[0], 0, {transport_.get(), {0, 1, 2}}).take();
  EXPECT_EQ(network->connect({network->handle()}).message(), "1 handles of 3 ranks");
  Failing failing;
  dl::GpuMemory memory = dl::GpuMemory::create(gpus_[0], dl::GpuMemory::Kind::Device, 8000).take();
  ReshardBuffers buffers;
  buffers.source = {memory.device(), 4000, nullptr};
  auto made = NodesReshard::create(failing.plan, buffers, *network, {}, emulate);
  ASSERT_TRUE(made.ok()) << made.status().toString();
  EXPECT_EQ((*made)->run(streams_[0]).message(), "the network is not connected");
}

} // namespace
} // namespace coll::rt::exchange::test
