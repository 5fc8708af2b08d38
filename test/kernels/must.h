// must.h - calls of CUDA's runtime that a test cannot go on without.

#ifndef COLL_TEST_KERNELS_MUST_H
#define COLL_TEST_KERNELS_MUST_H

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>

namespace coll::kernels::test {

// Ends the process with CUDA's own text, where `error` is one; `what` says what was tried.
inline void must(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::abort();
}

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_MUST_H
