// must.h - checks of calls on GPUs without which a test or a benchmark cannot continue.

#ifndef COLL_TEST_KERNELS_MUST_H
#define COLL_TEST_KERNELS_MUST_H

#include "runtime/base/status.h"

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime_api.h>

namespace coll::kernels::test {

// Ends the process with CUDA's error text if `error` is one; `what` names the failed action.
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
