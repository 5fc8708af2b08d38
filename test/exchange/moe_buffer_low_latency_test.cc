// The low-latency mode of MoeBuffer over a fake driver, with the kernels' device code on host
// threads: rounds against the reference, beside calls of the normal mode; hooks, a graph, rows
// written in place; what is refused.

#include "runtime/base/narrow.h"
#include "runtime/exchange/moe_low_latency_reference.h"
#include "test/exchange/moe_rig.h"

#include <cstring>

namespace coll::rt::test {
namespace {

constexpr int kGpus = 4;

MoeLowLatencyShape shapeFor(int numRanks) {
  MoeLowLatencyShape shape;
  shape.maxTokens = 12;
  shape.hidden = 256;
  shape.numTopk = 6;
  shape.numExperts = 3 * numRanks;
  return shape;
}

MoeBufferOptions optionsOf(int rank, int numRanks, int64_t timeoutUs = 20'000'000) {
  MoeBufferOptions options;
  options.rank = rank;
  options.numRanks = numRanks;
  options.lowLatency = true;
  options.lowLatencyShape = shapeFor(numRanks);
  options.device = rank;
  options.timeoutUs = timeoutUs;
  return options;
}

// What a round's calls of one rank work on, in its GPU's memory.
struct Memory {
  MoeLowLatencyDispatch dispatch;
  MoeLowLatencyRows rows;
  MoeLowLatencyCombine combine;
};

template <typename T>
T *roomLike(MoeRank &rank, const std::vector<T> &values) {
  auto *data = rank.room<T>(values.size() + 4);
  // Aligned as rows are.
  return reinterpret_cast<T *>((reinterpret_cast<uintptr_t>(data) + 15) / 16 * 16);
}
template <typename T>
T *putRows(MoeRank &rank, const std::vector<T> &values) {
  T *data = roomLike(rank, values);
  std::copy(values.begin(), values.end(), data);
  return data;
}

Memory memoryOf(MoeRank &rank, const MoeRankCase &from, const MoeLowLatencyShape &shape,
                int numRanks, CollDtype dtype, bool log) {
  Memory memory;
  MoeRouting routing = from.routing;
  routing.topkIdx = rank.put(from.topkIdx);
  memory.dispatch.routing = memory.combine.routing = routing;
  memory.dispatch.x = putRows(rank, from.x);
  memory.dispatch.dtype = dtype;
  const MoeLowLatencyHostRows room = moeLowLatencyRoom(shape, numRanks, dtype);
  memory.dispatch.expertTokens = rank.put(room.counts);
  memory.rows.x = roomLike(rank, room.x);
  memory.rows.scales = dtype == kCollBf16 ? nullptr : roomLike(rank, room.scales);
  memory.rows.counts = roomLike(rank, room.counts);
  memory.rows.ranges = roomLike(rank, room.ranges);
  memory.rows.sources = roomLike(rank, room.sources);
  memory.combine.topkWeights = rank.put(from.topkWeights);
  memory.combine.log = log;
  memory.combine.out =
      roomLike(rank, std::vector<uint16_t>(static_cast<size_t>(routing.numTokens * shape.hidden)));
  return memory;
}

// A round of all ranks: what goes in, and what has to come out.
struct World {
  std::vector<MoeRankCase> cases;
  std::vector<std::vector<char>> experts; // rows that ranks give back
  std::vector<MoeLowLatencyHostRows> rows;
  std::vector<std::vector<uint16_t>> out;
};

World worldOf(const MoeLowLatencyShape &shape, int numRanks, CollDtype dtype, bool log,
              std::minstd_rand &random) {
  World world;
  MoeSizes sizes;
  sizes.numRanks = numRanks;
  sizes.numExperts = shape.numExperts;
  sizes.numTopk = 1 + static_cast<int>(random() % static_cast<uint32_t>(shape.numTopk));
  sizes.maxTokens = shape.maxTokens;
  sizes.hidden = shape.hidden;
  world.cases = randomMoeCase(sizes, random);
  std::vector<MoeLowLatencyDispatch> dispatches;
  for (const MoeRankCase &from : world.cases) {
    MoeLowLatencyDispatch call;
    call.routing = from.routing;
    call.x = from.x.data();
    call.dtype = dtype;
    dispatches.push_back(call);
  }
  world.rows = moeReferenceDispatch(dispatches, shape).take();
  std::vector<MoeLowLatencyCombine> combines;
  std::vector<MoeLowLatencyRows> views;
  for (size_t r = 0; r < world.cases.size(); ++r) {
    const MoeRankCase &from = world.cases[r];
    world.experts.push_back(randomBf16(
        shape.numExperts / numRanks * shape.rowsOfExpert(numRanks) * shape.hidden, random));
    world.out.emplace_back(static_cast<size_t>(from.routing.numTokens * shape.hidden));
    world.out.back().reserve(8);
    MoeLowLatencyCombine call;
    call.routing = from.routing;
    call.x = world.experts[r].data();
    call.topkWeights = from.topkWeights.data();
    call.log = log;
    call.out = world.out[r].data();
    combines.push_back(call);
    views.push_back(world.rows[r].view());
  }
  const Status status = moeReferenceCombine(combines, views, shape);
  EXPECT_TRUE(status.ok()) << status.toString();
  return world;
}

void expectRows(const MoeLowLatencyRows &got, const MoeLowLatencyHostRows &expected) {
  expectBytes("counts", got.counts, expected.counts);
  expectBytes("ranges", got.ranges, expected.ranges);
  const size_t experts = expected.counts.size(), room = expected.sources.size() / experts;
  const size_t rowBytes = expected.x.size() / expected.sources.size();
  for (size_t e = 0; e < experts; ++e) {
    const auto count = static_cast<size_t>(expected.counts[e]);
    EXPECT_EQ(std::memcmp(static_cast<char *>(got.x) + e * room * rowBytes,
                          expected.x.data() + e * room * rowBytes, count * rowBytes),
              0);
    EXPECT_TRUE(std::equal(got.sources + e * room, got.sources + e * room + count,
                           expected.sources.begin() + static_cast<long>(e * room)));
  }
}

void must(const Status &status) { ASSERT_TRUE(status.ok()) << status.toString(); }

class MoeLowLatencyTest : public testing::Test {
protected:
  MoeRanks ranks(int numRanks, int64_t timeoutUs = 20'000'000) {
    MoeRanks all;
    for (int r = 0; r < numRanks; ++r)
      all.push_back(std::make_unique<MoeRank>(fake_, optionsOf(r, numRanks, timeoutUs)));
    syncAll(all);
    return all;
  }
  // Enqueues a call, or its two phases.
  static void dispatch(MoeRank &rank, const Memory &memory, bool hooked) {
    MoeHook hook;
    must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order,
                                         hooked ? &hook : nullptr));
    if (hooked)
      must(rank.buffer->lowLatencyReceive(hook, rank.order));
  }
  static void combine(MoeRank &rank, const Memory &memory, bool hooked) {
    MoeHook hook;
    must(rank.buffer->lowLatencyCombine(memory.combine, memory.rows, rank.order,
                                        hooked ? &hook : nullptr));
    if (hooked)
      must(rank.buffer->lowLatencyReceive(hook, rank.order));
  }

