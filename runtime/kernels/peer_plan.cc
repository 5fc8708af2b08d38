#include "runtime/kernels/peer_plan.h"

#include "runtime/base/dtype.h"
#include "runtime/kernels/peer_state.h"
#include "runtime/kernels/peer_tuning.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>

namespace coll::kernels {

using rt::Result;
using rt::Status;

namespace {

constexpr uint64_t kVec = 16;
constexpr uint64_t kMaxBytes = uint64_t{1} << 60;

enum class Op : uint64_t {
  AllReduce = 1,
  ReduceScatter,
  Reduce,
  AllGather,
  AllToAll,
  Broadcast,
  Gather,
  Scatter,
  Permute,
  Barrier
};

constexpr uint64_t ceilDiv(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

uint32_t allOf(const PeerGroup &group) { return (1u << group.size) - 1; }

// FNV-1a over the numbers, which have to be the same on all members.
uint32_t hashOf(std::initializer_list<uint64_t> numbers, uint32_t hash = 2166136261u) {
  for (uint64_t number : numbers)
    for (int byte = 0; byte < 8; ++byte, number >>= 8)
      hash = (hash ^ static_cast<uint32_t>(number & 0xff)) * 16777619u;
  return hash;
}

// --- places

// `bits`: of addresses and distances. The widest access that is aligned everywhere and, unless
// it is a whole vector, ends with the message.
uint32_t widthOf(uint64_t bits, uint64_t bytes) {
  const auto lowest = [](uint64_t of) { return static_cast<uint32_t>(of & (~of + 1)); };
  const uint32_t width = lowest(bits | kVec);
  return width == kVec ? width : lowest(bits | bytes | kVec);
}

PeerPlace contiguous(const void *base, uint64_t bytes, uint64_t stride = 0) {
  PeerPlace place;
  place.base = static_cast<char *>(const_cast<void *>(base));
  place.stride = stride;
  place.width = widthOf(reinterpret_cast<uintptr_t>(base) | stride, bytes);
  return place;
}

// [rows][size][rowBytes]: a block per member.
PeerPlace interleaved(const void *base, uint32_t size, uint64_t rows, uint64_t rowBytes) {
  PeerPlace place = contiguous(base, rows * rowBytes, rowBytes);
  if (rows > 1) {
    place.rowBytes = rowBytes;
    place.pitch = size * rowBytes;
  }
  return place;
}

// --- checks

Status checkTuning(const PeerTuning &tuning) {
  if (tuning.threads % 32 != 0 || tuning.threads > kRingMaxThreads ||
      tuning.blocks > kPeerMaxBlocks)
    return Status::invalid(
        "blocks of " + std::to_string(tuning.threads) + " threads, " +
        std::to_string(tuning.blocks) + " of them: threads have to be a multiple of 32 up to " +
        std::to_string(kRingMaxThreads) + ", blocks at most " + std::to_string(kPeerMaxBlocks));
  return Status::okay();
}

Status checkRoot(const PeerGroup &group, uint32_t root) {
  if (root < group.size)
    return Status::okay();
  return Status::invalid("root " + std::to_string(root) + " of a group of " +
                         std::to_string(group.size));
}

// Of `count` things of `each` bytes; false: too many.
bool multiply(uint64_t count, uint64_t each, uint64_t &bytes) {
  if (each != 0 && count > kMaxBytes / each)
    return false;
  bytes = count * each;
  return true;
}

Status tooLarge() { return Status::invalid("a message of 2^60 bytes or more"); }

// Both sides of a message, in blocks of so many bytes.
bool arePlain(const PeerPlace &a, const PeerPlace &b, uint64_t bytes) {
  return a.width == kVec && b.width == kVec && a.rowBytes == 0 && b.rowBytes == 0 &&
         bytes % kVec == 0;
}

Status checkBuffer(const char *name, const void *buffer, bool needed) {
  if (needed && !buffer)
    return Status::invalid(std::string("a null pointer as ") + name);
  return Status::okay();
}

struct Sizes {
  uint64_t block; // of one member
  uint64_t all;   // of a side with a block per member
};

Result<Sizes> sizesOf(const PeerGroup &group, const ReduceArgs &args) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  COLL_RETURN_IF_ERROR(checkTuning(args.tuning));
  COLL_RETURN_IF_ERROR(checkRoot(group, args.root));
  if (!rt::isValidDtype(args.dtype) || !rt::reductionTakes(args.reduction, args.dtype))
    return Status::invalid(std::string(rt::reductionName(args.reduction)) + " of " +
                           rt::dtypeName(args.dtype));
  Sizes sizes = {};
  if (!multiply(args.count, static_cast<uint64_t>(rt::dtypeSize(args.dtype)), sizes.block) ||
      !multiply(args.outer, sizes.block, sizes.block) ||
      !multiply(group.size, sizes.block, sizes.all))
    return tooLarge();
  COLL_RETURN_IF_ERROR(checkBuffer("src", args.src, sizes.block > 0));
  return sizes;
}

Result<Sizes> sizesOf(const PeerGroup &group, const CopyArgs &args) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  COLL_RETURN_IF_ERROR(checkTuning(args.tuning));
  COLL_RETURN_IF_ERROR(checkRoot(group, args.root));
  Sizes sizes = {};
  uint64_t dst = 0;
  if (!multiply(args.srcRows, args.srcRowBytes, sizes.block) ||
      !multiply(args.dstRows, args.dstRowBytes, dst) ||
      !multiply(group.size, sizes.block, sizes.all))
    return tooLarge();
  if (dst != sizes.block)
    return Status::invalid("blocks of " + std::to_string(sizes.block) + " bytes in src and " +
                           std::to_string(dst) + " in dst");
  return sizes;
}

// --- grids and algorithms

uint64_t slotVectors(const PeerGroup &group) { return group.layout.slotBytes / kVec; }

uint32_t maxBlocks(const PeerGroup &group) {
  return group.maxBlocks != 0 ? group.maxBlocks : residentBlocks(kMultiprocessors, 1);
}

// So many, or what was asked for.
uint32_t within(uint32_t most, uint64_t wanted, uint32_t asked) {
  return static_cast<uint32_t>(
      std::clamp<uint64_t>(asked != 0 ? asked : wanted, 1, std::max(1u, most)));
}

void setPacketGrid(const PeerGroup &group, PeerPlan &plan, const PeerTuning &tuning,
                   uint64_t vectors) {
  plan.packets = true;
  plan.threads = kPacketThreads;
  for (const PacketGrid &grid : kPacketGrids)
    if (vectors <= grid.vectors) {
      plan.threads = grid.threads;
      break;
    }
  if (tuning.threads != 0)
    plan.threads = std::min(tuning.threads, kPeerMaxThreads);
  // One more speaks with the peers.
  const uint32_t most = std::max(2u, maxBlocks(group) * 2 / 3);
  plan.blocks = within(most - 1, ceilDiv(vectors, plan.threads), tuning.blocks) + 1;
  // Two of them take no more than one large one.
  plan.early = plan.blocks <= maxBlocks(group) / 3;
}

// In how many rounds a team moves `each` vectors, at least. A piece goes over `stages` links, one
// after the other, which are busy together from the second round on: short rounds fill them sooner,
// but each costs a team the same again. The least of (rounds + stages - 1) * (link time + cost).
uint64_t pipelinedRounds(uint64_t each, uint32_t stages) {
  const uint64_t square = (stages - 1) * each / kRoundCostVectors;
  const auto best = static_cast<uint64_t>(std::sqrt(static_cast<double>(square)));
  return std::min(best, each / kRingMinVectors);
}

// What is particular to a kernel that uses rings.
struct RingShape {
  uint32_t roles;      // blocks of a team
  uint32_t lanes = 1;  // how many of a number's lanes teams share out among them
  uint32_t stages = 1; // links that a piece goes over, one after the other
};
void setRingGrid(const PeerGroup &group, PeerPlan &plan, const PeerTuning &tuning, uint64_t vectors,
                 const RingShape &shape) {
  const auto [roles, lanes, stages] = shape;
  plan.packets = false;
  // A multiprocessor takes two blocks of kRingThreads, or one of twice as many.
  const uint32_t small = maxBlocks(group) * 2 / 3;
  const bool fills = roles * lanes == 1 && small >= 2 * kMultiprocessors;
  plan.threads = fills ? kRingMaxThreads : kRingThreads;
  if (tuning.threads != 0)
    plan.threads = tuning.threads;
  const uint32_t resident = plan.threads > kRingThreads ? small / 2 : small;
  const uint32_t most =
      std::min({lanes * group.layout.ringBlocks, lanes * kMaxTeams, resident / roles});
  plan.teams = within(most, ceilDiv(vectors, kRingMinVectors), tuning.blocks);
  plan.blocks = plan.teams * roles;
  // Rounds of equal size, in whole warps.
  const uint64_t each = ceilDiv(vectors, plan.teams);
  const uint64_t rounds =
      std::max({uint64_t{1}, ceilDiv(each, slotVectors(group)), pipelinedRounds(each, stages)});
  const uint64_t piece = ceilDiv(ceilDiv(each, rounds), 32) * 32;
  plan.pieceBytes = std::min(piece, slotVectors(group)) * kVec;
}

// Those who only collect are blocks of their own, where there is something to collect.
uint32_t rolesOf(const SlicePlan &slices) { return slices.keepers != 0 && !slices.direct ? 2 : 1; }

enum class Route : uint8_t { WholePackets, SlicedPackets, Rings };

// `limits`: what packets are chosen up to; `hops`: of slices. An algorithm that was asked for is
// taken if the message fits.
Result<Route> chooseRoute(const PeerGroup &group, const PeerTuning &tuning, uint64_t whole,
                          uint64_t sliced, uint64_t bytes, uint64_t slice, uint32_t hops) {
  const bool wholeFits = bytes <= group.layout.packetBytes;
  const bool slicedFits = slice * hops <= group.layout.packetBytes;
  const Status doesNotFit = Status::invalid("a message of " + std::to_string(bytes) +
                                            " bytes is too large for this algorithm");
  switch (tuning.algorithm) {
  case PeerAlgorithm::OneShot:
    return wholeFits ? Result(Route::WholePackets) : doesNotFit;
  case PeerAlgorithm::TwoShot:
    return slicedFits ? Result(Route::SlicedPackets) : doesNotFit;
  case PeerAlgorithm::Pipe:
    return Route::Rings;
  case PeerAlgorithm::Auto:
    break;
  }
  if (wholeFits && bytes <= whole)
    return Route::WholePackets;
  return slicedFits && bytes <= sliced ? Route::SlicedPackets : Route::Rings;
}

uint32_t countOf(uint32_t members) { return static_cast<uint32_t>(__builtin_popcount(members)); }

// --- slices

// What all_reduce, reduce and broadcast have in common: a contiguous message.
struct Message {
  Op op;
  const void *src;
  void *dst;
  uint64_t bytes;
  uint32_t contributors;
  uint32_t owners;
  uint32_t receivers; // of the result
  void *const *peerDst;
  uint64_t dstPlace;

