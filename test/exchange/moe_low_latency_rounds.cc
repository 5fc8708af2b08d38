#include "test/exchange/moe_low_latency_rounds.h"

#include <cstring>

namespace coll::rt::test {

MoeLowLatencyShape lowLatencyShape(int numRanks) {
  MoeLowLatencyShape shape;
  shape.maxTokens = 12;
  shape.hidden = 256;
  shape.numTopk = 6;
  shape.numExperts = 3 * numRanks;
  return shape;
}

LowLatencyMemory lowLatencyMemory(MoeRank &rank, const MoeRankCase &from,
                                  const MoeLowLatencyShape &shape, int numRanks, CollDtype dtype,
                                  bool log) {
  LowLatencyMemory memory;
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

LowLatencyWorld lowLatencyWorld(const MoeLowLatencyShape &shape, int numRanks, CollDtype dtype,
                                bool log, std::minstd_rand &random) {
  LowLatencyWorld world;
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

void lowLatencyDispatch(MoeRank &rank, const LowLatencyMemory &memory, bool hooked) {
  MoeHook hook;
  must(rank.buffer->lowLatencyDispatch(memory.dispatch, memory.rows, rank.order,
                                       hooked ? &hook : nullptr));
  if (hooked)
    must(rank.buffer->lowLatencyReceive(hook, rank.order));
}

void lowLatencyCombine(MoeRank &rank, const LowLatencyMemory &memory, bool hooked) {
  MoeHook hook;
  must(rank.buffer->lowLatencyCombine(memory.combine, memory.rows, rank.order,
                                      hooked ? &hook : nullptr));
  if (hooked)
    must(rank.buffer->lowLatencyReceive(hook, rank.order));
}

namespace {

void playRound(MoeRank &rank, size_t r, const LowLatencyWorld &world,
               const MoeLowLatencyShape &shape, uint32_t round, CollDtype dtype) {
  const int numRanks = static_cast<int>(world.cases.size());
  LowLatencyMemory memory =
      lowLatencyMemory(rank, world.cases[r], shape, numRanks, dtype, /*log=*/round % 4 == 2);
  lowLatencyDispatch(rank, memory, (r + round) % 2);
  rank.wait();
  must(rank.buffer->check());
  expectRows(memory.rows, world.rows[r]);
  // The experts' rows are in the buffer, or in separate memory.
  if (round % 4 == 1) {
    auto view = rank.buffer->lowLatencyCombineInput();
    must(view.status());
    ASSERT_EQ(static_cast<size_t>(view->numElems) * 2, world.experts[r].size());
    std::memcpy(view->data, world.experts[r].data(), world.experts[r].size());
    memory.combine.x = view->data;
  } else {
    memory.combine.x = putRows(rank, world.experts[r]);
  }
  lowLatencyCombine(rank, memory, round % 4 == 3);
  rank.wait();
  must(rank.buffer->check());
  expectBytes("out", static_cast<uint16_t *>(memory.combine.out), world.out[r]);
  expectBytes("stats", memory.dispatch.expertTokens, world.rows[r].counts);
}

} // namespace

TwoBatches::TwoBatches(const LowLatencyWorld (&worlds)[2], const MoeLowLatencyShape &shape,
                       int numRanks, size_t number, MoeRank &rank)
    : worlds_(worlds), number_(number), rank_(rank) {
  for (size_t b = 0; b < 2; ++b) {
    memory[b] = lowLatencyMemory(rank, worlds[b].cases[number], shape, numRanks,
                                 b ? kCollF8E4M3FN : kCollBf16, /*log=*/false);
    memory[b].combine.x = putRows(rank, worlds[b].experts[number]);
  }
}

void TwoBatches::dispatch() {
  for (size_t b = 0; b < 2; ++b)
    must(buffer().lowLatencyDispatch(memory[b].dispatch, memory[b].rows, rank_.order, &hooks[b]));
}

void TwoBatches::finish() {
  for (size_t b = 0; b < 2; ++b)
    must(buffer().lowLatencyCombine(memory[b].combine, memory[b].rows, rank_.order, &hooks[b]));
  for (size_t b = 0; b < 2; ++b)
    receive(b);
  rank_.wait();
  must(buffer().check());
  for (size_t b = 0; b < 2; ++b) {
    expectRows(memory[b].rows, worlds_[b].rows[number_]);
    expectBytes("out", static_cast<uint16_t *>(memory[b].combine.out), worlds_[b].out[number_]);
  }
}

void playLowLatencyRounds(MoeRanks &all, const MoeLowLatencyShape &shape, uint32_t rounds,
                          std::minstd_rand &random) {
  const int numRanks = static_cast<int>(all.size());
  for (uint32_t round = 0; round < rounds; ++round) {
    const CollDtype dtype = round % 2 ? kCollF8E4M3FN : kCollBf16;
    const LowLatencyWorld world = lowLatencyWorld(shape, numRanks, dtype,
                                                  /*log=*/round % 4 == 2, random);
    beside(all, [&](size_t r, MoeRank &rank) { playRound(rank, r, world, shape, round, dtype); });
    ASSERT_FALSE(testing::Test::HasFailure()) << numRanks << " ranks, round " << round;
  }
}

MoeGraph::MoeGraph(dl::FakeCuda &fake, int gpu, dl::CudaStream stream,
                   const std::function<void()> &calls)
    : fake_(fake), gpu_(gpu), stream_(stream) {
  const dl::Cuda &cuda = fake_.table();
  fake_.setCurrent(gpu_);
  EXPECT_EQ(cuda.streamBeginCapture(stream_, dl::kCudaCaptureThreadLocal), 0);
  calls();
  EXPECT_EQ(cuda.streamEndCapture(stream_, &graph_), 0);
  EXPECT_EQ(cuda.graphInstantiate(&exec_, graph_, 0), 0);
}

MoeGraph::~MoeGraph() {
  EXPECT_EQ(fake_.table().graphExecDestroy(exec_), 0);
  EXPECT_EQ(fake_.table().graphDestroy(graph_), 0);
}

void MoeGraph::launch() const {
  fake_.setCurrent(gpu_);
  ASSERT_EQ(fake_.table().graphLaunch(exec_, stream_), 0);
}

void MoeGraph::finish() const {
  fake_.setCurrent(gpu_);
  ASSERT_EQ(fake_.table().streamSynchronize(stream_), 0);
}

} // namespace coll::rt::test
