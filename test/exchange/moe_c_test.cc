// The C interface of MoeBuffer over a fake driver, with the kernels' device code on host threads: a
// round of each mode compared with the reference, two nodes over tcp, refusals.

#include "runtime/exchange/moe/moe_c.h"

#include "runtime/base/narrow.h"
#include "test/exchange/moe_low_latency_rounds.h"

extern "C" int32_t coll_test_moe_version_of_c();

namespace coll::rt::test {
namespace {

void ok(int32_t code) { ASSERT_EQ(code, kCollOk) << coll_moe_last_error(); }

// One of two ranks.
struct Member {
  CollMoe *buffer = nullptr;
  CollMoeOrder order = {};

  ~Member() { coll_moe_free(buffer); }
};

class MoeCTest : public testing::Test {
protected:
  static constexpr int kRanks = 2;

  void open(int nodeSize, int64_t nvlBytes, const char *transport) {
    for (int r = 0; r < kRanks; ++r) {
      CollMoeOptions options = {};
      options.rank = options.device = r;
      options.numRanks = kRanks;
      options.nodeSize = nodeSize;
      options.nvlBytes = nvlBytes;
      options.lowLatency = 1;
      options.lowLatencyShape = {shape_.maxTokens, shape_.hidden, shape_.numTopk,
                                 shape_.numExperts};
      options.transport = transport;
      options.secret = transport ? "a secret of this test" : nullptr;
      ok(coll_moe_create(&options, &all_[r].buffer));
    }
    const auto bytes = static_cast<size_t>(coll_moe_card_bytes());
    std::vector<char> cards(kRanks * bytes);
    for (size_t r = 0; r < kRanks; ++r)
      ok(coll_moe_card(all_[r].buffer, cards.data() + r * bytes));
    beside([&](size_t, Member &member) {
      ok(coll_moe_sync(member.buffer, cards.data(), kRanks));
      CollMoeInfo info = {};
      ok(coll_moe_info(member.buffer, &info));
      EXPECT_EQ(info.isAvailable, 1);
      EXPECT_EQ(info.isInternodeAvailable, transport != nullptr);
      EXPECT_EQ(info.numNetRanks, std::max(1, kRanks / nodeSize));
      member.order.compute = info.commStream;
    });
  }
  template <typename Body>
  void beside(Body &&body) {
    std::vector<std::thread> threads;
    for (size_t r = 0; r < kRanks; ++r)
      threads.emplace_back([&, r] { body(r, all_[r]); });
    for (std::thread &thread : threads)
      thread.join();
  }
  void wait(size_t rank) {
    fake_.setCurrent(static_cast<int>(rank));
    ASSERT_EQ(
        fake_.table().streamSynchronize(static_cast<dl::CudaStream>(all_[rank].order.compute)), 0);
    ok(coll_moe_check(all_[rank].buffer));
  }
  static CollMoeRouting routingOf(const MoeRankCase &from) {
    return {from.topkIdx.data(), from.routing.numTokens, from.routing.numTopk,
            from.routing.numExperts};
  }

  void playLowLatency(size_t r, const LowLatencyWorld &world, bool hooked);
  void playNormal(size_t r, const MoeRankCase &from, const MoeHostReceived &expected);