  uint64_t slice() const {
    return ceilDiv(ceilDiv(bytes, std::max(1u, countOf(owners))), kVec) * kVec;
  }
};

Result<Route> chooseRoute(const PeerGroup &group, const Message &message,
                          const PeerTuning &tuning) {
  const PacketLimits limits = packetLimits(group.size);
  return chooseRoute(group, tuning, countOf(message.owners) == 1 ? limits.rooted : limits.whole,
                     limits.sliced, message.bytes, message.slice(), 2);
}

void setDirect(const PeerGroup &group, const Message &message, SlicePlan &slices) {
  if (!message.peerDst[0] || slices.whole || slices.keepers == 0)
    return;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < group.size; ++i) {
    slices.directDst[i] = static_cast<char *>(message.peerDst[i]);
    if ((slices.keepers >> i & 1u) != 0)
      bits |= reinterpret_cast<uintptr_t>(message.peerDst[i]);
  }
  slices.direct = true;
  slices.dst.width = std::min(slices.dst.width, widthOf(bits, message.bytes));
}

Result<PeerPlan> planMessage(const PeerGroup &group, const Message &message,
                             const PeerTuning &tuning, SlicePlan slices) {
  PeerPlan plan;
  if (message.bytes == 0)
    return plan;
  plan.kind = PeerPlan::Kind::Slices;
  const uint32_t owners = countOf(message.owners);
  const uint64_t slice = message.slice();
  Result<Route> route = chooseRoute(group, message, tuning);
  if (!route)
    return route.status();
  // Two members, or one owner: slices would not save anything.
  slices.whole =
      *route == Route::WholePackets || (*route == Route::Rings && (group.size <= 2 || owners == 1));
  slices.bytes = message.bytes;
  slices.sliceBytes = slices.whole ? message.bytes : slice;
  slices.src = contiguous(message.src, message.bytes, slices.whole ? 0 : slice);
  slices.dst = contiguous(message.dst, message.bytes, slices.whole ? 0 : slice);
  slices.contributors = message.contributors;
  slices.owners = message.owners;
  slices.ownKeepers = message.owners & message.receivers;
  slices.keepers = slices.whole ? 0 : message.receivers;
  setDirect(group, message, slices);
  slices.plain = arePlain(slices.src, slices.dst, message.bytes);
  const uint64_t vectors = ceilDiv(slices.sliceBytes, kVec);
  if (*route == Route::Rings)
    // The root's link in is another one than those that slices took to their owners.
    setRingGrid(group, plan, tuning, vectors,
                {rolesOf(slices), 1, message.op == Op::Reduce && !slices.whole ? 2u : 1u});
  else
    setPacketGrid(group, plan, tuning, vectors);
  plan.slices = slices;
  plan.what =
      hashOf({static_cast<uint64_t>(message.op), message.bytes, slices.dtype, slices.reduction,
              message.contributors, message.receivers, static_cast<uint64_t>(*route), plan.blocks,
              plan.threads, slices.direct, slices.direct ? message.dstPlace : 0});
  return plan;
}

