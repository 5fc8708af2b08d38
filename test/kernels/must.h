// must.h - calls on GPUs that a test or a benchmark cannot go on without.

#ifndef COLL_TEST_KERNELS_MUST_H
#define COLL_TEST_KERNELS_MUST_H

#include "runtime/base/status.h"

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
inline void must(const rt::Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "%s\n", status.toString().c_str());
  std::abort();
}

} // namespace coll::kernels::test

#endif // COLL_TEST_KERNELS_MUST_H
