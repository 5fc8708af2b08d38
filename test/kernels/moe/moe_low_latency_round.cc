#include "test/kernels/moe/moe_low_latency_round.h"

#include "runtime/base/narrow.h"
#include "runtime/kernels/error_word.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <string>

namespace coll::kernels::test {

using rt::MoeLowLatencyHostRows;
using rt::MoeLowLatencyShape;
using rt::test::MoeRankCase;

namespace {

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

LowLatencyCall callOf(MoeTeam &team, uint32_t member, const MoeRankCase &rank,
                      const MoeLowLatencyShape &shape, const std::vector<char *> &buffers,
                      const int64_t *topkIdx, std::minstd_rand &random) {
  LowLatencyCall call;
  call.shape = kernelShape(shape);
  std::copy_n(buffers.begin() + team.firstOf(member), team.group(member).size, call.buffers);
  call.topkIdx = topkIdx;
  call.numTokens = static_cast<uint32_t>(rank.routing.numTokens);
  call.numTopk = static_cast<uint32_t>(rank.routing.numTopk);
  // These may differ between members.
  if (team.rig().isEmulated())
    call.grid = {1 + static_cast<uint32_t>(random() % 3),
                 32 * (1 + static_cast<uint32_t>(random() % 4))};
  else
    call.grid = {
        1 + static_cast<uint32_t>(random() % std::min(team.rig().maxBlocks(team.size()), 128u)),
        32 * (1 + static_cast<uint32_t>(random() % 16))};
  return call;
}

// Inserts a few values that are difficult for the formats.
void spoil(std::vector<char> &bf16, std::minstd_rand &random) {
  constexpr uint16_t kHard[] = {0x0000, 0x8000, 0x0001, 0x7f7f, 0x0080, 0x3f80, 0xc2ff, 0x2000};
  const size_t count = bf16.size() / 2;
  for (size_t i = 0; i < count / 50; ++i)
    std::memcpy(bf16.data() + 2 * (random() % count), &kHard[random() % 8], 2);
}

// --- what has to come out

std::vector<MoeLowLatencyHostRows> expectedRows(const LowLatencyDrawn &drawn,
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

void expectRows(MoeTeam &team, const LowLatencyRound &round, const MoeLowLatencyShape &shape,
                uint32_t i, const MoeLowLatencyHostRows &expected) {
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
    // Compares the rows that arrived, not the rest of the memory.
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

// GPUs compute logarithms less exactly than the host, so a code may be the next one.
void expectSums(MoeTeam &team, const LowLatencyRound &round,
                const std::vector<std::vector<uint16_t>> &expected) {
  for (uint32_t i = 0; i < team.size(); ++i) {
    const std::vector<uint16_t> got = team.get<uint16_t>(round.combine[i].out, expected[i].size());
    if (!round.drawn.log || team.rig().isEmulated()) {
      EXPECT_EQ(got, expected[i]) << "member " << i;
      continue;
    }
    // Neighbouring codes differ by up to 4.5 %; if terms cancel out, that is a larger part of the
    // sum.
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

} // namespace

LowLatencyShape kernelShape(const MoeLowLatencyShape &shape) {
  return {static_cast<uint32_t>(shape.maxTokens), static_cast<uint32_t>(shape.hidden),
          static_cast<uint32_t>(shape.numTopk), static_cast<uint32_t>(shape.numExperts)};
}

LowLatencyBuffers makeBuffers(MoeTeam &team, const MoeLowLatencyShape &shape) {
  const LowLatencyArea area = lowLatencyArea(kernelShape(shape));
  LowLatencyBuffers buffers;
  for (std::vector<char *> &buffer : buffers) {
    const uint64_t place = team.take(area.bytes);
    for (uint32_t i = 0; i < team.size(); ++i) {
      buffer.push_back(team.at(i, place));
      team.rig().fill(buffer.back(), 0, area.rows);
    }
  }
  return buffers;
}

LowLatencyDrawn draw(const MoeLowLatencyShape &shape, uint32_t size, std::minstd_rand &random) {
  LowLatencyDrawn drawn;
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

LowLatencyRound makeRound(MoeTeam &team, const MoeLowLatencyShape &shape,
                          const LowLatencyBuffers &buffers, uint32_t number, LowLatencyDrawn drawn,
                          std::minstd_rand &random) {
  const uint32_t size = team.size();
  const auto rows = static_cast<uint64_t>(shape.numExperts * shape.maxTokens);
  LowLatencyRound round;
  round.drawn = std::move(drawn);
  for (uint32_t i = 0; i < size; ++i) {
    const MoeRankCase &rank = round.drawn.world[i];
    LowLatencyDispatchArgs d;
    const int64_t *topk = team.put(i, rank.topkIdx);
    d.call = callOf(team, i, rank, shape, buffers[2 * number % 2], topk, random);
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
    c.call = callOf(team, i, rank, shape, buffers[(2 * number + 1) % 2], topk, random);
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

LowLatencyExpected expect(const LowLatencyDrawn &drawn, const MoeLowLatencyShape &shape) {
  LowLatencyExpected expected;
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

void expectRound(MoeTeam &team, const LowLatencyRound &round, const MoeLowLatencyShape &shape,
                 const LowLatencyExpected &expected) {
  for (uint32_t i = 0; i < team.size(); ++i) {
    SCOPED_TRACE("member " + std::to_string(i));
    ASSERT_EQ(team.error(i), 0u) << describeErrorWord(team.error(i));
    expectRows(team, round, shape, i, expected.rows[i]);
  }
  expectSums(team, round, expected.sums);
}

void expectRound(MoeTeam &team, const LowLatencyRound &round, const MoeLowLatencyShape &shape) {
  expectRound(team, round, shape, expect(round.drawn, shape));
}

} // namespace coll::kernels::test
