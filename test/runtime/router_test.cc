// The table of routes, and backend auto, which goes by it.

#include "runtime/backend/auto/router.h"
#include "runtime/backend/nccl/platform.h"
#include "runtime/base/env.h"
#include "test/support/fakes/nccl.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace coll::rt {
namespace {

std::string table(const std::string &routes) {
  return R"({"format": "coll routes", "version": 1, "routes": [)" + routes + "]}";
}

std::string complaint(const std::string &text) {
  return Routes::parse(text, "t.json").status().message();
}

TEST(RoutesTest, WhatIsWrongIsNamedWithItsPlace) {
  EXPECT_EQ(complaint("{\"format\":\n  \"coll routes\",,"), "t.json:2:17: not JSON");
  EXPECT_EQ(complaint(""), "t.json:1:1: not JSON");
  EXPECT_EQ(complaint("{\"version\": 1e400}"), "t.json: a number is too large");
  EXPECT_EQ(complaint("[]"), "t.json: not a table of routes: \"format\" is not \"coll routes\"");
  EXPECT_EQ(complaint(R"({"format": "coll routes", "version": 2, "routes": []})"),
            "t.json: \"version\" has to be 1; write the table again with coll-perf tune");
  EXPECT_EQ(complaint(R"({"format": "coll routes", "version": 1})"),
            "t.json: \"routes\" is not a list");
  EXPECT_EQ(complaint(table("7")), "t.json: routes[0]: a route has to be an object");
  EXPECT_EQ(complaint(table("{}")), "t.json: routes[0]: it names no backend");
  EXPECT_EQ(complaint(table(R"({"backend": "net"}, {"backend": "mail"})")),
            "t.json: routes[1].backend: no backend is called \"mail\"");
  EXPECT_EQ(complaint(table(R"({"backend": "net", "op": "all_sum"})")),
            "t.json: routes[0].op: there is no operation \"all_sum\"");
  EXPECT_EQ(complaint(table(R"({"backend": "net", "max_bytes": "4K"})")),
            "t.json: routes[0].max_bytes: expected a number, not \"4K\"");
  EXPECT_EQ(complaint(table(R"({"backend": "net", "ranks": -4})")),
            "t.json: routes[0].ranks: expected a number, not -4");
  for (const char *color : {"\"red\"", "7"})
    EXPECT_NE(complaint(table(R"({"backend": "net", "color": )" + std::string(color) + "}"))
                  .find(".color: unknown field; the fields are op,"),
              std::string::npos);
  EXPECT_EQ(complaint(table(R"({"backend": "net", "max_ranks": 0})")),
            "t.json: routes[0].max_ranks: expected a number, not 0");
  EXPECT_EQ(complaint(table(R"({"backend": "net", "group": "some"})")),
            "t.json: routes[0].group: there is no group \"some\"");
  EXPECT_EQ(complaint(table(R"({"backend": "net", "captured": "no"})")),
            "t.json: routes[0].captured: expected true or false, not \"no\"");
  constexpr size_t kDeep = 200'000;
  EXPECT_EQ(
      complaint(table(R"({"op": )" + std::string(kDeep, '[') + std::string(kDeep, ']') + "}")),
      "t.json: routes[0].op: expected a text, not a list or an object");
  EXPECT_EQ(complaint(table(R"({"max_bytes": ")" + std::string(kDeep, 'x') + "\"}")),
            "t.json: routes[0].max_bytes: expected a number, not a long text");
  EXPECT_EQ(Routes::load("/nowhere/routes.json").status().message(),
            "/nowhere/routes.json: cannot be read: No such file or directory");
}

TEST(RoutesTest, TheFirstThatFitsAndIsThereServes) {
  Result<Routes> routes = Routes::parse(
      table(R"({"op": "all_reduce", "memory": "gpu", "max_bytes": 1024, "backend": "net"},
               {"op": "all_reduce", "dtype": "bf16", "ranks": 4, "backend": "threads"})"),
      "t.json");
  ASSERT_TRUE(routes.ok()) << routes.status().toString();
  const std::vector<std::string> names = {"nccl", "net"};
  auto chosen = [&](OpKind kind, int64_t bytes, bool isGpu, auto takes) {
    Chosen found = chooseRoute(*routes, names, {kind, kCollBf16, bytes, 4, isGpu}, takes);
    return found.route ? names[found.path] : std::string();
  };
  auto all = [](size_t) { return true; };
  EXPECT_EQ(chosen(OpKind::AllReduce, 1024, true, all), "net");
  EXPECT_EQ(chosen(OpKind::AllReduce, 1025, true, all), "nccl"); // threads is not there
  EXPECT_EQ(chosen(OpKind::Broadcast, 8, true, all), "nccl");
  EXPECT_EQ(chosen(OpKind::Broadcast, 8, true, [](size_t i) { return i == 1; }), "net");
  EXPECT_EQ(chosen(OpKind::Broadcast, 8, false, all), "net");
  EXPECT_EQ(chosen(OpKind::Broadcast, 8, false, [](size_t) { return false; }), "");
  EXPECT_EQ(routes->all().front().describe(), "all_reduce, gpu memory, up to 1024 bytes -> net");
}

