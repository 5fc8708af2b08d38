// simt_host.h - simt.h on the host: each CUDA thread is a fiber.
//
// run() executes a kernel on the calling thread: all threads of all blocks take turns, and switch
// only where they wait for each other (a barrier, a shuffle, pause()). runBeside() does so with
// several streams, like several GPUs, and may also switch in other places. Bulk copies are made as
// late as possible: a load when its barrier is waited for (until then its destination holds junk),
// a store when it is waited for. So a missing wait is detected.
//
// Anything that can only be a bug ends the process with a message: a deadlock, an unaligned bulk
// copy, a store that is never waited for, a barrier that was not initialised.

#ifndef COLL_TEST_SUPPORT_EMULATION_SIMT_HOST_H
#define COLL_TEST_SUPPORT_EMULATION_SIMT_HOST_H

#include "runtime/kernels/simt/simt.h"

#include <cstddef>
#include <functional>
#include <vector>

#define COLL_DEVICE inline
#define COLL_DEVICE_CALL inline
#define COLL_UNROLL()
#define COLL_NO_UNROLL()

namespace coll::kernels::simt {

struct LaunchShape {
  uint32_t blocks = 1;
  uint32_t threads = kWarpThreads; // of a block; a multiple of 32
  size_t sharedBytes = 0;          // of a block; aligned to 128
};

// `kernel` is called once per thread with the block's shared memory. Returns when all threads have
// ended. Several host threads may call it at the same time, each with its own kernels.
void run(const LaunchShape &shape, const std::function<void(char *shared)> &kernel);

struct Grid {
  LaunchShape shape;
  std::function<void(char *shared)> kernel;
};

// Runs several streams concurrently; the grids of one stream follow one another. With a seed other
// than 0, streams begin late at random, and a thread may lose its turn at any access of system
// scope.
void runBeside(const std::vector<std::vector<Grid>> &streams, uint64_t seed);

uint32_t threadIndex();
uint32_t blockIndex();
uint32_t blockThreads();
uint32_t gridBlocks();
inline uint32_t lane() { return threadIndex() % kWarpThreads; }

void syncWarp();
void syncBlock();
bool syncBlockAny(bool says);
uint64_t shuffle(uint64_t value, uint32_t from);
inline uint32_t shuffle(uint32_t value, uint32_t from) {
  return static_cast<uint32_t>(shuffle(uint64_t{value}, from));
}
inline uint32_t shuffleUp(uint32_t value, uint32_t delta) {
  return shuffle(value, lane() >= delta ? lane() - delta : lane());
}
// The words of all lanes: word i of lane l is [l * kMostWords + i], valid until the warp has met
// twice more.
inline constexpr uint32_t kMostWords = 6;
const uint32_t *gather(const uint32_t *words, uint32_t count);
uint32_t ballot(bool vote);
uint32_t sum(uint32_t value);
inline uint32_t countBits(uint32_t bits) { return static_cast<uint32_t>(__builtin_popcount(bits)); }
inline uint32_t lowestBit(uint32_t bits) { return static_cast<uint32_t>(__builtin_ctz(bits)); }

inline Vec16 load16(const void *shared) { return *static_cast<const Vec16 *>(shared); }
inline void store16(void *shared, Vec16 value) { *static_cast<Vec16 *>(shared) = value; }
inline Vec16 loadGlobal16(const void *global) { return load16(global); }
inline void storeGlobal16(void *global, Vec16 value) { store16(global, value); }
inline uint32_t funnelShift(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>(((uint64_t{high} << 32) | low) >> shift);
}

// Lets other threads run at random, if runBeside() was given a seed.
void preempt();

inline uint32_t loadAcquire(const uint32_t *address) {
  preempt();
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
inline uint64_t loadAcquire(const uint64_t *address) {
  preempt();
  return __atomic_load_n(address, __ATOMIC_ACQUIRE);
}
inline void storeRelease(uint32_t *address, uint32_t value) {
  preempt();
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
}
inline void storeRelease(uint64_t *address, uint64_t value) {
  preempt();
  __atomic_store_n(address, value, __ATOMIC_RELEASE);
}
inline uint32_t loadRelaxed(const uint32_t *address) {
  preempt();
  return __atomic_load_n(address, __ATOMIC_RELAXED);
}
inline uint64_t loadRelaxed(const uint64_t *address) {
  preempt();
  return __atomic_load_n(address, __ATOMIC_RELAXED);
}
inline void storeRelaxed(uint32_t *address, uint32_t value) {
  preempt();
  __atomic_store_n(address, value, __ATOMIC_RELAXED);
}
inline void storeRelaxed(uint64_t *address, uint64_t value) {
  preempt();
  __atomic_store_n(address, value, __ATOMIC_RELAXED);
}
inline uint32_t fetchAdd(uint32_t *address, uint32_t value) {
  preempt();
  return __atomic_fetch_add(address, value, __ATOMIC_ACQ_REL);
}
inline bool claim(uint64_t *address, uint64_t seen, uint64_t value) {
  preempt();
  return __atomic_compare_exchange_n(address, &seen, value, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
}
// Uses one instruction, however the compiler translates copies: a member on another host thread, or
// in another process, must not see half a packet. Processors with AVX guarantee that; the
// sanitizers do not check it. A packet does not publish other data.
inline Vec16 loadPacket(const void *address) {
  preempt();
  Vec16 value;
#if defined(__x86_64__)
  __asm__ volatile("movdqa %1, %%xmm0\n\tmovdqu %%xmm0, %0"
                   : "=m"(value)
                   : "m"(*static_cast<const Vec16 *>(address))
                   : "xmm0");
#else
  __atomic_load(static_cast<const Vec16 *>(address), &value, __ATOMIC_RELAXED);
#endif
  return value;
}
inline void storePacket(void *address, Vec16 value) {
  preempt();
#if defined(__x86_64__)
  __asm__ volatile("movdqu %1, %%xmm0\n\tmovdqa %%xmm0, %0"
                   : "=m"(*static_cast<Vec16 *>(address))
                   : "m"(value)
                   : "xmm0");
#else
  __atomic_store(static_cast<Vec16 *>(address), &value, __ATOMIC_RELAXED);
#endif
}
// A read-modify-write, because ThreadSanitizer does not support fences.
inline void fenceSystem() {
  static uint32_t word = 0;
  __atomic_fetch_add(&word, 0, __ATOMIC_SEQ_CST);
}
inline void awaitPrevious() {}
inline void letNextLaunch() {}
void pause();
inline void giveWay() { pause(); }
uint64_t clockNs();

void barrierInit(Barrier *barrier, uint32_t arrivals = 1);
inline void barrierPublish() {}
void barrierInvalidate(Barrier *barrier);
void barrierArrive(Barrier *barrier);
void barrierExpect(Barrier *barrier, uint32_t bytes);
void barrierWait(Barrier *barrier, uint32_t parity);
void bulkLoad(void *shared, const void *global, uint32_t bytes, Barrier *barrier);
void bulkStore(void *global, const void *shared, uint32_t bytes);
void bulkCommit();
void bulkWaitUntil(size_t pending);
template <int pending>
void bulkWaitRead() {
  bulkWaitUntil(pending);
}
template <int pending>
void bulkWait() {
  bulkWaitUntil(pending);
}
inline void fenceAsync() {}

// A thread's asynchronous copies: the destination holds junk until the thread has waited.
void copyAsync(void *shared, const void *global, uint32_t bytes, bool isThere);
void commitCopies();
void waitCopiesUntil(size_t pending);
template <int pending>
void waitCopies() {
  waitCopiesUntil(pending);
}

} // namespace coll::kernels::simt

#include "test/support/emulation/simt_matrix.h"

#endif // COLL_TEST_SUPPORT_EMULATION_SIMT_HOST_H
