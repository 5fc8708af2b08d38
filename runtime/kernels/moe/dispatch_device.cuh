// dispatch_device.cuh - stores rows directly into their places in the peers' buffers.
//
// Phases of a block: wait until all members have entered; then every warp, for its tokens,
//
//   1. loads a piece of a row into a stage of shared memory (bulk copy), some pieces ahead;
//   2. stores it from there to every member that takes the token, itself included: lane i to member
//      rank + 1 + i, so that a row is read once, however many take it;
//   3. with the first piece, stores the data beside the row: its number, indices, weights, scales;
//
// and waits for its stores. At the end, blocks with the same number on all members tell each other
// that they are done.

#ifndef COLL_RUNTIME_KERNELS_MOE_DISPATCH_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_DISPATCH_DEVICE_CUH

#include "runtime/kernels/moe/rows_device.cuh"

namespace coll::kernels::moe {

class Dispatcher {
public:
  COLL_DEVICE Dispatcher(const PeerGroup &group, const Dispatch &args, char *shared)
      : group_(group), args_(args), call_(args.call),
        rows_(group, routesOf(args.call), shared, kMoeSendStages * kMoePieceBytes),
        shared_(shared) {}

  COLL_DEVICE void run() {
    visitPeers(group_, args_.what, routesOf(call_), shared_, [&] { move(); });
  }

private:
  COLL_DEVICE static Routes routesOf(const MoeDispatchArgs &call) {
    return {call.rankPrefix, call.sendHead, call.numTokens, call.shape.capacity};
  }
  COLL_DEVICE bool hasTarget() const { return simt::lane() < group_.size; }

  COLL_DEVICE void move() {
    rows_.openBarriers(kMoeSendStages);
    for (uint32_t batch = 0; rows_.hasBatch(batch); ++batch) {
      uint32_t exist = 0, go = 0;
      rows_.lookUp(batch, exist, go);
      Cursor load = {go, 0}, store = {go, 0};
      for (uint32_t i = 0; i < kMoeSendAhead; ++i)
        fetch(batch, load);
      while (!store.isDone()) {
        fetch(batch, load);
        push(batch, store);
      }
    }
    if (hasTarget())
      simt::bulkWait<0>();
    rows_.closeBarriers(kMoeSendStages);
  }

  COLL_DEVICE uint32_t bytesOf(uint32_t piece) const {
    const uint32_t left = call_.shape.rowBytes - piece * args_.pieces.bytes;
    return left < args_.pieces.bytes ? left : args_.pieces.bytes;
  }
  COLL_DEVICE char *stage(uint32_t number) const {
    return rows_.stages() + number % kMoeSendStages * kMoePieceBytes;
  }

  COLL_DEVICE void fetch(uint32_t batch, Cursor &at) {
    if (at.isDone())
      return;
    // Waits until the stores of all pieces in flight, except the last few, have read their
    // stages.
    if (hasTarget())
      simt::bulkWaitRead<kMoeSendStages - 1 - kMoeSendAhead>();
    simt::syncWarp();
    if (simt::lane() == 0) {
      simt::Barrier *full = &rows_.scratch().full[fetched_ % kMoeSendStages];
      const uint32_t bytes = bytesOf(at.piece);
      simt::barrierExpect(full, bytes);
      simt::bulkLoad(stage(fetched_),
                     static_cast<const char *>(call_.x) +
                         rows_.tokenOf(batch, at.token()) * call_.shape.rowBytes +
                         at.piece * args_.pieces.bytes,
                     bytes, full);
    }
    ++fetched_;
    at.advance(args_.pieces.count);
  }

  COLL_DEVICE void push(uint32_t batch, Cursor &at) {
    simt::barrierWait(&rows_.scratch().full[pushed_ % kMoeSendStages],
                      pushed_ / kMoeSendStages % 2);
    const uint32_t *rows = rows_.scratch().rows[at.token()];
    if (hasTarget()) {
      const uint32_t target = targetOf(simt::lane());
      if (rows[target] != kNoRow)
        simt::bulkStore(call_.buffers[target] + args_.area.rows +
                            uint64_t{rows[target]} * call_.shape.rowBytes +
                            at.piece * args_.pieces.bytes,
                        stage(pushed_), bytesOf(at.piece));
      simt::bulkCommit();
    }
    if (at.piece == 0)
      describe(rows_.tokenOf(batch, at.token()), rows);
    ++pushed_;
    at.advance(args_.pieces.count);
  }

  COLL_DEVICE uint32_t targetOf(uint32_t i) const {
    return peer::memberAfter(group_.rank, i + 1 == group_.size ? 0 : i + 1, group_.size);
  }

  // Stores the data beside a row.
  COLL_DEVICE void describe(uint64_t token, const uint32_t *rows) const {
    const MoeShape &shape = call_.shape;
    const uint32_t lane = simt::lane();
    int64_t expert = -1;
    float weight = 0;
    if (call_.topkIdx && lane < shape.numTopk) {
      expert = call_.topkIdx[token * shape.numTopk + lane];
      weight = call_.topkWeights ? call_.topkWeights[token * shape.numTopk + lane] : 0;
    }
    for (uint32_t i = 0; i < group_.size; ++i) {
      const uint32_t target = targetOf(i);
      const uint64_t row = rows[target];
      if (row == kNoRow)
        continue;
      char *buffer = call_.buffers[target];
      if (lane == 0)
        at<int32_t>(buffer, args_.area.sourceIdx)[row] =
            call_.sourceIdx ? call_.sourceIdx[token] : static_cast<int32_t>(token);
      if (call_.topkIdx && lane < shape.numTopk) {
        const int64_t local = shape.numExperts / group_.size;
        const int64_t number = expert - call_.firstExpert - local * target;
        const bool isThere = number >= 0 && number < local;
        at<int64_t>(buffer, args_.area.topkIdx)[row * shape.numTopk + lane] = isThere ? number : -1;
        at<float>(buffer, args_.area.topkWeights)[row * shape.numTopk + lane] =
            isThere ? weight : 0;
      }
      for (uint32_t s = lane; s < shape.numScales; s += simt::kWarpThreads)
        at<float>(buffer, args_.area.scales)[row * shape.numScales + s] =
            call_.scales[static_cast<int64_t>(token) * call_.scaleTokenStride +
                         s * call_.scaleStride];
    }
  }
  template <typename T>
  COLL_DEVICE static T *at(char *buffer, uint64_t offset) {
    return reinterpret_cast<T *>(buffer + offset);
  }

  const PeerGroup &group_;
  const Dispatch &args_;
  const MoeDispatchArgs &call_;
  const WarpRows rows_;
  char *shared_;
  uint32_t fetched_ = 0, pushed_ = 0; // pieces
};

} // namespace coll::kernels::moe

#endif // COLL_RUNTIME_KERNELS_MOE_DISPATCH_DEVICE_CUH
