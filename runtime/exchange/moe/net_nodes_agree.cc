// Lets ranks on several nodes agree on a call, and on the routes of its tokens.

#include "runtime/exchange/moe/net_nodes.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace coll::rt {

namespace {

size_t at(int64_t index) { return static_cast<size_t>(index); }

// A rank's sign and counts, as one message.
struct Told {
  MoeCallSign sign;
  int64_t numTokens = 0;
};

std::vector<char> encode(const Told &told, const MoeCounts &counts, const int32_t *perExpert,
                         size_t experts) {
  std::vector<char> bytes(sizeof told +
                          (counts.perRank.size() + counts.perNode.size() + experts) * 4);
  char *to = bytes.data();
  const auto put = [&](const void *from, size_t size) {
    if (size)
      std::memcpy(to, from, size);
    to += size;
  };
  put(&told, sizeof told);
  put(counts.perRank.data(), counts.perRank.size() * 4);
  put(counts.perNode.data(), counts.perNode.size() * 4);
  put(perExpert, experts * 4);
  return bytes;
}

// `counts` has the expected sizes.
void decode(const std::vector<char> &bytes, Told &told, MoeCounts &counts) {
  const char *from = bytes.data();
  const auto get = [&](void *to, size_t size) {
    if (size)
      std::memcpy(to, from, size);
    from += size;
  };
  get(&told, sizeof told);
  get(counts.perRank.data(), counts.perRank.size() * 4);
  get(counts.perNode.data(), counts.perNode.size() * 4);
  get(counts.perExpert.data(), counts.perExpert.size() * 4);
  counts.numTokens = told.numTokens;
}

Status compare(int ownRank, const MoeCallSign &own, int rank, const MoeCallSign &other) {
  const std::string name = "rank " + std::to_string(rank);
  if (own.kind != other.kind)
    return {kCollMismatch, name + " makes another call than rank " + std::to_string(ownRank)};
  const struct {
    const char *what;
    int64_t own, other;
  } sizes[] = {{"bytes of a row", own.rowBytes, other.rowBytes},
               {"numTopk", own.numTopk, other.numTopk},
               {"numScales", own.numScales, other.numScales},
               {"numExperts", own.numExperts, other.numExperts},
               {"tokens that there is room for", own.capacity, other.capacity}};
  for (const auto &size : sizes)
    if (size.own != size.other)
      return {kCollMismatch, name + " calls with other sizes or types: " + size.what + ": " +
                                 std::to_string(size.other) + " there, " +
                                 std::to_string(size.own) + " on rank " + std::to_string(ownRank)};
  return Status::okay();
}

} // namespace

RankFlow MoeNetNodes::bytesFlow(int rank, bool isSend, Message kind, void *data,
                                size_t bytes) const {
  const auto size = static_cast<int64_t>(bytes), slot = network_->pump().slotBytes(rank);
  RankFlow flow;
  flow.rank = rank;
  flow.isSend = isSend;
  flow.tag = tagOf(kind);
  flow.numChunks = (size + slot - 1) / slot;
  flow.bytes = [size, slot](int64_t chunk) { return std::min(slot, size - chunk * slot); };
  auto *place = static_cast<char *>(data);
  flow.move = [=, count = flow.bytes](int64_t chunk, const ChunkSlot &at) {
    std::memcpy(isSend ? at.host : place + chunk * slot, isSend ? place + chunk * slot : at.host,
                static_cast<size_t>(count(chunk)));
    return Status::okay();
  };
  return flow;
}

Status MoeNetNodes::agree(const MoeCallSign &sign) {
  const MoeWorld &world = options_.world;
  std::vector<int> counterparts;
  for (int n = 0; n < world.numNodes(); ++n)
    if (n != world.node())
      counterparts.push_back(world.onNode(n));
  return agreeWith(counterparts, sign);
}

Status MoeNetNodes::agreeWith(const std::vector<int> &ranks, const MoeCallSign &sign) {
  ++calls_;
  MoeCallSign own = sign;
  std::vector<MoeCallSign> others(ranks.size());
  std::vector<RankFlow> flows;
  for (size_t i = 0; i < ranks.size(); ++i) {
    flows.push_back(bytesFlow(ranks[i], true, kSigns, &own, sizeof own));
    flows.push_back(bytesFlow(ranks[i], false, kSigns, &others[i], sizeof own));
  }
  COLL_RETURN_IF_ERROR(run(std::move(flows)));
  for (size_t i = 0; i < ranks.size(); ++i)
    COLL_RETURN_IF_ERROR(compare(options_.world.rank, sign, ranks[i], others[i]));
  return Status::okay();
}

// A rank that has sent its sign has received all earlier messages. So a rank that has received all
// signs may send messages of the new shape. Such messages may arrive here by then, so this rank
// expects them before it sends its own sign.
Status MoeNetNodes::cleanLowLatency(const kernels::LowLatencyShape &shape) {
  COLL_RETURN_IF_ERROR(finish());
  far_->expect(shape);
  const MoeWorld &world = options_.world;
  std::vector<int> ranks;
  for (int rank = 0; rank < world.numRanks; ++rank)
    if (rank / world.nodeSize != world.node())
      ranks.push_back(rank);
  MoeCallSign sign;
  sign.kind = MoeCallSign::kLowLatencyClean;
  sign.rowBytes = kernels::low_latency::plainBytes(shape.hidden);
  sign.numTopk = shape.numTopk;
  sign.numExperts = shape.numExperts;
  sign.capacity = shape.maxTokens;
  COLL_RETURN_IF_ERROR(agreeWith(ranks, sign));
  far_->sendAsExpected();
  return Status::okay();
}

