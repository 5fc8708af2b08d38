// Events of each version of the ABI must be unchanged after a translation to version 7 and back.

#include "runtime/profiler/host/names.h"
#include "runtime/profiler/host/translate.h"

#include <gtest/gtest.h>

namespace coll::profiler::test {
namespace {

using namespace abi;

void *const kParent = reinterpret_cast<void *>(0x10), *const kGroupHandle =
                                                          reinterpret_cast<void *>(0x20);

template <typename Descriptor>
class Translate : public testing::Test {};
using Descriptors = testing::Types<EventDescriptorV2, EventDescriptorV3, EventDescriptorV4,
                                   EventDescriptorV5, EventDescriptorV6, EventDescriptorV7>;
TYPED_TEST_SUITE(Translate, Descriptors);

TYPED_TEST(Translate, CollectivesSurviveTheWayThere) {
  EventDescriptorV7 event = {};
  event.type = kColl;
  event.parent = kParent;
  event.rank = 3;
  event.coll.seqNumber = 9;
  event.coll.func = "AllReduce";
  event.coll.count = 1 << 20;
  event.coll.root = 2;
  event.coll.datatype = "ncclFloat32";
  event.coll.nChannels = 4;
  event.coll.parentGroup = kGroupHandle;
  TypeParam own;
  ASSERT_TRUE(lower(event, own));
  EXPECT_EQ(own.rank, 3);
  EXPECT_STREQ(own.coll.func, "AllReduce");
  EXPECT_STREQ(own.coll.proto ? own.coll.proto : "", "");
  constexpr bool kHasApi = !std::is_same_v<TypeParam, EventDescriptorV2> &&
                           !std::is_same_v<TypeParam, EventDescriptorV3> &&
                           !std::is_same_v<TypeParam, EventDescriptorV4>;
  EXPECT_EQ(own.parent, kHasApi ? kParent : kGroupHandle);
  EventDescriptorV7 back;
  ASSERT_TRUE(raise(own, back));
  EXPECT_EQ(back.type, kColl);
  EXPECT_EQ(back.parent, kHasApi ? kParent : nullptr);
  EXPECT_EQ(back.coll.parentGroup, kGroupHandle);
  EXPECT_EQ(back.coll.seqNumber, 9u);
  EXPECT_EQ(back.coll.count, size_t{1} << 20);
  EXPECT_EQ(back.coll.root, 2);
  EXPECT_EQ(back.coll.nChannels, 4);
  EXPECT_STREQ(back.coll.datatype, "ncclFloat32");
}

TYPED_TEST(Translate, TransfersAndProxiesSurviveTheWayThere) {
  EventDescriptorV7 event = {};
  event.type = kP2p;
  event.p2p.func = "Send";
  event.p2p.peer = 5;
  event.p2p.count = 17;
  event.p2p.parentGroup = kGroupHandle;
  TypeParam own;
  EventDescriptorV7 back;
  ASSERT_TRUE(lower(event, own) && raise(own, back));
  EXPECT_EQ(back.p2p.peer, 5);
  EXPECT_EQ(back.p2p.count, 17u);
  EXPECT_EQ(back.p2p.parentGroup, kGroupHandle);
  event = {};
  event.type = kProxyOp;
  event.parent = kParent;
  event.proxyOp = {11, 2, 3, 4, 5, 1};
  ASSERT_TRUE(lower(event, own) && raise(own, back));
  EXPECT_EQ(back.parent, kParent);
  EXPECT_EQ(back.proxyOp.pid, 11);
  EXPECT_EQ(back.proxyOp.chunkSize, 5);
  event.type = kProxyStep;
  event.proxyStep.step = 8;
  ASSERT_TRUE(lower(event, own) && raise(own, back));
  EXPECT_EQ(back.proxyStep.step, 8);
}

TYPED_TEST(Translate, UnknownEventsAreRefused) {
  EventDescriptorV7 event = {};
  TypeParam own;
  for (uint64_t type : {uint64_t{0}, uint64_t{3}, uint64_t{1} << 16, uint64_t{1} << 40}) {
    event.type = type;
    EXPECT_FALSE(lower(event, own)) << type;
  }
  own = {};
  own.type = 0;
  EXPECT_FALSE(raise(own, event));
}

TEST(TranslateTest, VersionsHaveTheEventsOfTheirMask) {
  for (int bit = 0; bit < 17; ++bit) {
    EventDescriptorV7 event = {};
    event.type = uint64_t{1} << bit;
    EventDescriptorV2 v2;
    EventDescriptorV3 v3;
    EventDescriptorV4 v4;
    EventDescriptorV5 v5;
    EventDescriptorV6 v6;
    EventDescriptorV7 v7;
    const bool has[] = {lower(event, v2), lower(event, v3), lower(event, v4),
                        lower(event, v5), lower(event, v6), lower(event, v7)};
    for (int version = 2; version <= 7; ++version)
      EXPECT_EQ(has[version - 2], (allEvents(version) & event.type) != 0)
          << "v" << version << ", bit " << bit;
  }
}

TEST(TranslateTest, MasksAreClosedUpwards) {
  EXPECT_EQ(closedUpwards(7, 0), 0u);
  EXPECT_EQ(closedUpwards(7, kGroup), kGroup);
  EXPECT_EQ(closedUpwards(7, kP2p), kP2p | kGroup | kP2pApi | kGroupApi);
  EXPECT_EQ(closedUpwards(4, kNetPlugin),
            kNetPlugin | kProxyStep | kProxyOp | kColl | kP2p | kGroup);
  EXPECT_EQ(closedUpwards(2, kNetPlugin), kProxyStep | kProxyOp | kColl | kP2p | kGroup);
  EXPECT_EQ(closedUpwards(6, kCeBatch), kCeBatch | kCeColl | kCollApi | kGroupApi);
  for (int version = 2; version <= 7; ++version)
    EXPECT_EQ(closedUpwards(version, ~uint64_t{0}), allEvents(version));
}

TEST(TranslateTest, StatesAreTheVersionsOwn) {
  EXPECT_TRUE(hasState(2, kProxyStepSendWait));
  EXPECT_TRUE(hasState(2, kProxyOpSendDone));
  EXPECT_FALSE(hasState(4, kProxyOpSendDone));
  EXPECT_FALSE(hasState(3, kKernelChStop));
  EXPECT_TRUE(hasState(4, kKernelChStop));
  EXPECT_FALSE(hasState(4, kGroupEndApiStart));
  EXPECT_FALSE(hasState(5, kCeCollStart));
  EXPECT_TRUE(hasState(6, kCeBatchComplete));
  EXPECT_FALSE(hasState(6, kKernelPhaseStop));
  EXPECT_TRUE(hasState(7, kKernelPhaseStop));
  EXPECT_FALSE(hasState(7, static_cast<EventState>(32)));
}

TEST(NamesTest, AreThoseOfNccl) {
  EXPECT_STREQ(ncclFunction("all_reduce"), "AllReduce");
  EXPECT_STREQ(ncclFunction("all_to_all"), "AlltoAll");
  EXPECT_STREQ(ncclFunction("permute"), "permute");
  EXPECT_STREQ(ncclDatatype(kCollBf16), "ncclBfloat16");
  EXPECT_STREQ(ncclDatatype(kCollI16), "Unknown");
}

} // namespace
} // namespace coll::profiler::test