SlicePlan reductionOf(const PeerGroup &group, const ReduceArgs &args) {
  SlicePlan slices = {};
  slices.dtype = args.dtype;
  slices.reduction = args.reduction;
  slices.divisor = args.reduction == kCollAvg ? group.size : 0;
  return slices;
}

// A group of one: a copy, or nothing.
PeerPlan planCopy(const PeerGroup &group, const void *src, void *dst, uint64_t bytes) {
  PeerPlan plan;
  if (bytes == 0 || src == dst)
    return plan;
  plan.kind = PeerPlan::Kind::Slices;
  plan.slices.src = contiguous(src, bytes);
  plan.slices.dst = contiguous(dst, bytes);
  plan.slices.bytes = plan.slices.sliceBytes = bytes;
  plan.slices.plain = arePlain(plan.slices.src, plan.slices.dst, bytes);
  plan.slices.whole = true;
  plan.slices.copyOwn = true;
  plan.what = hashOf({bytes});
  setPacketGrid(group, plan, {}, ceilDiv(bytes, kVec));
  return plan;
}

// --- exchanges

struct Traffic {
  Op op;
  uint32_t targets;
  uint32_t sources;
  uint64_t who; // root or pairs, hashed
};

// Where peers write to dst: whether they do, and to which addresses.
void setDirect(const PeerGroup &group, void *const *peerDst, ExchangePlan &exchange) {
  if (!peerDst[0] || group.size == 1)
    return;
  exchange.direct = true;
  uint64_t bits = 0;
  for (uint32_t i = 0; i < group.size; ++i) {
    exchange.directDst[i] = static_cast<char *>(peerDst[i]);
    bits |= reinterpret_cast<uintptr_t>(peerDst[i]);
  }
  exchange.dst.width = std::min(exchange.dst.width, widthOf(bits, exchange.bytes));
}

