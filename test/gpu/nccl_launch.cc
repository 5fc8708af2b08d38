// nccl-launch - all_reduces of stock NCCL, by processes with threads, each thread a rank. It is
// used to try profiler plugins for NCCL (NCCL_PROFILER_PLUGIN). Nothing of NCCL or CUDA is needed
// to build it.
//
//   nccl-launch --processes=2|--mpi --threads=1 [--one-host] [--bytes=N,N] [--calls=N]
//   [--replays=N] [--loop] [--turns=N [--pin] --switch=LIBRARY:PLUGIN:PLUGIN…]
//
// Rank r uses GPU r modulo their number. Each process is a separate host (NCCL_HOSTID), so that
// processes may share a GPU, unless --one-host is given. For each size there are 5 warm-up calls,
// then the timed ones, each between two CUDA events, then the same number with 25 of them between
// two events. All 25 are on the stream before it begins with them, and a pause follows.
//
//   --replays  then also graphs of 4 calls, captured once and replayed so often
//   --loop     instead: microseconds per call of all calls together
//   --turns    so many loops with each of no plugin, a plugin that records nothing, and the
//              PLUGINs, in turns and on one communicator; LIBRARY is libnccl-profiler-switch.so,
//              which NCCL_PROFILER_PLUGIN has to name, too
//   --pin      a processor for each thread that is always busy
//   --mpi      the processes are those that Open MPI's mpirun has started, and MPI sends the
//              communicator's id to all of them
//
// Each process writes PROFILER_TIMES/<pid>.json, {"bytes": {"each": [milliseconds, …], "together":
// [milliseconds of 25, …]}}, if that variable is set. If a rank fails, it exits with 1 and NCCL's
// error; the other ranks, which may wait for it, end then, too.

#include "runtime/base/env.h"
#include "runtime/dl/gpu_memory.h"
#include "runtime/dl/library.h"
#include "runtime/dl/nccl.h"
#include "test/gpu/nccl_launch_options.h"
#include "test/gpu/open_mpi.h"
#include "test/gpu/thread_places.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using namespace coll::rt;
using Options = coll::NcclLaunchOptions;

namespace {

// Lives in memory that all processes share.
struct Meeting {
  std::atomic<int> hasId{0}; // -1: rank 0 cannot make one
  dl::NcclUniqueId id;
  std::atomic<int> arrivals{0}; // of ranks, see Rank::meet
};

constexpr int kWarmUps = 5, kCallsOfGraph = 4;
// NCCL has room for the stamps of 64 calls that its progress thread has not processed; this thread
// may be behind the GPU.
constexpr int kCallsAtOnce = 25;
constexpr std::chrono::milliseconds kPause{3};

class Rank {
public:
  Rank(const Options &options, Meeting &meeting, int number)
      : options_(options), meeting_(meeting), number_(number) {}

  Status run() {
    Result<const dl::Cuda *> cuda = dl::cuda();
    Result<const dl::Nccl *> nccl = dl::nccl();
    if (!cuda || !nccl) {
      meeting_.hasId = -1;
      return cuda ? nccl.status() : cuda.status();
    }
    cuda_ = *cuda;
    nccl_ = *nccl;
    if (options_.turns > 0)
      COLL_RETURN_IF_ERROR(loadSwitch());
    COLL_RETURN_IF_ERROR(join());
    dl::CudaScope scope(*cuda_, gpu_->context());
    COLL_RETURN_IF_ERROR(scope.status());
    Status status = open();
    if (options_.isPinned && status.ok())
      status = pin();
    for (size_t i = 0; i < options_.sizes.size() && status.ok(); ++i)
      status = options_.turns > 0 ? takeTurns(options_.sizes[i])
               : options_.isLoop  ? loop(options_.sizes[i], "")
                                  : measure(options_.sizes[i]);
    if (status.ok() && options_.replays > 0)
      status = replay();
    const Status closed = check(nccl_->commDestroy(comm_), "ncclCommDestroy");
    return status.ok() ? closed : status;
  }
  const std::string &times() const { return times_; }

private:
  Status check(dl::NcclResult result, const char *call) const {
    return dl::ncclStatus(*nccl_, result, call, comm_);
  }
  Status checkCuda(dl::CudaResult result, const char *call) const {
    return dl::cudaStatus(*cuda_, result, call);
  }

