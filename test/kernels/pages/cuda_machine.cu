// Runs the kernels on a GPU, through the launchers.

#include "runtime/base/env.h"
#include "test/kernels/must.h"
#include "test/kernels/pages/machine.h"

#include <cuda_runtime.h>

namespace coll::kernels::test {
namespace {

class CudaMachine : public Machine {
public:
  void *allocate(size_t bytes, Where where) override {
    void *memory = nullptr;
    if (where == Where::Device)
      must(cudaMalloc(&memory, bytes), "cudaMalloc");
    else
      must(cudaMallocHost(&memory, bytes), "cudaMallocHost");
    return memory;
  }
  void release(void *memory, Where where) override {
    must(where == Where::Device ? cudaFree(memory) : cudaFreeHost(memory), "free");
  }
  void copyIn(void *to, const void *from, size_t bytes) override {
    must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copy to the GPU");
  }
  void copyOut(void *to, const void *from, size_t bytes) override {
    must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copy from the GPU");
  }
  rt::Status unpack(const PageCopy &copy) override { return end(launchUnpack(copy, nullptr)); }
  rt::Status pack(const PageCopy &copy) override { return end(launchPack(copy, nullptr)); }
  rt::Status unpackNext(const MessageCopy<rt::UnpackHandle> &message) override {
    return end(launchUnpackNext(message, nullptr));
  }
  rt::Status unpackGroup(const UnpackGroupCopy &copy) override {
    return end(launchUnpackGroup(copy, nullptr));
  }
  rt::Status packNext(const MessageCopy<rt::PackHandle> &message) override {
    return end(launchPackNext(message, nullptr));
  }
  int cases() const override { return slow_ ? 30 : 400; }
  bool slow() const override { return slow_; }

private:
  // Set if a tool checks every access of the kernels.
  const bool slow_ = rt::foreignEnv("COLL_TEST_SLOW").has_value();
  static rt::Status end(rt::Status status) {
    must(cudaDeviceSynchronize(), "kernel");
    return status;
  }
};

MachineResult makeCuda() {
  int devices = 0, major = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    return {nullptr, "no GPU on this machine"};
  must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "attribute");
  if (major < 8)
    return {nullptr, "the GPU's compute capability is below 8.0"};
  return {std::make_unique<CudaMachine>(), ""};
}

COLL_KERNEL_MACHINE(cuda, UnpackTest, makeCuda);
COLL_KERNEL_MACHINE(cuda, PackTest, makeCuda);

} // namespace
} // namespace coll::kernels::test
