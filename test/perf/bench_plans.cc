// bench-plans - how long the planner of reshards takes.
//
//   bench-plans FILE.jsonl [PAIRS]
//
// Between random layouts of a tensor with three dimensions on meshes of four axes: uneven blocks
// and partial sums among them. Times are of the processor, for a plan that is asked for first, its
// certificate included, and for the same plan asked for again. A row also says how many plans send
// the least bytes, how many send more because a route takes longer, and how many for other reasons.

#include "test/plan/simulator.h"
#include "tools/coll-perf/rows.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <numeric>
#include <set>

namespace {

using namespace coll;
using namespace coll::plan;

constexpr double kTargetUs = 1000;

[[noreturn]] void fail(const std::string &message) {
  std::fprintf(stderr, "bench-plans: %s\n", message.c_str());
  std::exit(1);
}

double processorUs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

double meanOf(const std::vector<double> &times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

// Hosts of eight ranks, whose links share a network.
CostModel topologyOf(const Mesh &mesh) {
  Topology topology;
  for (int64_t host = 0; host < mesh.numRanks() / 8; ++host)
    topology.hosts.push_back({"host" + std::to_string(host), 8});
  for (const Topology::Host &host : topology.hosts)
    topology.links.push_back({host.name, host.name, 200, 3, 0});
  topology.links.push_back({"*", "*", 25, 12, 0});
  Result<CostModel> model = CostModel::overTopology(topology, mesh);
  if (!model)
    fail(model.error());
  for (uint64_t axes = 1; axes < uint64_t{1} << mesh.axes.size(); ++axes)
    (void)model->cost(Traffic{axes, 1, 1, 1}); // which measures the groups along the axes once
  return *model;
}

perf::Row measure(const std::vector<int64_t> &sizes, bool isByBytes, int pairs) {
  const Mesh mesh = test::meshOf(sizes);
  const std::vector<int64_t> shape = {4096, 2048, 96};
  ReshardPlanner planner(mesh, isByBytes ? CostModel::byBytes() : topologyOf(mesh));
  test::Random random(1);
  std::set<std::string> known;
  std::vector<double> first, again;
  std::map<Routing, double> routings;
  double sent = 0, least = 0;
  while (first.size() < static_cast<size_t>(pairs)) {
    const Layout from = canonical(mesh, shape, test::randomLayout(random, mesh, shape));
    const Layout to = canonical(mesh, shape, test::randomLayout(random, mesh, shape));
    const std::string text = test::describe({mesh, {shape, 4, from, to}});
    if (!known.insert(text + std::to_string(localElems(from)) + std::to_string(localElems(to)))
             .second)
      continue;
    for (std::vector<double> *times : {&first, &again}) {
      const double begin = processorUs();
      const Result<MovePlan> plan = planner.plan(shape, 4, from, to);
      times->push_back(processorUs() - begin);
      if (!plan)
        fail(text + ": " + plan.error());
      if (times == &again)
        continue;
      ++routings[plan->routing];
      sent += static_cast<double>(plan->wireBytes);
      least += static_cast<double>(plan->leastBytes);
    }
  }
  std::sort(first.begin(), first.end());
  perf::Row row;
  row.caseName = "mesh";
  for (size_t i = 0; i < sizes.size(); ++i)
    row.caseName += (i ? "x" : " ") + std::to_string(sizes[i]);
  row.caseName += isByBytes ? ", by bytes" : ", over a topology of hosts with 8 ranks";
  row.size = std::to_string(pairs) + " random pairs of layouts";
  row.metric = "processor us a plan";
  row.ours = meanOf(first);
  row.higherIsBetter = false;
  const auto slow = first.end() - std::upper_bound(first.begin(), first.end(), kTargetUs);
  row.more = {{"target", kTargetUs},
              {"median_us", first[first.size() / 2]},
              {"p99_us", first[first.size() * 99 / 100]},
              {"most_us", first.back()},
              {"above_target", static_cast<double>(slow)},
              {"again_us", meanOf(again)},
              {"least_bytes", routings[Routing::Unneeded]},
              {"routes_take_longer", routings[Routing::Slower]},
              {"other_reasons", routings[Routing::Kept] + routings[Routing::Impossible]},
              {"bytes_over_least", sent / least}};
  std::printf(
      "%-60s mean %7.1f, median %7.1f, p99 %7.1f, most %8.1f us; %d above %.0f; again %.2f "
      "us; %.0f with the least bytes, %.0f faster than a route, %.0f others; %.3f times the "
      "least bytes\n",
      row.caseName.c_str(), row.ours, row.more[1].second, row.more[2].second, row.more[3].second,
      static_cast<int>(slow), kTargetUs, row.more[5].second, row.more[6].second, row.more[7].second,
      row.more[8].second, row.more[9].second);
  std::fflush(stdout);
  return row;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: bench-plans FILE.jsonl [PAIRS]\n");
    return 2;
  }
  const int pairs = argc > 2 ? std::atoi(argv[2]) : 3000;
  if (pairs < 1)
    fail("PAIRS is a number, at least 1");
  std::vector<perf::Row> rows;
  for (const std::vector<int64_t> &sizes :
       std::vector<std::vector<int64_t>>{{2, 2, 2, 2}, {2, 4, 8, 4}, {4, 8, 8, 4}, {8, 4, 16, 32}})
    for (bool isByBytes : {true, false})
      rows.push_back(measure(sizes, isByBytes, pairs));
  if (const rt::Status status = perf::appendRows(argv[1], "bench-plans", rows); !status.ok())
    fail(status.toString());
  return 0;
}
