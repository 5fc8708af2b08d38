#include "test/conformance/gpu_memory.h"

#include "runtime/backend/direct/platform.h"
#include "runtime/backend/nccl/platform.h"
#include "runtime/backend/net/algorithms/apply.h"
#include "runtime/backend/net/gpu/platform.h"
#include "runtime/base/dtype.h"
#include "test/conformance/emulated_peers.h"
#include "test/support/emulation/channel.h"
#include "test/support/fakes/nccl.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <mutex>

namespace coll::rt::test {

namespace {

constexpr int kFakeGpus = 2;
constexpr int kFakeRankGpus = 8; // one for each rank
constexpr int64_t kLeastPinned = 64 << 10;

// GPU memory of both kinds, through the driver's functions.
class DriverMemory : public GpuMemory {
public:
  std::unique_ptr<StagedCall> stage(const Call &call, int rank, int n, int position) override;
  int gpus() const override { return static_cast<int>(contexts_.size()); }

protected:
  // The primary contexts stay until the end, so that a rank's first call need not create one.
  void open(const dl::Cuda &cuda, int count) {
    cuda_ = &cuda;
    for (int gpu = 0; gpu < count; ++gpu) {
      dl::CudaContext context = nullptr;
      check(cuda.primaryContextRetain(&context, gpu));
      contexts_.push_back(context);
    }
  }
  void close() {
    for (auto &[gpu, buffers] : pinned_) {
      dl::CudaScope scope(*cuda_, contexts_[gpu]);
      for (const Pinned &buffer : buffers)
        check(cuda_->memFreeHost(buffer.data));
    }
    pinned_.clear();
    for (size_t gpu = 0; gpu < contexts_.size(); ++gpu)
      check(cuda_->primaryContextRelease(static_cast<int>(gpu)));
    contexts_.clear();
  }

private:
  class Staged;

  void *allocate(int64_t bytes, int rank) {
    dl::CudaScope scope(*cuda_, contextOf(rank));
    dl::CudaAddress address = 0;
    check(cuda_->memAlloc(&address, static_cast<size_t>(bytes)));
    return reinterpret_cast<void *>(address);
  }
  void release(void *memory, int rank) {
    dl::CudaScope scope(*cuda_, contextOf(rank));
    check(cuda_->memFree(reinterpret_cast<dl::CudaAddress>(memory)));
  }
  void copyIn(void *device, const void *from, int64_t bytes, int rank) {
    copy(rank, bytes, [&](void *pinned, dl::CudaStream stream) {
      std::memcpy(pinned, from, static_cast<size_t>(bytes));
      check(cuda_->memcpyHtoDAsync(reinterpret_cast<dl::CudaAddress>(device), pinned,
                                   static_cast<size_t>(bytes), stream));
      check(cuda_->streamSynchronize(stream));
    });
  }
  void copyOut(void *to, const void *device, int64_t bytes, int rank) {
    copy(rank, bytes, [&](void *pinned, dl::CudaStream stream) {
      check(cuda_->memcpyDtoHAsync(pinned, reinterpret_cast<dl::CudaAddress>(device),
                                   static_cast<size_t>(bytes), stream));
      check(cuda_->streamSynchronize(stream));
      std::memcpy(to, pinned, static_cast<size_t>(bytes));
    });
  }
  template <typename Move>
  void copy(int rank, int64_t bytes, Move &&move) {
    dl::CudaScope scope(*cuda_, contextOf(rank));
    dl::CudaStream stream = nullptr;
    check(cuda_->streamCreate(&stream, dl::kCudaStreamNonBlocking));
    Pinned pinned = takePinned(bytes, rank);
    move(pinned.data, stream);
    check(cuda_->streamDestroy(stream));
    std::lock_guard<std::mutex> lock(pinnedMutex_);
    pinned_[indexOf(rank)].push_back(pinned);
  }

  // Pinned buffers are reused, because freeing one waits for the GPU.
  struct Pinned {
    void *data = nullptr;
    int64_t bytes = 0;
  };
  Pinned takePinned(int64_t bytes, int rank) {
    {
      std::lock_guard<std::mutex> lock(pinnedMutex_);
      std::vector<Pinned> &free = pinned_[indexOf(rank)];
      for (Pinned &buffer : free)
        if (buffer.bytes >= bytes) {
          std::swap(buffer, free.back());
          Pinned taken = free.back();
          free.pop_back();
          return taken;
        }
    }
    Pinned made = {nullptr, std::max<int64_t>(bytes, kLeastPinned)};
    check(cuda_->memHostAlloc(&made.data, static_cast<size_t>(made.bytes), dl::kCudaHostPortable));
    return made;
  }
  size_t indexOf(int rank) const { return static_cast<size_t>(rank) % contexts_.size(); }
  dl::CudaContext contextOf(int rank) const { return contexts_[indexOf(rank)]; }
  void check(dl::CudaResult result) {
    Status status = dl::cudaStatus(*cuda_, result, "the test's own call");
    EXPECT_TRUE(status.ok()) << status.toString();
  }