Status MoeNetNodes::swapCounts(const MoeCallSign &sign, const MoeLayout &layout, int64_t numTokens,
                               std::vector<MoeCounts> &counts) {
  const MoeWorld &world = options_.world;
  const size_t experts = sign.numExperts / at(world.numRanks);
  std::vector<int32_t> perExpert(sign.numExperts);
  MoeCounts &own = counts[at(world.rank)];
  COLL_RETURN_IF_ERROR(
      download(own.perRank.data(), layout.tokensPerRank, own.perRank.size() * sizeof(int32_t)));
  COLL_RETURN_IF_ERROR(
      download(perExpert.data(), layout.tokensPerExpert, perExpert.size() * sizeof(int32_t)));
  own.perExpert.assign(perExpert.begin() + world.rank * static_cast<ptrdiff_t>(experts),
                       perExpert.begin() + (world.rank + 1) * static_cast<ptrdiff_t>(experts));
  std::vector<std::vector<char>> out(counts.size()), in(counts.size());
  std::vector<RankFlow> flows;
  for (size_t r = 0; r < counts.size(); ++r) {
    if (static_cast<int>(r) == world.rank)
      continue;
    counts[r].perRank.resize(at(world.numRanks));
    counts[r].perNode.resize(at(world.numNodes()));
    counts[r].perExpert.resize(experts);
    out[r] = encode({sign, numTokens}, own, perExpert.data() + r * experts, experts);
    in[r].resize(out[r].size());
    const int rank = static_cast<int>(r);
    flows.push_back(bytesFlow(rank, true, kSigns, out[r].data(), out[r].size()));
    flows.push_back(bytesFlow(rank, false, kSigns, in[r].data(), in[r].size()));
  }
  COLL_RETURN_IF_ERROR(run(std::move(flows)));
  for (size_t r = 0; r < counts.size(); ++r) {
    const int rank = static_cast<int>(r);
    if (rank != world.rank) {
      Told told;
      decode(in[r], told, counts[r]);
      COLL_RETURN_IF_ERROR(compare(world.rank, sign, rank, told.sign));
    }
    // This rank's own counts, too, because the caller supplies them.
    COLL_RETURN_IF_ERROR(checkMoeCounts(world, rank, counts[r]));
  }
  return Status::okay();
}

Status MoeNetNodes::swapRoutes(const std::vector<MoeCounts> &counts,
                               const std::vector<std::vector<MoeRoute>> &here,
                               std::vector<std::vector<MoeRoute>> &there) {
  const MoeWorld &world = options_.world;
  std::vector<std::vector<MoeRoute>> out = here;
  std::vector<RankFlow> flows;
  for (int n = 0; n < world.numNodes(); ++n) {
    if (n == world.node())
      continue;
    const int rank = world.onNode(n);
    there[at(n)].resize(at(counts[at(rank)].perNode[at(world.node())]));
    flows.push_back(
        bytesFlow(rank, true, kRoutes, out[at(n)].data(), out[at(n)].size() * sizeof(MoeRoute)));
    flows.push_back(bytesFlow(rank, false, kRoutes, there[at(n)].data(),
                              there[at(n)].size() * sizeof(MoeRoute)));
  }
  return run(std::move(flows));
}

Result<std::shared_ptr<MoeRoutes>> MoeNetNodes::route(const MoeCallSign &sign,
                                                      const MoeLayout &layout, int64_t numTokens,
                                                      std::vector<uint8_t> &isTokenInRank) {
  const MoeWorld &world = options_.world;
  ++calls_;
  isTokenInRank.resize(at(numTokens * world.numRanks));
  COLL_RETURN_IF_ERROR(download(isTokenInRank.data(), layout.isTokenInRank, isTokenInRank.size()));
  const std::vector<std::vector<MoeRoute>> here =
      moeRoutesOf(world, isTokenInRank.data(), numTokens);
  std::vector<MoeCounts> counts(at(world.numRanks));
  MoeCounts &own = counts[at(world.rank)];
  own.numTokens = numTokens;
  own.perRank.resize(at(world.numRanks));
  for (const std::vector<MoeRoute> &routes : here)
    own.perNode.push_back(static_cast<int32_t>(routes.size()));
  COLL_RETURN_IF_ERROR(swapCounts(sign, layout, numTokens, counts));
  std::vector<std::vector<MoeRoute>> there(at(world.numNodes()));
  COLL_RETURN_IF_ERROR(swapRoutes(counts, here, there));
  Result<std::shared_ptr<MoeRoutes>> routes = makeMoeRoutes(world, counts, here, there);
  if (routes.ok() && (*routes)->maxReceived > sign.capacity)
    return Status::invalid(std::to_string((*routes)->maxReceived) + " tokens for rank " +
                           std::to_string((*routes)->maxReceiver) + ", which takes " +
                           std::to_string(sign.capacity));
  return routes;
}

} // namespace coll::rt
