#include "runtime/backend/direct/platform.h"

#include "runtime/dl/platform.h"
#include "runtime/kernels/available.h"

namespace coll::rt::direct {

Result<Platform> platform() {
  return dl::platformOr<Platform>([](const dl::Cuda *cuda) -> Result<Platform> {
    COLL_RETURN_IF_ERROR(kernels::kernelsAvailable());
    PeerKernels launchers;
    launchers.init = kernels::initPeerWorkspace;
    launchers.allReduce = kernels::launchAllReduce;
    launchers.reduceScatter = kernels::launchReduceScatter;
    launchers.reduce = kernels::launchReduce;
    launchers.allGather = kernels::launchAllGather;
    launchers.allToAll = kernels::launchAllToAll;
    launchers.broadcast = kernels::launchBroadcast;
    launchers.gather = kernels::launchGather;
    launchers.scatter = kernels::launchScatter;
    launchers.permute = kernels::launchPermute;
    launchers.barrier = kernels::launchPeerBarrier;
    launchers.rootUpdate = kernels::launchRootUpdate;
    launchers.setStep = kernels::launchSetStep;
    Platform platform;
    platform.cuda = cuda;
    platform.kernels = launchers;
    return platform;
  });
}

} // namespace coll::rt::direct
