// The low-latency mode of MoeBuffer with ranks on several nodes, all of them in this process:
// rounds compared with the reference, bit for bit; what crosses the network; graphs, two batches at
// a time; ranks that are gone, late, or send wrong data.

#include "test/exchange/moe_low_latency_rounds.h"
#include "test/exchange/moe_nodes_rounds.h"
#include "test/support/no_more_threads.h"

#include <chrono>
#include <climits>
#include <cstring>
#include <functional>

namespace coll::rt::test {
namespace {

constexpr int kGpus = 6;

class MoeLowLatencyNodesTest : public testing::Test {
protected:
  MoeBufferOptions optionsOf(int rank, int numRanks, int nodeSize, int64_t timeoutUs = 20'000'000) {
    return moeLowLatencyNodesOptions(*transport_, rank, numRanks, nodeSize, timeoutUs);
  }
  MoeRanks ranks(int numRanks, int nodeSize, int64_t timeoutUs = 20'000'000) {
    return syncedRanks(fake_, numRanks,
                       [&](int r) { return optionsOf(r, numRanks, nodeSize, timeoutUs); });
  }
  void playRounds(int numRanks, int nodeSize, uint32_t rounds) {
    std::minstd_rand random(static_cast<unsigned>(10 * numRanks + nodeSize));
    SCOPED_TRACE(std::to_string(numRanks) + " ranks, " + std::to_string(nodeSize) + " a node");
    MoeRanks all = ranks(numRanks, nodeSize);
    playLowLatencyRounds(all, rounds, random);
    all.clear();
    EXPECT_EQ(fake_.liveAllocations(), 0);
    EXPECT_EQ(fake_.misuse(), "");
  }

