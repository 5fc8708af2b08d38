// Stock NCCL over the net: exact results, or times. One process per rank, forked before
// CUDA starts; ranks beyond the GPUs share them, each with an NCCL_HOSTID of its own.
//
//   nccl-net-test check --ranks=N [--small=ITERATIONS] [--large=ITERATIONS] [--comms=N]
//   nccl-net-test perf --ranks=2 --label=TEXT [--ops=send,both,all_reduce] [--sizes=8,65536]
//
// check prints one line per operation and exits 1 where a byte is wrong. perf prints one
// JSON object per operation and size: microseconds of the slowest rank, of operations
// that follow each other on a stream.

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <nccl.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kMaxRanks = 16;

struct Shared {
  ncclUniqueId ids[8];
  std::atomic<int> arrived, failed, exited;
  double seconds[kMaxRanks];
};

struct Options {
  bool check = true;
  int ranks = 2, small = 1000, large = 20, comms = 2;
  std::string label = "nccl", ops = "send,both,all_reduce,latency", sizes;
};

Shared *shared;
int rank = 0, ranks = 2;

[[noreturn]] void die(const char *what, const char *why) {
  std::fprintf(stderr, "rank %d: %s: %s\n", rank, what, why);
  shared->failed = 1;
  _exit(3);
}

void check(cudaError_t error, const char *what) {
  if (error != cudaSuccess)
    die(what, cudaGetErrorString(error));
}
void check(ncclResult_t result, const char *what) {
  if (result != ncclSuccess)
    die(what, ncclGetLastError(nullptr));
}
#define CHECK(call) check((call), #call)

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void barrier() {
  static int generation = 0;
  ++generation;
  shared->arrived.fetch_add(1);
  while (shared->arrived.load() < ranks * generation) {
    if (shared->failed)
      _exit(4);
    usleep(20);
  }
}

//===-- data --------------------------------------------------------------------------===//

__host__ __device__ uint32_t mixed(uint32_t seed, size_t index) {
  uint32_t x = seed * 0x9e3779b9u + static_cast<uint32_t>(index) * 0x85ebca6bu +
               static_cast<uint32_t>(index >> 32);
  x = (x ^ (x >> 15)) * 0x2c1b3c6du;
  x = (x ^ (x >> 12)) * 0x297a2d39u;
  return x ^ (x >> 15);
}
// Sums of up to 16 of them are exact in every type.
template <typename T>
__device__ T valueAt(uint32_t seed, size_t index) {
  return static_cast<T>(mixed(seed, index) & 0xfffff);
}

template <typename T>
__global__ void fill(T *data, size_t count, uint32_t seed, size_t first) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x)
    data[i] = valueAt<T>(seed, first + i);
}

// Counts the elements that are not the sum of the values of `terms` seeds.
template <typename T>
__global__ void compare(const T *data, size_t count, uint32_t seed, int terms, size_t first,
                        unsigned long long *wrong) {
  for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < count;
       i += size_t(gridDim.x) * blockDim.x) {
    T sum = 0;
    for (int term = 0; term < terms; ++term)
      sum += valueAt<T>(seed + static_cast<uint32_t>(term), first + i);
    if (data[i] != sum)
      atomicAdd(wrong, 1ull);
  }
}

template <typename T>
ncclDataType_t typeOf();
template <>
ncclDataType_t typeOf<uint8_t>() {
  return ncclUint8;
}
template <>
ncclDataType_t typeOf<int32_t>() {
  return ncclInt32;
}
template <>
ncclDataType_t typeOf<float>() {
  return ncclFloat32;
}

//===-- operations --------------------------------------------------------------------===//

struct Rig {
  std::vector<ncclComm_t> comms;
  cudaStream_t stream = nullptr;
  char *from = nullptr, *to = nullptr;
  size_t capacity = 0;
  unsigned long long *wrong = nullptr;
  uint32_t seed = 1;
};

// `count` elements in the largest buffer of the operation, from element `offset` on.
template <typename T>
struct Case {
  Rig &rig;
  ncclComm_t comm;
  size_t count, offset;

  uint32_t base() const { return rig.seed * kMaxRanks; }
  T *from() const { return reinterpret_cast<T *>(rig.from) + offset; }
  T *to() const { return reinterpret_cast<T *>(rig.to) + offset; }
  void put(T *data, size_t elems, uint32_t seed, size_t first = 0) const {
    fill<<<256, 256, 0, rig.stream>>>(data, elems, seed, first);
  }
  void expect(const T *data, size_t elems, uint32_t seed, int terms, size_t first = 0) const {
    compare<<<256, 256, 0, rig.stream>>>(data, elems, seed, terms, first, rig.wrong);
  }
  // Overwrites the old content, so that it is not mistaken for a result.
  void spoil() const { CHECK(cudaMemsetAsync(to(), 0xee, count * sizeof(T), rig.stream)); }

