// root_update_device.cuh - the root update's kernel, for GPU and host.
//
// The blocks of all members with the same index work on the same positions and talk to each
// other alone. A root's list is cut into chunks of gridBlocks() * blockElems positions; chunk
// by chunk, a block
//
//   1. push     copies its part of every other root's chunk of gradients into that root's
//               ring, peers in the order rank + 1, rank + 2, … so that each is written to by
//               one, and publishes the slots. This is done a chunk ahead: while the block
//               waits, its next gradients are on the links already;
//   2. wait     for the slots of all peers;
//   3. update   sums its own gradients and the slots in rank order, applies the optimizer,
//               stores state and parameters, and parameters into member rank + 1 too;
//   4. forward  copies the new parameters to rank + 2, rank + 3, …
//
// and at the end waits for an empty slot of every peer: its parameters have landed here.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_DEVICE_CUH

#include "runtime/kernels/channel_types.cuh"
#include "runtime/kernels/peer_ring_device.cuh"
#include "runtime/kernels/root_update.h"
#include "runtime/kernels/root_update_spans.cuh"
#include "runtime/kernels/root_update_tuning.h"

namespace coll::kernels::root_update {

using F32 = channel::PlainType<float>;
using Bf16 = channel::BfloatType;

// visit(gradient type, parameter type, kRanks of Update) for a call; returns what it returns.
// Types that differ have the kernel for any number of ranks alone, to spare the compiler.
template <typename Visit>
auto visitTypes(const RootUpdate &update, uint32_t ranks, Visit &&visit) {
  using Any = std::integral_constant<uint32_t, kMaxPeers>;
  const auto withRanks = [&](auto type) {
    if (ranks == 2)
      return visit(type, type, std::integral_constant<uint32_t, 2>());
    if (ranks == 4)
      return visit(type, type, std::integral_constant<uint32_t, 4>());
    return visit(type, type, Any());
  };
  if (update.gradientType == update.parameterType)
    return update.gradientType == kCollF32 ? withRanks(F32()) : withRanks(Bf16());
  return update.gradientType == kCollF32 ? visit(F32(), Bf16(), Any())
                                         : visit(Bf16(), F32(), Any());
}

// Once a block, in shared memory.
template <typename Optimizer>
struct Shared {
  typename Optimizer::Step step;
  float scale; // of a sum of gradients
  peer::RingScratch rings;
};

// kRanks: the group's size where loops over it are unrolled, or kMaxPeers for any.
template <typename Optimizer, typename Gradient, typename Parameter, uint32_t kRanks>
class Update {
  using G = typename Gradient::Stored;
  using P = typename Parameter::Stored;
  static constexpr bool kMaster = !std::is_same_v<P, float>;
  static constexpr uint32_t kUnit =
      sizeof(simt::Vec16) / (sizeof(G) < sizeof(P) ? sizeof(G) : sizeof(P));
  static_assert(kUpdateGrain % kUnit == 0);
  static constexpr int kSlots = Optimizer::kSlots;
  static_assert(kSlots >= 0 && kSlots <= kMaxOptimizerSlots);
  // Units in flight per thread.
  template <bool kWhole, typename T, uint32_t kVectors>
  static constexpr uint32_t kUnroll = kWhole ? kVectors / Elements<T, kUnit>::kVectors : 1;

  static constexpr uint32_t kLane = 0;

  // What a unit is computed from.
  struct Inputs {
    Elements<G, kUnit> gradients[kRanks];
    Elements<float, kUnit> old; // parameters in f32
    Elements<float, kUnit> slots[kSlots + 1];
  };

public:
  COLL_DEVICE Update(const Arguments &args, const Optimizer &optimizer, char *shared)
      : args_(args), call_(args.update), optimizer_(optimizer),
        shared_(*reinterpret_cast<Shared<Optimizer> *>(shared)), rank_(args.group.rank),
        ranks_(kRanks == kMaxPeers ? args.group.size : kRanks) {}

  COLL_DEVICE void run() const {
    const peer::Call call(args_.group, args_.call);
    const peer::Rings rings(args_.group, call, reinterpret_cast<char *>(&shared_.rings),
                            simt::blockIndex());
    if (!simt::syncBlockAny(!call.enter()))
      exchange(rings);
    call.leave();
  }

private:
  // Chunk c is pushed in round c and updated in round c + 1. The slots after those of the last
  // chunk are empty: all that the peer stores here has landed. Ends early once the group has
  // failed.
  COLL_DEVICE void exchange(const peer::Rings &rings) const {
    const uint32_t peers = ((1u << ranks_) - 1) & ~(1u << rank_);
    for (uint32_t round = 0; round <= args_.chunks; ++round) {
      const bool last = round == args_.chunks;
      if (!rings.awaitRoom(kLane, peers))
        return;
      if (!last) {
        push(round, rings);
        rings.publish(kLane, peers);
      }
      // A peer that makes another call is found before its data is used.
      if (round == 0)
        prepare();
      if (!(round == 0 ? rings.awaitEntry(peers) : rings.awaitData(kLane, peers)))
        return;
      if (round != 0)
        update(round - 1, rings, last ? 0 : peers);
      if (last)
        rings.signal(kLane, peers, kLane, round == 0 ? 0 : peers);
    }
    if (rings.awaitData(kLane, peers))
      rings.release(kLane, peers);
  }

