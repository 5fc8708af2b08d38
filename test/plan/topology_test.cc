// Topology files and the costs that follow from them.

#include "plan/cost_model.h"
#include "plan/reshard.h"
#include "plan/topology.h"
#include "test/plan/simulator.h"

#include <gtest/gtest.h>

namespace coll::plan::test {
namespace {

constexpr const char *kTwoHosts = R"({
  "version": 1,
  "hosts": [{"name": "a", "ranks": 4}, {"name": "b", "ranks": 4}],
  "links": [{"between": ["a", "a"], "bandwidth_gb_per_s": 200, "latency_us": 2},
            {"between": ["b", "b"], "bandwidth_gb_per_s": 100, "latency_us": 2},
            {"between": ["*", "*"], "bandwidth_gb_per_s": 25, "latency_us": 10}]
})";

std::string errorOf(const std::string &text) { return parseTopology(text, "t.json").error(); }

std::string replaced(std::string text, const std::string &from, const std::string &to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(TopologyTest, IsReadAsItIsWritten) {
  const Result<Topology> topology = parseTopology(kTwoHosts, "t.json");
  ASSERT_TRUE(topology.ok()) << topology.error();
  EXPECT_EQ(topology->numRanks(), 8);
  EXPECT_EQ(topology->find("a", "a")->gbPerS, 200);
  EXPECT_EQ(topology->find("b", "a")->latencyUs, 10);
  const Result<Topology> again = parseTopology(toJson(*topology), "again.json");
  ASSERT_TRUE(again.ok()) << again.error();
  EXPECT_EQ(toJson(*again), toJson(*topology));
  const std::string withCalls =
      replaced(kTwoHosts, "\"latency_us\": 10", "\"latency_us\": 10, \"call_us\": 3");
  const Result<Topology> calls = parseTopology(withCalls, "t.json");
  ASSERT_TRUE(calls.ok()) << calls.error();
  EXPECT_EQ(calls->find("a", "b")->callUs, 3);
  EXPECT_EQ(calls->find("a", "a")->callUs, 0);
  EXPECT_EQ(toJson(*parseTopology(toJson(*calls), "again.json")), toJson(*calls));
}

TEST(TopologyTest, FaultsAreNamedWithTheirPlace) {
  EXPECT_EQ(errorOf("{\n\"version\": 1,\n]"), "t.json:3: is not JSON");
  EXPECT_EQ(errorOf("[]"), "t.json: is array, needs an object");
  EXPECT_EQ(errorOf("{}"), "t.json: version: is missing");
  EXPECT_EQ(errorOf(R"({"version": 2})"), "t.json: version: is 2, this program reads 1");
  EXPECT_EQ(errorOf(R"({"version": 1, "hosts": []})"),
            "t.json: hosts: is empty, needs at least one host");
  EXPECT_EQ(errorOf(R"({"version": 1, "hosts": [{"name": "a", "ranks": 0}]})"),
            "t.json: hosts[0].ranks: is 0, needs a number of ranks from 1 to 16777216");
  EXPECT_EQ(errorOf(replaced(kTwoHosts, "\"name\": \"b\"", "\"name\": \"a\"")),
            "t.json: hosts[1].name: host \"a\" is there twice");
  EXPECT_EQ(errorOf(replaced(kTwoHosts, "\"b\", \"b\"", "\"b\", \"c\"")),
            "t.json: links[1].between: there is no host \"c\"");
  EXPECT_EQ(errorOf(replaced(kTwoHosts, "\"latency_us\": 10", "\"latency_us\": -1")),
            "t.json: links[2].latency_us: is -1, needs a number above 0");
  EXPECT_EQ(
      errorOf(replaced(kTwoHosts, "\"latency_us\": 10", "\"latency_us\": 10, \"call_us\": 0")),
      "t.json: links[2].call_us: is 0, needs a number above 0");
  EXPECT_EQ(errorOf(replaced(kTwoHosts, "\"ranks\": 4}", "\"ranks\": 4, \"row_us\": 0}")),
            "t.json: hosts[0].row_us: is 0, needs a number above 0");
  EXPECT_EQ(errorOf(replaced(kTwoHosts, "\"bandwidth_gb_per_s\": 25", "\"bandwidth\": 25")),
            "t.json: links[2].bandwidth: is not a field of a topology");
  EXPECT_EQ(errorOf(replaced(kTwoHosts, "\"b\", \"b\"", "\"a\", \"a\"")),
            "t.json: links[1].between: the link \"a\", \"a\" is there twice");
}

TEST(TopologyTest, MissingLinksAreNamedWithWhatToAdd) {
  EXPECT_EQ(errorOf(replaced(kTwoHosts, "\"*\", \"*\"", "\"a\", \"b\"")), "");
  EXPECT_EQ(errorOf(replaced(kTwoHosts, "\"b\", \"b\"", "\"a\", \"b\"")),
            "t.json: links: no link between the ranks of host \"b\"; add {\"between\": [\"b\", "
            "\"b\"], \"bandwidth_gb_per_s\": ..., \"latency_us\": ...}");
  EXPECT_EQ(errorOf(R"({"version": 1, "hosts": [{"name": "a", "ranks": 1},
                        {"name": "b", "ranks": 1}], "links": []})"),
            "t.json: links: no link between hosts \"a\", \"b\"; add {\"between\": [\"a\", \"b\"], "
            "\"bandwidth_gb_per_s\": ..., \"latency_us\": ...}");
  EXPECT_EQ(readTopology("/no/such/file.json").error(), "/no/such/file.json: cannot be read");
}