  dl::FakeCuda fake_{kGpus};
  ScopedMoePlatform platform_{emulatedMoe(fake_.table())};
  std::unique_ptr<net::Transport> transport_ = moeNodesTransport("loopback");
};

TEST_F(MoeLowLatencyNodesTest, ABufferWhoseThreadCannotStartIsNotSynced) {
  MoeRank first(fake_, optionsOf(0, 2, 1)), second(fake_, optionsOf(1, 2, 1));
  const std::vector<MoeCard> cards = {first.buffer->card(), second.buffer->card()};
  std::thread other([&] { (void)second.buffer->sync(cards); }); // which may succeed
  NoMoreThreads limit;
  COLL_EXPECT_NO_THREAD(first.buffer->sync(cards), "messages of the low-latency mode");
  other.join();
}

// --- rounds

TEST_F(MoeLowLatencyNodesTest, ARoundIsThatOfTheReferenceOverLoopback) {
  playRounds(2, 1, 4);
  playRounds(4, 2, 4);
}

TEST_F(MoeLowLatencyNodesTest, RoundsOnMoreNodesAndUnevenOnes) {
  playRounds(6, 2, 8);
  playRounds(6, 3, 4);
  playRounds(3, 1, 4);
  playRounds(5, 2, 4);
  playRounds(3, 2, 4);
}

TEST_F(MoeLowLatencyNodesTest, ARoundIsThatOfTheReferenceOverTcp) {
  transport_ = moeNodesTransport("tcp");
  playRounds(4, 2, 4);
  playRounds(3, 1, 4);
}

TEST_F(MoeLowLatencyNodesTest, ATokenCrossesOnceForEachRankAndComesBackFromEachExpert) {
  using namespace kernels::low_latency;
  constexpr int kRanks = 4, kNodeSize = 2;
  MoeRanks all = ranks(kRanks, kNodeSize);
  const MoeLowLatencyShape shape = lowLatencyShape(kRanks);
  std::minstd_rand random(31);
  const LowLatencyWorld world = lowLatencyWorld(shape, kRanks, kCollBf16, false, random);
  const int64_t local = shape.numExperts / kRanks, rowBytes = shape.hidden * 2;
  // Counts the data from `source` to `target`: tokens, and pairs of a token and an expert.
  const auto crossing = [&](size_t source, int64_t target) {
    std::pair<int64_t, int64_t> found = {0, 0};
    const MoeRouting &routing = world.cases[source].routing;
    for (int64_t t = 0; t < routing.numTokens; ++t) {
      int64_t experts = 0;
      for (int k = 0; k < routing.numTopk; ++k) {
        const int64_t expert = routing.topkIdx[t * routing.numTopk + k];
        experts += expert >= 0 && expert / local == target;
      }
      found.first += experts > 0;
      found.second += experts;
    }
    return found;
  };
  beside(all, [&](size_t r, MoeRank &rank) {
    LowLatencyMemory memory =
        lowLatencyMemory(rank, world.cases[r], shape, kRanks, kCollBf16, false);
    memory.combine.x = putRows(rank, world.experts[r]);
    int64_t there = 0, back = 0;
    for (size_t other = 0; other < kRanks; ++other) {
      if (other / kNodeSize == r / kNodeSize)
        continue;
      const MoeRouting &routing = world.cases[r].routing;
      there += static_cast<int64_t>(rowsAt(static_cast<uint32_t>(local),
                                           static_cast<uint32_t>(routing.numTokens),
                                           static_cast<uint32_t>(routing.numTopk))) +
               crossing(r, static_cast<int64_t>(other)).first * rowBytes;
      back += static_cast<int64_t>(kReturnsAt) + crossing(other, static_cast<int64_t>(r)).second *
                                                     (rowBytes + static_cast<int64_t>(kTailBytes));
    }
    lowLatencyDispatch(rank, memory, false);
    rank.wait();
    lowLatencyCombine(rank, memory, false);
    rank.wait();
    // That this rank has received everything does not mean that everything it sends has been sent.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (rank.buffer->netBytesSent() < there + back &&
           std::chrono::steady_clock::now() < deadline)
      std::this_thread::yield();
    EXPECT_EQ(rank.buffer->netBytesSent(), there + back);
    must(rank.buffer->check());
  });
}

TEST_F(MoeLowLatencyNodesTest, ATwoBatchesOverlap) {
  constexpr int kRanks = 4;
  std::minstd_rand random(32);
  const MoeLowLatencyShape shape = lowLatencyShape(kRanks);
  MoeRanks all = ranks(kRanks, 2);
  const LowLatencyWorld worlds[2] = {lowLatencyWorld(shape, kRanks, kCollBf16, false, random),
                                     lowLatencyWorld(shape, kRanks, kCollF8E4M3FN, false, random)};
  beside(all, [&](size_t r, MoeRank &rank) {
    TwoBatches batches(worlds, shape, kRanks, r, rank);
    batches.dispatch();
    // Each rank uses a different order.
    batches.receive(r % 2);
    batches.receive(1 - r % 2);
    batches.finish();
  });
}

// The host does not learn of the calls of a graph; those of the normal mode use the same
// connections.
TEST_F(MoeLowLatencyNodesTest, GraphsBetweenCallsOfTheNormalMode) {
  constexpr int kRanks = 4;
  std::minstd_rand random(33);
  const MoeLowLatencyShape shape = lowLatencyShape(kRanks);
  MoeRanks all;
  for (int r = 0; r < kRanks; ++r) {
    MoeBufferOptions options = optionsOf(r, kRanks, 2);
    options.nvlBytes = options.netBytes = kMoeNodesBytes;
    all.push_back(std::make_unique<MoeRank>(fake_, options));
  }
  syncAll(all);
  const LowLatencyWorld world = lowLatencyWorld(shape, kRanks, kCollBf16, false, random);
  beside(all, [&](size_t r, MoeRank &rank) {
    LowLatencyMemory memory =
        lowLatencyMemory(rank, world.cases[r], shape, kRanks, kCollBf16, false);
    memory.combine.x = putRows(rank, world.experts[r]);
    MoeOrder order;
    order.compute = rank.buffer->commStream();
    const MoeGraph graph(fake_, static_cast<int>(r), order.compute, [&] {
      must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, order));
      must(rank.buffer->lowLatencyCombine(memory.combine, memory.rows, order));
    });
    const MoeDispatchOptions options;
    const MoeInputs normal = inputsOf(rank, world.cases[r], kRanks, options.config);
    for (int replay = 0; replay < 3; ++replay) {
      std::memset(memory.combine.out, 0xff, world.out[r].size() * 2);
      graph.launch();
      must(rank.buffer->dispatchLayout(normal.routing, normal.layout, order));
      must(rank.buffer
               ->dispatch(normal.tokens, normal.routing, normal.layout, options, normal.handle,
                          order)
               .status());
      graph.finish();
      must(rank.buffer->check());
      expectRows(memory.rows, world.rows[r]);
      expectBytes("out", static_cast<uint16_t *>(memory.combine.out), world.out[r]);
    }
  });
  EXPECT_EQ(fake_.misuse(), "");
}

