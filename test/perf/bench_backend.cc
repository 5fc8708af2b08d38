// bench-backend - time of all_reduce (f32, sum) on the ranks of this machine.
//
//   bench-backend BACKEND RANKS [--processes]
//
// Prints one line per size: bytes and median microseconds of a call, back to back, on
// rank 0. With --processes, each rank is a process, otherwise a thread.

#include "runtime/backend.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

#ifdef COLL_HAS_NET
#include "runtime/net/socket.h"
#include <sys/prctl.h>
#include <sys/wait.h>
#endif

using namespace coll::rt;

namespace {

constexpr int64_t kSizes[] = {4, 1 << 10, 16 << 10, 256 << 10, 1 << 20, 16 << 20};

[[noreturn]] void fail(const Status &status) {
  std::fprintf(stderr, "bench-backend: %s\n", status.toString().c_str());
  std::exit(1);
}

double nowMicroseconds() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Long enough for a stable median, short enough for a test machine.
int repetitions(int64_t bytes) { return bytes <= 16 << 10 ? 2000 : bytes <= 1 << 20 ? 200 : 20; }

void measure(Communicator &group, int rank, int64_t bytes) {
  std::vector<float> data(static_cast<size_t>(bytes) / sizeof(float), 1.0f);
  std::vector<float> sums(data.size());
  Call call;
  call.kind = OpKind::AllReduce;
  call.count = static_cast<int64_t>(data.size());
  call.src = data.data();
  call.dst = sums.data();
  std::vector<double> times;
  int count = repetitions(bytes);
  for (int i = -count / 10 - 1; i < count; ++i) {
    double begin = nowMicroseconds();
    if (Status status = group.run(call); !status.ok())
      fail(status);
    if (i >= 0)
      times.push_back(nowMicroseconds() - begin);
  }
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  if (rank == 0) {
    std::printf("%lld %.2f\n", static_cast<long long>(bytes), times[times.size() / 2]);
    std::fflush(stdout);
  }
}

void runRank(Endpoint &endpoint, int rank, int numRanks) {
  std::vector<int> all;
  for (int i = 0; i < numRanks; ++i)
    all.push_back(i);
  Result<std::unique_ptr<Communicator>> group = endpoint.communicator(all);
  if (!group)
    fail(group.status());
  for (int64_t bytes : kSizes)
    measure(**group, rank, bytes);
  endpoint.leave();
}

int runAll(const char *name, const BackendOptions &options) {
  Result<std::unique_ptr<Backend>> backend = createBackend(name, options);
  if (!backend)
    fail(backend.status());
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (int rank : (*backend)->localRanks()) {
    Result<std::unique_ptr<Endpoint>> endpoint = (*backend)->endpoint(rank);
    if (!endpoint)
      fail(endpoint.status());
    (*endpoint)->enter();
    endpoints.push_back(endpoint.take());
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < endpoints.size(); ++i)
    threads.emplace_back(
        [&, i] { runRank(*endpoints[i], (*backend)->localRanks()[i], options.numRanks); });
  for (std::thread &thread : threads)
    thread.join();
  return 0;
}

#ifdef COLL_HAS_NET
int runProcesses(const char *name, BackendOptions options) {
  namespace net = coll::net;
  net::Fd listener = net::listenOn(net::Address::parse("127.0.0.1:0").take()).take();
  JobOptions job;
  job.worldSize = options.numRanks;
  job.bootstrap = net::localAddress(listener)->toString();
  job.secret = "of these processes alone";
  job.iface = "lo";
  for (int rank = 0; rank < options.numRanks; ++rank) {
    if (fork() != 0)
      continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    job.rank = rank;
    if (rank == 0)
      job.listenFd = dup(listener.get());
    options.job = job;
    std::exit(runAll(name, options));
  }
  int code = 0, status = 0;
  while (wait(&status) > 0)
    code |= status;
  return code ? 1 : 0;
}
#endif

} // namespace

int main(int argc, char **argv) {
  BackendOptions options;
  options.numRanks = argc > 2 ? std::atoi(argv[2]) : 0;
  bool processes = argc > 3 && std::strcmp(argv[3], "--processes") == 0;
  if (options.numRanks < 1) {
    std::fprintf(stderr, "usage: bench-backend BACKEND RANKS [--processes]\n");
    return 2;
  }
#ifdef COLL_HAS_NET
  if (processes)
    return runProcesses(argv[1], options);
#endif
  return processes ? 2 : runAll(argv[1], options);
}
