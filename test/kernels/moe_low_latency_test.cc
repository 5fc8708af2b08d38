// The kernels of the low-latency exchange, emulated and on GPUs, against the reference: rounds in a
// row, in one launch or two for each call, by members that are late; then what is wrong.

#include "runtime/base/narrow.h"
#include "runtime/exchange/moe_low_latency_reference.h"
#include "runtime/kernels/error_word.h"
#include "test/kernels/moe_team.h"
#include "test/kernels/parallel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace coll::kernels::test {
namespace {

using rt::MoeLowLatencyHostRows;
using rt::MoeLowLatencyShape;
using rt::test::MoeRankCase;

constexpr uint64_t kSecond = 1000000000;
// Of rows in a buffer. The large ones are for GPUs.
constexpr uint64_t kPlaceBytes = uint64_t{192} << 10, kLargePlaceBytes = uint64_t{4} << 20;

// A round before anything of it is on GPUs.
struct Drawn {
  bool fp8 = false, log = false;
  std::vector<MoeRankCase> world;
  std::vector<std::vector<char>> experts; // rows that members give back
};
// What has to come out.
struct Expected {
  std::vector<MoeLowLatencyHostRows> rows;
  std::vector<std::vector<uint16_t>> sums;
};

// The two calls of a round.
struct Exchange {
  Drawn drawn;
  std::vector<LowLatencyDispatchArgs> dispatch; // by member
  std::vector<LowLatencyCombineArgs> combine;
};

class LowLatencyTest : public MoeRigTest {
protected:
  // One at a time.
  MoeTeam team(uint32_t size, uint64_t timeoutNs = 20 * kSecond) {
    rig_->recycle();
    const uint64_t bytes = onGpu() ? uint64_t{96} << 20 : uint64_t{5} << 20;
    return {*rig_, size, bytes, timeoutNs};
  }
};

// --- memory and calls

LowLatencyShape kernelShape(const MoeLowLatencyShape &shape) {
  return {static_cast<uint32_t>(shape.maxTokens), static_cast<uint32_t>(shape.hidden),
          static_cast<uint32_t>(shape.numTopk), static_cast<uint32_t>(shape.numExperts)};
}

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
// Rows of up to 7,168, or up to 1,024 tokens.
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

// Two buffers of every member: [buffer][member].
using Buffers = std::array<std::vector<char *>, 2>;

Buffers makeBuffers(MoeTeam &team, const MoeLowLatencyShape &shape) {
  const LowLatencyArea area = lowLatencyArea(kernelShape(shape));
  Buffers buffers;
  for (std::vector<char *> &buffer : buffers) {
    const uint64_t place = team.take(area.bytes);
    for (uint32_t i = 0; i < team.size(); ++i) {
      buffer.push_back(team.at(i, place));
      team.rig().fill(buffer.back(), 0, area.rows);
    }
  }
  return buffers;
}

std::vector<MoeRankCase> randomWorld(const MoeLowLatencyShape &shape, uint32_t size,
                                     std::minstd_rand &random) {
  rt::test::MoeSizes sizes;
  sizes.numRanks = static_cast<int>(size);
  sizes.numExperts = shape.numExperts;
  sizes.numTopk = 1 + static_cast<int>(random() % static_cast<uint32_t>(shape.numTopk));
  sizes.maxTokens = shape.maxTokens;
  sizes.hidden = shape.hidden;
  return randomMoeCase(sizes, random);
}

LowLatencyCall callOf(MoeTeam &team, const MoeRankCase &rank, const MoeLowLatencyShape &shape,
                      const std::vector<char *> &buffers, const int64_t *topkIdx,
                      std::minstd_rand &random) {
  LowLatencyCall call;
  call.shape = kernelShape(shape);
  std::copy(buffers.begin(), buffers.end(), call.buffers);
  call.topkIdx = topkIdx;
  call.numTokens = static_cast<uint32_t>(rank.routing.numTokens);
  call.numTopk = static_cast<uint32_t>(rank.routing.numTopk);
  // Members need not agree on these.
  if (team.rig().isEmulated())
    call.grid = {1 + static_cast<uint32_t>(random() % 3),
                 32 * (1 + static_cast<uint32_t>(random() % 4))};
  else
    call.grid = {
        1 + static_cast<uint32_t>(random() % std::min(team.rig().maxBlocks(team.size()), 128u)),
        32 * (1 + static_cast<uint32_t>(random() % 16))};
  return call;
}

// A few values that formats find hard.
void spoil(std::vector<char> &bf16, std::minstd_rand &random) {
  constexpr uint16_t kHard[] = {0x0000, 0x8000, 0x0001, 0x7f7f, 0x0080, 0x3f80, 0xc2ff, 0x2000};
  const size_t count = bf16.size() / 2;
  for (size_t i = 0; i < count / 50; ++i)
    std::memcpy(bf16.data() + 2 * (random() % count), &kHard[random() % 8], 2);
}

Drawn draw(const MoeLowLatencyShape &shape, uint32_t size, std::minstd_rand &random) {
  Drawn drawn;
  drawn.fp8 = random() % 2;
  drawn.log = random() % 3 == 0;
  drawn.world = randomWorld(shape, size, random);
  for (MoeRankCase &rank : drawn.world) {
    if (random() % 2)
      spoil(rank.x, random);
    drawn.experts.push_back(
        rt::test::randomBf16(shape.numExperts * shape.maxTokens * shape.hidden, random));
  }
  return drawn;
}

Exchange makeExchange(MoeTeam &team, const MoeLowLatencyShape &shape, const Buffers &buffers,
                      uint32_t number, Drawn drawn, std::minstd_rand &random) {
  const uint32_t size = team.size();
  const auto rows = static_cast<uint64_t>(shape.numExperts * shape.maxTokens);
  Exchange round;
  round.drawn = std::move(drawn);
  for (uint32_t i = 0; i < size; ++i) {
    const MoeRankCase &rank = round.drawn.world[i];
    LowLatencyDispatchArgs d;
    const int64_t *topk = team.put(i, rank.topkIdx);
    d.call = callOf(team, rank, shape, buffers[2 * number % 2], topk, random);
    d.x = team.put(i, rank.x);
    d.fp8 = round.drawn.fp8;
    d.out.x = team.room<char>(i, rows * static_cast<uint64_t>(shape.hidden) * 2);
    d.out.scales = team.room<float>(i, rows * static_cast<uint64_t>(shape.numScales()));
    const uint64_t local = static_cast<uint64_t>(shape.numExperts) / size;
    d.out.counts = team.room<int32_t>(i, local);
    d.out.ranges = team.room<uint64_t>(i, local * size);
    d.out.sources = team.room<uint32_t>(i, rows);
    d.stats = team.put(i, std::vector<int32_t>(local, 7));
    d.error = &team.group(i).control->error;
    LowLatencyCombineArgs c;
    c.call = callOf(team, rank, shape, buffers[(2 * number + 1) % 2], topk, random);
    c.x = team.put(i, round.drawn.experts[i]);
    c.from = d.out;
    c.log = round.drawn.log;
    c.topkWeights = team.put(i, rank.topkWeights);
    c.out = team.room<uint16_t>(i, static_cast<uint64_t>(rank.routing.numTokens) *
                                       static_cast<uint64_t>(shape.hidden));
    round.dispatch.push_back(d);
    round.combine.push_back(c);
  }
  return round;
}

template <typename Args>
void append(std::vector<MoeLaunch> &launches, Args args, bool apart) {
  if (!apart)
    return launches.push_back(args);
  args.call.phases = kLowLatencySend;
  launches.push_back(args);
  args.call.phases = kLowLatencyReceive;
  launches.push_back(args);
}

// --- what has to come out

std::vector<MoeLowLatencyHostRows> expectedRows(const Drawn &drawn,
                                                const MoeLowLatencyShape &shape) {
  std::vector<rt::MoeLowLatencyDispatch> calls;
  for (const MoeRankCase &rank : drawn.world) {
    rt::MoeLowLatencyDispatch call;
    call.routing = rank.routing;
    call.x = rank.x.data();
    call.dtype = drawn.fp8 ? kCollF8E4M3FN : kCollBf16;
    calls.push_back(call);
  }
  auto rows = moeReferenceDispatch(calls, shape);
  EXPECT_TRUE(rows.ok()) << rows.status().toString();
  return rows.take();
}

Expected expect(const Drawn &drawn, const MoeLowLatencyShape &shape) {
  Expected expected;
  expected.rows = expectedRows(drawn, shape);
  std::vector<rt::MoeLowLatencyCombine> calls;
  std::vector<rt::MoeLowLatencyRows> rows;
  for (size_t i = 0; i < drawn.world.size(); ++i) {
    const MoeRankCase &rank = drawn.world[i];
    expected.sums.emplace_back(static_cast<size_t>(rank.routing.numTokens * shape.hidden) + 8);
    rt::MoeLowLatencyCombine call;
    call.routing = rank.routing;
    call.x = drawn.experts[i].data();
    call.topkWeights = rank.topkWeights.data();
    call.log = drawn.log;
    call.out = expected.sums.back().data();
    calls.push_back(call);
    rows.push_back(expected.rows[i].view());
  }
  const rt::Status status = moeReferenceCombine(calls, rows, shape);
  EXPECT_TRUE(status.ok()) << status.toString();
  for (std::vector<uint16_t> &sums : expected.sums)
    sums.resize(sums.size() - 8);
  return expected;
}

void expectRows(MoeTeam &team, const Exchange &round, const MoeLowLatencyShape &shape, uint32_t i,
                const MoeLowLatencyHostRows &expected) {
  const LowLatencyRows &out = round.dispatch[i].out;
  EXPECT_EQ(team.get<int32_t>(out.counts, expected.counts.size()), expected.counts);
  EXPECT_EQ(team.get<uint64_t>(out.ranges, expected.ranges.size()), expected.ranges);
  const auto room = static_cast<size_t>(shape.rowsOfExpert(static_cast<int>(team.size())));
  const auto x = team.get<char>(out.x, expected.x.size());
  const auto scales = team.get<float>(out.scales, expected.scales.size());
  const auto sources = team.get<uint32_t>(out.sources, expected.sources.size());
  const auto stats = team.get<int32_t>(round.dispatch[i].stats, expected.counts.size());
  for (size_t e = 0; e < expected.counts.size(); ++e) {
    SCOPED_TRACE("expert " + std::to_string(e));
    const auto count = static_cast<size_t>(expected.counts[e]);
    // Of all that there is room for, the rows that came.
    const auto areEqual = [&](const auto &got, const auto &was) {
      const size_t each = was.size() / expected.sources.size();
      const auto first = static_cast<ptrdiff_t>(e * room * each);
      return std::equal(got.begin() + first,
                        got.begin() + first + static_cast<ptrdiff_t>(count * each),
                        was.begin() + first);
    };
    EXPECT_TRUE(areEqual(x, expected.x));
    EXPECT_TRUE(areEqual(sources, expected.sources));
    EXPECT_TRUE(areEqual(scales, expected.scales));
    EXPECT_EQ(stats[e], 7 + static_cast<int32_t>(count));
  }
}

// GPUs take logarithms less exactly than the host: a code may be the next one.
void expectSums(MoeTeam &team, const Exchange &round,
                const std::vector<std::vector<uint16_t>> &expected) {
  for (uint32_t i = 0; i < team.size(); ++i) {
    const std::vector<uint16_t> got = team.get<uint16_t>(round.combine[i].out, expected[i].size());
    if (!round.drawn.log || team.rig().isEmulated()) {
      EXPECT_EQ(got, expected[i]) << "member " << i;
      continue;
    }
    // A code is up to 4.5 % from the next one; where terms cancel out, that is more of the sum.
    size_t apart = 0;
    for (size_t j = 0; j < got.size(); ++j) {
      const double is = rt::bf16ToF32(got[j]), was = rt::bf16ToF32(expected[i][j]);
      const bool isClose = got[j] == expected[i][j] || (std::isnan(is) && std::isnan(was)) ||
                           std::fabs(is - was) <= 0.05 * std::fabs(was);
      apart += !isClose;
    }
    EXPECT_LE(apart, 1 + got.size() / 100) << "member " << i << ", of " << got.size();
  }
}

void expectRound(MoeTeam &team, const Exchange &round, const MoeLowLatencyShape &shape,
                 const Expected &expected) {
  for (uint32_t i = 0; i < team.size(); ++i) {
    SCOPED_TRACE("member " + std::to_string(i));
    ASSERT_EQ(team.error(i), 0u) << describeErrorWord(team.error(i));
    expectRows(team, round, shape, i, expected.rows[i]);
  }
  expectSums(team, round, expected.sums);
}
void expectRound(MoeTeam &team, const Exchange &round, const MoeLowLatencyShape &shape) {
  expectRound(team, round, shape, expect(round.drawn, shape));
}

// --- rounds

// Three rounds in a row.
struct World {
  MoeLowLatencyShape shape;
  std::array<Drawn, 3> drawn;
  std::array<Expected, 3> expected;
};

void runWorld(MoeTeam &team, World &world, std::minstd_rand &random) {
  team.clear();
  const Buffers buffers = makeBuffers(team, world.shape);
  std::vector<Exchange> rounds;
  std::vector<std::vector<MoeLaunch>> launches(team.size());
  for (uint32_t n = 0; n < world.drawn.size(); ++n) {
    rounds.push_back(
        makeExchange(team, world.shape, buffers, n, std::move(world.drawn[n]), random));
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

// What worlds of one team are about: drawn by all of the host's threads, run one by one.
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

// Four thousand rounds on GPUs, of which a few are large.
TEST_P(LowLatencyTest, RoundsInARowAreThoseOfTheReference) {
  std::minstd_rand random(11);
  const int worlds = onGpu() ? (slow_ ? 2 : 168) : 3, large = onGpu() && !slow_ ? 8 : 0;
  for (uint32_t size = 1; size <= kMaxPeers && !HasFailure(); ++size) {
    // Members that share a GPU do not run beside each other under a tool.
    if (slow_ && size > 1)
      break;
    MoeTeam members = team(size);
    std::vector<MoeLowLatencyShape> shapes;
    for (int w = 0; w < worlds; ++w)
      shapes.push_back(w < large ? largeShape(size, random) : randomShape(size, random));
    runWorlds(members, shapes, random);
  }
}

// A world that all members agree upon, with three rounds.
struct Plain {
  MoeLowLatencyShape shape;
  std::vector<Exchange> rounds;
};
Plain plainRounds(MoeTeam &team, uint32_t seed) {
  std::minstd_rand random(seed);
  Plain plain;
  plain.shape.maxTokens = 20;
  plain.shape.hidden = 256;
  plain.shape.numTopk = 4;
  plain.shape.numExperts = static_cast<int>(2 * team.size());
  const Buffers buffers = makeBuffers(team, plain.shape);
  for (uint32_t n = 0; n < 3; ++n)
    plain.rounds.push_back(makeExchange(team, plain.shape, buffers, n,
                                        draw(plain.shape, team.size(), random), random));
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

// What two batches beside each other do: both are sent before either is received.
TEST_P(LowLatencyTest, TwoCallsMayBeUnderWay) {
  if (slow_)
    return;
  for (uint32_t seed = 0; seed < 4; ++seed) {
    MoeTeam members = team(3);
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
        // The others could send what comes next into what this one has not read.
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
  for (const Exchange &round : plain.rounds)
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
    const std::string errors =
        describeErrorWord(members.error(0)) + "; " + describeErrorWord(members.error(2));
    EXPECT_NE(errors.find("member 1 of the group, or its data, did not come"), std::string::npos)
        << errors;
    EXPECT_NE(members.error(0), 0u);
    EXPECT_NE(members.error(2), 0u);
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
  const std::string errors =
      describeErrorWord(members.error(0)) + describeErrorWord(members.error(1));
  EXPECT_NE(errors.find("makes another call"), std::string::npos) << errors;
  EXPECT_NE(members.error(0), 0u);
  EXPECT_NE(members.error(1), 0u);
}

TEST_P(LowLatencyTest, IndicesThatDoNotExistAreReportedAndGoNowhere) {
  for (int64_t wrong : {int64_t{2}, int64_t{-2}, INT64_MAX, INT64_MIN, int64_t{1}}) {
    MoeTeam members = team(1);
    Plain plain = plainRounds(members, 9);
    Exchange &round = plain.rounds[0];
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
    EXPECT_EQ(members.error(0), errorWord(KernelError::MoeIndex, 1));
    // Otherwise as if it were not there.
    members.reset();
    rank.topkIdx[3] = -1;
    expectRound(members, round, plain.shape);
  }
}

// Handles of nowhere: nothing is written outside, nobody waits for ever.
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
            "moe low latency: hidden is 100; it is a multiple of 128");
  EXPECT_EQ(refusal(d, [](auto &a) { a.call.shape.maxTokens = 1025; }),
            "moe low latency: maxTokens is 1025; it is from 1 to 1024");
  EXPECT_EQ(refusal(d, [](auto &a) { a.call.shape.numExperts = 3; }),
            "moe low latency: 3 experts of 2 ranks");
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
