// The host reports to plugins of every version what a program on several ranks does.

#include "runtime/base/env.h"
#include "runtime/profiler/host/host.h"
#include "runtime/profiler/host/translate.h"
#include "runtime/step/executor.h"
#include "test/profiler/host/check_records.h"
#include "test/profiler/host/plugins.h"
#include "test/runtime/fixtures.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

namespace coll::profiler::test {
namespace {

using namespace abi;
using rt::Executor;
using rt::ExecutorOptions;
using rt::HostTensor;

constexpr int kRanks = 4;
constexpr int64_t kLarge = 64 << 10; // elements: backend net moves them by a schedule

// Blocking and started collectives, on all ranks and on pairs of them, and a ring of sends; twice
// per step.
int32_t profiledStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                     void *) {
  thread_local std::vector<float> from(kLarge, 1), to(kLarge), pair(8);
  int64_t rank = 0;
  int32_t code = abi->rank(ctx, &rank);
  auto allReduce = [&](const void *src, void *dst, int64_t count, CollRequest **request) {
    return abi->all_reduce(ctx, 0, src, dst, count, kCollF32, kCollSum, kCollAccumulateAny,
                           kCollOrderAny, 0, request);
  };
  for (int i = 0; i < 2 && code == kCollOk; ++i) {
    CollRequest *first = nullptr, *second = nullptr;
    code = allReduce(args[0], results[0], 4, nullptr);
    code = code ? code : allReduce(from.data(), to.data(), kLarge, &first);
    code =
        code ? code : abi->all_gather(ctx, 1, from.data(), pair.data(), 1, 4, kCollF32, 1, nullptr);
    code = code ? code : abi->wait(ctx, 0, first);
    const int64_t next = (rank + 1) % kRanks, last = (rank + kRanks - 1) % kRanks;
    code = code ? code : abi->recv(ctx, 1, to.data(), 100, kCollF32, last, 7, 0, &first);
    code = code ? code : abi->send(ctx, 1, from.data(), 100, kCollF32, next, 7, 0, &second);
    code = code ? code : abi->wait(ctx, 1, second);
    code = code ? code : abi->wait(ctx, 1, first);
  }
  static_cast<float *>(results[1])[0] = to[0];
  return code;
}
// The numbers of calls of one rank in a step.
constexpr int kCollectives = 6, kTransfers = 4;

std::unique_ptr<Executor> executorOn(const std::string &backend, CollEntry step = profiledStep) {
  std::string text = rt::test::descriptorText(kRanks);
  const std::string groups = R"("groups":[[[0,1,2,3]]])";
  text.replace(text.find(groups), groups.size(), R"("groups":[[[0,1,2,3]],[[0,1],[2,3]]])");
  rt::Result<rt::Program> program = rt::Program::create(text, step, nullptr);
  EXPECT_TRUE(program.ok()) << program.status().toString();
  ExecutorOptions options;
  options.backend = backend;
  rt::Result<std::unique_ptr<Executor>> executor = Executor::create({*program}, options);
  EXPECT_TRUE(executor.ok()) << executor.status().toString();
  return executor ? executor.take() : nullptr;
}

const HostTensor kState = rt::test::floats({4}, {1, 2, 3, 4});
const HostTensor kBatch = rt::test::floats({8}, {0, 1, 2, 3, 4, 5, 6, 7});

// Returns the state and the loss after two steps; empty if a step failed.
std::vector<float> train(Executor &executor) {
  std::vector<float> numbers;
  EXPECT_TRUE(executor.initialize({kState}).ok());
  for (int i = 0; i < 2; ++i) {
    rt::Result<std::vector<HostTensor>> results = executor.step({kBatch});
    EXPECT_TRUE(results.ok()) << results.status().toString();
    if (!results)
      return {};
    numbers.push_back(rt::test::values((*results)[0])[0]);
  }
  for (float value : rt::test::values((*executor.state())[0]))
    numbers.push_back(value);
  return numbers;
}

void expectNoProblems(const std::vector<Record> &records, const Rules &rules) {
  for (const std::string &problem : problemsOf(records, rules))
    ADD_FAILURE() << "v" << rules.version << ", " << problem;
}

// Runs two steps with these plugins, whose masks are those of their recordings.
std::vector<float> profile(const std::string &backend, const std::vector<int> &versions) {
  std::vector<std::shared_ptr<Plugin>> plugins;
  for (int version : versions)
    plugins.push_back(recordingPlugin(version));
  Host host(plugins);
  std::unique_ptr<Executor> executor = executorOn(backend);
  return executor ? train(*executor) : std::vector<float>();
}

class ProfilerHost : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    for (int version = kOldestVersion; version <= kNewestVersion; ++version)
      recordingOf(version).reset();
  }
  bool isNet() const { return GetParam() == "net"; }
  // Only tcp divides messages into parts. In the virtual machine the transport is verbs.
  bool isTcp() const { return isNet() && rt::envString(rt::EnvVar::NetTransport) != "verbs"; }
};

