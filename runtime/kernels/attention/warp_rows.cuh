// warp_rows.cuh - code that the attention kernels share: the place of a block, and the rows of a
// warp.

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_WARP_ROWS_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_WARP_ROWS_CUH

#include "runtime/kernels/attention/products.cuh"

namespace coll::kernels::attention {

inline constexpr float kLog2E = 1.4426950408889634f;
inline constexpr float kLowest = -__builtin_huge_valf();

// The tiles of a head are given to blocks that are far apart: the first blocks of a launch have the
// tiles with the most work, of all heads.
struct Place {
  COLL_DEVICE Place(const Attention &a, int64_t heads) {
    const auto all = static_cast<uint32_t>(a.batch * heads);
    tile = simt::blockIndex() / all;
    const uint32_t one = simt::blockIndex() % all;
    batch = one / static_cast<uint32_t>(heads);
    head = one % static_cast<uint32_t>(heads);
  }
  uint32_t tile;
  int64_t batch, head;
};

template <typename Element>
COLL_DEVICE const Element *rowsAt(const void *tensor, const AttentionRows &rows, int64_t batch,
                                  int64_t head, int64_t row) {
  return static_cast<const Element *>(tensor) + batch * rows.batch + head * rows.head +
         row * rows.row;
}
template <typename Element>
COLL_DEVICE Element *rowsAt(void *tensor, const AttentionRows &rows, int64_t batch, int64_t head,
                            int64_t row) {
  return static_cast<Element *>(tensor) + batch * rows.batch + head * rows.head + row * rows.row;
}

template <uint32_t kBlocks, uint32_t kColumns>
COLL_DEVICE void clear(Sums (&sums)[kBlocks][kColumns]) {
  COLL_UNROLL()
  for (uint32_t i = 0; i < kBlocks; ++i)
    COLL_UNROLL()
  for (uint32_t j = 0; j < kColumns; ++j)
    COLL_UNROLL()
  for (uint32_t e = 0; e < 4; ++e)
    sums[i][j][e] = 0;
}

// Calls visit(sum, row, column) for the elements that this lane has of the warp's sums; `half`: its
// rows, two a block of 16.
template <typename SumsOf, uint32_t kBlocks, uint32_t kColumns, typename Visit>
COLL_DEVICE void forEach(SumsOf (&sums)[kBlocks][kColumns], Visit visit) {
  const uint32_t g = simt::lane() / 4, t = simt::lane() % 4;
  COLL_UNROLL()
  for (uint32_t i = 0; i < kBlocks; ++i)
    COLL_UNROLL()
  for (uint32_t j = 0; j < kColumns; ++j)
    COLL_UNROLL()
  for (uint32_t e = 0; e < 4; ++e)
    visit(sums[i][j][e], 2 * i + e / 2, i * 16 + e / 2 * 8 + g, j * 8 + 2 * t + e % 2);
}

// Calls visit(sum, other, half) for the elements of two results of one shape.
template <uint32_t kBlocks, uint32_t kColumns, typename Visit>
COLL_DEVICE void forEachOf(Sums (&sums)[kBlocks][kColumns], const Sums (&others)[kBlocks][kColumns],
                           Visit visit) {
  COLL_UNROLL()
  for (uint32_t i = 0; i < kBlocks; ++i)
    COLL_UNROLL()
  for (uint32_t j = 0; j < kColumns; ++j)
    COLL_UNROLL()
  for (uint32_t e = 0; e < 4; ++e)
    visit(sums[i][j][e], others[i][j][e], 2 * i + e / 2);
}

// Sums as the left operand of a further product.
template <typename Products, uint32_t kBlocks, uint32_t kSteps>
struct Weights {
  static constexpr uint32_t kWidth = Products::kDepth / 8;
  typename Products::Left part[kSteps / kWidth][kBlocks];

  COLL_DEVICE void pack(const Sums (&sums)[kBlocks][kSteps]) {
    COLL_UNROLL()
    for (uint32_t k = 0; k < kSteps / kWidth; ++k)
      COLL_UNROLL()
    for (uint32_t i = 0; i < kBlocks; ++i)
      Products::pack(part[k][i], &sums[i][k * kWidth]);
  }
};

// Copies a warp's sums, rounded, into its rows of a tile, and from there to a tensor, in pieces of
// 16 bytes. Call it after Products::release().
template <typename Form, typename Rows, uint32_t kColumns>
COLL_DEVICE void storeRows(Sums (&sums)[Form::kBlocks][kColumns], Rows tile, uint32_t row,
                           typename Form::Products::Element *to, int64_t stride, int64_t count,
                           uint32_t dim) {
  const uint32_t g = simt::lane() / 4, t = simt::lane() % 4;
  constexpr uint32_t kPairs = Rows::kPieceElems / 2; // of a piece
  COLL_UNROLL()
  for (uint32_t i = 0; i < Form::kBlocks; ++i)
    COLL_UNROLL()
  for (uint32_t j = 0; j < kColumns; ++j)
    COLL_UNROLL()
  for (uint32_t half = 0; half < 2; ++half) {
    const uint32_t pair = j * 4 + t; // of the row
    Form::Products::storePair(tile.at(row + i * 16 + half * 8 + g, pair / kPairs), pair % kPairs,
                              sums[i][j][2 * half], sums[i][j][2 * half + 1]);
  }
  simt::syncWarp();
  tile.template store<Form::kWarpRows>(to, stride, count, dim, row);
}

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_WARP_ROWS_CUH
