#include "runtime/kernels/peer_launch.h"
#include "test/kernels/peer_rig.h"

#include <chrono>
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

// A kernel of the tests that keeps a stream busy.
__global__ void idle(uint32_t us) {
  for (uint32_t i = 0; i < us; ++i)
    __nanosleep(1000);
}

class GpuRig : public PeerRig {
public:
  explicit GpuRig(int gpus) : gpus_(static_cast<uint32_t>(gpus)), streams_(kMaxPeers) {
    for (uint32_t gpu = 0; gpu < gpus_; ++gpu) {
      check(cudaSetDevice(static_cast<int>(gpu)), "cudaSetDevice");
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
    for (void *memory : memory_)
      (void)cudaFree(memory);
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
    void *memory = nullptr;
    check(cudaMalloc(&memory, bytes + 512), "cudaMalloc");
    check(cudaMemset(memory, 0, bytes + 512), "cudaMemset");
    check(cudaDeviceSynchronize(), "cudaMemset");
    memory_.push_back(memory);
    return static_cast<char *>(memory);
  }
  PeerControl *control() override { return new (pinned(sizeof(PeerControl))) PeerControl{}; }
  void *pinned(size_t bytes) override {
    void *memory = nullptr;
    check(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable), "cudaHostAlloc");
    std::memset(memory, 0, bytes);
    return memory;
  }
  void copyIn(void *device, const void *from, size_t bytes) override {
    check(cudaMemcpy(device, from, bytes, cudaMemcpyDefault), "copy in");
  }
  void copyOut(void *to, const void *device, size_t bytes) override {
    check(cudaMemcpy(to, device, bytes, cudaMemcpyDefault), "copy out");
  }
  void initWorkspace(const PeerGroup &group) override {
    use(group.rank);
    check(initPeerWorkspace(group, streams_[group.rank]));
    check(cudaStreamSynchronize(streams_[group.rank]), "initialisation");
  }
  void run(const std::vector<PeerStream> &streams, uint64_t seed) override {
    std::minstd_rand random(static_cast<uint32_t>(seed + 1));
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
  uint32_t maxBlocks(uint32_t size) const override {
    return residentBlocks(static_cast<uint32_t>(multiprocessors_), (size + gpus_ - 1) / gpus_);
  }

private:
  void use(uint32_t rank) { check(cudaSetDevice(static_cast<int>(rank % gpus_)), "cudaSetDevice"); }

  const uint32_t gpus_;
  int multiprocessors_ = 0;
  std::vector<cudaStream_t> streams_;
  std::vector<void *> memory_;
};

} // namespace

std::unique_ptr<PeerRig> makeGpuPeerRig(std::string &whyNot) {
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
