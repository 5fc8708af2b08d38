//===- agreement.h - whether the ranks of a job run the same -----------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_AGREEMENT_H
#define COLL_TOOLS_COLL_RUN_AGREEMENT_H

#include "runtime/step/executor.h"
#include "tools/coll-run/options.h"

namespace coll::run {

/// Fails on every rank where they do not run the same: the same step, with flags and data
/// that the steps' outcome and number depend on. The error names what differs and two ranks.
/// Where files lie is each rank's own affair, as is what only rank 0 does. All processes of
/// the job call it, before the first step.
llvm::Error checkAgreement(rt::Executor &executor, const Options &options, llvm::StringRef step);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_AGREEMENT_H
