// Dispatch and combine over every backend that supports host memory: ranks must receive what the
// reference says, byte for byte, and all of them get the error of a wrong call.

#include "runtime/base/dtype.h"
#include "runtime/step/abi/abi.h"
#include "runtime/step/tokens/exchange.h"
#include "test/conformance/harness.h"
#include "test/exchange/moe_cases.h"
#include "test/support/sanitizers.h"

#include <algorithm>
#include <cstring>

namespace coll::rt::test {
namespace {

constexpr uint32_t kSeeds = coll::test::kFindsRaces ? 3 : 12;
constexpr int64_t kMaxTokens = 40;

template <typename T>
size_t at(T index) {
  return static_cast<size_t>(index);
}

TokenPlace placeOf(Member &m, const char *within) {
  CallSite site;
  site.op = 3;
  site.loc = "train.py:7:1";
  site.within = within;
  return {m.endpoint, m.group, site};
}

// The memory of one rank's dispatch; arguments may be changed before run().
struct RankTokens {
  RankTokens(int64_t tokens, int32_t topk, int64_t hidden, int64_t capacity, int32_t localExperts,
             int64_t numScales, CollDtype dtype) {
    d.shape = {tokens, topk, capacity};
    d.hidden = hidden;
    d.numScales = numScales;
    d.dtype = dtype;
    d.indexDtype = kCollI64;
    d.localExperts = localExperts;
    x.resize(at(tokens * d.rowBytes()));
    experts.assign(at(tokens * topk), -1);
    weights.resize(at(tokens * topk));
    scales.resize(at(tokens * numScales));
    rows.assign(at(capacity * d.rowBytes()), 1);
    rowExperts.assign(at(capacity * topk), 99);
    rowWeights.assign(at(capacity * topk), 99);
    rowScales.assign(at(capacity * numScales), 99);
    counts.assign(at(localExperts), 99);
    route.assign(at(collRouteBytes(tokens, topk, capacity)) / sizeof(int32_t), 99);
  }

  Status run(Member &m, int32_t serial = 1) {
    d.x = x.data();
    d.experts = experts.data();
    d.weights = weights.data();
    d.scales = scales.data();
    d.rows = rows.data();
    d.rowExperts = rowExperts.data();
    d.rowWeights = rowWeights.data();
    d.rowScales = rowScales.data();
    d.counts = counts.data();
    d.route = route.data();
    COLL_RETURN_IF_ERROR(checkDispatch(d, m.n));
    return runDispatch(d, serial, placeOf(m, "dispatch"));
  }

  TokenDispatch d;
  std::vector<char> x, rows;
  std::vector<int64_t> experts, rowExperts;
  std::vector<float> weights, scales, rowWeights, rowScales;
  std::vector<int32_t> counts, route;
};

Status runCombine(Member &m, const RankTokens &tokens, const std::vector<char> &src,
                  std::vector<char> &dst, CollDtype dtype = kCollBf16) {
  TokenCombine c;
  c.src = src.data();
  c.dst = dst.data();
  c.shape = tokens.d.shape;
  c.hidden = tokens.d.hidden;
  c.dtype = dtype;
  c.route = tokens.route.data();
  COLL_RETURN_IF_ERROR(checkCombine(c));
  return coll::rt::runCombine(c, placeOf(m, "combine"));
}

// Random tokens of all ranks, and the reference's results.
struct World {
  explicit World(uint32_t seed) : random(seed * 2654435761u) { // small seeds begin alike
    sizes = randomMoeSizes(random, kMaxTokens);
    ranks = randomMoeCase(sizes, random);
    const int64_t most = std::max<int64_t>(1, kMaxTokens * sizes.numRanks);
    counted = moeReferenceDispatch(callsOf(ranks), {}).take();
    for (const MoeHostReceived &received : counted)
      capacity = std::max(capacity, received.handle.numRecv);
    capacity = std::max<int64_t>(1, std::min(most, capacity + seed % 3));
    MoeDispatchOptions options;
    options.worstCaseTokens = capacity;
    received = moeReferenceDispatch(callsOf(ranks), options).take();
    std::vector<MoeCombine> calls(ranks.size());
    std::vector<MoeHostHandle> handles;
    combined.resize(ranks.size());
    for (size_t r = 0; r < ranks.size(); ++r) {
      rows.push_back(randomBf16(capacity * sizes.hidden, random));
      combined[r].resize(at(2 * ranks[r].routing.numTokens * sizes.hidden));
      calls[r].x = rows[r].data();
      calls[r].numRows = capacity;
      calls[r].hidden = sizes.hidden;
      calls[r].out = combined[r].data();
      handles.push_back(received[r].handle);
    }
    Status status = moeReferenceCombine(calls, handles);
    EXPECT_TRUE(status.ok()) << status.toString();
  }

