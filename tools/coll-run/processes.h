//===- processes.h - one process per rank on this machine --------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_PROCESSES_H
#define COLL_TOOLS_COLL_RUN_PROCESSES_H

#include "tools/coll-run/job.h"

namespace coll::run {

/// Starts `ranks` copies of this process, which has to have one thread. Returns a place in
/// each copy. Returns in this process once all copies have ended: then `exitCode` is 0, or
/// says how the first one failed, and the user has been told.
///
/// Copy 0 uses this process's output; what the others write is passed on line by line with
/// their rank. A copy that fails makes the others end, if need be by a signal. They do not
/// outlive this process.
llvm::Expected<std::optional<Place>> startProcesses(int ranks, int &exitCode);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_PROCESSES_H