  dl::FakeCuda fake_{kGpus};
  ScopedMoePlatform platform_{emulatedMoe(fake_.table())};
};

TEST_F(MoeLowLatencyTest, RoundsAreThoseOfTheReference) {
  std::minstd_rand random(21);
  for (int numRanks = 1; numRanks <= kGpus; ++numRanks) {
    const MoeLowLatencyShape shape = shapeFor(numRanks);
    MoeRanks all = ranks(numRanks);
    for (uint32_t round = 0; round < 4; ++round) {
      const CollDtype dtype = round % 2 ? kCollF8E4M3FN : kCollBf16;
      const World world = worldOf(shape, numRanks, dtype, round == 2, random);
      beside(all, [&](size_t r, MoeRank &rank) {
        Memory memory = memoryOf(rank, world.cases[r], shape, numRanks, dtype, /*log=*/round == 2);
        dispatch(rank, memory, (r + round) % 2);
        rank.wait();
        expectRows(memory.rows, world.rows[r]);
        // The experts' rows: in the buffer, or in memory of their own.
        if (round == 1) {
          auto view = rank.buffer->lowLatencyCombineInput();
          must(view.status());
          ASSERT_EQ(static_cast<size_t>(view->numElems) * 2, world.experts[r].size());
          std::memcpy(view->data, world.experts[r].data(), world.experts[r].size());
          memory.combine.x = view->data;
        } else {
          memory.combine.x = putRows(rank, world.experts[r]);
        }
        combine(rank, memory, round == 3);
        rank.wait();
        must(rank.buffer->check());
        expectBytes("out", static_cast<uint16_t *>(memory.combine.out), world.out[r]);
        expectBytes("stats", memory.dispatch.expertTokens, world.rows[r].counts);
      });
      ASSERT_FALSE(HasFailure()) << numRanks << " ranks, round " << round;
    }
  }
  EXPECT_EQ(fake_.misuse(), "");
}

