// The low-latency mode of MoeBuffer over a fake driver, with the kernels' device code on host
// threads: rounds compared with the reference, mixed with calls of the normal mode; hooks, a graph,
// rows written in place; refusals.

#include "test/exchange/moe_low_latency_rounds.h"

#include <cstring>

namespace coll::rt::test {
namespace {

constexpr int kGpus = 4;

MoeBufferOptions optionsOf(int rank, int numRanks, int64_t timeoutUs = 20'000'000) {
  MoeBufferOptions options;
  options.rank = rank;
  options.numRanks = numRanks;
  options.lowLatency = true;
  options.lowLatencyShape = lowLatencyShape(numRanks);
  options.device = rank;
  options.timeoutUs = timeoutUs;
  return options;
}

class MoeLowLatencyTest : public testing::Test {
protected:
  MoeRanks ranks(int numRanks, int64_t timeoutUs = 20'000'000) {
    return syncedRanks(fake_, numRanks, [&](int r) { return optionsOf(r, numRanks, timeoutUs); });
  }

  dl::FakeCuda fake_{kGpus};
  ScopedMoePlatform platform_{emulatedMoe(fake_.table())};
};

TEST_F(MoeLowLatencyTest, RoundsAreThoseOfTheReference) {
  std::minstd_rand random(21);
  for (int numRanks = 1; numRanks <= kGpus; ++numRanks) {
    MoeRanks all = ranks(numRanks);
    playLowLatencyRounds(all, 4, random);
  }
  EXPECT_EQ(fake_.misuse(), "");
}

TEST_F(MoeLowLatencyTest, TwoBatchesOverlap) {
  std::minstd_rand random(22);
  const MoeLowLatencyShape shape = lowLatencyShape(2);
  MoeRanks all = ranks(2);
  const LowLatencyWorld worlds[2] = {lowLatencyWorld(shape, 2, kCollBf16, false, random),
                                     lowLatencyWorld(shape, 2, kCollF8E4M3FN, false, random)};
  beside(all, [&](size_t r, MoeRank &rank) {
    MoeBuffer &buffer = *rank.buffer;
    TwoBatches batches(worlds, shape, 2, r, rank);
    batches.dispatch();
    const LowLatencyMemory &first = batches.memory[0];
    MoeHook early;
    EXPECT_EQ(buffer.lowLatencyDispatch(first.dispatch, first.rows, rank.order, &early).message(),
              "moe buffer of rank " + std::to_string(r) +
                  ": low-latency mode: call 0 was not received: its hook comes first");
    EXPECT_EQ(buffer.lowLatencyCombineInput().status().message(),
              "moe buffer of rank " + std::to_string(r) +
                  ": low-latency mode: call 0, which uses the same buffer, was not received");
    // Each rank uses a different order.
    batches.receive(r);
    EXPECT_EQ(buffer.lowLatencyReceive(batches.hooks[r], rank.order).message(),
              "moe buffer of rank " + std::to_string(r) + ": low-latency mode: call " +
                  std::to_string(r) + " does not wait to be received");
    batches.receive(1 - r);
    batches.finish();
  });
}

// Calls of the normal mode, and of a graph that is replayed.
TEST_F(MoeLowLatencyTest, GraphsAndTheNormalModeNeedNoCleaning) {
  std::minstd_rand random(23);
  const MoeLowLatencyShape shape = lowLatencyShape(2);
  MoeRanks all;
  for (int r = 0; r < 2; ++r) {
    MoeBufferOptions options = optionsOf(r, 2);
    options.nvlBytes = 1 << 18;
    all.push_back(std::make_unique<MoeRank>(fake_, options));
  }
  syncAll(all);
  const LowLatencyWorld world = lowLatencyWorld(shape, 2, kCollBf16, false, random);
  beside(all, [&](size_t r, MoeRank &rank) {
    LowLatencyMemory memory = lowLatencyMemory(rank, world.cases[r], shape, 2, kCollBf16, false);
    memory.combine.x = putRows(rank, world.experts[r]);
    MoeOrder order;
    order.compute = rank.buffer->commStream();
    const MoeGraph graph(fake_, static_cast<int>(r), order.compute, [&] {
      must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, order));
      must(rank.buffer->lowLatencyCombine(memory.combine, memory.rows, order));
    });
    const MoeDispatchOptions options;
    const MoeInputs normal = inputsOf(rank, world.cases[r], 2, options.config);
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
      for (size_t e = 0; e < world.rows[r].counts.size(); ++e)
        EXPECT_EQ(memory.dispatch.expertTokens[e], (replay + 1) * world.rows[r].counts[e]);
    }
  });
  EXPECT_EQ(fake_.misuse(), "");
}

