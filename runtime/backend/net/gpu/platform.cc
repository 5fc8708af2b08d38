#include "runtime/backend/net/gpu/platform.h"

#include "runtime/kernels/channel/channel.h"

namespace coll::rt::network {

namespace {

GpuPlatform findPlatform() {
  GpuPlatform platform;
  if (Result<const dl::Cuda *> cuda = dl::cuda(); cuda.ok())
    platform.cuda = *cuda;
  platform.load = kernels::loadChannel;
  platform.launch = [](const ChannelLaunch &launch, dl::CudaStream stream) {
    return kernels::launchChannel(launch, stream);
  };
  return platform;
}

} // namespace

const GpuPlatform &gpuPlatform() {
  if (const GpuPlatform *set = ScopedGpuPlatform::current())
    return *set;
  static const GpuPlatform own = findPlatform();
  return own;
}

int gpuOf(const void *data) {
  const GpuPlatform &platform = gpuPlatform();
  if (!platform.cuda || !data)
    return -1;
  dl::CudaPointerInfo info = dl::cudaPointerInfo(*platform.cuda, data);
  return info.device ? info.ordinal : -1;
}

} // namespace coll::rt::network