  const dl::Cuda *cuda_ = nullptr;
  std::vector<dl::CudaContext> contexts_;
  std::mutex pinnedMutex_;
  std::map<size_t, std::vector<Pinned>> pinned_; // by GPU
};

class DriverMemory::Staged final : public StagedCall {
public:
  Staged(DriverMemory &memory, const Call &call, int rank, int n, int position)
      : memory_(memory), host_(call), onGpu_(call), rank_(rank) {
    const int64_t sourceBytes = call.kind == OpKind::Send
                                    ? call.count * dtypeSize(call.dtype)
                                    : network::contribution(call, n, position);
    bytes_ = network::destinationBytes(call, n);
    const bool inPlace = call.src == call.dst;
    if (bytes_ > 0) {
      const int64_t room = std::max(bytes_, inPlace ? sourceBytes : 0);
      dst_ = memory.allocate(room, rank);
      memory.copyIn(dst_, call.dst, room, rank);
      onGpu_.dst = dst_;
    }
    if (sourceBytes > 0) {
      src_ = inPlace && dst_ ? dst_ : memory.allocate(sourceBytes, rank);
      memory.copyIn(src_, call.src, sourceBytes, rank);
      onGpu_.src = src_;
    } else if (inPlace) {
      onGpu_.src = dst_;
    }
  }
  ~Staged() override {
    if (src_ && src_ != dst_)
      memory_.release(src_, rank_);
    if (dst_)
      memory_.release(dst_, rank_);
  }
  const Call &call() const override { return onGpu_; }
  void finish() override {
    if (dst_)
      memory_.copyOut(host_.dst, dst_, bytes_, rank_);
  }

private:
  DriverMemory &memory_;
  const Call host_;
  Call onGpu_;
  const int rank_;
  int64_t bytes_ = 0; // of the destination
  void *src_ = nullptr, *dst_ = nullptr;
};

std::unique_ptr<StagedCall> DriverMemory::stage(const Call &call, int rank, int n, int position) {
  return std::make_unique<Staged>(*this, call, rank, n, position);
}

class RealMemory final : public DriverMemory {
public:
  RealMemory(const dl::Cuda &cuda, int count) {
    // A context with so many queues takes up to a second to create, so the process keeps that of
    // the first test.
    [[maybe_unused]] static const int kept = [&] {
      dl::CudaContext context = nullptr;
      for (int gpu = 0; gpu < count; ++gpu)
        EXPECT_EQ(cuda.primaryContextRetain(&context, gpu), dl::kCudaSuccess);
      return count;
    }();
    open(cuda, count);
  }
  ~RealMemory() override { close(); }
};

// Each channel has a thread that runs its kernel.
class FakeMemory final : public DriverMemory {
public:
  FakeMemory()
      : fake_(kFakeGpus), platform_({&fake_.table(), [] { return Status(); }, launcher()}) {
    open(fake_.table(), kFakeGpus);
  }
  ~FakeMemory() override {
    close();
    EXPECT_EQ(fake_.misuse(), "");
  }

private:
  std::function<Status(const ChannelLaunch &, dl::CudaStream)> launcher() {
    return [this](const ChannelLaunch &launch, dl::CudaStream) {
      std::lock_guard<std::mutex> lock(mutex_);
      std::unique_ptr<kernels::ChannelEmulation> &emulation = emulations_[launch.state];
      if (!emulation)
        emulation = std::make_unique<kernels::ChannelEmulation>();
      return emulation->launch(launch);
    };
  }

  dl::FakeCuda fake_;
  std::mutex mutex_;
  std::map<ChannelState *, std::unique_ptr<kernels::ChannelEmulation>> emulations_;
  network::ScopedGpuPlatform platform_;
};

class FakeNcclMemory final : public DriverMemory {
public:
  FakeNcclMemory() : fake_(kFakeRankGpus), platform_({&fake_.table(), &nccl_.table()}) {
    open(fake_.table(), kFakeRankGpus);
  }
  ~FakeNcclMemory() override {
    close();
    EXPECT_EQ(nccl_.liveObjects(), 0);
    EXPECT_EQ(nccl_.misuse(), "");
    EXPECT_EQ(fake_.misuse(), "");
    EXPECT_EQ(fake_.liveAllocations(), 0);
  }

private:
  dl::FakeCuda fake_;
  dl::FakeNccl nccl_;
  nccl::ScopedPlatform platform_;
};

class FakeDirectMemory final : public DriverMemory {
public:
  FakeDirectMemory() : fake_(kFakeRankGpus), platform_(emulatedPeers(fake_.table())) {
    open(fake_.table(), kFakeRankGpus);
  }
  ~FakeDirectMemory() override {
    close();
    EXPECT_EQ(fake_.misuse(), "");
    EXPECT_EQ(fake_.liveAllocations(), 0);
  }

private:
  dl::FakeCuda fake_;
  direct::ScopedPlatform platform_;
};

std::unique_ptr<GpuMemory> make(const std::string &kind, std::string &whyNot) {
  if (kind == "fake")
    return std::make_unique<FakeMemory>();
  if (kind == "fake-nccl")
    return std::make_unique<FakeNcclMemory>();
  if (kind == "fake-direct")
    return std::make_unique<FakeDirectMemory>();
  // Because ranks share GPUs: see the README of backend direct.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  Result<const dl::Cuda *> cuda = dl::cuda();
  int count = 0;
  if (!cuda || (*cuda)->deviceGetCount(&count) != dl::kCudaSuccess || count == 0) {
    whyNot = cuda.ok() ? "no GPU" : cuda.status().message();
    return nullptr;
  }
  return std::make_unique<RealMemory>(**cuda, count);
}

[[maybe_unused]] const bool isSet = (makeGpuMemory = make) != nullptr;

} // namespace

} // namespace coll::rt::test