  Status join() {
    int gpus = 0;
    COLL_RETURN_IF_ERROR(checkCuda(cuda_->deviceGetCount(&gpus), "cuDeviceGetCount"));
    Result<std::shared_ptr<dl::GpuContext>> gpu = dl::GpuContext::open(*cuda_, number_ % gpus);
    if (!gpu)
      return gpu.status();
    gpu_ = gpu.take();
    dl::CudaScope scope(*cuda_, gpu_->context());
    if (number_ == 0 && meeting_.hasId == 0) {
      const Status made = check(nccl_->getUniqueId(&meeting_.id), "ncclGetUniqueId");
      meeting_.hasId = made.ok() ? 1 : -1;
      COLL_RETURN_IF_ERROR(made);
    }
    while (meeting_.hasId == 0)
      std::this_thread::yield();
    if (meeting_.hasId < 0)
      return Status(kCollPeer, "rank 0 has not begun");
    dl::NcclConfig config;
    config.blocking = 1;
    return check(
        nccl_->commInitRankConfig(&comm_, options_.numRanks(), meeting_.id, number_, &config),
        "ncclCommInitRankConfig");
  }

  Status open() {
    int64_t most = 0;
    for (int64_t size : options_.sizes)
      most = std::max(most, size);
    Result<dl::GpuMemory> data = dl::GpuMemory::create(gpu_, dl::GpuMemory::Kind::Device, most);
    if (!data)
      return data.status();
    data_ = data.take();
    Result<dl::GpuMemory> gate = dl::GpuMemory::create(gpu_, dl::GpuMemory::Kind::Pinned, 4);
    if (!gate)
      return gate.status();
    gate_ = gate.take();
    std::memset(gate_.host(), 0, 4);
    COLL_RETURN_IF_ERROR(
        checkCuda(cuda_->streamCreate(&stream_, dl::kCudaStreamNonBlocking), "cuStreamCreate"));
    return checkCuda(cuda_->memsetD8Async(reinterpret_cast<dl::CudaAddress>(data_.device()), 0,
                                          static_cast<size_t>(most), stream_),
                     "cuMemsetD8Async");
  }

  Status call(int64_t bytes) {
    return check(nccl_->allReduce(data_.device(), data_.device(), static_cast<size_t>(bytes) / 4,
                                  dl::kNcclFloat32, dl::kNcclSum, comm_, stream_),
                 "ncclAllReduce");
  }
  Status synchronize() {
    return checkCuda(cuda_->streamSynchronize(stream_), "cuStreamSynchronize");
  }
  Status settle() {
    COLL_RETURN_IF_ERROR(synchronize());
    std::this_thread::sleep_for(kPause);
    return {};
  }
  Status calls(int64_t bytes, int count) {
    for (int i = 0; i < count; ++i)
      COLL_RETURN_IF_ERROR(call(bytes));
    return {};
  }

  // Ranks of mpirun's processes share no memory, and do not meet.
  void meet() {
    if (options_.isMpi)
      return;
    ++meetings_;
    ++meeting_.arrivals;
    while (meeting_.arrivals < meetings_ * options_.numRanks())
      std::this_thread::yield();
  }
  // Work that is put on the stream between these two calls begins when all of it is there, on all
  // ranks, so that no event is recorded while the GPU waits for the host.
  Status hold() {
    meet();
    if (!cuda_->streamWaitValue)
      return {};
    return checkCuda(cuda_->streamWaitValue(stream_,
                                            reinterpret_cast<dl::CudaAddress>(gate_.device()),
                                            ++held_, dl::kCudaWaitGeq),
                     "cuStreamWaitValue32");
  }
  void release() {
    meet();
    __atomic_store_n(reinterpret_cast<uint32_t *>(gate_.host()), held_, __ATOMIC_RELEASE);
  }

