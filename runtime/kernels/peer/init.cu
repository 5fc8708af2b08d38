#include "runtime/kernels/launch.h"
#include "runtime/kernels/peer/init_device.cuh"
#include "runtime/kernels/peer/launch.h"

namespace coll::kernels {
namespace {

constexpr int kBlocks = 128, kThreads = 512;

__global__ void workspaceInit(const __grid_constant__ PeerGroup group) {
  peer::initWorkspace(group);
}

} // namespace

rt::Status initPeerWorkspace(const PeerGroup &group, void *stream) {
  COLL_RETURN_IF_ERROR(checkPeerGroup(group));
  COLL_RETURN_IF_ERROR(rehearsePeerKernels(group, stream));
  const auto kernel = reinterpret_cast<const void *>(workspaceInit);
  COLL_RETURN_IF_ERROR(prepareKernel(kernel, 0).status());
  PeerGroup argument = group;
  void *arguments[] = {&argument};
  return launchKernel("a workspace's initialisation", kernel, kBlocks, kThreads, 0, arguments,
                      stream);
}

} // namespace coll::kernels
