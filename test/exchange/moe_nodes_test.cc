// MoeBuffer with ranks on several nodes, all of them in this process: GPUs of a fake driver,
// emulated kernels, nodes connected by a transport.

#include "test/exchange/moe_low_latency_rounds.h"
#include "test/exchange/moe_nodes_rounds.h"
#include "test/exchange/moe_rounds.h"

#include "runtime/base/dtype.h"

#include <atomic>
#include <chrono>
#include <climits>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <unistd.h>

namespace coll::rt::test {
namespace {

constexpr int kGpus = 8;
constexpr int64_t kBytes = kMoeNodesBytes;

class MoeNodesTest : public testing::Test {
protected:
  MoeBufferOptions optionsOf(int rank, int numRanks, int nodeSize, int64_t timeoutUs) {
    return moeNodesOptions(*transport_, rank, numRanks, nodeSize, timeoutUs);
  }
  MoeRanks ranks(int numRanks, int nodeSize, int64_t timeoutUs = 20'000'000) {
    return syncedRanks(fake_, numRanks,
                       [&](int r) { return optionsOf(r, numRanks, nodeSize, timeoutUs); });
  }
  void connectBy(const std::string &transport) { transport_ = moeNodesTransport(transport); }
  void playRounds(int numRanks, int nodeSize, int rounds) {
    playMoeRounds(fake_, *transport_, numRanks, nodeSize, rounds);
  }

