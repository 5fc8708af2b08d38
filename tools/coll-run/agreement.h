//===- agreement.h - whether the ranks of a job run the same step ------*- C++ -*-===//

#ifndef COLL_TOOLS_COLL_RUN_AGREEMENT_H
#define COLL_TOOLS_COLL_RUN_AGREEMENT_H

#include "runtime/step/executor.h"
#include "tools/coll-run/options.h"

namespace coll::run {

/// Fails on every rank if the ranks differ in the step, or in flags and data that decide the
/// outcome and the number of steps. The error names the difference and two ranks. Paths of files
/// may differ between ranks, and so may options that only concern rank 0. All processes of the job
/// call it, before the first step.
llvm::Error checkAgreement(rt::Executor &executor, const Options &options, llvm::StringRef step);

} // namespace coll::run

#endif // COLL_TOOLS_COLL_RUN_AGREEMENT_H