TEST(RoutesTest, GroupsAndGraphsMayBeAskedFor) {
  Result<Routes> routes = Routes::parse(
      table(R"({"max_ranks": 4, "group": "all", "captured": false, "backend": "direct"})"),
      "t.json");
  ASSERT_TRUE(routes.ok()) << routes.status().toString();
  const Route &route = routes->all().front();
  EXPECT_EQ(route.describe(),
            "every operation, up to 4 ranks, the group of all, not in graphs -> direct");
  RouteQuery query;
  query.ranks = 4;
  query.isWorld = true;
  EXPECT_TRUE(route.fits(query));
  query.isCaptured = true;
  EXPECT_FALSE(route.fits(query));
  query.isCaptured = query.isWorld = false;
  EXPECT_FALSE(route.fits(query));
  query.isWorld = true;
  query.ranks = 5;
  EXPECT_FALSE(route.fits(query));
}

TEST(RoutesTest, ATableAsksForDirectOrLeavesItToTheDefaults) {
  auto demand = [](const std::string &routes) {
    return Routes::parse(table(routes), "t.json").take().demandFor("direct");
  };
  EXPECT_EQ(Routes::defaults().demandFor("direct"), Demand::ByDefault);
  EXPECT_EQ(demand(R"({"op": "reduce", "memory": "gpu", "backend": "nccl"})"), Demand::ByDefault);
  EXPECT_EQ(demand(R"({"memory": "host", "backend": "net"})"), Demand::ByDefault);
  EXPECT_EQ(demand(R"({"memory": "gpu", "backend": "nccl"})"), Demand::None);
  EXPECT_EQ(demand(R"({"backend": "nccl"}, {"op": "reduce", "backend": "direct"})"),
            Demand::ByTable);
}

TEST(RoutesTest, BytesAreWhatAMemberGives) {
  Call call;
  call.kind = OpKind::ReduceScatter;
  call.outer = 2;
  call.count = 3;
  EXPECT_EQ(queryOf(call, 4, false).bytes, 2 * 3 * 4 * 4);
  call.kind = OpKind::AllGather;
  EXPECT_EQ(queryOf(call, 4, false).bytes, 2 * 3 * 4);
}

//===-- backend auto ------------------------------------------------------------===//

struct File {
  explicit File(const std::string &text)
      : path(testing::TempDir() + "coll_routes_" + std::to_string(getpid()) + ".json") {
    std::ofstream(path) << text;
  }
  ~File() { unlink(path.c_str()); }
  std::string path;
};

Call sum(float *data) {
  Call call;
  call.kind = OpKind::AllReduce;
  call.count = 1;
  call.src = call.dst = data;
  return call;
}

TEST(RouterTest, ABrokenTableStopsTheStart) {
  File file("{");
  ScopedEnv routes("COLL_ROUTES", file.path.c_str());
  BackendOptions options;
  Status status = createBackend("auto", options).status();
  EXPECT_EQ(status.code(), kCollInvalidCall);
  EXPECT_EQ(status.message(), "COLL_ROUTES: " + file.path + ":1:2: not JSON");
}

TEST(RouterTest, GpuAndHostMemoryGoTheirWays) {
  dl::FakeCuda cuda(3);
  dl::FakeNccl nccl;
  nccl::ScopedPlatform platform({&cuda.table(), &nccl.table()});
  BackendOptions options;
  options.numRanks = 3;
  Result<std::unique_ptr<Backend>> backend = createBackend("auto", options);
  ASSERT_TRUE(backend.ok()) << backend.status().toString();
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (int rank = 0; rank < 3; ++rank) {
    endpoints.push_back((*backend)->endpoint(rank).take());
    endpoints.back()->enter();
  }
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      Endpoint &endpoint = *endpoints[static_cast<size_t>(rank)];
      std::unique_ptr<Communicator> group = endpoint.communicator({0, 1, 2}).take();
      auto *gpu = static_cast<float *>(cuda.allocate(4, rank));
      float host = 1;
      *gpu = 2;
      // Both are under way, and waited for in different orders.
      Result<Request *> first = group->start(sum(gpu)), second = group->start(sum(&host));
      ASSERT_TRUE(first.ok() && second.ok());
      EXPECT_EQ(endpoint.inFlight(), 2);
      EXPECT_TRUE(endpoint.wait(rank == 1 ? *second : *first).ok());
      EXPECT_TRUE(endpoint.wait(rank == 1 ? *first : *second).ok());
      EXPECT_EQ(*gpu, 6);
      EXPECT_EQ(host, 3);
      // A call that NCCL does not support is not supported by any other backend here on GPU memory.
      Call ordered = sum(gpu);
      ordered.order = kCollOrderRank;
      EXPECT_EQ(group->run(ordered).code(), kCollUnsupported);
      ordered.src = ordered.dst = &host;
      EXPECT_TRUE(group->run(ordered).ok());
      EXPECT_EQ(endpoint.wait(nullptr).code(), kCollInvalidCall);
      endpoint.leave();
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(nccl.calls("allReduce"), 3);
}

} // namespace
} // namespace coll::rt