  Status measure(int64_t bytes) {
    COLL_RETURN_IF_ERROR(calls(bytes, kWarmUps));
    COLL_RETURN_IF_ERROR(settle());
    times_ += (times_.empty() ? "{\"" : ", \"") + std::to_string(bytes) + "\": {";
    for (const bool isEach : {true, false}) {
      times_ += isEach ? "\"each\": [" : "], \"together\": [";
      for (int done = 0; done < options_.calls; done += kCallsAtOnce) {
        times_ += done ? ", " : "";
        COLL_RETURN_IF_ERROR(time(bytes, std::min(kCallsAtOnce, options_.calls - done), isEach));
      }
    }
    times_ += "]}";
    return {};
  }
  // Times each of `count` calls between two events, or all of them together.
  Status time(int64_t bytes, int count, bool isEach) {
    std::vector<dl::CudaEvent> events(isEach ? 2 * static_cast<size_t>(count) : 2);
    for (dl::CudaEvent &event : events)
      COLL_RETURN_IF_ERROR(checkCuda(cuda_->eventCreate(&event, 0), "cuEventCreate"));
    auto next = events.begin();
    COLL_RETURN_IF_ERROR(hold());
    for (int i = 0; i < count; ++i) {
      if (isEach || i == 0)
        COLL_RETURN_IF_ERROR(checkCuda(cuda_->eventRecord(*next++, stream_), "cuEventRecord"));
      COLL_RETURN_IF_ERROR(call(bytes));
      if (isEach || i == count - 1)
        COLL_RETURN_IF_ERROR(checkCuda(cuda_->eventRecord(*next++, stream_), "cuEventRecord"));
    }
    release();
    COLL_RETURN_IF_ERROR(settle());
    for (size_t i = 0; i < events.size(); i += 2) {
      float milliseconds = 0;
      COLL_RETURN_IF_ERROR(checkCuda(
          cuda_->eventElapsedTime(&milliseconds, events[i], events[i + 1]), "cuEventElapsedTime"));
      times_ += (i ? ", " : "") + std::to_string(milliseconds);
    }
    for (dl::CudaEvent event : events)
      (void)cuda_->eventDestroy(event);
    return {};
  }

  Status loop(int64_t bytes, const std::string &what) {
    COLL_RETURN_IF_ERROR(calls(bytes, kWarmUps));
    COLL_RETURN_IF_ERROR(synchronize());
    const auto begin = std::chrono::steady_clock::now();
    COLL_RETURN_IF_ERROR(calls(bytes, options_.calls));
    COLL_RETURN_IF_ERROR(synchronize());
    const std::chrono::duration<double, std::micro> taken =
        std::chrono::steady_clock::now() - begin;
    if (number_ == 0)
      std::printf("%s%lld bytes: %.3f us a call\n", what.c_str(), static_cast<long long>(bytes),
                  taken.count() / options_.calls);
    return {};
  }

  // Call it before NCCL loads the same library.
  Status loadSwitch() {
    const std::string &path = options_.plugins.front();
    Result<dl::Library> library = dl::Library::open(path);
    if (!library)
      return library.status();
    auto *add = library->symbol<bool(const char *)>("profilerSwitchAdd");
    switch_ = library->symbol<void(int)>("profilerSwitch");
    if (!add || !switch_)
      return Status::invalid("\"" + path + "\" cannot switch");
    for (size_t i = 1; i < options_.plugins.size(); ++i)
      if (!add(options_.plugins[i].c_str()))
        return Status::invalid("\"" + options_.plugins[i] +
                               "\" is no profiler plugin of version 5");
    return {};
  }
  // After a first call all threads exist.
  Status pin() {
    COLL_RETURN_IF_ERROR(calls(options_.sizes.front(), kWarmUps));
    COLL_RETURN_IF_ERROR(settle());
    return coll::ThreadPlaces::take(number_ / options_.threads, options_.processes);
  }
  // The order of the loops rotates, so that none always follows the same one.
  Status takeTurns(int64_t bytes) {
    const int cases = static_cast<int>(options_.plugins.size()) + 1;
    for (int turn = 0; turn < options_.turns; ++turn)
      for (int i = 0; i < cases; ++i) {
        const int which = (turn + i) % cases;
        switch_(which);
        COLL_RETURN_IF_ERROR(loop(bytes, std::to_string(turn) + " " + std::to_string(which) + " "));
      }
    return {};
  }

  Status replay() {
    dl::CudaGraph graph = nullptr;
    dl::CudaGraphExec exec = nullptr;
    COLL_RETURN_IF_ERROR(checkCuda(cuda_->streamBeginCapture(stream_, dl::kCudaCaptureThreadLocal),
                                   "cuStreamBeginCapture"));
    Status status = calls(options_.sizes.front(), kCallsOfGraph);
    const Status ended = checkCuda(cuda_->streamEndCapture(stream_, &graph), "cuStreamEndCapture");
    if (status.ok())
      status = ended;
    if (status.ok())
      status = checkCuda(cuda_->graphInstantiate(&exec, graph, 0), "cuGraphInstantiate");
    for (int i = 0; i < options_.replays && status.ok(); ++i)
      status = checkCuda(cuda_->graphLaunch(exec, stream_), "cuGraphLaunch");
    if (status.ok())
      status = synchronize();
    if (exec)
      (void)cuda_->graphExecDestroy(exec);
    if (graph)
      (void)cuda_->graphDestroy(graph);
    return status;
  }

