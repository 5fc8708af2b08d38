#include "test/kernels/channel_rig.h"

#include "runtime/dl/cuda.h"
#include "runtime/kernels/channel.h"
#include "runtime/kernels/channel_emulation.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>

namespace coll::kernels::test {

using rt::Result;
using rt::Status;

namespace {

class EmulatedRig final : public ChannelRig {
public:
  uint8_t *device(size_t bytes) override { return pinned(bytes); }
  uint8_t *pinned(size_t bytes) override {
    size_t rounded = (bytes / 128 + 1) * 128;
    memory_.emplace_back(static_cast<uint8_t *>(std::aligned_alloc(128, rounded)), &std::free);
    std::memset(memory_.back().get(), 0, rounded);
    return memory_.back().get();
  }
  void copyIn(void *device, const void *from, size_t bytes) override {
    std::memcpy(device, from, bytes);
  }
  void copyOut(void *to, const void *device, size_t bytes) override {
    std::memcpy(to, device, bytes);
  }
  Status launch(const rt::ChannelLaunch &launch) override { return emulation_.launch(launch); }
  bool slow() const override { return true; }

private:
  std::vector<std::unique_ptr<uint8_t, void (*)(void *)>> memory_;
  ChannelEmulation emulation_{64}; // last: ends before the memory
};

namespace dl = rt::dl;

class GpuRig final : public ChannelRig {
public:
  explicit GpuRig(const dl::Cuda &cuda) : cuda_(cuda) {}
  ~GpuRig() override {
    if (stream_)
      check(cuda_.streamSynchronize(stream_), "streamSynchronize");
    for (dl::CudaAddress memory : device_)
      check(cuda_.memFree(memory), "memFree");
    for (void *memory : pinned_)
      check(cuda_.memFreeHost(memory), "memFreeHost");
    cuda_.streamDestroy(stream_);
    cuda_.streamDestroy(copies_);
  }

  Status start() {
    dl::CudaContext context = nullptr;
    COLL_RETURN_IF_ERROR(
        dl::cudaStatus(cuda_, cuda_.primaryContextRetain(&context, 0), "primaryContextRetain"));
    COLL_RETURN_IF_ERROR(
        dl::cudaStatus(cuda_, cuda_.contextSetCurrent(context), "contextSetCurrent"));
    COLL_RETURN_IF_ERROR(dl::cudaStatus(
        cuda_, cuda_.streamCreate(&stream_, dl::kCudaStreamNonBlocking), "streamCreate"));
    COLL_RETURN_IF_ERROR(dl::cudaStatus(
        cuda_, cuda_.streamCreate(&copies_, dl::kCudaStreamNonBlocking), "streamCreate"));
    return loadChannel();
  }

  uint8_t *device(size_t bytes) override {
    dl::CudaAddress address = 0;
    check(cuda_.memAlloc(&address, bytes + 256), "memAlloc");
    device_.push_back(address);
    check(cuda_.memsetD8Async(address, 0, bytes, copies_), "memsetD8Async");
    check(cuda_.streamSynchronize(copies_), "streamSynchronize");
    return reinterpret_cast<uint8_t *>(address);
  }
  uint8_t *pinned(size_t bytes) override {
    void *memory = nullptr;
    check(cuda_.memHostAlloc(&memory, bytes + 256, dl::kCudaHostPortable | dl::kCudaHostMapped),
          "memHostAlloc");
    pinned_.push_back(memory);
    std::memset(memory, 0, bytes);
    return static_cast<uint8_t *>(memory);
  }
  void copyIn(void *device, const void *from, size_t bytes) override {
    check(cuda_.memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(device), from, bytes, copies_),
          "memcpyHtoDAsync");
    check(cuda_.streamSynchronize(copies_), "streamSynchronize");
  }
  void copyOut(void *to, const void *device, size_t bytes) override {
    check(cuda_.memcpyDtoHAsync(to, reinterpret_cast<dl::CudaAddress>(device), bytes, copies_),
          "memcpyDtoHAsync");
    check(cuda_.streamSynchronize(copies_), "streamSynchronize");
  }
  Status launch(const rt::ChannelLaunch &launch) override { return launchChannel(launch, stream_); }
  bool slow() const override { return false; }

private:
  void check(dl::CudaResult result, const char *call) {
    Status status = dl::cudaStatus(cuda_, result, call);
    EXPECT_TRUE(status.ok()) << status.toString();
  }

  const dl::Cuda &cuda_;
  dl::CudaStream stream_ = nullptr, copies_ = nullptr;
  std::vector<dl::CudaAddress> device_;
  std::vector<void *> pinned_;
};

} // namespace

std::unique_ptr<ChannelRig> makeEmulatedRig() { return std::make_unique<EmulatedRig>(); }

std::unique_ptr<ChannelRig> makeGpuRig(std::string &whyNot) {
  Result<const dl::Cuda *> cuda = dl::cuda();
  if (!cuda) {
    whyNot = cuda.status().message();
    return nullptr;
  }
  auto rig = std::make_unique<GpuRig>(**cuda);
  if (Status started = rig->start(); !started.ok()) {
    whyNot = started.message();
    return nullptr;
  }
  return rig;
}

} // namespace coll::kernels::test
