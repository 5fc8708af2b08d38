#include "runtime/dl/cuda.h"
#include "test/net/posting_kernel.cuh"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace coll::net::test {

namespace dl = rt::dl;
using rt::Result;
using rt::Status;

namespace {

class EmulatedRig final : public PostingRig {
public:
  ~EmulatedRig() override { finish(); }
  uint8_t *pinned(size_t bytes) override {
    const size_t rounded = (bytes / 128 + 1) * 128;
    memory_.emplace_back(static_cast<uint8_t *>(std::aligned_alloc(128, rounded)), &std::free);
    std::memset(memory_.back().get(), 0, rounded);
    return memory_.back().get();
  }
  uint8_t *device(size_t bytes) override { return pinned(bytes); }
  void start(const PostingRun &run) override {
    finish();
    kernel_ = std::thread([run, shape = kernels::simt::LaunchShape{kPostingBlocks, threads(), 0}] {
      kernels::simt::run(shape, [&](char *) { runPosting(run); });
    });
  }
  void finish() override {
    if (kernel_.joinable())
      kernel_.join();
  }
  uint32_t threads() const override { return 32; }

private:
  std::vector<std::unique_ptr<uint8_t, void (*)(void *)>> memory_;
  std::thread kernel_;
};

#ifdef COLL_HAS_CUDA
class GpuRig final : public PostingRig {
public:
  explicit GpuRig(const dl::Cuda &cuda) : cuda_(cuda) {}
  ~GpuRig() override {
    finish();
    for (dl::CudaAddress memory : device_)
      check(cuda_.memFree(memory), "memFree");
    for (void *memory : pinned_)
      check(cuda_.memFreeHost(memory), "memFreeHost");
    if (stream_)
      cuda_.streamDestroy(stream_);
  }
  Status open() {
    dl::CudaContext context = nullptr;
    COLL_RETURN_IF_ERROR(
        dl::cudaStatus(cuda_, cuda_.primaryContextRetain(&context, 0), "primaryContextRetain"));
    COLL_RETURN_IF_ERROR(
        dl::cudaStatus(cuda_, cuda_.contextSetCurrent(context), "contextSetCurrent"));
    COLL_RETURN_IF_ERROR(dl::cudaStatus(
        cuda_, cuda_.streamCreate(&stream_, dl::kCudaStreamNonBlocking), "streamCreate"));
    return loadPosting();
  }
  uint8_t *pinned(size_t bytes) override {
    void *memory = nullptr;
    check(cuda_.memHostAlloc(&memory, bytes + 256, dl::kCudaHostPortable | dl::kCudaHostMapped),
          "memHostAlloc");
    pinned_.push_back(memory);
    std::memset(memory, 0, bytes);
    return static_cast<uint8_t *>(memory);
  }
  uint8_t *device(size_t bytes) override {
    dl::CudaAddress address = 0;
    check(cuda_.memAlloc(&address, bytes + 256), "memAlloc");
    device_.push_back(address);
    check(cuda_.memsetD8Async(address, 0, bytes, stream_), "memsetD8Async");
    check(cuda_.streamSynchronize(stream_), "streamSynchronize");
    return reinterpret_cast<uint8_t *>(address);
  }
  void start(const PostingRun &run) override {
    const Status launched = launchPosting(run, kPostingBlocks, threads(), stream_);
    EXPECT_TRUE(launched.ok()) << launched.toString();
  }
  void finish() override {
    if (stream_)
      check(cuda_.streamSynchronize(stream_), "streamSynchronize");
  }
  uint32_t threads() const override { return 96; }

private:
  void check(dl::CudaResult result, const char *call) {
    const Status status = dl::cudaStatus(cuda_, result, call);
    EXPECT_TRUE(status.ok()) << status.toString();
  }

  const dl::Cuda &cuda_;
  dl::CudaStream stream_ = nullptr;
  std::vector<dl::CudaAddress> device_;
  std::vector<void *> pinned_;
};
#endif

} // namespace

std::unique_ptr<PostingRig> makeEmulatedPostingRig() { return std::make_unique<EmulatedRig>(); }

std::unique_ptr<PostingRig> makeGpuPostingRig(std::string &whyNot) {
#ifdef COLL_HAS_CUDA
  Result<const dl::Cuda *> cuda = dl::cuda();
  if (!cuda.ok()) {
    whyNot = cuda.status().message();
    return nullptr;
  }
  auto rig = std::make_unique<GpuRig>(**cuda);
  if (const Status opened = rig->open(); !opened.ok()) {
    whyNot = opened.message();
    return nullptr;
  }
  return rig;
#else
  whyNot = "this build has no CUDA kernels";
  return nullptr;
#endif
}

} // namespace coll::net::test