  dl::FakeCuda fake_{kGpus};
  ScopedMoePlatform platform_{emulatedMoe(fake_.table())};
  std::unique_ptr<net::Transport> transport_ = moeNodesTransport("loopback");
};

TEST_F(MoeNodesTest, RoundsAreThoseOfTheReferenceOverLoopback) {
  playRounds(2, 1, 4);
  playRounds(4, 2, 6);
  playRounds(3, 1, 3);
  playRounds(6, 3, 3);
  playRounds(6, 2, 3);
}

// The default number of ranks per node.
TEST_F(MoeNodesTest, TwoWholeNodes) {
  test::playMoeRounds(
      fake_,
      [&](int r) {
        MoeBufferOptions options = optionsOf(r, 16, 1, 20'000'000);
        options.nodeSize = MoeBufferOptions().nodeSize;
        options.device = r % kGpus;
        return options;
      },
      16, kMoeNodeRanks, 1);
}

TEST_F(MoeNodesTest, RoundsAreThoseOfTheReferenceOverTcp) {
  connectBy("tcp");
  playRounds(4, 2, 6);
  playRounds(3, 1, 3);
}

// --- what crosses the network

struct Small {
  MoeRankCase rank;
  MoeInputs in;
};

// A small case for each of these ranks, by default for all ranks of the job.
std::vector<Small> smallCases(MoeRanks &all, int64_t numTokens = 20, int64_t hidden = 48,
                              int numRanks = 0) {
  std::minstd_rand random(9);
  if (numRanks == 0)
    numRanks = static_cast<int>(all.size());
  std::vector<Small> cases(all.size());
  for (size_t r = 0; r < all.size(); ++r) {
    MoeRankCase &rank = cases[r].rank;
    for (int64_t t = 0; t < numTokens; ++t)
      for (int64_t k = 0; k < 3; ++k)
        rank.topkIdx.push_back(t % 5 == 0 ? -1
                                          : (t + k + static_cast<int64_t>(r)) % (2 * numRanks));
    rank.topkWeights.assign(rank.topkIdx.size(), 0.5f);
    rank.x = randomBf16(numTokens * hidden, random);
    rank.routing = {rank.topkIdx.data(), numTokens, 3, 2 * numRanks};
    rank.tokens.x = rank.x.data();
    rank.tokens.hidden = hidden;
    rank.tokens.topkWeights = rank.topkWeights.data();
    cases[r].in = inputsOf(*all[r], rank, numRanks, {});
  }
  return cases;
}

Result<MoeReceived> dispatchSmall(MoeRank &rank, const Small &small, int64_t worst = 0) {
  COLL_RETURN_IF_ERROR(rank.buffer->dispatchLayout(small.in.routing, small.in.layout, rank.order));
  MoeDispatchOptions options;
  options.worstCaseTokens = worst;
  return rank.buffer->dispatch(small.in.tokens, small.in.routing, small.in.layout, options,
                               small.in.handle, rank.order);
}

TEST_F(MoeNodesTest, ATokenCrossesOnceForEachNode) {
  auto all = ranks(6, 2);
  const std::vector<Small> cases = smallCases(all);
  beside(all, [&](size_t r, MoeRank &rank) {
    MoeBuffer &buffer = *rank.buffer;
    auto received = dispatchSmall(rank, cases[r]);
    ASSERT_TRUE(received.ok()) << received.status().toString();
    rank.wait();
    const auto crossing = [&](size_t source) {
      const auto layout = moeReferenceLayout(cases[source].rank.routing, 6, 2).take();
      int64_t tokens = 0;
      for (size_t n = 0; n < 3; ++n)
        tokens += n == source / 2 ? 0 : layout.tokensPerNetRank[n];
      return tokens;
    };
    const int64_t rowBytes = cases[r].rank.tokens.hidden * 2;
    const auto signs = static_cast<int64_t>(2 * sizeof(MoeCallSign));
    int64_t before = buffer.netBytesSent();
    auto again = buffer.dispatchAgain(cases[r].in.tokens, received->handle, {}, rank.order);
    ASSERT_TRUE(again.ok()) << again.status().toString();
    rank.wait();
    EXPECT_EQ(buffer.netBytesSent() - before, crossing(r) * rowBytes + signs);
    // One row is returned for each token that came from another node.
    MoeCombine combine;
    combine.x = received->x;
    combine.numRows = received->handle.numRecv;
    combine.hidden = cases[r].rank.tokens.hidden;
    combine.out = cases[r].in.out;
    before = buffer.netBytesSent();
    const Status combined = buffer.combine(combine, received->handle, {}, rank.order);
    ASSERT_TRUE(combined.ok()) << combined.toString();
    rank.wait();
    int64_t relayed = 0;
    for (size_t n = 0; n < 3; ++n)
      if (n != r / 2)
        relayed += moeReferenceLayout(cases[n * 2 + r % 2].rank.routing, 6, 2)
                       .take()
                       .tokensPerNetRank[r / 2];
    EXPECT_EQ(buffer.netBytesSent() - before, relayed * rowBytes + signs);
  });
}

TEST_F(MoeNodesTest, ARankWithoutTokensNeedsNoPointers) {
  auto all = ranks(4, 2);
  std::vector<Small> cases = smallCases(all);
  MoeInputs &none = cases[1].in;
  none.routing.numTokens = 0;
  none.routing.topkIdx = nullptr;
  none.tokens.x = nullptr;
  none.tokens.topkWeights = nullptr;
  beside(all, [&](size_t r, MoeRank &rank) {
    auto received = dispatchSmall(rank, cases[r]);
    ASSERT_TRUE(received.ok()) << received.status().toString();
    MoeCombine combine;
    combine.x = received->x;
    combine.numRows = received->handle.numRecv;
    combine.hidden = 48;
    combine.out = r == 1 ? nullptr : cases[r].in.out;
    const Status combined = rank.buffer->combine(combine, received->handle, {}, rank.order);
    ASSERT_TRUE(combined.ok()) << combined.toString();
    rank.wait();
    EXPECT_TRUE(rank.buffer->check().ok());
  });
}

// --- calls return before they are done

// Blocks the stream until `mayGo`.
void hold(MoeRank &rank, const std::atomic<bool> &mayGo) {
  EXPECT_EQ(dl::FakeCuda::enqueue(rank.order.compute,
                                  [&mayGo] { return [&mayGo] { return mayGo.load(); }; }),
            dl::kCudaSuccess);
}

// Returns the rows that this rank has received, unchanged; `numRows` if only the GPU knows the
// number.
MoeCombine giveBack(const MoeReceived &received, const Small &small, int64_t numRows) {
  MoeCombine combine;
  combine.x = received.x;
  combine.numRows = numRows;
  combine.hidden = small.rank.tokens.hidden;
  combine.out = small.in.out;
  return combine;
}

TEST_F(MoeNodesTest, ACallReturnsBeforeItIsDone) {
  for (const int64_t worst : {0, 100}) {
    auto all = ranks(4, 2);
    const std::vector<Small> cases = smallCases(all);
    std::vector<MoeReceived> received(4);
    beside(all, [&](size_t r, MoeRank &rank) {
      if (worst == 0)
        received[r] = dispatchSmall(rank, cases[r]).take();
    });
    std::vector<dl::CudaEvent> done(4);
    std::atomic<bool> mayGo{false};
    for (size_t r = 0; r < 4; ++r) {
      // One thread makes all calls, because no call waits for another rank.
      MoeRank &rank = *all[r];
      fake_.setCurrent(static_cast<int>(r));
      ASSERT_EQ(fake_.table().eventCreate(&done[r], dl::kCudaEventNoTiming), 0);
      hold(rank, mayGo);
      if (worst > 0)
        received[r] = dispatchSmall(rank, cases[r], worst).take();
      EXPECT_EQ(received[r].numRelayed < 0, worst > 0);
      auto again =
          rank.buffer->dispatchAgain(cases[r].in.tokens, received[r].handle, {}, rank.order);
      ASSERT_TRUE(again.ok()) << again.status().toString();
      const MoeOrder order = {rank.order.compute, nullptr, done[r]};
      const int64_t rows = worst ? worst : received[r].handle.numRecv;
      const Status combined =
          rank.buffer->combine(giveBack(*again, cases[r], rows), received[r].handle, {}, order);
      ASSERT_TRUE(combined.ok()) << combined.toString();
    }
    for (size_t r = 0; r < 4; ++r)
      EXPECT_EQ(fake_.table().eventQuery(done[r]), dl::kCudaNotReady);
    mayGo = true;
    for (size_t r = 0; r < 4; ++r) {
      all[r]->end();
      EXPECT_TRUE(all[r]->buffer->check().ok());
      EXPECT_EQ(fake_.table().eventQuery(done[r]), dl::kCudaSuccess);
      // A row came back as often as ranks have the token.
      const auto layout = moeReferenceLayout(cases[r].rank.routing, 4, 2).take();
      const auto *x = reinterpret_cast<const uint16_t *>(cases[r].rank.x.data());
      for (size_t i = 0; i < 20 * 48; ++i) {
        float sum = 0;
        for (size_t target = 0; target < 4; ++target)
          sum += layout.isTokenInRank[i / 48 * 4 + target] ? bf16ToF32(x[i]) : 0;
        ASSERT_NEAR(bf16ToF32(cases[r].in.out[i]), sum, 0.02f * std::abs(sum)) << r << " " << i;
      }
      fake_.setCurrent(static_cast<int>(r));
      EXPECT_EQ(fake_.table().eventDestroy(done[r]), 0);
    }
  }
}

TEST_F(MoeNodesTest, ACallThatNobodyJoinsEndsWithItsBuffer) {
  auto all = ranks(4, 2, 2'000'000);
  const std::vector<Small> cases = smallCases(all);
  MoeRank &alone = *all[2];
  ASSERT_TRUE(dispatchSmall(alone, cases[2], /*worst=*/100).ok());
  const auto began = std::chrono::steady_clock::now();
  EXPECT_TRUE(alone.buffer->destroy().ok());
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(15));
  alone.wait();
}

// --- life, faults

TEST_F(MoeNodesTest, Identity) {
  auto all = ranks(4, 2);
  const MoeBuffer &buffer = *all[3]->buffer;
  EXPECT_TRUE(buffer.isInternodeAvailable());
  EXPECT_EQ(buffer.numNetRanks(), 2);
  EXPECT_EQ(buffer.netRank(), 1);
  EXPECT_EQ(buffer.nvlRank(), 1);
  EXPECT_EQ(buffer.rootNetRank(true), 1);
  EXPECT_EQ(buffer.rootNetRank(false), 0);
  EXPECT_EQ(buffer.localNetId().bytes, buffer.card().net.bytes);
  EXPECT_EQ(buffer.localBuffer(kCollF32, 1024, true)->numElems, (kBytes - 1024) / 4);
  beside(all, [](size_t, MoeRank &rank) {
    EXPECT_TRUE(rank.buffer->destroy().ok());
    EXPECT_FALSE(rank.buffer->isInternodeAvailable());
    EXPECT_EQ(rank.buffer->numNetRanks(), 2);
  });
  all.clear();
  EXPECT_EQ(fake_.liveAllocations(), 0);
  EXPECT_EQ(fake_.misuse(), "");
}

// `call` must fail on every rank with this code and this text.
template <typename Call>
void expectFailures(MoeRanks &all, int except, CollCode code, const std::string &text,
                    Call &&call) {
  beside(all, [&](size_t r, MoeRank &rank) {
    if (static_cast<int>(r) == except)
      return;
    Status status = call(r, rank);
    // The failure of the others may arrive after the call has left the rest to its kernels.
    for (int i = 0; i < 5000 && status.ok(); ++i, status = rank.buffer->check())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_EQ(status.code(), code) << status.toString();
    EXPECT_NE(status.message().find(text), std::string::npos) << r << ": " << status.toString();
    EXPECT_NE(status.message().find("moe buffer of rank " + std::to_string(r)), std::string::npos)
        << status.toString();
    rank.end();
  });
}

TEST_F(MoeNodesTest, ARankThatIsGoneEndsAllOthers) {
  for (const char *transport : {"loopback", "tcp"}) {
    connectBy(transport);
    auto all = ranks(4, 2);
    const std::vector<Small> cases = smallCases(all);
    std::thread gone([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      all[3]->buffer.reset();
    });
    expectFailures(all, 3, kCollPeer, "rank 3 is gone",
                   [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, cases[r]).status(); });
    gone.join();
    EXPECT_EQ(all[0]->buffer->check().code(), kCollPeer);
  }
}

