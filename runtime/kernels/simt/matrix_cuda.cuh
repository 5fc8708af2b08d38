// matrix_cuda.cuh - the matrix units, and asynchronous copies to shared memory, of sm_80 and later
// GPUs. Included by cuda.cuh; simt.h names the functions.

#ifndef COLL_RUNTIME_KERNELS_SIMT_MATRIX_CUDA_CUH
#define COLL_RUNTIME_KERNELS_SIMT_MATRIX_CUDA_CUH

#include "runtime/kernels/simt/simt.h"

namespace coll::kernels::simt {

// --- shared memory by its own addresses, which are shorter than pointers

using SharedAddress = uint32_t;
COLL_DEVICE SharedAddress sharedAddress(const void *shared) {
  return static_cast<SharedAddress>(__cvta_generic_to_shared(shared));
}
COLL_DEVICE float loadShared(SharedAddress from) {
  float value;
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(from));
  return value;
}
COLL_DEVICE void loadShared2(float *to, SharedAddress from) {
  asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(to[0]), "=f"(to[1]) : "r"(from));
}
COLL_DEVICE void loadShared4(float *to, SharedAddress from) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(to[0]), "=f"(to[1]), "=f"(to[2]), "=f"(to[3])
               : "r"(from));
}
COLL_DEVICE Vec16 loadShared16(SharedAddress from) {
  Vec16 v;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "r"(from)
               : "memory");
  return v;
}
COLL_DEVICE void storeShared(SharedAddress to, uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}
COLL_DEVICE void storeShared(SharedAddress to, float value) {
  asm volatile("st.shared.f32 [%0], %1;" ::"r"(to), "f"(value) : "memory");
}
COLL_DEVICE void storeShared2(SharedAddress to, float first, float second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(to), "f"(first), "f"(second) : "memory");
}

// --- copies of a thread

COLL_DEVICE void copyAsync16(SharedAddress to, const void *global, bool isThere) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(global),
               "r"(isThere ? 16 : 0)
               : "memory");
}
COLL_DEVICE void copyAsync4(SharedAddress to, const void *global, bool isThere) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(global),
               "r"(isThere ? 4 : 0)
               : "memory");
}
COLL_DEVICE void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int pending>
COLL_DEVICE void waitCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// --- numbers

COLL_DEVICE float shuffleXor(float value, int mask) { return __shfl_xor_sync(~0u, value, mask); }
COLL_DEVICE float shuffle(float value, uint32_t from) {
  return __shfl_sync(~0u, value, static_cast<int>(from));
}
COLL_DEVICE float exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
COLL_DEVICE float logarithm(float x) { return logf(x); }
COLL_DEVICE uint32_t packBf16(float low, float high) {
  uint32_t word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
COLL_DEVICE uint32_t packF16(float low, float high) {
  uint32_t word;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
COLL_DEVICE float unpackF16(uint32_t bits) {
  float value;
  asm("{.reg .b16 h; cvt.u16.u32 h, %1; cvt.f32.f16 %0, h;}" : "=f"(value) : "r"(bits));
  return value;
}
COLL_DEVICE uint32_t roundTf32(float x) {
  uint32_t word;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(x));
  return word;
}

// --- matrices

COLL_DEVICE void loadMatrices(uint32_t (&to)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row));
}
COLL_DEVICE void loadTransposed(uint32_t (&to)[4], SharedAddress row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row));
}

#define COLL_MULTIPLY(name, form)                                                                  \
  COLL_DEVICE void name(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {         \
    asm("mma.sync.aligned." form " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "                 \
        "{%0, %1, %2, %3};"                                                                        \
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                                           \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));                           \
  }
COLL_MULTIPLY(multiplyBf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
COLL_MULTIPLY(multiplyF16, "m16n8k16.row.col.f32.f16.f16.f32")
COLL_MULTIPLY(multiplyTf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
#undef COLL_MULTIPLY

} // namespace coll::kernels::simt

#endif // COLL_RUNTIME_KERNELS_SIMT_MATRIX_CUDA_CUH
