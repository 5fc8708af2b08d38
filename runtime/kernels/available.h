// available.h - whether this build has the GPU kernels.

#ifndef COLL_RUNTIME_KERNELS_AVAILABLE_H
#define COLL_RUNTIME_KERNELS_AVAILABLE_H

#include "runtime/base/status.h"

namespace coll::kernels {

// kCollUnsupported in a build without the CUDA toolkit, whose launchers refuse every call.
rt::Status kernelsAvailable();

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_AVAILABLE_H