// Changes the shape within the same number of bytes, and after an odd number of calls.
TEST_F(MoeLowLatencyTest, CleanedItTakesAnotherShape) {
  std::minstd_rand random(27);
  for (int numRanks = 1; numRanks <= 3; ++numRanks) {
    MoeRanks all = ranks(numRanks);
    const MoeLowLatencyShape first = lowLatencyShape(numRanks);
    const MoeLowLatencyShape shapes[] = {
        {30, 128, 3, 2 * numRanks}, {5, 384, 6, 3 * numRanks}, first};
    playLowLatencyRounds(all, first, 4, random);
    for (const MoeLowLatencyShape &shape : shapes) {
      beside(all,
             [&](size_t, MoeRank &rank) { must(rank.buffer->lowLatencyClean(shape, rank.order)); });
      playLowLatencyRounds(all, shape, 4, random);
      const LowLatencyWorld world = lowLatencyWorld(shape, numRanks, kCollBf16, false, random);
      beside(all, [&](size_t r, MoeRank &rank) {
        const LowLatencyMemory memory =
            lowLatencyMemory(rank, world.cases[r], shape, numRanks, kCollBf16, false);
        lowLatencyDispatch(rank, memory, r % 2);
        rank.wait();
        expectRows(memory.rows, world.rows[r]);
      });
      ASSERT_FALSE(HasFailure()) << numRanks << " ranks, " << shape.maxTokens << " tokens";
    }
  }
  EXPECT_EQ(fake_.misuse(), "");
}

TEST_F(MoeLowLatencyTest, CleaningIsRefusedWhereItCannotBe) {
  MoeRanks all = ranks(1);
  MoeBuffer &buffer = *all[0]->buffer;
  const MoeOrder &order = all[0]->order;
  const std::string who = "moe buffer of rank 0: ";
  MoeLowLatencyShape shape = lowLatencyShape(1);
  shape.hidden = 100;
  EXPECT_EQ(buffer.lowLatencyClean(shape, order).message(),
            who + "moe low latency: hidden is 100; it must be a multiple of 128");
  shape.hidden = 512;
  EXPECT_EQ(buffer.lowLatencyClean(shape, order).message(),
            who + "low-latency mode: `shape` needs " +
                std::to_string(MoeBuffer::lowLatencyBytes(shape, 1)) + " bytes; the buffer has " +
                std::to_string(MoeBuffer::lowLatencyBytes(lowLatencyShape(1), 1)));
  shape = lowLatencyShape(1);
  std::minstd_rand random(28);
  const LowLatencyWorld world = lowLatencyWorld(shape, 1, kCollBf16, false, random);
  LowLatencyMemory memory = lowLatencyMemory(*all[0], world.cases[0], shape, 1, kCollBf16, false);
  MoeHook hook;
  must(buffer.lowLatencyDispatch(memory.dispatch, memory.rows, order, &hook));
  EXPECT_EQ(buffer.lowLatencyClean(shape, order).message(),
            who + "low-latency mode: call 0 was not received: its hook comes first");
  must(buffer.lowLatencyReceive(hook, order));
  must(buffer.lowLatencyClean(shape, order));
  all[0]->wait();
  must(buffer.check());
}

TEST_F(MoeLowLatencyTest, CleaningForDifferentShapesEndsBoth) {
  MoeRanks all = ranks(2, 2'000'000);
  beside(all, [&](size_t r, MoeRank &rank) {
    MoeLowLatencyShape shape = lowLatencyShape(2);
    shape.maxTokens -= static_cast<int64_t>(r);
    (void)rank.buffer->lowLatencyClean(shape, rank.order);
    rank.wait();
    EXPECT_FALSE(rank.buffer->check().ok());
  });
}

// Bytes beyond those that the mode needs are usable, too.
TEST_F(MoeLowLatencyTest, BytesForTheNetworkAreItsMemory) {
  const int64_t bytes = MoeBuffer::lowLatencyBytes(lowLatencyShape(2), 2) + 1280;
  MoeRanks all = syncedRanks(fake_, 2, [&](int r) {
    MoeBufferOptions options = optionsOf(r, 2);
    options.nvlBytes = 1 << 12;
    options.netBytes = bytes;
    return options;
  });
  std::minstd_rand random(26);
  playLowLatencyRounds(all, 2, random);
  for (const auto &rank : all) {
    const Result<MoeView> view = rank->buffer->localBuffer(kCollBf16, 0, true);
    ASSERT_TRUE(view.ok()) << view.status().toString();
    EXPECT_EQ(view->numElems, bytes / 2);
    auto *data = static_cast<char *>(view->data);
    auto *input = static_cast<char *>(rank->buffer->lowLatencyCombineInput()->data);
    EXPECT_TRUE(input > data && input < data + bytes);
    std::memset(data + bytes - 1280, 1, 1280); // under ASan: it is there
    EXPECT_FALSE(rank->buffer->localBuffer(kCollBf16, bytes + 2, true).ok());
  }
  all.clear();
  EXPECT_EQ(fake_.liveAllocations(), 0);
}

