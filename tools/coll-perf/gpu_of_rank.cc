#include "tools/coll-perf/gpu_of_rank.h"

namespace coll::perf {

rt::Result<std::shared_ptr<rt::dl::GpuContext>> openGpuOfRank(int rank) {
  rt::Result<const rt::dl::Cuda *> found = rt::dl::cuda();
  if (!found)
    return found.status();
  const rt::dl::Cuda &cuda = **found;
  int count = 0;
  COLL_RETURN_IF_ERROR(rt::dl::cudaStatus(cuda, cuda.deviceGetCount(&count), "cuDeviceGetCount"));
  if (count == 0)
    return rt::Status(kCollUnsupported, "no GPU is visible");
  return rt::dl::GpuContext::open(cuda, rank % count);
}

} // namespace coll::perf
