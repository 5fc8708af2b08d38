//===- local_job.h - a job whose ranks a tool forks on this machine -----*- C++ -*-===//
//
// Header only, since tools without LLVM use it, too. How the forks are watched differs: coll-run
// passes on what they print, coll-perf speaks to them or only waits.
//
//===----------------------------------------------------------------------------===//

#ifndef COLL_TOOLS_COMMON_LOCAL_JOB_H
#define COLL_TOOLS_COMMON_LOCAL_JOB_H

#include "runtime/backend/backend.h"
#include "runtime/base/env.h"
#include "runtime/net/auth.h"
#include "runtime/net/socket.h"

#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace coll {

/// A job on this machine: a listening address, which exists before the ranks do, and a fresh
/// secret.
struct LocalJob {
  rt::JobOptions options; // of no rank yet
  net::Fd listener;       // for rank 0
};

inline rt::Result<LocalJob> makeLocalJob(int ranks) {
  LocalJob job;
  job.options.worldSize = ranks;
  job.options.iface = rt::envString(rt::EnvVar::NetIface);
  if (job.options.iface.empty())
    job.options.iface = "lo"; // all are on this machine
  rt::Result<std::vector<net::Interface>> interfaces = net::findInterfaces(job.options.iface);
  if (!interfaces)
    return interfaces.status();
  rt::Result<net::Fd> listener = net::listenOn(interfaces->front().address);
  if (!listener)
    return listener.status();
  rt::Result<net::Address> address = net::localAddress(*listener);
  if (!address)
    return address.status();
  job.options.bootstrap = address->toString();
  job.listener = listener.take();
  uint8_t secret[32];
  COLL_RETURN_IF_ERROR(net::fillRandom(secret, sizeof(secret)));
  job.options.secret.assign(reinterpret_cast<const char *>(secret), sizeof(secret));
  return job;
}

/// To be called first in a fork, which then does not outlive `parent`.
inline void endWithParent(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1); // it died in between
}

/// In the fork that is `rank`.
inline rt::JobOptions placeOf(const LocalJob &job, int rank) {
  rt::JobOptions options = job.options;
  options.rank = rank;
  options.listenFd = rank == 0 ? fcntl(job.listener.get(), F_DUPFD_CLOEXEC, 0) : -1;
  return options;
}

} // namespace coll

#endif // COLL_TOOLS_COMMON_LOCAL_JOB_H
