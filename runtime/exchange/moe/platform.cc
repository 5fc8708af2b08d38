#include "runtime/exchange/moe/platform.h"

#include "runtime/dl/platform.h"
#include "runtime/kernels/available.h"

namespace coll::rt {

Result<MoePlatform> moePlatform() {
  return dl::platformOr<MoePlatform>([](const dl::Cuda *cuda) -> Result<MoePlatform> {
    COLL_RETURN_IF_ERROR(kernels::kernelsAvailable());
    return MoePlatform{cuda,
                       {kernels::initPeerWorkspace, kernels::rehearseMoeKernels,
                        kernels::launchMoeLayout, kernels::launchMoeNotify,
                        kernels::launchMoeDispatch, kernels::launchMoeCombine,
                        kernels::rehearseMoeRelay, kernels::launchMoeGather,
                        kernels::launchMoeMerge, kernels::rehearseLowLatencyKernels,
                        kernels::launchLowLatencyDispatch, kernels::launchLowLatencyCombine}};
  });
}

} // namespace coll::rt
