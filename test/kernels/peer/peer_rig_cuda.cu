#include "runtime/kernels/peer/launch.h"
#include "test/kernels/peer/peer_rig.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <random>
#include <thread>

namespace coll::kernels::test {

namespace {

void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

void check(const rt::Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "%s\n", status.toString().c_str());
  std::exit(1);
}

// Memory that is allocated from the front, and completely again after reset(): an allocation or
// free by CUDA waits for GPUs, and is mapped by each of them.
class Arena {
public:
  using Allocate = void *(*)(size_t);

  Arena(Allocate allocate, size_t chunkBytes) : allocate_(allocate), chunkBytes_(chunkBytes) {}

  void *take(size_t bytes) {
    const size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    while (current_ < chunks_.size() && used_ + whole > chunks_[current_].bytes) {
      ++current_;
      used_ = 0;
    }
    if (current_ == chunks_.size()) {
      const size_t size = std::max(whole, chunkBytes_);
      chunks_.push_back({static_cast<char *>(allocate_(size)), size});
    }
    used_ += whole;
    return chunks_[current_].base + used_ - whole;
  }
  void reset() { current_ = used_ = 0; }
  bool has(const void *memory) const {
    const auto *byte = static_cast<const char *>(memory);
    for (const Chunk &chunk : chunks_)
      if (byte >= chunk.base && byte < chunk.base + chunk.bytes)
        return true;
    return false;
  }
  template <typename Free>
  void release(Free &&free) {
    for (const Chunk &chunk : chunks_)
      free(chunk.base);
  }

private:
  static constexpr size_t kAlignment = 512;
  struct Chunk {
    char *base;
    size_t bytes;
  };
  Allocate allocate_;
  size_t chunkBytes_;
  std::vector<Chunk> chunks_;
  size_t current_ = 0, used_ = 0;
};

void *allocateOnGpu(size_t bytes) {
  void *memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return memory;
}
void *allocatePinned(size_t bytes) {
  void *memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc");
  return memory;
}

// A kernel of the tests that keeps a stream busy.
__global__ void idle(uint32_t us) {
  for (uint32_t i = 0; i < us; ++i)
    __nanosleep(1000);
}

class GpuRig : public PeerRig {
public:
  explicit GpuRig(int gpus)
      : gpus_(static_cast<uint32_t>(gpus)), streams_(kMaxPeers),
        memory_(gpus_, Arena(allocateOnGpu, kGpuChunk)), pinned_(allocatePinned, kPinnedChunk) {
    for (uint32_t gpu = 0; gpu < gpus_; ++gpu) {
      check(cudaSetDevice(static_cast<int>(gpu)), "cudaSetDevice");
      // A multiprocessor changes its split of cache and shared memory only when it is empty, so
      // this kernel uses the same split as those that run beside it.
      check(cudaFuncSetAttribute(idle, cudaFuncAttributePreferredSharedMemoryCarveout,
                                 cudaSharedmemCarveoutMaxShared),
            "carveout");
      for (uint32_t peer = 0; peer < gpus_; ++peer)
        if (peer != gpu)
          check(cudaDeviceEnablePeerAccess(static_cast<int>(peer), 0), "peer access");
    }
    for (uint32_t rank = 0; rank < kMaxPeers; ++rank) {
      use(rank);
      check(cudaStreamCreateWithFlags(&streams_[rank], cudaStreamNonBlocking), "stream");
      idle<<<1, 1, 0, streams_[rank]>>>(0); // not for the first time while members wait
    }
    check(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, 0),
          "attribute");
  }
  ~GpuRig() override {
    for (Arena &arena : memory_)
      arena.release(cudaFree);
    pinned_.release(cudaFreeHost);
    for (cudaStream_t stream : streams_)
      (void)cudaStreamDestroy(stream);
    for (uint32_t gpu = 0; gpu < gpus_; ++gpu) {
      (void)cudaSetDevice(static_cast<int>(gpu));
      for (uint32_t peer = 0; peer < gpus_; ++peer)
        if (peer != gpu)
          (void)cudaDeviceDisablePeerAccess(static_cast<int>(peer));
    }
  }
  char *device(uint32_t rank, size_t bytes) override {
    use(rank);
    void *memory = memory_[rank % gpus_].take(bytes + 512);
    check(cudaMemset(memory, 0, bytes + 512), "cudaMemset");
    return static_cast<char *>(memory);
  }
  PeerControl *control() override { return new (pinned(sizeof(PeerControl))) PeerControl{}; }
  void *pinned(size_t bytes) override {
    void *memory = pinned_.take(bytes);
    std::memset(memory, 0, bytes);
    return memory;
  }
  void recycle() override {
    settle();
    for (Arena &arena : memory_)
      arena.reset();
    pinned_.reset();
  }
  void copyIn(void *device, const void *from, size_t bytes) override {
    useOwnerOf(device);
    check(cudaMemcpy(device, from, bytes, cudaMemcpyDefault), "copy in");
  }
  void copyOut(void *to, const void *device, size_t bytes) override {
    useOwnerOf(device);
    check(cudaMemcpy(to, device, bytes, cudaMemcpyDefault), "copy out");
  }
  void fill(void *device, char with, size_t bytes) override {
    useOwnerOf(device);
    check(cudaMemset(device, with, bytes), "fill");
  }
  void initWorkspace(const PeerGroup &group) override {
    use(group.rank);
    check(cudaStreamSynchronize(nullptr), "zeros");
    check(initPeerWorkspace(group, streams_[group.rank]));
    check(cudaStreamSynchronize(streams_[group.rank]), "initialisation");
  }
  void run(const std::vector<PeerStream> &streams, uint64_t seed) override {
    std::minstd_rand random(static_cast<uint32_t>(seed + 1));
    settle(); // members' streams do not wait for copies
    for (const PeerStream &stream : streams) {
      const uint32_t rank = stream.group.rank;
      use(rank);
      for (const PeerPlan &plan : stream.plans) {
        if (seed % 4 == 1 && random() % 4 == 0)
          idle<<<1, 1, 0, streams_[rank]>>>(random() % 50);
        check(launchPeerPlan("test", stream.group, plan, streams_[rank]));
      }
    }
    for (const PeerStream &stream : streams) {
      use(stream.group.rank);
      check(cudaStreamSynchronize(streams_[stream.group.rank]), "kernels");
    }
  }
  void *enter(uint32_t rank) override {
    use(rank);
    return streams_[rank];
  }
  void settle() override {
    for (uint32_t gpu = 0; gpu < gpus_; ++gpu) {
      use(gpu);
      check(cudaDeviceSynchronize(), "kernels");
    }
  }
  bool isEmulated() const override { return false; }
  uint32_t hostThreads() const override {
    return std::max(1u, std::thread::hardware_concurrency());
  }
  uint32_t maxBlocks(uint32_t size) const override {
    return residentBlocks(static_cast<uint32_t>(multiprocessors_), (size + gpus_ - 1) / gpus_);
  }

private:
  static constexpr size_t kGpuChunk = size_t{512} << 20, kPinnedChunk = size_t{1} << 20;