  // One thread for the block, while gradients travel; the others see it after the next barrier.
  // The last thread, since the first ones wait for peers.
  COLL_DEVICE void prepare() const {
    if (simt::threadIndex() + 1 != simt::blockThreads())
      return;
    const UpdateStep now = *call_.step;
    shared_.step = optimizer_.prepare(now);
    shared_.scale = now.gradientScale / (call_.mean ? static_cast<float>(ranks_) : 1.0f);
  }

  COLL_DEVICE uint32_t peer(uint32_t distance) const {
    const uint32_t sum = rank_ + distance;
    return sum < ranks_ ? sum : sum - ranks_;
  }

  // This block's part of a root's chunk.
  COLL_DEVICE Range range(uint32_t root, uint32_t chunk) const {
    const uint64_t elems = call_.table.elems[root];
    const uint64_t part = uint64_t{chunk} * simt::gridBlocks() + simt::blockIndex();
    const uint64_t begin = part * args_.blockElems, end = begin + args_.blockElems;
    return {begin < elems ? begin : elems, end < elems ? end : elems};
  }

  COLL_DEVICE const G *gradients() const { return static_cast<const G *>(call_.gradients); }
  COLL_DEVICE P *parameters(uint32_t member) const {
    return static_cast<P *>(call_.parameters[member]);
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

  // --- 3. update, 4. forward

  // Before it forwards, it releases the slots of `released`.
  COLL_DEVICE void update(uint32_t chunk, const peer::Rings &rings, uint32_t released) const {
    const Range part = range(rank_, chunk);
    const Cursor cursor(call_.table, rank_, part.begin);
    if (cursor.covers(part) && isWhole(cursor, part.begin))
      updateRange<true>(cursor, part, rings, released);
    else
      updateRange<false>(cursor, part, rings, released);
  }

  // Whether everything of the element at `position` is aligned to 16 bytes.
  COLL_DEVICE bool isWhole(const Cursor &cursor, uint64_t position) const {
    bool whole = isAligned16(gradients() + cursor.gradient(position));
    for (uint32_t member = 0; member < ranks_; ++member)
      whole = whole && isAligned16(parameters(member) + cursor.parameter(position));
    for (int k = 0; k < kSlots; ++k)
      whole = whole && isAligned16(call_.slots[k] + cursor.state(position));
    return whole && (!kMaster || isAligned16(call_.master + cursor.state(position)));
  }

  template <bool kWhole>
  COLL_DEVICE void updateRange(const Cursor &cursor, Range part, const peer::Rings &rings,
                               uint32_t released) const {
    sumRange<kWhole>(cursor, part, rings);
    if (released != 0)
      rings.release(kLane, released);
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
      // The address is chosen, not the value, so that nothing leaves the registers.
      const void *from = member == rank_ ? static_cast<const void *>(own) : slot;
      const uint32_t there = member == rank_ ? count : kUnit;
      in.gradients[member] = load<kWhole, kUnit>(static_cast<const G *>(from), there);
    }
    if constexpr (kMaster)
      in.old = load<kWhole, kUnit>(call_.master + cursor.state(i), count);
    else
      in.old = load<kWhole, kUnit>(parameters(rank_) + cursor.parameter(i), count);
    COLL_UNROLL()
    for (int k = 0; k < kSlots; ++k)
      in.slots[k] = load<kWhole, kUnit>(call_.slots[k] + cursor.state(i), count);
  }

  // Replaces old parameters and slots by the new ones.
  COLL_DEVICE void compute(Inputs &in, const typename Optimizer::Step &step, float scale) const {
    COLL_UNROLL()
    for (uint32_t e = 0; e < kUnit; ++e) {
      float sum = Gradient::load(in.gradients[0].at[e]);
      COLL_UNROLL()
      for (uint32_t member = 1; member < kRanks; ++member)
        if (member < ranks_)
          sum += Gradient::load(in.gradients[member].at[e]);
      float slots[kSlots + 1];
      COLL_UNROLL()
      for (int k = 0; k < kSlots; ++k)
        slots[k] = in.slots[k].at[e];
      in.old.at[e] = optimizer_.apply(step, in.old.at[e], sum * scale, slots);
      COLL_UNROLL()
      for (int k = 0; k < kSlots; ++k)
        in.slots[k].at[e] = slots[k];
    }
  }

  template <bool kWhole>
  COLL_DEVICE void scatter(const Inputs &in, const Cursor &cursor, uint64_t i,
                           uint32_t count) const {
    Elements<P, kUnit> fresh;
    COLL_UNROLL()
    for (uint32_t e = 0; e < kUnit; ++e)
      fresh.at[e] = Parameter::store(in.old.at[e]);
    const uint64_t parameter = cursor.parameter(i);
    if (ranks_ > 1)
      store<kWhole>(parameters(peer(1)) + parameter, fresh, count);
    store<kWhole>(parameters(rank_) + parameter, fresh, count);
    if constexpr (kMaster)
      store<kWhole>(call_.master + cursor.state(i), in.old, count);
    COLL_UNROLL()
    for (int k = 0; k < kSlots; ++k)
      store<kWhole>(call_.slots[k] + cursor.state(i), in.slots[k], count);
  }

  // Threads read what they stored themselves.
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

  const Arguments &args_;
  const RootUpdate &call_;
  const Optimizer &optimizer_;
  Shared<Optimizer> &shared_;
  const uint32_t rank_, ranks_;
};

// One thread's.
COLL_DEVICE void nextStep(UpdateStep *step) { ++step->step; }

} // namespace coll::kernels::root_update

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_DEVICE_CUH
