// Members on GPUs: rank r is on GPU r % count, so that any machine with a GPU can run the tests.
// Members that share a GPU have separate streams, and grids are small enough to be on it at the
// same time.

#include "runtime/kernels/root_update/launch.cuh"
#include "test/kernels/must.h"
#include "test/kernels/root_update/root_update_rig.h"

#include <algorithm>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>

namespace coll::kernels::test {
namespace {

// A kernel of the tests that keeps a stream busy.
__global__ void idle(uint32_t us) {
  for (uint32_t i = 0; i < us; ++i)
    __nanosleep(1000);
}

class CudaRig : public RootUpdateRig {
public:
  explicit CudaRig(int devices) : devices_(devices) {
    must(cudaDeviceGetAttribute(&processors_, cudaDevAttrMultiProcessorCount, 0), "attribute");
    for (int i = 0; i < devices; ++i) {
      must(cudaSetDevice(i), "cudaSetDevice");
      for (int peer = 0; peer < devices; ++peer)
        if (peer != i)
          if (const cudaError_t error = cudaDeviceEnablePeerAccess(peer, 0);
              error != cudaErrorPeerAccessAlreadyEnabled)
            must(error, "peer access");
      (void)cudaGetLastError();
    }
    for (uint32_t member = 0; member < kMaxPeers; ++member) {
      use(member);
      must(cudaStreamCreateWithFlags(&streams_[member], cudaStreamNonBlocking), "stream");
      idle<<<1, 1, 0, streams_[member]>>>(0); // not for the first time while members wait
    }
  }
  ~CudaRig() override {
    for (const auto &[member, memory] : memory_) {
      use(member);
      must(cudaFree(memory), "cudaFree");
    }
    for (PeerControl *control : controls_)
      must(cudaFreeHost(control), "cudaFreeHost");
    for (cudaStream_t stream : streams_)
      must(cudaStreamDestroy(stream), "stream");
  }

  char *allocate(uint32_t member, size_t bytes) override {
    void *memory = nullptr;
    use(member);
    must(cudaMalloc(&memory, std::max<size_t>(bytes, 1)), "cudaMalloc");
    memory_.emplace_back(member, memory);
    return static_cast<char *>(memory);
  }
  void copyIn(uint32_t member, void *to, const void *from, size_t bytes) override {
    use(member);
    must(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copy to the GPU");
    // The streams of the tests do not wait for the default one.
    must(cudaDeviceSynchronize(), "copy to the GPU");
  }
  void copyOut(uint32_t member, void *to, const void *from, size_t bytes) override {
    copyIn(member, to, from, bytes);
  }

  std::vector<PeerGroup> makeGroup(uint32_t size, uint64_t timeoutNs) override {
    PeerGroup shared;
    shared.size = size;
    shared.timeoutNs = timeoutNs;
    shared.layout = workspaceLayout(size);
    for (uint32_t r = 0; r < size; ++r)
      shared.workspace[r] = allocate(r, shared.layout.bytes);
    std::vector<PeerGroup> group;
    for (uint32_t r = 0; r < size; ++r) {
      use(r);
      shared.rank = r;
      must(cudaHostAlloc(reinterpret_cast<void **>(&shared.control), sizeof(PeerControl),
                         cudaHostAllocPortable | cudaHostAllocMapped),
           "pinned memory");
      *shared.control = {};
      controls_.push_back(shared.control);
      if (const rt::Status status = initPeerWorkspace(shared, streams_[r]); !status.ok())
        std::abort();
      must(cudaStreamSynchronize(streams_[r]), "workspace");
      group.push_back(shared);
    }
    return group;
  }

  uint32_t maxBlocks(uint32_t size) const override {
    const uint32_t together = (size + static_cast<uint32_t>(devices_) - 1) / devices_;
    return static_cast<uint32_t>(processors_) / together;
  }

  std::vector<rt::Status> run(const std::vector<PeerGroup> &group,
                              const std::vector<const RootUpdate *> &calls,
                              const std::vector<TestOptimizer> &optimizers,
                              const std::vector<Copy> &copies) override {
    std::vector<rt::Status> outcome;
    for (uint32_t r = 0; r < calls.size(); ++r) {
      if (!calls[r])
        continue;
      use(r);
      if (random_() % 4 == 0)
        idle<<<1, 1, 0, streams_[r]>>>(random_() % 50);
      const TestOptimizer &optimizer = optimizers[std::min<size_t>(r, optimizers.size() - 1)];
      const auto *own = std::get_if<ClippedSgd>(&optimizer);
      outcome.push_back(own ? launchRootUpdateAs(group[r], *calls[r], *own, streams_[r])
                            : launchRootUpdate(group[r], *calls[r],
                                               std::get<AnyOptimizer>(optimizer), streams_[r]));
      if (r < copies.size())
        must(cudaMemcpyAsync(copies[r].to, copies[r].from, copies[r].bytes, cudaMemcpyDefault,
                             streams_[r]),
             "copy");
    }
    for (cudaStream_t stream : streams_)
      must(cudaStreamSynchronize(stream), "kernel");
    return outcome;
  }

  rt::Status nextStep(uint32_t member, UpdateStep *step) override {
    use(member);
    rt::Status status = launchNextStep(step, streams_[member]);
    must(cudaStreamSynchronize(streams_[member]), "kernel");
    return status;
  }
  int cases() const override { return 300; }

private:
  void use(uint32_t member) const {
    must(cudaSetDevice(static_cast<int>(member) % devices_), "cudaSetDevice");
  }

  const int devices_;
  std::minstd_rand random_; // who is when late
  int processors_ = 1;
  cudaStream_t streams_[kMaxPeers] = {};
  std::vector<std::pair<uint32_t, void *>> memory_;
  std::vector<PeerControl *> controls_;
};

RootUpdateRigResult makeCuda() {
  // A kernel that is loaded at its first launch waits for those that run, and they wait for it.
  setenv("CUDA_MODULE_LOADING", "EAGER", 1);
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
    return {nullptr, "no GPU on this machine"};
  for (int i = 0; i < devices; ++i) {
    int major = 0;
    must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, i), "attribute");
    if (major < 8)
      return {nullptr, "a GPU's compute capability is below 8.0"};
    for (int peer = 0; peer < devices; ++peer) {
      int reachable = 1;
      if (peer != i)
        must(cudaDeviceCanAccessPeer(&reachable, i, peer), "peer access");
      if (!reachable)
        devices = 1; // all members on the first one
    }
  }
  return {std::make_unique<CudaRig>(devices), ""};
}

COLL_ROOT_UPDATE_RIG(cuda, makeCuda);

} // namespace
} // namespace coll::kernels::test
