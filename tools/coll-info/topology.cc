#include "tools/coll-info/topology.h"

#include "plan/topology.h"
#include "runtime/backend/backend.h"
#include "runtime/base/machine.h"
#include "runtime/base/thread.h"
#include "runtime/step/abi/gemm.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace coll::info {

namespace {

constexpr int64_t kLargeElems = 2 << 20; // of f32: larger than the caches of cores
constexpr int kLargeCalls = 8, kSmallCalls = 500;
constexpr int64_t kWorkElems = 128 << 10;
constexpr int kMostRanks = 8;

// The time of an all_gather in microseconds: of one element, of one element between pieces of work
// as in a step, and of kLargeElems on all ranks together.
struct GatherTimes {
  double smallUs = 0, betweenUs = 0, largeUs = 0;
};

// Returns the microseconds of one all_gather: the best of `calls` calls, after a warm-up call.
rt::Result<double> timeCalls(rt::Communicator &group, int64_t ranks, int64_t elems, int calls) {
  std::vector<float> source(static_cast<size_t>(elems)),
      target(static_cast<size_t>(ranks) * source.size());
  rt::Call call;
  call.kind = rt::OpKind::AllGather;
  call.src = source.data();
  call.dst = target.data();
  call.count = elems;
  double best = HUGE_VAL;
  for (int i = 0; i <= calls; ++i) {
    const auto start = std::chrono::steady_clock::now();
    COLL_RETURN_IF_ERROR(group.run(call));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = i == 0 ? best : std::min(best, took.count());
  }
  return best;
}

// Returns the median time of calls between pieces of work, which the ranks do not end at the same
// time. A piece is as long as a kernel of a small step, and larger than the caches next to a core.
rt::Result<double> timeBetweenWork(rt::Communicator &group, int64_t ranks) {
  std::vector<float> source(1), target(static_cast<size_t>(ranks)), from(kWorkElems, 1), to(from);
  rt::Call call;
  call.kind = rt::OpKind::AllGather;
  call.src = source.data();
  call.dst = target.data();
  call.count = 1;
  std::vector<double> times;
  for (int i = 0; i < kSmallCalls; ++i) {
    std::copy(from.begin(), from.end(), to.begin());
    const auto start = std::chrono::steady_clock::now();
    COLL_RETURN_IF_ERROR(group.run(call));
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count());
  }
  std::nth_element(times.begin(), times.begin() + kSmallCalls / 2, times.end());
  return times[kSmallCalls / 2];
}