// Captured calls alternate between the buffers, so a replay begins with the buffer with which the
// previous one ended.
TEST_F(MoeLowLatencyNodesTest, AGraphOfAnOddNumberOfCallsIsReplayed) {
  constexpr int kRanks = 4;
  std::minstd_rand random(34);
  const MoeLowLatencyShape shape = lowLatencyShape(kRanks);
  MoeRanks all = ranks(kRanks, 2);
  const LowLatencyWorld world = lowLatencyWorld(shape, kRanks, kCollBf16, false, random);
  beside(all, [&](size_t r, MoeRank &rank) {
    LowLatencyMemory memory =
        lowLatencyMemory(rank, world.cases[r], shape, kRanks, kCollBf16, false);
    memory.combine.x = putRows(rank, world.experts[r]);
    MoeOrder order;
    order.compute = rank.buffer->commStream();
    const MoeGraph graph(fake_, static_cast<int>(r), order.compute, [&] {
      must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, order));
      must(rank.buffer->lowLatencyCombine(memory.combine, memory.rows, order));
      must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, order));
    });
    for (int replay = 0; replay < 4; ++replay) {
      std::memset(memory.combine.out, 0xff, world.out[r].size() * 2);
      graph.launch();
      graph.finish();
      must(rank.buffer->check());
      expectRows(memory.rows, world.rows[r]);
      expectBytes("out", static_cast<uint16_t *>(memory.combine.out), world.out[r]);
    }
  });
  EXPECT_EQ(fake_.misuse(), "");
}

// --- other shapes

void clean(MoeRanks &all, const MoeLowLatencyShape &shape) {
  beside(all, [&](size_t r, MoeRank &rank) {
    // Some ranks are early: messages of the new shape arrive at ranks that do not have it yet.
    std::this_thread::sleep_for(std::chrono::milliseconds(r % 3 * 5));
    must(rank.buffer->lowLatencyClean(shape, rank.order));
  });
}

// After an even number of calls, and an odd one.
TEST_F(MoeLowLatencyNodesTest, CleanedItTakesAnotherShape) {
  std::minstd_rand random(36);
  const struct {
    const char *transport;
    int numRanks, nodeSize;
  } worlds[] = {{"loopback", 2, 1}, {"loopback", 4, 2}, {"loopback", 5, 2}, {"tcp", 3, 2}};
  for (const auto &[name, numRanks, nodeSize] : worlds) {
    SCOPED_TRACE(name + std::to_string(numRanks));
    transport_ = moeNodesTransport(name);
    MoeRanks all = ranks(numRanks, nodeSize);
    const MoeLowLatencyShape first = lowLatencyShape(numRanks);
    playLowLatencyRounds(all, first, 2, random);
    for (const MoeLowLatencyShape &shape : {MoeLowLatencyShape{30, 128, 3, 2 * numRanks},
                                            MoeLowLatencyShape{5, 384, 6, 3 * numRanks}, first}) {
      clean(all, shape);
      playLowLatencyRounds(all, shape, 4, random);
      const LowLatencyWorld world = lowLatencyWorld(shape, numRanks, kCollBf16, false, random);
      beside(all, [&, numRanks = numRanks](size_t r, MoeRank &rank) {
        const LowLatencyMemory memory =
            lowLatencyMemory(rank, world.cases[r], shape, numRanks, kCollBf16, false);
        lowLatencyDispatch(rank, memory, r % 2);
        rank.wait();
        expectRows(memory.rows, world.rows[r]);
      });
      ASSERT_FALSE(HasFailure()) << shape.maxTokens << " tokens";
    }
    all.clear();
    EXPECT_EQ(fake_.liveAllocations(), 0);
    EXPECT_EQ(fake_.misuse(), "");
  }
}