  void sendRecv() const {
    put(from(), count, base() + rank);
    CHECK(ncclGroupStart());
    CHECK(ncclSend(from(), count, typeOf<T>(), (rank + 1) % ranks, comm, rig.stream));
    CHECK(ncclRecv(to(), count, typeOf<T>(), (rank + ranks - 1) % ranks, comm, rig.stream));
    CHECK(ncclGroupEnd());
    expect(to(), count, base() + (rank + ranks - 1) % ranks, 1);
  }
  void allReduce() const {
    put(from(), count, base() + rank);
    CHECK(ncclAllReduce(from(), to(), count, typeOf<T>(), ncclSum, comm, rig.stream));
    expect(to(), count, base(), ranks);
  }
  void broadcast() const {
    int root = static_cast<int>(rig.seed) % ranks;
    put(from(), count, base() + rank);
    CHECK(ncclBroadcast(from(), to(), count, typeOf<T>(), root, comm, rig.stream));
    expect(to(), count, base() + root, 1);
  }
  void allGather() const {
    size_t part = count / ranks ? count / ranks : 1;
    put(from(), part, base() + rank);
    CHECK(ncclAllGather(from(), to(), part, typeOf<T>(), comm, rig.stream));
    for (int peer = 0; peer < ranks; ++peer)
      expect(to() + peer * part, part, base() + peer, 1);
  }
  void reduceScatter() const {
    size_t part = count / ranks ? count / ranks : 1;
    put(from(), part * ranks, base() + rank);
    CHECK(ncclReduceScatter(from(), to(), part, typeOf<T>(), ncclSum, comm, rig.stream));
    expect(to(), part, base(), ranks, rank * part);
  }
  void allToAll() const {
    size_t part = count / ranks ? count / ranks : 1;
    put(from(), part * ranks, base() + rank);
    CHECK(ncclGroupStart());
    for (int peer = 0; peer < ranks; ++peer) {
      CHECK(ncclSend(from() + peer * part, part, typeOf<T>(), peer, comm, rig.stream));
      CHECK(ncclRecv(to() + peer * part, part, typeOf<T>(), peer, comm, rig.stream));
    }
    CHECK(ncclGroupEnd());
    for (int peer = 0; peer < ranks; ++peer)
      expect(to() + peer * part, part, base() + peer, 1, rank * part);
  }
};

constexpr const char *kOps[] = {"send_recv",  "all_reduce",     "broadcast",
                                "all_gather", "reduce_scatter", "all_to_all"};

template <typename T>
void runCase(Rig &rig, int op, size_t bytes, int comm) {
  size_t count = bytes / sizeof(T) ? bytes / sizeof(T) : 1;
  Case<T> one{rig, rig.comms[static_cast<size_t>(comm)], count, rig.seed % 4};
  one.spoil();
  switch (op) {
  case 0:
    one.sendRecv();
    break;
  case 1:
    one.allReduce();
    break;
  case 2:
    one.broadcast();
    break;
  case 3:
    one.allGather();
    break;
  case 4:
    one.reduceScatter();
    break;
  default:
    one.allToAll();
  }
  ++rig.seed;
}

void runCase(Rig &rig, int op, size_t bytes, int comm, int type) {
  if (type == 0)
    return runCase<uint8_t>(rig, op, bytes, comm);
  if (type == 1)
    return runCase<int32_t>(rig, op, bytes, comm);
  runCase<float>(rig, op, bytes, comm);
}

