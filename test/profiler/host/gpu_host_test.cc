// Steps on GPUs over the fakes of CUDA and NCCL: plugins, the timeline, and NCCL's tags must show
// what the GPU did and when, eager and replayed.

#include "runtime/backend/nccl/platform.h"
#include "runtime/profiler/abi/events.h"
#include "runtime/profiler/host/host.h"
#include "runtime/profiler/host/translate.h"
#include "runtime/profiler/perfetto/reader.h"
#include "runtime/step/device/gpu/gpu_device.h"
#include "runtime/step/timeline.h"
#include "test/profiler/host/check_records.h"
#include "test/profiler/host/plugins.h"
#include "test/runtime/fixtures.h"
#include "test/support/fakes/nccl.h"

#include <cstdlib>
#include <map>

namespace coll::profiler::test {
namespace {

using namespace abi;
using perfetto::Key;
using perfetto::Level;
using rt::TraceEvent;
using rt::TraceLevel;
using rt::TracePhase;

constexpr int kRanks = 2, kSteps = 5, kEager = 2;
// The fake GPU's clock is this much ahead of the host's.
constexpr int64_t kAheadNs = 7'000'000'000;
constexpr char kKernels[] = R"([{"name":"scale","grid":2,"block":64,"loc":"train.py:7:3"}])";
constexpr char kComputations[] =
    R"("computations":[{"kind":"kernel","loc":"train.py:7:3","name":"mul"}],)";
constexpr int32_t kKernelOp = kCollFirstComputation;

int32_t scale(const CollAbi *abi, CollContext *ctx, const void *x, void *y, uint32_t n) {
  const void *args[] = {&x, &y, &n};
  return abi->launch(ctx, kKernelOp, 0, args, 3);
}

int32_t gpuStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                void *arena) {
  int32_t code = scale(abi, ctx, args[0], arena, 4);
  if (code == kCollOk)
    code = abi->all_reduce(ctx, 0, arena, args[0], 4, kCollF32, kCollSum, 0, 0, 0, nullptr);
  return code == kCollOk ? scale(abi, ctx, args[1], results[1], 1) : code;
}

// The same, but with a call first.
int32_t callFirst(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                  void *arena) {
  int32_t code = abi->all_reduce(ctx, 0, args[0], arena, 4, kCollF32, kCollSum, 0, 0, 0, nullptr);
  if (code == kCollOk)
    code = scale(abi, ctx, arena, args[0], 4);
  return code == kCollOk ? scale(abi, ctx, args[1], results[1], 1) : code;
}

class Listener : public rt::TraceSink {
public:
  void onEvent(const TraceEvent &event) override {
    std::lock_guard<std::mutex> lock(mutex_);
    events.push_back(event);
  }
  int count(TraceLevel level, TracePhase phase, bool isReplay) const {
    return static_cast<int>(std::count_if(events.begin(), events.end(), [&](const TraceEvent &e) {
      return e.level == level && e.phase == phase && e.isReplay == isReplay;
    }));
  }
  std::vector<TraceEvent> events;

private:
  std::mutex mutex_;
};

class TextSink : public perfetto::Sink {
public:
  rt::Status write(std::string_view bytes) override {
    text += bytes;
    return {};
  }
  std::string text;
};

class GpuHostTest : public testing::Test {
protected:
  explicit GpuHostTest(int ncclVersion = 22809) : cuda_(kRanks), nccl_(ncclVersion) {
    recordingOf(7).reset();
    cuda_.defineKernel("scale", {8, 8, 4}, [](const rt::dl::FakeLaunch &launch) {
      for (uint32_t i = 0; i < launch.parameter<uint32_t>(2); ++i)
        launch.parameter<float *>(1)[i] = 2 * launch.parameter<const float *>(0)[i];
    });
  }
  ~GpuHostTest() override {
    EXPECT_EQ(cuda_.misuse(), "");
    EXPECT_EQ(nccl_.misuse(), "");
    EXPECT_EQ(cuda_.liveAllocations(), 0);
  }
  void defineStamp() {
    cuda_.defineKernel("coll_stamp", {8}, [](const rt::dl::FakeLaunch &launch) {
      *launch.parameter<int64_t *>(0) = rt::traceClockNs() + kAheadNs;
    });
  }

