// job.h - the two processes that measure: rank 0 decides and reports, rank 1 follows.

#ifndef COLL_TOOLS_COLL_PERF_NET_JOB_H
#define COLL_TOOLS_COLL_PERF_NET_JOB_H

#include "runtime/net/bootstrap/bootstrap.h"
#include "tools/coll-perf/net/options.h"

#include <memory>
#include <string>
#include <sys/types.h>

namespace coll::perf {

using rt::Result;
using rt::Status;

class Job {
public:
  // Forks a peer that runs `follow` and exits with its result, unless `place` gives the address of
  // a peer; then this process is rank 0 if it listens. The process must have no other threads.
  static Result<std::unique_ptr<Job>> create(const NetPlace &place, int (*follow)(Job &));
  // Ends the forked peer if it is still running.
  ~Job();

  int rank() const { return bootstrap_->rank(); }
  const net::Secret &secret() const { return secret_; }
  const NetPlace &place() const { return place_; }
  // Returns true if both processes are on this machine, one started by the other.
  bool alone() const { return !place_.isListener && place_.connect.empty(); }
  // Sends a value to the other rank and returns the value received from it.
  Result<std::string> swap(const std::string &mine);
  // Called after the last swap: waits for a forked peer; an error if it failed.
  Status finish();

private:
  Job(const NetPlace &place, const net::Secret &secret) : place_(place), secret_(secret) {}
  Status fork(int (*follow)(Job &));
  [[noreturn]] void runChild(int addressFd, int (*follow)(Job &));
  Status join(int rank, const std::string &address);

  NetPlace place_;
  net::Secret secret_;
  std::unique_ptr<net::Bootstrap> bootstrap_;
  pid_t child_ = 0;
};

} // namespace coll::perf

#endif // COLL_TOOLS_COLL_PERF_NET_JOB_H
