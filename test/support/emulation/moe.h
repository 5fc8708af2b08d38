// moe.h - the kernels of moe.h and moe/low_latency.h on the host, for tests: grids for
// simt::runBeside().
//
// Arguments are checked like in the launchers, and copied; pointers are those of the host. Grids
// have the size of the arguments, or two blocks of one warp.

#ifndef COLL_TEST_SUPPORT_EMULATION_MOE_H
#define COLL_TEST_SUPPORT_EMULATION_MOE_H

#include "runtime/kernels/moe/low_latency.h"
#include "runtime/kernels/moe/moe.h"
#include "runtime/kernels/moe/relay.h"
#include "test/support/emulation/simt_host.h"

namespace coll::kernels {

rt::Result<simt::Grid> emulatedMoeLayout(const MoeLayoutArgs &args);
rt::Result<simt::Grid> emulatedMoeNotify(const PeerGroup &group, const MoeNotifyArgs &args);
rt::Result<simt::Grid> emulatedMoeDispatch(const PeerGroup &group, const MoeDispatchArgs &args);
rt::Result<simt::Grid> emulatedMoeCombine(const PeerGroup &group, const MoeCombineArgs &args);
rt::Result<simt::Grid> emulatedLowLatencyDispatch(const PeerGroup &group,
                                                  const LowLatencyDispatchArgs &args);
rt::Result<simt::Grid> emulatedLowLatencyCombine(const PeerGroup &group,
                                                 const LowLatencyCombineArgs &args);
rt::Result<simt::Grid> emulatedMoeGather(const MoeGatherArgs &args);
rt::Result<simt::Grid> emulatedMoeMerge(const MoeMergeArgs &args);

} // namespace coll::kernels

#endif // COLL_TEST_SUPPORT_EMULATION_MOE_H