Result<PeerPlan> planExchange(const PeerGroup &group, const CopyArgs &args, const Traffic &traffic,
                              ExchangePlan exchange) {
  PeerPlan plan;
  if (exchange.bytes == 0)
    return plan;
  plan.kind = PeerPlan::Kind::Exchange;
  const uint64_t limit = packetLimits(group.size).exchange;
  Result<Route> route =
      chooseRoute(group, args.tuning, limit, 0, exchange.bytes, exchange.bytes, 1);
  if (!route)
    return route.status();
  exchange.targets = traffic.targets;
  exchange.sources = traffic.sources;
  const bool rings = *route == Route::Rings;
  const uint64_t vectors = ceilDiv(exchange.bytes, kVec);
  if (rings)
    setDirect(group, args.peerDst, exchange);
  exchange.plain = arePlain(exchange.src, exchange.dst, exchange.bytes);
  if (rings)
    setRingGrid(group, plan, args.tuning, vectors, {kExchangeRoles});
  else
    setPacketGrid(group, plan, args.tuning, vectors);
  plan.exchange = exchange;
  plan.what =
      hashOf({static_cast<uint64_t>(traffic.op), exchange.bytes, traffic.who, rings, plan.blocks,
              plan.threads, exchange.direct, exchange.direct ? args.dstPlace : 0});
  return plan;
}