// Sums of bytes wrap around in the same way everywhere, so bytes are exact, too.
int checkAll(Rig &rig, const Options &options) {
  const std::vector<size_t> sizes = {
      1,     2,     3,     7,     16,     33,     255,    1000,   4095,   4096,   4097,    8191,
      16384, 16385, 65535, 65537, 131071, 131073, 262147, 524287, 524289, 786433, 1000003, 1 << 20};
  const std::vector<size_t> middle = {(1 << 20) + 13, 3 * (1 << 20) + 5, (16 << 20) - 1,
                                      (64 << 20) + 3};
  const size_t large = size_t(1) << 30;
  unsigned long long total = 0;
  for (int op = 0; op < 6; ++op) {
    double start = now();
    int cases = 0;
    auto settle = [&](size_t bytes) {
      CHECK(cudaStreamSynchronize(rig.stream));
      if (*rig.wrong)
        std::printf("rank %d: %s of %zu bytes: %llu elements wrong\n", rank, kOps[op], bytes,
                    *rig.wrong);
      total += *rig.wrong;
      *rig.wrong = 0;
    };
    auto comm = [&] { return static_cast<int>(rig.seed % rig.comms.size()); };
    for (int i = 0; i < options.small; ++i, ++cases) {
      size_t bytes = sizes[static_cast<size_t>(i) % sizes.size()];
      runCase(rig, op, bytes, comm(), i % 3);
      if (i % 8 == 7 || i + 1 == options.small)
        settle(bytes);
    }
    for (size_t bytes : middle)
      for (int type = 0; type < 3 && options.small; ++type, ++cases) {
        runCase(rig, op, bytes, comm(), type);
        settle(bytes);
      }
    for (int i = 0; i < options.large; ++i, ++cases) {
      size_t bytes = large - static_cast<size_t>(i % 5);
      runCase(rig, op, bytes, comm(), i % 3);
      settle(bytes);
    }
    barrier();
    if (rank == 0)
      std::printf("%s: %s: %d cases on %d ranks, %.1f s\n", options.label.c_str(), kOps[op], cases,
                  ranks, now() - start);
  }
  if (total)
    shared->failed = 1;
  barrier();
  return total ? 1 : 0;
}

//===-- times -------------------------------------------------------------------------===//