// The host waits for nothing in between, and calls of the normal mode precede and follow.
TEST_F(MoeLowLatencyNodesTest, AnotherShapeComesInTheOrderOfTheStream) {
  constexpr int kRanks = 4;
  std::minstd_rand random(37);
  MoeRanks all = syncedRanks(fake_, kRanks, [&](int r) {
    MoeBufferOptions options = optionsOf(r, kRanks, 2);
    options.nvlBytes = options.netBytes = kMoeNodesBytes;
    return options;
  });
  const MoeLowLatencyShape shapes[2] = {lowLatencyShape(kRanks), {7, 128, 4, 2 * kRanks}};
  const LowLatencyWorld worlds[2] = {lowLatencyWorld(shapes[0], kRanks, kCollBf16, false, random),
                                     lowLatencyWorld(shapes[1], kRanks, kCollBf16, false, random)};
  beside(all, [&](size_t r, MoeRank &rank) {
    const MoeDispatchOptions options;
    const MoeInputs normal = inputsOf(rank, worlds[0].cases[r], kRanks, options.config);
    std::vector<LowLatencyMemory> memories;
    for (size_t i = 0; i < 4; ++i) {
      const size_t which = i % 2;
      if (i > 0)
        must(rank.buffer->lowLatencyClean(shapes[which], rank.order));
      memories.push_back(
          lowLatencyMemory(rank, worlds[which].cases[r], shapes[which], kRanks, kCollBf16, false));
      lowLatencyDispatch(rank, memories.back(), false);
      must(rank.buffer->dispatchLayout(normal.routing, normal.layout, rank.order));
      must(rank.buffer
               ->dispatch(normal.tokens, normal.routing, normal.layout, options, normal.handle,
                          rank.order)
               .status());
    }
    rank.wait();
    must(rank.buffer->check());
    for (size_t i = 0; i < 4; ++i)
      expectRows(memories[i].rows, worlds[i % 2].rows[r]);
  });
  EXPECT_EQ(fake_.misuse(), "");
}

TEST_F(MoeLowLatencyNodesTest, CleaningIsRefusedWhereItCannotBe) {
  MoeRanks all = ranks(2, 1);
  MoeBuffer &buffer = *all[1]->buffer;
  const std::string who = "invalid call: moe buffer of rank 1: low-latency mode: ";
  // GPU memory has room for it.
  const MoeLowLatencyShape shape = {15, 256, 3, 6};
  ASSERT_LE(MoeBuffer::lowLatencyBytes(shape, 2),
            MoeBuffer::lowLatencyBytes(lowLatencyShape(2), 2));
  EXPECT_EQ(buffer.lowLatencyClean(shape, all[1]->order).toString(),
            who + "`shape` has larger messages to other nodes than the one that the buffer was "
                  "made for");
  dl::Cuda old = fake_.table();
  old.streamWaitValue = nullptr;
  ScopedMoePlatform platform(emulatedMoe(old));
  MoeRanks without = ranks(2, 1);
  EXPECT_EQ(without[1]->buffer->lowLatencyClean(lowLatencyShape(2), without[1]->order).toString(),
            "unsupported: moe buffer of rank 1: low-latency mode: the CUDA driver is too old: its "
            "streams cannot wait for memory (cuStreamWaitValue)");
}

TEST_F(MoeLowLatencyNodesTest, CleaningForDifferentShapesEndsAll) {
  MoeRanks all = ranks(3, 1);
  beside(all, [&](size_t r, MoeRank &rank) {
    MoeLowLatencyShape shape = lowLatencyShape(3);
    shape.maxTokens -= static_cast<int64_t>(r == 2);
    (void)rank.buffer->lowLatencyClean(shape, rank.order);
    rank.wait();
    const Status status = rank.buffer->check();
    EXPECT_EQ(status.code(), kCollMismatch) << status.toString();
    EXPECT_NE(status.message().find("calls with other sizes or types: tokens that there is room "
                                    "for: "),
              std::string::npos)
        << status.toString();
    rank.end();
  });
}

TEST_F(MoeLowLatencyNodesTest, ARankThatDoesNotComeToCleanEndsTheOthers) {
  MoeRanks all = ranks(4, 2, 1'000'000);
  beside(all, [&](size_t r, MoeRank &rank) {
    if (r == 3)
      return;
    must(rank.buffer->lowLatencyClean(lowLatencyShape(4), rank.order));
    rank.wait();
    const Status status = rank.buffer->check();
    EXPECT_EQ(status.code(), kCollTimeout) << status.toString();
    EXPECT_NE(status.message().find("rank 3"), std::string::npos) << status.toString();
    rank.end();
  });
}

// --- identity, faults

