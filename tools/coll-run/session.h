//===- session.h - one invocation of coll-run --------------------------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_SESSION_H
#define COLL_TOOLS_COLL_RUN_SESSION_H

#include "tools/coll-run/options.h"

namespace coll::run {

/// Compiles, runs, checks, evaluates and saves, as `options` ask. A failed check is
/// an error.
llvm::Error runSession(const Options &options);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_SESSION_H
