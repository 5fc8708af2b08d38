#include "runtime/exchange/moe/platform.h"

namespace coll::rt {

Result<MoePlatform> moePlatform() {
  if (const MoePlatform *set = ScopedMoePlatform::current())
    return *set;
  Result<const dl::Cuda *> cuda = dl::cuda();
  if (!cuda)
    return cuda.status();
#ifndef COLL_HAS_CUDA_KERNELS
  return Status(kCollUnsupported, "this build has no GPU kernels (preset cuda has)");
#else
  return MoePlatform{*cuda,
                     {kernels::initPeerWorkspace, kernels::rehearseMoeKernels,
                      kernels::launchMoeLayout, kernels::launchMoeNotify,
                      kernels::launchMoeDispatch, kernels::launchMoeCombine,
                      kernels::rehearseMoeRelay, kernels::launchMoeGather, kernels::launchMoeMerge,
                      kernels::rehearseLowLatencyKernels, kernels::launchLowLatencyDispatch,
                      kernels::launchLowLatencyCombine}};
#endif
}

} // namespace coll::rt
