// Collectives of peer groups beside NCCL, in one process with several GPUs: chains of calls in
// CUDA graphs, the slowest member's time per call; optionally a sweep of grids.
//
//   bench-peers [--gpus N] [--ops a,b] [--sizes BYTES,…] [--seconds S] [--variants] [--no-nccl]
//               [--rings SLOTSxKIBxTEAMSxTHREADS,…] [--jsonl FILE]
//
// Sizes are of the whole message: nccl-tests' habit. Prints a table, appends JSON lines. --rings:
// the times of other workspaces and grids of the kernels for large messages, too.

#include "runtime/kernels/error_word.h"
#include "runtime/kernels/peer/launch.h"
#include "runtime/kernels/peer/tuning.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <cuda_runtime.h>
#include <functional>
#include <nccl.h>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace coll::kernels;
using coll::rt::Result;

constexpr uint64_t kMaxBytes = uint64_t{1} << 30;

void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::_Exit(1);
}
void check(const coll::rt::Status &status) {
  if (status.ok())
    return;
  std::fprintf(stderr, "%s\n", status.toString().c_str());
  std::_Exit(1);
}
void check(ncclResult_t result, const char *what) {
  if (result == ncclSuccess)
    return;
  std::fprintf(stderr, "%s: %s\n", what, ncclGetErrorString(result));
  std::_Exit(1);
}

// How to launch the kernels for large messages.
struct Rings {
  std::string name;
  uint32_t slots = 0, slotKib = 0, teams = 0, threads = 0;
};

struct Options {
  int gpus = 0;
  std::vector<std::string> ops = {"all_reduce", "reduce_scatter", "all_gather",
                                  "broadcast",  "reduce",         "all_to_all"};
  std::vector<uint64_t> sizes;
  double seconds = 60; // for everything
  bool variants = false;
  std::vector<Rings> rings;
  bool nccl = true;
  std::string jsonl;
};

struct Member {
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr, end = nullptr;
  char *src = nullptr, *dst = nullptr;
  PeerGroup group;
  ncclComm_t comm = nullptr;
};

std::vector<std::string> split(const std::string &list) {
  std::vector<std::string> parts;
  std::stringstream stream(list);
  for (std::string part; std::getline(stream, part, ',');)
    parts.push_back(part);
  return parts;
}

Rings parseRings(const std::string &name) {
  Rings rings;
  rings.name = name;
  std::sscanf(name.c_str(), "%ux%ux%ux%u", &rings.slots, &rings.slotKib, &rings.teams,
              &rings.threads);
  return rings;
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    const auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (flag == "--gpus")
      options.gpus = std::atoi(value().c_str());
    else if (flag == "--ops")
      options.ops = split(value());
    else if (flag == "--sizes")
      for (const std::string &size : split(value()))
        options.sizes.push_back(std::strtoull(size.c_str(), nullptr, 10));
    else if (flag == "--seconds")
      options.seconds = std::atof(value().c_str());
    else if (flag == "--rings")
      for (const std::string &rings : split(value()))
        options.rings.push_back(parseRings(rings));
    else if (flag == "--variants")
      options.variants = true;
    else if (flag == "--no-nccl")
      options.nccl = false;
    else if (flag == "--jsonl")
      options.jsonl = value();
    else {
      std::fprintf(stderr,
                   "bench-peers: what is %s? Options are --gpus N, --ops and --sizes with lists, "
                   "--seconds N, "
                   "--rings, --variants, --no-nccl, --jsonl FILE\n",
                   flag.c_str());
      std::exit(2);
    }
  }
  if (options.sizes.empty())
    for (uint64_t size = 1024; size <= kMaxBytes; size *= 4)
      options.sizes.push_back(size);
  return options;
}

class Bench {
public:
  explicit Bench(const Options &options)
      : options_(options), start_(std::chrono::steady_clock::now()) {
    int gpus = 0;
    check(cudaGetDeviceCount(&gpus), "GPUs");
    members_.resize(static_cast<size_t>(options.gpus > 0 ? std::min(options.gpus, gpus) : gpus));
    makeMembers();
    if (options.nccl)
      makeNccl();
  }

