// The attention kernels on a GPU, through the launchers.

#include "runtime/base/env.h"
#include "test/kernels/attention/attention_rig.h"
#include "test/kernels/must.h"

#include <cuda_runtime.h>

namespace coll::kernels::test {
namespace {

class CudaRig : public AttentionRig {
public:
  void *allocate(size_t bytes) override {
    void *memory = nullptr;
    must(cudaMalloc(&memory, bytes), "cudaMalloc");
    return memory;
  }
  void release(void *memory) override { must(cudaFree(memory), "cudaFree"); }
  void copyIn(void *to, const void *from, size_t bytes) override {
    must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copy to the GPU");
  }
  void copyOut(void *to, const void *from, size_t bytes) override { copyIn(to, from, bytes); }
  rt::Status forward(const Attention &attention, const AttentionBuffers &buffers) override {
    return end(launchAttention(attention, buffers, nullptr));
  }
  rt::Status backward(const Attention &attention, const AttentionBuffers &buffers) override {
    return end(launchAttentionBackward(attention, buffers, nullptr));
  }
  // Set if a tool checks every access of the kernels.
  bool isSlow() const override { return rt::foreignEnv("COLL_TEST_SLOW").has_value(); }

private:
  static rt::Status end(rt::Status status) {
    must(cudaDeviceSynchronize(), "kernel");
    return status;
  }
};

std::unique_ptr<AttentionRig> makeCuda(std::string &whyNot) {
  int devices = 0, major = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    whyNot = "no GPU on this machine";
  else if (must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "attribute");
           major < 8)
    whyNot = "the GPU's compute capability is below 8.0";
  return whyNot.empty() ? std::make_unique<CudaRig>() : nullptr;
}

COLL_ATTENTION_RIG(cuda, makeCuda);

} // namespace
} // namespace coll::kernels::test