TEST_P(ProfilerHost, TellsEveryVersionOfEveryCall) {
  for (int version = kOldestVersion; version <= kNewestVersion; ++version) {
    SCOPED_TRACE("v" + std::to_string(version));
    ASSERT_FALSE(profile(GetParam(), {version}).empty());
    const std::vector<Record> records = recordingOf(version).take();
    expectNoProblems(records, {version, closedUpwards(version, 0xffff)});
    const int steps = 2;
    EXPECT_EQ(countStarts(records, kColl), kRanks * steps * kCollectives);
    EXPECT_EQ(countStarts(records, kP2p), kRanks * steps * kTransfers);
    EXPECT_EQ(countStarts(records, kGroup), kRanks * steps * (kCollectives + kTransfers));
    EXPECT_EQ(countStarts(records, kCollApi), version < 5 ? 0 : kRanks * steps * kCollectives);
    // A level that a backend does not report must be absent.
    EXPECT_EQ(countStarts(records, kProxyOp) > 0, isNet());
    EXPECT_EQ(countStarts(records, kProxyStep) > 0, isNet());
    EXPECT_EQ(countStarts(records, kNetPlugin) > 0, isTcp() && version >= 3);
    EXPECT_EQ(countStarts(records, kKernelCh), 0);
  }
}

// The parts of a message must have the same direction as its lane.
TEST_P(ProfilerHost, PartsOfMessagesHaveTheirDirection) {
  if (!isTcp())
    GTEST_SKIP() << "the messages have no parts";
  ASSERT_FALSE(profile(GetParam(), {7}).empty());
  const std::vector<Record> records = recordingOf(7).take();
  std::map<uint64_t, Record> started;
  for (const Record &record : records)
    if (record.kind == Record::Kind::Start)
      started[record.handle] = record;
  int parts[2] = {};
  for (const auto &[handle, record] : started)
    if (record.type == kNetPlugin) {
      const Record &lane = started[started[record.parent].parent];
      ASSERT_EQ(lane.type, uint64_t(kProxyOp));
      EXPECT_EQ(record.isSend, lane.isSend);
      ++parts[record.isSend];
    }
  EXPECT_GT(parts[0], 0);
  EXPECT_GT(parts[1], 0);
}

TEST_P(ProfilerHost, DescribesCalls) {
  ASSERT_FALSE(profile(GetParam(), {7}).empty());
  const std::vector<Record> records = recordingOf(7).take();
  int contexts = 0, large = 0, gathers = 0, sends = 0;
  for (const Record &record : records) {
    contexts += record.kind == Record::Kind::Init;
    if (record.kind != Record::Kind::Start)
      continue;
    if (record.type == kColl && record.count == kLarge) {
      ++large;
      EXPECT_EQ(record.function, "AllReduce");
      EXPECT_EQ(record.datatype, "ncclFloat32");
      EXPECT_EQ(record.userTag, 1u); // op 0
    }
    gathers += record.type == kColl && record.function == "AllGather" && record.userTag == 2;
    if (record.type == kP2p && record.function == "Send") {
      ++sends;
      EXPECT_EQ(record.number, (record.rank + 1) % kRanks);
      EXPECT_EQ(record.count, 100u);
    }
  }
  EXPECT_EQ(contexts, 2 * kRanks); // two communicators of each rank
  EXPECT_EQ(large, 4 * kRanks);
  EXPECT_EQ(gathers, 4 * kRanks);
  EXPECT_EQ(sends, 4 * kRanks);
}