Status dispatchFast(MoeRank &rank, const MoeRankCase &from) {
  const LowLatencyMemory memory = lowLatencyMemory(rank, from, lowLatencyShape(3), 3, kCollBf16,
                                                   /*log=*/false);
  COLL_RETURN_IF_ERROR(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order));
  rank.wait();
  return rank.buffer->check();
}

// A rank in its own process, with its own GPU, makes rounds without end. Returns true if they have
// ended because rank `killed` was killed.
bool playUntilKilled(int rank, int killed, int out, int in, bool lowLatency) {
  dl::FakeCuda fake(1);
  ScopedMoePlatform platform(emulatedMoe(fake.table()));
  auto transport = moeNodesTransport("tcp");
  MoeBufferOptions options = lowLatency ? moeLowLatencyNodesOptions(*transport, rank, 3, 1)
                                        : moeNodesOptions(*transport, rank, 3, 1);
  options.device = 0;
  std::minstd_rand random(36);
  const LowLatencyWorld world = lowLatencyWorld(lowLatencyShape(3), 3, kCollBf16, false, random);
  MoeRanks self;
  self.push_back(std::make_unique<MoeRank>(fake, options));
  MoeBuffer &buffer = *self[0]->buffer;
  std::vector<MoeCard> cards(3);
  if (write(out, &buffer.card(), sizeof(MoeCard)) != sizeof(MoeCard) ||
      read(in, static_cast<void *>(cards.data()), 3 * sizeof(MoeCard)) != 3 * sizeof(MoeCard) ||
      !buffer.sync(cards).ok())
    return false;
  Status status;
  for (int round = 0; round < 10'000 && status.ok(); ++round) {
    if (round == 3 && rank == killed)
      raise(SIGKILL);
    status = lowLatency
                 ? dispatchFast(*self[0], world.cases[static_cast<size_t>(rank)])
                 : dispatchSmall(*self[0], std::move(smallCases(self, 20, 48, 3)[0])).status();
  }
  const bool isNamed =
      status.message().find("rank " + std::to_string(killed) + " is gone") != std::string::npos;
  if (status.code() == kCollPeer && isNamed)
    return true;
  std::fprintf(stderr, "rank %d: %s\n", rank, status.toString().c_str());
  return false;
}

