#include "runtime/kernels/peer/collectives.h"

#include "runtime/kernels/peer/launch.h"
#include "runtime/kernels/peer/plan.h"

namespace coll::kernels {

using rt::Status;

Status launchAllReduce(const PeerGroup &group, const ReduceArgs &args, void *stream) {
  return launchPeerPlan("all_reduce", group, planAllReduce(group, args), stream);
}

Status launchReduceScatter(const PeerGroup &group, const ReduceArgs &args, void *stream) {
  return launchPeerPlan("reduce_scatter", group, planReduceScatter(group, args), stream);
}

Status launchReduce(const PeerGroup &group, const ReduceArgs &args, void *stream) {
  return launchPeerPlan("reduce", group, planReduce(group, args), stream);
}

Status launchAllGather(const PeerGroup &group, const CopyArgs &args, void *stream) {
  return launchPeerPlan("all_gather", group, planAllGather(group, args), stream);
}

Status launchAllToAll(const PeerGroup &group, const CopyArgs &args, void *stream) {
  return launchPeerPlan("all_to_all", group, planAllToAll(group, args), stream);
}

Status launchBroadcast(const PeerGroup &group, const CopyArgs &args, void *stream) {
  return launchPeerPlan("broadcast", group, planBroadcast(group, args), stream);
}

Status launchGather(const PeerGroup &group, const CopyArgs &args, void *stream) {
  return launchPeerPlan("gather", group, planGather(group, args), stream);
}

Status launchScatter(const PeerGroup &group, const CopyArgs &args, void *stream) {
  return launchPeerPlan("scatter", group, planScatter(group, args), stream);
}

Status launchPermute(const PeerGroup &group, const CopyArgs &args, const int32_t *pairs,
                     uint32_t numPairs, void *stream) {
  return launchPeerPlan("permute", group, planPermute(group, args, pairs, numPairs), stream);
}

Status launchPeerBarrier(const PeerGroup &group, void *stream) {
  return launchPeerPlan("barrier", group, planPeerBarrier(group), stream);
}

} // namespace coll::kernels
