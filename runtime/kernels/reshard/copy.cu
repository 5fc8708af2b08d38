#include "runtime/kernels/launch.h"
#include "runtime/kernels/reshard/copy_device.cuh"

#include <algorithm>

namespace coll::kernels {
namespace {

__global__ void __launch_bounds__(kReshardThreads, kReshardBlocksPerProcessor)
    reshardCopy(const __grid_constant__ ReshardCopy copy) {
  reshardCopyKernel(copy);
}

const void *entryPoint() { return reinterpret_cast<const void *>(reshardCopy); }

} // namespace

rt::Status loadReshardCopy() { return prepareKernel(entryPoint(), 0).status(); }

rt::Status launchReshardCopy(const ReshardCopy &copy, void *stream) {
  COLL_RETURN_IF_ERROR(checkReshardCopy(copy));
  const uint64_t units = copy.counts.remoteUnits + copy.counts.localUnits;
  if (units <= copy.part)
    return rt::Status::okay();
  const rt::Result<PreparedKernel> prepared = prepareKernel(entryPoint(), 0);
  if (!prepared)
    return prepared.status();
  const int most = copy.blocks ? copy.blocks : prepared->processors * kReshardBlocksPerProcessor;
  const uint64_t mine = (units - copy.part + copy.parts - 1) / copy.parts;
  const int blocks = static_cast<int>(std::min<uint64_t>(mine, static_cast<uint64_t>(most)));
  ReshardCopy argument = copy;
  void *arguments[] = {&argument};
  return launchKernel("reshardCopy", entryPoint(), blocks, kReshardThreads, 0, arguments, stream);
}

} // namespace coll::kernels
