// ring_device.cuh - the root update with rings: calls of any size, for GPU and host.
//
// The blocks of all members with the same index work on the same positions and communicate only
// with each other. A root's list is cut into chunks of gridBlocks() * blockElems positions; chunk
// by chunk, a block
//
//   1. push     copies its part of every other root's chunk of gradients into that root's
//               ring, peers in the order rank + 1, rank + 2, … so that each has one writer
//               at a time. This is done a chunk ahead of the rest;
//   2. update   sums its own gradients and the slots in rank order, applies the optimizer,
//               stores state and parameters, and parameters into member rank + 1 too;
//   3. forward  copies the new parameters to rank + 2, rank + 3, …
//
// and signals, after one fence, which slots are full, and which are free. At the end it waits for
// an empty slot of every peer, which means that the peer's parameters have arrived.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_RING_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_RING_DEVICE_CUH

#include "runtime/kernels/root_update/unit.cuh"

namespace coll::kernels::root_update {

template <typename Optimizer, typename Gradient, typename Parameter, uint32_t kRanks>
class RingUpdate : Root<Optimizer, Gradient, Parameter, kRanks> {
  using Base = Root<Optimizer, Gradient, Parameter, kRanks>;
  using Base::args_;
  using Base::call_;
  using Base::compute;
  using Base::gradients;
  using Base::isWhole;
  using Base::kUnit;
  using Base::parameters;
  using Base::peer;
  using Base::prepare;
  using Base::rank_;
  using Base::ranks_;
  using Base::shared_;
  using typename Base::G;
  using typename Base::Inputs;
  using typename Base::P;
  // Units in flight per thread.
  template <bool kWhole, typename T, uint32_t kVectors>
  static constexpr uint32_t kUnroll = kWhole ? kVectors / Elements<T, kUnit>::kVectors : 1;

  static constexpr uint32_t kLane = 0;

public:
  COLL_DEVICE RingUpdate(const Arguments &args, const Optimizer &optimizer, char *shared)
      : Base(args, optimizer, shared) {}

  COLL_DEVICE void run() const {
    const peer::Call call(args_.group, args_.call);
    const peer::Rings rings(args_.group, call, reinterpret_cast<char *>(&shared_.rings),
                            simt::blockIndex());
    if (!simt::syncBlockAny(!call.enter()))
      exchange(rings);
    call.leave();
  }

private:
  // Chunk c is pushed in round c and updated in round c + 1. The slot after that of the last chunk
  // is empty and means that everything that the peer stores here has arrived. Ends early if the
  // group has failed.
  COLL_DEVICE void exchange(const peer::Rings &rings) const {
    using peer::RingSignal;
    using peer::RingWait;
    const uint32_t peers = ((1u << ranks_) - 1) & ~(1u << rank_);
    for (uint32_t round = 0; round <= args_.chunks; ++round) {
      const uint32_t sources = round > 0 ? peers : 0;
      if (!rings.await({{RingWait::Data, kLane, sources}, {RingWait::Room, kLane, peers}}))
        return;
      if (round < args_.chunks)
        push(round, rings);
      if (round == 0) {
        prepare();
        // A peer that makes another call is detected before its data is used.
        if (!rings.awaitEntry(peers))
          return;
      }
      if (round > 0)
        update(round - 1, rings);
      rings.signal({{RingSignal::Publish, kLane, peers}, {RingSignal::Release, kLane, sources}});
    }
    if (rings.awaitData(kLane, peers))
      rings.release(kLane, peers);
  }

  // This block's part of a root's chunk.
  COLL_DEVICE Range range(uint32_t root, uint32_t chunk) const {
    const uint64_t elems = call_.table.elems[root];
    const uint64_t part = uint64_t{chunk} * simt::gridBlocks() + simt::blockIndex();
    const uint64_t begin = part * args_.blockElems, end = begin + args_.blockElems;
    return {begin < elems ? begin : elems, end < elems ? end : elems};
  }

  // --- 1. push

  COLL_DEVICE void push(uint32_t chunk, const peer::Rings &rings) const {
    for (uint32_t distance = 1; distance < ranks_; ++distance) {
      const uint32_t root = peer(distance);
      const Range part = range(root, chunk);
      if (part.begin == part.end)
        continue;
      const Cursor cursor(call_.table, root, part.begin);
      if (cursor.covers(part) && isAligned16(gradients() + cursor.gradient(part.begin)))
        pushRange<true>(cursor, part, rings.slotAt(kLane, root));
      else
        pushRange<false>(cursor, part, rings.slotAt(kLane, root));
    }
  }

  template <bool kWhole>
  COLL_DEVICE void pushRange(Cursor cursor, Range part, char *slot) const {
    constexpr uint32_t kTimes = kUnroll<kWhole, G, kPushVectors>;
    const uint64_t stride = uint64_t{simt::blockThreads()} * kUnit;
    for (uint64_t at = part.begin + simt::threadIndex() * kUnit; at < part.end;
         at += stride * kTimes) {
      Elements<G, kUnit> held[kTimes];
      COLL_UNROLL()
      for (uint32_t u = 0; u < kTimes; ++u)
        if (const uint64_t i = at + u * stride; i < part.end) {
          const uint32_t count = kWhole ? kUnit : cursor.seek(i, kUnit);
          held[u] = load<kWhole, kUnit>(gradients() + cursor.gradient(i), count);
        }
      COLL_UNROLL()
      for (uint32_t u = 0; u < kTimes; ++u)
        if (const uint64_t i = at + u * stride; i < part.end)
          storeVectors(slot + (i - part.begin) * sizeof(G), held[u]);
    }
  }

