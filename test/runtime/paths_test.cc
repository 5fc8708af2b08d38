// Part "paths" of the table that COLL_ROUTES names, and what backend net makes of it.

#include "runtime/base/paths.h"

#include "runtime/backend/auto/routes.h"
#include "runtime/backend/net/gpu/transport.h"
#include "runtime/base/env.h"

#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace coll::rt {
namespace {

std::string table(const std::string &paths) {
  return R"({"format": "coll routes", "version": 1, "routes": [], "paths": [)" + paths + "]}";
}

// A table that COLL_ROUTES names.
class PathsTest : public testing::Test {
protected:
  ~PathsTest() override { unlink(file_.c_str()); }
  Paths write(const std::string &paths) {
    std::ofstream(file_) << table(paths);
    Result<Paths> read = Paths::fromEnv();
    EXPECT_TRUE(read.ok()) << read.status().toString();
    return read.ok() ? *read : Paths();
  }

  const std::string file_ = testing::TempDir() + "paths_" + std::to_string(getpid()) + ".json";
  const ScopedEnv env_{"COLL_ROUTES", file_.c_str()};
};

TEST_F(PathsTest, WhatIsWrongIsNamedWithItsEntry) {
  const std::pair<const char *, const char *> cases[] = {
      {"7", "paths[0]: a path has to be an object"},
      {"{}", "paths[0]: it names no kind of transport"},
      {R"({"kind": "tcp"})", "paths[0]: it names no path"},
      {R"({"kind": "tcp", "path": "host"}, {"kind": "mail"})",
       "paths[1].kind: unknown kind of transport \"mail\"; the kinds are tcp, verbs, loopback, "
       "each with \" scatter\" or not"},
      {R"({"kind": ""})", "paths[0].kind: unknown kind of transport \"\"; the kinds are tcp, "
                          "verbs, loopback, each with \" scatter\" or not"},
      {R"({"kind": "tcp", "path": "copy"})",
       "paths[0].path: unknown path \"copy\"; the paths are host, unpack, kernel, pack"},
      {R"({"kind": "tcp", "path": 1})", "paths[0].path: expected a text, not 1"},
      {R"({"max_bytes": "4K"})", "paths[0].max_bytes: expected a number, not \"4K\""},
      {R"({"kind": {"tcp": []}})", "paths[0].kind: expected a text, not a list or an object"},
      {R"({"max_bytes": -1})", "paths[0].max_bytes: expected a number, not -1"},
      {R"({"max_bytes": 1e3})", "paths[0].max_bytes: expected a number, not 1000.0"},
      {R"({"max_bytes": 18446744073709551615})",
       "paths[0].max_bytes: expected a number, not 18446744073709551615"},
      {R"({"bytes": 1})",
       "paths[0].bytes: unknown field; the fields are kind, max_bytes, path, why"},
  };
  for (const auto &[paths, complaint] : cases) {
    EXPECT_EQ(Routes::parse(table(paths), "t.json").status().message(),
              std::string("t.json: ") + complaint);
    std::ofstream(file_) << table(paths);
    EXPECT_EQ(Paths::fromEnv().status().message(), "COLL_ROUTES: " + file_ + ": " + complaint);
  }
  EXPECT_EQ(Routes::parse(R"({"format": "coll routes", "version": 1, "routes": [], "paths": 7})",
                          "t.json")
                .status()
                .message(),
            "t.json: \"paths\" is not a list");
  std::ofstream(file_) << R"({"format": "coll routes", "version": 2})";
  EXPECT_NE(Paths::fromEnv().status().message().find("\"version\" has to be 1"), std::string::npos);
  unlink(file_.c_str());
  EXPECT_EQ(Paths::fromEnv().status().message(),
            "COLL_ROUTES: " + file_ + ": cannot be read: No such file or directory");
}

TEST_F(PathsTest, TheFirstThatIsLargeEnoughServes) {
  const Paths paths = write(R"({"kind": "tcp", "max_bytes": 100, "path": "host"},
                               {"kind": "tcp", "max_bytes": 50, "path": "kernel"},
                               {"kind": "tcp", "max_bytes": 200, "path": "host"},
                               {"kind": "tcp", "path": "unpack", "why": "measured"},
                               {"kind": "verbs", "max_bytes": 9223372036854775807, "path": "host"})");
  auto pathOf = [&](const char *kind, int64_t bytes) {
    const PathRule *rule = paths.pathFor(kind, bytes);
    return rule ? pathName(rule->path) : std::string("none");
  };
  EXPECT_EQ(pathOf("tcp", 0), "host");
  EXPECT_EQ(pathOf("tcp", 200), "host");
  EXPECT_EQ(pathOf("tcp", 201), "unpack");
  EXPECT_EQ(pathOf("tcp scatter", 0), "none");
  EXPECT_EQ(paths.endOf("tcp", DataPath::Host), 201);
  EXPECT_EQ(paths.endOf("tcp", DataPath::Kernel), 0);
  EXPECT_EQ(paths.endOf("verbs", DataPath::Host), INT64_MAX);
  EXPECT_EQ(paths.endOf("loopback", DataPath::Host), 0);
  EXPECT_EQ(paths.all()[3].describe(), "tcp -> unpack (measured)");
  EXPECT_EQ(paths.all()[0].describe(), "tcp, up to 100 bytes -> host");
}

TEST(PathsWithoutTable, AreNone) {
  EXPECT_TRUE(Paths::fromEnv()->all().empty());
  Result<Routes> old =
      Routes::parse(R"({"format": "coll routes", "version": 1, "routes": []})", "t.json");
  EXPECT_TRUE(old.ok());
  EXPECT_EQ(network::gpuOptionsFromEnv("tcp", 1)->chosenBy, "the default");
}

TEST_F(PathsTest, BackendNetTakesTheEnvironmentThenTheTableThenTheDefault) {
  using network::GpuPath;
  write(R"({"kind": "tcp", "max_bytes": 65536, "path": "kernel"},
           {"kind": "tcp", "path": "unpack", "why": "measured"},
           {"kind": "tcp scatter", "path": "host"},
           {"kind": "loopback", "max_bytes": 65536, "path": "unpack"},
           {"kind": "loopback", "path": "kernel"},
           {"kind": "loopback scatter", "max_bytes": 100, "path": "kernel"},
           {"kind": "loopback scatter", "path": "pack"})");
  const auto chosen = [](const char *transport) {
    return *network::gpuOptionsFromEnv(transport, 1);
  };
  EXPECT_EQ(chosen("tcp").path, GpuPath::Unpack);
  EXPECT_EQ(chosen("tcp").kernelEnd, 65537);
  EXPECT_EQ(chosen("tcp").chosenBy, "the table of COLL_ROUTES: measured");
  EXPECT_EQ(chosen("loopback").path, GpuPath::Kernel) << "which needs no bounce pool";
  EXPECT_EQ(chosen("loopback").kernelEnd, 0);
  EXPECT_EQ(chosen("verbs").path, GpuPath::Kernel);
  EXPECT_EQ(chosen("verbs").chosenBy, "the default");
  {
    ScopedEnv scatter("COLL_NET_SCATTER", "1");
    EXPECT_EQ(chosen("tcp").path, GpuPath::Copy);
    EXPECT_EQ(chosen("tcp").kernelEnd, 0);
    EXPECT_EQ(chosen("loopback").path, GpuPath::Pack);
    EXPECT_EQ(chosen("loopback").kernelEnd, 101);
  }
  {
    ScopedEnv compress("COLL_NET_GPU_COMPRESS", "1");
    EXPECT_EQ(chosen("tcp").path, GpuPath::Kernel);
  }
  {
    ScopedEnv pack("COLL_NET_GPU_PATH", "pack");
    EXPECT_EQ(chosen("tcp").path, GpuPath::Pack);
  }
  ScopedEnv own("COLL_NET_GPU_PATH", "copy");
  EXPECT_EQ(chosen("tcp").path, GpuPath::Copy);
  EXPECT_EQ(chosen("tcp").kernelEnd, 0);
  EXPECT_EQ(chosen("tcp").chosenBy, "the environment");
}

TEST_F(PathsTest, ABrokenTableStopsBackendNetAsItStopsAuto) {
  BackendOptions options;
  options.numRanks = 2;
  options.transport = "loopback";
  const auto whyNot = [&](const char *backend) {
    return createBackend(backend, options).status().message();
  };
  EXPECT_EQ(whyNot("net"), "COLL_ROUTES: " + file_ + ": cannot be read: No such file or directory");
  EXPECT_EQ(whyNot("auto"), whyNot("net"));
  std::ofstream(file_) << table(R"({"kind": "tcp", "path": "copy"})");
  EXPECT_EQ(whyNot("net"), "COLL_ROUTES: " + file_ +
                               ": paths[0].path: unknown path \"copy\"; the paths are host, "
                               "unpack, kernel, pack");
  EXPECT_EQ(whyNot("auto"), whyNot("net"));
  ScopedEnv own("COLL_NET_GPU_PATH", "kernel");
  EXPECT_TRUE(createBackend("net", options).ok()) << "who names the path needs no table";
}

} // namespace
} // namespace coll::rt