bool contains(const std::string &list, const std::string &word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

void enqueue(Rig &rig, const std::string &op, size_t bytes, int turn) {
  ncclComm_t comm = rig.comms[0];
  int peer = (rank + 1) % ranks;
  if (op == "send") {
    if (rank == 0)
      CHECK(ncclSend(rig.from, bytes, ncclUint8, 1, comm, rig.stream));
    else if (rank == 1)
      CHECK(ncclRecv(rig.to, bytes, ncclUint8, 0, comm, rig.stream));
  } else if (op == "latency") { // there and back in turns; half of it counts
    if (rank == turn % 2)
      CHECK(ncclSend(rig.from, bytes, ncclUint8, 1 - rank, comm, rig.stream));
    else if (rank < 2)
      CHECK(ncclRecv(rig.to, bytes, ncclUint8, 1 - rank, comm, rig.stream));
  } else if (op == "both") {
    CHECK(ncclGroupStart());
    CHECK(ncclSend(rig.from, bytes, ncclUint8, peer, comm, rig.stream));
    CHECK(ncclRecv(rig.to, bytes, ncclUint8, (rank + ranks - 1) % ranks, comm, rig.stream));
    CHECK(ncclGroupEnd());
  } else {
    size_t count = bytes / 4 ? bytes / 4 : 1;
    CHECK(ncclAllReduce(rig.from, rig.to, count, ncclFloat32, ncclSum, comm, rig.stream));
  }
}

double timeOf(Rig &rig, const std::string &op, size_t bytes, int iterations, int warmUp) {
  for (int i = 0; i < warmUp; ++i)
    enqueue(rig, op, bytes, i);
  CHECK(cudaStreamSynchronize(rig.stream));
  barrier();
  double start = now();
  for (int i = 0; i < iterations; ++i)
    enqueue(rig, op, bytes, i);
  CHECK(cudaStreamSynchronize(rig.stream));
  shared->seconds[rank] = (now() - start) / iterations;
  barrier();
  double slowest = 0;
  for (int i = 0; i < ranks; ++i)
    slowest = shared->seconds[i] > slowest ? shared->seconds[i] : slowest;
  barrier();
  return slowest;
}

void measure(Rig &rig, const Options &options) {
  const size_t sizes[] = {8, 64 << 10, 1 << 20, 16 << 20, 256 << 20};
  for (const char *op : {"latency", "send", "both", "all_reduce"}) {
    if (!contains(options.ops, op))
      continue;
    for (size_t bytes : sizes) {
      if (!options.sizes.empty() && !contains(options.sizes, std::to_string(bytes)))
        continue;
      if (bytes != 8 && std::string(op) == "latency")
        continue;
      int iterations = bytes <= (64 << 10) ? 300 : bytes <= (1 << 20) ? 120 : 16;
      if (bytes >= (256u << 20))
        iterations = 4;
      double best = timeOf(rig, op, bytes, iterations, bytes <= (1 << 20) ? 30 : 2);
      for (int again = 0; again < 2; ++again) {
        double seconds = timeOf(rig, op, bytes, iterations, 1);
        best = seconds < best ? seconds : best;
      }
      if (rank == 0)
        std::printf("{\"label\": \"%s\", \"op\": \"%s\", \"bytes\": %zu, \"us\": %.2f, "
                    "\"gbs\": %.3f}\n",
                    options.label.c_str(), op, bytes, best * 1e6, bytes / best / 1e9);
    }
  }
}

//===-- a rank ------------------------------------------------------------------------===//

int runRank(const Options &options) {
  char host[32];
  std::snprintf(host, sizeof(host), "coll-test-%d", rank);
  int gpus = 0;
  CHECK(cudaGetDeviceCount(&gpus));
  // NCCL refuses two ranks of one host on one GPU.
  if (ranks > gpus)
    setenv("NCCL_HOSTID", host, 1);
  CHECK(cudaSetDevice(rank % gpus));
  if (rank == 0)
    for (int i = 0; i < options.comms; ++i)
      CHECK(ncclGetUniqueId(&shared->ids[i]));
  barrier();
  Rig rig;
  for (int i = 0; i < options.comms; ++i) {
    ncclComm_t comm;
    CHECK(ncclCommInitRank(&comm, ranks, shared->ids[i], rank));
    rig.comms.push_back(comm);
  }
  CHECK(cudaStreamCreateWithFlags(&rig.stream, cudaStreamNonBlocking));
  rig.capacity = (options.check && options.large ? size_t(1) << 30 : size_t(256) << 20) + (1 << 20);
  CHECK(cudaMalloc(&rig.from, rig.capacity));
  CHECK(cudaMalloc(&rig.to, rig.capacity));
  CHECK(cudaMallocHost(&rig.wrong, sizeof(*rig.wrong)));
  *rig.wrong = 0;
  int outcome = 0;
  if (options.check)
    outcome = checkAll(rig, options);
  else
    measure(rig, options);
  for (ncclComm_t comm : rig.comms) {
    CHECK(ncclCommFinalize(comm));
    CHECK(ncclCommDestroy(comm));
  }
  return outcome;
}

bool take(const char *argument, const char *name, std::string &value) {
  size_t length = std::strlen(name);
  if (std::strncmp(argument, name, length) != 0)
    return false;
  value = argument + length;
  return true;
}

Options parse(int argc, char **argv) {
  Options options;
  options.check = argc > 1 && std::string(argv[1]) == "check";
  for (int i = 2; i < argc; ++i) {
    std::string value;
    if (take(argv[i], "--ranks=", value))
      options.ranks = std::atoi(value.c_str());
    else if (take(argv[i], "--small=", value))
      options.small = std::atoi(value.c_str());
    else if (take(argv[i], "--large=", value))
      options.large = std::atoi(value.c_str());
    else if (take(argv[i], "--comms=", value))
      options.comms = std::atoi(value.c_str());
    else if (!take(argv[i], "--label=", options.label) && !take(argv[i], "--ops=", options.ops) &&
             !take(argv[i], "--sizes=", options.sizes)) {
      std::fprintf(stderr, "nccl-net-test: what is %s?\n", argv[i]);
      std::exit(2);
    }
  }
  if (!options.check)
    options.comms = 1;
  return options;
}

} // namespace

int main(int argc, char **argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Options options = parse(argc, argv);
  ranks = options.ranks;
  if (ranks < 2 || ranks > kMaxRanks || options.comms < 1 || options.comms > 8) {
    std::fprintf(stderr, "2 to %d ranks, 1 to 8 communicators\n", kMaxRanks);
    return 2;
  }
  shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  std::vector<pid_t> children;
  for (int i = 0; i < ranks; ++i) {
    pid_t child = fork();
    if (child == 0) {
      rank = i;
      _exit(runRank(options));
    }
    children.push_back(child);
  }
  // If one process dies, the others would wait for it inside NCCL.
  int outcome = 0, status = 0;
  for (size_t left = children.size(); left > 0; --left) {
    waitpid(-1, &status, 0);
    if (status == 0 || outcome)
      continue;
    outcome = 1;
    shared->failed = 1;
    usleep(3'000'000);
    for (pid_t child : children)
      kill(child, SIGKILL);
  }
  if (options.check)
    std::printf("%s: %s\n", options.label.c_str(), outcome ? "FAILED" : "exact");
  return outcome;
}
