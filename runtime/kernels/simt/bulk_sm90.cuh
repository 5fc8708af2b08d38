// bulk_sm90.cuh - barriers, bulk copies and overlapping kernels of sm_90 and later. Included by
// cuda.cuh.

#ifndef COLL_RUNTIME_KERNELS_SIMT_BULK_SM90_CUH
#define COLL_RUNTIME_KERNELS_SIMT_BULK_SM90_CUH

#include "runtime/kernels/simt/simt.h"

namespace coll::kernels::simt {

// For kernels that were launched `early`: waits until all earlier work of the stream has ended and
// is visible.
COLL_DEVICE void awaitPrevious() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
// Allows the next kernel of the stream to start, if it was launched early, once all blocks have
// called this.
COLL_DEVICE void letNextLaunch() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }

// A phase ends after this many arrivals. Other threads may use it after barrierPublish() and a
// sync.
COLL_DEVICE void barrierInit(Barrier *barrier, uint32_t arrivals = 1) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(sharedAddress(barrier)),
               "r"(arrivals)
               : "memory");
}
COLL_DEVICE void barrierPublish() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Ends the barrier: its memory may be reused.
COLL_DEVICE void barrierInvalidate(Barrier *barrier) {
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(sharedAddress(barrier)) : "memory");
}
// Arrives. What this thread has seen and written is visible to threads that wait for the phase.
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
// Waits until the phase of that parity has ended; the first phase has parity 0.
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
// Groups the thread's stores since the last group; the group may be empty.
COLL_DEVICE void bulkCommit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until all but the latest `pending` groups have read their shared memory.
template <int pending>
COLL_DEVICE void bulkWaitRead() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(pending) : "memory");
}
// Waits until all but the latest `pending` groups are done.
template <int pending>
COLL_DEVICE void bulkWait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(pending) : "memory");
}
COLL_DEVICE void fenceAsync() { asm volatile("fence.proxy.async;" ::: "memory"); }

} // namespace coll::kernels::simt

#endif // COLL_RUNTIME_KERNELS_SIMT_BULK_SM90_CUH
