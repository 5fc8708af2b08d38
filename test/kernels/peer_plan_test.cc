// What the host plans of a call, without running it.

#include "runtime/kernels/peer_plan.h"
#include "runtime/kernels/peer_tuning.h"
#include "test/kernels/peer_rig.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace coll::kernels::test {

using rt::Result;

// Kernels that wait for each other are on the GPU at once, whoever shares it.
TEST(PeerPlans, FitOnTheGpu) {
  constexpr uint32_t kThreads = 512; // of 128 registers each, on a multiprocessor
  const std::unique_ptr<PeerRig> rig = makeEmulatedPeerRig();
  for (uint32_t size : {2u, 3u, 4u, 8u})
    for (uint32_t sharers = 1; sharers <= std::min(size, 4u); ++sharers)
      for (uint64_t bytes = 1024; bytes <= uint64_t{1} << 30; bytes *= 8)
        for (const bool direct : {false, true}) {
          PeerGroup group;
          group.size = size;
          group.layout = workspaceLayout(size);
          group.timeoutNs = 1;
          group.control = rig->control();
          group.maxBlocks = residentBlocks(kMultiprocessors, sharers);
          std::fill_n(group.workspace, size, reinterpret_cast<char *>(512));
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