TEST_F(MoeLowLatencyTest, OptionsAndArgumentsAreChecked) {
  const auto refusal = [](auto change) {
    MoeBufferOptions options = optionsOf(0, 2);
    change(options);
    return MoeBuffer::create(options).status().toString();
  };
  EXPECT_EQ(refusal([](auto &o) { o.lowLatencyShape.hidden = 8; }),
            "invalid call: moe buffer of rank 0: moe low latency: hidden is 8; it must be a "
            "multiple of 128");
  EXPECT_EQ(refusal([](auto &o) { o.netBytes = 128; }),
            "invalid call: moe buffer of rank 0: netBytes is 128; the low-latency mode needs " +
                std::to_string(MoeBuffer::lowLatencyBytes(lowLatencyShape(2), 2)));
  EXPECT_EQ(refusal([](auto &o) { o.netBytes = INT64_MAX / 128 * 128; }),
            "invalid call: moe buffer of rank 0: netBytes is 9223372036854775680, more than any "
            "GPU has");
  EXPECT_EQ(refusal([](auto &o) {
              o.numRanks = 16;
              o.lowLatencyShape.numExperts = 16;
            }),
#ifdef COLL_HAS_NET
            "invalid call: moe buffer of rank 0: `transport` is null, but there are ranks on other "
            "nodes");
#else
            "unsupported: moe buffer of rank 0: this build has no transports, so ranks are of one "
            "node (it was configured without OpenSSL, or with COLL_ENABLE_NET off)");
#endif
  EXPECT_EQ(refusal([](auto &o) { o.numRanks = 136; }),
            "invalid call: moe buffer of rank 0: numRanks is 136; the low-latency mode takes at "
            "most 128");
  EXPECT_EQ(
      refusal([](auto &o) {
        o.numRanks = 9;
        o.nvlBytes = 128;
      }),
      "invalid call: moe buffer of rank 0: numRanks is 9; with several nodes it must be a "
      "multiple of nodeSize, which is 8, unless the low-latency mode is used without nvlBytes");
  MoeRanks all = ranks(1);
  MoeRank &rank = *all[0];
  std::minstd_rand random(24);
  MoeRankCase from = lowLatencyWorld(lowLatencyShape(1), 1, kCollBf16, false, random).cases[0];
  from.topkIdx = {0, 3, 1, 1};
  from.topkWeights.resize(4);
  from.routing = {nullptr, 2, 2, 3};
  from.x.resize(2 * 512);
  LowLatencyMemory memory = lowLatencyMemory(rank, from, lowLatencyShape(1), 1, kCollBf16, false);
  const auto refused = [&](auto change) {
    MoeLowLatencyDispatch call = memory.dispatch;
    change(call);
    return rank.buffer->lowLatencyDispatch(call, memory.rows, rank.order).message();
  };
  const std::string who = "moe buffer of rank 0: moe low latency: ";
  EXPECT_EQ(refused([](auto &c) { c.routing.numTokens = 13; }),
            who + "numTokens is 13; maxTokens is 12");
  EXPECT_EQ(refused([](auto &c) { c.x = nullptr; }),
            who + "`x` is null or not aligned to 16 bytes");
  // The GPU finds wrong indices.
  must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order));
  rank.wait();
  EXPECT_NE(rank.buffer->check().message().find("has an unknown expert, or the same one twice"),
            std::string::npos);
  must(rank.buffer->check());
  EXPECT_EQ(memory.rows.counts[0], 1);
  EXPECT_EQ(memory.rows.counts[1], 1);

  MoeBufferOptions plain;
  plain.nvlBytes = 1 << 16;
  MoeRank other(fake_, plain);
  must(other.buffer->sync({other.buffer->card()}));
  EXPECT_EQ(other.buffer->lowLatencyCombine({}, {}, other.order).message(),
            "moe buffer of rank 0: low-latency mode: the buffer was made without it");
}

TEST_F(MoeLowLatencyTest, ARankThatDoesNotComeEndsTheOther) {
  MoeRanks all = ranks(2, 300'000);
  std::minstd_rand random(25);
  const LowLatencyWorld world = lowLatencyWorld(lowLatencyShape(2), 2, kCollBf16, false, random);
  MoeRank &rank = *all[0];
  const LowLatencyMemory memory =
      lowLatencyMemory(rank, world.cases[0], lowLatencyShape(2), 2, kCollBf16, false);
  must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order));
  rank.wait();
  EXPECT_EQ(
      rank.buffer->check().toString(),
      "timeout: moe buffer of rank 0: rank 1, or its data, did not arrive before the deadline");
  EXPECT_EQ(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order).code(),
            kCollTimeout);
}

} // namespace
} // namespace coll::rt::test