// A broadcast from member to member. `src`: the root's, else null.
PeerPlan planRelay(const PeerGroup &group, const CopyArgs &args, const void *src, uint64_t bytes) {
  PeerPlan plan;
  plan.kind = PeerPlan::Kind::Relay;
  ExchangePlan &exchange = plan.exchange;
  exchange.bytes = bytes;
  exchange.src = contiguous(src, bytes);
  exchange.dst = contiguous(args.dst, bytes);
  const uint32_t next = (group.rank + 1) % group.size;
  exchange.targets = next != args.root ? 1u << next : 0;
  exchange.sources = group.rank != args.root ? 1u << (group.rank + group.size - 1) % group.size : 0;
  setDirect(group, args.peerDst, exchange);
  exchange.plain = arePlain(exchange.src, exchange.dst, bytes);
  setRingGrid(group, plan, args.tuning, ceilDiv(bytes, kVec), {1, kRingLanes, group.size - 1});
  plan.what = hashOf({static_cast<uint64_t>(Op::Broadcast), bytes, args.root, plan.blocks,
                      plan.threads, exchange.direct, exchange.direct ? args.dstPlace : 0});
  return plan;
}

} // namespace

Result<PeerPlan> planAllReduce(const PeerGroup &group, const ReduceArgs &args) {
  Result<Sizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0));
  if (group.size == 1)
    return planCopy(group, args.src, args.dst, sizes->block);
  const uint32_t all = allOf(group);
  return planMessage(
      group,
      {Op::AllReduce, args.src, args.dst, sizes->block, all, all, all, args.peerDst, args.dstPlace},
      args.tuning, reductionOf(group, args));
}

Result<PeerPlan> planReduce(const PeerGroup &group, const ReduceArgs &args) {
  Result<Sizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0 && group.rank == args.root));
  if (group.size == 1)
    return planCopy(group, args.src, args.dst, sizes->block);
  const uint32_t all = allOf(group), root = 1u << args.root;
  // Whole messages are combined by the root. In slices the others do that, so that the root's
  // links carry the message once.
  const bool sliced = group.size > 2 && args.tuning.algorithm != PeerAlgorithm::OneShot &&
                      (args.tuning.algorithm != PeerAlgorithm::Auto ||
                       sizes->block > packetLimits(group.size).rooted);
  void *none[kMaxPeers] = {};
  return planMessage(group,
                     {Op::Reduce, args.src, args.dst, sizes->block, all,
                      sliced ? all & ~root : root, root, none, 0},
                     args.tuning, reductionOf(group, args));
}

