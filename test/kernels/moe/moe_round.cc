#include "test/kernels/moe/moe_round.h"

#include "runtime/base/dtype.h"
#include "runtime/kernels/error_word.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

namespace coll::kernels::test {

using rt::MoeHostReceived;
using rt::test::MoeRankCase;
using rt::test::MoeSizes;

namespace {

// --- what is drawn, and what the reference makes of it

std::vector<MoeHostReceived> reference(const std::vector<MoeRankCase> &world) {
  rt::MoeDispatchOptions options;
  options.config.numSms = 24;
  options.expertAlignment = 16;
  auto all = moeReferenceDispatch(callsOf(world), options);
  EXPECT_TRUE(all.ok()) << all.status().toString();
  return all.ok() ? all.take() : std::vector<MoeHostReceived>(world.size());
}

MoeReturned drawReturned(const MoeDrawn &drawn, size_t rank, std::minstd_rand &random) {
  MoeReturned member;
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

// --- a round's memory and calls

void putTokens(MoeTeam &team, uint32_t i, MoeRound &round) {
  const MoeRankCase &rank = round.drawn.world[i];
  const MoeShape &shape = round.drawn.shape;
  MoeMember &member = round.members[i];
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

void putRows(MoeTeam &team, uint32_t i, MoeRound &round) {
  MoeMember &member = round.members[i];
  const MoeDrawn &drawn = round.drawn;
  const MoeReturned &returned = drawn.returned[i];
  MoeCombineArgs &combine = member.combine;
  combine.dtype = drawn.summed;
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
  // Each block has a multiprocessor of its own.
  const uint32_t most = team.rig().maxBlocks(team.size());
  return {1 + static_cast<uint32_t>(random() % std::min<uint32_t>(most / 2, 32)),
          32 * (1 + static_cast<uint32_t>(random() % 8))};
}

// --- what has to come out

void expectPlaces(MoeTeam &team, const MoeRound &round, uint32_t i) {
  const MoeMember &member = round.members[i];
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

void expectRows(MoeTeam &team, const MoeRound &round, uint32_t i) {
  const MoeHostReceived &expected = round.drawn.received[i];
  const char *buffer = round.members[i].buffer;
  const MoeArea area = moeArea(round.drawn.shape);
  expectEqual(team, "x", buffer + area.rows, expected.x);
  expectEqual(team, "scales", buffer + area.scales, expected.scales);
  expectEqual(team, "topkIdx", buffer + area.topkIdx, expected.topkIdx);
  expectEqual(team, "topkWeights", buffer + area.topkWeights, expected.topkWeights);
  expectEqual(team, "sourceIdx", buffer + area.sourceIdx, expected.handle.recvSourceIdx);
  // Nothing behind it is written.
  const uint64_t used = expected.x.size();
  const std::vector<char> beyond = team.get<char>(buffer + area.rows + used, area.scales - used);
  EXPECT_EQ(std::count(beyond.begin(), beyond.end(), 0x5a), static_cast<long>(beyond.size()));
}

} // namespace

MoeDrawn draw(const MoeSizes &sizes, int spare, std::minstd_rand random) {
  MoeDrawn drawn;
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
  drawn.summed = std::array{kCollBf16, kCollF16, kCollF32}[static_cast<size_t>(sizes.numTopk) % 3];
  for (size_t i = 0; i < drawn.world.size(); ++i)
    drawn.returned.push_back(drawReturned(drawn, i, random));
  return drawn;
}

void sumUp(MoeDrawn &drawn) {
  std::vector<rt::MoeCombine> calls(drawn.world.size());
  std::vector<rt::MoeHostHandle> handles;
  for (size_t i = 0; i < calls.size(); ++i) {
    MoeReturned &member = drawn.returned[i];
    const auto numTokens = static_cast<size_t>(drawn.world[i].routing.numTokens);
    handles.push_back(drawn.received[i].handle);
    rt::MoeCombine &call = calls[i];
    call.numTopk = drawn.sizes.hasWeights ? drawn.sizes.numTopk : 0;
    member.out.resize(numTokens * drawn.combinedBytes / 2);
    member.outWeights.resize(numTokens * static_cast<size_t>(call.numTopk));
    call.x = member.rows.data();
    call.numRows = drawn.shape.capacity;
    call.dtype = drawn.summed;
    call.hidden = drawn.combinedBytes / rt::dtypeSize(drawn.summed);
    call.topkWeights = call.numTopk ? member.rowWeights.data() : nullptr;
    for (int b = 0; b < 2; ++b)
      call.bias[b] = member.bias[b].empty() ? nullptr : member.bias[b].data();
    call.out = member.out.data();
    call.outWeights = call.numTopk ? member.outWeights.data() : nullptr;
  }
  const rt::Status status = moeReferenceCombine(calls, handles);
  EXPECT_TRUE(status.ok()) << status.toString();
}

MoeRound makeRound(MoeTeam &team, const MoeDrawn &drawn, std::minstd_rand &random) {
  MoeRound round = {drawn, std::vector<MoeMember>(team.size())};
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
  for (MoeMember &member : round.members)
    for (uint32_t i = 0; i < team.size(); ++i) {
      member.dispatch.buffers[i] = round.members[i].buffer;
      member.combine.rows[i] = round.members[i].combine.rows[i];
      member.combine.topkWeights[i] = round.members[i].combine.topkWeights[i];
    }
  return round;
}

std::vector<std::vector<MoeLaunch>> launchesOf(const MoeRound &round, bool twice) {
  std::vector<std::vector<MoeLaunch>> launches;
  for (const MoeMember &member : round.members) {
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

void expectRound(MoeTeam &team, const MoeRound &round) {
  for (uint32_t i = 0; i < team.size(); ++i) {
    SCOPED_TRACE("member " + std::to_string(i));
    ASSERT_EQ(team.error(i), 0u) << describeErrorWord(team.error(i));
    expectPlaces(team, round, i);
    expectRows(team, round, i);
    const MoeReturned &returned = round.drawn.returned[i];
    expectEqual(team, "out", round.members[i].combine.out, returned.out);
    expectEqual(team, "outWeights", round.members[i].combine.outWeights, returned.outWeights);
  }
}

} // namespace coll::kernels::test
