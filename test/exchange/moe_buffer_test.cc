// MoeBuffer over a fake driver, with the kernels' device code on host threads: life cycle, whole
// rounds compared with the reference, forged handles, missing ranks.

#include "runtime/base/dtype.h"
#include "test/conformance/emulated_peers.h"
#include "test/exchange/moe_rounds.h"

#include <chrono>
#include <cstring>

namespace coll::rt::test {
namespace {

constexpr int kGpus = 8;
constexpr int64_t kBytes = 1 << 20;

using Rank = MoeRank;
using Inputs = MoeInputs;

MoeBufferOptions optionsOf(int rank, int numRanks, int64_t timeoutUs = 20'000'000) {
  MoeBufferOptions options;
  options.rank = rank;
  options.numRanks = numRanks;
  options.nvlBytes = kBytes;
  options.device = rank;
  options.timeoutUs = timeoutUs;
  return options;
}

class MoeBufferTest : public testing::Test {
protected:
  MoeRanks ranks(int numRanks, int64_t timeoutUs = 20'000'000) {
    return syncedRanks(fake_, numRanks, [&](int r) { return optionsOf(r, numRanks, timeoutUs); });
  }

  dl::FakeCuda fake_{kGpus};
  ScopedMoePlatform platform_{emulatedMoe(fake_.table())};
};

MoeSizes sizesFor(int numRanks, std::minstd_rand &random) {
  MoeSizes sizes = randomMoeSizes(random, 40);
  sizes.numExperts = sizes.numExperts / sizes.numRanks * numRanks;
  sizes.numRanks = numRanks;
  sizes.dtype = kCollBf16;
  sizes.numScales = 0;
  sizes.hasWeights = true;
  return sizes;
}

TEST_F(MoeBufferTest, RoundsAreThoseOfTheReference) {
  for (const auto &[numRanks, rounds] : {std::pair(1, 12), {2, 12}, {3, 12}, {4, 12}, {8, 3}})
    playMoeRounds(
        fake_, [&, ranks = numRanks](int r) { return optionsOf(r, ranks); }, numRanks,
        kMoeNodeRanks, rounds);
}

// Calls begin after the event that they are given, not after the work on the caller's stream, and
// record an event at their end.
TEST_F(MoeBufferTest, EventsOrderCalls) {
  const auto all = ranks(1);
  Rank &rank = *all[0];
  const dl::Cuda &cuda = fake_.table();
  std::minstd_rand random(7);
  const std::vector<MoeRankCase> world = randomMoeCase(sizesFor(1, random), random);
  const auto expected = moeReferenceDispatch(callsOf(world), {}).take();
  MoeDispatchOptions options;
  options.worstCaseTokens = 400; // the host does not wait
  Inputs in = inputsOf(rank, world[0], 1, options.config);
  auto *x = rank.room<char>(world[0].x.size());
  in.tokens.x = x;
  fake_.setCurrent(0);
  dl::CudaStream other = nullptr;
  dl::CudaEvent filled = nullptr, done = nullptr;
  ASSERT_EQ(cuda.streamCreate(&other, dl::kCudaStreamNonBlocking), 0);
  ASSERT_EQ(cuda.eventCreate(&filled, dl::kCudaEventNoTiming), 0);
  ASSERT_EQ(cuda.eventCreate(&done, dl::kCudaEventNoTiming), 0);
  ASSERT_TRUE(onStream(other, [&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(30));
                std::copy(world[0].x.begin(), world[0].x.end(), x);
              }).ok());
  ASSERT_EQ(cuda.eventRecord(filled, other), 0);
  const MoeOrder order = {rank.order.compute, filled, done};
  ASSERT_TRUE(rank.buffer->dispatchLayout(in.routing, in.layout, order).ok());
  auto received =
      rank.buffer->dispatch(in.tokens, in.routing, in.layout, options, in.handle, order);
  ASSERT_TRUE(received.ok()) << received.status().toString();
  while (cuda.eventQuery(done) == dl::kCudaNotReady)
    std::this_thread::yield();
  expectBytes("x", static_cast<const char *>(received->x), expected[0].x);
  fake_.setCurrent(0);
  EXPECT_EQ(cuda.streamSynchronize(other), 0);
  EXPECT_EQ(cuda.streamDestroy(other), 0);
  EXPECT_EQ(cuda.eventDestroy(filled), 0);
  EXPECT_EQ(cuda.eventDestroy(done), 0);
}

// The counts of a call that failed half-way arrive later, so the next call must fail.
TEST_F(MoeBufferTest, ADriverThatFailsInTheMiddleOfACallEndsTheBuffer) {
  auto all = ranks(1);
  MoeRank &rank = *all[0];
  std::minstd_rand random(8);
  const std::vector<MoeRankCase> world = randomMoeCase(sizesFor(1, random), random);
  const MoeDispatchOptions options;
  const Inputs in = inputsOf(rank, world[0], 1, options.config);
  ASSERT_TRUE(rank.buffer->dispatchLayout(in.routing, in.layout, rank.order).ok());
  const auto dispatch = [&] {
    return rank.buffer->dispatch(in.tokens, in.routing, in.layout, options, in.handle, rank.order)
        .status();
  };
  // The first of a call's two event records precedes its kernels.
  fake_.failNext("eventRecord", dl::kCudaInvalidValue);
  EXPECT_EQ(dispatch().code(), kCollDevice);
  EXPECT_TRUE(dispatch().ok());
  fake_.failNext("eventRecord", dl::kCudaInvalidValue, /*skip=*/1);
  const Status failed = dispatch();
  EXPECT_EQ(failed.code(), kCollDevice) << failed.toString();
  EXPECT_EQ(dispatch().toString(), failed.toString());
  rank.end();
}

TEST_F(MoeBufferTest, LifeCycle) {
  auto all = ranks(2);
  MoeBuffer &buffer = *all[1]->buffer;
  EXPECT_TRUE(buffer.isAvailable());
  EXPECT_FALSE(buffer.isInternodeAvailable());
  EXPECT_EQ(buffer.nvlRank(), 1);
  EXPECT_EQ(buffer.netRank(), 0);
  EXPECT_EQ(buffer.rootNetRank(true), 1);
  EXPECT_EQ(buffer.localDeviceId(), 1);
  EXPECT_EQ(buffer.localBuffer(kCollF32, 512, false)->numElems, (kBytes - 512) / 4);
  EXPECT_EQ(buffer.localBuffer(kCollF32, 2, false).status().message(),
            "moe buffer of rank 1: `offset`: no element of that type at byte 2");
  EXPECT_EQ(buffer.localBuffer(kCollF32, 0, true).status().message(),
            "moe buffer of rank 1: `useNet`: it has no memory for the network");
  EXPECT_EQ(buffer.sync({}).message(), "moe buffer of rank 1: sync was called a second time");
  EXPECT_TRUE(buffer.destroy().ok());
  EXPECT_EQ(buffer.destroy().message(), "moe buffer of rank 1: destroy was called a second time");
  EXPECT_EQ(buffer.check().message(), "moe buffer of rank 1: used after destroy");
  EXPECT_EQ(buffer.dispatchLayout({}, {}, {}).message(),
            "moe buffer of rank 1: used after destroy");
  EXPECT_FALSE(buffer.isAvailable());
  EXPECT_EQ(buffer.commStream(), nullptr);
  EXPECT_EQ(buffer.combineInput(), nullptr);
  EXPECT_EQ(buffer.card().memory.address, 0u);
  auto late = MoeBuffer::create(optionsOf(0, 2)).take();
  EXPECT_EQ(late->sync({late->card(), buffer.card()}).message(),
            "moe buffer of rank 0: moe: the card of rank 1 is invalid, or of another version");
  late.reset();
  all.clear();
  EXPECT_EQ(fake_.liveAllocations(), 0);
  EXPECT_EQ(fake_.misuse(), "");
}

TEST_F(MoeBufferTest, AnEndThatWasToBeExplicitIsComplainedOf) {
  for (const bool isDestroyed : {false, true}) {
    MoeBufferOptions options = optionsOf(1, 2);
    options.explicitlyDestroy = true;
    auto buffer = MoeBuffer::create(options).take();
    if (isDestroyed) {
      EXPECT_TRUE(buffer->destroy().ok());
    }
    testing::internal::CaptureStderr();
    buffer.reset();
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(said.find("moe buffer of rank 1: not destroyed before its end") == std::string::npos,
              isDestroyed)
        << said;
  }
  EXPECT_EQ(fake_.liveAllocations(), 0);
}

TEST_F(MoeBufferTest, OptionsAreChecked) {
  const auto refusal = [](auto change) {
    MoeBufferOptions options;
    options.numRanks = 2;
    options.nvlBytes = kBytes;
    change(options);
    return MoeBuffer::create(options).status().toString();
  };
  EXPECT_EQ(refusal([](auto &o) { o.rank = 2; }),
            "invalid call: moe buffer of rank 2: `rank` is not one of numRanks, which is 2");
  EXPECT_EQ(
      refusal([](auto &o) { o.numRanks = 9; }),
      "invalid call: moe buffer of rank 0: numRanks is 9; with several nodes it must be a "
      "multiple of nodeSize, which is 8, unless the low-latency mode is used without nvlBytes");
  EXPECT_EQ(refusal([](auto &o) { o.nvlBytes = 100; }),
            "invalid call: moe buffer of rank 0: nvlBytes is 100; it must be a multiple of 128, "
            "and not 0");
  EXPECT_EQ(
      refusal([](auto &o) { o.nvlBytes = INT64_MAX / 128 * 128; }),
      "invalid call: moe buffer of rank 0: nvlBytes is 9223372036854775680, more than any GPU has");
  EXPECT_EQ(
      refusal([](auto &o) { o.timeoutUs = INT64_MAX; }),
      "invalid call: moe buffer of rank 0: timeoutUs is 9223372036854775807; it must be from 1 to "
      "1000000000000000");
  EXPECT_EQ(refusal([](auto &o) { o.netBytes = 128; }),
            "invalid call: moe buffer of rank 0: netBytes is 128 without ranks on other nodes");
  EXPECT_EQ(refusal([](auto &o) {
              o.numRanks = 16;
              o.netBytes = 128;
              o.nvlBytes = int64_t{1} << 31;
            }),
            "invalid call: moe buffer of rank 0: nvlBytes is 2147483648, beyond INT_MAX");
  EXPECT_EQ(
      refusal([](auto &o) { o.numRanks = 16; }),
#ifdef COLL_HAS_NET
      "invalid call: moe buffer of rank 0: netBytes is 0, but there are ranks on other nodes");
#else
      "unsupported: moe buffer of rank 0: this build has no transports, so ranks are of one node "
      "(it was configured without OpenSSL, or with COLL_ENABLE_NET off)");
#endif
  EXPECT_EQ(refusal([](auto &o) {
              o.numRanks = 16;
              o.netBytes = int64_t{1} << 31;
            }),
            "invalid call: moe buffer of rank 0: netBytes is 2147483648, beyond INT_MAX");
  EXPECT_EQ(refusal([](auto &o) {
              o.numRanks = 16;
              o.netBytes = 100;
            }),
            "invalid call: moe buffer of rank 0: netBytes is 100; it must be a multiple of 128");
  EXPECT_EQ(
      refusal([](auto &o) {
        o.nodeSize = 2;
        o.numRanks = 3;
      }),
      "invalid call: moe buffer of rank 0: numRanks is 3; with several nodes it must be a "
      "multiple of nodeSize, which is 2, unless the low-latency mode is used without nvlBytes");
  EXPECT_EQ(refusal([](auto &o) { o.nodeSize = 9; }),
            "invalid call: moe buffer of rank 0: nodeSize is 9; it must be from 1 to 8");
  fake_.failNext("memAlloc", dl::kCudaOutOfMemory);
  EXPECT_NE(refusal([](auto &) {}).find("moe buffer of rank 0: cuMemAlloc"), std::string::npos);
  EXPECT_EQ(fake_.liveAllocations(), 0);
}

