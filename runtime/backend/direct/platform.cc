#include "runtime/backend/direct/platform.h"

namespace coll::rt::direct {

Result<Platform> platform() {
  if (const Platform *set = ScopedPlatform::current())
    return *set;
  Result<const dl::Cuda *> cuda = dl::cuda();
  if (!cuda)
    return cuda.status();
#ifndef COLL_HAS_CUDA_KERNELS
  return Status(kCollUnsupported, "this build has no GPU kernels (preset cuda has)");
#else
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
  platform.cuda = *cuda;
  platform.kernels = launchers;
  return platform;
#endif
}

} // namespace coll::rt::direct
