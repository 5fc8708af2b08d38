#include "runtime/step/device/make_device.h"

#ifdef COLL_HAS_NET
#include "runtime/backend/gpu/gpu_of_job.h"
#endif
#include "runtime/step/device/gpu/gpu_device.h"
#include "runtime/step/device/host_device.h"

namespace coll::rt {

namespace {

// Backends for GPU memory choose in the same way.
int ordinalOf(int rank, const std::optional<JobOptions> &job, int gpus) {
#ifdef COLL_HAS_NET
  if (job)
    if (const int said = gpu::gpuOfJob(*job, gpus); said >= 0)
      return said;
#else
  (void)job;
#endif
  return rank % gpus;
}

// The ranks of this process on one of its GPUs: a process of a job has one rank.
int ranksOn(int ordinal, const std::optional<JobOptions> &job, int gpus, int ranks) {
  return job ? 1 : (ranks - 1 - ordinal) / gpus + 1;
}

Result<std::unique_ptr<Device>> makeGpuDevice(int rank, const std::optional<JobOptions> &job,
                                              const Program &program, Endpoint &endpoint,
                                              int64_t timeoutUs) {
  Result<GpuPlatform> platform = gpuPlatform();
  if (!platform)
    return platform.status().annotate("the step was compiled for GPUs");
  int gpus = 0;
  COLL_RETURN_IF_ERROR(
      dl::cudaStatus(*platform->cuda, platform->cuda->deviceGetCount(&gpus), "cuDeviceGetCount"));
  if (gpus == 0)
    return Status(kCollUnsupported, "the step was compiled for GPUs: there is no GPU");
  const int ordinal = ordinalOf(rank, job, gpus);
  TokenOptions tokens;
  tokens.timeoutUs = timeoutUs;
  tokens.ranksOnGpu = ranksOn(ordinal, job, gpus, program.descriptor.numRanks());
  Result<std::unique_ptr<GpuDevice>> device =
      GpuDevice::create(*platform, ordinal, program, endpoint, tokens);
  if (!device)
    return device.status().annotate("rank " + std::to_string(rank));
  return std::unique_ptr<Device>(device.take());
}

} // namespace

Result<std::unique_ptr<Device>> makeDevice(int rank, const std::optional<JobOptions> &job,
                                           const Program &program, Endpoint &endpoint,
                                           int64_t timeoutUs) {
  if (program.descriptor.isOnGpu)
    return makeGpuDevice(rank, job, program, endpoint, timeoutUs);
  return std::unique_ptr<Device>(std::make_unique<HostDevice>(program.data.constants));
}

} // namespace coll::rt
