// The multiplexer in cases that the runtime does not cause: late, stale and foreign handles,
// failing plugins, masks that change, and many threads.

#include "runtime/profiler/host/multiplexer.h"
#include "runtime/profiler/host/translate.h"
#include "test/profiler/host/check_records.h"
#include "test/profiler/host/plugins.h"

#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

namespace coll::profiler::test {
namespace {

using namespace abi;

EventDescriptorV7 event(EventType type, void *parent = nullptr) {
  EventDescriptorV7 descriptor = {};
  descriptor.type = type;
  descriptor.parent = parent;
  if (type == kProxyOp)
    descriptor.proxyOp.pid = getpid();
  return descriptor;
}

EventDescriptorV7 collective(void *api, void *group) {
  EventDescriptorV7 descriptor = event(kColl, api);
  descriptor.coll.parentGroup = group;
  descriptor.coll.func = "AllReduce";
  return descriptor;
}

class MultiplexerTest : public testing::Test {
protected:
  void SetUp() override {
    for (int version = kOldestVersion; version <= kNewestVersion; ++version)
      recordingOf(version).reset();
  }
  static Record last(int version) { return recordingOf(version).take().back(); }
};

TEST_F(MultiplexerTest, EachPluginHearsItsOwnHandles) {
  recordingOf(7).mask = kColl;
  recordingOf(3).mask = kProxyOp;
  // This makes the plugins' handles differ.
  Multiplexer other({recordingPlugin(3)});
  void *early = other.init({});
  for (int i = 0; i < 5; ++i)
    other.stop(other.start(early, event(kGroup)));

  Multiplexer all({recordingPlugin(7), recordingPlugin(3)});
  void *context = all.init({});
  EXPECT_TRUE(all.wants(context, kProxyOp));
  EXPECT_FALSE(all.wants(context, kNetPlugin));
  void *api = all.start(context, event(kCollApi));
  void *group = all.start(context, event(kGroup));
  void *task = all.start(context, collective(api, group));
  EXPECT_EQ(last(7).parent, 1u);
  EXPECT_EQ(last(7).parentGroup, 2u);
  EXPECT_EQ(last(3).parent, 6u); // version 3 has no events of calls: the group is the parent
  void *op = all.start(context, event(kProxyOp, task));
  EXPECT_EQ(last(3).type, kProxyOp);
  EXPECT_EQ(last(3).parent, 7u);
  EXPECT_EQ(countStarts(recordingOf(7).take(), kProxyOp), 0);
  for (void *handle : {op, task, group, api})
    all.stop(handle);
  all.finalize(context);
  other.finalize(early);
  for (int version : {3, 7})
    EXPECT_EQ(problemsOf(recordingOf(version).take(), {version, ~uint64_t{0}, false}),
              std::vector<std::string>());
}

TEST_F(MultiplexerTest, WhatComesLateIsDroppedAndCounted) {
  Multiplexer all({recordingPlugin(7)});
  void *context = all.init({});
  void *task = all.start(context, collective(nullptr, nullptr));
  all.stop(task);
  const size_t told = recordingOf(7).take().size();
  all.stop(task);
  all.record(task, kProxyStepSendWait, {});
  EXPECT_EQ(recordingOf(7).take().size(), told);
  EXPECT_EQ(all.drops().lateChanges, 2u);
  // Children of a stopped event are not late, because NCCL stops a collective when it is enqueued.
  void *op = all.start(context, event(kProxyOp, task));
  EXPECT_EQ(last(7).parent, 1u);
  all.finalize(context);
  EXPECT_EQ(last(7).kind, Record::Kind::Finalize);
  all.stop(op);
  EXPECT_EQ(all.start(context, event(kGroup)), nullptr);
  EXPECT_EQ(all.drops().events, 1u);
  EXPECT_EQ(problemsOf(recordingOf(7).take(), {7, ~uint64_t{0}, false}),
            std::vector<std::string>());
}

TEST_F(MultiplexerTest, ForeignHandlesAreNotFollowed) {
  Multiplexer all({recordingPlugin(7)});
  void *context = all.init({});
  all.stop(nullptr);
  all.record(nullptr, kKernelChStop, {});
  EXPECT_EQ(all.start(nullptr, event(kGroup)), nullptr);
  for (uint64_t bits : {uint64_t{1}, uint64_t{8}, uint64_t{0x7fff12345678}, ~uint64_t{0}}) {
    void *garbage = reinterpret_cast<void *>(bits);
    all.stop(garbage);
    all.record(garbage, kProxyStepRecvWait, {});
    EXPECT_EQ(all.start(garbage, event(kGroup)), nullptr);
    ASSERT_NE(all.start(context, event(kProxyStep, garbage)), nullptr);
    EXPECT_EQ(last(7).parent, 0u);
  }
  // A proxy op of another process names a parent that is valid there, not here.
  void *task = all.start(context, collective(nullptr, nullptr));
  EventDescriptorV7 foreign = event(kProxyOp, task);
  foreign.proxyOp.pid = getpid() + 1;
  all.start(context, foreign);
  EXPECT_EQ(last(7).parent, 0u);
}

TEST_F(MultiplexerTest, MasksMayChangeAtAnyTime) {
  recordingOf(7).mask = 0;
  Multiplexer all({recordingPlugin(7)});
  void *context = all.init({});
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(all.mask(), 0u);
  EXPECT_EQ(all.start(context, event(kGroup)), nullptr);
  *recordingOf(7).masks[0] = kNetPlugin;
  EXPECT_EQ(all.mask(), closedUpwards(7, kNetPlugin));
  EXPECT_NE(all.start(context, event(kGroup)), nullptr);
  *recordingOf(7).masks[0] = 0;
  EXPECT_EQ(all.start(context, event(kGroup)), nullptr);
}

TEST_F(MultiplexerTest, APluginThatRefusesIsNotAskedAgain) {
  recordingOf(7).failsInit = true;
  Multiplexer all({recordingPlugin(7), recordingPlugin(6)});
  void *first = all.init({});
  recordingOf(7).failsInit = false;
  void *second = all.init({});
  EXPECT_TRUE(first && second);
  EXPECT_TRUE(recordingOf(7).take().empty());
  EXPECT_EQ(recordingOf(6).take().size(), 2u);
  Multiplexer none({});
  EXPECT_EQ(none.init({}), nullptr);
}

TEST_F(MultiplexerTest, AnEventThatNeverStopsDoesNotBlockOthers) {
  Multiplexer all({recordingPlugin(7)});
  void *context = all.init({});
  void *forever = all.start(context, event(kGroup));
  for (size_t i = 0; i < 2 * Multiplexer::kMaxEvents; ++i) {
    void *handle = all.start(context, event(kGroup));
    ASSERT_NE(handle, nullptr);
    all.stop(handle);
  }
  EXPECT_EQ(all.drops().events, 0u);
  all.start(context, event(kProxyStep, forever));
  EXPECT_EQ(last(7).parent, 1u);
}

TEST_F(MultiplexerTest, EventsWithoutRoomAreDroppedAndCounted) {
  Multiplexer all({recordingPlugin(7)});
  void *context = all.init({});
  for (size_t i = 0; i < Multiplexer::kMaxEvents; ++i)
    ASSERT_NE(all.start(context, event(kGroup)), nullptr);
  EXPECT_EQ(all.start(context, event(kGroup)), nullptr);
  EXPECT_EQ(all.drops().events, 1u);
  all.finalize(context);
  EXPECT_EQ(problemsOf(recordingOf(7).take(), {7, ~uint64_t{0}}), std::vector<std::string>());
}

TEST_F(MultiplexerTest, ManyThreadsAndCommunicators) {
  constexpr int kThreads = 4, kRounds = 300;
  Multiplexer all({recordingPlugin(7), recordingPlugin(2)});
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < kRounds; ++i) {
        void *context = all.init({});
        void *group = all.start(context, event(kGroup));
        void *task = all.start(context, collective(nullptr, group));
        void *op = all.start(context, event(kProxyOp, task));
        void *step = all.start(context, event(kProxyStep, op));
        all.record(step, kProxyStepSendWait, {});
        if (i % 3 > 0) // otherwise finalized in flight
          for (void *handle : {step, op, task, group})
            all.stop(handle);
        all.finalize(context);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(all.drops().events + all.drops().lateChanges, 0u);
  for (int version : {2, 7})
    EXPECT_EQ(problemsOf(recordingOf(version).take(), {version, ~uint64_t{0}, false}),
              std::vector<std::string>());
}

} // namespace
} // namespace coll::profiler::test
