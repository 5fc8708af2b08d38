// packet_device.cuh - the root update with packets: small calls, for GPU and host.
//
// Every thread works alone, on the units at positions i, i + stride, … of every root's list:
//
//   1. push     its gradients to their roots
//   2. update   waits for the peers' gradients of its own list, sums them in rank order, applies
//               the optimizer, stores, and sends the new parameters to all peers
//   3. collect  waits for the other roots' parameters, and stores them
//
// A packet's data is its own flag: there is no fence, and no thread waits for another thread of its
// GPU.

#ifndef COLL_RUNTIME_KERNELS_ROOT_UPDATE_PACKET_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_ROOT_UPDATE_PACKET_DEVICE_CUH

#include "runtime/kernels/peer/packet_device.cuh"
#include "runtime/kernels/root_update/unit.cuh"

namespace coll::kernels::root_update {

template <typename Optimizer, typename Gradient, typename Parameter, uint32_t kRanks>
class PacketUpdate : Root<Optimizer, Gradient, Parameter, kRanks> {
  using Base = Root<Optimizer, Gradient, Parameter, kRanks>;
  using Base::args_;
  using Base::call_;
  using Base::compute;
  using Base::gradients;
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
  static constexpr uint32_t kGradientVectors = Elements<G, kUnit>::kVectors,
                            kParameterVectors = Elements<P, kUnit>::kVectors;

public:
  COLL_DEVICE PacketUpdate(const Arguments &args, const Optimizer &optimizer, char *shared)
      : Base(args, optimizer, shared), first_(peer::firstVector() * kUnit),
        stride_(peer::vectorStride() * kUnit) {}

  COLL_DEVICE void run() const {
    const peer::Call call(args_.group, args_.call, peer::speakerOfPackets());
    const bool dead = simt::syncBlockAny(!call.enter());
    if (!dead && peer::movesPackets()) {
      const peer::Packets packets(args_.group, call);
      push(packets);
      prepare();
      simt::syncBlock();
      if (update(packets))
        collect(packets);
    }
    call.leave();
  }

private:
  COLL_DEVICE uint64_t elems(uint32_t root) const { return call_.table.elems[root]; }
  COLL_DEVICE Cursor cursorOf(uint32_t root) const { return Cursor(call_.table, root, first_); }
  COLL_DEVICE static uint64_t gradientSlot(uint64_t i) { return i / kUnit * kGradientVectors; }
  COLL_DEVICE static uint64_t parameterSlot(const peer::Packets &packets, uint64_t i) {
    return packets.secondHop() + i / kUnit * kParameterVectors;
  }

  COLL_DEVICE void push(const peer::Packets &packets) const {
    for (uint32_t distance = 1; distance < ranks_; ++distance) {
      const uint32_t root = peer(distance);
      if (first_ >= elems(root))
        continue;
      Cursor cursor = cursorOf(root);
      for (uint64_t i = first_; i < elems(root); i += stride_) {
        const uint32_t count = cursor.seek(i, kUnit);
        const auto unit = load<false, kUnit>(gradients() + cursor.gradient(i), count);
        send(packets, root, gradientSlot(i), unit);
      }
    }
  }

  // False if a wait was given up.
  COLL_DEVICE bool update(const peer::Packets &packets) const {
    if (first_ >= elems(rank_))
      return true;
    const auto step = shared_.step;
    const float scale = shared_.scale;
    Cursor cursor = cursorOf(rank_);
    for (uint64_t i = first_; i < elems(rank_); i += stride_) {
      const uint32_t count = cursor.seek(i, kUnit);
      Inputs in;
      this->template loadState<false>(in, cursor, i, count);
      const auto own = load<false, kUnit>(gradients() + cursor.gradient(i), count);
      if (!receive(packets, peers(), gradientSlot(i), in.gradients))
        return false;
      COLL_UNROLL()
      for (uint32_t member = 0; member < kRanks; ++member)
        if (member == rank_)
          in.gradients[member] = own;
      compute(in, step, scale);
      const Elements<P, kUnit> fresh = this->fresh(in);
      for (uint32_t distance = 1; distance < ranks_; ++distance)
        send(packets, peer(distance), parameterSlot(packets, i), fresh);
      store<false>(parameters(rank_) + cursor.parameter(i), fresh, count);
      this->template storeState<false>(in, cursor, i, count);
    }
    return true;
  }

  COLL_DEVICE bool collect(const peer::Packets &packets) const {
    for (uint32_t distance = 1; distance < ranks_; ++distance) {
      const uint32_t root = peer(ranks_ - distance);
      if (first_ >= elems(root))
        continue;
      Cursor cursor = cursorOf(root);
      for (uint64_t i = first_; i < elems(root); i += stride_) {
        const uint32_t count = cursor.seek(i, kUnit);
        Elements<P, kUnit> fresh[kRanks];
        if (!receive(packets, 1u << root, parameterSlot(packets, i), fresh))
          return false;
        COLL_UNROLL()
        for (uint32_t member = 0; member < kRanks; ++member)
          if (member == root)
            store<false>(parameters(rank_) + cursor.parameter(i), fresh[member], count);
      }
    }
    return true;
  }

  COLL_DEVICE uint32_t peers() const { return ((1u << ranks_) - 1) & ~(1u << rank_); }

  template <typename T>
  COLL_DEVICE static void send(const peer::Packets &packets, uint32_t member, uint64_t slot,
                               const Elements<T, kUnit> &unit) {
    simt::Vec16 vectors[Elements<T, kUnit>::kVectors];
    memcpy(vectors, &unit, sizeof unit);
    COLL_UNROLL()
    for (uint32_t v = 0; v < Elements<T, kUnit>::kVectors; ++v)
      packets.send(member, slot + v, vectors[v]);
  }
  // units[p] = the unit that source p has sent. False: give up.
  template <typename T>
  COLL_DEVICE static bool receive(const peer::Packets &packets, uint32_t sources, uint64_t slot,
                                  Elements<T, kUnit> (&units)[kRanks]) {
    COLL_UNROLL()
    for (uint32_t v = 0; v < Elements<T, kUnit>::kVectors; ++v) {
      simt::Vec16 vectors[kRanks];
      if (!packets.await(sources, slot + v, vectors))
        return false;
      COLL_UNROLL()
      for (uint32_t p = 0; p < kRanks; ++p)
        memcpy(reinterpret_cast<char *>(&units[p]) + v * sizeof(simt::Vec16), &vectors[p],
               sizeof(simt::Vec16));
    }
    return true;
  }

  const uint64_t first_, stride_;
};

} // namespace coll::kernels::root_update

#endif // COLL_RUNTIME_KERNELS_ROOT_UPDATE_PACKET_DEVICE_CUH
