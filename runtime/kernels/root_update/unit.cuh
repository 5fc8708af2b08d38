// unit.cuh - the work of a root on a unit of elements: loads, computes, stores.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_UNIT_CUH
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_UNIT_CUH

#include "runtime/kernels/channel/types.cuh"
#include "runtime/kernels/peer/ring_device.cuh"
#include "runtime/kernels/root_update/root_update.h"
#include "runtime/kernels/root_update/spans.cuh"
#include "runtime/kernels/root_update/tuning.h"

namespace coll::kernels::root_update {

using F32 = channel::PlainType<float>;
using Bf16 = channel::BfloatType;

// Computed once per block, in shared memory.
template <typename Optimizer>
struct Shared {
  typename Optimizer::Step step;
  float scale; // of a sum of gradients
  peer::RingScratch rings;
};

// Code of both kernels, as one thread runs it. kRanks: the group's size if loops over it are
// unrolled, or kMaxPeers for any size.
template <typename Optimizer, typename Gradient, typename Parameter, uint32_t kRanks>
class Root {
protected:
  using G = typename Gradient::Stored;
  using P = typename Parameter::Stored;
  static constexpr bool kMaster = !std::is_same_v<P, float>;
  static constexpr uint32_t kUnit =
      sizeof(simt::Vec16) / (sizeof(G) < sizeof(P) ? sizeof(G) : sizeof(P));
  static_assert(kUpdateGrain % kUnit == 0);
  static constexpr int kSlots = Optimizer::kSlots;
  static_assert(kSlots >= 0 && kSlots <= kMaxOptimizerSlots);

  // The inputs of a unit.
  struct Inputs {
    Elements<G, kUnit> gradients[kRanks];
    Elements<float, kUnit> old; // parameters in f32
    Elements<float, kUnit> slots[kSlots + 1];
  };

  COLL_DEVICE Root(const Arguments &args, const Optimizer &optimizer, char *shared)
      : args_(args), call_(args.update), optimizer_(optimizer),
        shared_(*reinterpret_cast<Shared<Optimizer> *>(shared)), rank_(args.group.rank),
        ranks_(kRanks == kMaxPeers ? args.group.size : kRanks) {}

  // One thread prepares the step for the block while gradients are on their way; the others see it
  // after the next barrier. It is the last thread, because the first ones wait for peers.
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

  COLL_DEVICE const G *gradients() const { return static_cast<const G *>(call_.gradients); }
  COLL_DEVICE P *parameters(uint32_t member) const {
    return static_cast<P *>(call_.parameters[member]);
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

  // Loads everything but gradients.
  template <bool kWhole>
  COLL_DEVICE void loadState(Inputs &in, const Cursor &cursor, uint64_t i, uint32_t count) const {
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

  // The new parameters, for every member.
  COLL_DEVICE Elements<P, kUnit> fresh(const Inputs &in) const {
    Elements<P, kUnit> result;
    COLL_UNROLL()
    for (uint32_t e = 0; e < kUnit; ++e)
      result.at[e] = Parameter::store(in.old.at[e]);
    return result;
  }
  template <bool kWhole>
  COLL_DEVICE void storeState(const Inputs &in, const Cursor &cursor, uint64_t i,
                              uint32_t count) const {
    if constexpr (kMaster)
      store<kWhole>(call_.master + cursor.state(i), in.old, count);
    COLL_UNROLL()
    for (int k = 0; k < kSlots; ++k)
      store<kWhole>(call_.slots[k] + cursor.state(i), in.slots[k], count);
  }

  const Arguments &args_;
  const RootUpdate &call_;
  const Optimizer &optimizer_;
  Shared<Optimizer> &shared_;
  const uint32_t rank_, ranks_;
};

} // namespace coll::kernels::root_update

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_UNIT_CUH
