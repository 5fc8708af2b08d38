#include "runtime/backend/net/launched_job.h"

#include "runtime/base/env.h"

namespace coll::rt::network {

Result<LaunchedJob> readLaunchedJob() {
  Result<net::LaunchEnv> env = net::readLaunchEnv();
  if (!env)
    return env.status();
  LaunchedJob launched;
  launched.env = env.take();
  launched.job.rank = launched.env.rank;
  launched.job.worldSize = launched.env.worldSize;
  launched.job.bootstrap = launched.env.bootstrap;
  launched.job.secret = envString(EnvVar::Secret);
  launched.job.iface = envString(EnvVar::NetIface);
  if (launched.job.secret.empty())
    return Status::invalid(
        "COLL_SECRET is not set: all processes of a job need the same secret, of at least 16 "
        "characters; export COLL_SECRET=$(openssl rand -hex 16)" +
        std::string(launched.env.launcher == "mpirun" ? ", mpirun -x COLL_SECRET" : ""));
  return launched;
}

} // namespace coll::rt::network