void playUntilOneIsKilled(bool lowLatency) {
  constexpr int kKilled = 1;
  std::vector<pid_t> processes;
  std::vector<int> in;
  std::vector<MoeCard> cards(3);
  for (int rank = 0; rank < 3; ++rank) {
    int up[2], down[2];
    ASSERT_EQ(pipe(up) + pipe(down), 0);
    processes.push_back(fork());
    if (processes.back() == 0)
      _exit(playUntilKilled(rank, kKilled, up[1], down[0], lowLatency) ? 0 : 1);
    close(up[1]);
    close(down[0]);
    void *card = &cards[static_cast<size_t>(rank)];
    EXPECT_EQ(read(up[0], card, sizeof(MoeCard)), static_cast<ssize_t>(sizeof(MoeCard)));
    close(up[0]);
    in.push_back(down[1]);
  }
  for (int out : in)
    EXPECT_EQ(write(out, cards.data(), 3 * sizeof(MoeCard)),
              static_cast<ssize_t>(3 * sizeof(MoeCard)));
  for (int rank = 0; rank < 3; ++rank) {
    int state = 0;
    waitpid(processes[static_cast<size_t>(rank)], &state, 0);
    EXPECT_EQ(rank == kKilled ? WIFSIGNALED(state) : WIFEXITED(state) && WEXITSTATUS(state) == 0,
              true)
        << rank;
    close(in[static_cast<size_t>(rank)]);
  }
}

