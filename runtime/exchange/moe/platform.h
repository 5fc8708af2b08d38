// platform.h - the driver and the kernels that MoeBuffer uses. Tests replace them by
// fakes.

#ifndef COLL_RUNTIME_EXCHANGE_MOE_PLATFORM_H
#define COLL_RUNTIME_EXCHANGE_MOE_PLATFORM_H

#include "runtime/base/replacement.h"
#include "runtime/dl/cuda.h"
#include "runtime/kernels/moe/low_latency.h"
#include "runtime/kernels/moe/moe.h"
#include "runtime/kernels/moe/relay.h"

namespace coll::rt {

// The launchers of runtime/kernels with these names.
struct MoeKernels {
  using Group = kernels::PeerGroup;

  Status (*init)(const Group &, void *stream) = nullptr;
  Status (*rehearse)(const Group &, void *stream) = nullptr;
  Status (*layout)(const kernels::MoeLayoutArgs &, void *stream) = nullptr;
  Status (*notify)(const Group &, const kernels::MoeNotifyArgs &, void *stream) = nullptr;
  Status (*dispatch)(const Group &, const kernels::MoeDispatchArgs &, void *stream) = nullptr;
  Status (*combine)(const Group &, const kernels::MoeCombineArgs &, void *stream) = nullptr;
  // For ranks on several nodes.
  Status (*rehearseRelay)(void *stream) = nullptr;
  Status (*gather)(const kernels::MoeGatherArgs &, void *stream) = nullptr;
  Status (*merge)(const kernels::MoeMergeArgs &, void *stream) = nullptr;
  // The low-latency mode.
  Status (*rehearseLowLatency)(const Group &, void *stream) = nullptr;
  Status (*lowLatencyDispatch)(const Group &, const kernels::LowLatencyDispatchArgs &,
                               void *stream) = nullptr;
  Status (*lowLatencyCombine)(const Group &, const kernels::LowLatencyCombineArgs &,
                              void *stream) = nullptr;
};

struct MoePlatform {
  const dl::Cuda *cuda = nullptr;
  MoeKernels kernels;
};

// The machine's, or a test's. kCollUnsupported, with the reason, if there is no GPU or the kernels
// were not built. Any thread may call it.
Result<MoePlatform> moePlatform();

using ScopedMoePlatform = Replacement<MoePlatform>;

} // namespace coll::rt

#endif // COLL_RUNTIME_EXCHANGE_MOE_PLATFORM_H