  std::unique_ptr<rt::Executor> executor(CollEntry step = gpuStep) {
    std::string text = rt::test::descriptorText(kRanks);
    text.insert(1, std::string(R"("device":"gpu",)") + kComputations);
    rt::Result<rt::Program> program =
        rt::Program::create(text, step, nullptr, {".version 8.0", kKernels, nullptr, 0});
    EXPECT_TRUE(program.ok()) << program.status().toString();
    rt::ExecutorOptions options;
    options.backend = "nccl";
    rt::Result<std::unique_ptr<rt::Executor>> made = rt::Executor::create({*program}, options);
    EXPECT_TRUE(made.ok()) << made.status().toString();
    return made ? made.take() : nullptr;
  }
  static std::vector<float> train(rt::Executor &executor) {
    EXPECT_TRUE(executor.initialize({rt::test::floats({4}, {1, 2, 3, 4})}).ok());
    for (int i = 0; i < kSteps; ++i) {
      rt::Status status = executor.step({rt::test::floats({8}, {0, 1, 2, 3, 4, 5, 6, 7})}).status();
      EXPECT_TRUE(status.ok()) << status.toString();
    }
    return rt::test::values((*executor.state())[0]);
  }
  const std::vector<float> expected_{1024, 2048, 3072, 4096};