TEST(CostModelTest, SlowestSharedLinkDecides) {
  const Mesh mesh = meshOf({2, 4}); // axis a between hosts, b inside one
  const Result<CostModel> model =
      CostModel::overTopology(*parseTopology(kTwoHosts, "t.json"), mesh);
  ASSERT_TRUE(model.ok()) << model.error();
  // Inside a host: 1 MB at the 100 GB/s of host b. Between hosts: four ranks of each host share 25
  // GB/s.
  EXPECT_DOUBLE_EQ(model->cost({maskOf({1}), 0, 1000000, 3}), 3 * 2 + 10.0);
  EXPECT_DOUBLE_EQ(model->cost({maskOf({0}), 0, 1000000, 1}), 10 + 160.0);
  // One edge of a ring over all ranks leads from each host to the other.
  EXPECT_DOUBLE_EQ(model->cost({maskOf({0, 1}), 0, 1000000, 1}), 10 + 40.0);
  // A call over links between hosts takes its own time in addition to the links'.
  const Result<CostModel> withCalls =
      CostModel::overTopology(*parseTopology(replaced(kTwoHosts, "\"latency_us\": 10",
                                                      "\"latency_us\": 10, \"call_us\": 3"),
                                             "t.json"),
                              mesh);
  ASSERT_TRUE(withCalls.ok()) << withCalls.error();
  EXPECT_DOUBLE_EQ(withCalls->cost({maskOf({0}), 0, 1000000, 1}), 3 + 10 + 160.0);
  EXPECT_DOUBLE_EQ(withCalls->cost({maskOf({1}), 0, 1000000, 3}), 3 * 2 + 10.0);
  EXPECT_EQ(CostModel::overTopology(*parseTopology(kTwoHosts, "t.json"), meshOf({3, 4})).error(),
            "the mesh has 12 ranks, the topology 8");
}

TEST(CostModelTest, WorkTakesTheTimeOfItsSlowestPart) {
  const Result<Topology> topology = parseTopology(
      R"({"version": 1, "hosts": [{"name": "a", "ranks": 1, "gflop_per_s": 100,
          "memory_gb_per_s": 10, "cache_gb_per_s": 50, "kernel_us": 2, "matrix_us": 0.5,
          "row_us": 0.25}], "links": []})",
      "t.json");
  ASSERT_TRUE(topology.ok()) << topology.error();
  EXPECT_EQ(toJson(*parseTopology(toJson(*topology), "again.json")), toJson(*topology));
  const Result<CostModel> model = CostModel::overTopology(*topology, meshOf({1}));
  ASSERT_TRUE(model.ok()) << model.error();
  Work work;
  work.flops = 1e6; // 10 us
  EXPECT_DOUBLE_EQ(model->costOfWork(work), 10);
  work.matrices = 4; // 2 us
  EXPECT_DOUBLE_EQ(model->costOfWork(work), 12);
  work.bytes = 1e5;       // 10 us
  work.cachedBytes = 5e5; // 10 us
  EXPECT_DOUBLE_EQ(model->costOfWork(work), 20);
  work.rows = 100; // 25 us
  EXPECT_DOUBLE_EQ(model->costOfWork(work), 25);
  work.kernels = 3; // 6 us
  EXPECT_DOUBLE_EQ(model->costOfWork(work), 31);
  Work twice = work;
  twice.add(work, 1);
  EXPECT_DOUBLE_EQ(model->costOfWork(twice), 62);
}

// If links between hosts are slow, a sum over all ranks is scattered inside each host first.
TEST(CostModelTest, CallsOfARouteFollowEachOther) {
  const Mesh mesh{{{"x", 2}}};
  const Traffic traffic = {1, 3000, 6000, 4};
  EXPECT_DOUBLE_EQ(CostModel::byBytes(100).costOfPieces(traffic, 4), 3400);
  Topology topology;
  topology.hosts.push_back({"a", 2});
  topology.hosts[0].cacheGbPerS = 24;
  topology.links.push_back({"a", "a", 1, 5, 7});
  const Result<CostModel> model = CostModel::overTopology(topology, mesh);
  ASSERT_TRUE(model.ok()) << model.error();
  // 4 calls of 12 us, 6 us on the link, and each byte four times in memory: 1 us.
  EXPECT_DOUBLE_EQ(model->costOfPieces(traffic, 4), 48 + 6 + 1);
}

TEST(CostModelTest, SumsAreHierarchicalWhereLinksDiffer) {
  const Mesh mesh = meshOf({2, 4});
  const std::vector<int64_t> shape = {1 << 20};
  Layout partial = replicated(shape);
  partial.partial = {0, 1};
  Topology topology = *parseTopology(kTwoHosts, "t.json");
  topology.links[2].gbPerS = 1;
  ReshardPlanner planner(mesh, *CostModel::overTopology(topology, mesh));
  const Result<MovePlan> plan = planner.plan(shape, 4, partial, replicated(shape));
  ASSERT_TRUE(plan.ok()) << plan.error();
  ASSERT_EQ(plan->moves.size(), 3u);
  EXPECT_EQ(plan->moves[0].kind, MoveKind::ReduceScatter);
  EXPECT_EQ(plan->moves[0].axes, std::vector<int>{1});
  EXPECT_EQ(plan->moves[1].kind, MoveKind::AllReduce);
  EXPECT_EQ(plan->moves[1].axes, std::vector<int>{0});
  EXPECT_EQ(plan->moves[2].kind, MoveKind::AllGather);
  // If only bytes count, it is one collective.
  EXPECT_EQ(ReshardPlanner(mesh).plan(shape, 4, partial, replicated(shape))->moves.size(), 1u);
}

} // namespace
} // namespace coll::plan::test
