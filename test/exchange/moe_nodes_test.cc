// MoeBuffer where ranks are on several nodes, all of them in this process: GPUs of a fake driver,
// emulated kernels, nodes connected by a transport.

#include "runtime/base/dtype.h"
#include "runtime/net/loopback/loopback.h"
#include "runtime/net/tcp/tcp.h"
#include "test/exchange/moe_rig.h"

#include <chrono>
#include <cmath>
#include <cstring>

namespace coll::rt::test {
namespace {

constexpr int kGpus = 6;
constexpr int64_t kBytes = 1 << 20;

std::unique_ptr<net::Transport> makeTransport(const std::string &name) {
  net::TcpOptions tcp;
  tcp.iface = "lo";
  tcp.dataStreams = 1;
  tcp.threads = 2;
  auto made =
      name == "tcp" ? net::createTcpTransport(tcp, std::nullopt) : net::createLoopbackTransport();
  EXPECT_TRUE(made.ok()) << made.status().toString();
  return made.take();
}

class MoeNodesTest : public testing::Test {
protected:
  MoeBufferOptions optionsOf(int rank, int numRanks, int nodeSize, int64_t timeoutUs) {
    MoeBufferOptions options;
    options.rank = rank;
    options.numRanks = numRanks;
    options.nodeSize = nodeSize;
    options.nvlBytes = options.netBytes = kBytes;
    options.device = rank;
    options.timeoutUs = timeoutUs;
    options.transport = transport_.get();
    options.netChunkBytes = 4096; // some chunks
    return options;
  }
  MoeRanks ranks(int numRanks, int nodeSize, int64_t timeoutUs = 20'000'000) {
    MoeRanks all;
    for (int r = 0; r < numRanks; ++r)
      all.push_back(std::make_unique<MoeRank>(fake_, optionsOf(r, numRanks, nodeSize, timeoutUs)));
    syncAll(all);
    return all;
  }
  void connectBy(const std::string &transport) { transport_ = makeTransport(transport); }
  void playRounds(int numRanks, int nodeSize, int rounds);

  dl::FakeCuda fake_{kGpus};
  ScopedMoePlatform platform_{emulatedMoe(fake_.table())};
  std::unique_ptr<net::Transport> transport_ = makeTransport("loopback");
};

MoeSizes sizesFor(int numRanks, std::minstd_rand &random) {
  MoeSizes sizes = randomMoeSizes(random, 40);
  sizes.numExperts = sizes.numExperts / sizes.numRanks * numRanks;
  sizes.numRanks = numRanks;
  return sizes;
}

// Whole numbers, which add up exactly, or any.
std::vector<char> rowsOf(int64_t count, bool isWhole, std::minstd_rand &random) {
  std::vector<char> bytes = randomBf16(count, random);
  for (size_t i = 0; isWhole && i < bytes.size(); i += 2) {
    const uint16_t value = f32ToBf16(static_cast<float>(random() % 17) - 8);
    std::memcpy(bytes.data() + i, &value, 2);
  }
  return bytes;
}

// A round of all ranks, and what the reference makes of it.
struct Round {
  std::vector<MoeRankCase> world;
  MoeDispatchOptions options;
  bool isWhole = true;
  std::vector<MoeHostReceived> expected, again;
  std::vector<std::vector<char>> x2, rows, bias; // for the dispatch along known routes; given back
  std::vector<std::vector<float>> weights;

