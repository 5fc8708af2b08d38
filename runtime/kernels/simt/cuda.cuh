// cuda.cuh - simt.h on a GPU: one or two instructions per function. For sm_80 and later. Functions
// that need sm_90 are in a separate file, beside one that replaces them.

#ifndef COLL_RUNTIME_KERNELS_SIMT_CUDA_CUH
#define COLL_RUNTIME_KERNELS_SIMT_CUDA_CUH

#define COLL_DEVICE __device__ __forceinline__
// A long function that is called from many places.
#define COLL_DEVICE_CALL inline __device__ __noinline__
// Put before a loop.
#define COLL_PRAGMA(text) _Pragma(#text)
// Unrolls a loop whose count the compiler knows: arrays stay in registers only if the loop
// disappears.
#define COLL_UNROLL() COLL_PRAGMA(unroll)
#define COLL_NO_UNROLL() COLL_PRAGMA(unroll 1)

namespace coll::kernels::simt {

// --- the position of a thread

COLL_DEVICE uint32_t threadIndex() { return threadIdx.x; }
COLL_DEVICE uint32_t blockIndex() { return blockIdx.x; }
COLL_DEVICE uint32_t blockThreads() { return blockDim.x; }
COLL_DEVICE uint32_t gridBlocks() { return gridDim.x; }
COLL_DEVICE uint32_t lane() { return threadIdx.x % kWarpThreads; }

// --- between threads

COLL_DEVICE void syncWarp() { __syncwarp(); }
COLL_DEVICE void syncBlock() { __syncthreads(); }
// Whether any thread of the block passes true.
COLL_DEVICE bool syncBlockAny(bool says) { return __syncthreads_or(says) != 0; }
COLL_DEVICE uint32_t shuffle(uint32_t value, uint32_t from) {
  return __shfl_sync(~0u, value, static_cast<int>(from));
}
COLL_DEVICE uint64_t shuffle(uint64_t value, uint32_t from) {
  return __shfl_sync(~0u, static_cast<unsigned long long>(value), static_cast<int>(from));
}
// The value of the thread `delta` lanes below; the own value if there is none.
COLL_DEVICE uint32_t shuffleUp(uint32_t value, uint32_t delta) {
  return __shfl_up_sync(~0u, value, delta);
}
COLL_DEVICE uint32_t ballot(bool vote) { return __ballot_sync(~0u, vote); }
// Sum of all lanes' values.
COLL_DEVICE uint32_t sum(uint32_t value) { return __reduce_add_sync(~0u, value); }
COLL_DEVICE uint32_t countBits(uint32_t bits) { return static_cast<uint32_t>(__popc(bits)); }
// Number of the lowest bit that is set; bits != 0.
COLL_DEVICE uint32_t lowestBit(uint32_t bits) { return static_cast<uint32_t>(__ffs(bits)) - 1; }

// --- 16 bytes

// From and to shared memory.
COLL_DEVICE Vec16 load16(const void *shared) { return *static_cast<const Vec16 *>(shared); }
COLL_DEVICE void store16(void *shared, Vec16 value) { *static_cast<Vec16 *>(shared) = value; }
// Global memory. These two do not clobber memory, so that the compiler may start later shared
// loads; they keep their order among barriers, fences and each other.
COLL_DEVICE Vec16 loadGlobal16(const void *global) {
  Vec16 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "l"(global));
  return v;
}
COLL_DEVICE void storeGlobal16(void *global, Vec16 v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(global), "r"(v.word[0]),
               "r"(v.word[1]), "r"(v.word[2]), "r"(v.word[3]));
}
// Bits `shift` to `shift + 31` of high:low; shift < 32.
COLL_DEVICE uint32_t funnelShift(uint32_t low, uint32_t high, uint32_t shift) {
  return __funnelshift_r(low, high, shift);
}

// --- memory that the host shares, system scope

COLL_DEVICE uint32_t loadAcquire(const uint32_t *address) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
COLL_DEVICE uint64_t loadAcquire(const uint64_t *address) {
  uint64_t value;
  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}
COLL_DEVICE void storeRelease(uint32_t *address, uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}
COLL_DEVICE void storeRelease(uint64_t *address, uint64_t value) {
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}
COLL_DEVICE uint32_t loadRelaxed(const uint32_t *address) {
  uint32_t value;
  asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
COLL_DEVICE uint64_t loadRelaxed(const uint64_t *address) {
  uint64_t value;
  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(address) : "memory");
  return value;
}
COLL_DEVICE void storeRelaxed(uint32_t *address, uint32_t value) {
  asm volatile("st.relaxed.sys.global.u32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}
COLL_DEVICE void storeRelaxed(uint64_t *address, uint64_t value) {
  asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(address), "l"(value) : "memory");
}
// Adds, and returns the old value; acquires and releases within this GPU.
COLL_DEVICE uint32_t fetchAdd(uint32_t *address, uint32_t value) {
  uint32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(address), "r"(value)
               : "memory");
  return before;
}
// Replaces the value that the caller has seen. True for one of all threads that try; in a warp only
// the first one tries. Relaxed, within this GPU.
COLL_DEVICE bool claim(uint64_t *address, uint64_t seen, uint64_t value) {
  uint32_t before;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(before));
  if ((__activemask() & before) != 0)
    return false;
  uint64_t found;
  asm volatile("atom.relaxed.gpu.global.cas.b64 %0, [%1], %2, %3;"
               : "=l"(found)
               : "l"(address), "l"(seen), "l"(value)
               : "memory");
  return found == seen;
}
// Single-copy atomic: a load sees all 16 bytes of one store or none. Relaxed. Also between
// GPUs; `address` is a multiple of 16.
COLL_DEVICE Vec16 loadPacket(const void *address) {
  uint64_t low, high;
  asm volatile("{.reg .b128 v; ld.relaxed.sys.global.b128 v, [%2]; mov.b128 {%0, %1}, v;}"
               : "=l"(low), "=l"(high)
               : "l"(address)
               : "memory");
  return {{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32),
           static_cast<uint32_t>(high), static_cast<uint32_t>(high >> 32)}};
}
COLL_DEVICE void storePacket(void *address, Vec16 v) {
  asm volatile(
      "{.reg .b128 v; mov.b128 v, {%1, %2}; st.relaxed.sys.global.b128 [%0], v;}" ::"l"(address),
      "l"(uint64_t{v.word[1]} << 32 | v.word[0]), "l"(uint64_t{v.word[3]} << 32 | v.word[2])
      : "memory");
}
COLL_DEVICE void fenceSystem() { __threadfence_system(); }
// Call it in a loop that polls.
COLL_DEVICE void pause() { __nanosleep(20); }
// The same for loops that must react at once.
COLL_DEVICE void giveWay() {}
// Nanoseconds since a fixed time, with a coarse resolution.
COLL_DEVICE uint64_t clockNs() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}

} // namespace coll::kernels::simt

#include "runtime/kernels/simt/matrix_cuda.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
#include "runtime/kernels/simt/bulk_sm90.cuh"
#else
#include "runtime/kernels/simt/bulk_sm80.cuh"
#endif

#endif // COLL_RUNTIME_KERNELS_SIMT_CUDA_CUH