  void run() {
    for (const std::string &op : options_.ops)
      for (uint64_t bytes : options_.sizes)
        measure(op, bytes);
  }

private:
  uint32_t size() const { return static_cast<uint32_t>(members_.size()); }
  double elapsed() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  template <typename Each>
  void forEach(Each &&each) {
    for (uint32_t rank = 0; rank < size(); ++rank) {
      check(cudaSetDevice(static_cast<int>(rank)), "cudaSetDevice");
      each(rank, members_[rank]);
    }
  }

  WorkspaceSizes sizesOf(const Rings &rings) const {
    WorkspaceSizes sizes = defaultWorkspaceSizes();
    sizes.slots = rings.slots;
    sizes.ringBytes = uint64_t{size()} * rings.slots * rings.slotKib << 10;
    return sizes;
  }
  void makeMembers() {
    const WorkspaceLayout layout = workspaceLayout(size());
    uint64_t workspaceBytes = layout.bytes;
    for (const Rings &rings : options_.rings)
      workspaceBytes = std::max(workspaceBytes, workspaceLayout(size(), sizesOf(rings)).bytes);
    std::vector<char *> workspaces(size());
    forEach([&](uint32_t rank, Member &m) {
      for (uint32_t peer = 0; peer < size(); ++peer)
        if (peer != rank)
          check(cudaDeviceEnablePeerAccess(static_cast<int>(peer), 0), "peer access");
      check(cudaStreamCreateWithFlags(&m.stream, cudaStreamNonBlocking), "stream");
      check(cudaEventCreate(&m.begin), "event");
      check(cudaEventCreate(&m.end), "event");
      check(cudaMalloc(&m.src, kMaxBytes), "cudaMalloc");
      check(cudaMalloc(&m.dst, kMaxBytes), "cudaMalloc");
      check(cudaMemset(m.src, 0, kMaxBytes), "cudaMemset");
      check(cudaMalloc(&workspaces[rank], workspaceBytes), "cudaMalloc");
      void *control = nullptr;
      check(cudaHostAlloc(&control, sizeof(PeerControl), cudaHostAllocPortable), "control");
      m.group.control = new (control) PeerControl{};
      m.group.rank = rank;
      m.group.size = size();
      m.group.timeoutNs = 2'000'000'000;
    });
    forEach([&](uint32_t, Member &m) {
      std::copy(workspaces.begin(), workspaces.end(), m.group.workspace);
    });
    lay(layout);
  }
  void lay(const WorkspaceLayout &layout) {
    forEach([&](uint32_t, Member &m) {
      m.group.layout = layout;
      check(initPeerWorkspace(m.group, m.stream));
    });
    synchronize();
  }

  void makeNccl() {
    ncclUniqueId id;
    check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    check(ncclGroupStart(), "group");
    forEach([&](uint32_t rank, Member &m) {
      check(ncclCommInitRank(&m.comm, static_cast<int>(size()), id, static_cast<int>(rank)),
            "ncclCommInitRank");
    });
    check(ncclGroupEnd(), "ncclCommInitRank");
  }