TEST_F(MoeLowLatencyNodesTest, IdentityAndSizes) {
  const MoeLowLatencyShape shape = lowLatencyShape(4);
  EXPECT_EQ(MoeBuffer::lowLatencyHostBytes(shape, 4, 8), 0);
  // To and from three others, two buffers, with a combine's worst case each.
  const int64_t combine = shape.maxTokens * 3 * (shape.hidden * 2 + 16) +
                          static_cast<int64_t>(sizeof(kernels::LowLatencyMessage));
  EXPECT_GE(MoeBuffer::lowLatencyHostBytes(shape, 4, 1), 2 * 2 * 3 * combine);
  EXPECT_LE(MoeBuffer::lowLatencyHostBytes(shape, 4, 1), 2 * (2 * 3 * (combine + 512) + 8192));
  MoeRanks all = ranks(4, 2);
  MoeBuffer &buffer = *all[3]->buffer;
  EXPECT_TRUE(buffer.isInternodeAvailable());
  EXPECT_EQ(buffer.numNetRanks(), 2);
  EXPECT_EQ(buffer.netRank(), 1);
  EXPECT_EQ(buffer.nvlRank(), 1);
  MoeTokens tokens;
  EXPECT_EQ(buffer.dispatchAgain(tokens, {}, {}, all[3]->order).status().message(),
            "moe buffer of rank 3: without nvlBytes it has only the low-latency mode");
}

TEST_F(MoeLowLatencyNodesTest, AShapeThatDiffersIsNamedByAll) {
  const std::pair<const char *, std::function<void(MoeBufferOptions &)>> others[] = {
      {"maxTokens of the low-latency mode is 13 on rank 2, and 12 on rank 0",
       [](MoeBufferOptions &options) { ++options.lowLatencyShape.maxTokens; }},
      {"hidden of the low-latency mode is 384 on rank 2, and 256 on rank 0",
       [](MoeBufferOptions &options) { options.lowLatencyShape.hidden += 128; }},
      {"numTopk of the low-latency mode is 7 on rank 2, and 6 on rank 0",
       [](MoeBufferOptions &options) { ++options.lowLatencyShape.numTopk; }},
      {"numExperts of the low-latency mode is 18 on rank 2, and 9 on rank 0",
       [](MoeBufferOptions &options) { options.lowLatencyShape.numExperts *= 2; }},
      {"lowLatency is 0 on rank 2, and 1 on rank 0", [](MoeBufferOptions &options) {
         options.lowLatency = false;
         options.lowLatencyShape = {};
       }}};
  for (const auto &[said, change] : others) {
    MoeRanks all;
    std::vector<MoeCard> cards;
    for (int r = 0; r < 3; ++r) {
      MoeBufferOptions options = optionsOf(r, 3, 1);
      options.nvlBytes = options.netBytes = kMoeNodesBytes;
      if (r == 2)
        change(options);
      all.push_back(std::make_unique<MoeRank>(fake_, options));
      cards.push_back(all.back()->buffer->card());
    }
    EXPECT_EQ(all[0]->buffer->sync(cards).toString(),
              std::string("mismatch: moe buffer of rank 0: moe: ") + said);
    for (size_t r : {1, 2}) {
      const Status synced = all[r]->buffer->sync(cards);
      EXPECT_EQ(synced.code(), kCollMismatch);
      EXPECT_NE(synced.message().find(" on rank " + std::to_string(2 - r / 2 * 2) + ", and "),
                std::string::npos)
          << synced.toString();
    }
  }
}

// Every rank but one makes a call, which fails; returns what the call reports.
template <typename Spoil>
void expectFailures(MoeRanks &all, int except, CollCode code, const std::string &text,
                    Spoil &&spoil) {
  const int numRanks = static_cast<int>(all.size());
  const MoeLowLatencyShape shape = lowLatencyShape(numRanks);
  std::minstd_rand random(34);
  const LowLatencyWorld world = lowLatencyWorld(shape, numRanks, kCollBf16, false, random);
  beside(all, [&](size_t r, MoeRank &rank) {
    if (static_cast<int>(r) == except)
      return;
    LowLatencyMemory memory =
        lowLatencyMemory(rank, world.cases[r], shape, numRanks, kCollBf16, false);
    spoil(r, memory);
    // If this thread is late, the call already reports the failure.
    Status status = rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order);
    if (status.ok()) {
      rank.wait();
      status = rank.buffer->check();
    }
    EXPECT_EQ(status.code(), code) << status.toString();
    EXPECT_NE(status.message().find(text), std::string::npos) << r << ": " << status.toString();
    EXPECT_EQ(status.message().find("moe buffer of rank " + std::to_string(r)), 0u);
    EXPECT_EQ(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order).code(),
              code);
    rank.end();
  });
}
const auto nothing = [](size_t, LowLatencyMemory &) {};