TEST_P(ProfilerHost, MasksAreThePluginsOwn) {
  const std::vector<int> versions = {7, 2, 4, 5, 6};
  const std::vector<int> masks = {kProxyStep, 0, kColl, kP2pApi, 0xffff};
  for (size_t i = 0; i < versions.size(); ++i)
    recordingOf(versions[i]).mask = masks[i];
  ASSERT_FALSE(profile(GetParam(), versions).empty());
  for (size_t i = 0; i < versions.size(); ++i) {
    const std::vector<Record> records = recordingOf(versions[i]).take();
    expectNoProblems(records, {versions[i], closedUpwards(versions[i], uint64_t(masks[i]))});
  }
  EXPECT_EQ(countStarts(recordingOf(7).take(), kProxyStep) > 0, isNet());
  EXPECT_EQ(countStarts(recordingOf(7).take(), kNetPlugin), 0);
  EXPECT_GT(countStarts(recordingOf(7).take(), kColl), 0); // a parent
  EXPECT_EQ(recordingOf(2).take().size(), 4u * kRanks);    // contexts only
  EXPECT_EQ(countStarts(recordingOf(4).take(), kP2p), 0);
  EXPECT_GT(countStarts(recordingOf(5).take(), kP2pApi), 0);
  EXPECT_EQ(countStarts(recordingOf(5).take(), kColl), 0);
}

TEST_P(ProfilerHost, PluginsDoNotChangeResults) {
  std::unique_ptr<Executor> executor = executorOn(GetParam());
  const std::vector<float> expected = train(*executor);
  executor.reset();
  EXPECT_EQ(profile(GetParam(), {2, 3, 4, 5, 6}), expected);
  for (bool Recording::*fault :
       {&Recording::failsInit, &Recording::failsStart, &Recording::givesNull, &Recording::throws}) {
    Recording &bad = recordingOf(7), &good = recordingOf(5);
    bad.reset();
    good.reset();
    bad.*fault = true;
    EXPECT_EQ(profile(GetParam(), {7, 5}), expected);
    expectNoProblems(good.take(), {5, closedUpwards(5, 0xffff)});
    EXPECT_EQ(countStarts(good.take(), kColl), 2 * kRanks * kCollectives);
    for (const Record &record : bad.take())
      EXPECT_NE(record.kind, Record::Kind::Stop) << "of an event that it did not take";
  }
}

TEST_P(ProfilerHost, ASlowPluginHearsEverythingAndChangesNothing) {
  std::unique_ptr<Executor> executor = executorOn(GetParam());
  const std::vector<float> expected = train(*executor);
  executor.reset();
  recordingOf(7).isSlow = true;
  recordingOf(7).mask = kColl | kP2p;
  EXPECT_EQ(profile(GetParam(), {7}), expected);
  const std::vector<Record> records = recordingOf(7).take();
  expectNoProblems(records, {7, closedUpwards(7, kColl | kP2p)});
  EXPECT_EQ(countStarts(records, kColl), 2 * kRanks * kCollectives);
}

// A rank gives up while its peers wait and requests are in flight.
int32_t failingStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                    void *) {
  int64_t rank = 0;
  if (int32_t code = abi->rank(ctx, &rank))
    return code;
  CollRequest *request = nullptr;
  if (int32_t code = abi->all_reduce(ctx, 0, args[0], results[0], 4, kCollF32, kCollSum,
                                     kCollAccumulateAny, kCollOrderAny, 0, &request))
    return code;
  if (rank == 2)
    return kCollInternal;
  CollRequest *never = nullptr;
  if (int32_t code = abi->recv(ctx, 1, args[0], 4, kCollF32, 2, 9, 0, &never))
    return code;
  return abi->wait(ctx, 1, never);
}

TEST_P(ProfilerHost, EventsOfAFailedStepStop) {
  {
    Host host({recordingPlugin(7)});
    std::unique_ptr<Executor> executor = executorOn(GetParam(), failingStep);
    ASSERT_TRUE(executor && executor->initialize({kState}).ok());
    EXPECT_FALSE(executor->step({kBatch}).ok());
  }
  const std::vector<Record> records = recordingOf(7).take();
  expectNoProblems(records, {7, closedUpwards(7, 0xffff)});
  EXPECT_GT(countStarts(records, kColl), 0);
}

