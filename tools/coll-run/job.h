//===- job.h - this process among the processes of a job ---------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_JOB_H
#define COLL_TOOLS_COLL_RUN_JOB_H

#include "runtime/backend/backend.h"
#include "tools/coll-run/options.h"

namespace coll::run {

/// Which rank this process is. Without `job` it runs all ranks itself.
struct Place {
  std::optional<rt::JobOptions> job;
  std::string launcher; // "coll-run", "mpirun", …; empty without a job
  int reportFd = -1;    // where the process that started this one reads errors
  std::string note;     // what the user may not expect of it; empty otherwise

  /// The one process that talks to the user and writes files.
  bool isRoot() const { return !job || job->rank == 0; }
};

/// The place that a launcher (mpirun, srun, torchrun) has given this process, or none
/// where there is no launcher, or this process runs or starts all ranks by itself.
llvm::Expected<Place> findPlace(const Options &options);

/// Says why the process ends with an error: to the process that started it, or to the
/// user.
void reportError(const Place &place, const std::string &message);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_JOB_H
