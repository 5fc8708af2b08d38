// The kernels of the token exchange, emulated and on GPUs, compared with the reference: whole
// rounds of random tokens, then faults: too many tokens, invalid handles, indices that do not
// exist, members that are missing or call something else.

#include "runtime/kernels/moe/index_word.h"
#include "test/kernels/moe/moe_round.h"
#include "test/kernels/parallel.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace coll::kernels::test {
namespace {

using rt::test::MoeRankCase;
using rt::test::MoeSizes;

constexpr uint64_t kSecond = 1000000000;

class MoeTest : public MoeRigTest {
protected:
  // Only one team may exist at a time.
  MoeTeam team(uint32_t size, uint64_t timeoutNs = 20 * kSecond) {
    rig_->recycle();
    return {*rig_, size, onGpu() ? uint64_t{192} << 20 : uint64_t{3} << 20, timeoutNs};
  }
};

void runRound(MoeTeam &team, const MoeDrawn &drawn, std::minstd_rand &random) {
  const MoeRound round = makeRound(team, drawn, random);
  const rt::Status status = team.run(launchesOf(round, random() % 2), random());
  ASSERT_TRUE(status.ok()) << status.toString();
  expectRound(team, round);
}

// Draws the rounds of one team on all of the host's threads, and runs them one by one.
void runRounds(MoeTeam &team, const std::vector<MoeSizes> &rounds, std::minstd_rand &random) {
  const uint32_t threads = team.rig().hostThreads();
  const size_t batch = 2 * size_t{threads};
  for (size_t first = 0; first < rounds.size(); first += batch) {
    std::vector<MoeDrawn> drawn(std::min(batch, rounds.size() - first));
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

// Thousands of tokens; the more tokens, the shorter the rows.
MoeSizes largeMoeSizes(std::minstd_rand &random) {
  constexpr uint32_t kElems = 1 << 20, kMostHidden = 7168; // of a member
  MoeSizes sizes = rt::test::randomMoeSizes(random, 0);
  sizes.maxTokens = 128 + static_cast<int64_t>(random() % (8192 - 127));
  const uint32_t most = std::min(kMostHidden, kElems / static_cast<uint32_t>(sizes.maxTokens));
  sizes.hidden = 16 * (1 + static_cast<int64_t>(random() % (most / 16)));
  sizes.numScales = sizes.numScales ? sizes.hidden / 128 : 0;
  return sizes;
}

// Four thousand rounds on GPUs, a few of which are large.
TEST_P(MoeTest, RandomRoundsAreThoseOfTheReference) {
  std::minstd_rand random(7);
  const int rounds = onGpu() ? (slow_ ? 2 : 320) : 8, large = onGpu() && !slow_ ? 8 : 0;
  for (uint32_t size = 1; size <= kMaxPeers && !HasFailure(); ++size) {
    // Under a tool, members that share a GPU do not run concurrently.
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

// Rows of many pieces, and rows whose length is not a multiple of a piece.
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

MoeDrawn drawPlain(const MoeTeam &team, int spare, uint32_t seed) {
  return draw(plainSizes(team.size()), spare, std::minstd_rand(seed));
}
MoeRound plainRound(MoeTeam &team, const MoeDrawn &drawn) {
  std::minstd_rand random(1);
  return makeRound(team, drawn, random);
}

TEST_P(MoeTest, TooManyTokensAreAnErrorOnAllMembers) {
  if (slow_)
    return;
  MoeTeam members = team(3);
  const MoeDrawn drawn = drawPlain(members, -1, 3);
  const MoeRound round = plainRound(members, drawn);
  ASSERT_TRUE(members.run(launchesOf(round, false), 1).ok());
  // A member that hears of another's failure first says that.
  int numReasons = 0;
  for (uint32_t i = 0; i < members.size(); ++i) {
    const std::string error = describeErrorWord(members.error(i));
    const bool isReason = error.find("than its buffer holds") != std::string::npos;
    numReasons += isReason;
    EXPECT_TRUE(isReason || error.find("of the group has failed") != std::string::npos) << error;
    const std::vector<char> rows = members.get<char>(round.members[i].buffer, 1024);
    EXPECT_EQ(std::count(rows.begin(), rows.end(), 0x5a), 1024);
    EXPECT_EQ(round.members[i].notify.counters->received, -1);
  }
  EXPECT_GT(numReasons, 0);
}

// Invalid handles: the prefix matrix and the places are junk.
TEST_P(MoeTest, WrongHandlesTouchNothingOutside) {
  MoeTeam members = team(slow_ ? 1 : 2);
  const MoeDrawn drawn = drawPlain(members, 2, 4);
  MoeRound round = plainRound(members, drawn);
  std::vector<std::vector<MoeLaunch>> launches;
  for (uint32_t i = 0; i < members.size(); ++i) {
    MoeMember &member = round.members[i];
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
    EXPECT_EQ(members.error(0), moeIndexWord(2, 1));
    expectEqual(members, "tokensPerExpert", layout.tokensPerExpert,
                std::vector<int32_t>{1, wrong == 1 ? 3 : 2, 1, 1});
    expectEqual(members, "isTokenInRank", layout.isTokenInRank, std::vector<uint8_t>{1, 1, 1, 0});
  }
}

// More tokens than the kernel stages at a time.
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
  const MoeDrawn drawn = drawPlain(members, 1, 5);
  const MoeRound round = plainRound(members, drawn);
  auto launches = launchesOf(round, false);
  std::get<MoeDispatchArgs>(launches[1][2]).shape.rowBytes /= 2;
  ASSERT_TRUE(members.run(launches, 1).ok());
  expectFailure(members, {0, 1}, "makes another call");
}

TEST_P(MoeTest, AMemberThatDoesNotComeEndsTheOthers) {
  if (slow_)
    return;
  for (size_t kept : {0u, 1u, 2u, 3u}) {
    MoeTeam members = team(3, kSecond / 5);
    const MoeDrawn drawn = drawPlain(members, 1, 6);
    const MoeRound round = plainRound(members, drawn);
    auto launches = launchesOf(round, false);
    launches[1].resize(kept);
    ASSERT_TRUE(members.run(launches, 1).ok());
    expectFailure(members, {0, 2}, "member 1 of the group, or its data, did not arrive");
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
