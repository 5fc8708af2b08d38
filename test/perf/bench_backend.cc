// bench-backend - time of an operation (f32; reductions sum) on the ranks of this machine.
//
//   bench-backend BACKEND RANKS [--processes] [--op=OP] [BYTES…]
//
// Prints one line per size: bytes and median microseconds of a call, back to back, on
// rank 0. BYTES is the larger of a rank's two buffers. OP: all_reduce, broadcast,
// all_gather, reduce_scatter, all_to_all, or send_recv between ranks 0 and 1 (half a
// round trip). With --processes, each rank is a process, otherwise a thread, on the
// processors that COLL_AFFINITY gives it. mpi_peer.c does the same with MPI.

#include "runtime/backend/backend.h"
#include "runtime/base/env.h"
#include "runtime/step/affinity.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
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

struct Options {
  std::string backend;
  BackendOptions backendOptions;
  bool processes = false;
  std::string op = "all_reduce";
  std::vector<int64_t> sizes;
};

[[noreturn]] void fail(const Status &status) {
  std::fprintf(stderr, "bench-backend: %s\n", status.toString().c_str());
  std::exit(1);
}

double nowMicroseconds() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Samples: enough for a stable median, few enough for a test machine. Enough calls per sample that
// the clock costs little.
int samples(int64_t bytes) { return bytes <= 16 << 10 ? 500 : bytes <= 1 << 20 ? 200 : 20; }
int callsPerSample(int64_t bytes) { return bytes <= 16 << 10 ? 16 : 1; }

// The calls of one round on this rank.
std::vector<Call> makeCalls(const std::string &op, int64_t bytes, int rank, int numRanks,
                            const float *src, float *dst) {
  Call call;
  call.src = src;
  call.dst = dst;
  call.count = bytes / static_cast<int64_t>(sizeof(float));
  if (op == "send_recv") {
    call.peer = 1 - rank;
    Call send = call, recv = call;
    send.kind = OpKind::Send;
    recv.kind = OpKind::Recv;
    if (rank > 1)
      return {};
    return rank == 0 ? std::vector<Call>{send, recv} : std::vector<Call>{recv, send};
  }
  call.kind = op == "broadcast"        ? OpKind::Broadcast
              : op == "all_gather"     ? OpKind::AllGather
              : op == "reduce_scatter" ? OpKind::ReduceScatter
              : op == "all_to_all"     ? OpKind::AllToAll
                                       : OpKind::AllReduce;
  if (call.kind != OpKind::Broadcast && call.kind != OpKind::AllReduce)
    call.count = std::max<int64_t>(call.count / numRanks, 1);
  call.dstCount = call.kind == OpKind::AllToAll ? call.count : 0;
  return {call};
}

void measure(Communicator &group, const Options &options, int rank, int64_t bytes) {
  size_t elems = static_cast<size_t>(bytes) / sizeof(float) + group.ranks().size();
  std::vector<float> data(elems, 1.0f), sums(elems);
  std::vector<Call> calls =
      makeCalls(options.op, bytes, rank, options.backendOptions.numRanks, data.data(), sums.data());
  std::vector<double> times;
  int count = samples(bytes), batch = callsPerSample(bytes);
  for (int i = -count / 10 - 1; i < count; ++i) {
    double begin = nowMicroseconds();
    for (int j = 0; j < batch; ++j)
      for (const Call &call : calls)
        if (Status status = group.run(call); !status.ok())
          fail(status);
    if (i >= 0)
      times.push_back((nowMicroseconds() - begin) / batch);
  }
  std::nth_element(times.begin(), times.begin() + count / 2, times.end());
  if (rank == 0) {
    double perCall = times[times.size() / 2] / static_cast<double>(calls.size());
    std::printf("%lld %.3f\n", static_cast<long long>(bytes), perCall);
    std::fflush(stdout);
  }
}

void runRank(Endpoint &endpoint, const Options &options, const Affinity &affinity, int rank) {
  if (Status status = affinity.pinThisThread(rank); !status.ok())
    fail(status);
  std::vector<int> all;
  for (int i = 0; i < options.backendOptions.numRanks; ++i)
    all.push_back(i);
  Result<std::unique_ptr<Communicator>> group = endpoint.communicator(all);
  if (!group)
    fail(group.status());
  for (int64_t bytes : options.sizes)
    measure(**group, options, rank, bytes);
  endpoint.leave();
}

int runAll(const Options &options) {
  Result<Affinity> affinity = Affinity::create(envString(EnvVar::Affinity));
  if (!affinity)
    fail(affinity.status());
  Result<std::unique_ptr<Backend>> backend = createBackend(options.backend, options.backendOptions);
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
        [&, i] { runRank(*endpoints[i], options, *affinity, (*backend)->localRanks()[i]); });
  for (std::thread &thread : threads)
    thread.join();
  return 0;
}

#ifdef COLL_HAS_NET
int runProcesses(Options options) {
  namespace net = coll::net;
  net::Fd listener = net::listenOn(net::Address::parse("127.0.0.1:0").take()).take();
  JobOptions job;
  job.worldSize = options.backendOptions.numRanks;
  job.bootstrap = net::localAddress(listener)->toString();
  job.secret = "of these processes alone";
  job.iface = "lo";
  for (int rank = 0; rank < options.backendOptions.numRanks; ++rank) {
    if (fork() != 0)
      continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    job.rank = rank;
    if (rank == 0)
      job.listenFd = dup(listener.get());
    options.backendOptions.job = job;
    std::exit(runAll(options));
  }
  int code = 0, status = 0;
  while (wait(&status) > 0)
    code |= status;
  return code ? 1 : 0;
}
#endif

Options parse(int argc, char **argv) {
  Options options;
  options.backend = argc > 1 ? argv[1] : "";
  options.backendOptions.numRanks = argc > 2 ? std::atoi(argv[2]) : 0;
  for (int i = 3; i < argc; ++i) {
    if (std::strcmp(argv[i], "--processes") == 0)
      options.processes = true;
    else if (std::strncmp(argv[i], "--op=", 5) == 0)
      options.op = argv[i] + 5;
    else
      options.sizes.push_back(std::atoll(argv[i]));
  }
  if (options.sizes.empty())
    options.sizes = {4, 1 << 10, 16 << 10, 256 << 10, 1 << 20, 16 << 20};
  return options;
}

} // namespace

int main(int argc, char **argv) {
  Options options = parse(argc, argv);
  if (options.backendOptions.numRanks < 1) {
    std::fprintf(stderr, "usage: bench-backend BACKEND RANKS [--processes] [--op=OP] [BYTES…]\n");
    return 2;
  }
#ifdef COLL_HAS_NET
  if (options.processes)
    return runProcesses(options);
#endif
  return options.processes ? 2 : runAll(options);
}
