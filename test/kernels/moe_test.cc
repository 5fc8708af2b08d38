// The kernels of the token exchange, emulated and on GPUs, against the reference: whole rounds of
// random tokens, then what is wrong: too many tokens, handles that are none, indices that do not
// exist, members that do not come or call something else.

#include "runtime/base/dtype.h"
#include "runtime/kernels/error_word.h"
#include "test/kernels/moe_team.h"
#include "test/kernels/parallel.h"

#include <cstring>
#include <gtest/gtest.h>

namespace coll::kernels::test {
namespace {

using rt::MoeHostReceived;
using rt::test::MoeRankCase;
using rt::test::MoeSizes;

constexpr uint64_t kSecond = 1000000000;

// What one member gives back, and what it then gets.
struct Returned {
  std::vector<uint16_t> rows;
  std::vector<float> rowWeights;
  std::vector<char> bias[2];
  std::vector<uint16_t> out;
  std::vector<float> outWeights;
};

// A round before anything of it is on GPUs.
struct Drawn {
  MoeSizes sizes;
  std::vector<MoeRankCase> world;
  std::vector<MoeHostReceived> received;
  std::vector<Returned> returned;
  MoeShape shape;
  uint32_t combinedBytes = 0;
};

// What one member's calls of a round work on.
struct Member {
  MoeLayoutArgs layout;
  MoeNotifyArgs notify;
  MoeDispatchArgs dispatch;
  MoeCombineArgs combine;
  char *buffer = nullptr;
};

struct Round {
  const Drawn &drawn;
  std::vector<Member> members;
};

class MoeTest : public MoeRigTest {
protected:
  // One at a time.
  MoeTeam team(uint32_t size, uint64_t timeoutNs = 20 * kSecond) {
    rig_->recycle();
    return {*rig_, size, onGpu() ? uint64_t{192} << 20 : uint64_t{3} << 20, timeoutNs};
  }
};

// --- what is drawn, and what the reference makes of it

std::vector<MoeHostReceived> reference(const std::vector<MoeRankCase> &world) {
  rt::MoeDispatchOptions options;
  options.config.numSms = 24;
  options.expertAlignment = 16;
  auto all = moeReferenceDispatch(callsOf(world), options);
  EXPECT_TRUE(all.ok()) << all.status().toString();
  return all.ok() ? all.take() : std::vector<MoeHostReceived>(world.size());
}

Returned drawReturned(const Drawn &drawn, size_t rank, std::minstd_rand &random) {
  Returned member;
  const uint64_t capacity = drawn.shape.capacity;
  const auto elems = static_cast<int64_t>(capacity * drawn.combinedBytes / 2);
  const std::vector<char> bytes = rt::test::randomBf16(elems, random);
  member.rows.resize(static_cast<size_t>(elems));
  if (!bytes.empty())
    std::memcpy(member.rows.data(), bytes.data(), bytes.size());
  member.rowWeights.resize(capacity * static_cast<uint64_t>(drawn.sizes.numTopk));
  for (float &weight : member.rowWeights)
    weight = static_cast<float>(random() % 1000) / 1000;
  const int64_t outElems = drawn.world[rank].routing.numTokens * drawn.combinedBytes / 2;
  for (std::vector<char> &bias : member.bias)
    if (random() % 2)
      bias = rt::test::randomBf16(outElems, random);
  return member;
}

// `spare`: rows of the buffers beyond what comes; less than 0 for too few.
Drawn draw(const MoeSizes &sizes, int spare, std::minstd_rand random) {
  Drawn drawn;
  drawn.sizes = sizes;
  drawn.world = randomMoeCase(sizes, random);
  drawn.received = reference(drawn.world);
  int64_t most = 0;
  for (const MoeHostReceived &received : drawn.received)
    most = std::max(most, received.handle.numRecv);
  drawn.shape.rowBytes = static_cast<uint32_t>(sizes.hidden * rt::dtypeSize(sizes.dtype));
  drawn.shape.numScales = static_cast<uint32_t>(sizes.numScales);
  drawn.shape.numTopk = static_cast<uint32_t>(sizes.numTopk);
  drawn.shape.numExperts = static_cast<uint32_t>(sizes.numExperts);
  drawn.shape.capacity = static_cast<uint32_t>(std::max<int64_t>(0, most + spare));
  drawn.combinedBytes = static_cast<uint32_t>(sizes.hidden * 2);
  for (size_t i = 0; i < drawn.world.size(); ++i)
    drawn.returned.push_back(drawReturned(drawn, i, random));
  return drawn;
}

// What combine makes of a round.
void sumUp(Drawn &drawn) {
  std::vector<rt::MoeCombine> calls(drawn.world.size());
  std::vector<rt::MoeHostHandle> handles;
  for (size_t i = 0; i < calls.size(); ++i) {
    Returned &member = drawn.returned[i];
    const auto numTokens = static_cast<size_t>(drawn.world[i].routing.numTokens);
    handles.push_back(drawn.received[i].handle);
    rt::MoeCombine &call = calls[i];
    call.numTopk = drawn.sizes.hasWeights ? drawn.sizes.numTopk : 0;
    member.out.resize(numTokens * drawn.combinedBytes / 2);
    member.outWeights.resize(numTokens * static_cast<size_t>(call.numTopk));
    call.x = member.rows.data();
    call.numRows = drawn.shape.capacity;
    call.hidden = drawn.combinedBytes / 2;
    call.topkWeights = call.numTopk ? member.rowWeights.data() : nullptr;
    for (int b = 0; b < 2; ++b)
      call.bias[b] = member.bias[b].empty() ? nullptr : member.bias[b].data();
    call.out = member.out.data();
    call.outWeights = call.numTopk ? member.outWeights.data() : nullptr;
  }
  const rt::Status status = moeReferenceCombine(calls, handles);
  EXPECT_TRUE(status.ok()) << status.toString();
}

// --- a round's memory and calls

void putTokens(MoeTeam &team, uint32_t i, Round &round) {
  const MoeRankCase &rank = round.drawn.world[i];
  const MoeShape &shape = round.drawn.shape;
  Member &member = round.members[i];
  MoeLayoutArgs &layout = member.layout;
  layout.topkIdx = team.put(i, rank.topkIdx);
  layout.numTokens = static_cast<uint32_t>(rank.routing.numTokens);
  layout.numTopk = static_cast<uint32_t>(rank.routing.numTopk);
  layout.numExperts = static_cast<uint32_t>(rank.routing.numExperts);
  layout.numRanks = team.size();
  layout.tokensPerRank = team.room<int32_t>(i, team.size());
  layout.tokensPerExpert = team.room<int32_t>(i, layout.numExperts);
  layout.isTokenInRank = team.room<uint8_t>(i, uint64_t{layout.numTokens} * team.size());
  layout.error = &team.group(i).control->error;

  MoeNotifyArgs &notify = member.notify;
  notify.tokensPerRank = layout.tokensPerRank;
  notify.tokensPerExpert = layout.tokensPerExpert;
  notify.isTokenInRank = layout.isTokenInRank;
  notify.numTokens = layout.numTokens;
  notify.numExperts = layout.numExperts;
  notify.numChannels = 12;
  notify.expertAlignment = 16;
  notify.capacity = shape.capacity;
  notify.rankPrefix = team.room<int32_t>(i, uint64_t{team.size()} * team.size());
  notify.channelPrefix = team.room<int32_t>(i, uint64_t{team.size()} * notify.numChannels);
  notify.sendHead = team.room<int32_t>(i, uint64_t{layout.numTokens} * team.size());
  notify.counters = team.counters(i);
  std::memset(notify.counters, -1, sizeof(MoeCounters));

  MoeDispatchArgs &dispatch = member.dispatch;
  dispatch.shape = shape;
  dispatch.numTokens = layout.numTokens;
  dispatch.x = team.put(i, rank.x);
  dispatch.topkIdx = layout.topkIdx;
  dispatch.topkWeights = rank.tokens.topkWeights ? team.put(i, rank.topkWeights) : nullptr;
  dispatch.scales = rank.tokens.numScales ? team.put(i, rank.scales) : nullptr;
  dispatch.scaleTokenStride = rank.tokens.scaleTokenStride;
  dispatch.scaleStride = rank.tokens.scaleStride;
  dispatch.rankPrefix = notify.rankPrefix;
  dispatch.sendHead = notify.sendHead;
}

void putRows(MoeTeam &team, uint32_t i, Round &round) {
  Member &member = round.members[i];
  const Drawn &drawn = round.drawn;
  const Returned &returned = drawn.returned[i];
  MoeCombineArgs &combine = member.combine;
  combine.rowBytes = drawn.combinedBytes;
  combine.numTopk = drawn.sizes.hasWeights ? static_cast<uint32_t>(drawn.sizes.numTopk) : 0;
  combine.capacity = drawn.shape.capacity;
  combine.numTokens = member.layout.numTokens;
  combine.rankPrefix = member.notify.rankPrefix;
  combine.sendHead = member.notify.sendHead;
  combine.rows[i] = reinterpret_cast<char *>(team.put(i, returned.rows));
  combine.topkWeights[i] = team.put(i, returned.rowWeights);
  for (int b = 0; b < 2; ++b)
    if (!returned.bias[b].empty())
      combine.bias[b] = team.put(i, returned.bias[b]);
  combine.out = team.room<uint16_t>(i, uint64_t{combine.numTokens} * drawn.combinedBytes / 2);
  combine.outWeights =
      team.room<float>(i, uint64_t{combine.numTokens} * static_cast<uint64_t>(drawn.sizes.numTopk));
}

MoeGrid randomGrid(MoeTeam &team, std::minstd_rand &random) {
  if (team.rig().isEmulated())
    return {1 + static_cast<uint32_t>(random() % 2),
            32 * (1 + static_cast<uint32_t>(random() % 2))};
  // A block has a multiprocessor to itself.
  const uint32_t most = team.rig().maxBlocks(team.size());
  return {1 + static_cast<uint32_t>(random() % std::min<uint32_t>(most / 2, 32)),
          32 * (1 + static_cast<uint32_t>(random() % 8))};
}

Round makeRound(MoeTeam &team, const Drawn &drawn, std::minstd_rand &random) {
  Round round = {drawn, std::vector<Member>(team.size())};
  team.clear();
  const uint64_t buffers = team.take(moeArea(drawn.shape).bytes);
  const MoeGrid moved = randomGrid(team, random), combined = randomGrid(team, random);
  for (uint32_t i = 0; i < team.size(); ++i) {
    putTokens(team, i, round);
    putRows(team, i, round);
    round.members[i].buffer = team.at(i, buffers);
    round.members[i].dispatch.grid = moved;
    round.members[i].combine.grid = combined;
  }
  for (Member &member : round.members)
    for (uint32_t i = 0; i < team.size(); ++i) {
      member.dispatch.buffers[i] = round.members[i].buffer;
      member.combine.rows[i] = round.members[i].combine.rows[i];
      member.combine.topkWeights[i] = round.members[i].combine.topkWeights[i];
    }
  return round;
}

std::vector<std::vector<MoeLaunch>> launchesOf(const Round &round, bool twice) {
  std::vector<std::vector<MoeLaunch>> launches;
  for (const Member &member : round.members) {
    launches.push_back({member.layout, member.notify, member.dispatch});
    if (twice) {
      MoeDispatchArgs again = member.dispatch;
      again.topkIdx = nullptr;
      launches.back().push_back(again);
    }
    launches.back().push_back(member.combine);
  }
  return launches;
}

// --- what has to come out

template <typename T>
void expectEqual(MoeTeam &team, const char *what, const void *got, const std::vector<T> &expected) {
  EXPECT_EQ(team.get<T>(got, expected.size()), expected) << what;
}

void expectPlaces(MoeTeam &team, const Round &round, uint32_t i) {
  const Member &member = round.members[i];
  const MoeHostReceived &expected = round.drawn.received[i];
  const auto layout =
      moeReferenceLayout(round.drawn.world[i].routing, static_cast<int>(team.size())).take();
  expectEqual(team, "tokensPerRank", member.layout.tokensPerRank, layout.tokensPerRank);
  expectEqual(team, "tokensPerExpert", member.layout.tokensPerExpert, layout.tokensPerExpert);
  expectEqual(team, "isTokenInRank", member.layout.isTokenInRank, layout.isTokenInRank);
  expectEqual(team, "rankPrefix", member.notify.rankPrefix, expected.handle.rankPrefix);
  expectEqual(team, "channelPrefix", member.notify.channelPrefix, expected.handle.channelPrefix);
  expectEqual(team, "sendHead", member.notify.sendHead, expected.handle.sendHead);
  EXPECT_EQ(member.notify.counters->received, expected.handle.numRecv);
  const int32_t *perExpert = member.notify.counters->perExpert;
  EXPECT_EQ(std::vector<int32_t>(perExpert, perExpert + expected.tokensPerExpert.size()),
            expected.tokensPerExpert);
}

void expectRows(MoeTeam &team, const Round &round, uint32_t i) {
  const MoeHostReceived &expected = round.drawn.received[i];
  const char *buffer = round.members[i].buffer;
  const MoeArea area = moeArea(round.drawn.shape);
  expectEqual(team, "x", buffer + area.rows, expected.x);
  expectEqual(team, "scales", buffer + area.scales, expected.scales);
  expectEqual(team, "topkIdx", buffer + area.topkIdx, expected.topkIdx);
  expectEqual(team, "topkWeights", buffer + area.topkWeights, expected.topkWeights);
  expectEqual(team, "sourceIdx", buffer + area.sourceIdx, expected.handle.recvSourceIdx);
  // Nothing beyond.
  const uint64_t used = expected.x.size();
  const std::vector<char> beyond = team.get<char>(buffer + area.rows + used, area.scales - used);
  EXPECT_EQ(std::count(beyond.begin(), beyond.end(), 0x5a), static_cast<long>(beyond.size()));
}

void runRound(MoeTeam &team, const Drawn &drawn, std::minstd_rand &random) {
  const Round round = makeRound(team, drawn, random);
  const rt::Status status = team.run(launchesOf(round, random() % 2), random());
  ASSERT_TRUE(status.ok()) << status.toString();
  for (uint32_t i = 0; i < team.size(); ++i) {
    SCOPED_TRACE("member " + std::to_string(i));
    ASSERT_EQ(team.error(i), 0u) << describeErrorWord(team.error(i));
    expectPlaces(team, round, i);
    expectRows(team, round, i);
    expectEqual(team, "out", round.members[i].combine.out, drawn.returned[i].out);
    expectEqual(team, "outWeights", round.members[i].combine.outWeights,
                drawn.returned[i].outWeights);
  }
}

// What rounds of one team are about: drawn by all of the host's threads, run one by one.
void runRounds(MoeTeam &team, const std::vector<MoeSizes> &rounds, std::minstd_rand &random) {
  const uint32_t threads = team.rig().hostThreads();
  const size_t batch = 2 * size_t{threads};
  for (size_t first = 0; first < rounds.size(); first += batch) {
    std::vector<Drawn> drawn(std::min(batch, rounds.size() - first));
    const uint32_t seed = static_cast<uint32_t>(random());
    forEach(drawn.size(), threads, [&](size_t i) {
      std::minstd_rand own(seed + static_cast<uint32_t>(i));
      own.discard(8);
      drawn[i] = draw(rounds[first + i], static_cast<int>(own() % 4), own);
      sumUp(drawn[i]);
    });
    for (size_t i = 0; i < drawn.size(); ++i) {
      SCOPED_TRACE(std::to_string(team.size()) + " members, round " + std::to_string(first + i));
      runRound(team, drawn[i], random);
      if (testing::Test::HasFailure())
        return;
    }
  }
}

// Thousands of tokens, of rows that are short where these are many.
MoeSizes largeMoeSizes(std::minstd_rand &random) {
  constexpr uint32_t kElems = 1 << 20, kMostHidden = 7168; // of a member
  MoeSizes sizes = rt::test::randomMoeSizes(random, 0);
  sizes.maxTokens = 128 + static_cast<int64_t>(random() % (8192 - 127));
  const uint32_t most = std::min(kMostHidden, kElems / static_cast<uint32_t>(sizes.maxTokens));
  sizes.hidden = 16 * (1 + static_cast<int64_t>(random() % (most / 16)));
  sizes.numScales = sizes.numScales ? sizes.hidden / 128 : 0;
  return sizes;
}

// Four thousand on GPUs, of which a few are large.
TEST_P(MoeTest, RandomRoundsAreThoseOfTheReference) {
  std::minstd_rand random(7);
  const int rounds = onGpu() ? (slow_ ? 2 : 512) : 8, large = onGpu() && !slow_ ? 8 : 0;
  for (uint32_t size = 1; size <= kMaxPeers && !HasFailure(); ++size) {
    // Members that share a GPU do not run beside each other under a tool.
    if (slow_ && size > 1)
      break;
    MoeTeam members = team(size);
    std::vector<MoeSizes> all;
    for (int i = 0; i < rounds; ++i) {
      all.push_back(i < large ? largeMoeSizes(random)
                              : rt::test::randomMoeSizes(random, onGpu() ? 400 : 50));
      MoeSizes &sizes = all.back();
      sizes.numExperts = sizes.numExperts / sizes.numRanks * static_cast<int>(size);
      sizes.numRanks = static_cast<int>(size);
    }
    runRounds(members, all, random);
  }
}

// Rows of many pieces, and of pieces that do not divide them.
TEST_P(MoeTest, LongRows) {
  std::minstd_rand random(8);
  for (int64_t hidden : {2048, 2056, 7168, 16392}) {
    MoeTeam members = team(slow_ ? 1 : 3);
    MoeSizes sizes;
    sizes.numRanks = static_cast<int>(members.size());
    sizes.numExperts = 6 * sizes.numRanks;
    sizes.numTopk = 4;
    sizes.maxTokens = onGpu() ? 200 : 9;
    sizes.hidden = hidden;
    SCOPED_TRACE(hidden);
    runRounds(members, {sizes}, random);
  }
}

MoeSizes plainSizes(uint32_t size) {
  MoeSizes sizes;
  sizes.numRanks = static_cast<int>(size);
  sizes.numExperts = 4 * sizes.numRanks;
  sizes.numTopk = 3;
  sizes.maxTokens = 40;
  sizes.hidden = 64;
  return sizes;
}

Drawn drawPlain(const MoeTeam &team, int spare, uint32_t seed) {
  return draw(plainSizes(team.size()), spare, std::minstd_rand(seed));
}
Round plainRound(MoeTeam &team, const Drawn &drawn) {
  std::minstd_rand random(1);
  return makeRound(team, drawn, random);
}

TEST_P(MoeTest, TooManyTokensAreAnErrorOnAllMembers) {
  if (slow_)
    return;
  MoeTeam members = team(3);
  const Drawn drawn = drawPlain(members, -1, 3);
  const Round round = plainRound(members, drawn);
  ASSERT_TRUE(members.run(launchesOf(round, false), 1).ok());
  for (uint32_t i = 0; i < members.size(); ++i) {
    EXPECT_NE(describeErrorWord(members.error(i)).find("than its buffer holds"), std::string::npos)
        << describeErrorWord(members.error(i));
    const std::vector<char> rows = members.get<char>(round.members[i].buffer, 1024);
    EXPECT_EQ(std::count(rows.begin(), rows.end(), 0x5a), 1024);
    EXPECT_EQ(round.members[i].notify.counters->received, -1);
  }
}

// Handles of nowhere: junk where the prefix matrix and the places should be.
TEST_P(MoeTest, WrongHandlesTouchNothingOutside) {
  MoeTeam members = team(slow_ ? 1 : 2);
  const Drawn drawn = drawPlain(members, 2, 4);
  Round round = plainRound(members, drawn);
  std::vector<std::vector<MoeLaunch>> launches;
  for (uint32_t i = 0; i < members.size(); ++i) {
    Member &member = round.members[i];
    std::vector<int32_t> heads(uint64_t{member.layout.numTokens} * members.size());
    for (size_t h = 0; h < heads.size(); ++h)
      heads[h] = static_cast<int32_t>(h * 0x01234567u) * (h % 3 ? 1 : -1);
    member.dispatch.sendHead = member.combine.sendHead = members.put(i, heads);
    launches.push_back({member.layout, member.notify, member.dispatch, member.combine});
  }
  ASSERT_TRUE(members.run(launches, 1).ok());
  const MoeArea area = moeArea(drawn.shape);
  for (uint32_t i = 0; i < members.size(); ++i) {
    EXPECT_EQ(members.error(i), 0u) << describeErrorWord(members.error(i));
    const uint64_t end = area.sourceIdx + uint64_t{drawn.shape.capacity} * 4;
    const std::vector<char> beyond =
        members.get<char>(round.members[i].buffer + end, area.bytes - end);
    EXPECT_EQ(std::count(beyond.begin(), beyond.end(), 0x5a), static_cast<long>(beyond.size()));
  }
}

TEST_P(MoeTest, IndicesThatDoNotExistAreReportedAndGoNowhere) {
  MoeTeam members = team(1);
  for (int64_t wrong : {int64_t{4}, int64_t{-2}, INT64_MAX, INT64_MIN, int64_t{1}}) {
    const std::vector<int64_t> topk = {0, 1, 2, 3, 1, wrong, -1, -1};
    members.clear();
    members.reset();
    MoeLayoutArgs layout;
    layout.topkIdx = members.put(0, topk);
    layout.numTokens = 4;
    layout.numTopk = 2;
    layout.numExperts = 4;
    layout.tokensPerRank = members.room<int32_t>(0, 1);
    layout.tokensPerExpert = members.room<int32_t>(0, 4);
    layout.isTokenInRank = members.room<uint8_t>(0, 4);
    layout.error = &members.group(0).control->error;
    ASSERT_TRUE(members.run({{layout}}, 1).ok());
    EXPECT_EQ(members.error(0), errorWord(KernelError::MoeIndex, 2));
    expectEqual(members, "tokensPerExpert", layout.tokensPerExpert,
                std::vector<int32_t>{1, wrong == 1 ? 3 : 2, 1, 1});
    expectEqual(members, "isTokenInRank", layout.isTokenInRank, std::vector<uint8_t>{1, 1, 1, 0});
  }
}

// More than the kernel stages at a time.
TEST_P(MoeTest, LayoutsOfManyTokens) {
  std::minstd_rand random(10);
  for (int numTopk : {1, 8, 32}) {
    MoeTeam members = team(1);
    MoeSizes sizes;
    sizes.numRanks = 4;
    sizes.numExperts = 44;
    sizes.numTopk = numTopk;
    sizes.maxTokens = onGpu() ? 20000 : 1200;
    const std::vector<MoeRankCase> world = randomMoeCase(sizes, random);
    const MoeRankCase &rank = world[3];
    MoeLayoutArgs args;
    args.topkIdx = members.put(0, rank.topkIdx);
    args.numTokens = static_cast<uint32_t>(rank.routing.numTokens);
    args.numTopk = static_cast<uint32_t>(numTopk);
    args.numExperts = 44;
    args.numRanks = 4;
    args.tokensPerRank = members.room<int32_t>(0, 4);
    args.tokensPerExpert = members.room<int32_t>(0, 44);
    args.isTokenInRank = members.room<uint8_t>(0, uint64_t{args.numTokens} * 4);
    args.error = &members.group(0).control->error;
    ASSERT_TRUE(members.run({{args}}, 1).ok());
    EXPECT_EQ(members.error(0), 0u) << describeErrorWord(members.error(0));
    const auto expected = moeReferenceLayout(rank.routing, 4).take();
    expectEqual(members, "tokensPerRank", args.tokensPerRank, expected.tokensPerRank);
    expectEqual(members, "tokensPerExpert", args.tokensPerExpert, expected.tokensPerExpert);
    expectEqual(members, "isTokenInRank", args.isTokenInRank, expected.isTokenInRank);
  }
}

TEST_P(MoeTest, MembersThatCallSomethingElseAreFound) {
  if (slow_)
    return;
  MoeTeam members = team(2, kSecond);
  const Drawn drawn = drawPlain(members, 1, 5);
  const Round round = plainRound(members, drawn);
  auto launches = launchesOf(round, false);
  std::get<MoeDispatchArgs>(launches[1][2]).shape.rowBytes /= 2;
  ASSERT_TRUE(members.run(launches, 1).ok());
  // Who finds it says so; the other may hear of the failure first.
  const std::string errors =
      describeErrorWord(members.error(0)) + describeErrorWord(members.error(1));
  EXPECT_NE(errors.find("makes another call"), std::string::npos) << errors;
  EXPECT_NE(members.error(0), 0u);
  EXPECT_NE(members.error(1), 0u);
}

TEST_P(MoeTest, AMemberThatDoesNotComeEndsTheOthers) {
  if (slow_)
    return;
  for (size_t kept : {0u, 1u, 2u, 3u}) {
    MoeTeam members = team(3, kSecond / 5);
    const Drawn drawn = drawPlain(members, 1, 6);
    const Round round = plainRound(members, drawn);
    auto launches = launchesOf(round, false);
    launches[1].resize(kept);
    ASSERT_TRUE(members.run(launches, 1).ok());
    const std::string errors =
        describeErrorWord(members.error(0)) + "; " + describeErrorWord(members.error(2));
    EXPECT_NE(errors.find("member 1 of the group, or its data, did not come"), std::string::npos)
        << errors;
    EXPECT_NE(members.error(0), 0u);
    EXPECT_NE(members.error(2), 0u);
  }
}

TEST_P(MoeTest, AreasHoldWhatTheyPromise) {
  std::minstd_rand random(9);
  for (int i = 0; i < 1000; ++i) {
    MoeShape shape;
    shape.rowBytes = 16 * (1 + static_cast<uint32_t>(random() % 100));
    shape.numScales = static_cast<uint32_t>(random() % 3);
    shape.numTopk = static_cast<uint32_t>(random() % 16);
    const uint64_t bytes = random() % 1000000;
    shape.capacity = moeCapacity(shape, bytes);
    if (shape.capacity > 0) {
      EXPECT_LE(moeArea(shape).bytes, bytes);
    }
    shape.capacity += 130;
    EXPECT_GT(moeArea(shape).bytes, bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(host, MoeTest, testing::Values("host"));
INSTANTIATE_TEST_SUITE_P(cuda, MoeTest, testing::Values("cuda"));

} // namespace
} // namespace coll::kernels::test
