// gemm.h - batched matrix products on the calling thread.

#ifndef COLL_RUNTIME_STEP_ABI_GEMM_H
#define COLL_RUNTIME_STEP_ABI_GEMM_H

#include "runtime/base/codes.h"
#include "runtime/base/status.h"

namespace coll::rt {

// C[b] = op(A[b]) * op(B[b]) (+ C[b] if accumulate) for b < batch; see abi.def. op(A)
// is m x k, op(B) k x n, C m x n, row-major; op transposes. k = 0 gives zeros.
struct Gemm {
  int32_t dtype = kCollF32; // f32 or f64; any number is accepted and checked
  bool transA = false;
  bool transB = false;
  int64_t m = 0, n = 0, k = 0;
  const void *a = nullptr;
  int64_t lda = 0, strideA = 0;
  const void *b = nullptr;
  int64_t ldb = 0, strideB = 0;
  void *c = nullptr;
  int64_t ldc = 0, strideC = 0;
  int64_t batch = 1;
  bool accumulate = false;
};

// Loads the matrix library; without this call the first large product does. Call it before other
// threads run (see dl/blas.h).
void prepareGemm();

// Announces products by up to `numThreads` threads at once. OpenBLAS maps a buffer for each of
// them, and retries for ever if the address space has no room for one. Therefore, if ulimit -v or
// -d leaves room for fewer buffers, threads take turns, with a warning; if it leaves room for none,
// large products fail with kCollDevice. Call it when the program's other memory has been allocated,
// while no product runs.
void reserveGemm(int numThreads);

// Fails, without any effect, if a size, a row stride or a pointer is invalid. Several threads may
// call it at once; equal shapes sum in the same order.
Status runGemm(const Gemm &gemm);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_ABI_GEMM_H