Result<PeerPlan> planReduceScatter(const PeerGroup &group, const ReduceArgs &args) {
  Result<Sizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0));
  if (group.size == 1)
    return planCopy(group, args.src, args.dst, sizes->block);
  PeerPlan plan;
  if (sizes->block == 0)
    return plan;
  plan.kind = PeerPlan::Kind::Slices;
  const uint64_t limit = packetLimits(group.size).exchange;
  Result<Route> route = chooseRoute(group, args.tuning, limit, 0, sizes->block, sizes->block, 1);
  if (!route)
    return route.status();
  SlicePlan &slices = plan.slices;
  slices = reductionOf(group, args);
  slices.bytes = sizes->all;
  slices.sliceBytes = sizes->block;
  slices.src = interleaved(args.src, group.size, args.outer,
                           sizes->block / std::max<uint64_t>(1, args.outer));
  slices.dst = contiguous(args.dst, sizes->block);
  slices.plain = arePlain(slices.src, slices.dst, sizes->block);
  slices.contributors = slices.owners = slices.ownKeepers = allOf(group);
  const uint64_t vectors = ceilDiv(sizes->block, kVec);
  if (*route == Route::Rings)
    setRingGrid(group, plan, args.tuning, vectors, {rolesOf(slices)});
  else
    setPacketGrid(group, plan, args.tuning, vectors);
  plan.what =
      hashOf({static_cast<uint64_t>(Op::ReduceScatter), sizes->block, args.outer, slices.dtype,
              slices.reduction, *route == Route::Rings, plan.blocks, plan.threads});
  return plan;
}

Result<PeerPlan> planBroadcast(const PeerGroup &group, const CopyArgs &args) {
  Result<Sizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  const bool isRoot = group.rank == args.root;
  const void *src = isRoot ? args.src : nullptr;
  COLL_RETURN_IF_ERROR(checkBuffer("src", args.src, sizes->block > 0 && isRoot));
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0 && !isRoot));
  if (group.size == 1)
    return planCopy(group, src, args.dst ? args.dst : const_cast<void *>(src), sizes->block);
  const uint32_t root = 1u << args.root, others = allOf(group) & ~root;
  const Message message = {Op::Broadcast, src,    args.dst,     sizes->block, root,
                           others,        others, args.peerDst, args.dstPlace};
  Result<Route> route = chooseRoute(group, message, args.tuning);
  if (!route)
    return route.status();
  if (*route == Route::Rings && sizes->block > 0)
    return planRelay(group, args, src, sizes->block);
  SlicePlan slices = {};
  slices.copyOwn = isRoot && args.dst && args.dst != args.src;
  return planMessage(group, message, args.tuning, slices);
}

Result<PeerPlan> planAllGather(const PeerGroup &group, const CopyArgs &args) {
  Result<Sizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  COLL_RETURN_IF_ERROR(checkBuffer("src", args.src, sizes->block > 0));
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0));
  ExchangePlan exchange = {};
  exchange.bytes = sizes->block;
  exchange.src = contiguous(args.src, sizes->block);
  exchange.dst = interleaved(args.dst, group.size, args.dstRows, args.dstRowBytes);
  return planExchange(group, args, {Op::AllGather, allOf(group), allOf(group), args.dstRows},
                      exchange);
}