TEST_F(MoeBufferTest, CardsAreChecked) {
  Rank a(fake_, optionsOf(0, 2)), b(fake_, optionsOf(1, 2));
  const std::vector<MoeCard> good = {a.buffer->card(), b.buffer->card()};
  const auto refusal = [&](auto change) {
    std::vector<MoeCard> cards = good;
    change(cards);
    return a.buffer->sync(cards).message();
  };
  EXPECT_EQ(a.buffer->dispatchLayout({}, {}, {}).message(),
            "moe buffer of rank 0: used before sync");
  EXPECT_EQ(refusal([](auto &cards) { cards.pop_back(); }),
            "moe buffer of rank 0: moe: 1 cards of 2 ranks");
  EXPECT_EQ(refusal([](auto &cards) { cards[1].magic = 7; }),
            "moe buffer of rank 0: moe: the card of rank 1 is invalid, or of another version");
  EXPECT_EQ(refusal([](auto &cards) { cards[1] = cards[0]; }),
            "moe buffer of rank 0: moe: the card of rank 1 is that of rank 0");
  EXPECT_EQ(refusal([](auto &cards) { cards[1].nvlBytes *= 2; }),
            "moe buffer of rank 0: moe: nvlBytes is 2097152 on rank 1, and 1048576 on rank 0");
  EXPECT_EQ(refusal([](auto &cards) { cards[1].memory.bytes += 512; }),
            "moe buffer of rank 0: moe: the card of rank 1 is of a buffer with a workspace of "
            "another size");
  EXPECT_EQ(refusal([](auto &cards) { cards[0].boot[3] ^= 1; }),
            "moe buffer of rank 0: moe: the card of rank 0 is from another node");
  // The card of an earlier process of this very rank.
  EXPECT_EQ(refusal([](auto &cards) { cards[0].process += 1; }),
            "moe buffer of rank 0: moe: the card of rank 0 is not that of this buffer");
  // The card of a process with the same id in another container.
  EXPECT_NE(a.buffer->card().processes, 0u);
  EXPECT_EQ(refusal([](auto &cards) { cards[0].processes += 1; }),
            "moe buffer of rank 0: moe: the card of rank 0 is not that of this buffer");
  // The card of a process that does not exist.
  EXPECT_NE(refusal([](auto &cards) {
              cards[1].process += 1;
              std::fill(std::begin(cards[1].memory.ipc.bytes), std::end(cards[1].memory.ipc.bytes),
                        17);
            }).find("moe buffer of rank 0: moe: the memory of rank 1: cuIpcOpenMemHandle"),
            std::string::npos);
  EXPECT_TRUE(a.buffer->sync(good).ok());
}

