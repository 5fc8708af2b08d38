//===- session.h - one invocation of coll-run --------------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_SESSION_H
#define COLL_TOOLS_COLL_RUN_SESSION_H

#include "tools/coll-run/job.h"

namespace coll::run {

/// Compiles, runs, checks, evaluates and saves, as `options` ask. A failed check is
/// an error. In a job of several processes all call it; the one of rank 0 checks, prints
/// and writes.
///
/// Returns the exit code: 0, or in rank 0's process 128 and the signal that ended a run with
/// `--save` early. The others return 0 then, too: a launcher would take one that fails for a
/// reason to end the one that still writes.
llvm::Expected<int> runSession(const Options &options, const Place &place);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_SESSION_H
