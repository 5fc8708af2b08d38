// available.h - whether this build has the GPU kernels.

#ifndef COLL_RUNTIME_KERNELS_AVAILABLE_H
#define COLL_RUNTIME_KERNELS_AVAILABLE_H

#include "runtime/base/status.h"

namespace coll::kernels {

// kCollUnsupported in a build without the CUDA toolkit, whose launchers reject every call.
rt::Status kernelsAvailable();

// Ok if cuDNN is here and there is a kernel for the forms for which cuDNN has no engine;
// convolutions should then be left to this runtime. Otherwise kCollUnsupported, with the reason.
// Any thread may call it.
rt::Status convolutionsAvailable();

} // namespace coll::kernels

#endif // COLL_RUNTIME_KERNELS_AVAILABLE_H