  rt::dl::FakeCuda cuda_;
  rt::dl::FakeNccl nccl_;
  rt::ScopedGpuPlatform gpu_{{&cuda_.table(), nullptr}};
  rt::nccl::ScopedPlatform platform_{{&cuda_.table(), &nccl_.table()}};
};

TEST_F(GpuHostTest, TheTraceHearsWhatTheGpuDid) {
  defineStamp();
  std::unique_ptr<rt::Executor> executor = this->executor();
  Listener listener;
  const int64_t beginNs = rt::traceClockNs();
  {
    rt::ScopedTraceSink listen(&listener);
    EXPECT_EQ(train(*executor), expected_);
  }
  EXPECT_GT(cuda_.calls("graphLaunch"), 0);
  for (bool isReplay : {false, true}) {
    const int steps = kRanks * (isReplay ? kSteps - kEager : kEager);
    for (TracePhase phase : {TracePhase::Begin, TracePhase::End}) {
      EXPECT_EQ(listener.count(TraceLevel::Device, phase, isReplay), 3 * steps);
      EXPECT_EQ(listener.count(TraceLevel::Call, phase, isReplay), steps);
    }
  }
  // Each replay is a launch. The End of a span does not repeat whether it was one.
  constexpr int kReplays = kRanks * (kSteps - kEager), kLaunches = 2 * kRanks * kEager;
  EXPECT_EQ(listener.count(TraceLevel::Launch, TracePhase::Begin, true), kReplays);
  EXPECT_EQ(listener.count(TraceLevel::Launch, TracePhase::Begin, false), kLaunches)
      << "the calls that a graph captures are not reported";
  EXPECT_EQ(listener.count(TraceLevel::Launch, TracePhase::End, false), kLaunches + kReplays);
  for (const TraceEvent &event : listener.events) {
    if (event.level != TraceLevel::Device)
      continue;
    EXPECT_NEAR(event.timeNs, event.deviceNs - kAheadNs, event.errorNs);
    EXPECT_GT(event.timeNs, beginNs - event.errorNs);
    EXPECT_TRUE(event.op == 0 || event.op == kKernelOp) << event.op;
  }
}

TEST_F(GpuHostTest, ACallThatComesFirstEndsOnTheGpuToo) {
  defineStamp();
  std::unique_ptr<rt::Executor> executor = this->executor(callFirst);
  Listener listener;
  {
    rt::ScopedTraceSink listen(&listener);
    EXPECT_EQ(train(*executor), expected_);
  }
  for (bool isReplay : {false, true})
    EXPECT_EQ(listener.count(TraceLevel::Device, TracePhase::End, isReplay),
              3 * kRanks * (isReplay ? kSteps - kEager : kEager));
}

TEST_F(GpuHostTest, ATraceThatCannotBeIsMissingAndTheRunStands) {
  std::unique_ptr<rt::Executor> executor = this->executor(); // the driver has no such kernel
  Listener listener;
  rt::ScopedTraceSink listen(&listener);
  EXPECT_EQ(train(*executor), expected_);
  for (bool isReplay : {false, true})
    EXPECT_EQ(listener.count(TraceLevel::Device, TracePhase::Begin, isReplay), 0);
  for (TracePhase phase : {TracePhase::Begin, TracePhase::End})
    EXPECT_EQ(listener.count(TraceLevel::Call, phase, false), kRanks * kEager);
  const auto replays =
      std::count_if(listener.events.begin(), listener.events.end(), [](const TraceEvent &event) {
        return event.level == TraceLevel::Launch && event.name == std::string_view("replay");
      });
  EXPECT_EQ(replays, kRanks * (kSteps - kEager));
  EXPECT_EQ(listener.count(TraceLevel::Launch, TracePhase::Begin, false),
            replays + 2 * kRanks * kEager);
  EXPECT_EQ(cuda_.calls("graphLaunch"), replays);
}

TEST_F(GpuHostTest, StampsThatFailChangeNothing) {
  defineStamp();
  std::unique_ptr<rt::Executor> executor = this->executor();
  Listener listener;
  rt::ScopedTraceSink listen(&listener);
  cuda_.failNext("moduleLoad", 700, 0, kRanks);
  EXPECT_EQ(train(*executor), expected_);
}

TEST_F(GpuHostTest, GraphsWithoutAListenerHaveNoStamps) {
  defineStamp();
  std::unique_ptr<rt::Executor> executor = this->executor();
  const std::vector<float> state = train(*executor);
  EXPECT_EQ(state, expected_);
  // Two kernels per step, in eager steps and in each graph.
  EXPECT_EQ(cuda_.calls("launchKernel") % 2, 0);
  const int64_t quiet = cuda_.calls("launchKernel");
  Listener listener;
  {
    rt::ScopedTraceSink listen(&listener);
    train(*executor);
  }
  EXPECT_GT(cuda_.calls("launchKernel"), quiet);
  const int64_t heard = cuda_.calls("launchKernel");
  train(*executor); // the graphs of the first time
  EXPECT_EQ(cuda_.calls("launchKernel"), heard);
}

TEST_F(GpuHostTest, PluginsHearKernelsWithTheirStamps) {
  defineStamp();
  std::unique_ptr<rt::Executor> executor;
  {
    Host host({recordingPlugin(7)});
    executor = this->executor();
    EXPECT_EQ(train(*executor), expected_);
  }
  const std::vector<Record> records = recordingOf(7).take();
  for (const std::string &problem : problemsOf(records, {7, closedUpwards(7, 0xffff)}))
    ADD_FAILURE() << problem;
  EXPECT_EQ(countStarts(records, kColl), kRanks * kSteps);
  EXPECT_EQ(countStarts(records, kKernelCh), kRanks * kSteps);
  EXPECT_EQ(countStarts(records, kKernelLaunch), kRanks * kEager) << "a replay launches no call";
}

TEST_F(GpuHostTest, TheTimelineHasLinesOfTheProgram) {
  defineStamp();
  std::unique_ptr<rt::Executor> executor = this->executor();
  TextSink sink;
  rt::Timeline timeline(sink, executor->classes(), executor->localRanks(), 0, 0);
  {
    rt::ScopedTraceSink listen(&timeline);
    train(*executor);
  }
  ASSERT_TRUE(timeline.finish().ok());
  perfetto::Reader reader(perfetto::Packets::of(sink.text));
  std::map<Level, int> counts;
  perfetto::Item item;
  for (;;) {
    rt::Result<bool> more = reader.next(item);
    ASSERT_TRUE(more.ok()) << more.status().toString();
    if (!*more)
      break;
    if (item.kind != perfetto::Item::Kind::Begin || !item.level)
      continue;
    const auto *place = item.find(Key::Location), *stamp = item.find(Key::GpuStartNs);
    const bool isKernel = *item.level == Level::Compute;
    const bool isCall = *item.level == Level::Coll || *item.level == Level::KernelCh;
    if ((isKernel || isCall) && stamp && place)
      counts[*item.level] += place->text == (isKernel ? "train.py:7:3" : "train.py:12:3");
  }
  EXPECT_EQ(counts[Level::Compute], 2 * kRanks * kSteps);
  EXPECT_EQ(counts[Level::Coll], kRanks * kSteps);
  EXPECT_EQ(counts[Level::KernelCh], kRanks * kSteps);
}

class GpuTagsTest : public GpuHostTest {
protected:
  GpuTagsTest() : GpuHostTest(23102) {}
};

TEST_F(GpuTagsTest, NcclHearsOpIdsWhileSomebodyListens) {
  std::unique_ptr<rt::Executor> executor = this->executor();
  train(*executor);
  EXPECT_TRUE(nccl_.tags().empty());
  Listener listener;
  rt::ScopedTraceSink listen(&listener);
  EXPECT_EQ(train(*executor), expected_);
  ASSERT_FALSE(nccl_.tags().empty());
  for (uint64_t tag : nccl_.tags())
    EXPECT_EQ(tag, 1u); // op 0
}

} // namespace
} // namespace coll::profiler::test
