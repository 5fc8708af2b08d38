#include "runtime/step/device/gpu/timing.h"

namespace coll::rt {

Result<float> timeOnStream(gpu::Gpu &gpu, dl::CudaStream stream, int runs,
                           const std::function<Status()> &put) {
  const dl::Cuda &cuda = gpu.cuda();
  dl::CudaEvent begin = nullptr, end = nullptr;
  Status status = dl::cudaStatus(cuda, cuda.eventCreate(&begin, 0), "cuEventCreate");
  if (status.ok())
    status = dl::cudaStatus(cuda, cuda.eventCreate(&end, 0), "cuEventCreate");
  for (int run = 0; run <= runs && status.ok(); ++run) {
    if (run == 1)
      status = dl::cudaStatus(cuda, cuda.eventRecord(begin, stream), "cuEventRecord");
    if (status.ok())
      status = put();
  }
  if (status.ok())
    status = dl::cudaStatus(cuda, cuda.eventRecord(end, stream), "cuEventRecord");
  if (status.ok())
    status = dl::cudaStatus(cuda, cuda.streamSynchronize(stream), "cuStreamSynchronize");
  float milliseconds = 0;
  if (status.ok())
    status = dl::cudaStatus(cuda, cuda.eventElapsedTime(&milliseconds, begin, end),
                            "cuEventElapsedTime");
  for (dl::CudaEvent event : {begin, end})
    if (event)
      (void)cuda.eventDestroy(event);
  if (!status.ok())
    return status;
  return milliseconds / static_cast<float>(runs);
}

} // namespace coll::rt