TEST_F(MoeLowLatencyNodesTest, ARankThatIsGoneEndsAllOthers) {
  for (bool tcp : {false, true}) {
    if (tcp)
      transport_ = moeNodesTransport("tcp");
    // No peer maps the memory of a rank that is alone on its node.
    MoeRanks all = ranks(5, 2);
    std::thread gone([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      all[4]->buffer.reset();
    });
    expectFailures(all, 4, kCollPeer, "rank 4 is gone", nothing);
    gone.join();
  }
}

TEST_F(MoeLowLatencyNodesTest, AbortEndsAll) {
  MoeRanks all = ranks(4, 2);
  std::thread teller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    all[1]->buffer->abort();
  });
  expectFailures(all, 1, kCollAborted, "rank 1 was told to end", nothing);
  teller.join();
}

TEST_F(MoeLowLatencyNodesTest, ARankThatDoesNotComeEndsTheOthers) {
  for (const int nodeSize : {1, 2}) {
    const int last = 2 * nodeSize - 1;
    // Slow machines reach their calls within this time.
    MoeRanks all = ranks(2 * nodeSize, nodeSize, nodeSize * 2'000'000);
    expectFailures(all, last, kCollTimeout,
                   "rank " + std::to_string(last) +
                       ", or its data, did not arrive before the deadline",
                   nothing);
  }
}

// The failure is reported at once, not at the deadline.
TEST_F(MoeLowLatencyNodesTest, ADriverThatFailsOneRankEndsAll) {
  ScopedMoePlatform platform(failingMoe(fake_));
  const auto began = std::chrono::steady_clock::now();
  for (const bool tcp : {false, true}) {
    if (tcp)
      transport_ = moeNodesTransport("tcp");
    // Before the call is on the stream, and after it.
    for (const int records : {0, 1}) {
      MoeRanks all = ranks(5, 2, 60'000'000);
      expectFailures(
          all, -1, kCollDevice, "rank 4: cuEventRecord",
          [&](size_t r, LowLatencyMemory &) { recordsUntilFailure = r == 4 ? records : INT_MAX; });
    }
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(40));
}

TEST_F(MoeLowLatencyNodesTest, AnotherCallEndsBoth) {
  MoeRanks all = ranks(2, 1);
  expectFailures(all, -1, kCollMismatch, "makes another call",
                 [&](size_t r, LowLatencyMemory &memory) {
                   if (r == 0)
                     return;
                   memory.dispatch.dtype = kCollF8E4M3FN;
                   memory.rows.scales = all[1]->room<float>(4096);
                 });
}

// Experts return rows for a token that does not exist, because `sources` were overwritten.
TEST_F(MoeLowLatencyNodesTest, AMessageIsCheckedBeforeItIsUsed) {
  MoeRanks all = ranks(2, 1);
  const MoeLowLatencyShape shape = lowLatencyShape(2);
  std::minstd_rand random(35);
  LowLatencyWorld world = lowLatencyWorld(shape, 2, kCollBf16, false, random);
  beside(all, [&](size_t r, MoeRank &rank) {
    LowLatencyMemory memory = lowLatencyMemory(rank, world.cases[r], shape, 2, kCollBf16, false);
    memory.combine.x = putRows(rank, world.experts[r]);
    lowLatencyDispatch(rank, memory, false);
    rank.wait();
    if (r == 1)
      std::fill_n(memory.rows.sources, static_cast<size_t>(3 * shape.rowsOfExpert(2)), 0xffffffffu);
    // The call fails if the message has already arrived.
    (void)rank.buffer->lowLatencyCombine(memory.combine, memory.rows, rank.order);
    rank.wait();
    const Status status = rank.buffer->check();
    if (r == 1) {
      EXPECT_FALSE(status.ok());
      return;
    }
    EXPECT_EQ(status.toString(),
              "mismatch: moe buffer of rank 0: rank 1: it sends a row of an unknown "
              "token in the low-latency mode");
  });
}

} // namespace
} // namespace coll::rt::test
