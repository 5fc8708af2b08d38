// launched_job.h - the job of the launcher that has started this process.

#ifndef COLL_RUNTIME_BACKEND_NET_LAUNCHED_JOB_H
#define COLL_RUNTIME_BACKEND_NET_LAUNCHED_JOB_H

#include "runtime/backend/backend.h"
#include "runtime/net/bootstrap/launch_env.h"

namespace coll::rt::network {

struct LaunchedJob {
  net::LaunchEnv env;
  JobOptions job;
};

// Reads the launcher's variables (net::readLaunchEnv), COLL_SECRET and COLL_NET_IFACE.
// kCollInvalidCall names what is missing. Call it only if net::isLaunched().
Result<LaunchedJob> readLaunchedJob();

} // namespace coll::rt::network

#endif // COLL_RUNTIME_BACKEND_NET_LAUNCHED_JOB_H
