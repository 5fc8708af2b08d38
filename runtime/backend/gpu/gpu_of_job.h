// gpu_of_job.h - which GPU a process of a job has. Any thread.

#ifndef COLL_RUNTIME_BACKEND_GPU_GPU_OF_JOB_H
#define COLL_RUNTIME_BACKEND_GPU_GPU_OF_JOB_H

#include "runtime/backend/backend.h"
#include "runtime/net/bootstrap/launch_env.h"

namespace coll::rt::gpu {

// As the job names it; else as the launcher numbers the processes of this machine, in turns where
// they are more than `gpus`; -1: neither says.
inline int gpuOfJob(const JobOptions &job, int gpus) {
  if (job.gpu >= 0)
    return job.gpu;
  const Result<net::LaunchEnv> launched = net::readLaunchEnv();
  return launched && launched->localRank >= 0 ? launched->localRank % gpus : -1;
}

} // namespace coll::rt::gpu

#endif // COLL_RUNTIME_BACKEND_GPU_GPU_OF_JOB_H