// Each rank sends one token to each expert; every rank has one expert.
int32_t dispatchStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                     void *) {
  const int32_t experts[kRanks] = {0, 1, 2, 3};
  const float weights[kRanks] = {1, 1, 1, 1};
  float rows[kRanks * 4], rowWeights[kRanks];
  int32_t rowExperts[kRanks], counts[1], route[256];
  float tokens[kRanks * 4] = {};
  static_cast<float *>(results[1])[0] = static_cast<float *>(args[0])[0];
  return abi->dispatch(ctx, 0, tokens, experts, weights, nullptr, kRanks, 4, 1, 0, kCollF32,
                       kCollI32, 1, kRanks, rows, rowExperts, rowWeights, nullptr, counts, route,
                       0);
}

TEST_P(ProfilerHost, AnExchangeIsOneGroup) {
  {
    Host host({recordingPlugin(7)});
    std::unique_ptr<Executor> executor = executorOn(GetParam(), dispatchStep);
    ASSERT_TRUE(executor && executor->initialize({kState}).ok());
    rt::Result<std::vector<HostTensor>> results = executor->step({kBatch});
    ASSERT_TRUE(results.ok()) << results.status().toString();
  }
  const std::vector<Record> records = recordingOf(7).take();
  expectNoProblems(records, {7, closedUpwards(7, 0xffff)});
  EXPECT_EQ(countStarts(records, kGroupApi), kRanks);
  EXPECT_EQ(countStarts(records, kGroup), kRanks);
  EXPECT_EQ(countStarts(records, kColl), kRanks); // all_gather of how much goes where
  EXPECT_GE(countStarts(records, kP2p), kRanks * (kRanks - 1) * 2);
}

std::vector<std::string> backends() {
  std::vector<std::string> names = {"threads"};
  for (const std::string &name : rt::backendNames())
    if (name == "net")
      names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Backends, ProfilerHost, testing::ValuesIn(backends()),
                         [](const auto &info) { return info.param; });

//===-- who is loaded -----------------------------------------------------------===//

class ProfilerPlugins : public testing::Test {
protected:
  ~ProfilerPlugins() override {
    unsetenv("COLL_PROFILER_PLUGINS");
    unsetenv("NCCL_PROFILER_PLUGIN");
  }
};

TEST_F(ProfilerPlugins, AreFoundAsTheEnvironmentSays) {
  setenv("NCCL_PROFILER_PLUGIN", pluginPath(3).c_str(), 1);
  EXPECT_TRUE(Host::ofEnvironment(/*ncclIsInUse=*/false));
  EXPECT_FALSE(Host::ofEnvironment(/*ncclIsInUse=*/true)); // NCCL looks for it
  setenv("COLL_PROFILER_PLUGINS", (pluginPath(3) + ",," + pluginPath(7)).c_str(), 1);
  std::shared_ptr<Host> host = Host::ofEnvironment(/*ncclIsInUse=*/true);
  EXPECT_TRUE(host);
  EXPECT_EQ(Host::ofEnvironment(/*ncclIsInUse=*/true), host); // one for the process
  host.reset();
  setenv("COLL_PROFILER_PLUGINS", "none", 1);
  EXPECT_FALSE(Host::ofEnvironment(/*ncclIsInUse=*/false));
  EXPECT_FALSE(rt::tracing());
}

TEST_F(ProfilerPlugins, ThatAreMissingDoNotStopARun) {
  setenv("COLL_PROFILER_PLUGINS", "no-such-plugin", 1);
  std::unique_ptr<Executor> executor = executorOn("threads");
  ASSERT_TRUE(executor);
  EXPECT_FALSE(train(*executor).empty());
}

TEST(ProfilerPlugin, IsRefusedWithTheReason) {
  rt::Status missing = loadPlugin("no-such-plugin").status();
  EXPECT_EQ(missing.code(), kCollUnsupported);
  EXPECT_TRUE(rt::test::contains(missing, "libnccl-profiler-no-such-plugin.so"))
      << missing.toString();
  rt::Status foreign = loadPlugin("libm.so.6").status();
  EXPECT_TRUE(rt::test::contains(foreign, "exports no ncclProfiler_v2 to ncclProfiler_v7"))
      << foreign.toString();
  EXPECT_EQ(loadPlugin("STATIC_PLUGIN").status().code(), kCollUnsupported); // this program has none
}

} // namespace
} // namespace coll::profiler::test