TEST_F(MoeLowLatencyTest, TwoBatchesOverlap) {
  std::minstd_rand random(22);
  const MoeLowLatencyShape shape = shapeFor(2);
  MoeRanks all = ranks(2);
  const World worlds[2] = {worldOf(shape, 2, kCollBf16, false, random),
                           worldOf(shape, 2, kCollF8E4M3FN, false, random)};
  beside(all, [&](size_t r, MoeRank &rank) {
    MoeBuffer &buffer = *rank.buffer;
    Memory memory[2];
    MoeHook hooks[2], early;
    for (size_t b = 0; b < 2; ++b) {
      memory[b] = memoryOf(rank, worlds[b].cases[r], shape, 2, b ? kCollF8E4M3FN : kCollBf16,
                           /*log=*/false);
      memory[b].combine.x = putRows(rank, worlds[b].experts[r]);
      must(buffer.lowLatencyDispatch(memory[b].dispatch, memory[b].rows, rank.order, &hooks[b]));
    }
    EXPECT_EQ(
        buffer.lowLatencyDispatch(memory[0].dispatch, memory[0].rows, rank.order, &early).message(),
        "moe buffer: low-latency mode: call 0 was not received: its hook comes first");
    EXPECT_EQ(buffer.lowLatencyCombineInput().status().message(),
              "moe buffer: low-latency mode: call 0, whose buffer that is, was not received");
    // In the order that suits the rank.
    must(buffer.lowLatencyReceive(hooks[r], rank.order));
    EXPECT_EQ(buffer.lowLatencyReceive(hooks[r], rank.order).message(),
              "moe buffer: low-latency mode: call " + std::to_string(r) +
                  " is none that is to be received");
    must(buffer.lowLatencyReceive(hooks[1 - r], rank.order));
    for (size_t b = 0; b < 2; ++b)
      must(buffer.lowLatencyCombine(memory[b].combine, memory[b].rows, rank.order, &hooks[b]));
    for (size_t b = 0; b < 2; ++b)
      must(buffer.lowLatencyReceive(hooks[b], rank.order));
    rank.wait();
    must(buffer.check());
    for (size_t b = 0; b < 2; ++b) {
      expectRows(memory[b].rows, worlds[b].rows[r]);
      expectBytes("out", static_cast<uint16_t *>(memory[b].combine.out), worlds[b].out[r]);
    }
  });
}

