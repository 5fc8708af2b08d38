#include "runtime/kernels/peer/plan.h"

#include "runtime/kernels/peer/args.h"
#include "runtime/kernels/peer/grid.h"
#include "runtime/kernels/peer/state.h"
#include "runtime/kernels/peer/tuning.h"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace coll::kernels {

using rt::Result;
using rt::Status;

namespace {

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

uint32_t allOf(const PeerGroup &group) { return (1u << group.size) - 1; }

// FNV-1a of the numbers, which have to be equal on all members.
uint32_t hashOf(std::initializer_list<uint64_t> numbers, uint32_t hash = 2166136261u) {
  for (uint64_t number : numbers)
    for (int byte = 0; byte < 8; ++byte, number >>= 8)
      hash = (hash ^ static_cast<uint32_t>(number & 0xff)) * 16777619u;
  return hash;
}

// Collecting has separate blocks if there is something to collect.
uint32_t rolesOf(const SlicePlan &slices) { return slices.keepers != 0 && !slices.direct ? 2 : 1; }

uint32_t countOf(uint32_t members) { return static_cast<uint32_t>(__builtin_popcount(members)); }

// --- slices

// A contiguous message: the common part of all_reduce, reduce and broadcast.
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
    return vectorCount(ceilDiv(bytes, std::max(1u, countOf(owners)))) * kVectorBytes;
  }
};

Result<PeerRoute> routeOf(const PeerGroup &group, const Message &message,
                          const PeerTuning &tuning) {
  return chooseRoute(group, tuning, message.bytes, message.slice(), countOf(message.owners) == 1);
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
  Result<PeerRoute> route = routeOf(group, message, tuning);
  if (!route)
    return route.status();
  // With two members, or one owner, slices would save nothing.
  slices.whole = *route == PeerRoute::WholePackets ||
                 (*route == PeerRoute::Rings && (group.size <= 2 || owners == 1));
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
  // The root's incoming link is another one than those that the slices took to their owners.
  const uint32_t stages = message.op == Op::Reduce && !slices.whole ? 2 : 1;
  setGrid(group, tuning, *route, vectorCount(slices.sliceBytes), {rolesOf(slices), 1, stages},
          plan);
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
  setGrid(group, {}, PeerRoute::WholePackets, vectorCount(bytes), {}, plan);
  return plan;
}

// --- exchanges

struct Traffic {
  Op op;
  uint32_t targets;
  uint32_t sources;
  uint64_t who; // a hash of root or pairs
};

// Sets whether peers write to dst, and the addresses.
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
  Result<PeerRoute> route = chooseExchangeRoute(group, args.tuning, exchange.bytes);
  if (!route)
    return route.status();
  exchange.targets = traffic.targets;
  exchange.sources = traffic.sources;
  const bool rings = *route == PeerRoute::Rings;
  if (rings)
    setDirect(group, args.peerDst, exchange);
  exchange.plain = arePlain(exchange.src, exchange.dst, exchange.bytes);
  setGrid(group, args.tuning, *route, vectorCount(exchange.bytes), {kExchangeRoles}, plan);
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
  setGrid(group, args.tuning, PeerRoute::Rings, vectorCount(bytes), {1, kRingLanes, group.size - 1},
          plan);
  plan.what = hashOf({static_cast<uint64_t>(Op::Broadcast), bytes, args.root, plan.blocks,
                      plan.threads, exchange.direct, exchange.direct ? args.dstPlace : 0});
  return plan;
}

} // namespace

Result<PeerPlan> planAllReduce(const PeerGroup &group, const ReduceArgs &args) {
  Result<PeerSizes> sizes = sizesOf(group, args);
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
  Result<PeerSizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0 && group.rank == args.root));
  if (group.size == 1)
    return planCopy(group, args.src, args.dst, sizes->block);
  const uint32_t all = allOf(group), root = 1u << args.root;
  // With complete messages, the root combines them. With slices the other members do, so that the
  // root's links move the message once.
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
  Result<PeerSizes> sizes = sizesOf(group, args);
  if (!sizes)
    return sizes.status();
  COLL_RETURN_IF_ERROR(checkBuffer("dst", args.dst, sizes->block > 0));
  if (group.size == 1)
    return planCopy(group, args.src, args.dst, sizes->block);
  PeerPlan plan;
  if (sizes->block == 0)
    return plan;
  plan.kind = PeerPlan::Kind::Slices;
  Result<PeerRoute> route = chooseExchangeRoute(group, args.tuning, sizes->block);
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
  setGrid(group, args.tuning, *route, vectorCount(sizes->block), {rolesOf(slices)}, plan);
  plan.what =
      hashOf({static_cast<uint64_t>(Op::ReduceScatter), sizes->block, args.outer, slices.dtype,
              slices.reduction, *route == PeerRoute::Rings, plan.blocks, plan.threads});
  return plan;
}

Result<PeerPlan> planBroadcast(const PeerGroup &group, const CopyArgs &args) {
  Result<PeerSizes> sizes = sizesOf(group, args);
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
  Result<PeerRoute> route = routeOf(group, message, args.tuning);
  if (!route)
    return route.status();
  if (*route == PeerRoute::Rings && sizes->block > 0)
    return planRelay(group, args, src, sizes->block);
  SlicePlan slices = {};
  slices.copyOwn = isRoot && args.dst && args.dst != args.src;
  return planMessage(group, message, args.tuning, slices);
}

Result<PeerPlan> planAllGather(const PeerGroup &group, const CopyArgs &args) {
  Result<PeerSizes> sizes = sizesOf(group, args);
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
  Result<PeerSizes> sizes = sizesOf(group, args);
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
  Result<PeerSizes> sizes = sizesOf(group, args);
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
  Result<PeerSizes> sizes = sizesOf(group, args);
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
  Result<PeerSizes> sizes = sizesOf(group, args);
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
