// simt_cuda.cuh - simt.h on a GPU: one instruction or two each. Needs sm_90.

#ifndef COLL_RUNTIME_KERNELS_SIMT_CUDA_CUH
#define COLL_RUNTIME_KERNELS_SIMT_CUDA_CUH

#define COLL_DEVICE __device__ __forceinline__
// A long function that is called from many places.
#define COLL_DEVICE_CALL inline __device__ __noinline__
// Before a loop.
#define COLL_PRAGMA(text) _Pragma(#text)
// Of a loop whose count the compiler knows: only a loop that is gone leaves arrays in registers.
#define COLL_UNROLL() COLL_PRAGMA(unroll)
#define COLL_NO_UNROLL() COLL_PRAGMA(unroll 1)

namespace coll::kernels::simt {

// --- where a thread is

COLL_DEVICE uint32_t threadIndex() { return threadIdx.x; }
COLL_DEVICE uint32_t blockIndex() { return blockIdx.x; }
COLL_DEVICE uint32_t blockThreads() { return blockDim.x; }
COLL_DEVICE uint32_t gridBlocks() { return gridDim.x; }
COLL_DEVICE uint32_t lane() { return threadIdx.x % kWarpThreads; }

// --- between threads

COLL_DEVICE void syncWarp() { __syncwarp(); }
COLL_DEVICE void syncBlock() { __syncthreads(); }
// Whether any thread of the block says so.
COLL_DEVICE bool syncBlockAny(bool says) { return __syncthreads_or(says) != 0; }
COLL_DEVICE uint32_t shuffle(uint32_t value, uint32_t from) {
  return __shfl_sync(~0u, value, static_cast<int>(from));
}
COLL_DEVICE uint64_t shuffle(uint64_t value, uint32_t from) {
  return __shfl_sync(~0u, static_cast<unsigned long long>(value), static_cast<int>(from));
}
// The value of the thread `delta` lanes below; the own value where there is none.
COLL_DEVICE uint32_t shuffleUp(uint32_t value, uint32_t delta) {
  return __shfl_up_sync(~0u, value, delta);
}
COLL_DEVICE uint32_t ballot(bool vote) { return __ballot_sync(~0u, vote); }
// Of all lanes' values.
COLL_DEVICE uint32_t sum(uint32_t value) { return __reduce_add_sync(~0u, value); }
COLL_DEVICE uint32_t countBits(uint32_t bits) { return static_cast<uint32_t>(__popc(bits)); }
// Number of the lowest bit that is set; bits != 0.
COLL_DEVICE uint32_t lowestBit(uint32_t bits) { return static_cast<uint32_t>(__ffs(bits)) - 1; }

// --- 16 bytes

// From and to shared memory.
COLL_DEVICE Vec16 load16(const void *shared) { return *static_cast<const Vec16 *>(shared); }
COLL_DEVICE void store16(void *shared, Vec16 value) { *static_cast<Vec16 *>(shared) = value; }
// Global memory. No clobber of memory in these two, so that the compiler may start shared
// loads that follow; they keep their place among barriers, fences and each other.
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
// Adds, and returns what was there; acquires and releases within this GPU.
COLL_DEVICE uint32_t fetchAdd(uint32_t *address, uint32_t value) {
  uint32_t before;
  asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(address), "r"(value)
               : "memory");
  return before;
}
// Replaces what the caller has seen there; true for one of all threads that try, and of a warp that
// tries at once, only the first one does. Relaxed, within this GPU.
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
// Of kernels that were launched `early`: until all that precedes on the stream is over and seen.
COLL_DEVICE void awaitPrevious() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
// The next kernel of the stream may take its place, if it was launched so, once all blocks have
// been here.
COLL_DEVICE void letNextLaunch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
COLL_DEVICE void fenceSystem() { __threadfence_system(); }
// In a loop that polls.
COLL_DEVICE void pause() { __nanosleep(20); }
// The same where every nanosecond counts.
COLL_DEVICE void giveWay() {}
// Since some moment; ticks coarsely.
COLL_DEVICE uint64_t clockNs() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
  return ns;
}

// --- barriers and bulk copies

COLL_DEVICE uint32_t sharedAddress(const void *shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}
// A phase ends after so many arrivals. Other threads may use it after barrierPublish() and a
// sync.
COLL_DEVICE void barrierInit(Barrier *barrier, uint32_t arrivals = 1) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)),
               "r"(arrivals)
               : "memory");
}
COLL_DEVICE void barrierPublish() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Ends it: the memory may be used for something else.
COLL_DEVICE void barrierInvalidate(Barrier *barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(sharedAddress(barrier)) : "memory");
}
// Arrives; what this thread has seen and written is visible to whoever waits for the phase.
COLL_DEVICE void barrierArrive(Barrier *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(sharedAddress(barrier)) : "memory");
}
// Arrives: the phase ends once bulk loads have brought `bytes`, too.
COLL_DEVICE void barrierExpect(Barrier *barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(sharedAddress(barrier)),
      "r"(bytes)
      : "memory");
}
// Until the phase of that parity has ended; the first phase has parity 0.
COLL_DEVICE void barrierWait(Barrier *barrier, uint32_t parity) {
  uint32_t ended;
  do {
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                 "selp.u32 %0, 1, 0, p;}"
                 : "=r"(ended)
                 : "r"(sharedAddress(barrier)), "r"(parity)
                 : "memory");
  } while (ended == 0);
}
COLL_DEVICE void bulkLoad(void *shared, const void *global, uint32_t bytes, Barrier *barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
               "[%0], [%1], %2, [%3];" ::"r"(sharedAddress(shared)),
               "l"(global), "r"(bytes), "r"(sharedAddress(barrier))
               : "memory");
}
COLL_DEVICE void bulkStore(void *global, const void *shared, uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(global),
               "r"(sharedAddress(shared)), "r"(bytes)
               : "memory");
}
// Makes a group of the thread's stores since the last one; it may be empty.
COLL_DEVICE void bulkCommit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Until all but the youngest `pending` groups have read their shared memory.
template <int pending>
COLL_DEVICE void bulkWaitRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
// Until all but the youngest `pending` groups are done.
template <int pending>
COLL_DEVICE void bulkWait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}
COLL_DEVICE void fenceAsync() { asm volatile("fence.proxy.async;" ::: "memory"); }

} // namespace coll::kernels::simt

#endif // COLL_RUNTIME_KERNELS_SIMT_CUDA_CUH
