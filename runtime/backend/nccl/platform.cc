#include "runtime/backend/nccl/platform.h"

#include "runtime/dl/platform.h"

namespace coll::rt::nccl {

Result<Platform> platform() {
  return dl::platformOr<Platform>([](const dl::Cuda *cuda) -> Result<Platform> {
    Result<const dl::Nccl *> nccl = dl::nccl();
    if (!nccl)
      return nccl.status();
    return Platform{cuda, *nccl};
  });
}

} // namespace coll::rt::nccl
