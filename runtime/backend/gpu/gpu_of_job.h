// gpu_of_job.h - selects the GPU of a process. Any thread may call it.

#ifndef COLL_RUNTIME_BACKEND_GPU_GPU_OF_JOB_H
#define COLL_RUNTIME_BACKEND_GPU_GPU_OF_JOB_H

#include "runtime/backend/backend.h"
#include "runtime/net/bootstrap/launch_env.h"

namespace coll::rt::gpu {

// The GPU that the job names, or else the launcher's number of the process on this machine, modulo
// `gpus`; -1 if neither is known.
inline int gpuOfJob(const JobOptions &job, int gpus) {
  if (job.gpu >= 0)
    return job.gpu;
  const Result<net::LaunchEnv> launched = net::readLaunchEnv();
  return launched && launched->localRank >= 0 ? launched->localRank % gpus : -1;
}

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_GPU_OF_JOB_H
