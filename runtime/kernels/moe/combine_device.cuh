// combine_device.cuh - reads a token's rows from all members that received it, and adds them up.
//
// Phases of a block: wait until all members have entered; then every warp, for its tokens,
//
//   1. loads the same piece of the rows of all members into a stage of shared memory (bulk copies,
//      lane i from member i), some pieces ahead;
//   2. adds biases and rows up in f32, in rank order, rounds once, and stores the piece;
//   3. with the first piece, adds up the weights that come back.
//
// At the end, blocks with the same number on all members tell each other that they have finished
// reading.

#ifndef COLL_RUNTIME_KERNELS_MOE_COMBINE_DEVICE_CUH
#define COLL_RUNTIME_KERNELS_MOE_COMBINE_DEVICE_CUH

#include "runtime/kernels/channel/types.cuh"
#include "runtime/kernels/moe/rows_device.cuh"

#include <type_traits>

namespace coll::kernels::moe {

COLL_DEVICE float floatOf(uint32_t bits) {
#ifdef __CUDA_ARCH__
  return __uint_as_float(bits);
#else
  return rt::floatFromBits(bits);
#endif
}
COLL_DEVICE uint32_t bitsOf(float value) {
#ifdef __CUDA_ARCH__
  return __float_as_uint(value);
#else
  return rt::bitsOfFloat(value);
#endif
}

// 16 bytes of elements, as f32.
template <typename Type>
struct Sums {
  static constexpr bool kIsF32 = std::is_same_v<Type, channel::PlainType<float>>;
  static constexpr uint32_t kElems = kIsF32 ? 4 : 8;
  float value[kElems];

  COLL_DEVICE explicit Sums(float start = 0) {
    for (float &v : value)
      v = start;
  }
  COLL_DEVICE void add(simt::Vec16 v) {
    COLL_UNROLL()
    for (uint32_t w = 0; w < 4; ++w)
      if constexpr (kIsF32) {
        value[w] += floatOf(v.word[w]);
      } else {
        value[2 * w] += Type::load(static_cast<uint16_t>(v.word[w]));
        value[2 * w + 1] += Type::load(static_cast<uint16_t>(v.word[w] >> 16));
      }
  }
  COLL_DEVICE simt::Vec16 rounded() const {
    simt::Vec16 v;
    COLL_UNROLL()
    for (uint32_t w = 0; w < 4; ++w)
      if constexpr (kIsF32)
        v.word[w] = bitsOf(value[w]);
      else
        v.word[w] = Type::storePair(value[2 * w], value[2 * w + 1]);
    return v;
  }
};
using BfloatSums = Sums<channel::BfloatType>;

// `Type`: that of the rows' elements.
template <typename Type>
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
  static constexpr uint32_t kStride = simt::kWarpThreads * kVec;
  static constexpr uint32_t kBatch = 4; // vectors of a lane at once: independent work

  COLL_DEVICE static Routes routesOf(const MoeCombineArgs &call) {
    return {call.rankPrefix, call.sendHead, call.numTokens, call.capacity};
  }

  COLL_DEVICE void move() {
    rows_.openBarriers(kMoeFetchStages);
    for (uint32_t batch = 0; rows_.hasBatch(batch); ++batch) {
      uint32_t exist = 0, go = 0;
      rows_.lookUp(batch, exist, go);
      // Tokens without an expert have a result, too.
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
    // All lanes have finished reading the stage's previous content.
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
    const uint32_t lane = simt::lane();
    const uint32_t members = simt::ballot(lane < group_.size && rows[lane] != kNoRow);
    for (uint32_t i = lane * kVec; i < bytes; i += kBatch * kStride) {
      // -0 keeps the bits of a sum of one row.
      const bool isEmpty = members == 0 && !call_.bias[0] && !call_.bias[1];
      Sums<Type> sums[kBatch];
      for (Sums<Type> &sum : sums)
        sum = Sums<Type>(isEmpty ? 0.0f : -0.0f);
      for (const void *bias : call_.bias)
        if (bias)
          addEach(sums, i, bytes, [&](uint32_t j) {
            return simt::loadGlobal16(static_cast<const char *>(bias) + place + j);
          });
      for (uint32_t left = members; left != 0; left &= left - 1) {
        const char *from = stage(summed_, simt::lowestBit(left));
        addEach(sums, i, bytes, [&](uint32_t j) { return simt::load16(from + j); });
      }
      COLL_UNROLL()
      for (uint32_t u = 0; u < kBatch; ++u)
        if (const uint32_t j = i + u * kStride; j < bytes)
          simt::storeGlobal16(static_cast<char *>(call_.out) + place + j, sums[u].rounded());
    }
    if (at.piece == 0 && simt::lane() < call_.numTopk)
      addUpWeights(token, rows);
    ++summed_;
    at.advance(args_.pieces.count);
  }

  // The vectors of this lane from byte i of a piece on, as far as they exist.
  template <typename Load>
  COLL_DEVICE static void addEach(Sums<Type> (&sums)[kBatch], uint32_t i, uint32_t bytes,
                                  Load &&load) {
    COLL_UNROLL()
    for (uint32_t u = 0; u < kBatch; ++u)
      if (const uint32_t j = i + u * kStride; j < bytes)
        sums[u].add(load(j));
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
    return floatOf(simt::loadRelaxed(reinterpret_cast<const uint32_t *>(address)));
  }

  const PeerGroup &group_;
  const Combine &args_;
  const MoeCombineArgs &call_;
  const WarpRows rows_;
  char *shared_;
  uint32_t fetched_ = 0, summed_ = 0; // pieces
};

// Calls visit(Type()) for the type of a combine's rows.
template <typename Visit>
auto visitRowType(CollDtype dtype, Visit &&visit) {
  switch (dtype) {
  case kCollF32:
    return visit(channel::PlainType<float>());
  case kCollF16:
    return visit(channel::HalfType());
  default:
    return visit(channel::BfloatType());
  }
}

} // namespace coll::kernels::moe

#endif // COLL_RUNTIME_KERNELS_MOE_COMBINE_DEVICE_CUH