TEST(MoeNodesProcessTest, AKilledProcessEndsTheOthers) { playUntilOneIsKilled(false); }
TEST(MoeNodesProcessTest, AKilledProcessEndsTheOthersInTheLowLatencyMode) {
  playUntilOneIsKilled(true);
}

TEST_F(MoeNodesTest, AbortEndsAll) {
  auto all = ranks(4, 2);
  const std::vector<Small> cases = smallCases(all);
  std::thread teller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    all[1]->buffer->abort();
  });
  expectFailures(all, 1, kCollAborted, "rank 1 was told to end",
                 [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, cases[r]).status(); });
  teller.join();
  EXPECT_EQ(dispatchSmall(*all[1], cases[1]).status().code(), kCollAborted);
}

TEST_F(MoeNodesTest, ARankThatDoesNotComeEndsTheOthers) {
  auto all = ranks(4, 2, 2'000'000); // slow machines reach their calls within it
  const std::vector<Small> cases = smallCases(all);
  expectFailures(all, 2, kCollTimeout, "rank 2 sends nothing",
                 [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, cases[r]).status(); });
}

TEST_F(MoeNodesTest, ACallOfOtherSizesEndsAll) {
  auto all = ranks(4, 2);
  std::vector<Small> cases = smallCases(all);
  cases[2].in.tokens.hidden = 32;
  expectFailures(all, -1, kCollMismatch, "calls with other sizes or types: bytes of a row: ",
                 [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, cases[r]).status(); });
}

TEST_F(MoeNodesTest, AWorstCaseThatDiffersIsNamedByAll) {
  for (const int64_t other : {50, 0}) {
    auto all = ranks(4, 2);
    const std::vector<Small> cases = smallCases(all);
    expectFailures(all, -1, kCollMismatch, "calls with other sizes or types: tokens that there is",
                   [&](size_t r, MoeRank &rank) {
                     return dispatchSmall(rank, cases[r], r == 2 ? other : 100).status();
                   });
    const std::string said = all[2]->buffer->check().message();
    EXPECT_NE(said.find("rank 2"), std::string::npos) << said;
    EXPECT_NE(said.find("100"), std::string::npos) << said;
  }
}

