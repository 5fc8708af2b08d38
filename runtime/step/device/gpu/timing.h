// timing.h - measures how long work takes on a stream.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_TIMING_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_TIMING_H

#include "runtime/gpu/gpu.h"

#include <functional>

namespace coll::rt {

// Milliseconds of one run of what `put` puts on the stream: the mean of `runs` after one that warms
// up. Blocks until all of them are done.
Result<float> timeOnStream(gpu::Gpu &gpu, dl::CudaStream stream, int runs,
                           const std::function<Status()> &put);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_TIMING_H
