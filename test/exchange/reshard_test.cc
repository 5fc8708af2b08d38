// The executor on host memory: random reshards, byte for byte, with ranks as threads that access
// each other's buffers, and over transports.

#include "runtime/exchange/reshard/reshard.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/socket.h"
#include "test/exchange/reshard_cases.h"
#include "test/exchange/tcp.h"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <thread>

namespace coll::rt::exchange::test {
namespace {

constexpr int kRanks = 6; // as randomSpec() numbers them

// A rank's memory, exactly as large as the plan requires, so that AddressSanitizer finds overruns.
struct RankBuffers {
  Bytes source, target, scratch;
};

RankBuffers buffersOf(const ReshardSpec &spec, const ReshardPlan &plan, int rank) {
  RankBuffers buffers;
  if (const int i = plan.senderOf(rank); i >= 0)
    buffers.source =
        sourceOf(spec, static_cast<size_t>(i), plan.senderBytes[static_cast<size_t>(i)]);
  if (const int j = plan.receiverOf(rank); j >= 0) {
    buffers.target.assign(static_cast<size_t>(plan.receiverBytes[static_cast<size_t>(j)]),
                          kUntouched);
    buffers.scratch.assign(static_cast<size_t>(plan.scratchBytes), kUntouched);
  }
  return buffers;
}

OwnBuffer own(Bytes &bytes) { return {bytes.data(), static_cast<int64_t>(bytes.size()), nullptr}; }

// Returns how rank `from` accesses a buffer of rank `to`.
using Reach = std::function<PeerBuffer(int from, int to, Bytes &buffer)>;

void runCase(const ReshardSpec &spec, ReshardStrategy strategy, ReshardDirection direction,
             bool threaded, const Reach &reach) {
  Result<ReshardPlan> planned = planReshard(spec, strategy);
  ASSERT_TRUE(planned.ok()) << planned.status().toString();
  const ReshardPlan &plan = *planned;
  const bool pushes = direction == ReshardDirection::Push;
  std::set<int> ranks(plan.senders.begin(), plan.senders.end());
  ranks.insert(plan.receivers.begin(), plan.receivers.end());
  std::map<int, RankBuffers> memory;
  for (int rank : ranks)
    memory[rank] = buffersOf(spec, plan, rank);
  std::vector<std::unique_ptr<HostReshard>> members;
  for (int rank : ranks) {
    RankBuffers &mine = memory[rank];
    ReshardBuffers buffers;
    buffers.source = own(mine.source);
    buffers.target = own(mine.target);
    buffers.scratch = own(mine.scratch);
    buffers.direction = direction;
    for (int peer : pushes ? plan.receivers : plan.senders) {
      RankBuffers &theirs = memory[peer];
      Bytes &buffer = !pushes                               ? theirs.source
                      : strategy == ReshardStrategy::Gather ? theirs.scratch
                                                            : theirs.target;
      buffers.peers.push_back(peer == rank ? PeerBuffer() : reach(rank, peer, buffer));
    }
    Result<std::unique_ptr<HostReshard>> made = HostReshard::create(plan, rank, buffers);
    ASSERT_TRUE(made.ok()) << made.status().toString();
    members.push_back(made.take());
  }
  std::vector<Status> outcomes(members.size());
  auto onAll = [&](Status (HostReshard::*step)()) {
    std::vector<std::thread> threads;
    for (size_t i = 0; i < members.size(); ++i)
      if (threaded)
        threads.emplace_back([&, i] { outcomes[i] = (*members[i].*step)(); });
      else
        outcomes[i] = (*members[i].*step)();
    for (std::thread &thread : threads)
      thread.join();
    for (const Status &outcome : outcomes)
      ASSERT_TRUE(outcome.ok()) << outcome.toString();
  };
  onAll(&HostReshard::run);
  onAll(&HostReshard::slice);
  for (size_t j = 0; j < plan.receivers.size(); ++j)
    ASSERT_EQ(memory[plan.receivers[j]].target, expectedOf(spec, j, plan.receiverBytes[j]))
        << "receiver " << j;
}

void runRandomCases(uint64_t firstSeed, int cases, const CaseLimits &limits, bool threaded,
                    const Reach &reach) {
  for (uint64_t seed = firstSeed; seed < firstSeed + static_cast<uint64_t>(cases); ++seed) {
    Random random(seed);
    const ReshardSpec spec = randomSpec(random, limits);
    const auto strategy = below(random, 4) == 0 ? ReshardStrategy::Gather : ReshardStrategy::Routed;
    const auto direction = below(random, 2) == 0 ? ReshardDirection::Push : ReshardDirection::Pull;
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + nameOf(strategy) + ", " +
                 nameOf(direction) + ": " + describe(spec));
    runCase(spec, strategy, direction, threaded, reach);
    if (testing::Test::HasFailure())
      return;
  }
}

PeerBuffer addressed(int, int, Bytes &buffer) {
  return {buffer.data(), static_cast<int64_t>(buffer.size()), nullptr, {}, 1};
}

TEST(ReshardTest, RandomReshardsInOneThread) {
  runRandomCases(10'000, 4000, {}, /*threaded=*/false, addressed);
}

TEST(ReshardTest, RandomReshardsInThreads) {
  runRandomCases(20'000, 300, {}, /*threaded=*/true, addressed);
}

//===-- over transports ---------------------------------------------------------------===//

// A connection for every pair of ranks, with both ends.
class Mesh {
public:
  explicit Mesh(net::Transport &transport) : transport_(transport) {
    for (int from = 0; from < kRanks; ++from)
      for (int to = 0; to < kRanks; ++to)
        if (from != to)
          connect(from, to);
  }
  // Registers the buffer until forget().
  PeerBuffer reach(int from, int to, Bytes &buffer) {
    Result<net::Memory *> memory =
        transport_.regMr(0, {buffer.data(), buffer.size(), net::MemoryKind::Host, -1, 0});
    EXPECT_TRUE(memory.ok()) << memory.status().toString();
    memories_.push_back(*memory);
    return {nullptr, 0, active_[{from, to}].get(), (*memory)->remoteKey(),
            transport_.devices()[0].maxSegments};
  }
  void forget() {
    for (net::Memory *memory : memories_)
      transport_.deregMr(memory);
    memories_.clear();
  }

private:
  void connect(int from, int to) {
    Result<std::unique_ptr<net::Listener>> listener = transport_.listen(0);
    ASSERT_TRUE(listener.ok()) << listener.status().toString();
    auto connector = transport_.connect(0, (*listener)->handle());
    ASSERT_TRUE(connector.ok()) << connector.status().toString();
    auto &active = active_[{from, to}], &passive = passive_[{from, to}];
    const int64_t deadlineUs = net::nowUs() + 30'000'000;
    while ((!active || !passive) && net::nowUs() < deadlineUs) {
      if (!active)
        active = (*connector)->poll().take();
      if (!passive)
        passive = (*listener)->accept().take();
      std::this_thread::yield();
    }
    ASSERT_TRUE(active && passive);
  }

  net::Transport &transport_;
  std::map<std::pair<int, int>, std::unique_ptr<net::Connection>> active_, passive_;
  std::vector<net::Memory *> memories_;
};

void runOver(net::Transport &transport, uint64_t firstSeed, int cases) {
  Mesh mesh(transport);
  CaseLimits limits;
  limits.elems = 300;
  for (int i = 0; i < cases && !testing::Test::HasFailure(); ++i) {
    runRandomCases(firstSeed + static_cast<uint64_t>(i), 1, limits, /*threaded=*/true,
                   [&](int from, int to, Bytes &buffer) { return mesh.reach(from, to, buffer); });
    mesh.forget();
  }
}

TEST(ReshardTest, RandomReshardsOverLoopback) {
  auto transport = net::createLoopbackTransport();
  ASSERT_TRUE(transport.ok());
  runOver(**transport, 30'000, 300);
}

TEST(ReshardTest, RandomReshardsOverTcp) {
  auto transport = tcp();
  runOver(*transport, 40'000, 100);
}

//===-- what is wrong -----------------------------------------------------------------===//

struct BadCase {
  BadCase() {
    spec.shape = {8};
    spec.senders = {{0, {{0}, {4}}, {}, 0}, {1, {{4}, {4}}, {}, 0}};
    spec.receivers = {{2, {{0}, {8}}, {}, 0}};
    plan = planReshard(spec).take();
    source.resize(16);
    target.resize(32);
    buffers.source = own(source);
    buffers.target = own(target);
    buffers.peers = {addressed(0, 2, target)};
  }
  void expect(int rank, const std::string &text) {
    auto made = HostReshard::create(plan, rank, buffers);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.status().code(), kCollInvalidCall);
    EXPECT_EQ(made.status().message(), text);
  }
  ReshardSpec spec;
  ReshardPlan plan;
  Bytes source, target;
  ReshardBuffers buffers;
};

TEST(ReshardTest, BadBuffersAreNamed) {
  BadCase bad;
  bad.expect(7, "rank 7: it neither sends nor receives");
  bad.buffers.source.bytes = 15;
  bad.expect(1, "rank 1: its source has 15 bytes; the plan needs 16");
  bad.buffers.target.data = nullptr;
  bad.expect(2, "rank 2: its target has 0 bytes; the plan needs 32");
  bad = BadCase();
  bad.buffers.peers.clear();
  bad.expect(0, "rank 0: cannot reach the buffer of receiver 0 (rank 2)");
  auto transport = net::createLoopbackTransport();
  Mesh mesh(**transport);
  Bytes small(31);
  bad.buffers.peers = {mesh.reach(0, 2, small)};
  bad.expect(0, "rank 0: the buffer of receiver 0 (rank 2) has 31 bytes; the plan needs 32");
  bad.buffers.peers = {addressed(0, 2, small)};
  bad.expect(0, "rank 0: the buffer of receiver 0 (rank 2) has 31 bytes; the plan needs 32");
  bad.buffers.direction = ReshardDirection::Pull;
  bad.buffers.peers = {addressed(2, 0, bad.source), {bad.source.data(), 15, nullptr, {}, 1}};
  bad.expect(2, "rank 2: the buffer of sender 1 (rank 1) has 15 bytes; the plan needs 16");
  bad = BadCase();
  bad.plan = planReshard(bad.spec, ReshardStrategy::Gather).take();
  bad.expect(2, "rank 2: its scratch has 0 bytes; the plan needs 32");
  mesh.forget();
}

TEST(ReshardTest, ForgedKeysAreRefusedAndThePeerIsNamed) {
  BadCase bad;
  auto transport = net::createLoopbackTransport();
  Mesh mesh(**transport);
  Bytes target(32, kUntouched);
  bad.buffers.peers = {mesh.reach(0, 2, target)};
  bad.buffers.peers[0].key.key ^= 1;
  auto made = HostReshard::create(bad.plan, 0, bad.buffers);
  ASSERT_TRUE(made.ok());
  const Status outcome = (*made)->run();
  EXPECT_EQ(outcome.code(), kCollInvalidCall);
  EXPECT_EQ(outcome.message().find("push, receiver 0 (rank 2): "), 0u) << outcome.message();
  EXPECT_EQ(target, Bytes(32, kUntouched));
  mesh.forget();
}

TEST(ReshardTest, AClosedConnectionEndsTheCall) {
  BadCase bad;
  auto transport = net::createLoopbackTransport();
  Mesh mesh(**transport);
  Bytes target(32, kUntouched);
  bad.buffers.peers = {mesh.reach(0, 2, target)};
  auto made = HostReshard::create(bad.plan, 0, bad.buffers);
  ASSERT_TRUE(made.ok());
  bad.buffers.peers[0].connection->close();
  EXPECT_FALSE((*made)->run().ok());
  mesh.forget();
}

} // namespace
} // namespace coll::rt::exchange::test