// Wherever the failure occurs in a call, it is reported at once, not at the deadline.
TEST_F(MoeNodesTest, ADriverThatFailsOneRankEndsAll) {
  ScopedMoePlatform platform(failingMoe(fake_));
  const auto began = std::chrono::steady_clock::now();
  for (const int64_t worst : {0, 100})
    for (const int records : {0, 1, 2, 3}) {
      auto all = ranks(4, 2, 60'000'000);
      const std::vector<Small> cases = smallCases(all);
      expectFailures(all, -1, kCollDevice, "rank 2: cuEventRecord", [&](size_t r, MoeRank &rank) {
        const MoeInputs &in = cases[r].in;
        COLL_RETURN_IF_ERROR(rank.buffer->dispatchLayout(in.routing, in.layout, rank.order));
        MoeDispatchOptions options;
        options.worstCaseTokens = worst;
        recordsUntilFailure = r == 2 ? records : INT_MAX;
        return rank.buffer
            ->dispatch(in.tokens, in.routing, in.layout, options, in.handle, rank.order)
            .status();
      });
    }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(40));
}

TEST_F(MoeNodesTest, ADriverThatFailsOneRankInACombineEndsAll) {
  connectBy("tcp");
  ScopedMoePlatform platform(failingMoe(fake_));
  const auto began = std::chrono::steady_clock::now();
  for (const int records : {0, 1, 2}) {
    auto all = ranks(4, 2, 60'000'000);
    const std::vector<Small> cases = smallCases(all);
    expectFailures(all, -1, kCollDevice, "rank 1: cuEventRecord", [&](size_t r, MoeRank &rank) {
      Result<MoeReceived> received = dispatchSmall(rank, cases[r]);
      if (!received)
        return received.status();
      const MoeCombine combine = giveBack(*received, cases[r], received->handle.numRecv);
      recordsUntilFailure = r == 1 ? records : INT_MAX;
      return rank.buffer->combine(combine, received->handle, {}, rank.order);
    });
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(40));
}

TEST_F(MoeNodesTest, AllRefuseWhatDoesNotFit) {
  MoeRanks all;
  for (int r = 0; r < 4; ++r) {
    MoeBufferOptions options = optionsOf(r, 4, 2, 20'000'000);
    options.netBytes = 8192;
    all.push_back(std::make_unique<MoeRank>(fake_, options));
  }
  syncAll(all);
  const std::vector<Small> many = smallCases(all, 200), large = smallCases(all, 20, 4096),
                           few = smallCases(all, 5);
  expectFailures(all, -1, kCollInvalidCall, "netBytes is 8192; the call needs",
                 [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, many[r]).status(); });
  expectFailures(all, -1, kCollInvalidCall, "netBytes is 8192; the call needs",
                 [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, large[r]).status(); });
  // That has not failed any buffer.
  beside(all, [&](size_t r, MoeRank &rank) {
    auto received = dispatchSmall(rank, few[r]);
    ASSERT_TRUE(received.ok()) << received.status().toString();
    rank.wait();
    EXPECT_TRUE(rank.buffer->check().ok());
    // A handle whose owner is missing.
    MoeHandle handle = received->handle;
    handle.way = nullptr;
    EXPECT_EQ(
        rank.buffer->dispatchAgain(few[r].in.tokens, handle, {}, rank.order).status().message(),
        "moe buffer of rank " + std::to_string(r) +
            ": `handle` is not from a dispatch of this buffer");
  });
}