  // --- 2. update, 3. forward

  COLL_DEVICE void update(uint32_t chunk, const peer::Rings &rings) const {
    const Range part = range(rank_, chunk);
    const Cursor cursor(call_.table, rank_, part.begin);
    if (cursor.covers(part) && isWhole(cursor, part.begin))
      updateRange<true>(cursor, part, rings);
    else
      updateRange<false>(cursor, part, rings);
  }

  template <bool kWhole>
  COLL_DEVICE void updateRange(const Cursor &cursor, Range part, const peer::Rings &rings) const {
    sumRange<kWhole>(cursor, part, rings);
    for (uint32_t distance = 2; distance < ranks_; ++distance)
      forwardRange<kWhole>(cursor, part, parameters(peer(distance)));
  }

  template <bool kWhole>
  COLL_DEVICE void sumRange(Cursor cursor, Range part, const peer::Rings &rings) const {
    const typename Optimizer::Step step = shared_.step;
    const float scale = shared_.scale;
    const uint64_t stride = uint64_t{simt::blockThreads()} * kUnit;
    constexpr uint32_t kTimes = kWhole && kRanks == 2 ? kPairElems / kUnit : 1;
    for (uint64_t at = part.begin + simt::threadIndex() * kUnit; at < part.end;
         at += stride * kTimes) {
      Inputs in[kTimes];
      uint32_t count = kUnit;
      COLL_UNROLL()
      for (uint32_t u = 0; u < kTimes; ++u)
        if (const uint64_t i = at + u * stride; i < part.end) {
          if constexpr (!kWhole)
            count = cursor.seek(i, kUnit);
          gather<kWhole>(in[u], cursor, rings, i, i - part.begin, count);
        }
      COLL_UNROLL()
      for (uint32_t u = 0; u < kTimes; ++u)
        if (const uint64_t i = at + u * stride; i < part.end) {
          compute(in[u], step, scale);
          scatter<kWhole>(in[u], cursor, i, count);
        }
    }
  }

  template <bool kWhole>
  COLL_DEVICE void gather(Inputs &in, const Cursor &cursor, const peer::Rings &rings, uint64_t i,
                          uint64_t offset, uint32_t count) const {
    const G *own = gradients() + cursor.gradient(i);
    COLL_UNROLL()
    for (uint32_t member = 0; member < kRanks; ++member) {
      if (member >= ranks_)
        continue;
      const char *slot = rings.dataOf(kLane, member) + offset * sizeof(G);
      // Selects the address, not the value, so that the values stay in registers.
      const void *from = member == rank_ ? static_cast<const void *>(own) : slot;
      const uint32_t there = member == rank_ ? count : kUnit;
      in.gradients[member] = load<kWhole, kUnit>(static_cast<const G *>(from), there);
    }
    this->template loadState<kWhole>(in, cursor, i, count);
  }

  template <bool kWhole>
  COLL_DEVICE void scatter(const Inputs &in, const Cursor &cursor, uint64_t i,
                           uint32_t count) const {
    const Elements<P, kUnit> fresh = this->fresh(in);
    const uint64_t parameter = cursor.parameter(i);
    if (ranks_ > 1)
      store<kWhole>(parameters(peer(1)) + parameter, fresh, count);
    store<kWhole>(parameters(rank_) + parameter, fresh, count);
    this->template storeState<kWhole>(in, cursor, i, count);
  }

  // Threads read their own stores.
  template <bool kWhole>
  COLL_DEVICE void forwardRange(Cursor cursor, Range part, P *target) const {
    constexpr uint32_t kTimes = kUnroll<kWhole, P, kForwardVectors>;
    const uint64_t stride = uint64_t{simt::blockThreads()} * kUnit;
    for (uint64_t at = part.begin + simt::threadIndex() * kUnit; at < part.end;
         at += stride * kTimes) {
      Elements<P, kUnit> held[kTimes];
      uint32_t counts[kTimes];
      uint64_t places[kTimes];
      COLL_UNROLL()
      for (uint32_t u = 0; u < kTimes; ++u)
        if (const uint64_t i = at + u * stride; i < part.end) {
          counts[u] = kWhole ? kUnit : cursor.seek(i, kUnit);
          places[u] = cursor.parameter(i);
          held[u] = load<kWhole, kUnit>(parameters(rank_) + places[u], counts[u]);
        }
      COLL_UNROLL()
      for (uint32_t u = 0; u < kTimes; ++u)
        if (at + u * stride < part.end)
          store<kWhole>(target + places[u], held[u], counts[u]);
    }
  }
};

} // namespace coll::kernels::root_update

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_RING_DEVICE_CUH
