// convolution.h - CollConvolution (abi.h) as the call of a kernel.

#ifndef COLL_RUNTIME_STEP_DEVICE_CONVOLUTION_H
#define COLL_RUNTIME_STEP_DEVICE_CONVOLUTION_H

#include "runtime/kernels/convolution/convolution.h"
#include "runtime/step/abi/abi.h"

namespace coll::rt {

// Fails where there is no such type, kind or form of computing; all else checkConvolution() checks.
Result<kernels::Convolution> convolutionOf(const CollConvolution &convolution);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_CONVOLUTION_H