// Rows of fp8 fit, but the returned rows, which are bf16, do not.
TEST_F(MoeNodesTest, AllRefuseACombineThatDoesNotFit) {
  constexpr int64_t kHidden = 2048;
  MoeRanks all;
  for (int r = 0; r < 2; ++r) {
    MoeBufferOptions options = optionsOf(r, 2, 1, 20'000'000);
    options.nvlBytes = 1 << 20;
    options.netBytes = 32 << 20;
    options.netChunkBytes = 1 << 20;
    all.push_back(std::make_unique<MoeRank>(fake_, options));
  }
  syncAll(all);
  std::vector<MoeReceived> received(2);
  std::vector<MoeInputs> inputs;
  std::vector<MoeRankCase> cases(2);
  MoeDispatchOptions options;
  options.config.numSms = 2;
  for (size_t r = 0; r < 2; ++r) {
    const size_t count = r == 0 ? 200 : 0; // tokens, all for rank 1
    MoeRankCase &tokens = cases[r];
    tokens.topkIdx.assign(count, 1);
    tokens.topkWeights.assign(count, 1.f);
    tokens.x.assign(count * kHidden, 1);
    tokens.routing = {nullptr, static_cast<int64_t>(count), 1, 2};
    tokens.tokens.hidden = kHidden;
    tokens.tokens.dtype = kCollF8E4M3FN;
    tokens.tokens.topkWeights = tokens.topkWeights.data();
    inputs.push_back(inputsOf(*all[r], tokens, 2, options.config));
  }
  beside(all, [&](size_t r, MoeRank &rank) {
    const MoeInputs &in = inputs[r];
    ASSERT_TRUE(rank.buffer->dispatchLayout(in.routing, in.layout, rank.order).ok());
    auto got =
        rank.buffer->dispatch(in.tokens, in.routing, in.layout, options, in.handle, rank.order);
    ASSERT_TRUE(got.ok()) << got.status().toString();
    received[r] = *got;
    rank.wait();
  });
  ASSERT_FALSE(HasFailure());
  expectFailures(all, -1, kCollInvalidCall, "200 tokens for rank 1, which takes 127",
                 [&](size_t r, MoeRank &rank) {
                   MoeCombine combine;
                   combine.numRows = received[r].handle.numRecv;
                   combine.hidden = kHidden;
                   combine.x = rank.room<uint16_t>(static_cast<size_t>(200 * kHidden));
                   combine.out = inputs[r].out;
                   return rank.buffer->combine(combine, received[r].handle, options.config,
                                               rank.order);
                 });
  for (const std::unique_ptr<MoeRank> &rank : all)
    EXPECT_TRUE(rank->buffer->check().ok()) << rank->buffer->check().toString();
}

// Calls that have returned can no longer be refused.
TEST_F(MoeNodesTest, AWorstCaseThatIsExceededEndsAll) {
  auto all = ranks(4, 2);
  const std::vector<Small> cases = smallCases(all);
  expectFailures(all, -1, kCollInvalidCall, "which takes 2", [&](size_t r, MoeRank &rank) {
    return dispatchSmall(rank, cases[r], /*worst=*/2).status();
  });
  EXPECT_EQ(dispatchSmall(*all[0], cases[0]).status().code(), kCollInvalidCall);
}

// A new buffer often gets the memory of the previous one.
TEST_F(MoeNodesTest, HandlesOfABufferThatIsGoneAreRefused) {
  std::vector<MoeHandle> stale(2);
  for (const bool isStale : {false, true}) {
    auto all = ranks(2, 1);
    const std::vector<Small> cases = smallCases(all);
    beside(all, [&](size_t r, MoeRank &rank) {
      if (isStale) {
        EXPECT_EQ(rank.buffer->dispatchAgain(cases[r].in.tokens, stale[r], {}, rank.order)
                      .status()
                      .message(),
                  "moe buffer of rank " + std::to_string(r) +
                      ": `handle` is not from a dispatch of this buffer");
        return;
      }
      auto received = dispatchSmall(rank, cases[r]);
      ASSERT_TRUE(received.ok()) << received.status().toString();
      stale[r] = received->handle;
      rank.wait();
    });
  }
}

TEST_F(MoeNodesTest, ALayoutThatIsNotThereIsRefused) {
  auto all = ranks(2, 1);
  const std::vector<Small> cases = smallCases(all);
  beside(all, [&](size_t r, MoeRank &rank) {
    Small none = cases[r];
    none.in.layout = {};
    EXPECT_EQ(rank.buffer
                  ->dispatch(none.in.tokens, none.in.routing, none.in.layout, {}, none.in.handle,
                             rank.order)
                  .status()
                  .message(),
              "moe buffer of rank " + std::to_string(r) +
                  ": moe: counts of `layout` are null, or not aligned");
    auto received = dispatchSmall(rank, cases[r]);
    EXPECT_TRUE(received.ok()) << received.status().toString();
    rank.wait();
  });
}

