// warpgroup_sm90.cuh - the matrix units of sm_90a. Four warps use them together; the right operand,
// and the left one if it is not in registers, is read from shared memory.
//
// A warpgroup is 128 threads from a multiple of 128. Each warp has 16 of the 64 rows of a product,
// whose sums and left operand are distributed over the lanes like those of multiplyBf16 in simt.h.
//
// Products are asynchronous: warpgroupFence() orders what threads wrote into sums and left operands
// before them; after warpgroupCommit() and warpgroupWait<number of later groups>() sums may be
// read, and operands overwritten. Data that threads or their copies have written into shared memory
// is read only after fenceShared() by the writers and a barrier.
//
// Operands in shared memory: rows of 128 bytes, 8 pieces of 16 bytes, with piece p of row r at p ^
// r % 8; the first row is at a multiple of 1024 bytes, further columns are in further blocks of
// such rows.

#ifndef COLL_RUNTIME_KERNELS_SIMT_WARPGROUP_SM90_CUH
#define COLL_RUNTIME_KERNELS_SIMT_WARPGROUP_SM90_CUH

#include "runtime/kernels/simt/simt.h"

namespace coll::kernels::simt {

COLL_DEVICE void warpgroupFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Call it before products of the block read data that this thread has written into shared memory.
COLL_DEVICE void fenceShared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
COLL_DEVICE void warpgroupCommit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int pending>
COLL_DEVICE void warpgroupWait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
// The compiler may not read these sums earlier, or keep them elsewhere.
template <uint32_t kColumns>
COLL_DEVICE void touch(float (&sums)[kColumns][4]) {
  COLL_UNROLL()
  for (uint32_t j = 0; j < kColumns; ++j)
    COLL_UNROLL()
  for (uint32_t e = 0; e < 4; ++e)
    asm volatile("" : "+f"(sums[j][e])::"memory");
}

// Rows of an operand, of which 16 columns are multiplied (`across` unused), or 16 rows, with
// `across` bytes between blocks of 64 columns.
COLL_DEVICE uint64_t describeOperand(SharedAddress rows, uint32_t across = 16) {
  constexpr uint64_t kSwizzle128 = uint64_t{1} << 62;
  constexpr uint64_t kEightRows = 1024;
  return kSwizzle128 | kEightRows / 16 << 32 | uint64_t{across / 16} << 16 | (rows & 0x3FFFF) / 16;
}

#define COLL_SUM4(j) "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
#define COLL_SUM32                                                                                 \
  COLL_SUM4(0), COLL_SUM4(1), COLL_SUM4(2), COLL_SUM4(3), COLL_SUM4(4), COLL_SUM4(5),              \
      COLL_SUM4(6), COLL_SUM4(7)
#define COLL_SUM64                                                                                 \
  COLL_SUM32, COLL_SUM4(8), COLL_SUM4(9), COLL_SUM4(10), COLL_SUM4(11), COLL_SUM4(12),             \
      COLL_SUM4(13), COLL_SUM4(14), COLL_SUM4(15)
#define COLL_REG32                                                                                 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, "     \
  "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define COLL_REG64                                                                                 \
  COLL_REG32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "  \
             "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"

// c = a b^T (+ c): a of 64 rows, b of n rows, both in shared memory, and 16 columns of each.
// c += a b: a in registers, b 16 rows of n columns in shared memory.
#define COLL_WARPGROUP(type, name, n, columns, registers, sums, i0, i1, i2, i3, i4)                \
  COLL_DEVICE void multiplyGroupRows##name(float (&c)[columns][4], uint64_t a, uint64_t b,         \
                                           bool adds) {                                            \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %" i2 ", 0; "                                      \
                 "wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" registers     \
                 "}, %" i0 ", %" i1 ", p, 1, 1, 0, 0;}"                                            \
                 : sums                                                                            \
                 : "l"(a), "l"(b), "r"(static_cast<int>(adds)));                                   \
  }                                                                                                \
  COLL_DEVICE void addGroupColumns##name(float (&c)[columns][4], const uint32_t (&a)[4],           \
                                         uint64_t b) {                                             \
    asm volatile("wgmma.mma_async.sync.aligned.m64n" n "k16.f32." type "." type " {" registers     \
                 "}, {%" i0 ", %" i1 ", %" i2 ", %" i3 "}, %" i4 ", 1, 1, 1, 1;"                   \
                 : sums                                                                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                            \
  }
COLL_WARPGROUP("bf16", Bf16, "64", 8, COLL_REG32, COLL_SUM32, "32", "33", "34", "35", "36")
COLL_WARPGROUP("bf16", Bf16, "128", 16, COLL_REG64, COLL_SUM64, "64", "65", "66", "67", "68")
COLL_WARPGROUP("f16", F16, "64", 8, COLL_REG32, COLL_SUM32, "32", "33", "34", "35", "36")
COLL_WARPGROUP("f16", F16, "128", 16, COLL_REG64, COLL_SUM64, "64", "65", "66", "67", "68")
#undef COLL_WARPGROUP
#undef COLL_REG64
#undef COLL_REG32
#undef COLL_SUM64
#undef COLL_SUM32
#undef COLL_SUM4

} // namespace coll::kernels::simt

#endif // COLL_RUNTIME_KERNELS_SIMT_WARPGROUP_SM90_CUH
