#include "runtime/backend/nccl/platform.h"

namespace coll::rt::nccl {

Result<Platform> platform() {
  if (const Platform *set = ScopedPlatform::current())
    return *set;
  Result<const dl::Cuda *> cuda = dl::cuda();
  if (!cuda)
    return cuda.status();
  Result<const dl::Nccl *> nccl = dl::nccl();
  if (!nccl)
    return nccl.status();
  return Platform{*cuda, *nccl};
}

} // namespace coll::rt::nccl