  // Ends the program if it takes too long, so that a hang does not waste the machine's time.
  void synchronize() {
    const auto begin = std::chrono::steady_clock::now();
    forEach([&](uint32_t rank, Member &m) {
      while (cudaStreamQuery(m.stream) == cudaErrorNotReady) {
        if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(15)) {
          std::printf("HANG at member %u\n", rank);
          std::fflush(stdout);
          std::_Exit(3);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(20));
      }
      check(cudaStreamQuery(m.stream), "kernels");
    });
    for (const Member &m : members_)
      if (m.group.control && m.group.control->error != 0) {
        std::printf("ERROR member %u: %s\n", m.group.rank,
                    describeErrorWord(m.group.control->error).c_str());
        std::fflush(stdout);
        std::_Exit(4);
      }
  }

  // Returns the microseconds per call of the slowest member; `enqueue` puts one call of a member on
  // a stream. If `grouped`, the calls are between ncclGroupStart and End.
  double timeOf(uint64_t bytes, bool grouped,
                const std::function<void(uint32_t, Member &)> &enqueue) {
    const int calls = bytes <= (1u << 20) ? 100 : bytes <= (16u << 20) ? 20 : 4;
    const int repeats = bytes <= (16u << 20) ? 7 : 3;
    std::vector<cudaGraphExec_t> graphs(size());
    if (grouped)
      captureTogether(calls, enqueue, graphs);
    else
      forEach([&](uint32_t rank, Member &m) {
        check(cudaStreamBeginCapture(m.stream, cudaStreamCaptureModeRelaxed), "capture");
        for (int i = 0; i < calls; ++i)
          enqueue(rank, m);
        endCapture(m, graphs[rank]);
      });
    std::vector<double> times;
    for (int repeat = 0; repeat <= repeats; ++repeat) {
      forEach([&](uint32_t rank, Member &m) {
        // Twice: the first aligns the members.
        check(cudaGraphLaunch(graphs[rank], m.stream), "graph");
        check(cudaEventRecord(m.begin, m.stream), "event");
      });
      forEach([&](uint32_t rank, Member &m) {
        check(cudaGraphLaunch(graphs[rank], m.stream), "graph");
        check(cudaEventRecord(m.end, m.stream), "event");
      });
      synchronize();
      double slowest = 0;
      forEach([&](uint32_t, Member &m) {
        float ms = 0;
        check(cudaEventElapsedTime(&ms, m.begin, m.end), "event");
        slowest = std::max(slowest, ms * 1e3 / calls);
      });
      if (repeat > 0)
        times.push_back(slowest);
    }
    for (cudaGraphExec_t graph : graphs)
      check(cudaGraphExecDestroy(graph), "graph");
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  void endCapture(Member &m, cudaGraphExec_t &exec) {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(m.stream, &graph), "capture");
    check(cudaGraphInstantiate(&exec, graph, 0), "graph");
    check(cudaGraphDestroy(graph), "graph");
  }

  void captureTogether(int calls, const std::function<void(uint32_t, Member &)> &enqueue,
                       std::vector<cudaGraphExec_t> &graphs) {
    forEach([&](uint32_t, Member &m) {
      check(cudaStreamBeginCapture(m.stream, cudaStreamCaptureModeRelaxed), "capture");
    });
    for (int i = 0; i < calls; ++i) {
      check(ncclGroupStart(), "group");
      forEach([&](uint32_t rank, Member &m) { enqueue(rank, m); });
      check(ncclGroupEnd(), "group");
    }
    forEach([&](uint32_t rank, Member &m) { endCapture(m, graphs[rank]); });
  }

  Result<PeerPlan> planOf(const std::string &op, uint64_t bytes, uint32_t rank,
                          const PeerTuning &tuning, bool direct) {
    const Member &m = members_[rank];
    ReduceArgs reduce;
    reduce.src = m.src;
    reduce.dst = m.dst;
    reduce.count = bytes / 4;
    reduce.tuning = tuning;
    CopyArgs copy;
    copy.src = m.src;
    copy.dst = m.dst;
    copy.tuning = tuning;
    const uint64_t block = bytes / size();
    const bool blocks = op == "all_gather" || op == "all_to_all";
    copy.srcRowBytes = copy.dstRowBytes = blocks ? block : bytes;
    for (uint32_t p = 0; p < size() && direct; ++p)
      copy.peerDst[p] = reduce.peerDst[p] = members_[p].dst;
    if (op == "all_reduce")
      return planAllReduce(m.group, reduce);
    if (op == "reduce")
      return planReduce(m.group, reduce);
    if (op == "all_gather")
      return planAllGather(m.group, copy);
    if (op == "all_to_all")
      return planAllToAll(m.group, copy);
    if (op == "broadcast")
      return planBroadcast(m.group, copy);
    reduce.count = block / 4;
    return planReduceScatter(m.group, reduce);
  }

  void enqueueNccl(const std::string &op, uint64_t bytes, Member &m) {
    const size_t count = bytes / 4, block = bytes / 4 / size();
    if (op == "all_reduce")
      check(ncclAllReduce(m.src, m.dst, count, ncclFloat, ncclSum, m.comm, m.stream), "nccl");
    else if (op == "reduce")
      check(ncclReduce(m.src, m.dst, count, ncclFloat, ncclSum, 0, m.comm, m.stream), "nccl");
    else if (op == "all_gather")
      check(ncclAllGather(m.src, m.dst, block, ncclFloat, m.comm, m.stream), "nccl");
    else if (op == "broadcast")
      check(ncclBroadcast(m.src, m.dst, count, ncclFloat, 0, m.comm, m.stream), "nccl");
    else if (op == "reduce_scatter")
      check(ncclReduceScatter(m.src, m.dst, block, ncclFloat, ncclSum, m.comm, m.stream), "nccl");
    else
      for (int p = 0; p < static_cast<int>(size()); ++p) {
        const size_t at = static_cast<size_t>(p) * block * 4;
        check(ncclSend(m.src + at, block, ncclFloat, p, m.comm, m.stream), "nccl");
        check(ncclRecv(m.dst + at, block, ncclFloat, p, m.comm, m.stream), "nccl");
      }
  }

  double oursOf(const std::string &op, uint64_t bytes, const PeerTuning &tuning, bool direct) {
    std::vector<PeerPlan> plans;
    for (uint32_t rank = 0; rank < size(); ++rank) {
      Result<PeerPlan> plan = planOf(op, bytes, rank, tuning, direct);
      if (!plan)
        return -1;
      plans.push_back(*plan);
    }
    return timeOf(bytes, false, [&](uint32_t rank, Member &m) {
      check(launchPeerPlan(op.c_str(), m.group, plans[rank], m.stream));
    });
  }

  void measure(const std::string &op, uint64_t bytes) {
    if (bytes > kMaxBytes || elapsed() > options_.seconds)
      return;
    const double ours = oursOf(op, bytes, PeerTuning(), false);
    const double direct = bytes >= (1u << 20) ? oursOf(op, bytes, PeerTuning(), true) : ours;
    double nccl = 0;
    if (options_.nccl)
      nccl = timeOf(bytes, true, [&](uint32_t, Member &m) { enqueueNccl(op, bytes, m); });
    std::printf("%-14s %10llu B %9.2f us direct %9.2f nccl %9.2f x%.2f\n", op.c_str(),
                static_cast<unsigned long long>(bytes), ours, direct, nccl, nccl / ours);
    if (options_.variants)
      sweep(op, bytes);
    if (!options_.rings.empty())
      tryRings(op, bytes);
    std::fflush(stdout);
    write(op, bytes, ours, direct, nccl);
  }

  void sweep(const std::string &op, uint64_t bytes) {
    struct Row {
      double us;
      std::string name;
    };
    std::vector<Row> rows;
    constexpr const char *kNames[] = {"auto", "one", "two", "pipe"};
    for (PeerAlgorithm algorithm :
         {PeerAlgorithm::OneShot, PeerAlgorithm::TwoShot, PeerAlgorithm::Pipe}) {
      if ((algorithm == PeerAlgorithm::OneShot && bytes > (8u << 20)) ||
          (algorithm == PeerAlgorithm::TwoShot && bytes > (16u << 20)) ||
          (algorithm == PeerAlgorithm::Pipe && bytes < (64u << 10)))
        continue;
      for (uint32_t threads : {64u, 128u, 256u, 512u})
        for (uint32_t blocks : {0u, 64u, 128u, 132u, 152u, 256u}) {
          const bool pipe = algorithm == PeerAlgorithm::Pipe;
          if ((pipe && (threads < 256 || blocks == 256)) ||
              (!pipe && (blocks == 64 || blocks == 132 || blocks == 152)))
            continue;
          if (bytes <= (256u << 10) && blocks != 0)
            continue;
          if (elapsed() > options_.seconds)
            break;
          const double us = oursOf(op, bytes, PeerTuning{algorithm, blocks, threads}, false);
          if (us > 0)
            rows.push_back({us, std::string(kNames[static_cast<int>(algorithm)]) + " " +
                                    std::to_string(blocks) + "x" + std::to_string(threads)});
        }
    }
    std::sort(rows.begin(), rows.end(), [](const Row &a, const Row &b) { return a.us < b.us; });
    for (size_t i = 0; i < rows.size() && i < 5; ++i)
      std::printf("   %9.2f %s\n", rows[i].us, rows[i].name.c_str());
    if (FILE *file = options_.jsonl.empty()
                         ? nullptr
                         : std::fopen((options_.jsonl + ".sweep").c_str(), "a")) {
      for (const Row &row : rows)
        std::fprintf(file, "%s %llu %s %.2f\n", op.c_str(), static_cast<unsigned long long>(bytes),
                     row.name.c_str(), row.us);
      std::fclose(file);
    }
  }

  void tryRings(const std::string &op, uint64_t bytes) {
    for (const Rings &rings : options_.rings) {
      if (elapsed() > options_.seconds)
        break;
      lay(workspaceLayout(size(), sizesOf(rings)));
      std::printf("   %-22s", rings.name.c_str());
      for (const bool direct : {false, true})
        std::printf(" %9.2f", oursOf(op, bytes, rings, direct));
      std::printf("\n");
    }
    lay(workspaceLayout(size()));
  }

  // Returns a negative number if it is not possible.
  double oursOf(const std::string &op, uint64_t bytes, const Rings &rings, bool direct) {
    std::vector<PeerPlan> plans;
    for (uint32_t rank = 0; rank < size(); ++rank) {
      members_[rank].group.maxBlocks = 4 * kPeerMaxBlocks;
      Result<PeerPlan> plan =
          planOf(op, bytes, rank, {PeerAlgorithm::Pipe, rings.teams, rings.threads}, direct);
      members_[rank].group.maxBlocks = 0;
      // All blocks have to be on the GPU at the same time, with 128 registers per thread.
      if (!plan || plan->teams != rings.teams ||
          plan->blocks * plan->threads > kMultiprocessors * 512)
        return -1;
      plans.push_back(*plan);
    }
    return timeOf(bytes, false, [&](uint32_t rank, Member &m) {
      check(launchPeerPlan(op.c_str(), m.group, plans[rank], m.stream));
    });
  }

  void write(const std::string &op, uint64_t bytes, double ours, double direct, double nccl) {
    FILE *file = options_.jsonl.empty() ? nullptr : std::fopen(options_.jsonl.c_str(), "a");
    if (!file)
      return;
    cudaDeviceProp device = {};
    check(cudaGetDeviceProperties(&device, 0), "device");
    int version = 0;
    check(ncclGetVersion(&version), "nccl");
    char date[16];
    const std::time_t now = std::time(nullptr);
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    std::fprintf(file,
                 "{\"machine\": \"%u x %s\", \"date\": \"%s\", \"command\": \"bench-peers\", "
                 "\"case\": \"%s f32, CUDA graph\", \"size\": \"%llu B\", \"metric\": \"us\", "
                 "\"ours\": %.2f, \"ours_symmetric\": %.2f, \"peer\": %.2f, "
                 "\"peer_name\": \"NCCL %d.%d.%d, default\", \"ratio\": %.2f, \"target\": null}\n",
                 size(), device.name, date, op.c_str(), static_cast<unsigned long long>(bytes),
                 ours, direct, nccl, version / 10000, version / 100 % 100, version % 100,
                 nccl / ours);
    std::fclose(file);
  }

  const Options options_;
  const std::chrono::steady_clock::time_point start_;
  std::vector<Member> members_;
};

} // namespace

int main(int argc, char **argv) {
  Bench(parse(argc, argv)).run();
  // Communicators and memory are freed with the process.
  std::fflush(stdout);
  std::_Exit(0);
}
