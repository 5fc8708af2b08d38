// launch_env.h - the launcher's variables about this process. Any thread may call it.

#ifndef COLL_RUNTIME_NET_BOOTSTRAP_LAUNCH_ENV_H
#define COLL_RUNTIME_NET_BOOTSTRAP_LAUNCH_ENV_H

#include "runtime/base/status.h"

#include <string>

namespace coll::net {

using rt::Result;
using rt::Status;

struct LaunchEnv {
  std::string launcher; // "coll", "torchrun", "srun", "mpirun", "pmi"
  int rank = 0;
  int worldSize = 1;
  std::string worldSizeVariable; // the variable that gave the size, for messages
  int localRank = 0;             // among the processes of this machine; -1: unknown
  std::string bootstrap;         // host:port of rank 0
};

// Whether a launcher has started this process as one of several.
bool isLaunched();

// Reads COLL_RANK and COLL_WORLD_SIZE; otherwise the variables of torchrun (RANK, WORLD_SIZE), Open
// MPI's mpirun, srun, or a PMI launcher such as MPICH's. The address of rank 0 is COLL_BOOTSTRAP;
// otherwise torchrun's MASTER_ADDR with the port after MASTER_PORT (which torchrun uses itself),
// srun's first host with a port computed from the numbers of job and step, or, if mpirun has all
// ranks on one machine, 127.0.0.1 with a port computed from the job's name. kCollInvalidCall names
// what is missing or malformed.
Result<LaunchEnv> readLaunchEnv();

} // namespace coll::net

#endif // COLL_RUNTIME_NET_BOOTSTRAP_LAUNCH_ENV_H
