// tokens_device.cuh - the kernels of tokens.h.

#ifndef COLL_RUNTIME_KERNELS_TOKENS_TOKENS_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_TOKENS_TOKENS_DEVICE_CUH

#include "runtime/base/route_layout.h"
#include "runtime/kernels/simt/simt.h"
#include "runtime/kernels/tokens/tokens.h"

namespace coll::kernels::tokens {

// Calls visit(i) for this thread's share of `count` items.
template <typename Visit>
COLL_DEVICE void visitShare(uint64_t count, Visit &&visit) {
  const uint64_t threads = simt::blockThreads();
  for (uint64_t i = simt::blockIndex() * threads + simt::threadIndex(); i < count;
       i += simt::gridBlocks() * threads)
    visit(i);
}

COLL_DEVICE void widen(const WidenExperts &args) {
  visitShare(args.count, [&](uint64_t i) { args.to[i] = args.from[i]; });
}

// The position that a row came from; -1: it is behind the last row.
COLL_DEVICE int32_t sourceOf(const TokenShape &shape, const int32_t *rankPrefix, uint32_t row) {
  for (uint32_t source = 0; source < shape.groupSize; ++source)
    if (static_cast<int64_t>(row) < rankPrefix[source * shape.groupSize + shape.position])
      return static_cast<int32_t>(source);
  return -1;
}

// A warp takes a row at a time, a lane 16 bytes of it; then threads take tokens, and experts.
class Unpacker {
public:
  COLL_DEVICE explicit Unpacker(const UnpackTokens &args) : args_(args), shape_(args.shape) {}

  COLL_DEVICE void run() const {
    if (shape_.groupSize == 0) // a rehearsal
      return;
    const uint32_t warps = simt::blockThreads() / simt::kWarpThreads;
    const uint32_t first = simt::blockIndex() * warps + simt::threadIndex() / simt::kWarpThreads;
    for (uint32_t row = first; row < shape_.capacity; row += simt::gridBlocks() * warps)
      writeRow(row);
    visitShare(shape_.tokens, [&](uint64_t token) { writeTargets(token); });
    visitShare(args_.localExperts,
               [&](uint64_t expert) { args_.counts[expert] = args_.tokensPerExpert[expert]; });
    if (simt::blockIndex() == 0 && simt::threadIndex() == 0)
      writeHeader();
  }

private:
  static constexpr uint32_t kVec = sizeof(simt::Vec16);

  COLL_DEVICE void writeRow(uint32_t row) const {
    const uint32_t lane = simt::lane();
    const int32_t source = sourceOf(shape_, args_.rankPrefix, row);
    const bool isThere = source >= 0;
    const uint64_t place = uint64_t{row} * args_.rowBytes;
    for (uint32_t i = lane * kVec; i < args_.rowBytes; i += simt::kWarpThreads * kVec)
      simt::storeGlobal16(args_.rows + place + i,
                          isThere ? simt::loadGlobal16(args_.x + place + i) : simt::Vec16{});
    if (lane < shape_.topk) {
      const uint64_t i = uint64_t{row} * shape_.topk + lane;
      const int64_t expert = isThere ? args_.topkIdx[i] : -1;
      if (args_.isWide)
        static_cast<int64_t *>(args_.rowExperts)[i] = expert;
      else
        static_cast<int32_t *>(args_.rowExperts)[i] = static_cast<int32_t>(expert);
      args_.rowWeights[i] = isThere ? args_.topkWeights[i] : 0;
    }
    for (uint32_t s = lane; s < args_.numScales; s += simt::kWarpThreads) {
      const uint64_t i = uint64_t{row} * args_.numScales + s;
      args_.rowScales[i] = isThere ? args_.scales[i] : 0;
    }
    if (lane == 0)
      args_.route[rt::kRouteHeaderWords + row] = source;
  }

  COLL_DEVICE void writeTargets(uint64_t token) const {
    const uint8_t *goes = args_.isTokenInRank + token * shape_.groupSize;
    int32_t *targets = args_.route + rt::kRouteHeaderWords + shape_.capacity + token * shape_.topk;
    uint32_t count = 0;
    for (uint32_t r = 0; r < shape_.groupSize; ++r)
      if (goes[r] && count < shape_.topk)
        targets[count++] = static_cast<int32_t>(r);
    while (count < shape_.topk)
      targets[count++] = -1;
  }

