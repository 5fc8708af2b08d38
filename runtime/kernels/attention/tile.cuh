// tile.cuh - rows of a tensor in shared memory.
//
// A row is kDim elements, zeros beyond the tensor's dim, in pieces of 16 bytes. The first 8 pieces
// of all rows form a block of memory, the next 8 another one. Within a block the pieces of a row
// are permuted by the row's number, so that eight rows at one piece, or eight pieces of one row,
// use all banks; the matrix units of sm_90a read the same layout (simt/warpgroup_sm90.cuh).

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_TILE_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_TILE_CUH

#include "runtime/kernels/attention/attention.h"
#include "runtime/kernels/simt/simt.h"

namespace coll::kernels::attention {

using simt::SharedAddress;

template <typename Element, uint32_t kDim, uint32_t kRowsT>
struct Tile {
  static constexpr uint32_t kRows = kRowsT;
  static constexpr uint32_t kPieceElems = 16 / sizeof(Element);
  static constexpr uint32_t kPieces = kDim / kPieceElems;
  static constexpr uint32_t kBlockPieces = kPieces < 8 ? kPieces : 8;
  static constexpr uint32_t kPitch = kBlockPieces * 16; // of rows, in a block
  static constexpr uint32_t kBlockBytes = kRows * kPitch;
  static constexpr uint32_t kBytes = kPieces / kBlockPieces * kBlockBytes;
  static_assert(kPieces % 8 == 0 || kPieces == 4);

  SharedAddress base;

  static COLL_DEVICE uint32_t swizzle(uint32_t row) {
    return kBlockPieces == 4 ? row / 2 % 4 : row % 8;
  }
  // Address of piece `piece + step` of a row; within a block the two have no bits in common.
  COLL_DEVICE SharedAddress at(uint32_t row, uint32_t piece, uint32_t step = 0) const {
    const uint32_t block = piece / kBlockPieces + step / kBlockPieces;
    const uint32_t within = piece % kBlockPieces ^ swizzle(row) ^ step % kBlockPieces;
    return base + block * kBlockBytes + row * kPitch + within * 16;
  }

  // Begins to load all rows, of which the tensor has `count`; called by all threads.
  template <uint32_t kThreads>
  COLL_DEVICE void load(const Element *from, int64_t stride, int64_t count, uint32_t dim) const {
    static_assert(kRows * kPieces % kThreads == 0);
    const uint32_t first = simt::threadIndex();
    COLL_UNROLL()
    for (uint32_t i = 0; i < kRows * kPieces; i += kThreads) {
      const uint32_t row = (first + i) / kPieces, piece = (first + i) % kPieces;
      const bool isThere = row < count && piece * kPieceElems < dim;
      const Element *source = from + row * stride + piece * kPieceElems;
      simt::copyAsync16(at(row, piece), isThere ? source : from, isThere);
    }
  }

  // Stores rows first to first + kCount - 1, of which the tensor has those below `count`; called by
  // a warp.
  template <uint32_t kCount>
  COLL_DEVICE void store(Element *to, int64_t stride, int64_t count, uint32_t dim,
                         uint32_t first) const {
    COLL_UNROLL()
    for (uint32_t i = simt::lane(); i < kCount * kPieces; i += simt::kWarpThreads) {
      const uint32_t row = first + i / kPieces, piece = i % kPieces;
      if (row < count && piece * kPieceElems < dim)
        simt::storeGlobal16(to + row * stride + piece * kPieceElems,
                            simt::loadShared16(at(row, piece)));
    }
  }
};

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_TILE_CUH
