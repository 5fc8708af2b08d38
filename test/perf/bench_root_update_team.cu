// Ranks on GPUs, their data, and the optimizer alone.

#include "test/perf/bench_root_update.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>

namespace coll::bench {
namespace {

constexpr int kRuns = 7;
constexpr int kBlocks = 528, kThreads = 512;

__host__ __device__ float noise(uint32_t stream, uint64_t index) {
  uint64_t x = (index + 1) * 0x9E3779B97F4A7C15ull + stream * 0xD1B54A32D192ED03ull;
  x = (x ^ (x >> 31)) * 0xBF58476D1CE4E5B9ull;
  x ^= x >> 29;
  return static_cast<float>(static_cast<int32_t>(x)) * (1.0f / 2147483648.0f);
}
enum : uint32_t { kParameters = 100, kFirstSlot = 101, kSecondSlot = 102 };

__device__ float firstSlot(uint64_t i) { return 0.01f * noise(kFirstSlot, i); }
__device__ float secondSlot(uint64_t i) { return 0.01f * fabsf(noise(kSecondSlot, i)); }
__device__ float widened(float value) { return value; }
__device__ float widened(__nv_bfloat16 value) { return __bfloat162float(value); }
template <typename T>
__device__ T narrowed(float value) {
  return T(value);
}
template <typename T>
constexpr bool kNarrow = sizeof(T) < sizeof(float);

template <typename T>
__global__ void fillKernel(Member m, uint32_t rank, uint64_t count) {
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += uint64_t{gridDim.x} * blockDim.x) {
    reinterpret_cast<T *>(m.gradients)[i] = narrowed<T>(noise(rank, i));
    reinterpret_cast<T *>(m.parameters)[i] = narrowed<T>(noise(kParameters, i));
    if (kNarrow<T>)
      m.master[i] = noise(kParameters, i);
    m.slots[0][i] = firstSlot(i);
    m.slots[1][i] = secondSlot(i);
  }
}

template <typename T>
__global__ void differentKernel(Member m, uint32_t ranks, uint64_t count, Adam adam,
                                float tolerance) {
  unsigned long long bad = 0;
  const Adam::Step step = adam.prepare(*m.step);
  for (uint64_t i = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; i < count;
       i += uint64_t{gridDim.x} * blockDim.x) {
    float sum = widened(narrowed<T>(noise(0, i)));
    for (uint32_t r = 1; r < ranks; ++r)
      sum += widened(narrowed<T>(noise(r, i)));
    float slots[2] = {firstSlot(i), secondSlot(i)};
    const float scale = m.step->gradientScale / static_cast<float>(ranks);
    const float right = adam.apply(step, noise(kParameters, i), sum * scale, slots);
    const float ours = widened(reinterpret_cast<const T *>(m.parameters)[i]);
    bad += !(fabsf(ours - widened(narrowed<T>(right))) <= tolerance);
  }
  atomicAdd(m.different, bad);
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    adamKernel(Member m, const T *sums, uint64_t first, uint64_t count, float scale, Adam adam) {
  struct alignas(16) Four {
    float at[4];
  };
  struct alignas(4 * sizeof(T)) Narrow {
    T at[4];
  };
  const Adam::Step step = adam.prepare(*m.step);
  for (uint64_t v = blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; v < count / 4;
       v += uint64_t{gridDim.x} * blockDim.x) {
    const Narrow sum = reinterpret_cast<const Narrow *>(sums)[v];
    const uint64_t at = first / 4 + v;
    Four *state[2] = {reinterpret_cast<Four *>(m.slots[0]) + at,
                      reinterpret_cast<Four *>(m.slots[1]) + at};
    Narrow *parameters = reinterpret_cast<Narrow *>(m.parameters) + at;
    Four *exact =
        kNarrow<T> ? reinterpret_cast<Four *>(m.master) + at : reinterpret_cast<Four *>(parameters);
    Four old = *exact, first4 = *state[0], second4 = *state[1];
    Narrow fresh;
    for (int e = 0; e < 4; ++e) {
      float slots[2] = {first4.at[e], second4.at[e]};
      old.at[e] = adam.apply(step, old.at[e], widened(sum.at[e]) * scale, slots);
      first4.at[e] = slots[0];
      second4.at[e] = slots[1];
      fresh.at[e] = narrowed<T>(old.at[e]);
    }
    *exact = old;
    *state[0] = first4;
    *state[1] = second4;
    if (kNarrow<T>)
      *parameters = fresh;
  }
}

} // namespace

Team::Team(int ranks, int devices, const kernels::WorkspaceSizes &sizes)
    : devices_(devices), sizes_(sizes), members_(static_cast<size_t>(ranks)) {
  for (int device = 0; device < devices; ++device) {
    must(cudaSetDevice(device), "cudaSetDevice");
    for (int peer = 0; peer < devices; ++peer)
      if (peer != device)
        must(cudaDeviceEnablePeerAccess(peer, 0), "peer access");
  }
  for (int r = 0; r < ranks; ++r) {
    Member &m = (*this)[r];
    m.device = r % devices;
    use(r);
    must(cudaStreamCreateWithFlags(&m.stream, cudaStreamNonBlocking), "stream");
    must(cudaEventCreate(&m.begin), "event");
    must(cudaEventCreate(&m.end), "event");
    must(cudaMalloc(&m.step, sizeof(UpdateStep)), "step");
    must(cudaMalloc(&m.different, sizeof *m.different), "counter");
  }
  meeting_ = makeGroup(10ull * 1000 * 1000 * 1000);
}

void Team::each(const std::function<void(int)> &work) {
  for (int r = 0; r < size(); ++r) {
    use(r);
    work(r);
  }
}

void Team::wait() {
  each([&](int r) { must(cudaStreamSynchronize((*this)[r].stream), "wait"); });
}

void Team::allocate(uint64_t count, size_t elemBytes) {
  each([&](int r) {
    Member &m = (*this)[r];
    for (char **buffer : {&m.gradients, &m.parameters, &m.sum})
      must(cudaMalloc(buffer, count * elemBytes), "buffers");
    for (float **buffer : {&m.master, &m.slots[0], &m.slots[1]})
      must(cudaMalloc(buffer, count * sizeof(float)), "state");
  });
}

void Team::free() {
  each([&](int r) {
    Member &m = (*this)[r];
    for (char *buffer : {m.gradients, m.parameters, m.sum})
      must(cudaFree(buffer), "free");
    for (float *buffer : {m.master, m.slots[0], m.slots[1]})
      must(cudaFree(buffer), "free");
  });
}

std::vector<PeerGroup> Team::makeGroup(uint64_t timeoutNs) {
  PeerGroup shared;
  shared.size = static_cast<uint32_t>(size());
  shared.timeoutNs = timeoutNs;
  shared.layout = kernels::workspaceLayout(shared.size, sizes_);
  each([&](int r) { must(cudaMalloc(&shared.workspace[r], shared.layout.bytes), "workspace"); });
  std::vector<PeerGroup> group;
  each([&](int r) {
    shared.rank = static_cast<uint32_t>(r);
    must(cudaHostAlloc(reinterpret_cast<void **>(&shared.control), sizeof *shared.control,
                       cudaHostAllocPortable | cudaHostAllocMapped),
         "control");
    *shared.control = {};
    must(kernels::initPeerWorkspace(shared, (*this)[r].stream));
    group.push_back(shared);
  });
  wait();
  return group;
}

void Team::freeGroup(std::vector<PeerGroup> &group) {
  each([&](int r) {
    must(cudaFree(group[static_cast<size_t>(r)].workspace[r]), "free");
    must(cudaFreeHost(group[static_cast<size_t>(r)].control), "free");
  });
  group.clear();
}

void Team::meet() {
  each([&](int r) {
    RootUpdate nothing;
    nothing.step = (*this)[r].step;
    nothing.table = kernels::planShards(0, size())->table;
    nothing.blocks = 1;
    must(launchRootUpdate(meeting_[static_cast<size_t>(r)], nothing, Adam{}, (*this)[r].stream));
  });
}

double Team::microseconds(int repeats, const std::function<void()> &step) {
  std::vector<cudaGraphExec_t> graphs(members_.size());
  // All members capture before any of them ends its capture, as NCCL requires if one thread has all
  // ranks.
  each([&](int r) {
    must(cudaStreamBeginCapture((*this)[r].stream, cudaStreamCaptureModeRelaxed), "capture");
  });
  for (int i = 0; i < repeats; ++i)
    step();
  each([&](int r) {
    cudaGraph_t graph = nullptr;
    must(cudaStreamEndCapture((*this)[r].stream, &graph), "capture");
    must(cudaGraphInstantiate(&graphs[static_cast<size_t>(r)], graph, 0), "graph");
    must(cudaGraphUpload(graphs[static_cast<size_t>(r)], (*this)[r].stream), "graph");
    must(cudaGraphDestroy(graph), "graph");
  });
  std::vector<double> times;
  for (int run = 0; run < kRuns + 1; ++run) {
    meet();
    each([&](int r) {
      must(cudaEventRecord((*this)[r].begin, (*this)[r].stream), "event");
      must(cudaGraphLaunch(graphs[static_cast<size_t>(r)], (*this)[r].stream), "graph");
      must(cudaEventRecord((*this)[r].end, (*this)[r].stream), "event");
    });
    wait();
    float slowest = 0;
    each([&](int r) {
      float milliseconds = 0;
      must(cudaEventElapsedTime(&milliseconds, (*this)[r].begin, (*this)[r].end), "time");
      slowest = std::max(slowest, milliseconds);
    });
    if (run > 0) // the first one warms up
      times.push_back(1e3 * slowest / repeats);
  }
  for (cudaGraphExec_t graph : graphs)
    must(cudaGraphExecDestroy(graph), "graph");
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void fill(Team &team, int rank, uint64_t count, bool narrow) {
  Member &m = team[rank];
  must(cudaMemcpyAsync(m.step, &kFirstStep, sizeof kFirstStep, cudaMemcpyDefault, m.stream),
       "step");
  if (narrow)
    fillKernel<__nv_bfloat16><<<kBlocks, kThreads, 0, m.stream>>>(m, rank, count);
  else
    fillKernel<float><<<kBlocks, kThreads, 0, m.stream>>>(m, rank, count);
  must(cudaGetLastError(), "fill");
}

unsigned long long different(Team &team, int rank, uint64_t count, bool narrow, float tolerance) {
  Member &m = team[rank];
  must(cudaMemsetAsync(m.different, 0, sizeof *m.different, m.stream), "counter");
  const auto kernel = narrow ? differentKernel<__nv_bfloat16> : differentKernel<float>;
  kernel<<<kBlocks, kThreads, 0, m.stream>>>(m, static_cast<uint32_t>(team.size()), count, Adam{},
                                             tolerance);
  must(cudaGetLastError(), "compare");
  unsigned long long result = 0;
  must(cudaMemcpyAsync(&result, m.different, sizeof result, cudaMemcpyDefault, m.stream),
       "compare");
  must(cudaStreamSynchronize(m.stream), "compare");
  return result;
}

void launchAdam(Team &team, int rank, const char *sums, uint64_t first, uint64_t count,
                bool narrow) {
  Member &m = team[rank];
  const float scale = kFirstStep.gradientScale / static_cast<float>(team.size());
  const int blocks =
      static_cast<int>(std::min<uint64_t>(kBlocks, (count / 4 + kThreads - 1) / kThreads));
  if (narrow)
    adamKernel<<<blocks, kThreads, 0, m.stream>>>(m, reinterpret_cast<const __nv_bfloat16 *>(sums),
                                                  first, count, scale, Adam{});
  else
    adamKernel<<<blocks, kThreads, 0, m.stream>>>(m, reinterpret_cast<const float *>(sums), first,
                                                  count, scale, Adam{});
  must(cudaGetLastError(), "adam");
}

} // namespace coll::bench
