//===- session.h - one invocation of coll-run --------------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_SESSION_H
#define COLL_TOOLS_COLL_RUN_SESSION_H

#include "tools/coll-run/job.h"

namespace coll::run {

/// Compiles, runs, checks, evaluates and saves, as `options` ask. A failed check is
/// an error. In a job of several processes all call it; the one of rank 0 checks, prints
/// and writes.
llvm::Error runSession(const Options &options, const Place &place);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_SESSION_H
