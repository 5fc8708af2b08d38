// Tests of single parts of libnccl-profiler-coll.so: ring, names, histogram, the GPU's clock.

#include "runtime/net/nccl_plugin/net_event.h"
#include "runtime/profiler/abi/net_events.h"
#include "runtime/profiler/nccl_plugin/gpu_clock.h"
#include "runtime/profiler/nccl_plugin/handles.h"
#include "runtime/profiler/nccl_plugin/names.h"
#include "runtime/profiler/nccl_plugin/open_kernels.h"
#include "runtime/profiler/nccl_plugin/ring.h"
#include "runtime/profiler/nccl_plugin/settings.h"
#include "runtime/profiler/nccl_plugin/summary.h"
#include "runtime/profiler/nccl_plugin/tick_clock.h"

#include <cstddef>
#include <gtest/gtest.h>
#include <thread>

namespace coll::profiler::plugin {
namespace {

static_assert(sizeof(CollNetEvent) == sizeof(abi::NetCollEventV1) &&
              offsetof(CollNetEvent, stream) == offsetof(abi::NetCollEventV1, stream) &&
              offsetof(CollNetEvent, bytes) == offsetof(abi::NetCollEventV1, bytes) &&
              COLL_NET_EVENT_ID == abi::kNetCollV1);

// A record of a collective takes two of the eight slots, a record of a state takes one.
TEST(DropOldestRingTest, KeepsTheNewestAndCountsTheOthers) {
  for (const bool isLong : {false, true}) {
    DropOldestRing ring(8);
    Record record;
    record.kind = isLong ? RecordKind::Start : RecordKind::State;
    record.type = bitNumber(abi::kColl);
    for (uint64_t i = 0; i < 20; ++i) {
      record.count = record.seq = i;
      ring.push(record);
    }
    uint64_t dropped = 0;
    const uint64_t first = isLong ? 16 : 12;
    for (uint64_t expected = first; expected < 20; ++expected) {
      ASSERT_TRUE(ring.pop(record, dropped));
      EXPECT_EQ(record.count, expected);
      EXPECT_EQ(record.seq, isLong ? expected : 0);
    }
    EXPECT_FALSE(ring.pop(record, dropped));
    EXPECT_EQ(dropped, first);
  }
}

// The producer overwrites while the consumer reads: every record must be complete and in order, or
// counted as lost.
TEST(DropOldestRingTest, RecordsAreWholeOrCountedWhileTheProducerRuns) {
  constexpr uint64_t kRecords = 300'000;
  DropOldestRing ring(64);
  std::thread producer([&] {
    Record record;
    record.type = bitNumber(abi::kColl);
    for (uint64_t i = 1; i <= kRecords; ++i) {
      record.seq = record.count = record.userTag = record.stamp = record.ns = i;
      record.kind = i % 3 == 0 ? RecordKind::State : RecordKind::Start; // one slot, or two
      ring.push(record);
    }
  });
  uint64_t read = 0, dropped = 0, last = 0;
  while (read + dropped < kRecords) {
    Record record;
    if (!ring.pop(record, dropped))
      continue;
    ++read;
    ASSERT_GT(record.count, last);
    ASSERT_TRUE(record.stamp == record.count && record.ns == record.count);
    const uint64_t more = record.kind == RecordKind::Start ? record.count : 0;
    ASSERT_TRUE(record.seq == more && record.userTag == more);
    last = record.count;
  }
  producer.join();
  EXPECT_EQ(read + dropped, kRecords);
}

TEST(NamesTest, SameTextHasSameNumberOnAllThreads) {
  static Names names; // 300 KiB
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([] {
      for (int i = 0; i < 500; ++i) {
        const std::string text = "name" + std::to_string(i);
        const uint16_t number = names.number(text.c_str());
        EXPECT_TRUE(number == 0 || names.text(number) == text);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(names.number("name7"), names.number("name7"));
  EXPECT_EQ(names.number(nullptr), 0);
  EXPECT_EQ(names.number(""), 0);
  EXPECT_EQ(names.text(0), "");
  const uint16_t cut = names.number(std::string(100, 'x').c_str());
  EXPECT_EQ(names.text(cut), std::string(63, 'x'));
}

TEST(NamesTest, FullTableGivesTheEmptyText) {
  static Names names;
  int empty = 0;
  for (int i = 0; i < 6000; ++i)
    empty += names.number(("n" + std::to_string(i)).c_str()) == 0;
  EXPECT_GT(empty, 1000);
  EXPECT_LT(empty, 3000);
}

TEST(HandlesTest, PointersAndHandlesOfOthersAreNotOurs) {
  Handles ours(0x1234), others(0x1235);
  const uint64_t handle = ours.make(4095, 255, 77);
  EXPECT_TRUE(ours.isOurs(handle));
  EXPECT_EQ(Handles::communicator(handle), 4095);
  EXPECT_EQ(Handles::ring(handle), 255u);
  EXPECT_FALSE(others.isOurs(handle));
  int local = 0;
  EXPECT_FALSE(ours.isOurs(reinterpret_cast<uint64_t>(&local)));
  EXPECT_FALSE(ours.isOurs(0));
}

TEST(HistogramTest, QuantilesAreWithinThreePercent) {
  Histogram histogram;
  for (uint64_t i = 1; i <= 10000; ++i)
    histogram.add(i * 1000);
  for (double share : {0.5, 0.9, 0.99})
    EXPECT_NEAR(static_cast<double>(histogram.quantileNs(share)), share * 1e7, 0.03 * share * 1e7);
  EXPECT_EQ(Histogram().quantileNs(0.5), 0u);
  histogram.add(UINT64_MAX); // longer than any bucket
  EXPECT_EQ(histogram.count(), 10001u);
}

TEST(SummaryTest, BytesAndBusBandwidthAreThoseOfNcclTests) {
  EXPECT_EQ(bytesOf("AllReduce", 1024, "ncclFloat32", 4), 4096u);
  EXPECT_EQ(bytesOf("AllGather", 1024, "ncclBfloat16", 4), 8192u);
  EXPECT_EQ(bytesOf("Broadcast", 8, "ncclFloat64", 4), 64u);
  EXPECT_EQ(bytesOf("Broadcast", 8, "ncclFloat8e4m3", 4), 8u);
  EXPECT_DOUBLE_EQ(busFactor("AllReduce", 4), 1.5);
  EXPECT_DOUBLE_EQ(busFactor("ReduceScatter", 4), 0.75);
  EXPECT_DOUBLE_EQ(busFactor("Broadcast", 4), 1);
  EXPECT_DOUBLE_EQ(busFactor("AllReduce", 1), 1);
}

TEST(SummaryTest, SizesBeyondTheTableShareARow) {
  Summary summary;
  summary.begin(1, {});
  for (uint64_t bytes = 1; bytes <= 3000; ++bytes)
    summary.add(1, {"AllReduce", bytes, 1000, 0, 0});
  const std::string text = summary.text();
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 1100);
  EXPECT_NE(text.find("1976"), std::string::npos) << "the calls of the other sizes";
}

TEST(GpuClockTest, OffsetIsBoundedByWhatIsSeenAndByTheCall) {
  GpuClock clock;
  EXPECT_FALSE(clock.known());
  EXPECT_TRUE(clock.sawStamp(1000, 5300)); // offset at most 4300
  EXPECT_TRUE(clock.sawStamp(2000, 6100)); // at most 4100
  EXPECT_EQ(clock.offsetNs(), 4100);
  EXPECT_EQ(clock.errorNs(), -1);
  EXPECT_TRUE(clock.sawStart(1000, 5000)); // at least 4000
  EXPECT_EQ(clock.errorNs(), 100);
  EXPECT_EQ(clock.toHost(10), 4110u);
  // Two seconds before the call that launched it: this is a jump, after which the estimate starts
  // again.
  EXPECT_FALSE(clock.sawStart(1000, 2'000'005'000));
  EXPECT_FALSE(clock.known());
}

TEST(GpuClockTest, DriftIsFollowed) {
  GpuClock clock;
  uint64_t host = 1'000'000'000, gpu = 0;
  for (int i = 0; i < 100; ++i) {
    host += 100'000'000;
    gpu += 99'999'000; // 10 ppm slower
    EXPECT_TRUE(clock.sawStamp(gpu, host + 50));
  }
  EXPECT_NEAR(static_cast<double>(clock.toHost(gpu)), static_cast<double>(host), 25'000);
}

TEST(TickClockTest, TicksBetweenNotesAreTimesInTheirOrder) {
  TickClock clock;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::pair<uint64_t, uint64_t>> seen; // ticks, and the time just after them
    for (int i = 0; i < 100; ++i) {
      const uint64_t ticks = clock.now();
      seen.emplace_back(ticks, perfetto::monotonicNs());
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    const uint64_t noted = clock.note();
    EXPECT_GE(noted, seen.back().first);
    uint64_t last = 0;
    for (auto [ticks, ns] : seen) {
      EXPECT_GE(clock.toNs(ticks), last);
      last = clock.toNs(ticks);
      EXPECT_LT(last, ns + 10'000);
    }
  }
}

// A channel that has begun is kept until it ends; if its place is taken, it is reported at once.
TEST(OpenKernelsTest, EndTellsWhatTheStartHasTold) {
  OpenKernels kernels;
  const uint64_t other = 5 + OpenKernels::kPlaces;
  ASSERT_TRUE(kernels.begin(5, /*parent=*/77, /*channel=*/3, /*stamp=*/1000));
  EXPECT_FALSE(kernels.begin(other, 77, 3, 1000)) << "its place is taken";
  EXPECT_FALSE(kernels.has(other));
  Record seen;
  ASSERT_TRUE(kernels.read(5, seen));
  EXPECT_EQ(seen.id, 5u);
  EndedKernel ended;
  ended.id = 5;
  ended.stopStamp = 1400;
  kernels.end(ended);
  EXPECT_EQ(ended.parent, 77u);
  EXPECT_EQ(ended.startStamp, 1000u);
  EXPECT_EQ(ended.stopStamp, 1400u);
  EXPECT_EQ(ended.channel, 3);
  EXPECT_FALSE(kernels.has(5));
  EXPECT_TRUE(kernels.begin(other, 77, 3, 1000));
}

TEST(SettingsTest, EventsAreNames) {
  EXPECT_EQ(*parseEvents("all"), 65535u);
  EXPECT_EQ(*parseEvents("none"), 0u);
  EXPECT_EQ(*parseEvents("coll,kernel_ch"), abi::kColl | abi::kKernelCh);
  EXPECT_FALSE(parseEvents("").ok());
  EXPECT_FALSE(parseEvents("coll,").ok());
  EXPECT_FALSE(parseEvents("step").ok()) << "a level, but no event of NCCL";
}

} // namespace
} // namespace coll::profiler::plugin
