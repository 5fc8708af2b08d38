// timing.h - how long work takes on a stream.

#ifndef COLL_RUNTIME_STEP_DEVICE_GPU_TIMING_H
#define COLL_RUNTIME_STEP_DEVICE_GPU_TIMING_H

#include "runtime/gpu/gpu.h"

#include <functional>

namespace coll::rt {

// Milliseconds of one of `runs` times what `put` puts on the stream, after one that warms up.
// Blocks until all of it is done.
Result<float> timeOnStream(gpu::Gpu &gpu, dl::CudaStream stream, int runs,
                           const std::function<Status()> &put);

} // namespace coll::rt

#endif // COLL_RUNTIME_STEP_DEVICE_GPU_TIMING_H
