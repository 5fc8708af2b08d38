// The tests' kernel on a GPU.

#include "test/net/posting_kernel.cuh"

#include <cuda_runtime.h>

namespace coll::net::test {

namespace {

__global__ void postingKernel(PostingRun run) { runPosting(run); }

rt::Status statusOf(cudaError_t error) {
  if (error == cudaSuccess)
    return {};
  return {kCollDevice, std::string("the posting kernel: ") + cudaGetErrorString(error)};
}

} // namespace

rt::Status loadPosting() {
  cudaFuncAttributes attributes = {};
  return statusOf(cudaFuncGetAttributes(&attributes, postingKernel));
}

rt::Status launchPosting(const PostingRun &run, uint32_t blocks, uint32_t threads, void *stream) {
  postingKernel<<<blocks, threads, 0, static_cast<cudaStream_t>(stream)>>>(run);
  return statusOf(cudaGetLastError());
}

} // namespace coll::net::test
