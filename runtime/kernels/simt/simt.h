// simt.h - the functions that kernels of this project use, on a GPU and on the host.
//
// Device code (`x_device.cuh`) calls these functions instead of CUDA's built-in ones. Under nvcc
// they are those instructions (cuda.cuh). Under a C++ compiler they are the emulation that
// COLL_SIMT_HOST names (the tests' target CollSimt), in which each CUDA thread is a fiber: the same
// code runs without a GPU, and the sanitizers check it.
//
// Functions of a warp are called by all 32 threads of it, converged; syncBlock by all threads of
// the block. Threads of a block are a multiple of 32.
//
//   threadIndex blockIndex blockThreads gridBlocks lane      the position of a thread
//   syncWarp syncBlock syncBlockAny                          threads meet
//   shuffle shuffleUp ballot sum; countBits lowestBit        between threads; of a ballot
//   load16 store16 loadGlobal16 storeGlobal16 funnelShift    16 bytes at an aligned address
//   loadAcquire storeRelease loadRelaxed storeRelaxed        system scope: the host sees them
//   fetchAdd claim                                           within a GPU
//   loadPacket storePacket                                   16 bytes at once, system scope
//   fenceSystem pause giveWay clockNs
//   awaitPrevious letNextLaunch                              between kernels of a stream
//   Barrier, barrierInit … barrierWait                       an mbarrier in shared memory
//   bulkLoad bulkStore bulkCommit bulkWaitRead bulkWait      the bulk-copy engine of sm_90
//   fenceAsync
//   sharedAddress loadShared … storeShared2                  shared memory by its own addresses
//   copyAsync16 copyAsync4 commitCopies waitCopies           a thread's copies to it
//   exp2 logarithm packBf16 packF16 roundTf32 shuffleXor     numbers
//   loadMatrices loadTransposed multiplyBf16 …               the matrix units
//
// Global memory that others write is read after an acquire, by this thread or by one of the block
// followed by a barrier; ordinary loads may be served from a cache, which an acquire empties.
//
// Bulk copies: addresses and sizes are multiples of 16. The engine reads and writes through the
// *async proxy*: what a thread has learned by ordinary loads (for example, that the host has
// written a buffer) orders bulk copies only after fenceAsync(). A load is complete, and visible,
// for a thread that waited for its barrier; a store has read its shared memory after bulkWaitRead,
// and is visible after bulkWait, for the thread that issued it.

// Asynchronous copies of a thread: if `isThere` is false, copyAsync* write zeros and do not read
// the source. A group of copies, ended by commitCopies(), has arrived for the thread that issued it
// after waitCopies() with the number of later groups, and for the block after a barrier.
//
// Matrix units. With g = lane / 4 and t = lane % 4:
//   loadMatrices: four matrices of 8 rows of 16 bytes; lane l has the address of row l % 8 of
//     matrix l / 8, and receives of each the word t of row g. loadTransposed: of 16-bit elements,
//     rows 2t and 2t + 1 of column g.
//   multiplyX: c += a b, with c 16 x 8 in f32: {c[0], c[1]} are row g, columns 2t and 2t + 1,
//     {c[2], c[3]} row g + 8. Narrow types: a is 16 x 16, a[0] of row g, columns 2t and 2t + 1,
//     a[1] of row g + 8, a[2] and a[3] the same of columns 2t + 8 and 2t + 9; b is 16 x 8: b0 holds
//     rows 2t and 2t + 1 of column g, b1 rows 2t + 8 and 2t + 9. TF32: a is 16 x 8, a[0] of row g,
//     column t, a[1] of row g + 8, a[2] and a[3] of column t + 4; b is 8 x 8, rows t and t + 4 of
//     column g.

#ifndef COLL_RUNTIME_KERNELS_SIMT_SIMT_H
#define COLL_RUNTIME_KERNELS_SIMT_SIMT_H

#include <cstdint>

namespace coll::kernels::simt {

inline constexpr uint32_t kWarpThreads = 32;

// 16 bytes, in a register.
struct alignas(16) Vec16 {
  uint32_t word[4];
};

// Counts the bytes of bulk loads that have not arrived; in shared memory.
using Barrier = uint64_t;

} // namespace coll::kernels::simt

#ifdef __CUDACC__
#include "runtime/kernels/simt/cuda.cuh"
#elif defined(COLL_SIMT_HOST)
#include COLL_SIMT_HOST
#else
#error "device code: compile it with nvcc, or link CollSimt, which emulates a GPU on the host"
#endif

#endif // COLL_RUNTIME_KERNELS_SIMT_SIMT_H