// The layout comes from the caller, and may contain anything.
TEST_F(MoeNodesTest, CountsThatCannotBeEndAll) {
  auto all = ranks(4, 2);
  const std::vector<Small> cases = smallCases(all);
  expectFailures(
      all, -1, kCollMismatch, "rank 2 has counted too many tokens for an expert",
      [&](size_t r, MoeRank &rank) {
        const MoeInputs &in = cases[r].in;
        COLL_RETURN_IF_ERROR(rank.buffer->dispatchLayout(in.routing, in.layout, rank.order));
        rank.wait();
        if (r == 2)
          in.layout.tokensPerExpert[in.routing.numExperts / 4 * 2] = INT32_MAX;
        return rank.buffer->dispatch(in.tokens, in.routing, in.layout, {}, in.handle, rank.order)
            .status();
      });
}

TEST_F(MoeNodesTest, ATokenThatIsLongerThanAChunkIsRefusedByAll) {
  auto all = ranks(4, 2);
  const std::vector<Small> large = smallCases(all, 5, 4096);
  expectFailures(all, -1, kCollInvalidCall, "netChunkBytes is 4096",
                 [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, large[r]).status(); });
}

TEST_F(MoeNodesTest, OptionsAndCardsAreChecked) {
  MoeBufferOptions options = optionsOf(0, 4, 2, 300'000);
  options.netChunkBytes = 100;
  EXPECT_EQ(MoeBuffer::create(options).status().message(),
            "moe buffer of rank 0: netChunkBytes is 100; it must be a multiple of 256");
  options.netChunkBytes = 4096;
  options.numRanks = INT32_MAX - 1;
  EXPECT_EQ(MoeBuffer::create(options).status().message(),
            "moe buffer of rank 0: numRanks is 2147483646; it must be at most 4096");
  options.numRanks = 4;
  options.transport = nullptr;
  EXPECT_EQ(MoeBuffer::create(options).status().message(),
            "moe buffer of rank 0: `transport` is null, but there are ranks on other nodes");
  MoeRank a(fake_, optionsOf(0, 2, 1, 300'000)), b(fake_, optionsOf(1, 2, 1, 300'000));
  std::vector<MoeCard> cards = {a.buffer->card(), b.buffer->card()};
  cards[1].netBytes *= 2;
  EXPECT_EQ(a.buffer->sync(cards).toString(),
            "mismatch: moe buffer of rank 0: moe: netBytes is 2097152 on rank 1, and 1048576 on "
            "rank 0");
  cards[1] = b.buffer->card();
  EXPECT_EQ(a.buffer->sync(cards).toString(),
            "timeout: moe buffer of rank 0: no connection to rank 1");
}

// Whatever differs, and between whichever nodes.
TEST_F(MoeNodesTest, SizesThatDifferAreNamedByAll) {
  const struct {
    const char *what;
    int64_t MoeBufferOptions::*size;
  } sizes[] = {{"nvlBytes", &MoeBufferOptions::nvlBytes},
               {"netBytes", &MoeBufferOptions::netBytes},
               {"netChunkBytes", &MoeBufferOptions::netChunkBytes}};
  for (const auto &[what, size] : sizes) {
    MoeRanks all;
    std::vector<MoeCard> cards;
    for (int r = 0; r < 4; ++r) {
      MoeBufferOptions options = optionsOf(r, 4, 2, 20'000'000);
      if (r >= 2)
        options.*size *= 2;
      all.push_back(std::make_unique<MoeRank>(fake_, options));
      cards.push_back(all.back()->buffer->card());
    }
    const int64_t ours = optionsOf(0, 4, 2, 1).*size;
    for (int r = 0; r < 4; ++r) {
      const int other = r < 2 ? 2 : 0; // the first on another node
      EXPECT_EQ(all[static_cast<size_t>(r)]->buffer->sync(cards).toString(),
                "mismatch: moe buffer of rank " + std::to_string(r) + ": moe: " + what + " is " +
                    std::to_string(other ? 2 * ours : ours) + " on rank " + std::to_string(other) +
                    ", and " + std::to_string(other ? ours : 2 * ours) + " on rank " +
                    std::to_string(r));
    }
  }
}

} // namespace
} // namespace coll::rt::test
