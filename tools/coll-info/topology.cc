#include "tools/coll-info/topology.h"

#include "plan/topology.h"
#include "runtime/backend/backend.h"

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

} // namespace

int printTopology() {
  char name[256] = "localhost";
  gethostname(name, sizeof(name) - 1);
  plan::Topology topology;
  topology.hosts.push_back({name, std::max<int64_t>(1, std::thread::hardware_concurrency())});
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
