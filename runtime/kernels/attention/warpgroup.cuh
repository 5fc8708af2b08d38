// warpgroup.cuh - products of bf16 and f16 with the matrix units of sm_90a, with the interface of
// products.cuh.
//
// The four warps of a group have 64 rows, so a left operand begins at a multiple of that.

#ifndef COLL_RUNTIME_KERNELS_ATTENTION_WARPGROUP_CUH
#define COLL_RUNTIME_KERNELS_ATTENTION_WARPGROUP_CUH

#include "runtime/kernels/attention/products.cuh"
#include "runtime/kernels/simt/warpgroup_sm90.cuh"

namespace coll::kernels::attention {

template <typename Type>
struct Warpgroup {
  using Element = uint16_t;
  using Left = typename Narrow<Type>::Left;
  static constexpr uint32_t kDepth = 16, kGroupRows = 64;

  template <uint32_t kBlocks, typename Rows, uint32_t>
  struct LeftRows {
    static_assert(kBlocks == 1);
    SharedAddress base;
    COLL_DEVICE void load(Rows tile, uint32_t row) {
      base = tile.base + row / kGroupRows * kGroupRows * Rows::kPitch;
    }
    static constexpr uint32_t kBlockBytes = Rows::kBlockBytes;
  };

  static COLL_DEVICE void pack(Left &to, const Sums *sums) { Narrow<Type>::pack(to, sums); }
  static COLL_DEVICE float dot(const simt::Vec16 &x, const simt::Vec16 &y) {
    return Narrow<Type>::dot(x, y);
  }
  static COLL_DEVICE void storePair(SharedAddress piece, uint32_t pair, float low, float high) {
    Narrow<Type>::storePair(piece, pair, low, high);
  }

  template <uint32_t kColumns, typename LeftRows, typename Rows>
  static COLL_DEVICE void multiplyRows(Sums (&sums)[1][kColumns], const LeftRows &left, Rows tile) {
    constexpr uint32_t kBlockElems = 64;
    simt::warpgroupFence();
    COLL_UNROLL()
    for (uint32_t k = 0; k < Rows::kPieces * Rows::kPieceElems; k += kDepth) {
      const uint32_t within = k % kBlockElems * 2, block = k / kBlockElems;
      const uint64_t a = simt::describeOperand(left.base + block * LeftRows::kBlockBytes + within);
      const uint64_t b = simt::describeOperand(tile.base + block * Rows::kBlockBytes + within);
      Type::multiplyGroupRows(sums[0], a, b, k > 0);
    }
    simt::warpgroupCommit();
  }

  template <uint32_t kColumns, uint32_t kParts, typename Rows>
  static COLL_DEVICE void addWeighted(Sums (&sums)[1][kColumns], const Left (&weights)[kParts][1],
                                      Rows tile) {
    simt::warpgroupFence();
    COLL_UNROLL()
    for (uint32_t k = 0; k < kParts; ++k)
      Type::addGroupColumns(
          sums[0], weights[k][0].word,
          simt::describeOperand(tile.base + k * kDepth * Rows::kPitch, Rows::kBlockBytes));
    simt::warpgroupCommit();
  }

  template <int later, uint32_t kColumns>
  static COLL_DEVICE void await(Sums (&sums)[1][kColumns]) {
    simt::warpgroupWait<later>();
    simt::touch(sums[0]);
  }
  static COLL_DEVICE void arrive() {
    simt::waitCopies<0>();
    simt::fenceShared();
    simt::syncBlock();
  }
  // The products of a group read the rows of its warps.
  static COLL_DEVICE void release() { simt::syncBlock(); }
};

struct GroupBf16 : Bf16 {
  template <uint32_t kColumns>
  static COLL_DEVICE void multiplyGroupRows(Sums (&c)[kColumns], uint64_t a, uint64_t b,
                                            bool adds) {
    simt::multiplyGroupRowsBf16(c, a, b, adds);
  }
  template <uint32_t kColumns>
  static COLL_DEVICE void addGroupColumns(Sums (&c)[kColumns], const uint32_t (&a)[4], uint64_t b) {
    simt::addGroupColumnsBf16(c, a, b);
  }
};

struct GroupF16 : F16 {
  template <uint32_t kColumns>
  static COLL_DEVICE void multiplyGroupRows(Sums (&c)[kColumns], uint64_t a, uint64_t b,
                                            bool adds) {
    simt::multiplyGroupRowsF16(c, a, b, adds);
  }
  template <uint32_t kColumns>
  static COLL_DEVICE void addGroupColumns(Sums (&c)[kColumns], const uint32_t (&a)[4], uint64_t b) {
    simt::addGroupColumnsF16(c, a, b);
  }
};

} // namespace coll::kernels::attention

#endif // COLL_RUNTIME_KERNELS_ATTENTION_WARPGROUP_CUH
