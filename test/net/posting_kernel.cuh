// posting_kernel.cuh - a kernel for the tests that posts by itself: the same code on a GPU and
// emulated.

#ifndef COLL_TEST_NET_POSTING_KERNEL_CUH
#define COLL_TEST_NET_POSTING_KERNEL_CUH

#include "runtime/kernels/channel/posting_device.cuh"
#include "test/net/posting_run.h"

namespace coll::net::test {

inline constexpr uint32_t kPostBurst = 4; // posts that a thread has under way

COLL_DEVICE uint64_t postStep(const PostingRun &run, const rt::Post &step) {
  if (step.op == rt::PostOp::Get)
    return kernels::get(run.posts, step.place);
  return kernels::posting::post(run.posts, step.op, step.place, step.signal);
}

// Makes all steps, distributed over all threads of the grid.
COLL_DEVICE void postSteps(const PostingRun &run) {
  const uint32_t threads = kernels::simt::blockThreads() * kernels::simt::gridBlocks();
  const uint32_t thread =
      kernels::simt::blockIndex() * kernels::simt::blockThreads() + kernels::simt::threadIndex();
  for (uint32_t first = thread; first < run.count; first += threads * kPostBurst) {
    uint64_t numbers[kPostBurst];
    for (uint32_t k = 0; k < kPostBurst && first + k * threads < run.count; ++k)
      numbers[k] = postStep(run, run.steps[first + k * threads]);
    for (uint32_t k = 0; k < kPostBurst && first + k * threads < run.count; ++k)
      run.outcomes[first + k * threads] = kernels::waitForPost(run.posts, numbers[k]);
  }
}

// Each block waits, then copies its part of the received data, 8 bytes at a time.
COLL_DEVICE void takeIn(const PostingRun &run) {
  if (kernels::simt::threadIndex() == 0)
    run.awaited[kernels::simt::blockIndex()] =
        kernels::awaitSignal(run.posts, run.peer, run.signal, run.awaitCount);
  kernels::simt::syncBlock();
  const uint32_t threads = kernels::simt::blockThreads() * kernels::simt::gridBlocks();
  for (uint64_t i = kernels::simt::blockIndex() * kernels::simt::blockThreads() +
                    kernels::simt::threadIndex();
       i < run.words; i += threads)
    run.copy[i] = run.landed[i];
}

COLL_DEVICE void runPosting(const PostingRun &run) {
  if (run.awaitCount)
    takeIn(run);
  postSteps(run);
  kernels::simt::syncBlock();
  if (kernels::simt::threadIndex() == 0)
    run.fenced[kernels::simt::blockIndex()] = kernels::fencePosts(run.posts);
}

} // namespace coll::net::test

#endif // COLL_TEST_NET_POSTING_KERNEL_CUH
