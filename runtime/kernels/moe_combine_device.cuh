// moe_combine_device.cuh - a token's rows come from all members that had it, and are added up.
//
// Phases of a block: wait until all members have entered; then every warp, for its tokens,
//
//   1. loads the same piece of the rows of all members into a stage of shared memory (bulk copies,
//      lane i from member i), some pieces ahead;
//   2. adds biases and rows up in f32, in rank order, rounds once, and stores the piece;
//   3. with the first piece, adds up the weights that come back.
//
// At the end blocks of one number tell each other that they have read all.

#ifndef COLL_RUNTIME_KERNELS_MOE_COMBINE_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_COMBINE_DEVICE_CUH

#include "runtime/kernels/channel_types.cuh"
#include "runtime/kernels/moe_rows_device.cuh"

namespace coll::kernels::moe {

// Eight bf16 in f32.
struct Sums {
  static constexpr uint32_t kElems = 8;
  float value[kElems] = {};

  COLL_DEVICE void add(simt::Vec16 v) {
    COLL_UNROLL()
    for (uint32_t w = 0; w < 4; ++w) {
      value[2 * w] += channel::BfloatType::load(static_cast<uint16_t>(v.word[w]));
      value[2 * w + 1] += channel::BfloatType::load(static_cast<uint16_t>(v.word[w] >> 16));
    }
  }
  COLL_DEVICE simt::Vec16 rounded() const {
    simt::Vec16 v;
    COLL_UNROLL()
    for (uint32_t w = 0; w < 4; ++w)
      v.word[w] = channel::BfloatType::store(value[2 * w]) |
                  uint32_t{channel::BfloatType::store(value[2 * w + 1])} << 16;
    return v;
  }
};

class Combiner {
public:
  COLL_DEVICE Combiner(const PeerGroup &group, const Combine &args, char *shared)
      : group_(group), args_(args), call_(args.call),
        rows_(group, routesOf(args.call), shared, kMoeFetchStages * kMoeStageBytes),
        shared_(shared) {}

  COLL_DEVICE void run() {
    visitPeers(group_, args_.what, routesOf(call_), shared_, [&] { move(); });
  }

private:
  static constexpr uint32_t kVec = sizeof(simt::Vec16);

  COLL_DEVICE static Routes routesOf(const MoeCombineArgs &call) {
    return {call.rankPrefix, call.sendHead, call.numTokens, call.capacity};
  }

  COLL_DEVICE void move() {
    rows_.openBarriers(kMoeFetchStages);
    for (uint32_t batch = 0; rows_.hasBatch(batch); ++batch) {
      uint32_t exist = 0, go = 0;
      rows_.lookUp(batch, exist, go);
      // Tokens that went nowhere have a result, too.
      Cursor load = {exist, 0}, sum = {exist, 0};
      for (uint32_t i = 0; i < kMoeFetchAhead; ++i)
        fetch(load);
      while (!sum.isDone()) {
        fetch(load);
        addUp(batch, sum);
      }
    }
    rows_.closeBarriers(kMoeFetchStages);
  }

  COLL_DEVICE uint32_t bytesOf(uint32_t piece) const {
    const uint32_t left = call_.rowBytes - piece * args_.pieces.bytes;
    return left < args_.pieces.bytes ? left : args_.pieces.bytes;
  }
  COLL_DEVICE char *stage(uint32_t number, uint32_t member) const {
    return rows_.stages() + number % kMoeFetchStages * kMoeStageBytes + member * args_.pieces.bytes;
  }

  COLL_DEVICE void fetch(Cursor &at) {
    if (at.isDone())
      return;
    const uint32_t source = simt::lane();
    const uint32_t row = source < group_.size ? rows_.scratch().rows[at.token()][source] : kNoRow;
    // All lanes have read what was in the stage before.
    const uint32_t sources = simt::countBits(simt::ballot(row != kNoRow));
    simt::Barrier *full = &rows_.scratch().full[fetched_ % kMoeFetchStages];
    const uint32_t bytes = bytesOf(at.piece);
    if (simt::lane() == 0)
      simt::barrierExpect(full, sources * bytes);
    simt::syncWarp();
    if (row != kNoRow)
      simt::bulkLoad(stage(fetched_, source),
                     call_.rows[source] + uint64_t{row} * call_.rowBytes +
                         at.piece * args_.pieces.bytes,
                     bytes, full);
    ++fetched_;
    at.advance(args_.pieces.count);
  }

  COLL_DEVICE void addUp(uint32_t batch, Cursor &at) {
    simt::barrierWait(&rows_.scratch().full[summed_ % kMoeFetchStages],
                      summed_ / kMoeFetchStages % 2);
    const uint32_t *rows = rows_.scratch().rows[at.token()];
    const uint64_t token = rows_.tokenOf(batch, at.token());
    const uint64_t place = token * call_.rowBytes + at.piece * args_.pieces.bytes;
    const uint32_t bytes = bytesOf(at.piece);
    for (uint32_t i = simt::lane() * kVec; i < bytes; i += simt::kWarpThreads * kVec) {
      Sums sums;
      for (const void *bias : call_.bias)
        if (bias)
          sums.add(simt::loadGlobal16(static_cast<const char *>(bias) + place + i));
      for (uint32_t member = 0; member < group_.size; ++member)
        if (rows[member] != kNoRow)
          sums.add(simt::load16(stage(summed_, member) + i));
      simt::storeGlobal16(static_cast<char *>(call_.out) + place + i, sums.rounded());
    }
    if (at.piece == 0 && simt::lane() < call_.numTopk)
      addUpWeights(token, rows);
    ++summed_;
    at.advance(args_.pieces.count);
  }

  COLL_DEVICE void addUpWeights(uint64_t token, const uint32_t *rows) const {
    float sum = 0;
    for (uint32_t member = 0; member < group_.size; ++member)
      if (rows[member] != kNoRow)
        sum += weight(call_.topkWeights[member] + uint64_t{rows[member]} * call_.numTopk +
                      simt::lane());
    call_.outWeights[token * call_.numTopk + simt::lane()] = sum;
  }
  COLL_DEVICE static float weight(const float *address) {
    const uint32_t bits = simt::loadRelaxed(reinterpret_cast<const uint32_t *>(address));
#ifdef __CUDA_ARCH__
    return __uint_as_float(bits);
#else
    return rt::floatFromBits(bits);
#endif
  }

  const PeerGroup &group_;
  const Combine &args_;
  const MoeCombineArgs &call_;
  const WarpRows rows_;
  char *shared_;
  uint32_t fetched_ = 0, summed_ = 0; // pieces
};

} // namespace coll::kernels::moe

#endif // COLL_RUNTIME_KERNELS_MOE_COMBINE_DEVICE_CUH