  COLL_DEVICE void writeHeader() const {
    args_.route[rt::kRouteMagicWord] = rt::kRouteMagic;
    args_.route[rt::kRouteGroupSize] = static_cast<int32_t>(shape_.groupSize);
    args_.route[rt::kRoutePosition] = static_cast<int32_t>(shape_.position);
    args_.route[rt::kRouteSerial] = args_.serial;
    args_.route[rt::kRouteTokens] = static_cast<int32_t>(shape_.tokens);
    args_.route[rt::kRouteTopk] = static_cast<int32_t>(shape_.topk);
    args_.route[rt::kRouteCapacity] = static_cast<int32_t>(shape_.capacity);
    args_.route[rt::kRouteUnused] = 0;
  }

  const UnpackTokens &args_;
  const TokenShape &shape_;
};

struct RouteScratch {
  uint32_t counts[kTokenThreads / simt::kWarpThreads];
};

// Block r marks and counts the tokens for position r.
class RouteCounter {
public:
  COLL_DEVICE RouteCounter(const TokenRoute &args, RouteScratch &shared)
      : args_(args), shape_(args.shape), shared_(shared) {}

  COLL_DEVICE void run() const {
    if (shape_.groupSize == 0) // a rehearsal
      return;
    const uint32_t target = simt::blockIndex(), thread = simt::threadIndex();
    const bool isOurs = isRoute();
    if (!isOurs && target == 0 && thread == 0)
      simt::storeRelaxed(args_.error, static_cast<uint32_t>(RouteError::Foreign));
    uint32_t count = 0;
    for (uint32_t token = thread; token < shape_.tokens; token += simt::blockThreads()) {
      const bool goes = isOurs && goesTo(token, target);
      args_.isTokenInRank[uint64_t{token} * shape_.groupSize + target] = goes;
      count += goes;
    }
    count = simt::sum(count);
    if (simt::lane() == 0)
      shared_.counts[thread / simt::kWarpThreads] = count;
    simt::syncBlock();
    if (thread != 0)
      return;
    for (uint32_t w = 1; w < simt::blockThreads() / simt::kWarpThreads; ++w)
      count += shared_.counts[w];
    args_.tokensPerRank[target] = static_cast<int32_t>(count);
  }

private:
  COLL_DEVICE bool isRoute() const {
    const int32_t *words = args_.route;
    return words[rt::kRouteMagicWord] == rt::kRouteMagic &&
           words[rt::kRouteGroupSize] == static_cast<int32_t>(shape_.groupSize) &&
           words[rt::kRoutePosition] == static_cast<int32_t>(shape_.position) &&
           words[rt::kRouteTokens] == static_cast<int32_t>(shape_.tokens) &&
           words[rt::kRouteTopk] == static_cast<int32_t>(shape_.topk) &&
           words[rt::kRouteCapacity] == static_cast<int32_t>(shape_.capacity);
  }
  COLL_DEVICE bool goesTo(uint32_t token, uint32_t target) const {
    const int32_t *targets =
        args_.route + rt::kRouteHeaderWords + shape_.capacity + uint64_t{token} * shape_.topk;
    for (uint32_t k = 0; k < shape_.topk && targets[k] >= 0; ++k)
      if (targets[k] == static_cast<int32_t>(target))
        return true;
    return false;
  }

  const TokenRoute &args_;
  const TokenShape &shape_;
  RouteScratch &shared_;
};

COLL_DEVICE void checkRoute(const TokenRoute &args) {
  visitShare(args.shape.capacity, [&](uint64_t row) {
    // If the route is foreign, that is the cause: its rows do not return.
    if (args.route[rt::kRouteHeaderWords + row] !=
            sourceOf(args.shape, args.rankPrefix, static_cast<uint32_t>(row)) &&
        simt::loadRelaxed(args.error) != static_cast<uint32_t>(RouteError::Foreign))
      simt::storeRelaxed(args.error, static_cast<uint32_t>(RouteError::Changed));
  });
}

} // namespace coll::kernels::tokens

#endif // COLL_RUNTIME_KERNELS_TOKENS_TOKENS_DEVICE_CUH
