// bulk_sm80.cuh - replaces bulk_sm90.cuh on GPUs without a bulk-copy engine and without overlapping
// kernels. Included by cuda.cuh.
//
// A thread that loads or stores in bulk moves the bytes itself, 16 at a time, and they have arrived
// when the call returns. A warp's ring of stages still works, but nothing is in flight meanwhile.
// Barriers count bytes, which mbarriers cannot before sm_90, so they are ordinary words.

#ifndef COLL_RUNTIME_KERNELS_SIMT_BULK_SM80_CUH
#define COLL_RUNTIME_KERNELS_SIMT_BULK_SM80_CUH

#include "runtime/kernels/simt/simt.h"

namespace coll::kernels::simt {

// On these GPUs kernels are not launched early.
COLL_DEVICE void awaitPrevious() {}
COLL_DEVICE void letNextLaunch() {}

// A Barrier's first word: the bytes and arrivals for which the phase still waits. Bytes may arrive
// before they are expected. The second word: arrivals of a phase, and the phase's parity.
inline constexpr int32_t kArrival = 1 << 20; // more than any bytes
COLL_DEVICE int32_t *dueOf(Barrier *barrier) { return reinterpret_cast<int32_t *>(barrier); }
COLL_DEVICE volatile uint32_t *phaseOf(Barrier *barrier) {
  return reinterpret_cast<volatile uint32_t *>(barrier) + 1;
}
// The thread that completes a phase begins the next one: no other thread accesses the barrier
// before that.
COLL_DEVICE void settle(Barrier *barrier, int32_t change) {
  __threadfence_block(); // threads that wait see this thread's earlier writes
  if (atomicAdd(dueOf(barrier), change) + change != 0)
    return;
  __threadfence_block(); // and this thread sees the others'
  const uint32_t phase = *phaseOf(barrier);
  *static_cast<volatile int32_t *>(dueOf(barrier)) = static_cast<int32_t>(phase >> 1) * kArrival;
  __threadfence_block();
  *phaseOf(barrier) = phase ^ 1;
}

COLL_DEVICE void barrierInit(Barrier *barrier, uint32_t arrivals = 1) {
  *dueOf(barrier) = static_cast<int32_t>(arrivals) * kArrival;
  *phaseOf(barrier) = arrivals << 1;
}
COLL_DEVICE void barrierPublish() { __threadfence_block(); }
COLL_DEVICE void barrierInvalidate(Barrier *) {}
COLL_DEVICE void barrierArrive(Barrier *barrier) { settle(barrier, -kArrival); }
COLL_DEVICE void barrierExpect(Barrier *barrier, uint32_t bytes) {
  settle(barrier, static_cast<int32_t>(bytes) - kArrival);
}
COLL_DEVICE void barrierWait(Barrier *barrier, uint32_t parity) {
  while ((*phaseOf(barrier) & 1) == parity)
    ;
  __threadfence_block();
}

COLL_DEVICE void bulkLoad(void *shared, const void *global, uint32_t bytes, Barrier *barrier) {
  const auto to = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
  for (uint32_t at = 0; at < bytes; at += sizeof(Vec16))
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + at),
                 "l"(static_cast<const char *>(global) + at)
                 : "memory");
  asm volatile("cp.async.wait_all;" ::: "memory");
  settle(barrier, -static_cast<int32_t>(bytes));
}
COLL_DEVICE void bulkStore(void *global, const void *shared, uint32_t bytes) {
  COLL_PRAGMA(unroll 4)
  for (uint32_t at = 0; at < bytes; at += sizeof(Vec16))
    storeGlobal16(static_cast<char *>(global) + at, load16(static_cast<const char *>(shared) + at));
}
COLL_DEVICE void bulkCommit() {}
template <int pending>
COLL_DEVICE void bulkWaitRead() {}
template <int pending>
COLL_DEVICE void bulkWait() {}
COLL_DEVICE void fenceAsync() {}

} // namespace coll::kernels::simt

#endif // COLL_RUNTIME_KERNELS_SIMT_BULK_SM80_CUH