  const Options &options_;
  Meeting &meeting_;
  const int number_;
  const dl::Cuda *cuda_ = nullptr;
  const dl::Nccl *nccl_ = nullptr;
  std::shared_ptr<dl::GpuContext> gpu_;
  dl::GpuMemory data_, gate_;
  uint32_t held_ = 0;
  int meetings_ = 0;
  dl::CudaStream stream_ = nullptr;
  dl::NcclComm comm_ = nullptr;
  std::string times_;
  void (*switch_)(int) = nullptr;
};

// Runs the ranks of one process, which ends here if one of them fails.
void runProcess(const Options &options, Meeting &meeting, int process) {
  const std::string host = options.isOneHost ? "host" : "host" + std::to_string(process);
  setenv("NCCL_HOSTID", host.c_str(), 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < options.threads; ++t)
    threads.emplace_back([&, t] {
      const int number = process * options.threads + t;
      Rank rank(options, meeting, number);
      if (Status status = rank.run(); !status.ok()) {
        std::fprintf(stderr, "nccl-launch: rank %d: %s\n", number, status.message().c_str());
        std::fflush(nullptr);
        _exit(1);
      }
      const std::optional<std::string> folder = foreignEnv("PROFILER_TIMES");
      if (folder && t == 0 && !rank.times().empty())
        std::ofstream(*folder + "/" + std::to_string(getpid()) + ".json") << rank.times() << "}\n";
    });
  for (std::thread &thread : threads)
    thread.join();
}

// Waits for all processes; once one has failed, the others have a limited time to report why they
// fail. Returns the exit code.
int waitFor(std::vector<pid_t> children) {
  constexpr int kGraceMs = 3000;
  int code = 0, leftMs = kGraceMs;
  while (!children.empty()) {
    for (auto child = children.begin(); child != children.end();) {
      int status = 0;
      const bool hasEnded = waitpid(*child, &status, WNOHANG) == *child;
      code |= hasEnded && (!WIFEXITED(status) || WEXITSTATUS(status) != 0);
      child = hasEnded ? children.erase(child) : child + 1;
    }
    if (code != 0 && (leftMs -= 10) < 0)
      for (pid_t child : children)
        kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return code;
}

// Runs one of mpirun's processes. Rank 0 makes the id before it begins, for MPI to send to the
// others.
int runUnderMpi(Options &options, Meeting &meeting) {
  const Result<coll::OpenMpi> mpi = coll::OpenMpi::start();
  if (!mpi)
    return std::fprintf(stderr, "nccl-launch: %s\n", mpi.status().message().c_str()), 77;
  options.processes = mpi->size();
  std::pair<int, dl::NcclUniqueId> made{-1, {}};
  if (const Result<const dl::Nccl *> nccl = dl::nccl(); mpi->rank() == 0 && nccl)
    made.first = (*nccl)->getUniqueId(&made.second) == 0 ? 1 : -1;
  if (!mpi->broadcast(&made, sizeof made))
    made.first = -1;
  meeting.id = made.second;
  meeting.hasId = made.first;
  runProcess(options, meeting, mpi->rank());
  return mpi->finish() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i)
    if (!options.parse(argv[i])) {
      std::fprintf(
          stderr,
          "usage: nccl-launch [--processes=N | --mpi] [--threads=N] [--one-host] [--bytes=N,…] "
          "[--calls=N] [--replays=N] [--loop] [--turns=N [--pin] --switch=LIBRARY:PLUGIN…]\n");
      return 2;
    }
  if (options.turns > 0 && options.plugins.empty())
    return std::fprintf(stderr, "nccl-launch: --turns needs --switch\n"), 2;
  void *shared =
      mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return 1;
  auto *meeting = new (shared) Meeting();
  if (options.isMpi)
    return runUnderMpi(options, *meeting);
  // CUDA starts in the children, because it does not survive a fork.
  std::vector<pid_t> children;
  for (int process = 0; process < options.processes; ++process) {
    const pid_t child = fork();
    if (child == 0) {
      runProcess(options, *meeting, process);
      std::fflush(nullptr);
      _exit(0);
    }
    children.push_back(child);
  }
  return waitFor(children);
}
