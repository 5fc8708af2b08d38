// convolution.h - converts CollConvolution (abi.h) to the arguments of a kernel.

#ifndef COLL_RUNTIME_STEP_DEVICE_CONVOLUTION_H
#define COLL_RUNTIME_STEP_DEVICE_CONVOLUTION_H

#include "runtime/kernels/convolution/convolution.h"
#include "runtime/step/abi/abi.h"

namespace coll::rt {

// Fails if the type, kind or form of computing does not exist; checkConvolution() checks the rest.
Result<kernels::Convolution> convolutionOf(const CollConvolution &convolution);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_CONVOLUTION_H
