// available.h - whether this build has the GPU kernels.

#ifndef COLL_RUNTIME_KERNELS_AVAILABLE_H
#define COLL_RUNTIME_KERNELS_AVAILABLE_H

#include "runtime/base/status.h"

namespace coll::kernels {

// kCollUnsupported in a build without the CUDA toolkit, whose launchers refuse every call.
rt::Status kernelsAvailable();

// Whether convolutions had better be left to this runtime: cuDNN is here, and a kernel for the
// forms that it has no engine for. kCollUnsupported, with the reason. Any thread may call it.
rt::Status convolutionsAvailable();

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_AVAILABLE_H