// Calls of the normal mode, and of a graph that is replayed.
TEST_F(MoeLowLatencyTest, GraphsAndTheNormalModeNeedNoCleaning) {
  std::minstd_rand random(23);
  const MoeLowLatencyShape shape = shapeFor(2);
  MoeRanks all;
  for (int r = 0; r < 2; ++r) {
    MoeBufferOptions options = optionsOf(r, 2);
    options.nvlBytes = 1 << 18;
    all.push_back(std::make_unique<MoeRank>(fake_, options));
  }
  syncAll(all);
  const World world = worldOf(shape, 2, kCollBf16, false, random);
  beside(all, [&](size_t r, MoeRank &rank) {
    const dl::Cuda &cuda = fake_.table();
    Memory memory = memoryOf(rank, world.cases[r], shape, 2, kCollBf16, false);
    memory.combine.x = putRows(rank, world.experts[r]);
    MoeOrder order;
    order.compute = rank.buffer->commStream();
    dl::CudaGraph graph = nullptr;
    dl::CudaGraphExec exec = nullptr;
    fake_.setCurrent(static_cast<int>(r));
    ASSERT_EQ(cuda.streamBeginCapture(order.compute, dl::kCudaCaptureThreadLocal), 0);
    must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, order));
    must(rank.buffer->lowLatencyCombine(memory.combine, memory.rows, order));
    ASSERT_EQ(cuda.streamEndCapture(order.compute, &graph), 0);
    ASSERT_EQ(cuda.graphInstantiate(&exec, graph, 0), 0);
    const MoeDispatchOptions options;
    const MoeInputs normal = inputsOf(rank, world.cases[r], 2, options.config);
    for (int replay = 0; replay < 3; ++replay) {
      std::memset(memory.combine.out, 0xff, world.out[r].size() * 2);
      fake_.setCurrent(static_cast<int>(r));
      ASSERT_EQ(cuda.graphLaunch(exec, order.compute), 0);
      must(rank.buffer->dispatchLayout(normal.routing, normal.layout, order));
      must(rank.buffer
               ->dispatch(normal.tokens, normal.routing, normal.layout, options, normal.handle,
                          order)
               .status());
      fake_.setCurrent(static_cast<int>(r));
      ASSERT_EQ(cuda.streamSynchronize(order.compute), 0);
      must(rank.buffer->check());
      expectRows(memory.rows, world.rows[r]);
      expectBytes("out", static_cast<uint16_t *>(memory.combine.out), world.out[r]);
      for (size_t e = 0; e < world.rows[r].counts.size(); ++e)
        EXPECT_EQ(memory.dispatch.expertTokens[e], (replay + 1) * world.rows[r].counts[e]);
    }
    EXPECT_EQ(cuda.graphExecDestroy(exec), 0);
    EXPECT_EQ(cuda.graphDestroy(graph), 0);
  });
  EXPECT_EQ(fake_.misuse(), "");
}

TEST_F(MoeLowLatencyTest, OptionsAndArgumentsAreChecked) {
  const auto refusal = [](auto change) {
    MoeBufferOptions options = optionsOf(0, 2);
    change(options);
    return MoeBuffer::create(options).status().toString();
  };
  EXPECT_EQ(refusal([](auto &o) { o.lowLatencyShape.hidden = 8; }),
            "invalid call: moe low latency: hidden is 8; it is a multiple of 128");
  EXPECT_EQ(refusal([](auto &o) { o.netBytes = 128; }),
            "invalid call: moe buffer: netBytes is 128; the low-latency mode needs " +
                std::to_string(MoeBuffer::lowLatencyBytes(shapeFor(2), 2)));
  EXPECT_EQ(refusal([](auto &o) { o.numRanks = 16; }),
            "unsupported: moe buffer: the low-latency mode between nodes");
  MoeRanks all = ranks(1);
  MoeRank &rank = *all[0];
  std::minstd_rand random(24);
  MoeRankCase from = worldOf(shapeFor(1), 1, kCollBf16, false, random).cases[0];
  from.topkIdx = {0, 3, 1, 1};
  from.topkWeights.resize(4);
  from.routing = {nullptr, 2, 2, 3};
  from.x.resize(2 * 512);
  Memory memory = memoryOf(rank, from, shapeFor(1), 1, kCollBf16, false);
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
  // The GPU finds those.
  must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order));
  rank.wait();
  EXPECT_NE(rank.buffer->check().message().find("has an expert that there is not, or one twice"),
            std::string::npos);
  must(rank.buffer->check());
  EXPECT_EQ(memory.rows.counts[0], 1);
  EXPECT_EQ(memory.rows.counts[1], 1);

  MoeBufferOptions plain;
  plain.nvlBytes = 1 << 16;
  MoeRank other(fake_, plain);
  must(other.buffer->sync({other.buffer->card()}));
  EXPECT_EQ(other.buffer->lowLatencyCombine({}, {}, other.order).message(),
            "moe buffer: low-latency mode: the buffer was made without it");
}

TEST_F(MoeLowLatencyTest, ARankThatDoesNotComeEndsTheOther) {
  MoeRanks all = ranks(2, 300'000);
  std::minstd_rand random(25);
  const World world = worldOf(shapeFor(2), 2, kCollBf16, false, random);
  MoeRank &rank = *all[0];
  const Memory memory = memoryOf(rank, world.cases[0], shapeFor(2), 2, kCollBf16, false);
  must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order));
  rank.wait();
  EXPECT_EQ(
      rank.buffer->check().toString(),
      "timeout: moe buffer of rank 0: member 1 of the group, or its data, did not come before "
      "the deadline");
  EXPECT_EQ(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order).code(),
            kCollTimeout);
}

} // namespace
} // namespace coll::rt::test
