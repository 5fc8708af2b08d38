#include "tools/coll-info/topology.h"

#include "plan/topology.h"
#include "runtime/backend/backend.h"
#include "runtime/step/abi/gemm.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace coll::info {

namespace {

constexpr int64_t kLargeElems = 2 << 20; // of f32: beyond what caches of cores hold
constexpr int kLargeCalls = 8, kSmallCalls = 500;

// Microseconds of one all_gather between two ranks: the best of `calls`, after one that is not
// counted.
rt::Result<double> timeCalls(rt::Communicator &group, int64_t elems, int calls) {
  std::vector<float> source(static_cast<size_t>(elems)), target(2 * source.size());
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

// What one rank measures.
rt::Status measure(rt::Endpoint &endpoint, plan::Topology::Link &link) {
  rt::Result<std::unique_ptr<rt::Communicator>> group = endpoint.communicator({0, 1});
  if (!group)
    return group.status();
  const rt::Result<double> small = timeCalls(**group, 1, kSmallCalls);
  if (!small)
    return small.status();
  const rt::Result<double> large = timeCalls(**group, kLargeElems, kLargeCalls);
  if (!large)
    return large.status();
  link.latencyUs = std::max(*small, 0.001);
  link.gbPerS = static_cast<double>(kLargeElems * 4) / std::max(*large - *small, 0.001) * 1e-3;
  return {};
}

// Two digits are more than a second measurement repeats.
double rounded(double value) {
  const double scale = std::pow(10, 1 - std::floor(std::log10(value)));
  return std::round(value * scale) / scale;
}

rt::Result<plan::Topology::Link> measureLink() {
  rt::BackendOptions options;
  options.numRanks = 2;
  rt::Result<std::unique_ptr<rt::Backend>> backend = rt::createBackend("threads", options);
  if (!backend)
    return backend.status();
  std::vector<std::unique_ptr<rt::Endpoint>> endpoints;
  for (int rank = 0; rank < options.numRanks; ++rank) {
    rt::Result<std::unique_ptr<rt::Endpoint>> endpoint = (*backend)->endpoint(rank);
    if (!endpoint)
      return endpoint.status();
    endpoints.push_back(endpoint.take());
  }
  for (auto &endpoint : endpoints)
    endpoint->enter();
  plan::Topology::Link link, other;
  rt::Status mine, theirs;
  try {
    std::thread peer([&] { theirs = measure(*endpoints[1], other); });
    mine = measure(*endpoints[0], link);
    peer.join();
  } catch (const std::system_error &error) {
    return rt::Status::internal(std::string("no thread can be started: ") + error.what());
  }
  for (auto &endpoint : endpoints)
    endpoint->leave();
  COLL_RETURN_IF_ERROR(mine);
  COLL_RETURN_IF_ERROR(theirs);
  link.gbPerS = rounded(link.gbPerS);
  link.latencyUs = rounded(link.latencyUs);
  return link;
}

// Seconds of `work`: the best of some runs, after one that is not counted.
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

// What one core does: a product of matrices, and a copy beyond what caches hold.
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
