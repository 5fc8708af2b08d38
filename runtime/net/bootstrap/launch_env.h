// launch_env.h - what the launcher says about this process. Any thread.

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
  std::string worldSizeVariable; // that said so, for messages
  int localRank = 0;             // among the processes of this machine; -1: unknown
  std::string bootstrap;         // host:port of rank 0
};

// Whether a launcher has set this process up as one of several.
bool isLaunched();

// Reads COLL_RANK and COLL_WORLD_SIZE; else what torchrun (RANK, WORLD_SIZE), Open MPI's
// mpirun, srun, or a PMI launcher such as MPICH's has set. Rank 0's address is
// COLL_BOOTSTRAP; else torchrun's MASTER_ADDR with the port after MASTER_PORT (that one
// is torchrun's own), srun's first host with a port made of the job's and the step's number,
// or, where mpirun has all ranks on one machine, 127.0.0.1 with a port made of the job's name.
// kCollInvalidCall names what is missing or malformed.
Result<LaunchEnv> readLaunchEnv();

} // namespace coll::net

#endif // COLL_RUNTIME_NET_BOOTSTRAP_LAUNCH_ENV_H
