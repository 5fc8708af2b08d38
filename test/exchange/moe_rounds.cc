#include "test/exchange/moe_rounds.h"

#include "runtime/base/dtype.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::test {

namespace {

MoeSizes sizesFor(int numRanks, std::minstd_rand &random) {
  MoeSizes sizes = randomMoeSizes(random, 40);
  sizes.numExperts = sizes.numExperts / sizes.numRanks * numRanks;
  sizes.numRanks = numRanks;
  return sizes;
}

// Random rows; of whole numbers, whose sums are exact, or of any numbers.
std::vector<char> rowsOf(int64_t count, bool isWhole, std::minstd_rand &random) {
  std::vector<char> bytes = randomBf16(count, random);
  for (size_t i = 0; isWhole && i < bytes.size(); i += 2) {
    const uint16_t value = f32ToBf16(static_cast<float>(random() % 17) - 8);
    std::memcpy(bytes.data() + i, &value, 2);
  }
  return bytes;
}

// Where the rows are that a rank returns.
enum class Give { InPlace, Input, Elsewhere };

// A round of all ranks, and the reference's results.
struct Round {
  std::vector<MoeRankCase> world;
  int nodeSize = 1;
  MoeDispatchOptions options;
  bool isWhole = true, hasEvents = false;
  Give give = Give::Elsewhere;
  std::vector<MoeHostReceived> expected, again;
  std::vector<std::vector<char>> x2, rows; // for the dispatch along known routes; given back
  std::vector<std::vector<char>> bias[2];  // none, one or both
  std::vector<std::vector<float>> weights;

