//===- processes.h - one process per rank on this machine --------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_PROCESSES_H
#define COLL_TOOLS_COLL_RUN_PROCESSES_H

#include "tools/coll-run/job.h"

namespace coll::run {

struct JobEnd {
  int exitCode = 0; // that of the first copy that failed
  // The reason why the job failed, if a signal ended copy 0 before it could write it.
  std::string unwritten;
};

/// Starts `ranks` copies of this process, which has to have one thread. Returns a place in
/// each copy. Returns in this process once all copies have ended: then `end` says how, and
/// the user has been told.
///
/// Copy 0 uses this process's output; what the others write is passed on line by line with
/// their rank. A copy that fails makes the others end, if need be by a signal. They do not
/// outlive this process.
llvm::Expected<std::optional<Place>> startProcesses(int ranks, JobEnd &end);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_PROCESSES_H
