// The host's plans of calls, without running them.

#include "runtime/kernels/peer/plan.h"
#include "runtime/kernels/peer/tuning.h"
#include "test/kernels/peer/peer_rig.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace coll::kernels::test {

using rt::Result;

namespace {

PeerGroup groupOf(PeerRig &rig, uint32_t size) {
  PeerGroup group;
  group.size = size;
  group.layout = workspaceLayout(size);
  group.timeoutNs = 1;
  group.control = rig.control();
  std::fill_n(group.workspace, size, reinterpret_cast<char *>(512));
  return group;
}

// The number of rounds of a team, with a message of this many bytes in this many parts.
uint64_t roundsOf(const Result<PeerPlan> &plan, uint64_t bytes, uint64_t parts) {
  const uint64_t round = plan->teams * plan->pieceBytes;
  return (bytes / parts + round - 1) / round;
}

} // namespace

// A message that crosses several links in turn is divided so that each link has a piece, but not
// into pieces so small that fences take most of the time.
TEST(PeerPlans, LinksAreBusyTogether) {
  const std::unique_ptr<PeerRig> rig = makeEmulatedPeerRig();
  for (uint32_t size : {3u, 4u, 8u}) {
    const PeerGroup group = groupOf(*rig, size);
    for (uint64_t bytes = uint64_t{16} << 20; bytes <= uint64_t{1} << 30; bytes *= 2) {
      CopyArgs copy;
      ReduceArgs reduce;
      copy.dst = reduce.dst = group.workspace[0];
      copy.src = reduce.src = group.workspace[0];
      copy.srcRowBytes = copy.dstRowBytes = bytes;
      reduce.count = bytes / 4;
      const Result<PeerPlan> broadcast = planBroadcast(group, copy);
      const Result<PeerPlan> sums = planReduce(group, reduce);
      ASSERT_TRUE(broadcast.ok() && sums.ok());
      EXPECT_GE(roundsOf(broadcast, bytes, 1), 7u) << bytes << " bytes, " << size << " members";
      EXPECT_GE(broadcast->pieceBytes, 8u << 10);
      if (size <= 4) {
        EXPECT_GE(roundsOf(sums, bytes, size - 1), 4u) << bytes << " bytes, " << size << " members";
      }
    }
  }
  // Over one link: as few rounds as the slots permit.
  const PeerGroup two = groupOf(*rig, 2);
  CopyArgs copy;
  copy.src = copy.dst = two.workspace[0];
  copy.srcRowBytes = copy.dstRowBytes = uint64_t{1} << 30;
  const Result<PeerPlan> broadcast = planBroadcast(two, copy);
  ASSERT_TRUE(broadcast.ok());
  EXPECT_GT(broadcast->pieceBytes, two.layout.slotBytes / 2);
}

// Kernels that wait for each other must be on the GPU at the same time, even if members share it.
TEST(PeerPlans, FitOnTheGpu) {
  constexpr uint32_t kThreads = 512; // of 128 registers each, on a multiprocessor
  const std::unique_ptr<PeerRig> rig = makeEmulatedPeerRig();
  for (uint32_t size : {2u, 3u, 4u, 8u})
    for (uint32_t sharers = 1; sharers <= std::min(size, 4u); ++sharers)
      for (uint64_t bytes = 1024; bytes <= uint64_t{1} << 30; bytes *= 8)
        for (const bool direct : {false, true}) {
          PeerGroup group = groupOf(*rig, size);
          group.maxBlocks = residentBlocks(kMultiprocessors, sharers);
          ReduceArgs reduce;
          reduce.src = reduce.dst = group.workspace[0];
          reduce.count = bytes / 4;
          CopyArgs copy;
          copy.src = copy.dst = group.workspace[0];
          copy.srcRowBytes = copy.dstRowBytes = bytes;
          for (uint32_t p = 0; p < size && direct; ++p)
            reduce.peerDst[p] = copy.peerDst[p] = group.workspace[0];
          for (const Result<PeerPlan> &plan :
               {planAllReduce(group, reduce), planReduce(group, reduce),
                planReduceScatter(group, reduce), planBroadcast(group, copy),
                planAllGather(group, copy)}) {
            ASSERT_TRUE(plan.ok()) << plan.status().toString();
            EXPECT_LE(sharers * plan->blocks * plan->threads, kMultiprocessors * kThreads)
                << bytes << " bytes, " << size << " members, " << sharers << " of them on a GPU";
          }
        }
}

} // namespace coll::kernels::test
