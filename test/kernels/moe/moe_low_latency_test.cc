// The kernels of the low-latency exchange, emulated and on GPUs, compared with the reference:
// rounds in a row, in one launch or two for each call, with late members; then faults.

#include "runtime/kernels/moe/index_word.h"
#include "test/kernels/moe/moe_low_latency_round.h"
#include "test/kernels/parallel.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>

namespace coll::kernels::test {
namespace {

using rt::MoeLowLatencyShape;
using rt::test::MoeRankCase;

constexpr uint64_t kSecond = 1000000000;
// The bytes of rows in a buffer. The large number is for GPUs.
constexpr uint64_t kPlaceBytes = uint64_t{192} << 10, kLargePlaceBytes = uint64_t{4} << 20;

class LowLatencyTest : public MoeRigTest {
protected:
  // Only one team may exist at a time.
  MoeTeam team(uint32_t size, uint64_t timeoutNs = 20 * kSecond) {
    rig_->recycle();
    const uint64_t bytes = onGpu() ? uint64_t{96} << 20 : uint64_t{5} << 20;
    return {*rig_, size, bytes, timeoutNs};
  }
};

MoeLowLatencyShape randomShape(uint32_t size, std::minstd_rand &random) {
  MoeLowLatencyShape shape;
  shape.hidden = 128 * (1 + static_cast<int64_t>(random() % 5));
  shape.numExperts = static_cast<int>(size * (1 + random() % 5));
  shape.numTopk = 1 + static_cast<int>(random() % 16);
  const int64_t most = static_cast<int64_t>(kPlaceBytes) / (shape.hidden * 2 * shape.numExperts);
  shape.maxTokens = 1 + static_cast<int64_t>(random() % 128);
  shape.maxTokens = std::min(shape.maxTokens, most);
  return shape;
}
// Rows of up to 7,168 values, or up to 1,024 tokens.
MoeLowLatencyShape largeShape(uint32_t size, std::minstd_rand &random) {
  MoeLowLatencyShape shape;
  shape.hidden = 128 * (1 + static_cast<int64_t>(random() % (random() % 2 ? 56 : 2)));
  shape.numExperts = static_cast<int>(size * (1 + random() % 8));
  shape.numTopk = 1 + static_cast<int>(random() % 16);
  const auto row =
      static_cast<uint64_t>(shape.hidden * 2 * std::max(shape.numExperts, shape.numTopk));
  shape.maxTokens = std::min<int64_t>(1024, static_cast<int64_t>(kLargePlaceBytes / row));
  return shape;
}

// Three rounds in a row.
struct World {
  MoeLowLatencyShape shape;
  std::array<LowLatencyDrawn, 3> drawn;
  std::array<LowLatencyExpected, 3> expected;
};

void runWorld(MoeTeam &team, World &world, std::minstd_rand &random) {
  team.clear();
  const LowLatencyBuffers buffers = makeBuffers(team, world.shape);
  std::vector<LowLatencyRound> rounds;
  std::vector<std::vector<MoeLaunch>> launches(team.size());
  for (uint32_t n = 0; n < world.drawn.size(); ++n) {
    rounds.push_back(makeRound(team, world.shape, buffers, n, std::move(world.drawn[n]), random));
    for (uint32_t i = 0; i < team.size(); ++i) {
      append(launches[i], rounds[n].dispatch[i], random() % 2);
      append(launches[i], rounds[n].combine[i], random() % 2);
    }
  }
  const rt::Status status = team.run(launches, random());
  ASSERT_TRUE(status.ok()) << status.toString();
  for (size_t n = 0; n < rounds.size(); ++n)
    expectRound(team, rounds[n], world.shape, world.expected[n]);
}

// Draws the rounds of these shapes on all of the host's threads, and runs them one by one.
void runWorlds(MoeTeam &team, const std::vector<MoeLowLatencyShape> &shapes,
               std::minstd_rand &random) {
  const uint32_t threads = team.rig().hostThreads();
  const size_t batch = threads;
  for (size_t first = 0; first < shapes.size(); first += batch) {
    std::vector<World> worlds(std::min(batch, shapes.size() - first));
    const auto seed = static_cast<uint32_t>(random());
    forEach(3 * worlds.size(), threads, [&](size_t i) {
      std::minstd_rand own(seed + static_cast<uint32_t>(i));
      own.discard(8);
      World &world = worlds[i / 3];
      const MoeLowLatencyShape &shape = shapes[first + i / 3];
      world.drawn[i % 3] = draw(shape, team.size(), own);
      world.expected[i % 3] = expect(world.drawn[i % 3], shape);
    });
    for (size_t w = 0; w < worlds.size(); ++w) {
      SCOPED_TRACE(std::to_string(team.size()) + " members, world " + std::to_string(first + w));
      worlds[w].shape = shapes[first + w];
      runWorld(team, worlds[w], random);
      if (testing::Test::HasFailure())
        return;
    }
  }
}

// Four thousand rounds on GPUs, a few of which are large.
TEST_P(LowLatencyTest, RoundsInARowAreThoseOfTheReference) {
  std::minstd_rand random(11);
  const int worlds = onGpu() ? (slow_ ? 2 : 168) : 3, large = onGpu() && !slow_ ? 8 : 0;
  for (uint32_t size = 1; size <= kMaxPeers && !HasFailure(); ++size) {
    // Under a tool, members that share a GPU do not run concurrently.
    if (slow_ && size > 1)
      break;
    MoeTeam members = team(size);
    std::vector<MoeLowLatencyShape> shapes;
    for (int w = 0; w < worlds; ++w)
      shapes.push_back(w < large ? largeShape(size, random) : randomShape(size, random));
    runWorlds(members, shapes, random);
  }
}

// A shape that all members agree on, with three rounds.
struct Plain {
  MoeLowLatencyShape shape;
  std::vector<LowLatencyRound> rounds;
};
Plain plainRounds(MoeTeam &team, uint32_t seed) {
  std::minstd_rand random(seed);
  Plain plain;
  plain.shape.maxTokens = 20;
  plain.shape.hidden = 256;
  plain.shape.numTopk = 4;
  plain.shape.numExperts = static_cast<int>(2 * team.size());
  const LowLatencyBuffers buffers = makeBuffers(team, plain.shape);
  for (uint32_t n = 0; n < 3; ++n)
    plain.rounds.push_back(
        makeRound(team, plain.shape, buffers, n, draw(plain.shape, team.size(), random), random));
  return plain;
}

// Keeps a member busy.
MoeLayoutArgs somethingElse(MoeTeam &team, uint32_t member) {
  MoeLayoutArgs layout;
  layout.topkIdx = team.put(member, std::vector<int64_t>(64, -1));
  layout.numTokens = 64;
  layout.threads = 32; // there is room for them beside any other kernel
  layout.tokensPerRank = team.room<int32_t>(member, 1);
  layout.tokensPerExpert = team.room<int32_t>(member, 1);
  layout.isTokenInRank = team.room<uint8_t>(member, 64);
  layout.error = &team.group(member).control->error;
  return layout;
}

// Two concurrent batches: both are sent before either is received.
TEST_P(LowLatencyTest, TwoCallsMayBeUnderWay) {
  if (slow_)
    return;
  for (uint32_t seed = 0; seed < 4; ++seed) {
    // On a busy machine the emulated members that wait delay the one that does something else.
    MoeTeam members = team(3, 120 * kSecond);
    Plain plain = plainRounds(members, seed);
    std::vector<std::vector<MoeLaunch>> launches(members.size());
    const auto add = [&](uint32_t i, auto args, uint32_t buffer, uint32_t phase) {
      for (uint32_t m = 0; m < members.size(); ++m)
        args.call.buffers[m] = plain.rounds[0].dispatch[i].call.buffers[m];
      if (buffer == 1)
        for (uint32_t m = 0; m < members.size(); ++m)
          args.call.buffers[m] = plain.rounds[0].combine[i].call.buffers[m];
      args.call.phases = phase;
      launches[i].push_back(args);
    };
    for (uint32_t i = 0; i < members.size(); ++i)
      for (const auto phase : {kLowLatencySend, kLowLatencyReceive}) {
        add(i, plain.rounds[0].dispatch[i], 0, phase);
        add(i, plain.rounds[1].dispatch[i], 1, phase);
        // Otherwise the others could send the next data to memory that this one has not read.
        if (i == seed % 4 && phase == kLowLatencySend)
          launches[i].insert(launches[i].end(), 150, somethingElse(members, i));
      }
    for (uint32_t i = 0; i < members.size(); ++i)
      for (const auto phase : {kLowLatencySend, kLowLatencyReceive}) {
        add(i, plain.rounds[0].combine[i], 0, phase);
        add(i, plain.rounds[1].combine[i], 1, phase);
      }
    ASSERT_TRUE(members.run(launches, seed + 1).ok());
    expectRound(members, plain.rounds[0], plain.shape);
    expectRound(members, plain.rounds[1], plain.shape);
  }
}

std::vector<std::vector<MoeLaunch>> launchesOf(const Plain &plain, uint32_t size) {
  std::vector<std::vector<MoeLaunch>> launches(size);
  for (const LowLatencyRound &round : plain.rounds)
    for (uint32_t i = 0; i < size; ++i) {
      append(launches[i], round.dispatch[i], true);
      append(launches[i], round.combine[i], true);
    }
  return launches;
}

TEST_P(LowLatencyTest, AMemberThatDoesNotComeEndsTheOthers) {
  if (slow_)
    return;
  for (size_t kept : {0u, 1u, 2u, 3u, 5u}) {
    MoeTeam members = team(3, kSecond / 5);
    auto launches = launchesOf(plainRounds(members, 6), members.size());
    launches[1].resize(kept);
    ASSERT_TRUE(members.run(launches, 1).ok());
    expectFailure(members, {0, 2}, "member 1 of the group, or its data, did not arrive");
  }
}

TEST_P(LowLatencyTest, AnAbortEndsAll) {
  if (slow_)
    return;
  MoeTeam members = team(2);
  auto launches = launchesOf(plainRounds(members, 7), members.size());
  launches[1].clear();
  members.group(0).control->abort = 1;
  ASSERT_TRUE(members.run(launches, 1).ok());
  EXPECT_EQ(members.error(0), errorWord(KernelError::PeerAborted, 0));
}

TEST_P(LowLatencyTest, MembersThatCallSomethingElseAreFound) {
  if (slow_)
    return;
  MoeTeam members = team(2, kSecond);
  auto launches = launchesOf(plainRounds(members, 8), members.size());
  for (size_t phase : {0, 1})
    std::get<LowLatencyDispatchArgs>(launches[1][phase]).call.shape.maxTokens += 1;
  ASSERT_TRUE(members.run(launches, 1).ok());
  expectFailure(members, {0, 1}, "makes another call");
}

TEST_P(LowLatencyTest, IndicesThatDoNotExistAreReportedAndGoNowhere) {
  for (int64_t wrong : {int64_t{2}, int64_t{-2}, INT64_MAX, INT64_MIN, int64_t{1}}) {
    MoeTeam members = team(1);
    Plain plain = plainRounds(members, 9);
    LowLatencyRound &round = plain.rounds[0];
    MoeRankCase &rank = round.drawn.world[0];
    rank.topkIdx = {0, 1, 1, wrong, -1, -1, 1, 0};
    rank.topkWeights = {.5f, .5f, 1, 9, 9, 9, 2, 3};
    rank.x.resize(4 * 512);
    rank.routing = {rank.topkIdx.data(), 4, 2, 2};
    LowLatencyDispatchArgs &d = round.dispatch[0];
    LowLatencyCombineArgs &c = round.combine[0];
    d.x = members.put(0, rank.x);
    d.call.topkIdx = c.call.topkIdx = members.put(0, rank.topkIdx);
    d.call.numTopk = c.call.numTopk = 2;
    d.call.numTokens = c.call.numTokens = 4;
    c.topkWeights = members.put(0, rank.topkWeights);
    c.out = members.room<uint16_t>(0, 4 * 256);
    ASSERT_TRUE(members.run({{d, c}}, 1).ok());
    EXPECT_EQ(members.error(0), moeIndexWord(1, 1));
    // Apart from the error, the result is as if the index were not there.
    members.reset();
    rank.topkIdx[3] = -1;
    expectRound(members, round, plain.shape);
  }
}

// With invalid handles nothing is written outside of the buffers, and no member waits forever.
TEST_P(LowLatencyTest, WrongHandlesTouchNothingOutside) {
  MoeTeam members = team(slow_ ? 1 : 2, kSecond / 5);
  Plain plain = plainRounds(members, 10);
  const LowLatencyArea area = lowLatencyArea(kernelShape(plain.shape));
  std::vector<std::vector<MoeLaunch>> launches;
  for (uint32_t i = 0; i < members.size(); ++i) {
    LowLatencyCombineArgs c = plain.rounds[0].combine[i];
    std::minstd_rand random(i + 1);
    std::vector<uint64_t> ranges(static_cast<size_t>(plain.shape.numExperts));
    for (uint64_t &range : ranges)
      range = uint64_t{random()} << 32 | random() % 40;
    std::vector<uint32_t> sources(
        static_cast<size_t>(plain.shape.numExperts * plain.shape.maxTokens));
    for (uint32_t &source : sources)
      source = static_cast<uint32_t>(random()) * 3;
    c.from.ranges = members.put(i, ranges);
    c.from.sources = members.put(i, sources);
    launches.push_back({plain.rounds[0].dispatch[i], c});
  }
  ASSERT_TRUE(members.run(launches, 1).ok());
  for (uint32_t i = 0; i < members.size(); ++i) {
    const char *buffer = plain.rounds[0].combine[i].call.buffers[i];
    const std::vector<char> rows = members.get<char>(buffer + area.rows, area.back - area.rows);
    EXPECT_EQ(std::count(rows.begin(), rows.end(), 0x5a), static_cast<long>(rows.size()));
  }
}

TEST_P(LowLatencyTest, BadArgumentsAreRefusedByName) {
  MoeTeam members = team(2);
  const Plain plain = plainRounds(members, 12);
  const auto refusal = [&](auto args, auto change) {
    change(args);
    if constexpr (std::is_same_v<decltype(args), LowLatencyDispatchArgs>)
      return checkLowLatencyDispatch(members.group(1), args).message();
    else
      return checkLowLatencyCombine(members.group(1), args).message();
  };
  const LowLatencyDispatchArgs &d = plain.rounds[0].dispatch[1];
  const LowLatencyCombineArgs &c = plain.rounds[0].combine[1];
  EXPECT_EQ(refusal(d, [](auto &) {}), "");
  EXPECT_EQ(refusal(c, [](auto &) {}), "");
  EXPECT_EQ(refusal(d, [](auto &a) { a.call.shape.hidden = 100; }),
            "moe low latency: hidden is 100; it must be a multiple of 128");
  EXPECT_EQ(refusal(d, [](auto &a) { a.call.shape.maxTokens = 1025; }),
            "moe low latency: maxTokens is 1025; it must be from 1 to 1024");
  EXPECT_EQ(refusal(d, [](auto &a) { a.call.shape.numExperts = 3; }),
            "moe low latency: 3 experts of 2 ranks");
  EXPECT_EQ(checkLowLatencyShape({8, 128, 4, 34 * 1024}, 34).message(),
            "moe low latency: 34816 experts of 34 ranks");
  EXPECT_EQ(refusal(d, [](auto &a) { a.call.numTokens = 21; }),
            "moe low latency: 21 tokens; there may be 20 (member 1)");
  EXPECT_EQ(refusal(c, [](auto &a) { a.call.numTopk = 5; }),
            "moe low latency: 5 experts of a token; there may be 4 (member 1)");
  EXPECT_EQ(refusal(c, [](auto &a) { a.call.buffers[0] += 16; }),
            "moe low latency: the buffer of member 0 is null or not aligned to 512 bytes (member "
            "1)");
  EXPECT_EQ(refusal(d, [](auto &a) { a.out.x = nullptr; }),
            "moe low latency: the rows that arrive have no place, or one that is not aligned to "
            "16 (member 1)");
  EXPECT_EQ(refusal(c, [](auto &a) { a.from.ranges = nullptr; }),
            "moe low latency: `x`, `ranges` or `sources` is null, or `x` not aligned to 16 bytes "
            "(member 1)");
  EXPECT_EQ(refusal(c, [](auto &a) { a.call.grid.threads = 48; }),
            "moe low latency: threads of a block are a multiple of 32 up to 512 (member 1)");
  EXPECT_EQ(refusal(c, [](auto &a) { a.call.phases = 4; }),
            "moe low latency: no such phases (member 1)");
}

INSTANTIATE_TEST_SUITE_P(host, LowLatencyTest, testing::Values("host"));
INSTANTIATE_TEST_SUITE_P(cuda, LowLatencyTest, testing::Values("cuda"));

} // namespace
} // namespace coll::kernels::test