Result<PeerPlan> planAllToAll(const PeerGroup &group, const CopyArgs &args) {
  Result<Sizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  COLL_RETURN_IF_ERROR(checkBuffer("src", args.src, sizes->block > 0));
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0));
  if (args.src == args.dst && sizes->block > 0 && (args.srcRows != args.dstRows || args.peerDst[0]))
    return Status::invalid("all_to_all in place with different layouts of src and dst, or with "
                           "peers that write to dst");
  ExchangePlan exchange = {};
  exchange.bytes = sizes->block;
  exchange.src = interleaved(args.src, group.size, args.srcRows, args.srcRowBytes);
  exchange.dst = interleaved(args.dst, group.size, args.dstRows, args.dstRowBytes);
  return planExchange(
      group, args, {Op::AllToAll, allOf(group), allOf(group), hashOf({args.srcRows, args.dstRows})},
      exchange);
}

Result<PeerPlan> planGather(const PeerGroup &group, const CopyArgs &args) {
  Result<Sizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  const bool isRoot = group.rank == args.root;
  COLL_RETURN_IF_ERROR(checkBuffer("src", args.src, sizes->block > 0));
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0 && isRoot));
  ExchangePlan exchange = {};
  exchange.bytes = sizes->block;
  exchange.src = contiguous(args.src, sizes->block);
  exchange.dst = interleaved(args.dst, group.size, args.dstRows, args.dstRowBytes);
  return planExchange(
      group, args,
      {Op::Gather, 1u << args.root, isRoot ? allOf(group) : 0, hashOf({args.root, args.dstRows})},
      exchange);
}

Result<PeerPlan> planScatter(const PeerGroup &group, const CopyArgs &args) {
  Result<Sizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  const bool isRoot = group.rank == args.root;
  COLL_RETURN_IF_ERROR(checkBuffer("src", args.src, sizes->block > 0 && isRoot));
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0));
  ExchangePlan exchange = {};
  exchange.bytes = sizes->block;
  exchange.src = interleaved(args.src, group.size, args.srcRows, args.srcRowBytes);
  exchange.dst = contiguous(args.dst, sizes->block);
  return planExchange(
      group, args,
      {Op::Scatter, isRoot ? allOf(group) : 0, 1u << args.root, hashOf({args.root, args.srcRows})},
      exchange);
}

Result<PeerPlan> planPermute(const PeerGroup &group, const CopyArgs &args, const int32_t *pairs,
                             uint32_t numPairs) {
  Result<Sizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  Traffic traffic = {Op::Permute, 0, 0, 0};
  uint32_t sources = 0, targets = 0, hash = hashOf({numPairs});
  for (uint32_t i = 0; i < numPairs; ++i) {
    const auto source = static_cast<uint32_t>(pairs[2 * i]);
    const auto target = static_cast<uint32_t>(pairs[2 * i + 1]);
    if (source >= group.size || target >= group.size || (sources >> source & 1u) != 0 ||
        (targets >> target & 1u) != 0)
      return Status::invalid("a permute with a pair " + std::to_string(pairs[2 * i]) + " to " +
                             std::to_string(pairs[2 * i + 1]) +
                             " that is outside the group, or that repeats a source or target");
    sources |= 1u << source;
    targets |= 1u << target;
    hash = hashOf({source, target}, hash);
    if (source == group.rank)
      traffic.targets = 1u << target;
    if (target == group.rank)
      traffic.sources = 1u << source;
  }
  traffic.who = hash;
  COLL_RETURN_IF_ERROR(checkBuffer("src", args.src, sizes->block > 0 && traffic.targets != 0));
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0));
  if (args.peerDst[0])
    return Status::invalid("a permute with peers' buffers");
  ExchangePlan exchange = {};
  exchange.bytes = sizes->block;
  exchange.src = contiguous(args.src, sizes->block);
  exchange.dst = contiguous(args.dst, sizes->block);
  exchange.zero = traffic.sources == 0;
  return planExchange(group, args, traffic, exchange);
}

Result<PeerPlan> planPeerBarrier(const PeerGroup &group) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  PeerPlan plan;
  if (group.size == 1)
    return plan;
  plan.kind = PeerPlan::Kind::Barrier;
  plan.early = true;
  plan.what = hashOf({static_cast<uint64_t>(Op::Barrier)});
  return plan;
}

} // namespace coll::kernels