  // Work on memory is ordered by its GPU's default stream.
  void useOwnerOf(const void *memory) {
    uint32_t gpu = 0;
    while (gpu + 1 < gpus_ && !memory_[gpu].has(memory))
      ++gpu;
    use(gpu);
  }
  void use(uint32_t rank) { check(cudaSetDevice(static_cast<int>(rank % gpus_)), "cudaSetDevice"); }

  const uint32_t gpus_;
  int multiprocessors_ = 0;
  std::vector<cudaStream_t> streams_;
  std::vector<Arena> memory_; // of each GPU
  Arena pinned_;
};

} // namespace

std::unique_ptr<PeerRig> makeGpuPeerRig(std::string &whyNot) {
  // A kernel that is loaded at its first launch waits for those that run, and they wait for it. The
  // same happens to streams that share one of the GPU's queues, of which there are 8 by default.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1);
  int gpus = 0;
  if (cudaError_t error = cudaGetDeviceCount(&gpus); error != cudaSuccess || gpus == 0) {
    whyNot = std::string("no GPU: ") + cudaGetErrorString(error);
    return nullptr;
  }
  for (int a = 0; a < gpus; ++a)
    for (int b = 0; b < gpus; ++b) {
      int can = a == b;
      if (a != b)
        check(cudaDeviceCanAccessPeer(&can, a, b), "cudaDeviceCanAccessPeer");
      if (!can) {
        whyNot = "GPUs that do not reach each other's memory";
        return nullptr;
      }
    }
  return std::make_unique<GpuRig>(gpus);
}

} // namespace coll::kernels::test