  Round(const MoeSizes &sizes, int nodeSize, int number, std::minstd_rand &random);
  void combined(std::vector<std::vector<uint16_t>> &out,
                std::vector<std::vector<float>> &outWeights) const;
  MoeCombine combineOf(size_t rank) const;
  bool isOneNode() const { return world.size() <= static_cast<size_t>(nodeSize); }
};

Round::Round(const MoeSizes &sizes, int nodeSize, int number, std::minstd_rand &random)
    : world(randomMoeCase(sizes, random)), nodeSize(nodeSize), isWhole(number % 2 == 0),
      hasEvents(number % 4 >= 2), give(static_cast<Give>(number % 3)) {
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
    for (int b : {0, 1})
      if ((number + 2) >> b & 1)
        bias[b].push_back(rowsOf(world[r].routing.numTokens * sizes.hidden, isWhole, random));
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
  for (int b : {0, 1})
    combine.bias[b] = bias[b].empty() ? nullptr : bias[b][rank].data();
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
    out[r].resize(static_cast<size_t>(world[r].routing.numTokens * world[r].tokens.hidden));
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

// The tokens of the ranks with this rank's place on other nodes, for any rank of this node.
int64_t relayedBy(size_t rank, const Round &round, size_t nodeSize) {
  int64_t tokens = 0;
  for (size_t source = rank % nodeSize; source < round.world.size(); source += nodeSize) {
    const MoeRankCase &from = round.world[source];
    const auto topk = static_cast<size_t>(from.routing.numTopk);
    const auto perNode = from.routing.numExperts / static_cast<int64_t>(round.world.size()) *
                         static_cast<int64_t>(nodeSize);
    for (size_t t = 0; source != rank && t < from.topkIdx.size(); t += topk)
      tokens +=
          std::any_of(from.topkIdx.data() + t, from.topkIdx.data() + t + topk, [&](int64_t e) {
            return e >= 0 && e / perNode == static_cast<int64_t>(rank / nodeSize);
          });
  }
  return tokens;
}

// Orders calls by events, or by the caller's stream.
class Ordering {
public:
  Ordering(const dl::Cuda &cuda, const MoeRank &rank, bool hasEvents)
      : cuda_(cuda), rank_(rank), hasEvents_(hasEvents) {
    for (dl::CudaEvent *event : {&previous_, &done_})
      EXPECT_EQ(cuda.eventCreate(event, dl::kCudaEventNoTiming), 0);
  }
  ~Ordering() {
    EXPECT_EQ(cuda_.eventDestroy(previous_), 0);
    EXPECT_EQ(cuda_.eventDestroy(done_), 0);
  }
  MoeOrder next() {
    if (!hasEvents_)
      return rank_.order;
    EXPECT_EQ(cuda_.eventRecord(previous_, rank_.order.compute), 0);
    return {rank_.order.compute, previous_, done_};
  }
  void wait(MoeRank &rank) {
    if (hasEvents_) {
      EXPECT_EQ(cuda_.streamWaitEvent(rank.order.compute, done_, 0), 0);
    }
    rank.wait();
  }

private:
  const dl::Cuda &cuda_;
  const MoeRank &rank_;
  const bool hasEvents_;
  dl::CudaEvent previous_ = nullptr, done_ = nullptr;
};

void playRound(const dl::Cuda &cuda, MoeRank &rank, size_t number, const MoeInputs &in,
               const Round &round) {
  MoeBuffer &buffer = *rank.buffer;
  rank.wait(); // its GPU is current on this thread
  Ordering order(cuda, rank, round.hasEvents);
  const MoeHostReceived &expected = round.expected[number];
  const auto must = [](const Status &status) { ASSERT_TRUE(status.ok()) << status.toString(); };
  must(buffer.dispatchLayout(in.routing, in.layout, order.next()));
  auto received =
      buffer.dispatch(in.tokens, in.routing, in.layout, round.options, in.handle, order.next());
  ASSERT_TRUE(received.ok()) << received.status().toString();
  EXPECT_EQ(received->handle.numRecv, round.options.worstCaseTokens ? -1 : expected.handle.numRecv);
  const bool isRelayKnown = !round.options.worstCaseTokens && !round.isOneNode();
  EXPECT_EQ(received->numRelayed,
            isRelayKnown ? relayedBy(number, round, static_cast<size_t>(round.nodeSize)) : -1);
  if (!round.options.worstCaseTokens) {
    EXPECT_EQ(received->tokensPerExpert, expected.tokensPerExpert);
  }
  order.wait(rank);
  expectLayout(in, round.world[number], static_cast<int>(round.world.size()), round.nodeSize);
  expectHandle(received->handle, expected.handle);
  expectBytes("x", static_cast<const char *>(received->x), expected.x);
  if (in.tokens.numScales > 0)
    expectBytes("scales", received->scales, expected.scales);
  expectBytes("topkIdx", received->topkIdx, expected.topkIdx);
  expectBytes("topkWeights", received->topkWeights, expected.topkWeights);

  MoeTokens tokens = in.tokens;
  tokens.x = rank.put(round.x2[number]);
  auto again = buffer.dispatchAgain(tokens, received->handle, round.options.config, order.next());
  ASSERT_TRUE(again.ok()) << again.status().toString();
  order.wait(rank);
  expectBytes("x again", static_cast<const char *>(again->x), round.again[number].x);
  expectBytes("source again", again->handle.recvSourceIdx, expected.handle.recvSourceIdx);

  MoeCombine combine = round.combineOf(number);
  const std::vector<char> &rows = round.rows[number];
  // The GPU memory of the fake driver is host memory.
  void *const places[] = {const_cast<void *>(again->x), buffer.combineInput(),
                          rank.room<char>(rows.size())};
  void *const place = places[static_cast<size_t>(round.give)];
  std::copy(rows.begin(), rows.end(), static_cast<char *>(place));
  combine.x = place;
  combine.topkWeights = rank.put(round.weights[number]);
  for (int b : {0, 1})
    combine.bias[b] = round.bias[b].empty() ? nullptr : rank.put(round.bias[b][number]);
  combine.out = in.out;
  combine.outWeights = in.outWeights;
  must(buffer.combine(combine, received->handle, round.options.config, order.next()));
  order.wait(rank);
  must(buffer.check());
}

void expectSums(const Round &round, const std::vector<MoeInputs> &in) {
  std::vector<std::vector<uint16_t>> out;
  std::vector<std::vector<float>> outWeights;
  round.combined(out, outWeights);
  for (size_t r = 0; r < in.size(); ++r) {
    if (round.isWhole || round.isOneNode())
      expectBytes("out", in[r].out, out[r]);
    if (round.isOneNode())
      expectBytes("outWeights", in[r].outWeights, outWeights[r]);
    // The sum of each node is rounded, then the total.
    const float tolerance = 6.0f * static_cast<float>(in.size() + 2) / 512;
    for (size_t i = 0; i < out[r].size(); ++i)
      ASSERT_NEAR(bf16ToF32(in[r].out[i]), bf16ToF32(out[r][i]), tolerance) << r << " " << i;
    for (size_t i = 0; i < outWeights[r].size(); ++i)
      ASSERT_NEAR(in[r].outWeights[i], outWeights[r][i], 1e-5) << r << " " << i;
  }
}

} // namespace

void playMoeRounds(dl::FakeCuda &fake, const std::function<MoeBufferOptions(int rank)> &optionsOf,
                   int numRanks, int nodeSize, int rounds) {
  std::minstd_rand random(static_cast<unsigned>(10 * numRanks + nodeSize));
  MoeRanks all = syncedRanks(fake, numRanks, optionsOf);
  for (int number = 0; number < rounds; ++number) {
    SCOPED_TRACE(std::to_string(numRanks) + " ranks, round " + std::to_string(number));
    const Round round(sizesFor(numRanks, random), nodeSize, number, random);
    std::vector<MoeInputs> in;
    for (size_t r = 0; r < all.size(); ++r) {
      in.push_back(inputsOf(*all[r], round.world[r], numRanks, round.options.config));
      in.back().layout.tokensPerNetRank =
          all[r]->room<int32_t>(static_cast<size_t>(all[r]->buffer->numNetRanks()));
    }
    beside(all, [&](size_t r, MoeRank &rank) { playRound(fake.table(), rank, r, in[r], round); });
    ASSERT_FALSE(testing::Test::HasFailure());
    expectSums(round, in);
    ASSERT_FALSE(testing::Test::HasFailure());
  }
  all.clear();
  EXPECT_EQ(fake.misuse(), "");
}

} // namespace coll::rt::test