  Round(const MoeSizes &sizes, int number, std::minstd_rand &random);
  void combined(std::vector<std::vector<uint16_t>> &out,
                std::vector<std::vector<float>> &outWeights) const;
  MoeCombine combineOf(size_t rank) const;
};

Round::Round(const MoeSizes &sizes, int number, std::minstd_rand &random)
    : world(randomMoeCase(sizes, random)), isWhole(number % 2 == 0) {
  options.worstCaseTokens = number % 3 == 2 ? 400 : 0;
  options.expertAlignment = 1 + number;
  MoeDispatchOptions known = options;
  known.worstCaseTokens = 0;
  expected = moeReferenceDispatch(callsOf(world), known).take();
  std::vector<MoeTokens> tokens;
  std::vector<MoeHostHandle> handles;
  for (size_t r = 0; r < world.size(); ++r) {
    x2.push_back(randomBf16(static_cast<int64_t>(world[r].x.size()) / 2, random));
    tokens.push_back(world[r].tokens);
    tokens.back().x = x2.back().data();
    handles.push_back(expected[r].handle);
    rows.push_back(rowsOf(expected[r].handle.numRecv * sizes.hidden, isWhole, random));
    bias.push_back(rowsOf(world[r].routing.numTokens * sizes.hidden, isWhole, random));
    weights.push_back(expected[r].topkWeights);
  }
  again = moeReferenceDispatchAgain(tokens, handles).take();
}

MoeCombine Round::combineOf(size_t rank) const {
  MoeCombine combine;
  combine.x = rows[rank].data();
  combine.numRows = expected[rank].handle.numRecv;
  combine.hidden = world[rank].tokens.hidden;
  combine.topkWeights = weights[rank].data();
  combine.numTopk = world[rank].routing.numTopk;
  combine.bias[1] = bias[rank].data();
  return combine;
}

void Round::combined(std::vector<std::vector<uint16_t>> &out,
                     std::vector<std::vector<float>> &outWeights) const {
  std::vector<MoeCombine> calls;
  std::vector<MoeHostHandle> handles;
  out.resize(world.size());
  outWeights.resize(world.size());
  for (size_t r = 0; r < world.size(); ++r) {
    calls.push_back(combineOf(r));
    handles.push_back(expected[r].handle);
    out[r].resize(bias[r].size() / 2);
    outWeights[r].resize(world[r].topkIdx.size());
    calls[r].out = out[r].data();
    calls[r].outWeights = outWeights[r].data();
  }
  const Status status = moeReferenceCombine(calls, handles);
  EXPECT_TRUE(status.ok()) << status.toString();
}

void expectLayout(const MoeInputs &in, const MoeRankCase &from, int numRanks, int nodeSize) {
  const MoeHostLayout layout = moeReferenceLayout(from.routing, numRanks, nodeSize).take();
  expectBytes("tokensPerRank", in.layout.tokensPerRank, layout.tokensPerRank);
  expectBytes("tokensPerNetRank", in.layout.tokensPerNetRank, layout.tokensPerNetRank);
  expectBytes("tokensPerExpert", in.layout.tokensPerExpert, layout.tokensPerExpert);
  expectBytes("isTokenInRank", in.layout.isTokenInRank, layout.isTokenInRank);
}

void expectHandle(const MoeHandle &handle, const MoeHostHandle &expected) {
  expectBytes("rankPrefix", handle.rankPrefix, expected.rankPrefix);
  expectBytes("channelPrefix", handle.channelPrefix, expected.channelPrefix);
  expectBytes("sendHead", handle.sendHead, expected.sendHead);
  expectBytes("source", handle.recvSourceIdx, expected.recvSourceIdx);
}

void playRound(MoeRank &rank, size_t number, const MoeInputs &in, const Round &round,
               int nodeSize) {
  MoeBuffer &buffer = *rank.buffer;
  const MoeHostReceived &expected = round.expected[number];
  const auto must = [](const Status &status) { ASSERT_TRUE(status.ok()) << status.toString(); };
  must(buffer.dispatchLayout(in.routing, in.layout, rank.order));
  auto received =
      buffer.dispatch(in.tokens, in.routing, in.layout, round.options, in.handle, rank.order);
  ASSERT_TRUE(received.ok()) << received.status().toString();
  EXPECT_EQ(received->handle.numRecv, round.options.worstCaseTokens ? -1 : expected.handle.numRecv);
  if (!round.options.worstCaseTokens) {
    EXPECT_EQ(received->tokensPerExpert, expected.tokensPerExpert);
  }
  rank.wait();
  expectLayout(in, round.world[number], static_cast<int>(round.world.size()), nodeSize);
  expectHandle(received->handle, expected.handle);
  expectBytes("x", static_cast<const char *>(received->x), expected.x);
  if (in.tokens.numScales > 0)
    expectBytes("scales", received->scales, expected.scales);
  expectBytes("topkIdx", received->topkIdx, expected.topkIdx);
  expectBytes("topkWeights", received->topkWeights, expected.topkWeights);

  MoeTokens tokens = in.tokens;
  tokens.x = rank.put(round.x2[number]);
  auto again = buffer.dispatchAgain(tokens, received->handle, round.options.config, rank.order);
  ASSERT_TRUE(again.ok()) << again.status().toString();
  rank.wait();
  expectBytes("x again", static_cast<const char *>(again->x), round.again[number].x);
  expectBytes("source again", again->handle.recvSourceIdx, expected.handle.recvSourceIdx);

  MoeCombine combine = round.combineOf(number);
  combine.x = rank.put(round.rows[number]);
  combine.topkWeights = rank.put(round.weights[number]);
  combine.bias[1] = rank.put(round.bias[number]);
  combine.out = in.out;
  combine.outWeights = in.outWeights;
  must(buffer.combine(combine, received->handle, round.options.config, rank.order));
  rank.wait();
  must(buffer.check());
}

void expectSums(const Round &round, const std::vector<MoeInputs> &in) {
  std::vector<std::vector<uint16_t>> out;
  std::vector<std::vector<float>> outWeights;
  round.combined(out, outWeights);
  for (size_t r = 0; r < in.size(); ++r) {
    if (round.isWhole)
      expectBytes("out", in[r].out, out[r]);
    // Each node's sum is rounded, then all.
    const float tolerance = 6.0f * static_cast<float>(in.size() + 2) / 512;
    for (size_t i = 0; i < out[r].size(); ++i)
      ASSERT_NEAR(bf16ToF32(in[r].out[i]), bf16ToF32(out[r][i]), tolerance) << r << " " << i;
    for (size_t i = 0; i < outWeights[r].size(); ++i)
      ASSERT_NEAR(in[r].outWeights[i], outWeights[r][i], 1e-5) << r << " " << i;
  }
}

void MoeNodesTest::playRounds(int numRanks, int nodeSize, int rounds) {
  std::minstd_rand random(static_cast<unsigned>(10 * numRanks + nodeSize));
  auto all = ranks(numRanks, nodeSize);
  for (int number = 0; number < rounds; ++number) {
    SCOPED_TRACE(std::to_string(numRanks) + " ranks, round " + std::to_string(number));
    const Round round(sizesFor(numRanks, random), number, random);
    std::vector<MoeInputs> in;
    for (size_t r = 0; r < all.size(); ++r) {
      in.push_back(inputsOf(*all[r], round.world[r], numRanks, round.options.config));
      in.back().layout.tokensPerNetRank =
          all[r]->room<int32_t>(static_cast<size_t>(numRanks / nodeSize));
    }
    beside(all, [&](size_t r, MoeRank &rank) { playRound(rank, r, in[r], round, nodeSize); });
    ASSERT_FALSE(HasFailure());
    expectSums(round, in);
    ASSERT_FALSE(HasFailure());
  }
  all.clear();
  EXPECT_EQ(fake_.misuse(), "");
}

TEST_F(MoeNodesTest, RoundsAreThoseOfTheReferenceOverLoopback) {
  playRounds(2, 1, 4);
  playRounds(4, 2, 6);
  playRounds(3, 1, 3);
  playRounds(6, 3, 3);
  playRounds(6, 2, 3);
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

// Ranks with the same small case each.
std::vector<Small> smallCases(MoeRanks &all, int64_t numTokens = 20, int64_t hidden = 48) {
  std::minstd_rand random(9);
  const int numRanks = static_cast<int>(all.size());
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

Result<MoeReceived> dispatchSmall(MoeRank &rank, const Small &small) {
  COLL_RETURN_IF_ERROR(rank.buffer->dispatchLayout(small.in.routing, small.in.layout, rank.order));
  return rank.buffer->dispatch(small.in.tokens, small.in.routing, small.in.layout, {},
                               small.in.handle, rank.order);
}

TEST_F(MoeNodesTest, ATokenCrossesOnceForEachNode) {
  auto all = ranks(6, 2);
  const std::vector<Small> cases = smallCases(all);
  beside(all, [&](size_t r, MoeRank &rank) {
    MoeBuffer &buffer = *rank.buffer;
    auto received = dispatchSmall(rank, cases[r]);
    ASSERT_TRUE(received.ok()) << received.status().toString();
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
    EXPECT_EQ(buffer.netBytesSent() - before, crossing(r) * rowBytes + signs);
    // One row for each token that came from another node goes back.
    MoeCombine combine;
    combine.x = received->x;
    combine.numRows = received->handle.numRecv;
    combine.hidden = cases[r].rank.tokens.hidden;
    combine.out = cases[r].in.out;
    before = buffer.netBytesSent();
    const Status combined = buffer.combine(combine, received->handle, {}, rank.order);
    ASSERT_TRUE(combined.ok()) << combined.toString();
    int64_t relayed = 0;
    for (size_t n = 0; n < 3; ++n)
      if (n != r / 2)
        relayed += moeReferenceLayout(cases[n * 2 + r % 2].rank.routing, 6, 2)
                       .take()
                       .tokensPerNetRank[r / 2];
    EXPECT_EQ(buffer.netBytesSent() - before, relayed * rowBytes + signs);
    rank.wait();
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
  });
  all.clear();
  EXPECT_EQ(fake_.liveAllocations(), 0);
  EXPECT_EQ(fake_.misuse(), "");
}

// Every rank's `call` fails with this code, and says this.
template <typename Call>
void expectFailures(MoeRanks &all, int except, CollCode code, const std::string &text,
                    Call &&call) {
  beside(all, [&](size_t r, MoeRank &rank) {
    if (static_cast<int>(r) == except)
      return;
    const Status status = call(r, rank);
    EXPECT_EQ(status.code(), code) << status.toString();
    EXPECT_NE(status.message().find(text), std::string::npos) << r << ": " << status.toString();
    EXPECT_NE(status.message().find("moe buffer of rank " + std::to_string(r)), std::string::npos)
        << status.toString();
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
  auto all = ranks(4, 2, 500'000);
  const std::vector<Small> cases = smallCases(all);
  expectFailures(all, 2, kCollTimeout, "rank 2 sends nothing",
                 [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, cases[r]).status(); });
}

TEST_F(MoeNodesTest, ACallOfOtherSizesEndsAll) {
  auto all = ranks(4, 2);
  std::vector<Small> cases = smallCases(all);
  cases[2].in.tokens.hidden = 32;
  expectFailures(all, -1, kCollMismatch, "calls with other sizes",
                 [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, cases[r]).status(); });
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
  expectFailures(all, -1, kCollInvalidCall, "netBytes is 8192; the call takes",
                 [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, many[r]).status(); });
  expectFailures(all, -1, kCollInvalidCall, "netBytes is 8192; the call takes",
                 [&](size_t r, MoeRank &rank) { return dispatchSmall(rank, large[r]).status(); });
  expectFailures(all, -1, kCollInvalidCall, "which takes 2", [&](size_t r, MoeRank &rank) {
    MoeDispatchOptions options;
    options.worstCaseTokens = 2;
    COLL_RETURN_IF_ERROR(
        rank.buffer->dispatchLayout(few[r].in.routing, few[r].in.layout, rank.order));
    return rank.buffer
        ->dispatch(few[r].in.tokens, few[r].in.routing, few[r].in.layout, options, few[r].in.handle,
                   rank.order)
        .status();
  });
  // That was nobody's end.
  beside(all, [&](size_t r, MoeRank &rank) {
    auto received = dispatchSmall(rank, few[r]);
    ASSERT_TRUE(received.ok()) << received.status().toString();
    rank.wait();
    EXPECT_TRUE(rank.buffer->check().ok());
    // A handle of nobody.
    MoeHandle handle = received->handle;
    handle.routes = nullptr;
    EXPECT_EQ(
        rank.buffer->dispatchAgain(few[r].in.tokens, handle, {}, rank.order).status().message(),
        "moe buffer: `handle` is none of a dispatch of this buffer");
  });
}

TEST_F(MoeNodesTest, OptionsAndCardsAreChecked) {
  MoeBufferOptions options = optionsOf(0, 4, 2, 300'000);
  options.netChunkBytes = 100;
  EXPECT_EQ(MoeBuffer::create(options).status().message(),
            "moe buffer: netChunkBytes is a multiple of 256");
  options.netChunkBytes = 4096;
  options.transport = nullptr;
  EXPECT_EQ(MoeBuffer::create(options).status().message(),
            "moe buffer: ranks on other nodes without netBytes or a transport");
  MoeRank a(fake_, optionsOf(0, 2, 1, 300'000)), b(fake_, optionsOf(1, 2, 1, 300'000));
  std::vector<MoeCard> cards = {a.buffer->card(), b.buffer->card()};
  cards[1].netBytes *= 2;
  EXPECT_EQ(a.buffer->sync(cards).message(),
            "moe: the card of rank 1 is of a buffer with another number of ranks or other sizes");
  cards[1] = b.buffer->card();
  EXPECT_EQ(a.buffer->sync(cards).toString(),
            "timeout: moe buffer of rank 0: no connection to rank 1");
}

} // namespace
} // namespace coll::rt::test