// Makes the measurements of one rank.
rt::Status measure(rt::Endpoint &endpoint, int ranks, GatherTimes &times) {
  std::vector<int> all(static_cast<size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  rt::Result<std::unique_ptr<rt::Communicator>> group = endpoint.communicator(all);
  if (!group)
    return group.status();
  const rt::Result<double> small = timeCalls(**group, ranks, 1, kSmallCalls);
  if (!small)
    return small.status();
  const rt::Result<double> large = timeCalls(**group, ranks, kLargeElems / ranks, kLargeCalls);
  if (!large)
    return large.status();
  const rt::Result<double> between = timeBetweenWork(**group, ranks);
  if (!between)
    return between.status();
  times.smallUs = *small;
  times.betweenUs = *between;
  times.largeUs = *large;
  return {};
}

// Rounds to two digits, because a second measurement does not repeat more.
double rounded(double value) {
  const double scale = std::pow(10, 1 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

// Measures between ranks of backend `threads`; returns rank 0's times.
rt::Result<GatherTimes> measureGathers(int ranks) {
  rt::BackendOptions options;
  options.numRanks = ranks;
  rt::Result<std::unique_ptr<rt::Backend>> backend = rt::createBackend("threads", options);
  if (!backend)
    return backend.status();
  std::vector<std::unique_ptr<rt::Endpoint>> endpoints;
  for (int rank = 0; rank < ranks; ++rank) {
    rt::Result<std::unique_ptr<rt::Endpoint>> endpoint = (*backend)->endpoint(rank);
    if (!endpoint)
      return endpoint.status();
    endpoints.push_back(endpoint.take());
  }
  for (auto &endpoint : endpoints)
    endpoint->enter();
  std::vector<GatherTimes> times(endpoints.size());
  std::vector<rt::Status> ended(endpoints.size());
  auto runRank = [&](size_t rank) { ended[rank] = measure(*endpoints[rank], ranks, times[rank]); };
  std::vector<std::thread> threads(endpoints.size());
  rt::Status started;
  for (size_t rank = 1; rank < threads.size() && started.ok(); ++rank)
    started = rt::startThread(threads[rank], "a rank", [&, rank] { runRank(rank); });
  if (started.ok())
    runRank(0);
  else
    endpoints[0]->abort(started); // those that run wait for the others
  for (std::thread &thread : threads)
    if (thread.joinable())
      thread.join();
  for (auto &endpoint : endpoints)
    endpoint->leave();
  COLL_RETURN_IF_ERROR(started);
  for (const rt::Status &status : ended)
    COLL_RETURN_IF_ERROR(status);
  return times[0];
}

// Rounds and bytes are derived from calls one after the other. The extra time of a call between
// work is the wait for the slowest rank.
rt::Result<plan::Topology::Link> measureLink() {
  const int ranks = std::clamp(rt::numAllowedProcessors(), 2, kMostRanks);
  const rt::Result<GatherTimes> times = measureGathers(ranks);
  if (!times)
    return times.status();
  const double rounds = std::ceil(std::log2(ranks));
  const double bytes = static_cast<double>(kLargeElems / ranks * (ranks - 1)) * 4;
  plan::Topology::Link link;
  link.gbPerS = rounded(bytes / std::max(times->largeUs - times->smallUs, 0.001) * 1e-3);
  link.latencyUs = rounded(std::max(times->smallUs / rounds, 0.001));
  link.callUs = rounded(std::max(times->betweenUs - times->smallUs, 0.001));
  return link;
}

// Returns the seconds of `work`: the best of some runs, after a warm-up.
template <typename Work>
double timeBest(Work work) {
  constexpr int kRuns = 5;
  double best = HUGE_VAL;
  for (int i = 0; i <= kRuns; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = i == 0 ? best : std::min(best, took.count());
  }
  return std::max(best, 1e-9);
}

// Measures what one core can do: a product of matrices, and a copy larger than the caches.
rt::Status measureCore(plan::Topology::Host &host) {
  constexpr int64_t kSide = 512;
  std::vector<float> a(kSide * kSide, 1), b(a), c(a);
  rt::Gemm gemm;
  gemm.m = gemm.n = gemm.k = kSide;
  gemm.lda = gemm.ldb = gemm.ldc = kSide;
  gemm.a = a.data();
  gemm.b = b.data();
  gemm.c = c.data();
  rt::prepareGemm();
  rt::Status status;
  const double product = timeBest([&] { status = rt::runGemm(gemm); });
  COLL_RETURN_IF_ERROR(status);
  host.gflopPerS = rounded(2.0 * kSide * kSide * kSide / product * 1e-9);
  std::vector<float> source(4 * kLargeElems, 1), target(source);
  const double copy = timeBest([&] { std::copy(source.begin(), source.end(), target.begin()); });
  host.memoryGbPerS = rounded(2.0 * 4.0 * static_cast<double>(source.size()) / copy * 1e-9);
  return {};
}

} // namespace

int printTopology() {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  plan::Topology topology;
  topology.hosts.push_back({name, std::max<int64_t>(1, std::thread::hardware_concurrency())});
  if (rt::Status status = measureCore(topology.hosts.front()); !status.ok()) {
    std::fprintf(stderr, "coll-info: %s\n", status.toString().c_str());
    return 1;
  }
  rt::Result<plan::Topology::Link> link = measureLink();
  if (!link) {
    std::fprintf(stderr, "coll-info: %s\n", link.status().toString().c_str());
    return 1;
  }
  link->from = link->to = name;
  topology.links.push_back(*link);
  std::printf("%s", plan::toJson(topology).c_str());
  return 0;
}

} // namespace coll::info
