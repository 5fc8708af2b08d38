// Loads libnccl-profiler-coll.so like NCCL: every version of the ABI, threads, and errors of NCCL,
// its forks and other processes. The plugin reads its settings once per process, so cases with
// special settings run as another process: this program with --play=NAME.

#include "runtime/base/env.h"
#include "runtime/dl/library.h"
#include "runtime/profiler/abi/net_events.h"
#include "test/profiler/player.h"
#include "test/profiler/slices.h"

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <sys/wait.h>
#include <thread>

namespace coll::profiler::test {
namespace {

using perfetto::Key;
using perfetto::Level;

rt::dl::Library &plugin() {
  static rt::dl::Library library = [] {
    rt::Result<rt::dl::Library> opened =
        rt::dl::Library::open(rt::foreignEnv("COLL_TEST_PLUGIN").value_or(COLL_TEST_PLUGIN));
    if (!opened.ok()) {
      std::fprintf(stderr, "%s\n", opened.status().message().c_str());
      std::exit(1);
    }
    return opened.take();
  }();
  return library;
}

template <int version>
typename Abi<version>::Table *table() {
  return plugin().symbol<typename Abi<version>::Table>(Abi<version>::kSymbol);
}

std::string folder() {
  static std::string path = [] {
    char pattern[] = "/tmp/coll-profiler-XXXXXX";
    return std::string(mkdtemp(pattern));
  }();
  return path;
}

std::string readText(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The outcome of this program's case `name`, run with additional environment variables: its exit
// code, or -signal.
struct Outcome {
  int code;
  std::string errors, trace;
};
Outcome play(const std::string &name, const std::vector<std::string> &environment = {}) {
  static int number = 0;
  Outcome run;
  run.trace = folder() + "/" + name + std::to_string(++number) + ".pftrace";
  const std::string errors = run.trace + ".err";
  const pid_t child = fork();
  if (child == 0) {
    setenv("COLL_PROFILER_FILE", run.trace.c_str(), 1);
    setenv("COLL_LOG", "warn", 1); // what the run says is looked at
    for (const std::string &one : environment)
      setenv(one.substr(0, one.find('=')).c_str(), one.substr(one.find('=') + 1).c_str(), 1);
    std::freopen(errors.c_str(), "w", stderr);
    execl("/proc/self/exe", "play", ("--play=" + name).c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  run.code = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
  run.errors = readText(errors);
  return run;
}

std::vector<Slice> ofLevel(const std::vector<Slice> &slices, Level level) {
  std::vector<Slice> result;
  for (const Slice &slice : slices)
    if (slice.level == level)
      result.push_back(slice);
  return result;
}

// ---- the cases that run as their own process ----

template <int version>
int playCalls() {
  Player<version> player(table<version>(), 0xabc);
  if (player.result != abi::kNcclSuccess || !player.mask)
    return 2;
  for (uint64_t seq = 0; seq < 5; ++seq)
    player.progress(player.enqueue(seq, 2, seq + 1), 2);
  return player.finalize();
}

int playUntilKilled() {
  Player<5> player(table<5>(), 0xabc);
  for (uint64_t seq = 0; seq < 100; ++seq)
    player.progress(player.enqueue(seq));
  sleep(1);
  raise(SIGKILL);
  return 0;
}

// The application ends without destroying its communicator.
int playWithoutEnd() {
  Player<5> player(table<5>(), 0xabc);
  player.progress(player.enqueue(0));
  player.enqueue(1);                                                 // nothing tells its end
  player.stop(player.start(nullptr, player.proxyOp(nullptr, true))); // of no communicator
  return 0;
}

int playManyEvents() {
  Player<5> player(table<5>(), 0xabc);
  for (uint64_t seq = 0; seq < 20000; ++seq)
    player.enqueue(seq);
  return player.finalize();
}

// The plugin returns success whatever happens to the trace.
int playWhateverHappens() {
  Player<5> player(table<5>(), 0xabc);
  if (player.result != abi::kNcclSuccess)
    return 2;
  for (uint64_t seq = 0; seq < 4000; ++seq)
    player.progress(player.enqueue(seq));
  return player.finalize();
}

int playV7WithVersion() {
  plugin().symbol<abi::SetNcclVersion>(abi::kSetNcclVersionSymbol)(23102);
  return playCalls<7>();
}

int playFork() {
  Player<5> player(table<5>(), 0xabc);
  player.progress(player.enqueue(0));
  const pid_t child = fork();
  if (child == 0) {
    void *handle = player.start(player.coll(nullptr, 1));
    Player<5> other(table<5>(), 0xdef);
    _exit(handle == nullptr && other.mask == 0 && other.result == abi::kNcclSuccess ? 0 : 3);
  }
  int status = 0;
  waitpid(child, &status, 0);
  player.finalize();
  return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}

const std::map<std::string, std::function<int()>> kCases = {
    {"v2", playCalls<2>},
    {"v3", playCalls<3>},
    {"v4", playCalls<4>},
    {"v5", playCalls<5>},
    {"v6", playCalls<6>},
    {"v7", playCalls<7>},
    {"v7version", playV7WithVersion},
    {"killed", playUntilKilled},
    {"unended", playWithoutEnd},
    {"many", playManyEvents},
    {"whatever", playWhateverHappens},
    {"fork", playFork},
};

// ---- tests ----

class EveryVersion : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(NcclProfiler, EveryVersion, testing::Values(2, 3, 4, 5, 6, 7));

TEST_P(EveryVersion, EveryEventIsPairedAndHasWhatItsVersionTells) {
  const int version = GetParam();
  Outcome run = play("v" + std::to_string(version));
  ASSERT_EQ(run.code, 0) << run.errors;
  EXPECT_EQ(run.errors, "");
  const std::vector<Slice> slices = readSlices(run.trace);
  expectNested(slices);
  for (const Slice &slice : slices) {
    EXPECT_TRUE(slice.isInstant || slice.endNs >= slice.startNs) << slice.name;
    EXPECT_EQ(slice.text(Key::Flag), "") << slice.name;
  }
  const std::vector<Slice> colls = ofLevel(slices, Level::Coll);
  ASSERT_EQ(colls.size(), 5u);
  for (size_t i = 0; i < colls.size(); ++i) {
    EXPECT_EQ(colls[i].name, "AllReduce");
    EXPECT_EQ(colls[i].number(Key::Seq), static_cast<int64_t>(i));
    EXPECT_EQ(colls[i].number(Key::Bytes), 4096);
    EXPECT_EQ(colls[i].text(Key::Algorithm), "RING");
    EXPECT_EQ(colls[i].text(Key::Completion), version >= 3 ? "kernel" : "proxy");
    EXPECT_GE(colls[i].endNs, static_cast<uint64_t>(colls[i].number(Key::EnqueuedNs)));
  }
  EXPECT_EQ(ofLevel(slices, Level::ProxyOp).size(), 20u);
  EXPECT_EQ(ofLevel(slices, Level::ProxyStep).size(), 40u);
  EXPECT_EQ(ofLevel(slices, Level::KernelCh).size(), version >= 3 ? 10u : 0u);
  EXPECT_EQ(ofLevel(slices, Level::CollApi).size(), version >= 5 ? 5u : 0u);
  EXPECT_EQ(ofLevel(slices, Level::KernelLaunch).size(), version >= 5 ? 5u : 0u);
  EXPECT_EQ(ofLevel(slices, Level::Group).size(), version >= 5 ? 0u : 5u);
}

TEST(NcclProfilerTest, KernelTimesAreBroughtToTheHostsClock) {
  Outcome run = play("v5");
  ASSERT_EQ(run.code, 0) << run.errors;
  const std::vector<Slice> slices = readSlices(run.trace);
  const Slice coll = ofLevel(slices, Level::Coll).at(0);
  for (const Slice &kernel : ofLevel(slices, Level::KernelCh)) {
    const int64_t distance = static_cast<int64_t>(kernel.startNs - coll.startNs);
    EXPECT_LT(std::abs(distance), 500'000'000) << "the stamps are a second behind";
    EXPECT_EQ(kernel.endNs - kernel.startNs,
              uint64_t(kernel.number(Key::GpuEndNs)) - uint64_t(kernel.number(Key::GpuStartNs)));
    EXPECT_GE(kernel.number(Key::ClockErrorNs), 0);
  }
}

TEST(NcclProfilerTest, FieldsOfV7AreReadOnlyOfNcclThatHasThem) {
  Outcome without = play("v7"), with = play("v7version");
  ASSERT_EQ(without.code, 0) << without.errors;
  ASSERT_EQ(with.code, 0) << with.errors;
  EXPECT_EQ(ofLevel(readSlices(without.trace), Level::Coll).at(2).number(Key::UserTag), -1);
  EXPECT_EQ(ofLevel(readSlices(without.trace), Level::Coll).at(2).text(Key::Variant), "");
  EXPECT_EQ(ofLevel(readSlices(with.trace), Level::Coll).at(2).number(Key::UserTag), 3);
  EXPECT_EQ(ofLevel(readSlices(with.trace), Level::Coll).at(2).text(Key::Variant), "ring_simple");
}

TEST(NcclProfilerTest, KilledRunLeavesAReadableFile) {
  Outcome run = play("killed");
  EXPECT_EQ(run.code, -SIGKILL);
  EXPECT_EQ(ofLevel(readSlices(run.trace), Level::Coll).size(), 100u);
}

TEST(NcclProfilerTest, RunThatDestroysNothingIsWrittenAtItsExit) {
  Outcome run = play("unended");
  ASSERT_EQ(run.code, 0) << run.errors;
  const std::vector<Slice> slices = readSlices(run.trace);
  ASSERT_EQ(ofLevel(slices, Level::Coll).size(), 2u);
  EXPECT_EQ(ofLevel(slices, Level::Coll)[1].text(Key::Completion), "enqueued");
  EXPECT_EQ(ofLevel(slices, Level::ProxyOp).size(), 3u);
}

TEST(NcclProfilerTest, FullRingDropsTheOldestAndTheTraceSaysHowMany) {
  Outcome run = play("many", {"COLL_PROFILER_RING=16"});
  ASSERT_EQ(run.code, 0) << run.errors;
  const std::vector<Slice> slices = readSlices(run.trace);
  int64_t dropped = 0;
  for (const Slice &slice : slices)
    dropped += std::max<int64_t>(0, slice.number(Key::Dropped));
  EXPECT_GT(dropped, 0);
  EXPECT_NE(run.errors.find("COLL_PROFILER_RING"), std::string::npos) << run.errors;
  const std::vector<Slice> colls = ofLevel(slices, Level::Coll);
  int64_t newest = -1;
  for (const Slice &coll : colls)
    newest = std::max(newest, coll.number(Key::Seq));
  EXPECT_EQ(newest, 19999) << "the newest are kept";
}

TEST(NcclProfilerTest, RunGoesOnWhereTheTraceCannotBeWritten) {
  for (const char *path : {"/dev/full", "/proc/none/trace", "/"}) {
    Outcome run =
        play("whatever", {std::string("COLL_PROFILER_FILE=") + path, "COLL_PROFILER_RING=1048576"});
    EXPECT_EQ(run.code, 0) << path;
    EXPECT_NE(run.errors.find(path), std::string::npos) << run.errors;
    EXPECT_EQ(std::count(run.errors.begin(), run.errors.end(), '\n'), 1) << run.errors;
  }
}

TEST(NcclProfilerTest, UnknownEventIsOneLineAndTurnsThePluginOff) {
  Outcome run = play("whatever", {"COLL_PROFILER_EVENTS=coll,cull"});
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.errors.find("\"cull\" is not an event"), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("proxy_op"), std::string::npos) << run.errors;
}

TEST(NcclProfilerTest, ChosenEventsAreTheMask) {
  Outcome run = play("v5", {"COLL_PROFILER_EVENTS=coll,kernel_ch"});
  EXPECT_EQ(run.code, 0) << run.errors;
  Outcome off = play("v5", {"COLL_PROFILER_EVENTS=none"});
  EXPECT_EQ(off.code, 2) << "the mask is 0";
}

TEST(NcclProfilerTest, ChildOfForkReportsNothing) {
  Outcome run = play("fork");
  EXPECT_EQ(run.code, 0) << run.errors;
  EXPECT_EQ(ofLevel(readSlices(run.trace), Level::Coll).size(), 1u);
}

TEST(NcclProfilerTest, SummaryAndPrometheusHaveEveryOperation) {
  const std::string summary = folder() + "/summary.txt", prometheus = folder() + "/nccl.prom";
  Outcome run = play("v5", {"COLL_PROFILER_SUMMARY=" + summary, "COLL_PROFILER_FILE=none",
                            "COLL_PROFILER_PROMETHEUS=" + prometheus});
  ASSERT_EQ(run.code, 0) << run.errors;
  const std::string text = readText(summary), figures = readText(prometheus);
  EXPECT_NE(text.find("AllReduce"), std::string::npos) << text;
  EXPECT_NE(text.find("0000000000000abc player, rank 0 of 2"), std::string::npos) << text;
  EXPECT_NE(text.find("events lost: 0"), std::string::npos) << text;
  EXPECT_NE(figures.find("coll_nccl_operation_seconds_count{communicator=\"0000000000000abc\",name="
                         "\"player\",rank=\"0\",operation=\"AllReduce\",bytes=\"4096\"} 5"),
            std::string::npos)
      << figures;
}

// Cases that share this process's plugin and its trace; each has its own communicator.
class NcclProfilerShared : public testing::Test {
protected:
  static std::string trace() { return folder() + "/shared.pftrace"; }
  static std::vector<Slice> slicesOf(uint64_t comm) {
    std::vector<Slice> result;
    for (const Slice &slice : readSlices(trace()))
      if (slice.number(Key::Comm) == static_cast<int64_t>(comm))
        result.push_back(slice);
    return result;
  }
};

TEST_F(NcclProfilerShared, StatesAndStopsAfterTheStopAreIgnored) {
  Player<5> player(table<5>(), 0x101);
  void *coll = player.enqueue(0);
  player.progress(coll);
  player.stop(coll);
  player.stop(coll);
  abi::StateArgsV5 args;
  args.kernelCh.pTimer = 1;
  player.record(coll, abi::kKernelChStop, &args);
  player.record(coll, abi::kProxyStepSendWait, nullptr);
  player.stop(nullptr);
  player.record(nullptr, abi::kKernelChStop, &args);
  player.finalize();
  player.stop(coll);
  EXPECT_EQ(player.start(player.coll(nullptr, 1)), nullptr) << "the communicator has ended";
  EXPECT_EQ(player.finalize(), abi::kNcclSuccess) << "twice";
  EXPECT_EQ(ofLevel(slicesOf(0x101), Level::Coll).size(), 1u);
}

TEST_F(NcclProfilerShared, NothingOfAnotherProcessIsDereferenced) {
  Player<5> player(table<5>(), 0x102);
  void *nowhere = reinterpret_cast<void *>(0x10),
       *kernelSpace = reinterpret_cast<void *>(~0ull << 40);
  void *op = player.start(player.proxyOp(nowhere, true, getpid() + 1));
  EXPECT_NE(op, nullptr);
  player.step(op, 0, {abi::kProxyStepSendWait});
  player.stop(op);
  // A step whose context belongs to another process: its parent shows the communicator.
  void *own = player.start(player.proxyOp(nullptr, false));
  auto step = player.describe(abi::kProxyStep, own);
  for (void *context : {nowhere, kernelSpace, static_cast<void *>(nullptr)}) {
    void *handle = player.start(context, step);
    EXPECT_NE(handle, nullptr);
    player.stop(handle);
  }
  player.stop(own);
  player.stop(nowhere);
  player.stop(kernelSpace);
  table<5>()->finalize(nowhere);
  player.finalize();
  const std::vector<Slice> slices = slicesOf(0x102);
  const std::vector<Slice> ops = ofLevel(slices, Level::ProxyOp);
  ASSERT_EQ(ops.size(), 2u);
  EXPECT_EQ(ops[0].text(Key::Flag), "parent of another process");
  EXPECT_EQ(ops[0].number(Key::Pid), getpid() + 1);
  EXPECT_EQ(ofLevel(slices, Level::ProxyStep).size(), 4u);
}

TEST_F(NcclProfilerShared, TypeOfWhichOneByteWasWrittenIsCorrected) {
  Player<5> player(table<5>(), 0x103);
  void *coll = player.enqueue(0);
  auto kernel = player.describe(abi::kKernelCh | 0x5500, coll);
  void *handle = player.start(kernel);
  EXPECT_NE(handle, nullptr);
  player.stop(handle);
  EXPECT_EQ(player.start(player.describe(0x8800, coll)), nullptr) << "no event at all";
  EXPECT_EQ(player.start(player.describe(0, coll)), nullptr);
  player.finalize();
  const std::vector<Slice> kernels = ofLevel(slicesOf(0x103), Level::KernelCh);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_NE(kernels[0].text(Key::Flag).find("type corrected"), std::string::npos);
}

TEST_F(NcclProfilerShared, StampsThatAreZeroOrReversedAreFlagged) {
  Player<5> player(table<5>(), 0x104);
  void *coll = player.enqueue(0, 3);
  const uint64_t now = perfetto::monotonicNs();
  player.kernel(coll, 0, 0, now);
  player.kernel(coll, 1, now, 0);
  player.kernel(coll, 2, now, now - 10);
  player.finalize();
  const std::vector<Slice> kernels = ofLevel(slicesOf(0x104), Level::KernelCh);
  ASSERT_EQ(kernels.size(), 3u);
  std::set<std::string> flags;
  for (const Slice &kernel : kernels) {
    flags.insert(kernel.text(Key::Flag));
    EXPECT_LT(kernel.endNs - kernel.startNs, 1'000'000'000u) << "times of the host";
  }
  EXPECT_EQ(flags, (std::set<std::string>{"no start stamp", "no stop stamp",
                                          "stop stamp before start stamp"}));
}

// NCCL has room for the stamps of 64 calls.
TEST_F(NcclProfilerShared, StampsOfLaterCallsAreFlaggedWhereTheyEnd) {
  Player<5> player(table<5>(), 0x10c);
  const uint64_t begin = perfetto::monotonicNs() - 10'000'000;
  for (uint64_t seq : {64, 65, 2, 3}) {
    const uint64_t stamp = begin + 10'000 * seq;
    player.kernel(player.enqueue(seq, 2), 0, stamp, stamp + 9000);
    player.kernel(player.enqueue(seq, 2), 1, stamp + 500, stamp + 9500);
  }
  player.finalize();
  const std::string overlap = "stamps overlap those of an earlier call";
  for (const Slice &kernel : ofLevel(slicesOf(0x10c), Level::KernelCh)) {
    const uint64_t seq = (kernel.number(Key::GpuStartNs) - begin) / 10'000;
    EXPECT_EQ(kernel.text(Key::Flag).find(overlap) != std::string::npos, seq == 2) << seq;
  }
}

TEST_F(NcclProfilerShared, StampsOfTheCallBeforeAreFlagged) {
  Player<5> player(table<5>(), 0x10d);
  const uint64_t begin = perfetto::monotonicNs() - 10'000'000;
  player.kernel(player.enqueue(0), 0, begin, begin + 9000);
  player.kernel(player.enqueue(1), 0, begin, begin + 9000); // shares the first one's kernel
  player.kernel(player.enqueue(2), 0, begin + 160, begin + 9160);
  player.kernel(player.enqueue(3), 0, begin + 160, begin + 9160);
  player.kernel(player.enqueue(4), 0, begin + 20'000, begin + 29'000);
  player.finalize();
  int kernels = 0;
  for (const Slice &kernel : ofLevel(slicesOf(0x10d), Level::KernelCh)) {
    ++kernels;
    EXPECT_EQ(kernel.text(Key::Flag).find("stamps overlap") != std::string::npos,
              kernel.number(Key::GpuStartNs) == begin + 160);
  }
  EXPECT_EQ(kernels, 5);
}

TEST_F(NcclProfilerShared, ClockThatJumpsBySecondsIsFlagged) {
  Player<5> player(table<5>(), 0x105);
  const uint64_t lag = 5'000'000'000;
  for (uint64_t seq = 0; seq < 3; ++seq) {
    void *coll = player.enqueue(seq);
    // In the second collective the GPU's clock is seconds before the call that launched it.
    const uint64_t stamp = perfetto::monotonicNs() - lag - (seq == 1 ? 4'000'000'000 : 0);
    player.kernel(coll, 0, stamp, stamp + 100);
  }
  player.finalize();
  int flagged = 0;
  for (const Slice &kernel : ofLevel(slicesOf(0x105), Level::KernelCh))
    flagged += kernel.text(Key::Flag).find("GPU clock jumped") != std::string::npos;
  EXPECT_GE(flagged, 1);
}

// Coll's own host reports what a graph has replayed after the replay has ended.
TEST_F(NcclProfilerShared, ReplayThatIsToldOfAfterwardsIsNoJumpOfTheClock) {
  Player<5> player(table<5>(), 0x10b);
  for (const bool isReplay : {false, true, false}) {
    const uint64_t launched = perfetto::monotonicNs();
    usleep(5000);
    Player<5>::Descriptor api = player.describe(abi::kCollApi, nullptr);
    api.collApi.func = "AllReduce";
    api.collApi.datatype = "ncclFloat32";
    api.collApi.graphCaptured = isReplay;
    void *call = player.start(api), *coll = player.start(player.coll(call, isReplay));
    const uint64_t stamp = isReplay ? launched : perfetto::monotonicNs();
    player.kernel(coll, 0, stamp, stamp + 100);
    player.stop(coll);
    player.stop(call);
  }
  player.finalize();
  const std::vector<Slice> kernels = ofLevel(slicesOf(0x10b), Level::KernelCh);
  ASSERT_EQ(kernels.size(), 3u);
  for (const Slice &kernel : kernels)
    EXPECT_EQ(kernel.text(Key::Flag), "");
}

// NCCL ends a channel on the thread that began it, and with a stamp, but the plugin must not rely
// on either.
TEST_F(NcclProfilerShared, KernelChannelsEndOnceOnAnyThreadAndWithoutStamp) {
  Player<5> player(table<5>(), 0x10a);
  void *coll = player.enqueue(0, 3);
  auto begin = [&](uint8_t channel) {
    Player<5>::Descriptor kernel = player.describe(abi::kKernelCh, coll);
    kernel.kernelCh.channelId = channel;
    kernel.kernelCh.pTimer = perfetto::monotonicNs();
    return player.start(kernel);
  };
  auto end = [&](void *handle) {
    Player<5>::Args args = {};
    args.kernelCh.pTimer = perfetto::monotonicNs();
    player.record(handle, abi::kKernelChStop, &args);
    player.stop(handle);
  };
  void *own = begin(0), *others = begin(1), *bare = begin(2);
  end(own);
  end(own); // again: nothing
  std::thread([&] { end(others); }).join();
  player.stop(bare);
  player.finalize();
  const std::vector<Slice> kernels = ofLevel(slicesOf(0x10a), Level::KernelCh);
  ASSERT_EQ(kernels.size(), 3u);
  for (const Slice &kernel : kernels)
    EXPECT_EQ(kernel.text(Key::Flag), kernel.number(Key::Channel) == 2 ? "no stop stamp" : "");
}

TEST_F(NcclProfilerShared, EventsInFlightAtTheEndAreWrittenAsUnfinished) {
  Player<5> player(table<5>(), 0x106);
  void *coll = player.enqueue(0);
  void *op = player.start(player.proxyOp(coll, true));
  player.start(player.describe(abi::kProxyStep, op));
  Player<5>::Descriptor kernel = player.describe(abi::kKernelCh, coll);
  kernel.kernelCh.pTimer = perfetto::monotonicNs();
  player.start(kernel);
  player.finalize();
  const std::vector<Slice> slices = slicesOf(0x106);
  for (Level level : {Level::Coll, Level::ProxyOp, Level::ProxyStep, Level::KernelCh}) {
    ASSERT_EQ(ofLevel(slices, level).size(), 1u);
    EXPECT_EQ(ofLevel(slices, level)[0].text(Key::Flag).find("unfinished") != std::string::npos,
              level != Level::Coll);
  }
}

TEST_F(NcclProfilerShared, NetworkEventsAreReadByTheirIds) {
  Player<5> player(table<5>(), 0x109);
  void *op = player.start(player.proxyOp(nullptr, true));
  auto report = [&](int64_t id, void *data) {
    auto descriptor = player.describe(abi::kNetPlugin, op);
    descriptor.netPlugin.id = id;
    descriptor.netPlugin.data = data;
    player.stop(player.start(descriptor));
  };
  abi::NetSocketEventV1 socket{1, {5, 1, 111}};
  abi::NetIbEventV1 ib{1, {0, 7, 2, 9, 222}};
  abi::NetCollEventV1 own{sizeof(abi::NetCollEventV1), 0, "tcp", "eth0", 3, 44, 0, 1, 0, 333, 0, 0};
  own.startNs = static_cast<int64_t>(perfetto::monotonicNs()) - 5000;
  report(abi::kNetSocketV1, &socket);
  report(abi::kNetIbV1, &ib);
  report(abi::kNetCollV1, &own);
  report(0x7777, &own); // of a plugin that is not known
  report(abi::kNetIbV1, nullptr);
  player.finalize();
  const std::vector<Slice> nets = ofLevel(slicesOf(0x109), Level::Net);
  ASSERT_EQ(nets.size(), 5u);
  EXPECT_EQ(nets[0].name + nets[1].name + nets[2].name + nets[3].name, "socketibtcpnetwork");
  EXPECT_EQ(nets[0].number(Key::Bytes), 111);
  EXPECT_EQ(nets[1].number(Key::Bytes), 222);
  EXPECT_EQ(nets[1].number(Key::Connection), 9);
  EXPECT_EQ(nets[2].number(Key::Bytes), 333);
  EXPECT_EQ(nets[2].number(Key::Message), 44);
  EXPECT_EQ(nets[2].text(Key::Device), "eth0");
  EXPECT_GE(nets[2].number(Key::ProxyDelayNs), 5000);
  EXPECT_EQ(nets[3].number(Key::Bytes), 0);
}

TEST_F(NcclProfilerShared, CallThatStopsBeforeOneWithinItEndsWithIt) {
  Player<5> player(table<5>(), 0x108);
  void *outer = player.start(player.describe(abi::kGroupApi, nullptr));
  void *inner = player.start(player.describe(abi::kKernelLaunch, outer));
  player.stop(outer);
  usleep(1000);
  player.stop(inner);
  void *next = player.start(player.describe(abi::kGroupApi, nullptr));
  player.stop(next);
  player.finalize();
  const std::vector<Slice> slices = slicesOf(0x108);
  expectNested(slices);
  const std::vector<Slice> groups = ofLevel(slices, Level::GroupApi);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].endNs, ofLevel(slices, Level::KernelLaunch).at(0).endNs);
  EXPECT_GE(groups[1].startNs, groups[0].endNs);
}

TEST_F(NcclProfilerShared, WaitsOfStepsAreSummedUp) {
  Player<5> player(table<5>(), 0x107);
  void *coll = player.enqueue(0);
  void *op = player.start(player.proxyOp(coll, false));
  void *step = player.start(player.describe(abi::kProxyStep, op));
  player.record(step, abi::kProxyStepRecvWait);
  usleep(20000);
  player.record(step, abi::kProxyStepRecvGpuWait);
  player.stop(step);
  player.stop(op);
  player.finalize();
  const Slice slice = ofLevel(slicesOf(0x107), Level::Coll).at(0);
  EXPECT_GE(slice.number(Key::PeerWaitNs), 15'000'000);
  EXPECT_LT(slice.number(Key::GpuWaitNs), slice.number(Key::PeerWaitNs));
}

TEST_F(NcclProfilerShared, ThreadsAndCommunicatorsAtOnce) {
  constexpr int kThreads = 4, kCalls = 50;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back([thread] {
      Player<6> player(table<6>(), 0x200 + static_cast<uint64_t>(thread), thread, kThreads);
      for (uint64_t seq = 0; seq < kCalls; ++seq) {
        void *coll = player.enqueue(seq);
        std::thread progress([&] { player.progress(coll); });
        progress.join();
      }
      player.finalize();
    });
  for (std::thread &thread : threads)
    thread.join();
  expectNested(readSlices(trace()));
  for (int thread = 0; thread < kThreads; ++thread) {
    const std::vector<Slice> slices = slicesOf(0x200 + static_cast<uint64_t>(thread));
    EXPECT_EQ(ofLevel(slices, Level::Coll).size(), size_t(kCalls));
    EXPECT_EQ(ofLevel(slices, Level::ProxyStep).size(), size_t(4 * kCalls));
    for (const Slice &slice : slices)
      EXPECT_EQ(slice.text(Key::Flag), "") << slice.name;
  }
}

} // namespace

int playCase(const std::string &name) { return kCases.at(name)(); }
void prepareShared() {
  for (const char *name :
       {"COLL_PROFILER_SUMMARY", "COLL_PROFILER_PROMETHEUS", "COLL_PROFILER_EVENTS"})
    unsetenv(name);
  setenv("COLL_PROFILER_FILE", (folder() + "/shared.pftrace").c_str(), 1);
  setenv("COLL_PROFILER_RING", "65536", 1);
}
void removeFolder() { std::system(("rm -rf " + folder()).c_str()); }

} // namespace coll::profiler::test

int main(int argc, char **argv) {
  using namespace coll::profiler::test;
  if (argc == 2 && std::string(argv[1]).rfind("--play=", 0) == 0)
    return playCase(argv[1] + 7);
  testing::InitGoogleTest(&argc, argv);
  prepareShared();
  const int code = RUN_ALL_TESTS();
  removeFolder();
  return code;
}
