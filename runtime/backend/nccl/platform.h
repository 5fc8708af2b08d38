// platform.h - the libraries that backend nccl uses. Tests replace them by fakes.

#ifndef COLL_RUNTIME_BACKEND_NCCL_PLATFORM_H
#define COLL_RUNTIME_BACKEND_NCCL_PLATFORM_H

#include "runtime/base/replacement.h"
#include "runtime/dl/cuda.h"
#include "runtime/dl/nccl.h"

namespace coll::rt::nccl {

struct Platform {
  const dl::Cuda *cuda = nullptr;
  const dl::Nccl *nccl = nullptr;
};

// The machine's libraries, or a test's. kCollUnsupported, with the reason, if there is no GPU or no
// NCCL. Any thread may call it.
Result<Platform> platform();

// Replaces the platform while the object lives; no backend may be alive when it begins or
// ends.
using ScopedPlatform = Replacement<Platform>;

} // namespace coll::rt::nccl

#endif // COLL_RUNTIME_BACKEND_NCCL_PLATFORM_H