  const MoeLowLatencyShape shape_ = lowLatencyShape(kRanks);
  dl::FakeCuda fake_{kRanks};
  ScopedMoePlatform platform_{emulatedMoe(fake_.table())};
  Member all_[kRanks];
};

void MoeCTest::playLowLatency(size_t r, const LowLatencyWorld &world, bool hooked) {
  CollMoe *buffer = all_[r].buffer;
  const CollMoeOrder *order = &all_[r].order;
  const MoeRankCase &from = world.cases[r];
  MoeLowLatencyHostRows room = moeLowLatencyRoom(shape_, kRanks, kCollBf16);
  std::vector<int32_t> stats(room.counts.size());
  const CollMoeLowLatencyRows rows = {room.x.data(), nullptr, room.counts.data(),
                                      room.ranges.data(), room.sources.data()};
  CollMoeLowLatencyDispatch dispatch = {};
  dispatch.routing = routingOf(from);
  dispatch.x = from.x.data();
  dispatch.dtype = kCollBf16;
  dispatch.expertTokens = stats.data();
  int64_t hook = -1;
  ok(coll_moe_low_latency_dispatch(buffer, &dispatch, &rows, order, hooked ? &hook : nullptr));
  if (hooked)
    ok(coll_moe_low_latency_receive(buffer, hook, order));
  wait(r);
  expectRows(room.view(), world.rows[r]);
  EXPECT_EQ(stats, world.rows[r].counts);
  std::vector<uint16_t> out(world.out[r].size());
  CollMoeLowLatencyCombine combine = {};
  combine.routing = dispatch.routing;
  combine.x = world.experts[r].data();
  combine.topkWeights = from.topkWeights.data();
  out.reserve(8); // a rank without tokens has a place for them
  combine.out = out.data();
  ok(coll_moe_low_latency_combine(buffer, &combine, &rows, order, nullptr));
  wait(r);
  EXPECT_EQ(out, world.out[r]);
}

void MoeCTest::playNormal(size_t r, const MoeRankCase &from, const MoeHostReceived &expected) {
  CollMoe *buffer = all_[r].buffer;
  const CollMoeOrder *order = &all_[r].order;
  const auto tokens = static_cast<size_t>(from.routing.numTokens);
  const CollMoeRouting routing = routingOf(from);
  std::vector<int32_t> perRank(kRanks), perExpert(static_cast<size_t>(routing.numExperts));
  std::vector<uint8_t> isTokenInRank(tokens * kRanks + 1);
  const CollMoeLayout layout = {perRank.data(), nullptr, perExpert.data(), isTokenInRank.data()};
  ok(coll_moe_dispatch_layout(buffer, &routing, &layout, order));
  CollMoeTokens x = {};
  x.x = from.x.data();
  x.hidden = from.tokens.hidden;
  x.dtype = kCollBf16;
  x.topkWeights = from.topkWeights.data();
  std::vector<char> memory(
      static_cast<size_t>(coll_moe_handle_bytes(routing.numTokens, kRanks, 4)));
  const CollMoeDispatchOptions options = {4, 0, 0};
  CollMoeReceived received = {};
  ok(coll_moe_dispatch(buffer, &x, &routing, &layout, &options, memory.data(), order, &received));
  wait(r);
  EXPECT_EQ(received.numReceived, expected.handle.numRecv);
  EXPECT_EQ(received.numRows, received.numReceived);
  EXPECT_EQ(received.numRelayed, -1);
  EXPECT_EQ(received.numChannels, 2);
  EXPECT_TRUE(std::equal(expected.tokensPerExpert.begin(), expected.tokensPerExpert.end(),
                         received.tokensPerExpert));
  expectBytes("x", static_cast<const char *>(received.x), expected.x);
  CollMoeReceived again = {};
  ok(coll_moe_dispatch_again(buffer, &x, received.handle, 4, order, &again));
  wait(r);
  expectBytes("x again", static_cast<const char *>(again.x), expected.x);
  // Each rank returns what it received, so a token's row comes back as often as ranks received it.
  std::vector<uint16_t> out(from.x.size() / 2 + 8);
  CollMoeCombine combine = {};
  combine.x = again.x;
  combine.numRows = received.numReceived;
  combine.hidden = x.hidden;
  combine.numSms = 4;
  combine.out = out.data();
  // It also returns the weights of its experts, from which the weights of each token come back.
  std::vector<float> outWeights(from.topkIdx.size() + 1);
  combine.topkWeights = received.topkWeights;
  combine.numTopk = routing.numTopk;
  combine.outWeights = outWeights.data();
  ok(coll_moe_combine(buffer, &combine, again.handle, order));
  wait(r);
  for (size_t i = 0; i < from.topkIdx.size(); ++i)
    EXPECT_EQ(outWeights[i], from.topkIdx[i] >= 0 ? from.topkWeights[i] : 0) << i;
  const auto *rows = reinterpret_cast<const uint16_t *>(from.x.data());
  for (size_t t = 0; t < tokens; ++t)
    for (size_t i = 0; i < static_cast<size_t>(x.hidden); ++i) {
      const size_t at = t * static_cast<size_t>(x.hidden) + i;
      const float row = bf16ToF32(rows[at]);
      const int ranks = isTokenInRank[t * kRanks] + isTokenInRank[t * kRanks + 1];
      ASSERT_EQ(bf16ToF32(out[at]), static_cast<float>(ranks) * row);
    }
  EXPECT_EQ(coll_moe_combine(all_[1 - r].buffer, &combine, again.handle, order), kCollInvalidCall);
  EXPECT_EQ(coll_moe_last_error(), "invalid call: moe buffer of rank " + std::to_string(1 - r) +
                                       ": `handle` is not from a dispatch of this buffer");
  coll_moe_free_handle(received.handle);
  coll_moe_free_handle(again.handle);
}

TEST_F(MoeCTest, BothModesInsideANode) {
  open(8, 1 << 18, nullptr);
  std::minstd_rand random(41);
  const LowLatencyWorld world = lowLatencyWorld(shape_, kRanks, kCollBf16, false, random);
  const auto expected = moeReferenceDispatch(callsOf(world.cases), {}).take();
  beside([&](size_t r, Member &) {
    playLowLatency(r, world, r == 0);
    playNormal(r, world.cases[r], expected[r]);
    const CollMoeShape smaller = {1, 128, 1, kRanks};
    const CollMoeShape first = {shape_.maxTokens, shape_.hidden, shape_.numTopk, shape_.numExperts};
    for (const CollMoeShape &shape : {smaller, first})
      ok(coll_moe_low_latency_clean(all_[r].buffer, &shape, &all_[r].order));
    playLowLatency(r, world, r == 1);
  });
  for (Member &member : all_)
    ok(coll_moe_destroy(member.buffer));
}

#ifdef COLL_HAS_NET
TEST_F(MoeCTest, LowLatencyBetweenNodesOverTcp) {
  open(1, 0, "tcp");
  std::minstd_rand random(42);
  const LowLatencyWorld world = lowLatencyWorld(shape_, kRanks, kCollBf16, false, random);
  beside([&](size_t r, Member &member) {
    playLowLatency(r, world, r == 1);
    EXPECT_EQ(coll_moe_root_net_rank(member.buffer, 1), 0); // its number in a node of one
    char id[kCollMoeNetIdBytes] = {}, none[kCollMoeNetIdBytes] = {};
    ok(coll_moe_local_net_id(member.buffer, id));
    EXPECT_NE(std::memcmp(id, none, sizeof id), 0);
    CollMoeInfo info = {};
    ok(coll_moe_info(member.buffer, &info));
    EXPECT_GT(info.netBytesSent, 0);
  });
}
#endif

TEST_F(MoeCTest, WhatIsWrongIsAnErrorOfTheThread) {
  EXPECT_EQ(coll_test_moe_version_of_c(), coll_moe_version());
  CollMoe *buffer = nullptr;
  CollMoeOptions options = {};
  EXPECT_EQ(coll_moe_create(&options, &buffer), kCollInvalidCall);
  EXPECT_STREQ(coll_moe_last_error(),
               "invalid call: moe buffer of rank 0: `rank` is not one of numRanks, which is 0");
  std::thread([] { EXPECT_STREQ(coll_moe_last_error(), ""); }).join();
  options.transport = "pigeon";
  EXPECT_EQ(coll_moe_create(&options, &buffer), kCollUnsupported);
  options.transport = "tcp";
  options.secret = "short";
#ifdef COLL_HAS_NET
  EXPECT_EQ(coll_moe_create(&options, &buffer), kCollInvalidCall);
#else
  EXPECT_EQ(coll_moe_create(&options, &buffer), kCollUnsupported);
  EXPECT_STREQ(coll_moe_last_error(), "unsupported: moe: this build has no transport \"tcp\"");
#endif
  EXPECT_EQ(coll_moe_create(nullptr, &buffer), kCollInvalidCall);
  EXPECT_EQ(coll_moe_check(nullptr), kCollInvalidCall);
  EXPECT_EQ(coll_moe_sync(nullptr, nullptr, 2), kCollInvalidCall);
  EXPECT_STREQ(coll_moe_last_error(), "invalid call: moe: `buffer` or `cards` is null");
  coll_moe_free(nullptr);
  coll_moe_free_handle(nullptr);
  coll_moe_abort(nullptr);
  open(8, 1 << 18, nullptr);
  const char card[1] = {};
  EXPECT_EQ(coll_moe_sync(all_[0].buffer, card, INT32_MAX), kCollInvalidCall);
  EXPECT_EQ(coll_moe_last_error(),
            "invalid call: moe: 2147483647 cards of " + std::to_string(kRanks) + " ranks");
  CollMoeLowLatencyDispatch dispatch = {};
  dispatch.dtype = 77;
  EXPECT_EQ(coll_moe_low_latency_dispatch(all_[0].buffer, &dispatch, nullptr, nullptr, nullptr),
            kCollInvalidCall);
  const CollMoeLowLatencyRows rows = {};
  EXPECT_EQ(
      coll_moe_low_latency_dispatch(all_[0].buffer, &dispatch, &rows, &all_[0].order, nullptr),
      kCollInvalidCall);
  EXPECT_STREQ(coll_moe_last_error(), "invalid call: moe: there is no type 77");
  void *data = nullptr;
  int64_t numElems = 0;
  EXPECT_EQ(coll_moe_local_buffer(nullptr, kCollF32, 0, 0, &data, &numElems), kCollInvalidCall);
  EXPECT_EQ(coll_moe_local_buffer(all_[0].buffer, kCollF32, 0, 0, nullptr, &numElems),
            kCollInvalidCall);
  EXPECT_EQ(coll_moe_local_buffer(all_[0].buffer, kCollF32, 0, 0, &data, nullptr),
            kCollInvalidCall);
  EXPECT_STREQ(coll_moe_last_error(), "invalid call: moe: `buffer`, `data` or `numElems` is null");
  EXPECT_EQ(coll_moe_root_net_rank(nullptr, 1), -1);
  EXPECT_EQ(coll_moe_root_net_rank(all_[1].buffer, 1), 1);
  char id[kCollMoeNetIdBytes] = {};
  EXPECT_EQ(coll_moe_local_net_id(nullptr, id), kCollInvalidCall);
  EXPECT_EQ(coll_moe_local_net_id(all_[0].buffer, id), kCollUnsupported);
  EXPECT_EQ(coll_moe_local_ipc_handle(all_[0].buffer, nullptr), kCollInvalidCall);
  ok(coll_moe_local_ipc_handle(all_[0].buffer, id));
  EXPECT_EQ(coll_moe_handle_bytes(-1, 2, 4), 0);
  EXPECT_EQ(coll_moe_handle_bytes(1, 0, 4), 0);
  EXPECT_EQ(coll_moe_handle_bytes(1, 2, 3), 0);
  const int64_t expert = 0;
  const CollMoeRouting routing = {&expert, 1, 1, 2};
  int32_t counts[2] = {};
  const CollMoeLayout half = {counts, nullptr, counts, nullptr};
  EXPECT_EQ(coll_moe_dispatch_layout(all_[0].buffer, &routing, &half, &all_[0].order),
            kCollInvalidCall);
  EXPECT_STREQ(coll_moe_last_error(),
               "invalid call: moe buffer of rank 0: moe: `isTokenInRank` of `layout` is null");
  EXPECT_EQ(coll_moe_low_latency_clean(all_[0].buffer, nullptr, &all_[0].order), kCollInvalidCall);
  EXPECT_EQ(coll_moe_low_latency_receive(all_[0].buffer, 3, &all_[0].order), kCollInvalidCall);
  ok(coll_moe_destroy(all_[1].buffer));
  EXPECT_EQ(coll_moe_destroy(all_[1].buffer), kCollInvalidCall);
  EXPECT_EQ(coll_moe_combine_input(all_[1].buffer), nullptr);
  std::vector<char> room(static_cast<size_t>(coll_moe_card_bytes()));
  EXPECT_EQ(coll_moe_card(all_[1].buffer, room.data()), kCollInvalidCall);
  EXPECT_STREQ(coll_moe_last_error(), "invalid call: moe: used after destroy");
  EXPECT_EQ(coll_moe_local_ipc_handle(all_[1].buffer, id), kCollInvalidCall);
  EXPECT_EQ(coll_moe_local_net_id(all_[1].buffer, id), kCollInvalidCall);
  CollMoeInfo info = {};
  ok(coll_moe_info(all_[1].buffer, &info));
  EXPECT_EQ(info.commStream, nullptr);
}

} // namespace
} // namespace coll::rt::test
