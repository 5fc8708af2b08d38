// libnccl-profiler-coll-mux.so, loaded and called like NCCL of each version does.

#include "runtime/dl/library.h"
#include "runtime/profiler/host/translate.h"
#include "test/profiler/host/check_records.h"
#include "test/profiler/host/plugins.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

namespace coll::profiler::test {
namespace {

using namespace abi;

// The plugin reads its environment once per process, so all its tests share these plugins.
constexpr int kFed[] = {7, 4, 2};

template <typename Table>
class MuxPlugin : public testing::Test {
protected:
  void SetUp() override {
    std::string names = std::string(COLL_MUX_PLUGIN); // itself: it must not call itself
    for (int version : kFed) {
      names += "," + pluginPath(version);
      recordingOf(version).reset();
    }
    setenv("COLL_PROFILER_PLUGINS", names.c_str(), 1);
    rt::Result<rt::dl::Library> library = rt::dl::Library::open(COLL_MUX_PLUGIN);
    ASSERT_TRUE(library.ok()) << library.status().toString();
    const std::string symbol = "ncclProfiler_v" + std::to_string(version());
    mux_ = library->template symbol<Table>(symbol.c_str());
    ASSERT_NE(mux_, nullptr);
  }
  void TearDown() override { unsetenv("COLL_PROFILER_PLUGINS"); }

  static int version();
  void *init(int &mask) {
    void *context = nullptr;
    NcclResult result;
    if constexpr (std::is_same_v<Table, ProfilerV2> || std::is_same_v<Table, ProfilerV3>)
      result = mux_->init(&context, &mask);
    else if constexpr (std::is_same_v<Table, ProfilerV4>)
      result = mux_->init(&context, &mask, "name", 5, 1, 2, 1, nullptr);
    else
      result = mux_->init(&context, 5, &mask, "name", 1, 2, 1, nullptr);
    EXPECT_EQ(result, kNcclSuccess);
    return context;
  }

  Table *mux_ = nullptr;
};
template <>
int MuxPlugin<ProfilerV2>::version() {
  return 2;
}
template <>
int MuxPlugin<ProfilerV3>::version() {
  return 3;
}
template <>
int MuxPlugin<ProfilerV4>::version() {
  return 4;
}
template <>
int MuxPlugin<ProfilerV5>::version() {
  return 5;
}
template <>
int MuxPlugin<ProfilerV6>::version() {
  return 6;
}
template <>
int MuxPlugin<ProfilerV7>::version() {
  return 7;
}

template <typename Table>
struct DescriptorOf;
template <>
struct DescriptorOf<ProfilerV2> {
  using Type = EventDescriptorV2;
};
template <>
struct DescriptorOf<ProfilerV3> {
  using Type = EventDescriptorV3;
};
template <>
struct DescriptorOf<ProfilerV4> {
  using Type = EventDescriptorV4;
};
template <>
struct DescriptorOf<ProfilerV5> {
  using Type = EventDescriptorV5;
};
template <>
struct DescriptorOf<ProfilerV6> {
  using Type = EventDescriptorV6;
};
template <>
struct DescriptorOf<ProfilerV7> {
  using Type = EventDescriptorV7;
};

using Tables =
    testing::Types<ProfilerV2, ProfilerV3, ProfilerV4, ProfilerV5, ProfilerV6, ProfilerV7>;
TYPED_TEST_SUITE(MuxPlugin, Tables);

TYPED_TEST(MuxPlugin, FeedsPluginsOfSeveralVersions) {
  using Descriptor = typename DescriptorOf<TypeParam>::Type;
  recordingOf(4).mask = kColl;
  recordingOf(7).mask = kProxyStep;
  recordingOf(2).mask = 0;
  int mask = 0;
  void *context = this->init(mask);
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(static_cast<uint64_t>(mask) & closedUpwards(7, kProxyStep),
            closedUpwards(7, kProxyStep));

  auto start = [&](EventType type, void *parent) {
    Descriptor event = {};
    event.type = static_cast<decltype(event.type)>(type);
    event.parent = parent;
    event.rank = 1;
    if (type == kColl)
      event.coll.func = "AllReduce";
    if (type == kProxyOp)
      event.proxyOp.pid = getpid();
    void *handle = reinterpret_cast<void *>(1);
    EXPECT_EQ(this->mux_->startEvent(context, &handle, &event), kNcclSuccess);
    return handle;
  };
  void *group = start(kGroup, nullptr);
  Descriptor coll = {};
  coll.type = kColl;
  coll.parent = group;
  coll.coll.func = "AllReduce";
  if constexpr (std::is_same_v<Descriptor, EventDescriptorV5> ||
                std::is_same_v<Descriptor, EventDescriptorV6> ||
                std::is_same_v<Descriptor, EventDescriptorV7>) {
    coll.parent = start(kCollApi, nullptr);
    coll.coll.parentGroup = group;
  }
  void *task = nullptr;
  EXPECT_EQ(this->mux_->startEvent(context, &task, &coll), kNcclSuccess);
  // Like in NCCL, the messages of the collective follow after it is enqueued.
  this->mux_->stopEvent(task);
  void *op = start(kProxyOp, task), *step = start(kProxyStep, op);
  this->mux_->recordEventState(step, kProxyStepSendWait, nullptr);
  for (void *handle : {step, op, group, coll.parent})
    this->mux_->stopEvent(handle);
  this->mux_->recordEventState(step, kProxyStepSendWait, nullptr); // late
  EXPECT_EQ(start(static_cast<EventType>(0), nullptr), nullptr);
  this->mux_->finalize(context);
  this->mux_->stopEvent(step);
  EXPECT_EQ(start(kGroup, nullptr), nullptr);

  const std::vector<Record> v7 = recordingOf(7).take(), v4 = recordingOf(4).take();
  EXPECT_EQ(problemsOf(v7, {7, closedUpwards(7, kProxyStep), false}), std::vector<std::string>());
  EXPECT_EQ(problemsOf(v4, {4, closedUpwards(4, kColl), false}), std::vector<std::string>());
  EXPECT_EQ(countStarts(v7, kProxyStep), 1);
  EXPECT_EQ(countStarts(v4, kColl), 1);
  EXPECT_EQ(countStarts(v4, kProxyOp), 0);
  EXPECT_EQ(recordingOf(2).take().size(), 2u); // init and finalize
  for (const Record &record : v4) {
    if (record.type == kColl) {
      EXPECT_EQ(record.parent, 1u); // the group
    }
  }
}

} // namespace
} // namespace coll::profiler::test
