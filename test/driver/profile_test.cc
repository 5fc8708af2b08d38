// The timeline of a run, read back, and the clocks of its processes.

#include "driver/profile/profile.h"
#include "runtime/profiler/perfetto/reader.h"
#include "runtime/step/timeline.h"
#include "test/runtime/fixtures.h"

#include <gtest/gtest.h>
#include <map>

namespace coll::run {
namespace {

using profiler::perfetto::Item;
using profiler::perfetto::Key;
using profiler::perfetto::Level;

class TextSink : public profiler::perfetto::Sink {
public:
  rt::Status write(std::string_view bytes) override {
    text += bytes;
    return {};
  }
  std::string text;
};

int64_t numCalls = 3;

int32_t timelineStep(const CollAbi *abi, CollContext *ctx, void *const *args, void *const *results,
                     void *) {
  for (int64_t i = 0; i < numCalls; ++i) {
    CollRequest *request = nullptr;
    int32_t code =
        abi->all_reduce(ctx, 0, args[0], results[0], 4, kCollF32, kCollSum, kCollAccumulateAny,
                        kCollOrderAny, 0, i == 0 ? &request : nullptr);
    if (code == kCollOk && request)
      code = abi->wait(ctx, 0, request);
    if (code != kCollOk)
      return code;
  }
  static_cast<float *>(results[1])[0] = 0;
  return kCollOk;
}

/// The trace of two steps on so many ranks.
std::string traceOf(int ranks) {
  std::unique_ptr<rt::Executor> executor = rt::test::makeExecutor(ranks, timelineStep);
  TextSink sink;
  rt::Timeline timeline(sink, executor->classes(), executor->localRanks(), 0, 0);
  {
    rt::ScopedTraceSink listen(&timeline);
    EXPECT_TRUE(executor->initialize({rt::test::floats({4}, {1, 2, 3, 4})}).ok());
    for (int i = 0; i < 2; ++i)
      EXPECT_TRUE(executor->step({rt::test::floats({8}, {0, 1, 2, 3, 4, 5, 6, 7})}).ok());
  }
  EXPECT_TRUE(timeline.finish().ok());
  return sink.text;
}

struct Counts {
  std::map<Level, int> begins;
  int explained = 0;
  uint64_t dropped = 0;
  int communicators = 0; // notes of four ranks
};

Counts count(const std::string &trace) {
  Counts counts;
  profiler::perfetto::Reader reader(profiler::perfetto::Packets::of(trace));
  Item item;
  for (;;) {
    rt::Result<bool> more = reader.next(item);
    EXPECT_TRUE(more.ok()) << more.status().toString();
    if (!more || !*more)
      return counts;
    if (const auto *dropped = item.find(Key::Dropped))
      counts.dropped += dropped->number;
    if (item.kind == Item::Kind::Instant && item.name == "communicator")
      counts.communicators += item.number(Key::Ranks, 0) == 4 && item.number(Key::Comm, 0) != 0;
    if (item.kind != Item::Kind::Begin || !item.level)
      continue;
    ++counts.begins[*item.level];
    const auto *reason = item.find(Key::Reason), *location = item.find(Key::Location);
    if (*item.level == Level::Coll && reason && location)
      counts.explained += reason->text == "mean gradient" && location->text == "train.py:12:3";
  }
}

TEST(ProfileTimelineTest, HasEveryCallWithItsReason) {
  Counts counts = count(traceOf(4));
  EXPECT_EQ(counts.begins[Level::Step], 2 * 4);
  EXPECT_EQ(counts.begins[Level::CollApi], 2 * 4 * 3);
  EXPECT_EQ(counts.begins[Level::Coll], 2 * 4 * 3);
  EXPECT_EQ(counts.begins[Level::Wait], 2 * 4);
  EXPECT_EQ(counts.explained, 2 * 4 * 3);
  EXPECT_EQ(counts.communicators, 4); // once on each rank
  EXPECT_EQ(counts.dropped, 0u);
}

TEST(ProfileTimelineTest, TooManySpansAreDroppedAndCounted) {
  numCalls = static_cast<int64_t>(rt::Timeline::kMaxSpans) + 100;
  Counts counts = count(traceOf(1));
  numCalls = 3;
  EXPECT_EQ(counts.begins[Level::Step], 2); // the step itself is there
  const uint64_t kept =
      static_cast<uint64_t>(counts.begins[Level::Coll] + counts.begins[Level::Wait]);
  EXPECT_EQ(counts.dropped + kept, 2 * (rt::Timeline::kMaxSpans + 101));
}

TEST(ProfileClockTest, OffsetsAreRightWithinTheirError) {
  constexpr int64_t kAhead = -5'000'000'000;
  std::vector<ClockReading> readings;
  for (int64_t delay : {900, 300, 2000}) {
    // There it takes `delay`, and back three times as much.
    const int64_t from = 1'000'000 * delay, read = from + delay;
    readings.push_back({from, read + 3 * delay, read + kAhead});
    const ClockOffset offset = offsetOf(readings);
    EXPECT_LE(std::abs(offset.aheadNs - kAhead), offset.errorNs);
  }
  EXPECT_EQ(offsetOf(readings).errorNs, 600);
}

} // namespace
} // namespace coll::run