TEST_F(MoeBufferTest, ARankThatDoesNotComeEndsTheOther) {
  auto all = ranks(2, 300'000);
  std::minstd_rand random(6);
  MoeSizes sizes = sizesFor(2, random);
  const std::vector<MoeRankCase> world = randomMoeCase(sizes, random);
  Rank &rank = *all[0];
  const MoeDispatchOptions options;
  const Inputs in = inputsOf(rank, world[0], 2, options.config);
  ASSERT_TRUE(rank.buffer->dispatchLayout(in.routing, in.layout, rank.order).ok());
  auto received =
      rank.buffer->dispatch(in.tokens, in.routing, in.layout, options, in.handle, rank.order);
  EXPECT_EQ(received.status().code(), kCollTimeout) << received.status().toString();
  rank.wait();
  EXPECT_EQ(
      rank.buffer->check().toString(),
      "timeout: moe buffer of rank 0: rank 1, or its data, did not arrive before the deadline");
  EXPECT_EQ(rank.buffer->dispatchLayout(in.routing, in.layout, rank.order).code(), kCollTimeout);
}

// The kernels run too late, and would leave their counts to the next call.
TEST_F(MoeBufferTest, CountsThatAreLateEndTheBuffer) {
  const auto all = ranks(1, 100'000);
  Rank &rank = *all[0];
  std::minstd_rand random(7);
  const auto world = randomMoeCase(sizesFor(1, random), random);
  const MoeDispatchOptions options;
  const Inputs in = inputsOf(rank, world[0], 1, options.config);
  std::atomic<bool> mayGoOn{false};
  ASSERT_TRUE(onStream(rank.order.compute, [&] {
                while (!mayGoOn)
                  std::this_thread::yield();
              }).ok());
  const auto dispatch = [&] {
    return rank.buffer->dispatch(in.tokens, in.routing, in.layout, options, in.handle, rank.order)
        .status();
  };
  ASSERT_TRUE(rank.buffer->dispatchLayout(in.routing, in.layout, rank.order).ok());
  const Status late = dispatch();
  EXPECT_EQ(late.code(), kCollTimeout) << late.toString();
  mayGoOn = true;
  rank.wait();
  EXPECT_EQ(rank.buffer->check().code(), kCollTimeout);
  EXPECT_EQ(dispatch().toString(), late.toString());
}

// All ranks find it from the counts: before a dispatch returns that waits for them, and after one
// that does not wait.
TEST_F(MoeBufferTest, MoreTokensThanARankHasRoomForEndAll) {
  for (const int64_t worst : {0, 5, 1000}) {
    SCOPED_TRACE(worst);
    const bool fits = worst == 5; // into the memory, but not among so many
    auto all = syncedRanks(fake_, 3, [&](int r) {
      MoeBufferOptions options = optionsOf(r, 3);
      options.nvlBytes = fits ? kBytes : 4096;
      return options;
    });
    MoeRankCase from;
    from.routing = {nullptr, 20, 1, 3};
    from.topkIdx.assign(20, 1);
    from.topkWeights.resize(20);
    from.x.resize(20 * 64 * 2);
    from.tokens.hidden = 64;
    MoeDispatchOptions options;
    options.worstCaseTokens = worst;
    // A rank that learns first of the end of another one reports that.
    std::atomic<int> named{0};
    beside(all, [&](size_t r, Rank &rank) {
      MoeBuffer &buffer = *rank.buffer;
      const Inputs in = inputsOf(rank, from, 3, options.config);
      ASSERT_TRUE(buffer.dispatchLayout(in.routing, in.layout, rank.order).ok());
      const Status status =
          buffer.dispatch(in.tokens, in.routing, in.layout, options, in.handle, rank.order)
              .status();
      rank.wait();
      const std::string who = "moe buffer of rank " + std::to_string(r) + ": ";
      const auto says = [&](const Status &failure) {
        const std::string text = failure.toString();
        const bool isNamed = text == "invalid call: " + who +
                                         "there are more tokens for rank 1 than its buffer holds";
        named += isNamed;
        return isNamed || (text.rfind("peer failure: " + who + "rank ", 0) == 0 &&
                           text.find(" has failed") != text.npos);
      };
      EXPECT_TRUE(worst ? status.ok() : says(status)) << status.toString();
      const Status after = buffer.check();
      EXPECT_TRUE(says(after)) << after.toString();
    });
    EXPECT_GT(named, 0);
  }
}

TEST_F(MoeBufferTest, WrongArgumentsAreRefused) {
  auto all = ranks(1);
  Rank &rank = *all[0];
  std::vector<int64_t> topk = {0, 1, 5, 1};
  MoeRankCase from;
  from.topkIdx = topk;
  from.topkWeights.resize(4);
  from.x.resize(64);
  from.routing = {nullptr, 2, 2, 4};
  from.tokens.hidden = 16;
  const MoeDispatchOptions options;
  const Inputs in = inputsOf(rank, from, 1, options.config);
  ASSERT_TRUE(rank.buffer->dispatchLayout(in.routing, in.layout, rank.order).ok());
  rank.wait();
  EXPECT_EQ(rank.buffer->check().toString(),
            "invalid call: moe buffer of rank 0: `topkIdx` of token 1 has an unknown expert, or "
            "the same one twice, in place 0");
  EXPECT_TRUE(rank.buffer->check().ok());
  EXPECT_EQ(rank.buffer->dispatch(in.tokens, in.routing, in.layout, options, nullptr, rank.order)
                .status()
                .message(),
            "moe buffer of rank 0: `handleMemory` is null or not aligned to 16");
  MoeCombine combine;
  combine.hidden = 16;
  EXPECT_EQ(rank.buffer->combine(combine, {}, {}, rank.order).message(),
            "moe buffer of rank 0: `handle` is not from a dispatch of this buffer");
  auto received =
      rank.buffer->dispatch(in.tokens, in.routing, in.layout, options, in.handle, rank.order);
  ASSERT_TRUE(received.ok()) << received.status().toString();
  combine.x = rank.room<char>(16);
  combine.out = in.out;
  combine.numRows = kBytes;
  EXPECT_NE(rank.buffer->combine(combine, received->handle, {}, rank.order)
                .message()
                .find("moe buffer of rank 0: numRows is 1048576; the buffer holds "),
            std::string::npos);
}

// A handle's arrays say where rows are in the memory of the ranks of its buffer.
TEST_F(MoeBufferTest, AHandleOfAnotherBufferIsRefused) {
  std::minstd_rand random(8);
  const std::vector<MoeRankCase> world = randomMoeCase(sizesFor(1, random), random);
  auto first = ranks(1);
  const Inputs in = inputsOf(*first[0], world[0], 1, {});
  ASSERT_TRUE(first[0]->buffer->dispatchLayout(in.routing, in.layout, first[0]->order).ok());
  auto received =
      first[0]->buffer->dispatch(in.tokens, in.routing, in.layout, {}, in.handle, first[0]->order);
  ASSERT_TRUE(received.ok()) << received.status().toString();
  MoeHandle longer = received->handle;
  ++longer.numTokens;
  const auto expectRefusals = [&](MoeRank &rank, const MoeHandle &handle) {
    const char *const text = "moe buffer of rank 0: `handle` is not from a dispatch of this buffer";
    EXPECT_EQ(rank.buffer->dispatchAgain(in.tokens, handle, {}, rank.order).status().message(),
              text);
    EXPECT_EQ(rank.buffer->combine({}, handle, {}, rank.order).message(), text);
  };
  expectRefusals(*first[0], longer);
  expectRefusals(*ranks(1)[0], received->handle);
  EXPECT_TRUE(
      first[0]->buffer->dispatchAgain(in.tokens, received->handle, {}, first[0]->order).ok());
  first[0]->wait();
  // A new buffer often gets the memory of the previous one.
  EXPECT_TRUE(first[0]->buffer->destroy().ok());
  expectRefusals(*ranks(1)[0], received->handle);
}

// The peers wait for the calls of a rank with a wrong index; the index counts as -1.
TEST_F(MoeBufferTest, AWrongIndexEndsNoCall) {
  auto all = ranks(2);
  std::minstd_rand random(7);
  std::vector<MoeRankCase> world;
  do
    world = randomMoeCase(sizesFor(2, random), random);
  while (world[0].topkIdx.empty());
  const MoeDispatchOptions options;
  std::vector<Inputs> in;
  for (size_t r = 0; r < all.size(); ++r)
    in.push_back(inputsOf(*all[r], world[r], 2, options.config));
  const_cast<int64_t *>(in[0].routing.topkIdx)[0] = in[0].routing.numExperts;
  beside(all, [&](size_t r, Rank &rank) {
    MoeBuffer &buffer = *rank.buffer;
    ASSERT_TRUE(buffer.dispatchLayout(in[r].routing, in[r].layout, rank.order).ok());
    rank.wait();
    auto received = buffer.dispatch(in[r].tokens, in[r].routing, in[r].layout, options,
                                    in[r].handle, rank.order);
    ASSERT_TRUE(received.ok()) << received.status().toString();
    MoeCombine combine;
    combine.x = received->x;
    combine.numRows = received->handle.numRecv;
    combine.hidden = in[r].tokens.hidden;
    combine.out = in[r].out;
    Status combined = buffer.combine(combine, received->handle, options.config, rank.order);
    EXPECT_TRUE(combined.ok()) << combined.toString();
    rank.wait();
    Status found = buffer.check();
    EXPECT_EQ(found.code(), r == 0 ? kCollInvalidCall : kCollOk) << found.toString();
  });
}

TEST_F(MoeBufferTest, RanksThatShareAGpuShareItsMultiprocessors) {
  MoeRanks all;
  for (int r = 0; r < 3; ++r) {
    MoeBufferOptions options = optionsOf(r, 3);
    options.device = 0;
    all.push_back(std::make_unique<Rank>(fake_, options));
  }
  syncAll(all);
  MoeConfig config;
  config.numSms = 46;
  EXPECT_EQ(all[1]->buffer->combine({}, {}, config, all[1]->order).message(),
            "moe buffer of rank 1: numSms is 46; this rank has 44 of GPU 0, which ranks of "
            "this process "
            "share");
}

} // namespace
} // namespace coll::rt::test