  std::minstd_rand random;
  MoeSizes sizes;
  int64_t capacity = 0;
  std::vector<MoeRankCase> ranks;
  std::vector<MoeHostReceived> counted, received;
  std::vector<std::vector<char>> rows, combined; // into and out of combine
};

RankTokens tokensOf(const World &world, size_t rank) {
  const MoeRankCase &from = world.ranks[rank];
  const MoeSizes &sizes = world.sizes;
  RankTokens tokens(from.routing.numTokens, sizes.numTopk, sizes.hidden, world.capacity,
                    sizes.numExperts / sizes.numRanks, sizes.numScales, sizes.dtype);
  std::copy_n(from.x.begin(), tokens.x.size(), tokens.x.begin());
  tokens.experts = from.topkIdx;
  if (sizes.hasWeights)
    tokens.weights = from.topkWeights;
  for (int64_t t = 0; t < from.routing.numTokens; ++t)
    for (int64_t s = 0; s < sizes.numScales; ++s)
      tokens.scales[at(t * sizes.numScales + s)] =
          from.tokens.scales[t * from.tokens.scaleTokenStride + s * from.tokens.scaleStride];
  return tokens;
}

// Compares numbers: the reference's sum of a single -0 is +0.
void expectSameBf16(const std::vector<char> &got, const std::vector<char> &wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (size_t i = 0; i < got.size() / 2; ++i) {
    uint16_t a = 0, b = 0;
    std::memcpy(&a, got.data() + 2 * i, 2);
    std::memcpy(&b, wanted.data() + 2 * i, 2);
    ASSERT_EQ(bf16ToF32(a), bf16ToF32(b)) << "element " << i;
  }
}

void expectLikeReference(const World &world, Member &m) {
  const size_t r = at(m.rank);
  RankTokens tokens = tokensOf(world, r);
  Status status = tokens.run(m, m.rank + 5);
  ASSERT_TRUE(status.ok()) << status.toString();
  EXPECT_EQ(tokens.rows, world.received[r].x);
  EXPECT_EQ(tokens.rowExperts, world.received[r].topkIdx);
  EXPECT_EQ(tokens.rowWeights, world.received[r].topkWeights);
  EXPECT_EQ(tokens.rowScales, world.received[r].scales);
  EXPECT_EQ(tokens.counts, world.counted[r].tokensPerExpert);
  for (int round = 0; round < 2; ++round) { // a route may be combined again
    std::vector<char> out(world.combined[r].size(), 1);
    status = runCombine(m, tokens, world.rows[r], out);
    ASSERT_TRUE(status.ok()) << status.toString();
    expectSameBf16(out, world.combined[r]);
  }
}

TEST_P(Tokens, AreWhatTheReferenceSays) {
  for (uint32_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    runJob(GetParam(), oneGroup(world.sizes.numRanks),
           [&](Member &m) { expectLikeReference(world, m); });
  }
}

// Three ranks with two experts each; token t of rank r goes to expert (r + t) % 6.
RankTokens simpleTokens(const Member &m) {
  RankTokens tokens(4, 1, 8, 12, 2, 0, kCollF32);
  for (int64_t t = 0; t < 4; ++t)
    tokens.experts[at(t)] = (m.rank + t) % 6;
  return tokens;
}

// All three ranks must fail with `code`, and give the same reason.
void expectAll(const std::string &backend, CollCode code, const std::string &reason,
               const std::function<Status(Member &)> &body) {
  std::vector<Status> all(3);
  runJob(backend, oneGroup(3), [&](Member &m) {
    all[at(m.rank)] = body(m);
    if (!all[at(m.rank)].ok())
      m.endpoint.abort(all[at(m.rank)]);
  });
  for (const Status &status : all) {
    // A rank that first hears of another rank's failure reports that as the cause.
    EXPECT_TRUE(status.code() == code || status.code() == kCollAborted) << status.toString();
    EXPECT_NE(status.message().find(reason), std::string::npos) << status.message();
  }
}

TEST_P(Tokens, BadCallsAreToldToAll) {
  const auto expectBad = [&](CollCode code, const std::string &reason, auto change) {
    expectAll(GetParam(), code, reason, [&](Member &m) {
      RankTokens tokens = simpleTokens(m);
      change(m, tokens);
      return tokens.run(m);
    });
  };
  expectBad(kCollInvalidCall, "token 2 of rank 1 names expert 6, but there are 6",
            [](Member &m, RankTokens &tokens) { tokens.experts[2] = m.rank == 1 ? 6 : 0; });
  expectBad(kCollInvalidCall, "token 0 of rank 2 names expert -2",
            [](Member &m, RankTokens &tokens) { tokens.experts[0] = m.rank == 2 ? -2 : 0; });
  expectBad(kCollInvalidCall, "tokens come to rank 1, which has a capacity of 3",
            [](Member &m, RankTokens &tokens) { tokens.d.shape.capacity = m.rank == 1 ? 3 : 12; });
  expectBad(kCollMismatch, "elements of a row: 8 on rank 0, 7 on rank 2",
            [](Member &m, RankTokens &tokens) { tokens.d.hidden = m.rank == 2 ? 7 : 8; });
  expectBad(
      kCollMismatch, "element type: 0 on rank 0, 6 on rank 1",
      [](Member &m, RankTokens &tokens) { tokens.d.dtype = m.rank == 1 ? kCollI32 : kCollF32; });
  expectBad(kCollMismatch, "experts of a rank: 2 on rank 0, 1 on rank 1",
            [](Member &m, RankTokens &tokens) { tokens.d.localExperts = m.rank == 1 ? 1 : 2; });
}

TEST_P(Tokens, AllCombineTheSameDispatch) {
  const auto dispatchTwice = [](Member &m, RankTokens &first, RankTokens &second) {
    COLL_RETURN_IF_ERROR(first.run(m, 1));
    return second.run(m, 2);
  };
  expectAll(GetParam(), kCollMismatch, "rank 1 combines along the route of another dispatch",
            [&](Member &m) {
              RankTokens first = simpleTokens(m), second = simpleTokens(m);
              COLL_RETURN_IF_ERROR(dispatchTwice(m, first, second));
              std::vector<char> rows(first.rows), out(first.x.size());
              return runCombine(m, m.rank == 1 ? first : second, rows, out, kCollF32);
            });
  expectAll(GetParam(), kCollMismatch, "combine (1) or dispatch (0): 1 on rank 0, 0 on rank 1",
            [&](Member &m) {
              RankTokens first = simpleTokens(m), second = simpleTokens(m);
              COLL_RETURN_IF_ERROR(first.run(m));
              std::vector<char> rows(first.rows), out(first.x.size());
              return m.rank == 1 ? second.run(m) : runCombine(m, first, rows, out, kCollF32);
            });
}

// Tokens are sent while the program's own messages are in flight, and must not be mistaken for
// them.
TEST_P(Tokens, DoNotMeetTransfersUnderWay) {
  runJob(GetParam(), oneGroup(3), [](Member &m) {
    Elements sent(kCollF32, 4), got(kCollF32, 4);
    sent.set(0, m.rank + 1);
    Call receive = makeCall(OpKind::Recv, kCollF32, 4, nullptr, got.data());
    receive.peer = (m.position + 2) % 3;
    Result<Request *> request = m.start(receive);
    ASSERT_TRUE(request.ok()) << request.status().toString();
    RankTokens tokens = simpleTokens(m);
    Status status = tokens.run(m);
    EXPECT_TRUE(status.ok()) << status.toString();
    Call send = makeCall(OpKind::Send, kCollF32, 4, sent.data(), nullptr);
    send.peer = (m.position + 1) % 3;
    EXPECT_TRUE(m.run(send).ok());
    EXPECT_TRUE(m.wait(*request).ok());
    EXPECT_EQ(got.get(0), (m.rank + 2) % 3 + 1);
  });
}

} // namespace

INSTANTIATE_TEST_SUITE_P(threads, Tokens, testing::Values("threads"));
INSTANTIATE_TEST_SUITE_P(router, Tokens, testing::Values("auto"));
#ifdef COLL_HAS_NET
INSTANTIATE_TEST_SUITE_P(net_loopback, Tokens, testing::Values("net/loopback"));
INSTANTIATE_TEST_SUITE_P(net_tcp, Tokens, testing::Values("net/tcp"));
#endif
} // namespace coll::rt::test
